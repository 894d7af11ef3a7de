/* SPDX-License-Identifier: MIT */
/* The rows of test_conformance.c, one function each. */
#ifndef TESTS_CONFORMANCE_ROWS_H
#define TESTS_CONFORMANCE_ROWS_H

#include "support/oracle.h"

typedef void conformance_row(attend_context *ctx, attend_dtype dtype);

/* Hidden keys, empty rows and non-finite values. */
conformance_row row_1_all_false_row, row_2_band, row_4_masked_head, row_5_left_padding,
    row_7_masked_rows_in_a_tile, row_8_first_tile_masked, row_11_empty_causal_rows,
    row_13_lse_of_empty_rows, row_19_nan_in_masked_keys, row_20_nan_query,
    row_21_nan_under_a_bias, row_22_stale_cache, row_24_empty_sequences,
    row_33_more_queries_than_keys, row_34_softcap_before_mask;

/* Large scores, extreme biases, LSE and merging. */
conformance_row row_3_lowest_bias, row_6_lowest_twice, row_9_scores_below_any_sentinel,
    row_10_mask_below_sentinel, row_14_huge_inputs, row_15_scores_above_half,
    row_16_softcap_of_huge_scores, row_17_all_scores_near_minus_120,
    row_18_negative_scale, row_40_repeats, row_12_merge_of_empty_parts,
    row_42_merge_far_apart, row_43_ring_of_parts, row_44_lse_is_natural;

/* Sizes, strides, alignments, heads and batches. */
conformance_row row_23_zero_sizes, row_25_any_strides, row_26_broadcast_keys,
    row_27_around_65536, row_28_far_offsets, row_29_guard_pages,
    row_30_tails_mostly_masked, row_31_value_width, row_32_alignments, row_35_head_groups,
    row_36_heads_do_not_divide, row_37_optional_outputs, row_38_packed_qkv,
    row_39_lengths_out_of_range, row_41_batch_invariance;

#endif

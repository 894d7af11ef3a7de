/* SPDX-License-Identifier: MIT */
/*
 * Bugs that other implementations of attention shipped, one row each: where it
 * was reported, what went wrong, and the test that would have caught it here.
 * Every row runs on every kernel set of this machine and every dtype it names.
 * Where this library lacks the feature, `instead` says what is tested in its
 * place.
 */
#define _GNU_SOURCE
#include "conformance_masks.h"
#include "conformance_numbers.h"
#include "conformance_shapes.h"

#define F64 (1u << ATTEND_F64)
#define F32 (1u << ATTEND_F32)
#define F16 (1u << ATTEND_F16)
#define BF16 (1u << ATTEND_BF16)
#define ALL (F64 | F32 | F16 | BF16)

typedef struct row {
    int number;
    const char *thread, *symptom;
    unsigned dtypes;
    void (*test)(attend_context *ctx, attend_dtype dtype);
    const char *instead;
} row;

static const row rows[] = {
    {1, "pytorch #103963, #103749", "all-False mask row gives NaN", ALL,
     row_1_all_false_row, NULL},
    {2, "pytorch #127055", "band mask, n = 600: exp(-inf - -inf)", ALL, row_2_band, NULL},
    {3, "pytorch #109517, #110213", "rows of finfo.min: NaN or mean by backend", ALL,
     row_3_lowest_bias, NULL},
    {4, "pytorch #160064", "weights NaN for a fully masked head", ALL, row_4_masked_head,
     NULL},
    {5, "unsloth #9848", "left padding NaN spreads to the next layer", ALL,
     row_5_left_padding, NULL},
    {6, "transformers #38690, #27114", "min + min overflows to -inf", ALL,
     row_6_lowest_twice, NULL},
    {7, "ik_llama.cpp #2344", "leading fully masked rows NaN", ALL,
     row_7_masked_rows_in_a_tile, NULL},
    {8, "llama.cpp #12776", "first tile masked gives NaN", ALL, row_8_first_tile_masked,
     NULL},
    {9, "flashinfer #4267", "scores below a finite sentinel give zeros", ALL,
     row_9_scores_below_any_sentinel, NULL},
    {10, "lattice #373", "mask value -1e4 beats a real -2e4", ALL,
     row_10_mask_below_sentinel, NULL},
    {11, "flashinfer #4452, #4450", "empty causal rows have finite LSE", ALL,
     row_11_empty_causal_rows, NULL},
    {12, "flashinfer #4051, #5262", "merging two empty states gives NaN", ALL,
     row_12_merge_of_empty_parts, NULL},
    {13, "flash-attention #978, pytorch #134650", "LSE +inf or 0 for empty rows", ALL,
     row_13_lse_of_empty_rows, NULL},
    {14, "pytorch #121558", "inputs of 133120 give NaN", F64 | F32 | BF16,
     row_14_huge_inputs, NULL},
    {15, "pytorch #160841", "q.k overflows half", ALL, row_15_scores_above_half, NULL},
    {16, "vllm #56578", "softcap by an exp ratio is NaN above 88", ALL,
     row_16_softcap_of_huge_scores, NULL},
    {17, "pytorch #196678, cudnn-frontend #1072, #160",
     "padded key tile overflows when lse < -88.7", ALL, row_17_all_scores_near_minus_120,
     NULL},
    {18, "pytorch #105190", "negative scale wrong", ALL, row_18_negative_scale, NULL},
    {19, "pytorch #101967", "NaN in masked K or V poisons the output", ALL,
     row_19_nan_in_masked_keys, NULL},
    {20, "pytorch #141128", "NaN input returned zeros", ALL, row_20_nan_query, NULL},
    {21, "torch-xpu-ops #5022", "sentinel row maximum zeroes a NaN row", ALL,
     row_21_nan_under_a_bias, NULL},
    {22, "flash-attention #1745, vllm #936, #53856, aiter #5401",
     "stale values in cache padding leak", ALL, row_22_stale_cache, NULL},
    {23, "flash-attention #2470, pytorch #174939, #141218, #191325", "zero sizes fault",
     ALL, row_23_zero_sizes, NULL},
    {24, "pytorch #81077, flash-attention #2568", "empty sequences give NaN or hang", ALL,
     row_24_empty_sequences, NULL},
    {25, "pytorch #112577, flash-attention #2665", "non-contiguous inputs silently wrong",
     ALL, row_25_any_strides,
     "any stride is legal here, so the results are compared bit for bit"},
    {26, "pytorch #191937", "stride-0 K/V wrong for lengths 1 mod 32", ALL,
     row_26_broadcast_keys, NULL},
    {27, "pytorch #162588", "masked, wrong from length 65537 on", ALL,
     row_27_around_65536, NULL},
    {28, "flash-attention #1311, #767, #2214, #2611, flash-linear-attention #1080",
     "32-bit offsets overflow", ALL, row_28_far_offsets, NULL},
    {29, "flash-attention #1076", "one query, 257 keys: out of bounds", ALL,
     row_29_guard_pages, NULL},
    {30, "pytorch #159247, #163588", "key tails and mostly masked keys off by 3%", ALL,
     row_30_tails_mostly_masked, NULL},
    {31, "pytorch #176767", "output width taken from q instead of v", ALL,
     row_31_value_width, NULL},
    {32, "pytorch #103082, #108108, mlx #2835, executorch #22426, onnxruntime #29020",
     "top-left and bottom-right confused", ALL, row_32_alignments, NULL},
    {33, "flash-attention #1778, #20", "more queries than keys with causal or local", ALL,
     row_33_more_queries_than_keys, NULL},
    {34, "onnx #7865, onnxruntime #28379", "softcap after the mask leaks", ALL,
     row_34_softcap_before_mask, NULL},
    {35, "onnx #7274, jax-js #180, ONNXim #33", "head groups tiled, not interleaved", ALL,
     row_35_head_groups, NULL},
    {36, "flash-linear-attention #1029", "hq % hkv != 0 accepted", ALL,
     row_36_heads_do_not_divide, NULL},
    {37, "onnxruntime #26262", "present outputs without a past rejected", ALL,
     row_37_optional_outputs,
     "no past or present here; any subset of the optional outputs, same bits"},
    {38, "hip-ep #621", "default scale from the packed width", ALL, row_38_packed_qkv,
     NULL},
    {39, "onnxruntime #32391, flash-attention paged block_table bounds",
     "indices out of range are followed", ALL, row_39_lengths_out_of_range,
     "no paging here; key lengths out of range are refused"},
    {40, "pytorch #166211", "results differ from run to run", ALL, row_40_repeats,
     "no gradients here; 250 forward runs of f32, 50 of others, same bits"},
    {41, "pytorch #34060, TabPFN #800", "a row depends on its batch", ALL,
     row_41_batch_invariance, NULL},
    {42, "TransformerEngine #716, EasyContext #14", "merging by exp overflows", ALL,
     row_42_merge_far_apart, NULL},
    {43, "ring-flash-attention #42, #22, TransformerEngine #821",
     "error grows with the number of parts", ALL, row_43_ring_of_parts, NULL},
    {44, "attention-gym #200", "LSE in base 2 mixed with base e", ALL,
     row_44_lse_is_natural, NULL},
};

enum { ROWS = sizeof rows / sizeof rows[0], SETS_MAX = 16 };
_Static_assert(ROWS == 44, "one row for each thread of the list");

static attend_context *sets[SETS_MAX];
static int set_count;
static const row *current;

/* Reports every set and dtype that fails, not only the first. */
static void run_current(void)
{
    int failed = 0;

    for (int set = 0; set < set_count; set++)
        for (int at = 0; at < FLOAT_DTYPES; at++) {
            if (!(current->dtypes & 1u << float_dtypes[at]))
                continue;
            test_state.failed_now = 0;
            current->test(sets[set], float_dtypes[at]);
            if (test_state.failed_now)
                printf("  ^ kernel set %s, %s (%s: %s)\n", attend_context_isa(sets[set]),
                       attend_dtype_name(float_dtypes[at]), current->thread,
                       current->symptom);
            failed |= test_state.failed_now;
        }
    test_state.failed_now = failed;
    if (current->instead != NULL)
        printf("  %s: %s\n", current->thread, current->instead);
}

TEST(table_is_in_order)
{
    for (int at = 0; at < ROWS; at++)
        CHECK(rows[at].number == at + 1, "row %d is number %d", at, rows[at].number);
    CHECK(set_count >= 1, "no kernel set runs here");
}

int main(void)
{
    for (int index = 0; index < attend_isa_count() && set_count < SETS_MAX; index++) {
        attend_isa isa = attend_isa_default();
        if (attend_isa_get(index, &isa) == ATTEND_OK && isa.runs)
            sets[set_count++] = open_set(isa.name, 1);
        if (set_count > 0 && sets[set_count - 1] == NULL)
            return 1;
    }
    RUN(table_is_in_order);
    for (int at = 0; at < ROWS; at++) {
        char name[96];
        current = &rows[at];
        snprintf(name, sizeof name, "row %d: %s", current->number, current->symptom);
        test_run(name, run_current);
    }
    for (int set = 0; set < set_count; set++)
        attend_context_destroy(sets[set]);
    return split_finish();
}

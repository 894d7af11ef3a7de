/* SPDX-License-Identifier: MIT */
/*
 * The kernels: KERNEL(module, name) for each, those of four element types in the order of
 * dtypes; a module is a file.
 */
#ifndef ATTEND_CUDA_KERNEL_NAMES_H
#define ATTEND_CUDA_KERNEL_NAMES_H

enum module_name {
#define MODULE(name) MODULE_##name,
#include "cuda/modules.inc"
#undef MODULE
    MODULE_COUNT
};

#define KERNEL_TYPES(module, name)                                                       \
    KERNEL(module, name##_f64)                                                           \
    KERNEL(module, name##_f32)                                                           \
    KERNEL(module, name##_f16)                                                           \
    KERNEL(module, name##_bf16)
/* By columns, then f16 and bf16. */
#define KERNEL_NARROW(module, name) KERNEL(module, name##_f16) KERNEL(module, name##_bf16)
#define KERNEL_WIDTHS(module, name)                                                      \
    KERNEL_NARROW(module, name##_d64)                                                    \
    KERNEL_NARROW(module, name##_d128)                                                   \
    KERNEL_NARROW(module, name##_d256)
#define ALL_KERNELS                                                                      \
    KERNEL_TYPES(forward_general, forward)                                               \
    KERNEL_TYPES(forward_general, weights)                                               \
    KERNEL(forward_general, combine_f64)                                                 \
    KERNEL(forward_general, combine_f32)                                                 \
    KERNEL_TYPES(stats, stats)                                                           \
    KERNEL(stats_read, stats_rows)                                                       \
    KERNEL(stats_read, summaries)                                                        \
    KERNEL_TYPES(inspect, columns)                                                       \
    KERNEL_TYPES(inspect, pooled)                                                        \
    KERNEL_TYPES(inspect, zoom)                                                          \
    KERNEL_TYPES(inspect, probe)                                                         \
    KERNEL(merge_parts, merge_parts)                                                     \
    KERNEL(merge_parts, gather_records)                                                  \
    KERNEL(sums, sums_add)                                                               \
    KERNEL_NARROW(sm80_prefill, sm80_prefill_d64)                                        \
    KERNEL_NARROW(sm80_prefill, sm80_prefill_d128)                                       \
    KERNEL_WIDTHS(sm80_rules, sm80_rules)                                                \
    KERNEL_WIDTHS(sm80_decode, sm80_decode)                                              \
    KERNEL(sm80_decode, sm80_combine)                                                    \
    KERNEL(sm80_decode, sm80_pack)                                                       \
    KERNEL_WIDTHS(sm90_prefill, sm90_prefill)                                            \
    KERNEL_NARROW(sm90_prefill, sm90_prefill_d192)                                       \
    KERNEL_WIDTHS(sm90_masked, sm90_masked)                                              \
    KERNEL(sm90_masked, sm90_mask)                                                       \
    KERNEL(sm90_masked, sm90_lists)                                                      \
    KERNEL_NARROW(sm90_score_mod, sm90_score_mod_d64)                                    \
    KERNEL_NARROW(sm90_score_mod, sm90_score_mod_d128)                                   \
    KERNEL_NARROW(sm90_score_mod, sm90_score_mod_nonfinite_d128)                         \
    KERNEL_NARROW(sm90_stats, sm90_stats_d64)                                            \
    KERNEL_NARROW(sm90_stats, sm90_stats_d128)                                           \
    KERNEL_NARROW(sm90_stats, sm90_stats_masked_d64)                                     \
    KERNEL_NARROW(sm90_stats, sm90_stats_masked_d128)                                    \
    KERNEL_NARROW(sm90_nonfinite, sm90_nonfinite_d64)                                    \
    KERNEL_NARROW(sm90_nonfinite, sm90_nonfinite_d128)                                   \
    KERNEL_NARROW(sm90_nonfinite, sm90_nonfinite_d192)                                   \
    KERNEL_NARROW(sm90_nonfinite, sm90_nonfinite_d256)                                   \
    KERNEL_NARROW(sm90_nonfinite, sm90_decode_nonfinite_d128)                            \
    KERNEL_NARROW(sm90_nonfinite, sm90_decode_nonfinite_d256)                            \
    KERNEL_WIDTHS(sm90_decode, sm90_decode)                                              \
    KERNEL_NARROW(sm90_decode, sm90_combine)                                             \
    KERNEL(sm90_decode, sm90_pack)                                                       \
    KERNEL(sm90_columns, sm90_lse)                                                       \
    KERNEL_NARROW(sm90_columns, sm90_columns_d64)                                        \
    KERNEL_NARROW(sm90_columns, sm90_columns_d128)

enum kernel_name {
#define KERNEL(module, name) KERNEL_##name,
    ALL_KERNELS
#undef KERNEL
        KERNEL_COUNT
};

#endif

/* SPDX-License-Identifier: MIT */
/* The kernels: KERNEL(name) for each, those of four element types in the order of dtypes. */
#ifndef ATTEND_CUDA_KERNEL_NAMES_H
#define ATTEND_CUDA_KERNEL_NAMES_H

#define KERNEL_TYPES(name)                                                               \
    KERNEL(name##_f64) KERNEL(name##_f32) KERNEL(name##_f16) KERNEL(name##_bf16)
/* Of Hopper alone: by columns, then f16 and bf16. */
#define KERNEL_NARROW(name) KERNEL(name##_f16) KERNEL(name##_bf16)
#define KERNEL_WIDTHS(name)                                                              \
    KERNEL_NARROW(name##_d64) KERNEL_NARROW(name##_d128) KERNEL_NARROW(name##_d256)
#define SM90_KERNELS                                                                     \
    KERNEL_WIDTHS(sm90_prefill)                                                          \
    KERNEL_WIDTHS(sm90_careful)                                                          \
    KERNEL_WIDTHS(sm90_decode)                                                           \
    KERNEL_WIDTHS(sm90_decode_careful)                                                   \
    KERNEL_NARROW(sm90_combine) KERNEL(sm90_pack)
#define ALL_KERNELS                                                                      \
    KERNEL_TYPES(forward)                                                                \
    KERNEL_TYPES(weights)                                                                \
    KERNEL_TYPES(stats)                                                                  \
    KERNEL_TYPES(columns)                                                                \
    KERNEL_TYPES(pooled)                                                                 \
    KERNEL_TYPES(zoom)                                                                   \
    KERNEL_TYPES(probe)                                                                  \
    KERNEL(combine_f64) KERNEL(combine_f32) KERNEL(summaries)                            \
    SM90_KERNELS

enum kernel_name {
#define KERNEL(name) KERNEL_##name,
    ALL_KERNELS
#undef KERNEL
        KERNEL_COUNT
};

#endif

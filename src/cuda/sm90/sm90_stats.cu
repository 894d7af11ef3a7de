/* SPDX-License-Identifier: MIT */
/* Prefill on Hopper with fused row statistics, with and without a mask. */
#include "cuda/sm90/sm90.cuh"

SM90_KERNEL(stats_d64_f16, __half, 64, 128, 2, 3, false, false, 0, true)
SM90_KERNEL(stats_d64_bf16, __nv_bfloat16, 64, 128, 2, 3, false, false, 0, true)
SM90_KERNEL(stats_d128_f16, __half, 128, 128, 2, 2, false, false, 0, true)
SM90_KERNEL(stats_d128_bf16, __nv_bfloat16, 128, 128, 2, 2, false, false, 0, true)
SM90_KERNEL(stats_masked_d64_f16, __half, 64, 128, 2, 3, false, false, 1, true)
SM90_KERNEL(stats_masked_d64_bf16, __nv_bfloat16, 64, 128, 2, 3, false, false, 1, true)
SM90_KERNEL(stats_masked_d128_f16, __half, 128, 128, 2, 2, false, false, 1, true)
SM90_KERNEL(stats_masked_d128_bf16, __nv_bfloat16, 128, 128, 2, 2, false, false, 1, true)

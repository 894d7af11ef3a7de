/* SPDX-License-Identifier: MIT */
/* Prefill on Hopper: many rows of a head, each tile with all its keys. */
#include "cuda/sm90/sm90.cuh"

SM90_KERNEL(prefill_d64_f16, __half, 64, 128, 3, 3, false, false)
SM90_KERNEL(prefill_d64_bf16, __nv_bfloat16, 64, 128, 3, 3, false, false)
SM90_KERNEL(prefill_d128_f16, __half, 128, 128, 2, 2, false, false)
SM90_KERNEL(prefill_d128_bf16, __nv_bfloat16, 128, 128, 2, 2, false, false)
SM90_KERNEL(prefill_d192_f16, __half, 192, 128, 2, 2, false, false, 0, false, 128)
SM90_KERNEL(prefill_d192_bf16, __nv_bfloat16, 192, 128, 2, 2, false, false, 0, false, 128)
SM90_KERNEL(prefill_d256_f16, __half, 256, 64, 2, 2, false, false)
SM90_KERNEL(prefill_d256_bf16, __nv_bfloat16, 256, 64, 2, 2, false, false)

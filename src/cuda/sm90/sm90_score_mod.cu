/* SPDX-License-Identifier: MIT */
/*
 * Prefill on Hopper with biases, ALiBi or softcap, optionally with a mask, and the
 * kernels for tiles with non-finite hidden values.  Blocks have 64 keys, since score_mod
 * needs registers.
 */
#include "cuda/sm90/sm90.cuh"

SM90_KERNEL(score_mod_d64_f16, __half, 64, 64, 2, 3, false, false, 2)
SM90_KERNEL(score_mod_d64_bf16, __nv_bfloat16, 64, 64, 2, 3, false, false, 2)
SM90_KERNEL(score_mod_d128_f16, __half, 128, 64, 2, 3, false, false, 2)
SM90_KERNEL(score_mod_d128_bf16, __nv_bfloat16, 128, 64, 2, 3, false, false, 2)
SM90_KERNEL(score_mod_nonfinite_d128_f16, __half, 128, 64, 2, 3, false, true, 2)
SM90_KERNEL(score_mod_nonfinite_d128_bf16, __nv_bfloat16, 128, 64, 2, 3, false, true, 2)

/* SPDX-License-Identifier: MIT */
/*
 * Prefill on Hopper with biases, ALiBi or softcap, and a mask besides; and the same again
 * for tiles whose hidden values are not finite.  Blocks are of 64 keys: what finishes
 * scores needs the registers.
 */
#include "cuda/sm90/sm90.cuh"

SM90_KERNEL(score_mod_d64_f16, __half, 64, 64, 2, 3, false, false, 2)
SM90_KERNEL(score_mod_d64_bf16, __nv_bfloat16, 64, 64, 2, 3, false, false, 2)
SM90_KERNEL(score_mod_d128_f16, __half, 128, 64, 2, 3, false, false, 2)
SM90_KERNEL(score_mod_d128_bf16, __nv_bfloat16, 128, 64, 2, 3, false, false, 2)
SM90_KERNEL(score_mod_nonfinite_d128_f16, __half, 128, 64, 2, 3, false, true, 2)
SM90_KERNEL(score_mod_nonfinite_d128_bf16, __nv_bfloat16, 128, 64, 2, 3, false, true, 2)

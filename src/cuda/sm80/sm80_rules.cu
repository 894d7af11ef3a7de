/* SPDX-License-Identifier: MIT */
/* Prefill from Ampere on with a mask, bias, ALiBi or softcap, or with d > 128. */
#include "cuda/sm80/sm80.cuh"

SM80_KERNEL(rules_d64_f16, 3, __half, 64, 4, 1, 64, SM80_SLOTS, true, false)
SM80_KERNEL(rules_d64_bf16, 3, __nv_bfloat16, 64, 4, 1, 64, SM80_SLOTS, true, false)
SM80_KERNEL(rules_d128_f16, 2, __half, 128, 4, 1, 64, SM80_SLOTS, true, false)
SM80_KERNEL(rules_d128_bf16, 2, __nv_bfloat16, 128, 4, 1, 64, SM80_SLOTS, true, false)
SM80_KERNEL(rules_d256_f16, 1, __half, 256, 4, 1, 32, SM80_SLOTS, true, false)
SM80_KERNEL(rules_d256_bf16, 1, __nv_bfloat16, 256, 4, 1, 32, SM80_SLOTS, true, false)

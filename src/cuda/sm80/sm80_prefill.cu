/* SPDX-License-Identifier: MIT */
/* Prefill from Ampere on: causal rule, window, key lengths, sinks. */
#include "cuda/sm80/sm80.cuh"

SM80_KERNEL(prefill_d64_f16, 3, __half, 64, 4, 2, 64, SM80_SLOTS, false, false)
SM80_KERNEL(prefill_d64_bf16, 3, __nv_bfloat16, 64, 4, 2, 64, SM80_SLOTS, false, false)
SM80_KERNEL(prefill_d128_f16, 2, __half, 128, 4, 2, 64, SM80_SLOTS, false, false)
SM80_KERNEL(prefill_d128_bf16, 2, __nv_bfloat16, 128, 4, 2, 64, SM80_SLOTS, false, false)

/* SPDX-License-Identifier: MIT */
/*
 * Recomputes tiles whose hidden values are not finite; see sm90.cuh.  The bits are those
 * of the other kernels, with the same rows of a tile, keys of a block and products.
 * Padding columns of 0 change no sum, so one instance serves all widths with the same
 * rows and keys.
 */
#include "cuda/sm90/sm90.cuh"

SM90_KERNEL(nonfinite_d64_f16, __half, 64, 128, 3, 3, false, true)
SM90_KERNEL(nonfinite_d64_bf16, __nv_bfloat16, 64, 128, 3, 3, false, true)
SM90_KERNEL(nonfinite_d128_f16, __half, 128, 128, 2, 2, false, true, 1)
SM90_KERNEL(nonfinite_d128_bf16, __nv_bfloat16, 128, 128, 2, 2, false, true, 1)
SM90_KERNEL(nonfinite_d192_f16, __half, 192, 128, 2, 2, false, true, 0, false, 128)
SM90_KERNEL(nonfinite_d192_bf16, __nv_bfloat16, 192, 128, 2, 2, false, true, 0, false,
            128)
SM90_KERNEL(nonfinite_d256_f16, __half, 256, 64, 2, 2, false, true, 1)
SM90_KERNEL(nonfinite_d256_bf16, __nv_bfloat16, 256, 64, 2, 2, false, true, 1)
SM90_KERNEL(decode_nonfinite_d128_f16, __half, 128, 128, 1, 3, true, true)
SM90_KERNEL(decode_nonfinite_d128_bf16, __nv_bfloat16, 128, 128, 1, 3, true, true)
SM90_KERNEL(decode_nonfinite_d256_f16, __half, 256, 64, 1, 3, true, true)
SM90_KERNEL(decode_nonfinite_d256_bf16, __nv_bfloat16, 256, 64, 1, 3, true, true)

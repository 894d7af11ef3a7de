/* SPDX-License-Identifier: MIT */
/* Parameters of the kernel sets with AVX-512: template_params.h. */
#include "cpu/simd/simd_avx512.h"
#include "cpu/simd/microkernel_avx512.h"

#define QV 3
#define KR 8
#define DECODE_ROWS 4
#define DECODE_TILES 2
#define DECODE_VECTORS 4

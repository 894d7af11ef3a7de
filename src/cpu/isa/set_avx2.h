/* SPDX-License-Identifier: MIT */
/* Parameters of the AVX2 and FMA kernel set: template_params.h. */
#include "cpu/simd/simd_avx2.h"
#include "cpu/simd/microkernel_avx2.h"

#define QV 3
#define KR 4
#define DECODE_ROWS 4
#define DECODE_TILES 1
#define DECODE_VECTORS 2

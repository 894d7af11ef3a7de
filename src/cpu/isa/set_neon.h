/* SPDX-License-Identifier: MIT */
/* Parameters of the AArch64 kernel set: template_params.h. */
#include "cpu/simd/simd_neon.h"
#include "cpu/simd/microkernel_neon.h"

#define QV 3
#define KR 8
#define DECODE_ROWS 4
#define DECODE_TILES 2
#define DECODE_VECTORS 4

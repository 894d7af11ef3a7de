/* SPDX-License-Identifier: MIT */
/* Parameters of the WebAssembly kernel set: template_params.h. */
#include "cpu/simd/simd_simd128.h"

#define QV 2
#define KR 4
#define DECODE_ROWS 4
#define DECODE_TILES 1
#define DECODE_VECTORS 2

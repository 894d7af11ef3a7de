/* SPDX-License-Identifier: MIT */
/* The kernel set with bf16 products on tile registers; flags in isa.list. */
#include "cpu/simd_avx512.h"

/* clang 14 spells the second without the inner underscore. */
#if !defined(__AVX512BF16__) || !(defined(__AMX_BF16__) || defined(__AMXBF16__))
#error "compile this file with AVX512_BF16, AMX_TILE and AMX_BF16"
#endif

#define ISA amx
#define ISA_NEEDS (CPU_V3 | CPU_V4 | CPU_BF16 | CPU_AMX)
#define BASE_ISA avx512bf16
/* The second pass sums columns in its own order. */
#define TAKES(p) ((p)->dtype == ATTEND_BF16 && !(p)->second)
#define TILE_BF16
/* Fewer sums with the output than with 128; no sum takes the keys one by one. */
#define BC 256
#define NARROW_BC 256
#define WEIGHT_PIECE 8
#define QV 2
#define LANES_STEP BR
/* Tiles have 32 rows: a few more are cheaper as narrow ones than as a tile. */
#define NARROW_REST 4
/* Turning V costs more than reading it, and wants more tiles to share it. */
#define TILES_MAX 16
#define NARROW_ROWS 4
#define NARROW_TILES 1
#include "cpu/kernels_tmpl.h"

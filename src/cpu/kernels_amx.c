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
/* Statistics, and columns, are summed where weights are not cut into pieces. */
#define TAKES(p) ((p)->dtype == ATTEND_BF16 && !(p)->stats.needs && !(p)->second)
#define TILE_BF16
/* Fewer sums with the output than with 128; no sum takes the keys one by one. */
#define BC 256
#define QV 2
#define LANES_STEP BR
/* A row on its own does not get the bits of a row in a tile. */
#define NARROW_REST 0
/* Turning V costs more than reading it, and wants more tiles to share it. */
#define TILES_MAX 16
#define NARROW_ROWS 4
#define NARROW_TILES 2
#define NARROW_VECTORS 4
#include "cpu/kernels_tmpl.h"

/* SPDX-License-Identifier: MIT */
/* Kernels of bf16 products on AMX tile registers; sums are f32. */
/* clang 14 spells the second without the inner underscore. */
#if !defined(__AVX512BF16__) || !(defined(__AMX_BF16__) || defined(__AMXBF16__))
#error "compile this file with AVX512_BF16, AMX_TILE and AMX_BF16"
#endif

#define KERNELS attendi_amx_bf16
/* Fewer sums with the output than with 128; no sum takes the keys one by one. */
#define BC 256
#define DECODE_BC 256
#define WEIGHT_PIECE 8
#define QV 2
#define LANES_STEP BR
/* Tiles have 32 rows: a few more are cheaper on the decode path than as a tile. */
#define DECODE_REST 4
/* Packing V costs more than reading it, so more tiles share it. */
#define TILES_MAX 16
#define DECODE_ROWS 4
#define DECODE_TILES 1
#define PARTS_BYTES (3 * (BC / 2) * BR * sizeof(uint32_t))
#include "cpu/isa/element_bf16.h"
#include "cpu/simd/simd_avx512.h"
#include "cpu/simd/pairs_avx512.h"
#include "cpu/isa/kernels_amx.h"

/* SPDX-License-Identifier: MIT */
/* The AVX-512 kernel set with bf16 products; flags in isa.list. */
#include "cpu/microkernel_avx512.h"
#include "cpu/simd_avx512.h"

#if !defined(__AVX512BF16__)
#error "compile this file with AVX512_BF16"
#endif

#define ISA avx512bf16
#define ISA_NEEDS (CPU_V3 | CPU_V4 | CPU_BF16)
#define QV 3
#define KR 8
#define BASE_ISA avx512
#define TAKES(p) ((p)->dtype == ATTEND_BF16)
/* Fewer sums with the output than with 128, below what rounding P to bf16 leaves. */
#define BC 256
#define NARROW_BC 256
#define NARROW_ROWS 4
#define NARROW_TILES 2
#define NARROW_VECTORS 4
#include "cpu/kernels_tmpl.h"

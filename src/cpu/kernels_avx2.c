/* SPDX-License-Identifier: MIT */
/* The AVX2 + FMA kernel set; flags in isa.list. */
#include "cpu/microkernel_avx2.h"
#include "cpu/simd_avx2.h"

#define ISA avx2
#define ISA_NEEDS CPU_V3
#define QV 3
#define KR 4
#define NARROW_ROWS 4
#define NARROW_TILES 1
#define NARROW_VECTORS 2
#include "cpu/kernels_tmpl.h"

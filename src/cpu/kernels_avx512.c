/* SPDX-License-Identifier: MIT */
/* The AVX-512 kernel set; flags in isa.list. */
#include "cpu/microkernel_avx512.h"
#include "cpu/simd_avx512.h"

#define ISA avx512
#define ISA_NEEDS (CPU_V3 | CPU_V4)
#define QV 3
#define KR 8
#define NARROW_ROWS 4
#define NARROW_TILES 2
#define NARROW_VECTORS 4
#include "cpu/kernels_tmpl.h"

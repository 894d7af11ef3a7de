/* SPDX-License-Identifier: MIT */
/* The kernel set for any machine; flags in isa.list. */
#include "cpu/simd_scalar.h"

#define ISA scalar
#define ISA_NEEDS 0
#define QV 2
#define KR 4
#define NARROW_ROWS 4
#define NARROW_TILES 1
#define NARROW_VECTORS 2
#include "cpu/kernels_tmpl.h"

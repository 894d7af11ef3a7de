/* SPDX-License-Identifier: MIT */
/*
 * Not a header: one kernel set.  kernels_<isa>.c includes simd_<isa>.h, defines
 *   ISA, ISA_NEEDS    name and the bits of cpu_features.h
 *   QV, KR            register tile: query vectors by keys; at most 3 vectors
 *   NATIVE_BF16       optional: products_bf16.h in the place of widening
 * and includes this file, which makes the f32 and f64 instances and the table.
 */
#include <float.h>
#include <math.h>
#include <stdbool.h>

#include "base/base.h"
#include "base/half.h"
#include "core/kernels.h"
#include "core/tensor.h"
#include "cpu/cpu_features.h"

#define ALWAYS_INLINE inline __attribute__((always_inline))
#define LOG2_E 1.44269504088896340736

/* Keys of a block, even: scores of a full tile stay near L1. */
#define BC 128
/* Columns summed in one go by a score. */
#define SUM_COLUMNS 128

/* Bytes of scratch that the products want for one tile of Q and a block of K and V. */
struct operand_sizes {
    size_t qt, k, v;
};

/* The types that each instance of the templates has of its own. */
#define STATE struct N(state)
#define OPERAND struct N(operand)

/* f(..., n) with n, the number of vectors in use, known to the compiler. */
#if QV == 3
#define FOR_VECTORS(n, f, ...)                                                           \
    ((n) == 1 ? f(__VA_ARGS__, 1) : (n) == 2 ? f(__VA_ARGS__, 2) : f(__VA_ARGS__, 3))
#elif QV == 2
#define FOR_VECTORS(n, f, ...) ((n) == 1 ? f(__VA_ARGS__, 1) : f(__VA_ARGS__, 2))
#else
#error "a tile has two or three vectors of queries"
#endif

#define REAL float
#define REAL_DTYPE ATTEND_F32
#define REAL_MAX FLT_MAX
#define REAL_MIN FLT_MIN
#define VEC vf
#define VLEN VF_LEN
#define BR (QV * VLEN)
#define V(word) vf_##word
/* scripts/fit_exp2.py: relative error below 1e-7 before rounding. */
#define EXP2_TERMS                                                                       \
    {                                                                                    \
        0x1.62e42ap-1f, 0x1.ebf9c2p-3f, 0x1.c6b6d8p-5f, 0x1.3ce8acp-7f, 0x1.5bda3cp-10f  \
    }
#define EXP2_MIN -126

#define N(name) name##_f32
#define WIDENS_HALVES
#include "cpu/exp2_tmpl.h"
#include "cpu/state_tmpl.h"
#include "cpu/products_fma_tmpl.h"
#include "cpu/forward_tmpl.h"
#undef WIDENS_HALVES
#undef N

#ifdef NATIVE_BF16
#define N(name) name##_bf16
#include "cpu/exp2_tmpl.h"
#include "cpu/state_tmpl.h"
#include "cpu/products_bf16.h"
#include "cpu/forward_tmpl.h"
#undef N
#endif

#undef REAL
#undef REAL_DTYPE
#undef REAL_MAX
#undef REAL_MIN
#undef VEC
#undef VLEN
#undef V
#undef EXP2_TERMS
#undef EXP2_MIN

#define REAL double
#define REAL_DTYPE ATTEND_F64
#define REAL_MAX DBL_MAX
#define REAL_MIN DBL_MIN
#define VEC vd
#define VLEN VD_LEN
#define V(word) vd_##word
/* (ln 2)^k / k!: the first term left out is below 2^-57 of the sum. */
#define EXP2_TERMS                                                                       \
    {                                                                                    \
        0x1.62e42fefa39efp-1, 0x1.ebfbdff82c58fp-3, 0x1.c6b08d704a0cp-5,                 \
            0x1.3b2ab6fba4e77p-7, 0x1.5d87fe78a6731p-10, 0x1.430912f86c787p-13,          \
            0x1.ffcbfc588b0c7p-17, 0x1.62c0223a5c824p-20, 0x1.b5253d395e7c4p-24,         \
            0x1.e4cf5158b8ecap-28, 0x1.e8cac7351bb25p-32, 0x1.c3bd650fc2986p-36,         \
            0x1.816193166d0f9p-40                                                        \
    }
#define EXP2_MIN -1022
#define N(name) name##_f64
#include "cpu/exp2_tmpl.h"
#include "cpu/state_tmpl.h"
#include "cpu/products_fma_tmpl.h"
#include "cpu/forward_tmpl.h"

static int64_t tile_rows(attend_dtype dtype)
{
    return QV * (dtype == ATTEND_F64 ? VD_LEN : VF_LEN);
}

static size_t scratch_size(const struct problem *p)
{
    if (p->dtype == ATTEND_F64)
        return scratch_size_f64(p);
#ifdef NATIVE_BF16
    if (p->dtype == ATTEND_BF16)
        return scratch_size_bf16(p);
#endif
    return scratch_size_f32(p);
}

static void forward(const struct problem *p, const struct tile *t, void *scratch)
{
    if (p->dtype == ATTEND_F64)
        forward_f64(p, t, scratch);
#ifdef NATIVE_BF16
    else if (p->dtype == ATTEND_BF16)
        forward_bf16(p, t, scratch);
#endif
    else
        forward_f32(p, t, scratch);
}

static void exp2_floats(const float *x, float *y, int64_t n)
{
    int64_t i = 0;

    for (; i + VF_LEN <= n; i += VF_LEN)
        vf_store(y + i, exp2_f32(vf_load(x + i)));
    for (; i < n; i++) {
        float lanes[VF_LEN];

        vf_store(lanes, exp2_f32(vf_set1(x[i])));
        y[i] = lanes[0];
    }
}

#define TABLE_OF(isa) attendi_cpu_##isa
#define TABLE(isa) TABLE_OF(isa)
#define NAME_OF(isa) #isa
#define NAME(isa) NAME_OF(isa)

extern const struct kernels TABLE(ISA);
const struct kernels TABLE(ISA) = {.isa = NAME(ISA),
                                   .needs = ISA_NEEDS,
                                   .tile_rows = tile_rows,
                                   .scratch_size = scratch_size,
                                   .forward = forward,
                                   .exp2 = exp2_floats};

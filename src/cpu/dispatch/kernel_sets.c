/* SPDX-License-Identifier: MIT */
#include "cpu/dispatch/kernel_sets.h"

#include "core/tensor.h"
#include "cpu/dispatch/cpu_features.h"

/*
 * The sets, one line each: name, features and, for bf16 alone, the fallback set.  The
 * build defines ATTEND_HAVE_<ISA> from isa/isa.list; a test compares both lists.
 */
#define SET_F32_F64(name, features)                                                      \
    extern const struct kernels attendi_##name##_f32, attendi_##name##_f64;              \
    static const struct kernel_set name = {.isa = #name,                                 \
                                           .needs = features,                            \
                                           .f64 = &attendi_##name##_f64,                 \
                                           .f32 = &attendi_##name##_f32};
#define SET_BF16(name, features, other)                                                  \
    extern const struct kernels attendi_##name##_bf16;                                   \
    static const struct kernel_set name = {.isa = #name,                                 \
                                           .needs = features,                            \
                                           .bf16 = &attendi_##name##_bf16,               \
                                           .fallback = &other};

SET_F32_F64(scalar, 0)
#ifdef ATTEND_HAVE_AVX2
SET_F32_F64(avx2, CPU_V3)
#endif
#ifdef ATTEND_HAVE_AVX512
SET_F32_F64(avx512, CPU_V3 | CPU_V4)
#endif
#ifdef ATTEND_HAVE_AVX512BF16
SET_BF16(avx512bf16, CPU_V3 | CPU_V4 | CPU_BF16, avx512)
#endif
#ifdef ATTEND_HAVE_AMX
SET_BF16(amx, CPU_V3 | CPU_V4 | CPU_BF16 | CPU_AMX, avx512bf16)
#endif
#ifdef ATTEND_HAVE_NEON
SET_F32_F64(neon, CPU_ASIMD)
#endif
#ifdef ATTEND_HAVE_NEONBF16
SET_BF16(neonbf16, CPU_ASIMD | CPU_ARM_BF16, neon)
#endif
#ifdef ATTEND_HAVE_SIMD128
SET_F32_F64(simd128, CPU_SIMD128)
#endif

const struct kernel_set *const attendi_kernel_sets[] = {
#ifdef ATTEND_HAVE_AMX
    &amx,
#endif
#ifdef ATTEND_HAVE_AVX512BF16
    &avx512bf16,
#endif
#ifdef ATTEND_HAVE_AVX512
    &avx512,
#endif
#ifdef ATTEND_HAVE_AVX2
    &avx2,
#endif
#ifdef ATTEND_HAVE_NEONBF16
    &neonbf16,
#endif
#ifdef ATTEND_HAVE_NEON
    &neon,
#endif
#ifdef ATTEND_HAVE_SIMD128
    &simd128,
#endif
    &scalar,     NULL};

/* The kernels of a set for the dtype, or NULL. */
static const struct kernels *kernels_of(const struct kernel_set *set, attend_dtype dtype)
{
    if (dtype == ATTEND_BF16 && set->bf16)
        return set->bf16;
    return attendi_wide_dtype(dtype) == ATTEND_F64 ? set->f64 : set->f32;
}

const struct kernels *attendi_set_kernels(const struct kernel_set *set,
                                          const struct problem *p)
{
    const struct kernels *k;

    while (!(k = kernels_of(set, p->dtype)))
        set = set->fallback;
    return k;
}

const struct kernels *attendi_merge_kernels(const struct kernel_set *set)
{
    for (; set; set = set->fallback)
        if (set->f64 && set->f64->merge)
            return set->f64;
    return scalar.f64;
}

const struct kernels *attendi_merge_kernels_here(void)
{
    const unsigned features = attendi_cpu_vector_features();
    int x = 0;

    while (!attendi_kernel_sets[x]->f64 || attendi_kernel_sets[x]->needs & ~features)
        x++;
    return attendi_kernel_sets[x]->f64;
}

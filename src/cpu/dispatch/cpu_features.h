/* SPDX-License-Identifier: MIT */
/* What this CPU has and its operating system has switched on. */
#ifndef ATTEND_CPU_FEATURES_H
#define ATTEND_CPU_FEATURES_H

#define CPU_V3 1u        /* x86-64-v3: AVX2, FMA, F16C, BMI */
#define CPU_V4 2u        /* x86-64-v4: AVX-512 F, BW, CD, DQ, VL */
#define CPU_BF16 4u      /* AVX512_BF16 */
#define CPU_AMX 8u       /* AMX_TILE and AMX_BF16, granted to this process */
#define CPU_ASIMD 16u    /* AArch64: Advanced SIMD, which has FMA and f16 conversion */
#define CPU_ARM_BF16 32u /* FEAT_BF16: BFDOT and BFMMLA */
#define CPU_SIMD128 64u  /* WebAssembly: vectors of 128 bits */

/* All but CPU_AMX; asks for nothing. */
unsigned attendi_cpu_vector_features(void);
/* Asks the system for tile registers where there are any: they come on request. */
unsigned attendi_cpu_features(void);

/* The single features behind a set of the bits above, separated by spaces. */
const char *attendi_cpu_feature_names(unsigned bits);

#endif

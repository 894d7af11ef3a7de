/* SPDX-License-Identifier: MIT */
/* Features of this CPU that its operating system has enabled. */
#ifndef ATTEND_CPU_FEATURES_H
#define ATTEND_CPU_FEATURES_H

#define CPU_V3 1u        /* x86-64-v3: AVX2, FMA, F16C, BMI */
#define CPU_V4 2u        /* x86-64-v4: AVX-512 F, BW, CD, DQ, VL */
#define CPU_BF16 4u      /* AVX512_BF16 */
#define CPU_AMX 8u       /* AMX_TILE and AMX_BF16, granted to this process */
#define CPU_ASIMD 16u    /* AArch64: Advanced SIMD, which has FMA and f16 conversion */
#define CPU_ARM_BF16 32u /* FEAT_BF16: BFDOT and BFMMLA */
#define CPU_SIMD128 64u  /* WebAssembly: vectors of 128 bits */

/* All but CPU_AMX; no request to the system. */
unsigned attendi_cpu_vector_features(void);
/* Also requests the use of tile registers from the system, if the CPU has them. */
unsigned attendi_cpu_features(void);

/* The names of the features of a set of these bits, separated by spaces. */
const char *attendi_cpu_feature_names(unsigned bits);

#endif

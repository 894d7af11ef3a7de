/* SPDX-License-Identifier: MIT */
/* The element type f32, and f16 and bf16 widened to it: template_params.h. */
#define REAL float
#define REAL_INTEGER int32_t
#define REAL_UNSIGNED uint32_t
#define REAL_DTYPE ATTEND_F32
#define REAL_MAX FLT_MAX
#define REAL_MIN FLT_MIN
#define REAL_EPSILON FLT_EPSILON
#define WIDENS_HALVES
/* scripts/fit_exp2.py: relative error below 1e-7 before rounding. */
#define EXP2_TERMS                                                                       \
    {                                                                                    \
        0x1.62e42ap-1f, 0x1.ebf9c2p-3f, 0x1.c6b6d8p-5f, 0x1.3ce8acp-7f, 0x1.5bda3cp-10f  \
    }
#define EXP2_MIN -126

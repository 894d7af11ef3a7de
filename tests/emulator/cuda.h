/* SPDX-License-Identifier: MIT */
/* CUtensorMap; opaque to kernels. */
#ifndef TESTS_EMULATOR_CUDA_H
#define TESTS_EMULATOR_CUDA_H

#include <stdint.h>

/* 16-bit elements, 128-byte swizzle; axis 0 is the columns. */
struct alignas(64) CUtensorMap {
    char *data;
    int64_t size[4];
    int64_t stride[4]; /* bytes */
    int box[4];
    char unused[128 - 8 - 64 - 16];
};
static_assert(sizeof(CUtensorMap) == 128, "as in the driver");

#endif

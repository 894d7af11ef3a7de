/* SPDX-License-Identifier: MIT */
/* A tensor map, of which kernels know no more than that it is there. */
#ifndef TESTS_EMULATOR_CUDA_H
#define TESTS_EMULATOR_CUDA_H

#include <stdint.h>

/* Two-byte elements, rows of which are swizzled by 128 bytes; columns come first. */
struct alignas(64) CUtensorMap {
    char *data;
    int64_t size[4];
    int64_t stride[4]; /* bytes */
    int box[4];
    char unused[128 - 8 - 64 - 16];
};
static_assert(sizeof(CUtensorMap) == 128, "as the driver has it");

#endif

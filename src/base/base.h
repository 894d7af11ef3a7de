/* SPDX-License-Identifier: MIT */
/* Helpers of all parts. */
#ifndef ATTEND_BASE_BASE_H
#define ATTEND_BASE_BASE_H

#include <stddef.h>
#include <stdint.h>

#define ARRAY_LEN(a) (sizeof(a) / sizeof((a)[0]))

/* A function that GPU kernels call too. */
#ifdef __CUDACC__
#define DEVICE_TOO __host__ __device__
#else
#define DEVICE_TOO
#endif

/* Alignment of scratch: a cache line, and the widest vector. */
#define ATTENDI_ALIGN 64

static inline DEVICE_TOO int64_t min_i64(int64_t a, int64_t b) { return a < b ? a : b; }
static inline DEVICE_TOO int64_t max_i64(int64_t a, int64_t b) { return a > b ? a : b; }
static inline DEVICE_TOO int64_t ceil_div_i64(int64_t a, int64_t b)
{
    return a / b + (a % b != 0);
}

/*
 * Bytes of `count` >= 0 elements of `size`, and the sum of two such numbers; SIZE_MAX on
 * overflow of size_t, which has 32 bits on some machines.
 */
static inline size_t count_bytes(int64_t count, size_t size)
{
    size_t bytes;

    return __builtin_mul_overflow(count, size, &bytes) ? SIZE_MAX : bytes;
}

static inline size_t add_bytes(size_t a, size_t b)
{
    return a > SIZE_MAX - b ? SIZE_MAX : a + b;
}

#endif

/* SPDX-License-Identifier: MIT */
/* Read bandwidth of the memory. */
#ifndef BENCH_READ_BANDWIDTH_H
#define BENCH_READ_BANDWIDTH_H

#include <stddef.h>

/*
 * Bytes per second at which `threads` threads read `bytes` bytes once, in one of the
 * patterns.  `memory` is aligned to 64 bytes.
 */
double bench_read_sample(const void *memory, size_t bytes, int threads, int pattern);

/* The pattern that reads parts of `part` bytes of this memory fastest. */
int bench_read_pattern(const void *memory, size_t bytes, size_t part, int threads);

#endif

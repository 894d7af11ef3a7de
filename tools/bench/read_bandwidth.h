/* SPDX-License-Identifier: MIT */
/* How fast the machine reads memory. */
#ifndef BENCH_READ_BANDWIDTH_H
#define BENCH_READ_BANDWIDTH_H

#include <stddef.h>

/*
 * Bytes per second at which `threads` threads read `bytes` bytes once, each its own
 * part.  `memory` is aligned to 64 bytes.
 */
double bench_read_sample(const void *memory, size_t bytes, int threads);

#endif

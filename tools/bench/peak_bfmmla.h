/* SPDX-License-Identifier: MIT */
/* Peak rate of bf16 products on AArch64; compiled for CPUs with bfmmla. */
#ifndef BENCH_PEAK_BFMMLA_H
#define BENCH_PEAK_BFMMLA_H

#include <stdint.h>

/* Chains of 2 by 2 sums of 4 products: four pipes of a latency of six. */
enum {
    BENCH_BFMMLA_CHAINS = 24,
    BENCH_BFMMLA_FLOPS = BENCH_BFMMLA_CHAINS * 2 * 2 * 4 * 2
};

void bench_loop_bfmmla(int64_t rounds);

#endif

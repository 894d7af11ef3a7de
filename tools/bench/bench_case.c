/* SPDX-License-Identifier: MIT */
#include "bench/bench_case.h"

#include <stddef.h>

#define CASE(name_, kind_, nb_, hq_, hkv_, nq_, nk_, d_, causal_, window_, mask_,        \
             stats_)                                                                     \
    {.name = (name_),                                                                    \
     .kind = BENCH_##kind_,                                                              \
     .nb = (nb_),                                                                        \
     .hq = (hq_),                                                                        \
     .hkv = (hkv_),                                                                      \
     .nq = (nq_),                                                                        \
     .nk = (nk_),                                                                        \
     .d = (d_),                                                                          \
     .causal = ATTEND_CAUSAL_##causal_,                                                  \
     .window_left = (window_),                                                           \
     .mask = BENCH_MASK_##mask_,                                                         \
     .stats = BENCH_##stats_},
const struct bench_case bench_cases[] = {
#include "bench/cases.inc"
};
const struct bench_case bench_device_cases[] = {
#include "bench/cases_device.inc"
};
#undef CASE

const int bench_case_count = sizeof bench_cases / sizeof bench_cases[0];
const int bench_device_case_count =
    sizeof bench_device_cases / sizeof bench_device_cases[0];

const attend_dtype bench_dtypes[] = {ATTEND_F32, ATTEND_BF16, ATTEND_F16};
const int bench_dtype_count = sizeof bench_dtypes / sizeof bench_dtypes[0];

const char *const bench_kind_name[] = {
    [BENCH_COMPUTE] = "compute", [BENCH_DECODE] = "decode"};
const char *const bench_mask_name[] = {[BENCH_MASK_NONE] = "none",
                                       [BENCH_MASK_RANDOM] = "random",
                                       [BENCH_MASK_DOCS8] = "docs8"};
const char *const bench_wanted_name[] = {
    [BENCH_NONE] = "none", [BENCH_OFF] = "off",         [BENCH_ROWS] = "rows",
    [BENCH_ALL] = "all",   [BENCH_COLUMNS] = "columns", [BENCH_MAP] = "map"};

/* Number of keys among first .. last-1 that row i of a head sees. */
static int64_t row_keys(const struct bench_case *shape, const unsigned char *mask,
                        int64_t i, int64_t first, int64_t last)
{
    const int64_t end =
        shape->causal != ATTEND_CAUSAL_NONE && i + 1 < last ? i + 1 : last;
    const int64_t left = shape->window_left >= 0 ? i - shape->window_left : 0;
    const int64_t begin = left > first ? left : first;
    int64_t count = 0;

    if (!mask)
        return end > begin ? end - begin : 0;
    for (int64_t j = begin; j < end; j++)
        count += mask[i * shape->nk + j] != 0;
    return count;
}

/* Pairs of rows i .. i_end-1 and keys j .. j_end-1 that see each other. */
static int64_t seen_pairs(const struct bench_case *shape, const unsigned char *mask,
                          int64_t i, int64_t i_end, int64_t j, int64_t j_end)
{
    int64_t pairs = 0;

    for (; i < i_end; i++)
        pairs += row_keys(shape, mask, i, j, j_end);
    return pairs;
}

static double flops_of(const struct bench_case *shape, int64_t pairs)
{
    const double of_pair = shape->stats == BENCH_COLUMNS ? 2 : 4;

    return of_pair * (double)(shape->d * shape->nb * shape->hq) * (double)pairs;
}

double bench_useful_flops(const struct bench_case *shape, const unsigned char *mask)
{
    return flops_of(shape, seen_pairs(shape, mask, 0, shape->nq, 0, shape->nk));
}

static int64_t at_most(int64_t value, int64_t limit)
{
    return value < limit ? value : limit;
}

double bench_visited_flops(const struct bench_case *shape, const unsigned char *mask)
{
    int64_t pairs = 0;

    for (int64_t i = 0; i < shape->nq; i += BENCH_TILE_ROWS)
        for (int64_t j = 0; j < shape->nk; j += BENCH_BLOCK_KEYS) {
            const int64_t i_end = at_most(i + BENCH_TILE_ROWS, shape->nq);
            const int64_t j_end = at_most(j + BENCH_BLOCK_KEYS, shape->nk);
            if (seen_pairs(shape, mask, i, i_end, j, j_end) > 0)
                pairs += (i_end - i) * (j_end - j);
        }
    return flops_of(shape, pairs);
}

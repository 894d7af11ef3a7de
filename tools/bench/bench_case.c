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
     .has_mask = (mask_),                                                                \
     .stats = BENCH_##stats_},
const struct bench_case bench_cases[] = {
#include "bench/cases.inc"
};
#undef CASE

const int bench_case_count = sizeof bench_cases / sizeof bench_cases[0];

const attend_dtype bench_dtypes[] = {ATTEND_F32, ATTEND_BF16, ATTEND_F16};
const int bench_dtype_count = sizeof bench_dtypes / sizeof bench_dtypes[0];

const char *bench_kind_name(enum bench_kind kind)
{
    return kind == BENCH_DECODE ? "decode" : "compute";
}

const char *bench_wanted_name(enum bench_wanted stats)
{
    static const char *const names[] = {
        [BENCH_NONE] = "none", [BENCH_OFF] = "off",         [BENCH_ROWS] = "rows",
        [BENCH_ALL] = "all",   [BENCH_COLUMNS] = "columns", [BENCH_MAP] = "map"};

    return names[stats];
}

/* Keys that row i sees of one head. */
static int64_t row_keys(const struct bench_case *shape, const unsigned char *mask,
                        int64_t i)
{
    const int64_t end =
        shape->causal != ATTEND_CAUSAL_NONE && i + 1 < shape->nk ? i + 1 : shape->nk;
    const int64_t begin =
        shape->window_left >= 0 && i > shape->window_left ? i - shape->window_left : 0;
    int64_t count = 0;

    if (!mask)
        return end > begin ? end - begin : 0;
    for (int64_t j = begin; j < end; j++)
        count += mask[i * shape->nk + j] != 0;
    return count;
}

double bench_useful_flops(const struct bench_case *shape, const unsigned char *mask)
{
    const double of_pair = shape->stats == BENCH_COLUMNS ? 2 : 4;
    int64_t pairs = 0;

    for (int64_t i = 0; i < shape->nq; i++)
        pairs += row_keys(shape, mask, i);
    return of_pair * (double)(shape->d * shape->nb * shape->hq) * (double)pairs;
}

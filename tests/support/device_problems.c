/* SPDX-License-Identifier: MIT */
#include "support/device_problems.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "check/sample.h"

double device_ratio(struct check_blocks *on, attend_context *ctx,
                    const struct check_problem *p, struct check_worst *worst)
{
    struct check_expect expect = check_dense(p);
    struct check_outputs got;
    char reason[384];
    double largest = 0;

    for (int64_t x = 0; x < p->nb * p->hkv * p->nk * p->dv; x++)
        largest = fmax(largest, fabs(p->v[x]));
    for (int64_t x = 0; p->dtype == ATTEND_F16 && x < p->nb * p->hq * p->nq * p->dv; x++)
        if (expect.out.bound[CHECK_KERNELS][x] > 0)
            expect.out.bound[CHECK_KERNELS][x] +=
                largest * (0x1p-11 + (double)p->nk * 0x1p-27);
    if (check_call(on, ctx, p, &got, reason, sizeof reason)) {
        check_compare(p, &expect, CHECK_KERNELS, &got, worst);
        check_outputs_free(&got);
    } else {
        worst->ratio = INFINITY;
        check_say(worst, "%s", reason);
    }
    check_expect_free(&expect);
    return worst->ratio;
}

static const int64_t widths[] = {64, 128, 96, 256, 40, 8, 192, 33};

/* A problem that the kernels of order FAST support; `n` selects shape and rule. */
static struct check_problem problem_of_width(int n, int64_t d, int64_t dv)
{
    struct check_random random = {.seed = 78 + (uint64_t)n};
    const attend_dtype dtype = n % 2 ? ATTEND_F16 : ATTEND_BF16;
    const int64_t group = check_random_int(&random, 1, 4);
    const int64_t hkv = check_random_int(&random, 1, 2);
    const int64_t nb = check_random_int(&random, 1, 2);
    const int64_t nq = n % 4 == 3 ? 1 : check_random_int(&random, 2, 420);
    const int64_t nk = check_random_int(&random, 1, n % 4 == 3 ? 2600 : 700);
    struct check_problem p =
        check_sample_shape((uint64_t)n, dtype, nb, hkv * group, hkv, nq, nk, d, dv);

    p.wants_lse = 1;
    p.causal = (attend_causal)check_random_int(&random, 0, 2);
    if (check_random_chance(&random, 0.3))
        p.window_left = check_random_int(&random, 0, 300);
    if (check_random_chance(&random, 0.2))
        p.window_right = check_random_int(&random, 0, 300);
    if (check_random_chance(&random, 0.3)) {
        p.key_lengths = check_memory((size_t)nb, sizeof *p.key_lengths);
        for (int64_t b = 0; b < nb; b++)
            p.key_lengths[b] = check_random_int(&random, 0, nk);
    }
    if (check_random_chance(&random, 0.3)) {
        p.sinks = check_memory((size_t)(hkv * group), sizeof *p.sinks);
        for (int64_t h = 0; h < hkv * group; h++)
            p.sinks[h] = check_random_normal(&random);
    }
    if (check_random_chance(&random, 0.3)) {
        p.scale_is_set = 1;
        p.scale = exp2((double)check_random_int(&random, -4, 5));
    }
    if (check_random_chance(&random, 0.3))
        p.out_dtype = ATTEND_F32;
    return p;
}

struct check_problem fast_problem(int n)
{
    struct check_random random = {.seed = 77 + (uint64_t)n};
    const int64_t d = widths[check_random_int(&random, 0, 7)];

    return problem_of_width(n, d, n % 3 ? d : widths[check_random_int(&random, 0, 7)]);
}

/* Keys wider than their values, for the kernels of d = 192 and dv = 128. */
struct check_problem wide_keys(int n)
{
    struct check_random random = {.seed = 600 + (uint64_t)n};

    return problem_of_width(n, n % 2 ? 192 : check_random_int(&random, 129, 192),
                            n % 3 ? 128 : check_random_int(&random, 1, 128));
}

/* `n` selects a random mask, documents, or blocks; one row sees no key. */
static void add_mask(struct check_problem *p, struct check_random *random, int n)
{
    const int64_t heads = check_random_chance(random, 0.5) ? p->hq : 1;
    const int64_t batches = check_random_chance(random, 0.5) ? p->nb : 1;
    const int64_t size[4] = {batches, heads, p->nq, p->nk};
    const int64_t document = check_random_int(random, 20, 300);
    const int64_t row = check_random_int(random, 0, p->nq - 1);
    const int64_t empty = p->nq > 1 ? row : -1;

    p->mask = check_memory((size_t)check_count(size), sizeof *p->mask);
    memcpy(p->mask_size, size, sizeof size);
    for (int64_t x = 0; x < check_count(size); x++) {
        const int64_t i = x / p->nk % p->nq, j = x % p->nk;
        const int seen = n % 3 == 0   ? check_random_chance(random, 0.5)
                         : n % 3 == 1 ? i / document == j / document
                                      : j / 128 % 2 == (i / 128 + n) % 2;
        p->mask[x] = seen && i != empty;
    }
}

/* The same with a mask, bias, ALiBi or softcap. */
struct check_problem rule_problem(int n)
{
    struct check_problem p = fast_problem(5000 + n);
    struct check_random random = {.seed = 400 + (uint64_t)n};

    if (n % 4 != 3 || n % 8 == 7) /* every fourth problem has one query */
        add_mask(&p, &random, n);
    if (n % 2 == 1 && check_random_chance(&random, 0.6)) {
        const int64_t size[4] = {1, check_random_chance(&random, 0.5) ? p.hq : 1, p.nq,
                                 p.nk};
        p.bias = check_memory((size_t)check_count(size), sizeof *p.bias);
        p.bias_dtype = ATTEND_F32;
        memcpy(p.bias_size, size, sizeof size);
        /* The lowest finite number, with which models hide keys; some rows have no other.
         */
        for (int64_t x = 0; x < check_count(size); x++)
            p.bias[x] =
                n % 4 == 1 && (x / p.nk % 7 == 3 || check_random_chance(&random, 0.3))
                    ? -FLT_MAX
                    : (float)check_random_normal(&random);
    }
    if (n % 2 == 1 && check_random_chance(&random, 0.5)) {
        p.alibi = check_memory((size_t)p.hq, sizeof *p.alibi);
        for (int64_t h = 0; h < p.hq; h++)
            p.alibi[h] = exp2(-(double)check_random_int(&random, 1, 8)) *
                         (check_random_chance(&random, 0.3) ? -1 : 1);
    }
    if (n % 2 == 1 && check_random_chance(&random, 0.4))
        p.softcap = check_random_chance(&random, 0.2) ? 1e4 : 20;
    return p;
}

/* More tiles than SMs: every CTA computes several. */
struct check_problem many_tiles(int n)
{
    static const int64_t d[] = {64, 128, 256, 192}, dv[] = {64, 128, 256, 128};
    struct check_problem p =
        check_sample_shape((uint64_t)n, n % 2 ? ATTEND_F16 : ATTEND_BF16, 2, 12, 12, 1200,
                           90, d[n % 4], dv[n % 4]);

    p.wants_lse = 1;
    p.causal = n < 4 ? ATTEND_CAUSAL_NONE : ATTEND_CAUSAL_BOTTOM_RIGHT;
    return p;
}

struct check_problem kernel_problem(enum purpose purpose, attend_dtype dtype, int64_t d,
                                    int64_t dv, int spoilt)
{
    const int64_t nq = purpose == DECODE || purpose == DECODE_SPLITS ? 1 : 150,
                  nk = purpose == DECODE_SPLITS ? 1100 : 200;
    struct check_problem p = check_sample_shape(31, dtype, 1, 2, 1, nq, nk, d, dv);
    struct check_random random = {.seed = 32};

    p.wants_lse = 1;
    p.key_lengths = check_memory(1, sizeof *p.key_lengths);
    p.key_lengths[0] = nk - 20;
    if (purpose == MASKED)
        add_mask(&p, &random, 0);
    if (purpose == SCORE_MOD)
        p.softcap = 20;
    for (int64_t x = (nk - 20) * dv; spoilt && x < nk * dv; x++)
        p.v[x] = NAN;
    return p;
}

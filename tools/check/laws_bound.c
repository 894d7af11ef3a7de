/* SPDX-License-Identifier: MIT */
/* The laws that hold in exact arithmetic, so that both sides lie within their bounds. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "check/laws.h"

#define BIT(stat) (1ul << (stat))

/* Statistics that know nothing of the place of a key. */
#define PLACELESS                                                                        \
    (BIT(ATTEND_STAT_KEYS) | BIT(ATTEND_STAT_MAX) | BIT(ATTEND_STAT_LSE) |               \
     BIT(ATTEND_STAT_TOP_WEIGHT) | BIT(ATTEND_STAT_ENTROPY) |                            \
     BIT(ATTEND_STAT_KEYS_EFF) | BIT(ATTEND_STAT_N_EFF) |                                \
     BIT(ATTEND_STAT_SCORE_VARIANCE) | BIT(ATTEND_STAT_RAW_MEAN) |                       \
     BIT(ATTEND_STAT_RAW_VARIANCE) | BIT(ATTEND_STAT_MARGIN) |                           \
     BIT(ATTEND_STAT_VALUE_NORM) | BIT(ATTEND_STAT_CANCELLATION) |                       \
     BIT(ATTEND_STAT_KEY_NOISE) | BIT(ATTEND_STAT_MAGNITUDE_NOISE))

/* What a law leaves alone, and what it adds `shift` to. */
struct law {
    double shift;                /* of LSE */
    unsigned long same, shifted; /* bits of statistics, the others go their own way */
    int top, places; /* weights of the largest, masses by distance: the same */
};

/*
 * |a - b| over the sum of both bounds of an element; a shifted to meet b.  A bound of 0
 * is that of a stated value, of a row without keys, which nothing shifts.
 */
static double pair_ratio(double a, const struct check_values *wa, double b,
                         const struct check_values *wb, int64_t at, int model,
                         double shift)
{
    const double bound_a = wa->bound[model][at], bound_b = wb->bound[model][at];

    return check_ratio(b, isnan(wa->value[at]) ? NAN : a + (bound_a == 0.0 ? 0.0 : shift),
                       bound_a < 0.0 || bound_b < 0.0 ? -1.0 : bound_a + bound_b);
}

/* Whether the law says anything of column `column` of an output, and its shift. */
static int law_covers(const struct law *law, const struct check_problem *p, int shape,
                      int64_t column, double *shift)
{
    *shift = 0.0;
    switch (shape) {
    case CHECK_LSE:
        *shift = law->shift;
        return 1;
    case CHECK_ROWS:
        if (law->shifted & BIT(p->stats.column[column]))
            *shift = law->shift;
        return ((law->same | law->shifted) & BIT(p->stats.column[column])) != 0;
    case CHECK_TOP_WEIGHTS:
        return law->top;
    case CHECK_DISTANCES:
        return law->places;
    default:
        return shape == CHECK_OUT || shape == CHECK_CLASS_MASS;
    }
}

/* One side of a law. */
struct side {
    struct check_outputs got;
    struct check_expect want;
};

/* Over the outputs with a tensor of their own: keys are renamed by most laws. */
static double law_ratio(const struct law *law, const struct check_problem *p,
                        struct side *a, struct side *b, int model, char *where,
                        size_t where_size)
{
    double worst = 0.0;

    for (int t = 0; t < CHECK_TOP_KEYS; t++) {
        const double *const x = a->got.values[t], *const y = b->got.values[t];
        const struct check_values *const wa = &a->want.of[t], *const wb = &b->want.of[t];
        int64_t size[4];
        check_tensor_shape(p, CHECK_OUT + t, size);
        for (int64_t at = 0; x != NULL && y != NULL && at < check_count(size); at++) {
            double shift;
            if (!law_covers(law, p, CHECK_OUT + t, at % size[3], &shift))
                continue;
            const double ratio = pair_ratio(x[at], wa, y[at], wb, at, model, shift);
            char column[32];
            if (ratio <= worst)
                continue;
            worst = ratio;
            check_name_column(p, CHECK_OUT + t, at % size[3], column, sizeof column);
            snprintf(where, where_size,
                     "%s row %lld %s: %.9g and %.9g, bounds %.3g and %.3g",
                     check_output_names[t], (long long)(at / size[3]), column, x[at],
                     y[at], wa->bound[model][at], wb->bound[model][at]);
        }
    }
    return worst;
}

/* O of pb must be that of pa, and its LSE and statistics as the law has them. */
static void compare_pair(struct check_run *run, const struct check_problem *pa,
                         const struct check_problem *pb, const struct law *law)
{
    struct side a = {.want = check_dense(pa)}, b = {.want = check_dense(pb)};

    for (int s = 0; s < run->count; s++) {
        struct check_set *const set = &run->sets[s];
        char where[256] = "";
        if (!check_try(run, set, set->ctx, pa, &a.got))
            continue;
        if (check_try(run, set, set->ctx, pb, &b.got)) {
            check_note(set, law_ratio(law, pa, &a, &b, set->model, where, sizeof where),
                       pa, where);
            check_outputs_free(&b.got);
        }
        check_outputs_free(&a.got);
    }
    check_expect_free(&a.want);
    check_expect_free(&b.want);
}

/* Statistics in every second case at least. */
static void ask_stats(struct check_problem *p, int64_t n)
{
    struct check_random random = {.seed = p->seed, .next = 1u << 29};

    if (n % 2 == 0)
        return;
    check_drop_stats(p);
    check_sample_stats(p, &random);
}

/* A sample in which keys are alike but for their contents. */
static struct check_problem unordered_sample(struct check_run *run, uint64_t salt,
                                             int64_t n)
{
    struct check_problem p = check_law_sample(run, salt, n, 140);

    check_drop_positions(&p);
    p.wants_lse = 1;
    p.wants_weights = 0;
    ask_stats(&p, n);
    return p;
}

void check_law_delete(struct check_run *run)
{
    for (int64_t n = 0; n < check_cases(run, 60); n++) {
        struct check_problem p = unordered_sample(run, 40, n);
        struct check_random random = {.seed = p.seed, .next = 1u << 30};
        int64_t *const index = check_memory((size_t)p.nk, sizeof *index);
        int64_t kept = 0;

        check_expand_mask(&p);
        const int64_t rows = check_count(p.mask_size) / p.nk;
        for (int64_t j = 0; j < p.nk; j++) {
            if (check_random_chance(&random, 0.6)) {
                index[kept++] = j;
                continue;
            }
            for (int64_t r = 0; r < rows; r++)
                p.mask[r * p.nk + j] = 0.0;
        }
        struct check_problem shorter = check_problem_keys(&p, index, kept);
        compare_pair(run, &p, &shorter, &(struct law){.same = PLACELESS, .top = 1});
        check_problem_free(&shorter);
        check_problem_free(&p);
        free(index);
    }
}

void check_law_permute(struct check_run *run)
{
    for (int64_t n = 0; n < check_cases(run, 60); n++) {
        struct check_problem p = unordered_sample(run, 41, n);
        struct check_random random = {.seed = p.seed, .next = 1u << 30};
        int64_t *const index = check_memory((size_t)p.nk, sizeof *index);

        for (int64_t j = 0; j < p.nk; j++) {
            const int64_t at = check_random_int(&random, 0, j);
            index[j] = index[at];
            index[at] = j;
        }
        struct check_problem permuted = check_problem_keys(&p, index, p.nk);
        compare_pair(run, &p, &permuted, &(struct law){.same = PLACELESS, .top = 1});
        check_problem_free(&permuted);
        check_problem_free(&p);
        free(index);
    }
}

void check_law_duplicate(struct check_run *run)
{
    const struct law doubled = {
        .shift = log(2.0),
        .shifted = BIT(ATTEND_STAT_LSE) | BIT(ATTEND_STAT_ENTROPY),
        .same = BIT(ATTEND_STAT_MAX) | BIT(ATTEND_STAT_SCORE_VARIANCE) |
                BIT(ATTEND_STAT_RAW_MEAN) | BIT(ATTEND_STAT_RAW_VARIANCE) |
                BIT(ATTEND_STAT_VALUE_NORM) | BIT(ATTEND_STAT_CANCELLATION)};

    for (int64_t n = 0; n < check_cases(run, 60); n++) {
        struct check_problem p = unordered_sample(run, 42, n);
        int64_t *const index = check_memory((size_t)(2 * p.nk), sizeof *index);

        free(p.sinks); /* a sink would have to be doubled as well */
        p.sinks = NULL;
        for (int64_t j = 0; j < 2 * p.nk; j++)
            index[j] = n % 2 == 0 ? j / 2 : j % p.nk;
        struct check_problem twice = check_problem_keys(&p, index, 2 * p.nk);
        compare_pair(run, &p, &twice, &doubled);
        check_problem_free(&twice);
        check_problem_free(&p);
        free(index);
    }
}

void check_law_shift(struct check_run *run)
{
    static const double shifts[] = {3.25, -100.0, 0.5, -1e4, 700.0, 1e5};
    const unsigned long shifted =
        BIT(ATTEND_STAT_MAX) | BIT(ATTEND_STAT_LSE) | BIT(ATTEND_STAT_RAW_MEAN);

    for (int64_t n = 0; n < check_cases(run, 60); n++) {
        struct check_problem p = check_law_sample(run, 43, n, 140);
        const double shift = shifts[n % 6];
        /* Noise in the length of a key moves its score by a share of itself. */
        const struct law law = {.shift = shift,
                                .shifted = shifted,
                                .same = ~shifted & ~BIT(ATTEND_STAT_MAGNITUDE_NOISE),
                                .top = 1,
                                .places = 1};

        free(p.bias);
        p.bias = NULL;
        p.bias_dtype = ATTEND_F32;
        p.wants_weights = 0;
        ask_stats(&p, n);
        struct check_problem moved = check_problem_copy(&p);
        moved.bias = check_memory(1, sizeof *moved.bias);
        moved.bias[0] = shift;
        for (int a = 0; a < 4; a++)
            moved.bias_size[a] = 1;
        for (int64_t h = 0; h < p.hq && p.sinks != NULL; h++)
            moved.sinks[h] += shift;
        compare_pair(run, &p, &moved, &law);
        check_problem_free(&moved);
        check_problem_free(&p);
    }
}

void check_law_constant(struct check_run *run)
{
    for (int64_t n = 0; n < check_cases(run, 60); n++) {
        struct check_problem p = check_law_sample(run, 44, n, 160);

        free(p.sinks); /* it would take a share of the weight */
        p.sinks = NULL;
        p.wants_lse = p.wants_weights = 0;
        for (int64_t at = 0; at < p.nb * p.hkv * p.nk * p.dv; at++)
            p.v[at] = p.v[at % p.dv];
        struct check_expect expect = check_dense(&p);
        for (int64_t at = 0; at < p.nb * p.hq * p.nq * p.dv; at++)
            if (!expect.empty[at / p.dv] && !isnan(expect.out.value[at]))
                expect.out.value[at] = p.v[at % p.dv];
        check_against(run, &p, &expect);
        check_expect_free(&expect);
        check_problem_free(&p);
    }
}

/* NaN, infinities, and biases of either sign of infinity at attended places. */
void check_law_nonfinite(struct check_run *run)
{
    static const double values[] = {NAN, INFINITY, -INFINITY};

    for (int64_t n = 0; n < check_cases(run, 80); n++) {
        struct check_problem p = check_law_sample(run, 45, n, 100);
        struct check_random random = {.seed = p.seed, .next = 1u << 30};
        double *const tensors[] = {p.q, p.k, p.v, p.bias};
        const int64_t counts[] = {p.nb * p.hq * p.nq * p.d, p.nb * p.hkv * p.nk * p.d,
                                  p.nb * p.hkv * p.nk * p.dv,
                                  p.bias != NULL ? check_count(p.bias_size) : 0};

        check_plain_layouts(&p);
        for (int t = 0; t < 4; t++)
            for (int many = 0; many < 2 && counts[t] > 0; many++) {
                if (!check_random_chance(&random, 0.5))
                    continue;
                const int64_t at = check_random_int(&random, 0, counts[t] - 1);
                tensors[t][at] = values[check_random_int(&random, 0, 2)];
            }
        check_all(run, &p);
        check_problem_free(&p);
    }
}

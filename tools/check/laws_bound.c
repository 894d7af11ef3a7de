/* SPDX-License-Identifier: MIT */
/* The laws that hold in exact arithmetic, so that both sides lie within their bounds. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "check/check.h"

#define BIT(stat) (1ul << (stat))

/* Statistics that do not depend on the place of a key. */
#define PLACELESS                                                                        \
    (BIT(ATTEND_STAT_KEYS) | BIT(ATTEND_STAT_MAX) | BIT(ATTEND_STAT_LSE) |               \
     BIT(ATTEND_STAT_TOP_WEIGHT) | BIT(ATTEND_STAT_ENTROPY) |                            \
     BIT(ATTEND_STAT_KEYS_EFF) | BIT(ATTEND_STAT_N_EFF) |                                \
     BIT(ATTEND_STAT_SCORE_VARIANCE) | BIT(ATTEND_STAT_RAW_MEAN) |                       \
     BIT(ATTEND_STAT_RAW_VARIANCE) | BIT(ATTEND_STAT_MARGIN) |                           \
     BIT(ATTEND_STAT_VALUE_NORM) | BIT(ATTEND_STAT_CANCELLATION) |                       \
     BIT(ATTEND_STAT_KEY_NOISE) | BIT(ATTEND_STAT_MAGNITUDE_NOISE))

/* The quantities that a law does not change, and those to which it adds `shift`. */
struct law {
    double shift;                /* of LSE */
    unsigned long same, shifted; /* bits of statistics; others are not compared */
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

/* Whether the law covers column `column` of an output, and its shift. */
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
static void compare_sides(const struct law *law, const struct check_problem *p,
                          const struct side *a, const struct side *b, int model,
                          struct check_worst *worst)
{
    for (int t = 0; t < CHECK_TOP_KEYS; t++) {
        const double *const x = a->got.values[t], *const y = b->got.values[t];
        const struct check_values *const wa = &a->want.of[t], *const wb = &b->want.of[t];
        int64_t size[4];
        check_tensor_shape(p, CHECK_OUT + t, size);
        for (int64_t at = 0; x != NULL && y != NULL && at < check_count(size); at++) {
            double shift;
            if (law_covers(law, p, CHECK_OUT + t, at % size[3], &shift) &&
                check_is_worse(worst,
                               pair_ratio(x[at], wa, y[at], wb, at, model, shift))) {
                check_say_element(worst, p, t, at / size[3], at % size[3]);
                check_say(worst, "%.9g and %.9g, bounds %.3g and %.3g", x[at], y[at],
                          wa->bound[model][at], wb->bound[model][at]);
            }
        }
    }
}

/* O of pb must be that of pa, and its LSE and statistics as the law has them. */
static void compare_pair(struct check_run *run, const struct check_problem *pa,
                         const struct check_problem *pb, const struct law *law)
{
    struct side a = {.want = check_dense(pa)}, b = {.want = check_dense(pb)};

    for (int s = 0; s < run->count; s++) {
        struct check_set *const set = &run->sets[s];
        struct check_worst worst = {0};
        if (!check_try(run, set, set->ctx, pa, &a.got))
            continue;
        if (check_try(run, set, set->ctx, pb, &b.got)) {
            compare_sides(law, pa, &a, &b, set->model, &worst);
            check_note(set, worst.ratio, pa, worst.where);
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

/* Removes all dependence on the order of keys. */
static void drop_order(struct check_case *c)
{
    check_drop_positions(&c->p);
    c->p.wants_lse = 1;
    c->p.wants_weights = 0;
    ask_stats(&c->p, c->n);
}

/* The problem against that over keys index[0 .. n-1], which is freed. */
static void compare_keys(struct check_run *run, const struct check_problem *p,
                         int64_t *index, int64_t n, const struct law *law)
{
    struct check_problem other = check_problem_keys(p, index, n);

    compare_pair(run, p, &other, law);
    check_problem_free(&other);
    free(index);
}

/* The same keys in another order, or the visible ones only. */
static const struct law same_keys = {.same = PLACELESS, .top = 1};

void check_law_delete(struct check_run *run, struct check_case *c)
{
    struct check_problem *const p = &c->p;
    int64_t *const index = check_memory((size_t)p->nk, sizeof *index);
    int64_t kept = 0;

    drop_order(c);
    check_expand_mask(p);
    const int64_t rows = check_count(p->mask_size) / p->nk;
    for (int64_t j = 0; j < p->nk; j++) {
        if (check_random_chance(&c->random, 0.6)) {
            index[kept++] = j;
            continue;
        }
        for (int64_t r = 0; r < rows; r++)
            p->mask[r * p->nk + j] = 0.0;
    }
    compare_keys(run, p, index, kept, &same_keys);
}

void check_law_permute(struct check_run *run, struct check_case *c)
{
    int64_t *const index = check_memory((size_t)c->p.nk, sizeof *index);

    drop_order(c);
    for (int64_t j = 0; j < c->p.nk; j++) {
        const int64_t at = check_random_int(&c->random, 0, j);
        index[j] = index[at];
        index[at] = j;
    }
    compare_keys(run, &c->p, index, c->p.nk, &same_keys);
}

void check_law_duplicate(struct check_run *run, struct check_case *c)
{
    const struct law doubled = {
        .shift = log(2.0),
        .shifted = BIT(ATTEND_STAT_LSE) | BIT(ATTEND_STAT_ENTROPY),
        .same = BIT(ATTEND_STAT_MAX) | BIT(ATTEND_STAT_SCORE_VARIANCE) |
                BIT(ATTEND_STAT_RAW_MEAN) | BIT(ATTEND_STAT_RAW_VARIANCE) |
                BIT(ATTEND_STAT_VALUE_NORM) | BIT(ATTEND_STAT_CANCELLATION)};
    const int64_t nk = c->p.nk;
    int64_t *const index = check_memory((size_t)(2 * nk), sizeof *index);

    drop_order(c);
    free(c->p.sinks); /* a sink would have to be doubled as well */
    c->p.sinks = NULL;
    for (int64_t j = 0; j < 2 * nk; j++)
        index[j] = c->n % 2 == 0 ? j / 2 : j % nk;
    compare_keys(run, &c->p, index, 2 * nk, &doubled);
}

void check_law_shift(struct check_run *run, struct check_case *c)
{
    static const double shifts[] = {3.25, -100.0, 0.5, -1e4, 700.0, 1e5};
    const unsigned long shifted =
        BIT(ATTEND_STAT_MAX) | BIT(ATTEND_STAT_LSE) | BIT(ATTEND_STAT_RAW_MEAN);
    struct check_problem *const p = &c->p;
    const double shift = shifts[c->n % 6];
    /* Noise in the length of a key moves its score by a share of itself. */
    const struct law law = {.shift = shift,
                            .shifted = shifted,
                            .same = ~shifted & ~BIT(ATTEND_STAT_MAGNITUDE_NOISE),
                            .top = 1,
                            .places = 1};

    free(p->bias);
    p->bias = NULL;
    p->bias_dtype = ATTEND_F32;
    p->wants_weights = 0;
    ask_stats(p, c->n);
    struct check_problem moved = check_problem_copy(p);
    moved.bias = check_memory(1, sizeof *moved.bias);
    moved.bias[0] = shift;
    for (int a = 0; a < 4; a++)
        moved.bias_size[a] = 1;
    for (int64_t h = 0; h < p->hq && p->sinks != NULL; h++)
        moved.sinks[h] += shift;
    compare_pair(run, p, &moved, &law);
    check_problem_free(&moved);
}

void check_law_constant(struct check_run *run, struct check_case *c)
{
    struct check_problem *const p = &c->p;

    free(p->sinks); /* a sink would take weight from the keys */
    p->sinks = NULL;
    p->wants_lse = p->wants_weights = 0;
    for (int64_t at = 0; at < p->nb * p->hkv * p->nk * p->dv; at++)
        p->v[at] = p->v[at % p->dv];
    struct check_expect expect = check_dense(p);
    for (int64_t at = 0; at < p->nb * p->hq * p->nq * p->dv; at++)
        if (!expect.empty[at / p->dv] && !isnan(expect.out.value[at]))
            expect.out.value[at] = p->v[at % p->dv];
    check_against(run, p, &expect);
    check_expect_free(&expect);
}

/* NaN, infinities, and biases of either sign of infinity at attended places. */
void check_law_nonfinite(struct check_run *run, struct check_case *c)
{
    static const double values[] = {NAN, INFINITY, -INFINITY};

    check_plain_layouts(&c->p);
    for (int t = 0; t < CHECK_INPUTS; t++) {
        int64_t size[4];
        check_tensor_shape(&c->p, t, size);
        const int64_t count = check_count(size);
        if (t == CHECK_MASK || c->p.input[t] == NULL || count == 0)
            continue;
        for (int many = 0; many < 2; many++)
            if (check_random_chance(&c->random, 0.5)) {
                const int64_t at = check_random_int(&c->random, 0, count - 1);
                c->p.input[t][at] = values[check_random_int(&c->random, 0, 2)];
            }
    }
    check_all(run, &c->p);
}

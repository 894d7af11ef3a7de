/* SPDX-License-Identifier: MIT */
/* Statistics: all of them at once, together with O, and merged from partials. */
#include <math.h>
#include <string.h>

#include "check/check.h"

/* Requests every statistic. */
static void ask_all(struct check_problem *p, struct check_random *random)
{
    check_drop_stats(p);
    check_sample_stats(p, random);
    p->stats.columns = ATTEND_STAT_COUNT;
    p->stats.top = p->stats.top > 0 ? p->stats.top : ATTEND_TOP_MAX;
    p->stats.bins = p->stats.bins > 0 ? p->stats.bins : 10;
}

void check_law_stats(struct check_run *run, struct check_case *c)
{
    ask_all(&c->p, &c->random);
    check_all(run, &c->p);
}

void check_law_unmoved(struct check_run *run, struct check_case *c)
{
    struct check_problem plain = check_problem_copy(&c->p);

    check_drop_stats(&plain);
    if (c->n % 2)
        ask_all(&c->p, &c->random);
    check_compare_bits(run, &c->p, &plain, NULL);
    check_problem_free(&plain);
}

/* ---- parts ----------------------------------------------------------------- */

enum { PARTS_MAX = 6 };

/* Numbers of a row over some keys that can be merged, with their bounds. */
enum {
    LSE,
    ENTROPY,
    N_EFF,
    MEANS,             /* and from here on means over P */
    PLACES = MEANS + 1 /* and from here on by the place of the query */
};
static const attend_stat merged[] = {ATTEND_STAT_LSE,
                                     ATTEND_STAT_ENTROPY,
                                     ATTEND_STAT_N_EFF,
                                     ATTEND_STAT_VALUE_NORM,
                                     ATTEND_STAT_SELF,
                                     ATTEND_STAT_PREVIOUS,
                                     ATTEND_STAT_SECOND_PREVIOUS,
                                     ATTEND_STAT_DISTANCE,
                                     ATTEND_STAT_LOG_DISTANCE};
enum { MERGED = sizeof merged / sizeof merged[0] };

struct known {
    double value[MERGED], bound[MERGED];
};

static struct known known_row(const struct check_outputs *got,
                              const struct check_expect *want, int model, int64_t row)
{
    struct known known;

    for (int x = 0; x < MERGED; x++) {
        known.value[x] = got->rows[row * MERGED + x];
        known.bound[x] = want->rows.bound[model][row * MERGED + x];
    }
    return known;
}

/*
 * Two parts with weights w and 1 - w: with d the bound of the difference of their LSE
 * and the rounding of the formulas here, w is known to t = w (1 - w) (e^d - 1), and
 *     H        = sum w_p (H_p - ln w_p)       sum w_p b_p + t |difference| + t d
 *     1/N_eff  = sum w_p^2 / N_p              sum w_p^2 b_p / N_p^2 + 2 t / min N_p
 *     a mean M = sum w_p M_p                  sum w_p b_p + t |M_1 - M_2|
 * where the last term of H is the divergence, of second order.
 */
static struct known merge_two(const struct known *a, const struct known *b)
{
    const double gap = a->value[LSE] - b->value[LSE], u = 0x1p-50;
    const double w = 1.0 / (1.0 + exp(-gap)), v = 1.0 / (1.0 + exp(gap));
    const double d = a->bound[LSE] + b->bound[LSE] +
                     u * (1.0 + fabs(a->value[LSE]) + fabs(b->value[LSE]));
    const double t = w * v * expm1(d);
    struct known c;

    if (a->value[LSE] == -INFINITY)
        return *b;
    if (b->value[LSE] == -INFINITY)
        return *a;
    c.value[LSE] = fmax(a->value[LSE], b->value[LSE]) + log1p(exp(-fabs(gap)));
    c.bound[LSE] = w * a->bound[LSE] + v * b->bound[LSE] + u * (1.0 + fabs(c.value[LSE]));
    const double ha = a->value[ENTROPY] + log1p(exp(-gap));
    const double hb = b->value[ENTROPY] + log1p(exp(gap));
    c.value[ENTROPY] = (w > 0.0 ? w * ha : 0.0) + (v > 0.0 ? v * hb : 0.0);
    c.bound[ENTROPY] = w * a->bound[ENTROPY] + v * b->bound[ENTROPY] +
                       (t > 0.0 ? t * (fabs(ha - hb) + d) : 0.0) + u * c.value[ENTROPY];
    const double na = a->value[N_EFF], nb = b->value[N_EFF];
    const double squares = w * w / na + v * v / nb;
    const double moved = w * w * a->bound[N_EFF] / (na * na) +
                         v * v * b->bound[N_EFF] / (nb * nb) + 2.0 * t / fmin(na, nb);
    c.value[N_EFF] = 1.0 / squares;
    c.bound[N_EFF] = (moved / (squares - moved) + u) / squares;
    for (int x = MEANS; x < MERGED; x++) {
        c.value[x] = w * a->value[x] + v * b->value[x];
        c.bound[x] = w * a->bound[x] + v * b->bound[x] +
                     t * fabs(a->value[x] - b->value[x]) + u * fabs(c.value[x]);
    }
    return c;
}

static int is_judged(const struct known *known)
{
    for (int x = 0; x < MERGED; x++)
        if (known->bound[x] < 0.0)
            return 0;
    return !isnan(known->value[LSE]);
}

/* A row merged from its parts, neighbours in a random order; the first `numbers`. */
static void merge_row(struct known *parts, int count, const struct known *whole,
                      int numbers, struct check_random *random, struct check_worst *worst)
{
    for (int t = 0; t < count; t++)
        if (!is_judged(&parts[t]))
            return;
    if (count < 1 || !is_judged(whole))
        return;
    for (; count > 1; count--) {
        const int at = (int)check_random_int(random, 0, count - 2);
        parts[at] = merge_two(&parts[at], &parts[at + 1]);
        memmove(parts + at + 1, parts + at + 2, (size_t)(count - at - 2) * sizeof *parts);
    }
    for (int x = 0; x < numbers; x++) {
        const double one = whole->value[x], other = parts[0].value[x];
        const double bound = whole->bound[x] + parts[0].bound[x];
        if (check_is_worse(worst, check_ratio(one, other, bound)))
            check_say(worst, "%s: whole %.12g merged %.12g +- %.3g",
                      attend_stat_name(merged[x]), one, other, bound);
    }
}

/* The whole, then its parts. */
struct split {
    struct check_problem problem[1 + PARTS_MAX];
    struct check_expect expect[1 + PARTS_MAX];
    struct check_outputs got[1 + PARTS_MAX];
    int parts;
};

static void split_keys(struct split *split, const struct check_problem *p,
                       struct check_random *random)
{
    int64_t from = 0;

    split->parts = (int)check_random_int(random, 2, PARTS_MAX);
    split->problem[0] = check_problem_copy(p);
    for (int t = 1; t <= split->parts; t++) {
        const int64_t end =
            t == split->parts ? p->nk : check_random_int(random, from, p->nk);
        split->problem[t] = check_part_of(p, from, end, 1);
        from = end;
    }
    for (int t = 0; t <= split->parts; t++)
        split->expect[t] = check_dense(&split->problem[t]);
}

static void merge_on_set(struct check_run *run, struct check_set *set,
                         struct split *split, struct check_random *random)
{
    const struct check_problem *const p = &split->problem[0];
    /* Without a causal rule the first key of a part is again at position 0. */
    const int numbers = p->causal == ATTEND_CAUSAL_NONE ? PLACES : MERGED;
    struct check_worst worst = {0};
    int done = 0;

    while (done <= split->parts &&
           check_try(run, set, set->ctx, &split->problem[done], &split->got[done]))
        done++;
    for (int64_t r = 0; done > split->parts && r < p->nb * p->hq * p->nq; r++) {
        struct known parts[PARTS_MAX];
        const struct known whole =
            known_row(&split->got[0], &split->expect[0], set->model, r);
        for (int t = 0; t < split->parts; t++)
            parts[t] =
                known_row(&split->got[t + 1], &split->expect[t + 1], set->model, r);
        merge_row(parts, split->parts, &whole, numbers, random, &worst);
    }
    if (done > split->parts)
        check_note(set, worst.ratio, p, worst.where);
    for (int t = 0; t < done; t++)
        check_outputs_free(&split->got[t]);
}

void check_law_stats_merge(struct check_run *run, struct check_case *c)
{
    struct check_problem *const p = &c->p;
    struct split split = {.parts = 0};

    check_make_divisible(p);
    p->stats.dtype = ATTEND_F64;
    p->stats.columns = MERGED;
    memcpy(p->stats.column, merged, sizeof merged);
    split_keys(&split, p, &c->random);
    for (int s = 0; s < run->count; s++)
        merge_on_set(run, &run->sets[s], &split, &c->random);
    for (int t = 0; t <= split.parts; t++) {
        check_expect_free(&split.expect[t]);
        check_problem_free(&split.problem[t]);
    }
}

/* SPDX-License-Identifier: MIT */
/*
 * Question 1c-i: the quantity that must vanish for c to stay the average.  Along paths on
 * which C grows and alpha follows, the variance of s_a - s_b vanishes or not, and the
 * formula vanishes or not; both must agree on every path.
 */
#include <math.h>
#include <stdio.h>

#include "lab/grade/probing.h"

/* alpha = L^power ln(L)^log ln(ln(L))^loglog, L as of length_of(); power 0: fixed. */
static const struct path {
    double power, log, loglog;
} paths[] = {
    {0, 0, 0},
    {-0.5, 0, 0},
    {-1, 0, 0},
    {-1.5, 0, 0},
    {-1.75, 0, 0},
    {-2, 0, 0},
    {-2, 1, 0},
    {-2, 0.5, 0},
    {-2, -0.5, 0},
    {-2, -1, 0},
    {-2, 0, 0.5},
    {-2, 0, -0.5},
    {-2, 0, -1},
    {-2.25, 0, 0},
    {-2.5, 0, 0},
    {-3, 0, 0},
    {-4, 0, 0},
    /* The last two exclude powers near -2. */
    {-1.9995, 0, 0},
    {-2.0005, 0, 0},
};

enum { PATHS = sizeof paths / sizeof paths[0], SCALES = 4 };

#define FIXED_ALPHA 1e-4
#define SHOWN 1e8 /* C of the evidence: draws keep their digits up to there */

/* Their logarithms double, so that L^-x, 1/ln L and constants differ in their steps. */
static const double scales[SCALES] = {1e4, 1e8, 1e16, 1e32};

/* C where the query is C (mu_a + mu_b), or shorter. */
static double length_of(const struct lab_pair_query *query, double scale)
{
    return fmax(hypot(query->a, query->b) / sqrt(2), scale);
}

/* `point` at `scale` of a path: 0, 1 where the query makes no sense, or -1. */
static int go_along(const struct path *path, const struct lab_asked *asked, double scale,
                    struct lab_point *point, struct lab_pair_query *query,
                    struct lab_finding *found)
{
    point->n = 3;
    point->scale = scale;
    const int status = lab_asked_query(asked->own, 0, point, query, found);
    if (status)
        return status;
    const double length = length_of(query, scale), log_length = log(length);
    point->alpha = FIXED_ALPHA;
    if (path->power < 0)
        point->alpha = pow(length, path->power) * pow(log_length, path->log) *
                       pow(log(log_length), path->loglog);
    return 0;
}

/*
 * Whether x vanishes, from its values at the scales.  The logarithm of a power of L
 * falls by steps that double, that of a power of ln L by equal steps, that of ln ln L by
 * steps in ratios of 0.8 and more; one that converges has steps that shrink faster.
 * Powers of x have the same ratios.
 */
static int vanishes(const double *x)
{
    if (x[SCALES - 1] == 0)
        return 1;
    const double before = log(fabs(x[SCALES - 2] / x[SCALES - 3]));
    const double last = log(fabs(x[SCALES - 1] / x[SCALES - 2]));
    return last < -1e-8 && last <= 0.75 * before;
}

/* Var(s_a - s_b) and the formula: 0, 1 where one of them makes no sense, or -1. */
static int follow(const struct path *path, const struct lab_asked *asked,
                  const struct lab_point *world, double *variance, double *claimed,
                  struct lab_finding *found)
{
    for (int s = 0; s < SCALES; s++) {
        struct lab_point point = *world;
        struct lab_pair_query q;
        int status = go_along(path, asked, scales[s], &point, &q, found);
        if (!status)
            status = lab_asked_number(asked, 0, &point, &claimed[s], found);
        if (status)
            return status;
        const double length = point.exercise->tau * hypot(q.a, q.b);
        variance[s] = 2 * point.alpha * length * length;
    }
    return 0;
}

static void name_path(const struct path *path, const char *length, char *text,
                      size_t size)
{
    if (path->power == 0)
        snprintf(text, size, "alpha = %g", FIXED_ALPHA);
    else if (path->log != 0)
        snprintf(text, size, "alpha = %s^%g ln(%s)^%g", length, path->power, length,
                 path->log);
    else if (path->loglog != 0)
        snprintf(text, size, "alpha = %s^%g ln(ln(%s))^%g", length, path->power, length,
                 path->loglog);
    else
        snprintf(text, size, "alpha = %s^%g", length, path->power);
}

/* The path on which the two disagree, with the engine's numbers at C = 1e8. */
static int set_reason(const struct path *path, const struct lab_asked *asked,
                      const struct lab_point *world, int claim_vanishes,
                      struct lab_finding *found)
{
    struct lab_point point = *world;
    struct lab_pair_query query;
    struct lab_finding off;
    char along[80];
    const int status = go_along(path, asked, SHOWN, &point, &query, found);
    if (status)
        return status;
    const int is_scale = lab_same_number(length_of(&query, SHOWN), SHOWN);
    name_path(path, is_scale ? "C" : "(|q|/sqrt(2))", along, sizeof along);
    if (lab_asked_judge(asked->own, &point, &off))
        return -1;
    *found = (struct lab_finding){.computed = off.error, .claimed = NAN, .error = 1};
    snprintf(
        found->why, sizeof found->why,
        "along %s it %s, but Var(s_a - s_b) does%s: c is off the average by %.3g at C "
        "= 1e8",
        along, claim_vanishes ? "vanishes" : "does not vanish",
        claim_vanishes ? " not" : "", off.error);
    return 0;
}

int lab_judge_vanishes(const struct lab_asked *asked, const struct lab_point *point,
                       struct lab_finding *found)
{
    /* The number of a query without C stands for it. */
    struct lab_asked named, own;
    if (lab_name_constant(asked, &named, &own) > 0)
        asked = &named;
    *found = (struct lab_finding){.computed = 0, .claimed = 0};
    /* The paths are the same in all worlds. */
    for (int p = 0; point->number == 0 && p < PATHS; p++) {
        double variance[SCALES], claimed[SCALES];
        int status = follow(&paths[p], asked, point, variance, claimed, found);
        if (!status && vanishes(variance) != vanishes(claimed))
            return set_reason(&paths[p], asked, point, vanishes(claimed), found);
        if (status)
            return status < 0 ? -1 : 0;
    }
    *found = (struct lab_finding){.computed = 0, .claimed = 0};
    return 0;
}

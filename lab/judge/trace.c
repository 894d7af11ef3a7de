/* SPDX-License-Identifier: MIT */
/* A claim over the grid, and along the quantities that the sheet leaves free. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lab/judge/claim.h"

static const int64_t grid_n[] = {2, 3, 10, 1000};
static const double grid_scale[] = {0.5, 2, 10, 50};
static const double grid_alpha[] = {0, 1e-4};

enum { NS = 4, SCALES = 4, ALPHAS = 2 };

/* The state of a trace. */
struct trial {
    const struct lab_exercise *exercise;
    const struct lab_parsed *parsed;
    struct lab_findings found; /* at the last point */
    char *why;
};

static int alphas(const struct lab_claim *claim)
{
    return claim->free & LAB_FREE_ALPHA || claim->noisy ? ALPHAS : 1;
}

/* A claim without a scale is the same at all of them. */
static int scales(const struct lab_claim *claim) { return claim->grows ? SCALES : 1; }

static int points(const struct lab_claim *claim)
{
    return alphas(claim) * NS * scales(claim);
}

/* Point x of the grid: the scale changes first, alpha last. */
static struct lab_point grid_point(const struct trial *trial, int x)
{
    const int count = scales(trial->parsed->claim);
    return (struct lab_point){.n = grid_n[x / count % NS],
                              .scale = grid_scale[x % count],
                              .alpha = grid_alpha[x / count / NS],
                              .exercise = trial->exercise};
}

static int evaluate(struct trial *trial, const struct lab_point *point)
{
    return lab_parsed_evaluate(trial->parsed, point, NULL, &trial->found, trial->why);
}

/* A larger error, or a smaller margin where a bound is claimed. */
static int is_worse(const struct lab_finding *found, const struct lab_finding *than)
{
    if (found->error != than->error || (found->sign != '<' && found->sign != '>'))
        return found->error > than->error;
    return (found->sign == '>' ? 1 : -1) * (found->computed - than->computed) < 0;
}

static const struct lab_finding *worst_of(const struct lab_findings *found)
{
    const struct lab_finding *worst = &found->link[0];
    for (int i = 1; i < found->count; i++)
        if (is_worse(&found->link[i], worst))
            worst = &found->link[i];
    return worst;
}

static void add_point(struct lab_trace *trace, const struct lab_point *point,
                      const struct lab_findings *found)
{
    const struct lab_finding *const worst = worst_of(found);
    for (int i = 0; i < found->count; i++) {
        const struct lab_finding *const link = &found->link[i];
        if (link->sign != '=' || link->error < LAB_TOLERANCE)
            continue;
        if (!trace->unequal || is_worse(link, &trace->unequal_found)) {
            trace->unequal_at = *point;
            trace->unequal_found = *link;
        }
        trace->unequal = 1;
        trace->unequal_letters |= link->of_letters;
    }
    if (worst->error >= LAB_TOLERANCE)
        trace->exact = 0;
    if (trace->points &&
        (worst->error != trace->found.error || worst->computed != trace->found.computed))
        trace->same = 0;
    if (!trace->points++ || is_worse(worst, &trace->found)) {
        trace->worst = *point;
        trace->found = *worst;
    }
}

static int trace_grid(struct trial *trial, struct lab_trace *trace)
{
    trace->exact = trace->same = 1;
    for (int x = 0; x < points(trial->parsed->claim); x++) {
        const struct lab_point point = grid_point(trial, x);
        const int status = evaluate(trial, &point);
        if (status)
            return status;
        add_point(trace, &point, &trial->found);
    }
    return 0;
}

/* ---- limits ------------------------------------------------------------------ */

/* Formulas with exp() are numbers only as far as exp() is. */
static double far_scale(const struct lab_parsed *parsed)
{
    const double far = parsed->claim->far;
    return far > 0 ? far : lab_claim_calls(parsed, "exp") ? 128 : 1e13;
}

/* Every point of the grid, but one alone of those that a freedom replaces. */
static int start_at(void *arg, int x, unsigned free, struct lab_point *from)
{
    const struct trial *const trial = arg;
    const struct lab_point first = grid_point(trial, 0);
    *from = grid_point(trial, x);
    return !(free & LAB_FREE_ALPHA && from->alpha > first.alpha) &&
           !(free & LAB_FREE_N && from->n == 2) &&
           !(free & LAB_FREE_SCALE && from->scale > first.scale);
}

static int errors_at(void *arg, const struct lab_point *point, struct lab_errors *errors)
{
    struct trial *const trial = arg;
    if (evaluate(trial, point))
        return -1;
    *errors = (struct lab_errors){.worst = worst_of(&trial->found)->error};
    for (int i = 0; i < trial->found.count; i++)
        if (trial->found.link[i].of_letters)
            errors->of_letters = fmax(errors->of_letters, trial->found.link[i].error);
    return 0;
}

static int find_limit(struct trial *trial, unsigned free, struct lab_limit *limit)
{
    const struct lab_way way = {.free = free,
                                .starts = points(trial->parsed->claim),
                                .every = 1,
                                .ends = 1,
                                .far = {far_scale(trial->parsed)},
                                .stride = 2,
                                .alpha = 1e-8,
                                .arg = trial,
                                .start = start_at,
                                .errors = errors_at};
    return lab_find_limit(&way, limit);
}

static int small_at(struct trial *trial, unsigned free, int64_t n, double scale,
                    int *small)
{
    const struct lab_point point = {.n = n,
                                    .scale = scale,
                                    .given_positive = (free & LAB_FREE_EVENT) != 0,
                                    .exercise = trial->exercise};
    const int status = evaluate(trial, &point);
    *small = !status && worst_of(&trial->found)->error < LAB_SMALL;
    return status;
}

/* The scale from which on the error stays below LAB_SMALL; 0: from the first. */
static int find_threshold(struct trial *trial, unsigned free, int64_t n, double *scale)
{
    double low = 0, high = 0;
    int small;
    for (double at = far_scale(trial->parsed); at >= grid_scale[0] && low <= 0; at /= 4) {
        if (small_at(trial, free, n, at, &small))
            return -1;
        if (small)
            high = at;
        else
            low = at;
    }
    while (low > 0 && high > 1.0001 * low) {
        const double middle = sqrt(low * high);
        if (small_at(trial, free, n, middle, &small))
            return -1;
        *(small ? &high : &low) = middle;
    }
    *scale = low > 0 ? high : 0;
    return 0;
}

/* The first of 1, 2, 5, 10, 20 ... that is no smaller. */
static double round_up(double x)
{
    static const double steps[] = {1, 2, 5, 10};
    const double unit = pow(10, floor(log10(x)));
    int i = 0;
    while (i < 3 && steps[i] * unit < x)
        i++;
    return steps[i] * unit;
}

/* n = 1000 and half as much again as the threshold there; alpha as the limit has it. */
static int look_in_regime(struct trial *trial, struct lab_trace *trace)
{
    const unsigned needs = trace->limit.needs;
    const double threshold = needs & LAB_FREE_SCALE ? trace->threshold[1] : 0;
    const double scale = threshold > 0 ? round_up(1.5 * threshold) : grid_scale[2];
    trace->regime = (struct lab_point){.n = grid_n[NS - 1],
                                       .scale = fmin(scale, far_scale(trial->parsed)),
                                       .given_positive = (needs & LAB_FREE_EVENT) != 0,
                                       .exercise = trial->exercise};
    if (needs & LAB_FREE_ALPHA)
        trace->regime.alpha = 1e-8 / (scale * scale);
    const int status = evaluate(trial, &trace->regime);
    if (!status)
        trace->regime_found = *worst_of(&trial->found);
    return status;
}

static int trace_argument(struct trial *trial, struct lab_trace *trace)
{
    for (;; trace->cases++) {
        struct lab_case found;
        const int status =
            lab_argument_try(trial->parsed, trial->exercise->ctx, trace->cases, &found);
        if (status)
            return status < 0 ? -1 : 0;
        if (trace->refuted || !(found.premise < LAB_TOLERANCE))
            continue;
        trace->against = found;
        trace->refuted = !(found.conclusion < LAB_SMALL);
    }
}

static int trace(struct trial *trial, enum lab_strictness reading,
                 struct lab_trace *trace)
{
    static const int64_t shown_n[] = {10, 1000};
    const struct lab_claim *const claim = trial->parsed->claim;

    if (!claim->text)
        return trace_argument(trial, trace);
    const int status = trace_grid(trial, trace);
    if (status || trace->exact)
        return status;
    if (reading == LAB_LETTER && trace->unequal) { /* decides by the letter */
        trace->worst = trace->unequal_at;
        trace->found = trace->unequal_found;
    }
    if (find_limit(trial, reading == LAB_LETTER ? claim->called : claim->free,
                   &trace->limit))
        return -1;
    for (int i = 0; trace->limit.needs & LAB_FREE_SCALE && i < 2; i++)
        if (find_threshold(trial, trace->limit.needs, shown_n[i], &trace->threshold[i]))
            return -1;
    return trace->limit.needs ? look_in_regime(trial, trace) : 0;
}

int lab_trace_claim(const struct lab_exercise *exercise, const struct lab_claim *claim,
                    enum lab_strictness reading, struct lab_trace *to, char why[LAB_WHY])
{
    struct lab_parsed *const parsed = malloc(sizeof *parsed);
    struct trial trial = {.exercise = exercise, .parsed = parsed, .why = why};

    memset(to, 0, sizeof *to);
    int status = parsed ? lab_claim_parse(claim, parsed, why) : -1;
    if (!status)
        status = trace(&trial, reading, to);
    free(parsed);
    return status;
}

enum lab_verdict lab_trace_verdict(const struct lab_trace *trace,
                                   enum lab_strictness reading)
{
    if (trace->cases)
        return trace->refuted ? LAB_FAILS : LAB_HOLDS;
    if (trace->exact)
        return LAB_HOLDS;
    return trace->limit.needs && !(reading == LAB_LETTER && trace->unequal) ? LAB_LIMIT
                                                                            : LAB_FAILS;
}

int lab_trace_invariant(const struct lab_trace *trace, enum lab_strictness reading)
{
    if (trace->cases)
        return 1;
    if (lab_trace_verdict(trace, reading) != LAB_FAILS)
        return 0;
    return reading == LAB_LETTER && trace->unequal ? trace->unequal_letters
                                                   : trace->limit.of_letters;
}

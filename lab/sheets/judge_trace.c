/* SPDX-License-Identifier: MIT */
/* A claim over the grid, and along what the sheet leaves free. */
#include <math.h>
#include <string.h>

#include "lab/sheets/judge.h"

static const int64_t grid_n[] = {2, 3, 10, 1000};
static const double grid_scale[] = {0.5, 2, 10, 50};
static const double grid_alpha[] = {0, 1e-4};

enum { NS = 4, SCALES = 4, ALPHAS = 2 };
enum { ALL = LAB_FREE_SCALE | LAB_FREE_ALPHA | LAB_FREE_N | LAB_FREE_EVENT };

/* What is being traced. */
struct course {
    const struct lab_exercise *exercise;
    const struct lab_claim *claim;
    unsigned free; /* what the reading lets go */
    char *why;
    size_t size;
};

static int alphas(const struct lab_claim *claim)
{
    return claim->free & LAB_FREE_ALPHA || claim->noisy ? ALPHAS : 1;
}

/* A claim without a scale is the same at all of them. */
static int scales(const struct lab_claim *claim) { return claim->grows ? SCALES : 1; }

static int evaluate(const struct course *course, const struct lab_point *point,
                    struct lab_findings_at *found)
{
    return lab_claim_evaluate(course->claim, point, found, course->why, course->size);
}

/* A larger error, or a smaller margin where a bound is claimed. */
static int is_worse(const struct lab_found *found, const struct lab_found *than)
{
    if (found->error != than->error || (found->sign != '<' && found->sign != '>'))
        return found->error > than->error;
    return (found->sign == '>' ? 1 : -1) * (found->measured - than->measured) < 0;
}

static const struct lab_found *worst_of(const struct lab_findings_at *found)
{
    const struct lab_found *worst = &found->link[0];
    for (int i = 1; i < found->count; i++)
        if (is_worse(&found->link[i], worst))
            worst = &found->link[i];
    return worst;
}

static void note_point(struct lab_trace *trace, const struct lab_point *point,
                       const struct lab_findings_at *found)
{
    const struct lab_found *const worst = worst_of(found);
    for (int i = 0; i < found->count; i++) {
        const struct lab_found *const link = &found->link[i];
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
        (worst->error != trace->found.error || worst->measured != trace->found.measured))
        trace->same = 0;
    if (!trace->points++ || is_worse(worst, &trace->found)) {
        trace->worst = *point;
        trace->found = *worst;
    }
}

static int trace_grid(const struct course *course, struct lab_trace *trace)
{
    trace->exact = trace->same = 1;
    for (int a = 0; a < alphas(course->claim); a++)
        for (int i = 0; i < NS; i++)
            for (int s = 0; s < scales(course->claim); s++) {
                const struct lab_point point = {grid_n[i], grid_scale[s], grid_alpha[a],
                                                0, course->exercise};
                struct lab_findings_at found;
                const int status = evaluate(course, &point, &found);
                if (status)
                    return status;
                note_point(trace, &point, &found);
            }
    return 0;
}

enum { STEPS = 3 };

/* Formulas with exp() are numbers only as far as exp() is. */
static double far_scale(const struct lab_claim *claim)
{
    return claim->far > 0 ? claim->far : strstr(claim->text, "exp(") ? 128 : 1e13;
}

/* Step t on the way: scale grows fourfold, alpha falls faster than 1 / scale^2. */
static struct lab_point step(const struct lab_claim *claim, struct lab_point from,
                             unsigned free, int t)
{
    if (free & LAB_FREE_SCALE)
        from.scale = far_scale(claim) * exp2(2 * (t - (STEPS - 1)));
    if (free & LAB_FREE_ALPHA)
        from.alpha = 1e-8 * pow(1e-3, t) / (from.scale * from.scale);
    from.given_positive = (free & LAB_FREE_EVENT) != 0;
    return from;
}

/* Whether the error has vanished at the end of the way and was not larger just there. */
static int vanishes_from(const struct course *course, struct lab_point from,
                         unsigned free, struct lab_trace *trace)
{
    const int moves = (free & (LAB_FREE_SCALE | LAB_FREE_ALPHA)) != 0;
    const double least = moves ? LAB_VANISHED : LAB_TOLERANCE;
    double before = INFINITY;
    int grew = 0;

    for (int t = moves ? 0 : STEPS - 1; t < STEPS; t++) {
        const struct lab_point point = step(course->claim, from, free, t);
        struct lab_findings_at found;
        if (evaluate(course, &point, &found))
            return -1;
        const double error = worst_of(&found)->error;
        if (t == STEPS - 1) {
            trace->residual = fmax(trace->residual, error);
            for (int i = 0; i < found.count; i++)
                if (found.link[i].of_letters && found.link[i].error >= least)
                    trace->of_letters = 1;
        }
        grew |= error > before && error > LAB_TOLERANCE;
        before = error;
    }
    return before < least && !grew;
}

/* The same from every point of the grid that `free` does not replace. */
static int vanishes(const struct course *course, unsigned free, struct lab_trace *trace)
{
    const struct lab_claim *const claim = course->claim;
    int all = 1;
    trace->residual = 0;
    trace->of_letters = 0;
    for (int a = 0; a < (free & LAB_FREE_ALPHA ? 1 : alphas(claim)); a++)
        for (int i = free & LAB_FREE_N ? 1 : 0; i < NS; i++)
            for (int s = 0; s < (free & LAB_FREE_SCALE ? 1 : scales(claim)); s++) {
                const struct lab_point from = {grid_n[i], grid_scale[s], grid_alpha[a], 0,
                                               course->exercise};
                const int here = vanishes_from(course, from, free, trace);
                if (here < 0)
                    return -1;
                all &= here;
            }
    return all;
}

static int bits(unsigned set)
{
    int count = 0;
    for (; set; set &= set - 1)
        count++;
    return count;
}

/* The smallest set of freedoms under which the error vanishes. */
static int trace_freedom(const struct course *course, struct lab_trace *trace)
{
    /* With nothing free the grid is looked at once more, link by link. */
    for (int size = course->free ? 1 : 0; size <= bits(course->free); size++)
        for (unsigned free = 0; free <= ALL; free++) {
            if ((free & course->free) != free || bits(free) != size)
                continue;
            const int here = vanishes(course, free, trace);
            if (here < 0)
                return -1;
            if (here && free) {
                trace->vanishes = 1;
                trace->needs = free;
                return 0;
            }
        }
    return 0;
}

static int small_at(const struct course *course, unsigned free, int64_t n, double scale,
                    int *small)
{
    struct lab_point point = {.n = n, .scale = scale, .exercise = course->exercise};
    struct lab_findings_at found;
    point.given_positive = (free & LAB_FREE_EVENT) != 0;
    const int status = evaluate(course, &point, &found);
    *small = !status && worst_of(&found)->error < LAB_SMALL;
    return status;
}

/* The scale from which on the error stays below LAB_SMALL; 0: from the first. */
static int find_threshold(const struct course *course, unsigned free, int64_t n,
                          double *scale)
{
    double low = 0, high = 0;
    int small;
    for (double at = far_scale(course->claim); at >= grid_scale[0] && low <= 0; at /= 4) {
        if (small_at(course, free, n, at, &small))
            return -1;
        if (small)
            high = at;
        else
            low = at;
    }
    while (low > 0 && high > 1.0001 * low) {
        const double middle = sqrt(low * high);
        if (small_at(course, free, n, middle, &small))
            return -1;
        *(small ? &high : &low) = middle;
    }
    *scale = low > 0 ? high : 0;
    return 0;
}

static int trace_argument(const struct course *course, struct lab_trace *trace)
{
    for (;; trace->cases++) {
        struct lab_case found = {0};
        const int status =
            lab_argument_try(course->claim, course->exercise->ctx, trace->cases, &found);
        if (status)
            return status < 0 ? -1 : 0;
        if (trace->refuted || !(found.premise < LAB_TOLERANCE))
            continue;
        trace->against = found;
        trace->refuted = !(found.conclusion < LAB_SMALL);
    }
}

int lab_trace_claim(const struct lab_exercise *exercise, const struct lab_claim *claim,
                    enum lab_reading reading, struct lab_trace *trace, char *why,
                    size_t size)
{
    static const int64_t shown_n[] = {10, 1000};
    const struct course course = {.exercise = exercise,
                                  .claim = claim,
                                  .free =
                                      reading == LAB_LETTER ? claim->called : claim->free,
                                  .why = why,
                                  .size = size};

    memset(trace, 0, sizeof *trace);
    if (!claim->text)
        return trace_argument(&course, trace);
    const int status = trace_grid(&course, trace);
    if (status || trace->exact)
        return status;
    if (reading == LAB_LETTER && trace->unequal) { /* what decides by the letter */
        trace->worst = trace->unequal_at;
        trace->found = trace->unequal_found;
    }
    if (trace_freedom(&course, trace))
        return -1;
    for (int i = 0; trace->needs & LAB_FREE_SCALE && i < 2; i++)
        if (find_threshold(&course, trace->needs, shown_n[i], &trace->threshold[i]))
            return -1;
    return 0;
}

enum lab_verdict lab_trace_verdict(const struct lab_trace *trace,
                                   enum lab_reading reading)
{
    if (trace->cases)
        return trace->refuted ? LAB_FAILS : LAB_HOLDS;
    if (trace->exact)
        return LAB_HOLDS;
    return trace->vanishes && !(reading == LAB_LETTER && trace->unequal) ? LAB_LIMIT
                                                                         : LAB_FAILS;
}

int lab_trace_invariant(const struct lab_trace *trace, enum lab_reading reading)
{
    if (trace->cases)
        return 1;
    if (lab_trace_verdict(trace, reading) != LAB_FAILS)
        return 0;
    return reading == LAB_LETTER && trace->unequal ? trace->unequal_letters
                                                   : trace->of_letters;
}

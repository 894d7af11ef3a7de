/* SPDX-License-Identifier: MIT */
/* A claim over the grid, and along what the sheet leaves free. */
#include <math.h>
#include <string.h>

#include "lab/sheets/judge.h"

static const int64_t grid_n[] = {2, 3, 10, 1000};
static const double grid_scale[] = {0.5, 2, 10, 50};
static const double grid_alpha[] = {0, 1e-4};

enum { NS = 4, SCALES = 4 };
enum { ALL = LAB_FREE_SCALE | LAB_FREE_ALPHA | LAB_FREE_N | LAB_FREE_EVENT };

static int alphas(const struct lab_claim *claim)
{
    return claim->free & LAB_FREE_ALPHA ? 2 : 1;
}

/* A claim without a scale is the same at all of them. */
static int scales(const struct lab_claim *claim) { return claim->grows ? SCALES : 1; }

static int error_at(const struct lab_claim *claim, const struct lab_point *point,
                    struct lab_found *reading)
{
    *reading = (struct lab_found){.measured = NAN, .expected = NAN};
    if (claim->read(point, reading))
        return -1;
    if (!(reading->error >= 0))
        reading->error = INFINITY;
    return 0;
}

/* How far a claim is off: not at all within 4 standard errors where chance is in it. */
static double off(const struct lab_found *reading)
{
    return reading->error <= 4 * reading->se ? 0 : reading->error;
}

/* A larger error, or a smaller margin where a bound is claimed. */
static int is_worse(const struct lab_found *reading, const struct lab_found *than)
{
    if (reading->error != than->error || !reading->above)
        return reading->error > than->error;
    return reading->above * (reading->measured - than->measured) < 0;
}

static int trace_grid(const struct lab_exercise *exercise, const struct lab_claim *claim,
                      struct lab_trace *trace)
{
    trace->exact = trace->same = 1;
    for (int a = 0; a < alphas(claim); a++)
        for (int i = 0; i < NS; i++)
            for (int s = 0; s < scales(claim); s++) {
                const struct lab_point point = {grid_n[i], grid_scale[s], grid_alpha[a],
                                                0, exercise};
                struct lab_found reading;
                if (error_at(claim, &point, &reading))
                    return -1;
                if (off(&reading) >= LAB_TOLERANCE)
                    trace->exact = 0;
                if (trace->points && (reading.error != trace->reading.error ||
                                      reading.measured != trace->reading.measured))
                    trace->same = 0;
                if (!trace->points++ || is_worse(&reading, &trace->reading)) {
                    trace->worst = point;
                    trace->reading = reading;
                }
            }
    return 0;
}

enum { STEPS = 32 };

/* Step t on the way: scale doubles, alpha falls faster than 1 / scale^2. */
static struct lab_point step(struct lab_point from, unsigned free, int t)
{
    if (free & LAB_FREE_SCALE)
        from.scale = grid_scale[0] * exp2(t);
    if (free & LAB_FREE_ALPHA)
        from.alpha = grid_alpha[1] * exp2(-4.0 * t);
    from.given_positive = (free & LAB_FREE_EVENT) != 0;
    return from;
}

/* Whether the error has vanished at the end of the way and was not larger just there. */
static int vanishes_from(const struct lab_claim *claim, struct lab_point from,
                         unsigned free, double *last)
{
    const int moves = (free & (LAB_FREE_SCALE | LAB_FREE_ALPHA)) != 0;
    static const int steps[] = {STEPS - 8, STEPS - 4, STEPS - 1};
    double before = INFINITY;

    for (int x = moves ? 0 : 2; x < 3; x++) {
        const struct lab_point point = step(from, free, steps[x]);
        struct lab_found reading;
        if (error_at(claim, &point, &reading))
            return -1;
        *last = fmax(*last, x == 2 ? off(&reading) : 0);
        if (off(&reading) > before && off(&reading) > LAB_TOLERANCE)
            return 0;
        before = off(&reading);
    }
    return before < (moves ? LAB_VANISHED : LAB_TOLERANCE);
}

/* The same from every point of the grid that `free` does not replace. */
static int vanishes(const struct lab_exercise *exercise, const struct lab_claim *claim,
                    unsigned free, double *last)
{
    int all = 1;
    *last = 0;
    for (int a = 0; a < (free & LAB_FREE_ALPHA ? 1 : alphas(claim)); a++)
        for (int i = free & LAB_FREE_N ? 1 : 0; i < NS; i++)
            for (int s = 0; s < (free & LAB_FREE_SCALE ? 1 : scales(claim)); s++) {
                const struct lab_point from = {grid_n[i], grid_scale[s], grid_alpha[a], 0,
                                               exercise};
                const int here = vanishes_from(claim, from, free, last);
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
static int trace_freedom(const struct lab_exercise *exercise,
                         const struct lab_claim *claim, struct lab_trace *trace)
{
    for (int size = 1; size <= bits(claim->free); size++)
        for (unsigned free = 1; free <= ALL; free++) {
            if ((free & claim->free) != free || bits(free) != size)
                continue;
            const int here = vanishes(exercise, claim, free, &trace->residual);
            if (here < 0)
                return -1;
            if (here) {
                trace->vanishes = 1;
                trace->needs = free;
                return 0;
            }
        }
    return 0;
}

/* The scale from which on the error stays below LAB_SMALL, to 1%; 0: from the first. */
static int find_threshold(const struct lab_exercise *exercise,
                          const struct lab_claim *claim, unsigned free, int64_t n,
                          double *scale)
{
    enum { STRIDE = 4 };
    const struct lab_point from = {.n = n, .exercise = exercise};
    double low = 0, high = 0;
    struct lab_found reading;
    for (int t = STEPS - STRIDE; t >= 0 && low <= 0; t -= STRIDE) {
        const struct lab_point point = step(from, free, t);
        if (error_at(claim, &point, &reading))
            return -1;
        if (off(&reading) >= LAB_SMALL) {
            low = point.scale;
            high = low * exp2(STRIDE);
        }
    }
    while (high > 1.01 * low && low > 0) {
        struct lab_point point = step(from, free, 0);
        point.scale = sqrt(low * high);
        point.alpha = 0;
        if (error_at(claim, &point, &reading))
            return -1;
        *(off(&reading) >= LAB_SMALL ? &low : &high) = point.scale;
    }
    *scale = high;
    return 0;
}

enum { CASES = 64 };

static int trace_argument(const struct lab_exercise *exercise,
                          const struct lab_claim *claim, struct lab_trace *trace)
{
    for (int x = 0; claim->argue && x < CASES; x++) {
        struct lab_case found = {0};
        const int status = claim->argue(exercise, x, &found);
        if (status)
            return status < 0 ? -1 : 0;
        if (found.premise < LAB_TOLERANCE && !(found.conclusion < LAB_SMALL)) {
            trace->refuted = 1;
            trace->against = found;
            return 0;
        }
    }
    return 0;
}

int lab_trace_claim(const struct lab_exercise *exercise, const struct lab_claim *claim,
                    struct lab_trace *trace)
{
    static const int64_t shown_n[] = {10, 1000};

    memset(trace, 0, sizeof *trace);
    if (trace_argument(exercise, claim, trace) || trace_grid(exercise, claim, trace))
        return -1;
    if (trace->exact || trace->refuted)
        return 0;
    if (trace_freedom(exercise, claim, trace))
        return -1;
    for (int i = 0; trace->needs & LAB_FREE_SCALE && i < 2; i++)
        if (find_threshold(exercise, claim, trace->needs, shown_n[i],
                           &trace->threshold[i]))
            return -1;
    return 0;
}

/* SPDX-License-Identifier: MIT */
#include "lab/judge/limits.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { STEPS = 3, MOVING = LAB_FREE_SCALE | LAB_FREE_ALPHA | LAB_FREE_EPS };

/* `from` at step t: the scale grows, and alpha falls faster than 1 / length^2. */
static struct lab_point step_to(const struct lab_way *way, struct lab_point from,
                                unsigned free, double far, int t)
{
    if (free & LAB_FREE_SCALE)
        from.scale = far * exp2(-way->stride * (STEPS - 1 - t));
    if (free & LAB_FREE_ALPHA) {
        const double length = way->length ? way->length(way->arg, &from) : from.scale;
        from.alpha = way->alpha * pow(1e-3, t) / (length * length);
    }
    if (free & LAB_FREE_EPS) {
        from.eps = 1e-2 * exp2(-8.0 * (t + 1));
        from.n = 1000 * (int64_t)exp2(2.0 * (t + 1));
    }
    if (free & LAB_FREE_EVENT) {
        from.given_positive = 1;
        from.gamma = fabs(from.gamma);
    }
    return from;
}

/* n and eps stop where sums are still cheap. */
static double enough(unsigned free)
{
    return free & LAB_FREE_EPS ? 1e-3 : free & MOVING ? LAB_VANISHED : LAB_TOLERANCE;
}

/* Whether the error never grows on the way, and has vanished at its end. */
static int vanishes_at(const struct lab_way *way, const struct lab_point *from,
                       unsigned free, double far, struct lab_errors *last)
{
    double before = INFINITY;
    int falls = 1;

    for (int t = free & MOVING ? 0 : STEPS - 1; t < STEPS; t++) {
        const struct lab_point point = step_to(way, *from, free, far, t);
        if (way->errors(way->arg, &point, last))
            return -1;
        falls &= last->worst <= before || last->worst <= LAB_TOLERANCE;
        before = last->worst;
    }
    return falls && before < enough(free);
}

static int vanishes_from(const struct lab_way *way, const struct lab_point *from,
                         unsigned free, struct lab_limit *limit)
{
    struct lab_errors last;
    int here = 0;

    for (int end = 0; end < way->ends; end++) {
        here = vanishes_at(way, from, free, way->far[end], &last);
        if (here || !(free & LAB_FREE_SCALE) || last.worst < INFINITY)
            break;
    }
    if (here < 0)
        return -1;
    limit->residual = fmax(limit->residual, last.worst);
    limit->of_letters |= last.of_letters >= enough(free);
    return here;
}

static int vanishes(const struct lab_way *way, unsigned free, struct lab_limit *limit)
{
    int all = 1;

    *limit = (struct lab_limit){.needs = 0};
    for (int x = 0; x < way->starts && (all || way->every); x++) {
        struct lab_point from;
        if (!way->start(way->arg, x, free, &from))
            continue;
        const int here = vanishes_from(way, &from, free, limit);
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

int lab_find_limit(const struct lab_way *way, struct lab_limit *limit)
{
    /* With nothing free, the starts are looked at once. */
    for (int size = way->free ? 1 : 0; size <= bits(way->free); size++)
        for (unsigned free = 0; free <= way->free; free++) {
            if ((free & way->free) != free || bits(free) != size)
                continue;
            const int here = vanishes(way, free, limit);
            if (here < 0)
                return -1;
            if (here && free) {
                limit->needs = free;
                return 0;
            }
        }
    return 0;
}

void lab_text_add(struct lab_text *text, const char *format, ...)
{
    const size_t used = strlen(text->text);
    va_list args;
    va_start(args, format);
    const int length = vsnprintf(text->text + used, text->size - used, format, args);
    va_end(args);
    text->is_cut |= length < 0 || (size_t)length >= text->size - used;
}

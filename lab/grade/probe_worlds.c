/* SPDX-License-Identifier: MIT */
/* The worlds that an answer is tried in, and what they say of it together. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "lab/grade/probing.h"
#include "lab/measure/random.h"

enum { FIXED = 8, STREAM = 941, STEPS = 3 };

#define EXACT 1e-9    /* error of a claim that is right */
#define VANISHED 1e-6 /* error at the far end of one that is right in the limit */

static const int64_t fixed_n[FIXED] = {2, 2, 3, 3, 10, 10, 1000, 1000};
static const double fixed_scale[FIXED] = {0.5, 10, 2, 50, 0.5, 10, 2, 50};
static const double fixed_gamma[FIXED] = {0.5, 1, 1.5, 0.8, -0.6, 0.5, 1, -1.2};
static const double fixed_eps[FIXED] = {0.1, 0.01, 0.1, 0.001, 0.1, 0.01, 0.1, 0.001};

static double between(double low, double high, uint32_t word)
{
    return low + (high - low) * ((double)word + 0.5) / 4294967296.0;
}

/* The first are the same for all answers, the others are drawn from the seed. */
void lab_probe_world(const struct lab_asked *asked, int number, struct lab_world *world)
{
    const struct lab_probing *const probing = asked->part->probing;
    uint32_t word[6];

    *world = (struct lab_world){.gamma = 1, .eps = 0.01, .number = number};
    if (number < FIXED) {
        world->n = fixed_n[number];
        world->scale = fixed_scale[number];
        world->gamma = fixed_gamma[number];
        world->eps = fixed_eps[number];
        world->alpha = number % 2 ? 1e-4 : 0;
    } else {
        lab_random_words(asked->exercise->seed, STREAM, 6 * (uint64_t)number, word, 6);
        world->n = 2 + (int64_t)between(0, 60, word[0]);
        world->scale = exp(between(log(0.3), log(20), word[1]));
        world->gamma = between(-0.5, 2.5, word[2]);
        world->eps = exp(between(log(1e-4), log(0.3), word[3]));
        world->alpha = word[4] % 3 ? exp(between(log(1e-5), log(1e-2), word[5])) : 0;
    }
    if (!(probing->vary & LAB_VARY_ALPHA))
        world->alpha = 0;
    if (!(probing->vary & LAB_VARY_GAMMA))
        world->gamma = 1;
    if (probing->pairless && world->n < 3)
        world->n = 3;
}

static int read(const struct lab_asked *asked, const struct lab_world *world,
                struct lab_found *found)
{
    *found = (struct lab_found){.computed = NAN, .claimed = NAN};
    if (asked->part->probing->read(asked, world, found))
        return -1;
    if (*found->why || !(found->error >= 0))
        found->error = INFINITY;
    return 0;
}

/* The larger of C and the length of the query that the part is about. */
static double length_at(const struct lab_asked *asked, const struct lab_world *world)
{
    const struct lab_asked *const own = asked->part->probing->query ? asked : asked->own;
    struct lab_pair_query query;
    struct lab_found ignored = {0};
    if (!own || lab_asked_query(own, 0, world, &query, &ignored))
        return world->scale;
    const double others = query.rest * sqrt((double)world->n - 2);
    return fmax(world->scale, hypot(hypot(query.a, query.b), others));
}

/* `world` on its way: scale grows, alpha |q|^2 falls to 1e-13, eps falls. */
static void go(const struct lab_asked *asked, unsigned free, double far, int step,
               struct lab_world *world)
{
    const double share = exp2(-4.0 * (STEPS - 1 - step));
    if (free & LAB_FREES_SCALE)
        world->scale = far * share;
    if (free & LAB_FREES_ALPHA) {
        const double length = length_at(asked, world);
        world->alpha = 1e-7 * pow(1e-3, step) / (length * length);
    }
    if (free & LAB_FREES_EPS) {
        world->eps = 1e-2 * exp2(-8.0 * (step + 1));
        world->n = 1000 * (int64_t)exp2(2.0 * (step + 1));
    }
    if (free & LAB_FREES_EVENT) {
        world->given_positive = 1;
        world->gamma = fabs(world->gamma);
    }
}

/* Whether the error falls, and has vanished at the far end. */
static int vanishes_at(const struct lab_asked *asked, struct lab_world from,
                       unsigned free, double far, struct lab_probe_result *result)
{
    const int moves = (free & ~(unsigned)LAB_FREES_EVENT) != 0;
    /* n and eps stop where sums are still cheap. */
    const double enough = free & LAB_FREES_EPS ? 1e-3 : moves ? VANISHED : EXACT;
    double before = INFINITY;
    int falls = 1;

    for (int step = moves ? 0 : STEPS - 1; step < STEPS; step++) {
        struct lab_world world = from;
        struct lab_found found;
        go(asked, free, far, step, &world);
        if (read(asked, &world, &found))
            return -1;
        falls &= found.error <= before || found.error <= EXACT;
        before = found.error;
        result->last = world;
        result->found_last = found;
    }
    if (before < INFINITY)
        result->residual = fmax(result->residual, before);
    return falls && before < enough;
}

/* Nearer ends are for formulas that overflow, as exp(C) does. */
static int vanishes_from(const struct lab_asked *asked, struct lab_world from,
                         unsigned free, struct lab_probe_result *result)
{
    static const double nearer[] = {1e5, 250, 25};
    const double far = asked->part->probing->far;
    int here = vanishes_at(asked, from, free, far, result);
    for (size_t x = 0; x < sizeof nearer / sizeof nearer[0]; x++)
        if (free & LAB_FREES_SCALE && nearer[x] < far && !here &&
            result->found_last.error == INFINITY)
            here = vanishes_at(asked, from, free, nearer[x], result);
    return here;
}

static int vanishes(const struct lab_asked *asked, unsigned free,
                    struct lab_probe_result *result)
{
    result->residual = 0;
    for (int x = 0; x < LAB_PROBES; x++) {
        struct lab_world from;
        lab_probe_world(asked, x, &from);
        /* Of worlds that differ only in what goes to its limit one is enough. */
        if (free & LAB_FREES_SCALE && x < FIXED && x % 2)
            continue;
        const int here = vanishes_from(asked, from, free, result);
        if (here <= 0)
            return here;
    }
    return 1;
}

static int bits(unsigned set)
{
    int count = 0;
    for (; set; set &= set - 1)
        count++;
    return count;
}

/* What a counterexample shows: two numbers that round to one show nothing. */
static double difference_in(const struct lab_found *found)
{
    const double off =
        isnan(found->claimed) ? found->error : fabs(found->computed - found->claimed);
    return found->error < EXACT ? 0 : isnan(off) || *found->why ? INFINITY : off;
}

/* The fewest things whose limit makes the claim right. */
static int try_limits(const struct lab_asked *asked, struct lab_probe_result *result)
{
    const unsigned all = asked->part->probing->free;
    for (int size = 1; size <= bits(all); size++)
        for (unsigned free = 1; free <= all; free++) {
            if ((free & all) != free || bits(free) != size)
                continue;
            const int here = vanishes(asked, free, result);
            if (here < 0)
                return -1;
            if (here) {
                result->mark = LAB_MARK_LIMIT;
                result->needs = free;
                return 0;
            }
        }
    /* What is wrong with all that is free tells more than what is wrong without. */
    if (all && difference_in(&result->found_last) > VANISHED) {
        result->worst = result->last;
        result->found = result->found_last;
    }
    return 0;
}

int lab_probe(const struct lab_asked *asked, struct lab_probe_result *result)
{
    memset(result, 0, sizeof *result);
    result->mark = LAB_MARK_RIGHT;
    int senseless = 0;
    for (int x = 0; x < LAB_PROBES; x++) {
        struct lab_world world;
        struct lab_found found;
        lab_probe_world(asked, x, &world);
        if (read(asked, &world, &found))
            return -1;
        result->at[result->probes++] = found;
        if (x == 0 || difference_in(&found) > difference_in(&result->found)) {
            result->worst = world;
            result->found = found;
        }
        senseless += *found.why != 0;
        if (!(found.error < EXACT))
            result->mark = LAB_MARK_WRONG;
    }
    /* Shapes are the same in every world. */
    if (result->mark == LAB_MARK_RIGHT || senseless == LAB_PROBES)
        return 0;
    return try_limits(asked, result);
}

void lab_world_words(const struct lab_asked *asked, const struct lab_world *world,
                     char *text, size_t size)
{
    const struct lab_probing *const probing = asked->part->probing;
    int used = probing->alone ? snprintf(text, size, "world %d", world->number + 1)
                              : snprintf(text, size, "n = %lld", (long long)world->n);
    if (probing->grows)
        used += snprintf(text + used, size - (size_t)used, ", %s = %.4g", probing->grows,
                         world->scale);
    if (probing->vary & LAB_VARY_GAMMA)
        used +=
            snprintf(text + used, size - (size_t)used, ", gamma = %.4g", world->gamma);
    if (probing->vary & LAB_VARY_EPS)
        used += snprintf(text + used, size - (size_t)used, ", eps = %.4g", world->eps);
    if (probing->vary & LAB_VARY_ALPHA)
        snprintf(text + used, size - (size_t)used, ", alpha = %.4g", world->alpha);
}

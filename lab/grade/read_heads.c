/* SPDX-License-Identifier: MIT */
/* Questions 1d and 1e: two heads, and what becomes of the noise. */
#include <math.h>
#include <stdio.h>

#include "lab/grade/probing.h"

/* 1: a query makes no sense. */
static int own_queries(const struct lab_asked *own, const struct lab_world *world,
                       struct lab_pair_query *query, struct lab_found *found)
{
    return lab_asked_query(own, 0, world, &query[0], found) ||
           lab_asked_query(own, 1, world, &query[1], found);
}

/* Of c, the mean of two heads, with k_a = gamma mu_a. */
static int mean_weights(const struct lab_asked *asked, const struct lab_world *world,
                        double gamma, const struct lab_pair_query *query,
                        struct lab_pair_weights *mean)
{
    struct lab_pair_weights p[2];
    for (int h = 0; h < 2; h++)
        if (lab_exercise_pair_at(asked->exercise, world->n, gamma, query[h], &p[h]))
            return -1;
    const double others = (p[0].others + p[1].others) / 2;
    *mean = (struct lab_pair_weights){
        (p[0].a + p[1].a) / 2, (p[0].b + p[1].b) / 2, others,
        world->n > 2 ? others * others / (double)(world->n - 2) : 0};
    return 0;
}

static int read_queries(const struct lab_asked *asked, const struct lab_world *world,
                        struct lab_found *found)
{
    struct lab_pair_query query[2];
    struct lab_pair_weights mean;
    if (own_queries(asked, world, query, found))
        return 0;
    if (lab_same_number(query[0].a, query[1].a) &&
        lab_same_number(query[0].b, query[1].b)) {
        snprintf(found->why, sizeof found->why,
                 "the queries are equal: two equal heads are one");
        return 0;
    }
    if (mean_weights(asked, world, 1, query, &mean))
        return -1;
    *found = (struct lab_found){
        .computed = mean.a, .claimed = 0.5, .error = lab_pair_distance(&mean, 0.5, 0.5)};
    return 0;
}

/* Texts: c_1, c_2 without noise. */
static int read_outputs(const struct lab_asked *asked, const struct lab_world *world,
                        struct lab_found *found)
{
    struct lab_pair_query query[2];
    double off = 0;
    if (own_queries(asked->own, world, query, found))
        return 0;
    for (int h = 0; h < 2; h++) {
        struct lab_pair_weights p;
        double x, y;
        if (lab_exercise_pair(asked->exercise, world->n, query[h], &p))
            return -1;
        if (lab_asked_output(asked, h, world, &x, &y, found))
            return 0;
        off = fmax(off, lab_pair_distance(&p, x, y));
    }
    lab_found_distance(found, off);
    return 0;
}

/* 1: a query makes no sense. */
static int draw_two(const struct lab_asked *asked, const struct lab_world *world,
                    struct lab_drawn *drawn, struct lab_found *found)
{
    const struct lab_point point = lab_world_point(world, asked->exercise);
    struct lab_pair_query query[2];
    if (own_queries(asked->own, world, query, found))
        return 1;
    return lab_exercise_draw(&point, 1, 2, query, drawn);
}

/* Choices, for each head: varies, constant. */
static int read_vary(const struct lab_asked *asked, const struct lab_world *world,
                     struct lab_found *found)
{
    struct lab_drawn drawn;
    const int status = draw_two(asked, world, &drawn, found);
    if (status)
        return status < 0 ? -1 : 0;
    found->error = -1;
    for (int h = 0; h < 2; h++) {
        const int is_constant = drawn.trace[h] < 1e-18;
        const struct lab_found here = {.computed = drawn.trace[h],
                                       .claimed = NAN,
                                       .error = is_constant != asked->choice[h]};
        lab_found_worse(found, &here);
    }
    return 0;
}

/* Choices: negative, zero, positive; to four standard errors. */
static int read_correlation(const struct lab_asked *asked, const struct lab_world *world,
                            struct lab_found *found)
{
    struct lab_drawn drawn;
    const int status = draw_two(asked, world, &drawn, found);
    if (status)
        return status < 0 ? -1 : 0;
    const double product = drawn.trace[0] * drawn.trace[1];
    const double r = product > 1e-36 ? drawn.trace_cross / sqrt(product) : 0;
    const double least = 4 / sqrt((double)drawn.count);
    const int is = r < -least ? 0 : r > least ? 2 : 1;
    *found = (struct lab_found){
        .computed = r, .claimed = asked->choice[0] - 1, .error = is != asked->choice[0]};
    return 0;
}

/* Choices: smaller, larger, equal; the variance of c beside that of one head. */
static int read_compared(const struct lab_asked *asked, const struct lab_world *world,
                         struct lab_found *found)
{
    const struct lab_point point = lab_world_point(world, asked->exercise);
    const struct lab_pair_query query = {world->scale, world->scale, 0};
    struct lab_drawn one, two;
    const int status = draw_two(asked, world, &two, found);
    if (status || lab_exercise_draw(&point, 1, 1, &query, &one))
        return status == 1 ? 0 : -1;
    const double ratio = two.trace_mean / one.trace[0];
    const int is = lab_same_number(ratio, 1) ? 2 : ratio > 1;
    *found = (struct lab_found){
        .computed = ratio, .claimed = 1, .error = is != asked->choice[0]};
    return 0;
}

/* c in a draw beside what is claimed of it. */
static int read_output(const struct lab_asked *asked, const struct lab_world *world,
                       struct lab_found *found)
{
    struct lab_pair_query query[2];
    struct lab_pair_weights mean;
    double x, y;
    if (lab_asked_output(asked, 0, world, &x, &y, found) ||
        own_queries(asked->own, world, query, found))
        return 0;
    if (mean_weights(asked, world, world->gamma, query, &mean))
        return -1;
    lab_found_distance(found, lab_pair_distance(&mean, x, y));
    return 0;
}

const struct lab_probing lab_probe_heads_queries = {
    .bind = lab_bind_noise,
    .read = read_queries,
    .free = LAB_FREES_SCALE,
    .far = 1e9,
    .grows = "C",
    .measures = "coefficient of v_a",
    .against = "wanted",
    .query = 1,
};
const struct lab_probing lab_probe_heads_outputs = {
    .bind = lab_bind_noise,
    .read = read_outputs,
    .free = LAB_FREES_SCALE,
    .far = 1e9,
    .grows = "C",
};
const struct lab_probing lab_probe_heads_vary = {
    .bind = lab_bind_noise,
    .read = read_vary,
    .grows = "C",
    .measures = "variance of the head",
};
const struct lab_probing lab_probe_heads_correlation = {
    .bind = lab_bind_noise,
    .read = read_correlation,
    .grows = "C",
    .measures = "correlation",
    .against = "claimed",
};
const struct lab_probing lab_probe_heads_compared = {
    .bind = lab_bind_noise,
    .read = read_compared,
    .free = LAB_FREES_SCALE,
    .far = 1e9,
    .grows = "C",
    .measures = "variance over that of one head",
    .against = "against",
};
const struct lab_probing lab_probe_heads_output = {
    .bind = lab_bind_noise,
    .read = read_output,
    .vary = LAB_VARY_GAMMA,
    .free = LAB_FREES_SCALE | LAB_FREES_EVENT,
    .far = 1e9,
    .grows = "C",
};

/* ---- probabilities, by the gamma at which a weight is one half -----------------------
 */

/* P(p_a < 1/2) for a weight that grows with gamma. */
static int probability_below_half(const struct lab_asked *asked, int64_t n,
                                  struct lab_pair_query query, double *probability)
{
    double low = -60, high = 60;
    for (int step = 0; step < 80; step++) {
        const double gamma = (low + high) / 2;
        struct lab_pair_weights p;
        if (lab_exercise_pair_at(asked->exercise, n, gamma, query, &p))
            return -1;
        *(p.a < 0.5 ? &low : &high) = gamma;
    }
    const double z = ((low + high) / 2 - 1) / sqrt(asked->exercise->sigma2);
    *probability = 0.5 * erfc(-z / sqrt(2));
    return 0;
}

static int read_lose(const struct lab_asked *asked, const struct lab_world *world,
                     struct lab_found *found)
{
    double computed, claimed;
    if (probability_below_half(asked, world->n,
                               (struct lab_pair_query){.a = world->scale}, &computed))
        return -1;
    if (!lab_asked_number(asked, 0, world, &claimed, found))
        lab_found_number(found, computed, claimed);
    return 0;
}

/* So large that the weight of v_a is 0 or 1 in every draw. */
#define SATURATED 1e12

/* The variance of the coefficient of v_a in the mean of `heads` heads, C saturated. */
static int read_saturated(const struct lab_asked *asked, const struct lab_world *world,
                          int heads, struct lab_found *found)
{
    const struct lab_pair_query query = {SATURATED, heads == 1 ? SATURATED : 0, 0};
    struct lab_world far = *world;
    double p, claimed;
    far.scale = SATURATED;
    if (probability_below_half(asked, world->n, query, &p))
        return -1;
    if (!lab_asked_number(asked, 0, &far, &claimed, found)) {
        const double computed = p * (1 - p) / (heads * heads);
        lab_found_number(found, computed, claimed);
        if (found->error < 1e-6) /* ln n / C */
            found->error = 0;
    }
    return 0;
}

static int read_one_limit(const struct lab_asked *asked, const struct lab_world *world,
                          struct lab_found *found)
{
    return read_saturated(asked, world, 1, found);
}

static int read_two_limit(const struct lab_asked *asked, const struct lab_world *world,
                          struct lab_found *found)
{
    return read_saturated(asked, world, 2, found);
}

/* Choices: one, two, same: which is closer to the average, in mean square. */
static int read_better(const struct lab_asked *asked, const struct lab_world *world,
                       struct lab_found *found)
{
    const struct lab_point point = lab_world_point(world, asked->exercise);
    const double C = world->scale;
    const struct lab_pair_query one[] = {{C, C, 0}}, two[] = {{C, 0, 0}, {0, C, 0}};
    struct lab_drawn by_one, by_two;
    if (lab_exercise_draw(&point, 1, 1, one, &by_one) ||
        lab_exercise_draw(&point, 1, 2, two, &by_two))
        return -1;
    const double x = by_one.to_average, y = by_two.to_average;
    const int is = lab_same_number(x, y) ? 2 : y < x;
    *found =
        (struct lab_found){.computed = y, .claimed = x, .error = is != asked->choice[0]};
    return 0;
}

const struct lab_probing lab_probe_heads_lose = {
    .bind = lab_bind_noise,
    .read = read_lose,
    .free = LAB_FREES_SCALE,
    .far = 1e9,
    .grows = "C",
    .number = 1,
};
const struct lab_probing lab_probe_one_head_limit = {
    .bind = lab_bind_noise,
    .read = read_one_limit,
    .number = 1,
};
const struct lab_probing lab_probe_heads_limit = {
    .bind = lab_bind_noise,
    .read = read_two_limit,
    .number = 1,
};
const struct lab_probing lab_probe_better = {
    .bind = lab_bind_noise,
    .read = read_better,
    .free = LAB_FREES_SCALE,
    .far = 1e9,
    .grows = "C",
    .measures = "distance from the average by two heads",
    .against = "by one",
};

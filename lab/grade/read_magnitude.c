/* SPDX-License-Identifier: MIT */
/* Question 1c-ii: one head, and a key whose length varies. */
#include <math.h>
#include <stdio.h>

#include "lab/grade/probing.h"

static const struct lab_pair_query *own_query(const struct lab_asked *asked,
                                              const struct lab_world *world,
                                              struct lab_pair_query *query,
                                              struct lab_found *found)
{
    return lab_asked_query(asked->own, 0, world, query, found) ? NULL : query;
}

static int read_scores(const struct lab_asked *asked, const struct lab_world *world,
                       struct lab_found *found)
{
    struct lab_pair_query query;
    if (!own_query(asked, world, &query, found))
        return 0;
    const double q[] = {query.a, query.b, 0};
    found->error = -1;
    for (int i = 0; i < 3; i++) {
        const double key[] = {i == 0 ? world->gamma : 0, i == 1, i == 2};
        struct lab_found here = {0};
        double score, claimed;
        if (lab_engine_score(asked->exercise, 3, key, q, &score))
            return -1;
        if (!lab_asked_number(asked, i, world, &claimed, &here))
            lab_found_number(&here, score, claimed);
        lab_found_worse(found, &here);
    }
    return 0;
}

static int read_weight(const struct lab_asked *asked, const struct lab_world *world,
                       struct lab_found *found)
{
    struct lab_pair_query query;
    struct lab_pair_weights p;
    double claimed;
    if (!own_query(asked, world, &query, found))
        return 0;
    if (lab_exercise_pair_at(asked->exercise, world->n, world->gamma, query, &p))
        return -1;
    if (!lab_asked_number(asked, 0, world, &claimed, found))
        lab_found_number(found, p.a, claimed);
    return 0;
}

/* Texts: Var s_a, Var s_b. */
static int read_variances(const struct lab_asked *asked, const struct lab_world *world,
                          struct lab_found *found)
{
    struct lab_pair_query query;
    if (!own_query(asked, world, &query, found))
        return 0;
    found->error = -1;
    for (int key = 0; key < 2; key++) {
        struct lab_found here = {0};
        double claimed;
        if (!lab_asked_number(asked, key, world, &claimed, &here))
            lab_found_number(&here,
                             lab_exercise_score_covariance(asked->exercise, world->alpha,
                                                           key, query, query),
                             claimed);
        lab_found_worse(found, &here);
    }
    return 0;
}

/* One head over draws of gamma; 1: the query makes no sense. */
static int draw_one(const struct lab_asked *asked, const struct lab_world *world,
                    struct lab_drawn *drawn, struct lab_found *found)
{
    const struct lab_point point = lab_world_point(world, asked->exercise);
    struct lab_pair_query query;
    if (!own_query(asked, world, &query, found))
        return 1;
    return lab_exercise_draw(&point, 1, 1, &query, drawn);
}

/* P(gamma a > b) for gamma ~ N(1, sigma^2). */
static double probability_above(double a, double b, double sigma)
{
    if (a == 0)
        return b < 0;
    const double z = (1 - b / a) / sigma;
    return 0.5 * erfc((a > 0 ? -z : z) / sqrt(2));
}

/* c is closer to v_a where k_a has the larger score of the two. */
static int read_closer(const struct lab_asked *asked, const struct lab_world *world,
                       struct lab_found *found)
{
    const double key_a[] = {1, 0}, key_b[] = {0, 1};
    struct lab_pair_query query;
    double a, b, claimed;
    if (!own_query(asked, world, &query, found))
        return 0;
    const double q[] = {query.a, query.b};
    if (lab_engine_score(asked->exercise, 2, key_a, q, &a) ||
        lab_engine_score(asked->exercise, 2, key_b, q, &b))
        return -1;
    if (!lab_asked_number(asked, 0, world, &claimed, found))
        lab_found_number(found, probability_above(a, b, sqrt(asked->exercise->sigma2)),
                         claimed);
    return 0;
}

/* Texts: c at gamma = 0.5 and at 1.5. */
static int read_ends(const struct lab_asked *asked, const struct lab_world *world,
                     struct lab_found *found)
{
    static const double gamma[] = {0.5, 1.5};
    struct lab_pair_query query;
    double off = 0;
    if (!own_query(asked, world, &query, found))
        return 0;
    for (int end = 0; end < 2; end++) {
        struct lab_pair_weights p;
        double x, y;
        if (lab_exercise_pair_at(asked->exercise, world->n, gamma[end], query, &p))
            return -1;
        if (lab_asked_output(asked, end, world, &x, &y, found))
            return 0;
        off = fmax(off, lab_pair_distance(&p, x, y));
    }
    lab_found_distance(found, off);
    return 0;
}

/* Choices: larger, smaller, unchanged; the trace of the covariance of c beside part i. */
static int read_spread(const struct lab_asked *asked, const struct lab_world *world,
                       struct lab_found *found)
{
    const struct lab_point point = lab_world_point(world, asked->exercise);
    struct lab_pair_query query;
    struct lab_drawn before, now;
    const int status = draw_one(asked, world, &now, found);
    if (status || !own_query(asked, world, &query, found))
        return status < 0 ? -1 : 0;
    if (lab_exercise_draw(&point, 0, 1, &query, &before))
        return -1;
    const double change = now.trace[0] - before.trace[0];
    const int is = change > 1e-12 ? 0 : change < -1e-12 ? 1 : 2;
    *found = (struct lab_found){.computed = now.trace[0],
                                .claimed = before.trace[0],
                                .error = is != asked->choice[0]};
    return 0;
}

const struct lab_probing lab_probe_magnitude_scores = {
    .bind = lab_bind_noise,
    .read = read_scores,
    .vary = LAB_VARY_GAMMA,
    .grows = "C",
};
const struct lab_probing lab_probe_magnitude_weight = {
    .bind = lab_bind_noise,
    .read = read_weight,
    .vary = LAB_VARY_GAMMA,
    .free = LAB_FREES_SCALE,
    .far = 250,
    .grows = "C",
    .number = 1,
};
const struct lab_probing lab_probe_score_variances = {
    .bind = lab_bind_noise,
    .read = read_variances,
    .vary = LAB_VARY_ALPHA,
    .free = LAB_FREES_ALPHA,
    .grows = "C",
};
const struct lab_probing lab_probe_closer = {
    .bind = lab_bind_noise,
    .read = read_closer,
    .grows = "C",
    .number = 1,
};
const struct lab_probing lab_probe_ends = {
    .bind = lab_bind_noise,
    .read = read_ends,
    .free = LAB_FREES_SCALE,
    .far = 1e9,
    .grows = "C",
};
const struct lab_probing lab_probe_spread = {
    .bind = lab_bind_noise,
    .read = read_spread,
    .grows = "C",
    .measures = "variance of c",
    .against = "in part i",
};

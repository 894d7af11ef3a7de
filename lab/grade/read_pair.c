/* SPDX-License-Identifier: MIT */
/* Questions 1b-ii and 1c-i: the average of two values, without and with small noise. */
#include <math.h>
#include <stdio.h>

#include "lab/grade/probing.h"
#include "lab/measure/forward.h"

struct lab_exercise lab_world_exercise(const struct lab_asked *asked,
                                       const struct lab_world *world)
{
    struct lab_exercise exercise = *asked->exercise;
    exercise.seed += (uint64_t)world->number;
    return exercise;
}

struct lab_point lab_world_point(const struct lab_world *world,
                                 const struct lab_exercise *exercise)
{
    return (struct lab_point){.n = world->n,
                              .scale = world->scale,
                              .alpha = world->alpha,
                              .given_positive = world->given_positive,
                              .exercise = exercise};
}

double lab_distance(const double *x, const double *y, int count)
{
    double sum = 0;
    for (int i = 0; i < count; i++)
        sum += (x[i] - y[i]) * (x[i] - y[i]);
    return sqrt(sum);
}

void lab_found_distance(struct lab_found *found, double distance)
{
    *found = (struct lab_found){
        .computed = distance, .claimed = NAN, .error = distance > 1e-9 ? distance : 0};
    if (!(distance >= 0))
        found->error = INFINITY;
}

/* The log-sum-exp of a query that sees one key is its score. */
int lab_engine_score(const struct lab_exercise *exercise, int d, const double *k,
                     const double *q, double *score)
{
    const struct lab_problem problem = {
        .nk = 1, .d = d, .q = q, .k = k, .scale = exercise->tau, .lse = score};
    return lab_forward(exercise->ctx, &problem, NULL) == ATTEND_OK ? 0 : -1;
}

static void bind_scales(const struct lab_world *world, struct lab_letters *letters)
{
    static const char *const names[] = {"C", "beta", "C_1", "C_2", "C1", "C2"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        lab_letters_number(letters, names[i], world->scale);
    lab_letters_number(letters, "n", (double)world->n);
    lab_letters_number(letters, "eps", world->eps);
}

/* m, alpha and d_k are letters of other questions, which must not help here. */
static void bind_pair(const struct lab_asked *asked, const struct lab_world *world,
                      struct lab_letters *letters)
{
    const double a[] = {1, 0, 0}, b[] = {0, 1, 0}, others[] = {0, 0, 1};
    (void)asked;
    bind_scales(world, letters);
    lab_letters_number(letters, "c", world->scale);
    lab_letters_matrix(letters, "k_a", 3, 1, a);
    lab_letters_matrix(letters, "k_b", 3, 1, b);
    lab_letters_matrix(letters, "k_o", 3, 1, others);
    lab_letters_number(letters, "m", 5);
    lab_letters_number(letters, "alpha", 0.37);
    lab_letters_number(letters, "d", 64);
    lab_letters_number(letters, "d_k", 64);
}

/* The values live in R^4, so that a mean in place of a value does not fit. */
void lab_bind_noise(const struct lab_asked *asked, const struct lab_world *world,
                    struct lab_letters *letters)
{
    const double a[] = {1, 0, 0, 0}, b[] = {0, 1, 0, 0};
    const double sigma2 = asked->exercise->sigma2;
    bind_scales(world, letters);
    lab_letters_matrix(letters, "mu_a", 3, 1, a);
    lab_letters_matrix(letters, "mu_b", 3, 1, b);
    lab_letters_matrix(letters, "m_a", 3, 1, a);
    lab_letters_matrix(letters, "m_b", 3, 1, b);
    lab_letters_matrix(letters, "v_a", 4, 1, a);
    lab_letters_matrix(letters, "v_b", 4, 1, b);
    lab_letters_number(letters, "alpha", world->alpha);
    lab_letters_number(letters, "gamma", world->gamma);
    lab_letters_number(letters, "gamma_b", 0.9 + 0.07 * world->number);
    lab_letters_number(letters, "sigma", sqrt(sigma2));
    lab_letters_number(letters, "sigma2", sigma2);
    lab_letters_number(letters, "d", 64);
    lab_letters_number(letters, "d_k", 64);
}

int lab_asked_output(const struct lab_asked *asked, int k, const struct lab_world *world,
                     double *x, double *y, struct lab_found *found)
{
    struct lab_letters letters = {0};
    struct lab_value value;
    lab_bind_noise(asked, world, &letters);
    if (lab_asked_value(asked, k, &letters, 4, 1, &value, found))
        return -1;
    *x = value.x[0];
    *y = value.x[1];
    return 0;
}

/* Weights at the own query; 1: the query makes no sense, see `found`. */
static int own_weights(const struct lab_asked *asked, const struct lab_world *world,
                       struct lab_pair_weights *p, struct lab_found *found)
{
    struct lab_pair_query query;
    if (lab_asked_query(asked, 0, world, &query, found))
        return 1;
    return lab_exercise_pair(asked->exercise, world->n, query, p);
}

static int read_query(const struct lab_asked *asked, const struct lab_world *world,
                      struct lab_found *found)
{
    struct lab_pair_weights p;
    const int status = own_weights(asked, world, &p, found);
    if (!status)
        *found = (struct lab_found){
            .computed = p.a, .claimed = 0.5, .error = lab_pair_distance(&p, 0.5, 0.5)};
    return status < 0 ? -1 : 0;
}

static int read_weight(const struct lab_asked *asked, const struct lab_world *world,
                       struct lab_found *found)
{
    struct lab_pair_weights p;
    double claimed;
    const int status = own_weights(asked->own, world, &p, found);
    if (!status && !lab_asked_number(asked, 0, world, &claimed, found))
        lab_found_number(found, p.a, claimed);
    return status < 0 ? -1 : 0;
}

/* The weight outside of a and b at the scale that is claimed to make it eps. */
static int read_scale(const struct lab_asked *asked, const struct lab_world *world,
                      struct lab_found *found)
{
    struct lab_world there = *world;
    struct lab_pair_weights p;
    if (lab_asked_number(asked, 0, world, &there.scale, found))
        return 0;
    const int status = own_weights(asked->own, &there, &p, found);
    if (!status)
        lab_found_number(found, p.others, world->eps);
    return status < 0 ? -1 : 0;
}

/*
 * Texts: the scores of a, b and another key.  Noise of variance alpha adds its standard
 * deviation to what a claim is off.
 */
static int read_scores(const struct lab_asked *asked, const struct lab_world *world,
                       struct lab_found *found)
{
    struct lab_exercise plain = *asked->exercise;
    struct lab_pair_query query;
    plain.sigma2 = plain.sigma2_b = 0;
    if (lab_asked_query(asked->own, 0, world, &query, found))
        return 0;
    const double q[] = {query.a, query.b, query.rest};
    found->error = -1;
    for (int i = 0; i < 3; i++) {
        const double key[] = {i == 0, i == 1, i == 2};
        const double spread =
            sqrt(lab_exercise_score_covariance(&plain, world->alpha, 0, query, query));
        struct lab_found here = {0};
        double score, claimed;
        if (lab_engine_score(asked->exercise, 3, key, q, &score))
            return -1;
        if (!lab_asked_number(asked, i, world, &claimed, &here)) {
            lab_found_number(&here, score, claimed);
            here.error = hypot(here.error, spread);
        }
        lab_found_worse(found, &here);
    }
    return 0;
}

const struct lab_probing lab_probe_pair_query = {
    .bind = bind_pair,
    .read = read_query,
    .free = LAB_FREES_SCALE,
    .far = 1e9,
    .grows = "C",
    .measures = "weight of v_a",
    .against = "wanted",
    .query = 1,
};
const struct lab_probing lab_probe_pair_scores = {
    .bind = bind_pair,
    .read = read_scores,
    .grows = "C",
};
const struct lab_probing lab_probe_pair_weight = {
    .bind = bind_pair,
    .read = read_weight,
    .free = LAB_FREES_SCALE,
    .far = 250,
    .grows = "C",
    .number = 1,
};
const struct lab_probing lab_probe_pair_limit = {
    .bind = bind_pair,
    .read = read_weight,
    .free = LAB_FREES_SCALE,
    .far = 250,
    .grows = "C",
    .number = 1,
};
const struct lab_probing lab_probe_pair_scale = {
    .bind = bind_pair,
    .read = read_scale,
    .vary = LAB_VARY_EPS,
    .free = LAB_FREES_EPS,
    .measures = "leak",
    .against = "wanted",
    .pairless = 1,
};

/* ---- small noise ------------------------------------------------------------------ */

int lab_noisy_distance(const struct lab_asked *own, const struct lab_world *world,
                       struct lab_found *found)
{
    const struct lab_point point = lab_world_point(world, own->exercise);
    struct lab_pair_query query;
    struct lab_drawn drawn;
    if (!(world->alpha > 0))
        return read_query(own, world, found);
    if (lab_asked_query(own, 0, world, &query, found))
        return 0;
    if (lab_exercise_draw(&point, 0, 1, &query, &drawn))
        return -1;
    *found = (struct lab_found){
        .computed = drawn.weight_mean, .claimed = 0.5, .error = drawn.to_average};
    return 0;
}

static int read_output(const struct lab_asked *asked, const struct lab_world *world,
                       struct lab_found *found)
{
    struct lab_pair_weights p;
    double x, y;
    if (lab_asked_output(asked, 0, world, &x, &y, found))
        return 0;
    if (lab_same_number(x, 0.5) && lab_same_number(y, 0.5)) {
        if (lab_noisy_distance(asked->own, world, found))
            return -1;
        if (!*found->why)
            lab_found_distance(found, found->error);
        return 0;
    }
    const int status = own_weights(asked->own, world, &p, found);
    if (!status)
        lab_found_distance(found, lab_pair_distance(&p, x, y));
    return status < 0 ? -1 : 0;
}

/* Var(s_a - s_b); keys are independent. */
static int read_difference(const struct lab_asked *asked, const struct lab_world *world,
                           struct lab_found *found)
{
    struct lab_exercise plain = *asked->exercise;
    struct lab_pair_query query;
    double claimed;
    plain.sigma2 = plain.sigma2_b = 0;
    if (lab_asked_query(asked->own, 0, world, &query, found) ||
        lab_asked_number(asked, 0, world, &claimed, found))
        return 0;
    lab_found_number(
        found,
        lab_exercise_score_covariance(&plain, world->alpha, 0, query, query) +
            lab_exercise_score_covariance(&plain, world->alpha, 1, query, query),
        claimed);
    return 0;
}

const struct lab_probing lab_probe_noise_query = {
    .bind = lab_bind_noise,
    .read = lab_noisy_distance,
    .vary = LAB_VARY_ALPHA,
    .free = LAB_FREES_SCALE | LAB_FREES_ALPHA,
    .far = 1e9,
    .grows = "C",
    .measures = "mean weight of v_a",
    .against = "wanted",
    .query = 1,
};
const struct lab_probing lab_probe_noise_scores = {
    .bind = lab_bind_noise,
    .read = read_scores,
    .vary = LAB_VARY_ALPHA,
    .free = LAB_FREES_ALPHA,
    .grows = "C",
};
const struct lab_probing lab_probe_noise_output = {
    .bind = lab_bind_noise,
    .read = read_output,
    .vary = LAB_VARY_ALPHA,
    .free = LAB_FREES_SCALE | LAB_FREES_ALPHA,
    .far = 1e9,
    .grows = "C",
};
const struct lab_probing lab_probe_difference_variance = {
    .bind = lab_bind_noise,
    .read = read_difference,
    .vary = LAB_VARY_ALPHA,
    .free = LAB_FREES_ALPHA,
    .grows = "C",
    .number = 1,
};

/* SPDX-License-Identifier: MIT */
/* Question 1c-ii: one head, and a key whose length varies. */
#include <math.h>

#include "lab/grade/probing.h"

static int compute_scores(struct lab_probe *probe)
{
    struct lab_pair_query query;
    if (lab_own_query(probe, &query))
        return 1;
    const double q[] = {query.a, query.b, 0};
    return lab_score_keys(probe->point, probe->point->gamma, q, probe->to.number);
}

static int compute_weight(struct lab_probe *probe)
{
    struct lab_pair_query query;
    struct lab_pair_weights p;
    if (lab_own_query(probe, &query))
        return 1;
    if (lab_probe_pair(probe, probe->point->gamma, query, &p))
        return -1;
    probe->to.number[0] = p.a;
    return 0;
}

/* Var s_a, Var s_b. */
static int compute_variances(struct lab_probe *probe)
{
    struct lab_pair_query query;
    if (lab_own_query(probe, &query))
        return 1;
    const struct lab_point *const point = probe->point;
    for (int key = 0; key < 2; key++)
        probe->to.number[key] = lab_exercise_score_covariance(
            point->exercise, point->alpha, key, query, query);
    return 0;
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
static int compute_closer(struct lab_probe *probe)
{
    struct lab_pair_query query;
    double score[3];
    if (lab_own_query(probe, &query))
        return 1;
    const double q[] = {query.a, query.b, 0};
    if (lab_score_keys(probe->point, 1, q, score))
        return -1;
    probe->to.number[0] =
        probability_above(score[0], score[1], sqrt(probe->point->exercise->sigma2));
    return 0;
}

/* At gamma = 0.5 and at 1.5. */
static int compute_ends(struct lab_probe *probe)
{
    struct lab_pair_query query;
    if (lab_own_query(probe, &query))
        return 1;
    for (int end = 0; end < 2; end++)
        if (lab_probe_pair(probe, 0.5 + end, query, &probe->to.weights[end]))
            return -1;
    return 0;
}

/* Choices: larger, smaller, unchanged; the trace of the covariance of c beside part i. */
static int compare_spread(struct lab_probe *probe)
{
    struct lab_pair_query query;
    struct lab_drawn before, now;
    if (lab_own_query(probe, &query))
        return 1;
    if (lab_exercise_draw(probe->point, 1, 1, &query, &now) ||
        lab_exercise_draw(probe->point, 0, 1, &query, &before))
        return -1;
    const double change = now.spread.head[0] - before.spread.head[0];
    const int is = change > 1e-12 ? 0 : change < -1e-12 ? 1 : 2;
    probe->found = lab_found_choice(probe, is, now.spread.head[0], before.spread.head[0]);
    return 0;
}

const struct lab_part lab_parts_magnitude[LAB_PARTS_MAGNITUDE] = {
    {LAB_ASKS(
         "1c-ii", "scores",
         "scores of k_a, k_b and any other key; k_a = gamma mu_a, gamma ~ N(1, 1/2)"),
     .hint = "Only k_a has the larger covariance.", .points = 2, .texts = 3,
     .solution = {"gamma C", "C", "0"},
     LAB_JUDGED(.letters = &lab_letters_noise, .claims = LAB_CLAIMS_NUMBERS,
                .compute = compute_scores, .vary = LAB_VARY_GAMMA, .grows = "C")},
    {LAB_ASKS("1c-ii", "weight", "weight of k_a, given gamma"),
     .hint = "Softmax of your three scores; n - 2 keys have the third.", .points = 2,
     .texts = 1, .solution = {"exp(gamma C)/(exp(gamma C) + exp(C) + n - 2)"},
     LAB_JUDGED(.letters = &lab_letters_noise, .claims = LAB_CLAIMS_NUMBERS,
                .compute = compute_weight, .vary = LAB_VARY_GAMMA, .free = LAB_FREE_SCALE,
                .far = 250, .grows = "C", .number = 1)},
    {LAB_ASKS("1c-ii", "variances", "Var s_a and Var s_b at your q, alpha not dropped"),
     .hint = "q^T Sigma q with Sigma_a = alpha I + mu_a mu_a^T/2, Sigma_b = alpha I.",
     .points = 2, .texts = 2, .solution = {"C^2 (1/2 + 2 alpha)", "2 alpha C^2"},
     LAB_JUDGED(.letters = &lab_letters_noise, .claims = LAB_CLAIMS_NUMBERS,
                .compute = compute_variances, .vary = LAB_VARY_ALPHA,
                .free = LAB_FREE_ALPHA, .grows = "C")},
    {LAB_ASKS("1c-ii", "closer", "probability that c is closer to v_a than to v_b"),
     .hint = "c is closer to v_a when gamma C > C.", .points = 1, .texts = 1,
     .solution = {"1/2"},
     LAB_JUDGED(.letters = &lab_letters_noise, .claims = LAB_CLAIMS_NUMBERS,
                .compute = compute_closer, .grows = "C", .number = 1)},
    {LAB_ASKS("1c-ii", "ends", "c at gamma = 1/2 and at gamma = 3/2, C large"),
     .hint = "Which of the two scores leads, and by how much?", .points = 1, .texts = 2,
     .approximate = 1, .solution = {"v_b", "v_a"},
     LAB_JUDGED(.letters = &lab_letters_noise, .claims = LAB_CLAIMS_OUTPUTS,
                .compute = compute_ends, .free = LAB_FREE_SCALE, .far = 1e9,
                .grows = "C")},
    {LAB_ASKS("1c-ii", "spread", "variance of c over samples, compared with part i"),
     .hint = "In part i the two scores are equal in every draw.", .points = 2, .texts = 1,
     .choices = "larger|smaller|unchanged", .solution = {"larger"},
     LAB_JUDGED(.letters = &lab_letters_noise, .compute = compare_spread, .grows = "C",
                .measures = "variance of c", .against = "in part i")},
    {LAB_ASKS("1c-ii", "limit", "variance of the weight of k_a as C grows"),
     .hint = "The weight is then 0 or 1, each with which probability?", .points = 1,
     .texts = 1, .approximate = 1, .solution = {"1/4"},
     LAB_JUDGED(.letters = &lab_letters_noise, .compute = lab_compare_one_limit,
                .number = 1)},
};

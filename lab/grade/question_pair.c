/* SPDX-License-Identifier: MIT */
/* Questions 1b-ii and 1c-i: the average of two values, without and with small noise. */
#include <math.h>

#include "lab/grade/probing.h"

/* Weights at the query of `own`; 1: it makes no sense. */
static int own_weights(const struct lab_asked *own, const struct lab_point *point,
                       struct lab_pair_weights *p, struct lab_finding *found)
{
    struct lab_pair_query query;
    if (lab_asked_query(own, 0, point, &query, found))
        return 1;
    return lab_exercise_pair(point->exercise, point->n, 1, query, p);
}

static int compare_average(const struct lab_asked *own, const struct lab_point *point,
                           struct lab_finding *found)
{
    struct lab_pair_weights p;
    const int status = own_weights(own, point, &p, found);
    if (!status)
        *found = lab_found_weight(p.a, 0.5, lab_pair_distance(&p, 0.5, 0.5));
    return status;
}

static int compare_query(struct lab_probe *probe)
{
    return compare_average(probe->asked, probe->point, &probe->found);
}

static int compute_weight(struct lab_probe *probe)
{
    struct lab_pair_weights p;
    const int status = own_weights(probe->asked->own, probe->point, &p, &probe->found);
    if (!status)
        probe->to.number[0] = p.a;
    return status;
}

/* The weight outside of a and b at the scale that is claimed to make it eps. */
static int compare_scale(struct lab_probe *probe)
{
    struct lab_point there = *probe->point;
    struct lab_pair_weights p;
    if (lab_probe_number(probe, 0, &there.scale))
        return 1;
    const int status = own_weights(probe->asked->own, &there, &p, &probe->found);
    if (!status)
        lab_found_number(&probe->found, p.others, probe->point->eps);
    return status;
}

int lab_score_keys(const struct lab_point *point, double gamma, const double *q,
                   double *scores)
{
    const double keys[9] = {gamma, 0, 0, 0, 1, 0, 0, 0, 1};
    double queries[9];
    for (int i = 0; i < 9; i++)
        queries[i] = q[i % 3];
    return lab_exercise_scores(point->exercise, 3, 3, queries, keys, point->exercise->tau,
                               scores);
}

/* Of k_a, k_b and another key; noise adds its standard deviation to what a claim is off.
 */
static int compute_scores(struct lab_probe *probe)
{
    struct lab_pair_query query;
    if (lab_own_query(probe, &query))
        return 1;
    const double q[] = {query.a, query.b, query.rest};
    probe->to.spread = sqrt(lab_isotropic_variance(probe->point, query));
    return lab_score_keys(probe->point, 1, q, probe->to.number);
}

/* ---- small noise ------------------------------------------------------------------ */

double lab_isotropic_variance(const struct lab_point *point, struct lab_pair_query query)
{
    struct lab_exercise plain = *point->exercise;
    plain.sigma2 = plain.sigma2_b = 0;
    return lab_exercise_score_covariance(&plain, point->alpha, 0, query, query);
}

int lab_noisy_distance(const struct lab_asked *own, const struct lab_point *point,
                       struct lab_finding *found)
{
    struct lab_pair_query query;
    struct lab_drawn drawn;
    if (!(point->alpha > 0))
        return compare_average(own, point, found);
    if (lab_asked_query(own, 0, point, &query, found))
        return 1;
    if (lab_exercise_draw(point, 0, 1, &query, &drawn))
        return -1;
    *found = lab_found_weight(drawn.weight_mean, 0.5, drawn.to_average);
    return 0;
}

static int compare_noisy(struct lab_probe *probe)
{
    return lab_noisy_distance(probe->asked, probe->point, &probe->found);
}

static int compare_output(struct lab_probe *probe)
{
    struct lab_pair_weights p;
    double x, y;
    if (lab_probe_output(probe, 0, &x, &y))
        return 1;
    const int is_average = lab_same_number(x, 0.5) && lab_same_number(y, 0.5);
    const struct lab_asked *const own = probe->asked->own;
    struct lab_finding *const found = &probe->found;
    const int status = is_average ? lab_noisy_distance(own, probe->point, found)
                                  : own_weights(own, probe->point, &p, found);
    if (!status)
        lab_found_distance(found,
                           is_average ? found->error : lab_pair_distance(&p, x, y));
    return status;
}

/* Var(s_a - s_b); keys are independent. */
static int compute_difference(struct lab_probe *probe)
{
    struct lab_pair_query query;
    if (lab_own_query(probe, &query))
        return 1;
    probe->to.number[0] = 2 * lab_isotropic_variance(probe->point, query);
    return 0;
}

const struct lab_part lab_parts_pair[LAB_PARTS_PAIR] = {
    {LAB_ASKS(
         "1b-ii", "q",
         "query whose output is near (v_a + v_b)/2; k_o is the sum of the other keys"),
     .hint = "Both keys need the same score, far above the others': how does C enter?",
     .points = 4, .texts = 1, .approximate = 1, .solution = {"C (k_a + k_b)"},
     LAB_JUDGED(.letters = &lab_letters_pair, .compute = compare_query,
                .free = LAB_FREE_SCALE, .far = 1e9, .grows = "C",
                .measures = "weight of v_a", .against = "wanted", .query = 1)},
    {LAB_ASKS("1b-ii", "scores", "scores of k_a, k_b and any other key at your q"),
     .hint = "The keys are orthonormal.", .points = 1, .texts = 3,
     .solution = {"C", "C", "0"},
     LAB_JUDGED(.letters = &lab_letters_pair, .claims = LAB_CLAIMS_NUMBERS,
                .compute = compute_scores, .grows = "C")},
    {LAB_ASKS("1b-ii", "weight", "weight of k_a at your q"),
     .hint = "Two keys have score C, and n - 2 keys have score 0.", .points = 2,
     .texts = 1, .solution = {"exp(C)/(2 exp(C) + n - 2)"},
     LAB_JUDGED(.letters = &lab_letters_pair, .claims = LAB_CLAIMS_NUMBERS,
                .compute = compute_weight, .free = LAB_FREE_SCALE, .far = 250,
                .grows = "C", .number = 1)},
    {LAB_ASKS("1b-ii", "limit", "its limit as C grows"),
     .hint = "Divide numerator and denominator by exp(C).", .points = 1, .texts = 1,
     .approximate = 1, .solution = {"1/2"},
     LAB_JUDGED(.letters = &lab_letters_pair, .claims = LAB_CLAIMS_NUMBERS,
                .compute = compute_weight, .free = LAB_FREE_SCALE, .far = 250,
                .grows = "C", .number = 1)},
    {LAB_ASKS("1b-ii", "scale",
              "the C at which your q leaves weight eps to the other keys"),
     .hint = "The leak is (n - 2)/(2 exp(C) + n - 2). Solve for C.", .points = 2,
     .texts = 1, .solution = {"ln((n-2)*(1-eps)/(2*eps))"},
     LAB_JUDGED(.letters = &lab_letters_pair, .compute = compare_scale,
                .vary = LAB_VARY_EPS, .free = LAB_FREE_EPS, .measures = "leak",
                .against = "wanted", .pairless = 1)},
    {LAB_ASKS("1c-i", "q", "query for keys N(mu_i, alpha I), alpha vanishing"),
     .hint = "A query knows the means, not the draws.", .points = 3, .texts = 1,
     .approximate = 1, .solution = {"C (mu_a + mu_b)"},
     LAB_JUDGED(.letters = &lab_letters_noise, .compute = compare_noisy,
                .vary = LAB_VARY_ALPHA, .free = LAB_FREE_SCALE | LAB_FREE_ALPHA,
                .far = 1e9, .grows = "C", .measures = "mean weight of v_a",
                .against = "wanted", .query = 1)},
    {LAB_ASKS("1c-i", "scores", "scores of k_a, k_b and any other key at your q"),
     .hint = "k_i is near mu_i; a score is a number.", .points = 1, .texts = 3,
     .approximate = 1, .solution = {"C", "C", "0"},
     LAB_JUDGED(.letters = &lab_letters_noise, .claims = LAB_CLAIMS_NUMBERS,
                .compute = compute_scores, .vary = LAB_VARY_ALPHA, .free = LAB_FREE_ALPHA,
                .grows = "C")},
    {LAB_ASKS("1c-i", "output", "the output c then"),
     .hint = "The output is a mean of values, not of keys.", .points = 1, .texts = 1,
     .approximate = 1, .solution = {"(v_a + v_b)/2"},
     LAB_JUDGED(.letters = &lab_letters_noise, .compute = compare_output,
                .vary = LAB_VARY_ALPHA, .free = LAB_FREE_SCALE | LAB_FREE_ALPHA,
                .far = 1e9, .grows = "C")},
    {LAB_ASKS("1c-i", "variance", "Var(s_a - s_b) at your q"),
     .hint = "Var(k^T q) = q^T Sigma q, |q|^2 = 2 C^2, and the two keys are independent.",
     .points = 2, .texts = 1, .solution = {"4 alpha C^2"},
     LAB_JUDGED(.letters = &lab_letters_noise, .claims = LAB_CLAIMS_NUMBERS,
                .compute = compute_difference, .vary = LAB_VARY_ALPHA,
                .free = LAB_FREE_ALPHA, .grows = "C", .number = 1)},
    {LAB_ASKS("1c-i", "vanishes",
              "what must vanish, in alpha and C, for c to stay the average"),
     .hint = "Fix a small alpha and let C grow: what do the two scores do?", .points = 2,
     .texts = 1, .solution = {"alpha C^2"},
     LAB_JUDGED(.letters = &lab_letters_noise, .compute = lab_compute_vanishes,
                .vary = LAB_VARY_ALPHA, .grows = "C")},
};

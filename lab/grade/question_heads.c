/* SPDX-License-Identifier: MIT */
/* Questions 1d and 1e: two heads, and what becomes of the noise. */
#include <math.h>
#include <stdio.h>

#include "lab/grade/probing.h"

/* 1: a query makes no sense. */
static int query_two(struct lab_probe *probe, const struct lab_asked *own,
                     struct lab_pair_query *query)
{
    return lab_asked_query(own, 0, probe->point, &query[0], &probe->found) ||
           lab_asked_query(own, 1, probe->point, &query[1], &probe->found);
}

/* Of c, the mean of two heads, with k_a = gamma mu_a. */
static int mean_weights(const struct lab_probe *probe, double gamma,
                        const struct lab_pair_query *query, struct lab_pair_weights *mean)
{
    const double unwanted = (double)probe->point->n - 2;
    struct lab_pair_weights p[2];
    for (int h = 0; h < 2; h++)
        if (lab_probe_pair(probe, gamma, query[h], &p[h]))
            return -1;
    const double others = (p[0].others + p[1].others) / 2;
    *mean =
        (struct lab_pair_weights){(p[0].a + p[1].a) / 2, (p[0].b + p[1].b) / 2, others,
                                  unwanted > 0 ? others * others / unwanted : 0};
    return 0;
}

static int compare_queries(struct lab_probe *probe)
{
    struct lab_pair_query query[2];
    struct lab_pair_weights mean;
    if (query_two(probe, probe->asked, query))
        return 1;
    if (lab_same_number(query[0].a, query[1].a) &&
        lab_same_number(query[0].b, query[1].b)) {
        snprintf(probe->found.why, sizeof probe->found.why,
                 "the queries are equal: two equal heads are one");
        return 1;
    }
    if (mean_weights(probe, 1, query, &mean))
        return -1;
    probe->found = lab_found_weight(mean.a, 0.5, lab_pair_distance(&mean, 0.5, 0.5));
    return 0;
}

/* c_1, c_2 without noise. */
static int compute_outputs(struct lab_probe *probe)
{
    struct lab_pair_query query[2];
    if (query_two(probe, probe->asked->own, query))
        return 1;
    for (int h = 0; h < 2; h++)
        if (lab_probe_pair(probe, 1, query[h], &probe->to.weights[h]))
            return -1;
    return 0;
}

/* 1: a query makes no sense. */
static int draw_two(struct lab_probe *probe, struct lab_drawn *drawn)
{
    struct lab_pair_query query[2];
    if (query_two(probe, probe->asked->own, query))
        return 1;
    return lab_exercise_draw(probe->point, 1, 2, query, drawn);
}

/* Choices, for each head: varies, constant. */
static int compare_vary(struct lab_probe *probe)
{
    struct lab_drawn drawn;
    const int status = draw_two(probe, &drawn);
    if (status)
        return status;
    probe->found.error = -1;
    for (int h = 0; h < 2; h++) {
        const int is_constant = drawn.spread.head[h] < 1e-18;
        const struct lab_finding here = {.computed = drawn.spread.head[h],
                                         .claimed = NAN,
                                         .error = is_constant != probe->asked->choice[h]};
        lab_found_worse(&probe->found, &here);
    }
    return 0;
}

/* Choices: negative, zero, positive; to four standard errors. */
static int compare_correlation(struct lab_probe *probe)
{
    struct lab_drawn drawn;
    const int status = draw_two(probe, &drawn);
    if (status)
        return status;
    const double product = drawn.spread.head[0] * drawn.spread.head[1];
    const double r = product > 1e-36 ? drawn.spread.cross / sqrt(product) : 0;
    const double least = 4 / sqrt((double)drawn.count);
    const int is = r < -least ? 0 : r > least ? 2 : 1;
    probe->found = lab_found_choice(probe, is, r, probe->asked->choice[0] - 1);
    return 0;
}

/* Choices: smaller, larger, equal; the variance of c beside that of one head. */
static int compare_variance(struct lab_probe *probe)
{
    const struct lab_pair_query query = {probe->point->scale, probe->point->scale, 0};
    struct lab_drawn one, two;
    const int status = draw_two(probe, &two);
    if (status || lab_exercise_draw(probe->point, 1, 1, &query, &one))
        return status > 0 ? 1 : -1;
    const double ratio = two.spread.mean / one.spread.head[0];
    probe->found =
        lab_found_choice(probe, lab_same_number(ratio, 1) ? 2 : ratio > 1, ratio, 1);
    return 0;
}

/* c in a draw beside what is claimed of it. */
static int compare_output(struct lab_probe *probe)
{
    struct lab_pair_query query[2];
    struct lab_pair_weights mean;
    double x, y;
    if (lab_probe_output(probe, 0, &x, &y) || query_two(probe, probe->asked->own, query))
        return 1;
    if (mean_weights(probe, probe->point->gamma, query, &mean))
        return -1;
    lab_found_distance(&probe->found, lab_pair_distance(&mean, x, y));
    return 0;
}

/* ---- probabilities, by the gamma at which a weight is one half -----------------------
 */

/* P(p_a < 1/2) for a weight that grows with gamma. */
static int probability_below_half(const struct lab_probe *probe,
                                  struct lab_pair_query query, double *probability)
{
    double low = -60, high = 60;
    for (int step = 0; step < 80; step++) {
        const double gamma = (low + high) / 2;
        struct lab_pair_weights p;
        if (lab_probe_pair(probe, gamma, query, &p))
            return -1;
        *(p.a < 0.5 ? &low : &high) = gamma;
    }
    const double z = ((low + high) / 2 - 1) / sqrt(probe->point->exercise->sigma2);
    *probability = 0.5 * erfc(-z / sqrt(2));
    return 0;
}

static int compute_lose(struct lab_probe *probe)
{
    return probability_below_half(
        probe, (struct lab_pair_query){.a = probe->point->scale}, &probe->to.number[0]);
}

/* So large that the weight of v_a is 0 or 1 in every draw. */
#define SATURATED 1e12

/* The variance of the coefficient of v_a in the mean of `heads` heads, C saturated. */
static int compare_saturated(struct lab_probe *probe, int heads)
{
    const struct lab_pair_query query = {SATURATED, heads == 1 ? SATURATED : 0, 0};
    struct lab_point far = *probe->point;
    double p, claimed;
    far.scale = SATURATED;
    if (probability_below_half(probe, query, &p))
        return -1;
    if (lab_asked_number(probe->asked, 0, &far, &claimed, &probe->found))
        return 1;
    lab_found_number(&probe->found, p * (1 - p) / (heads * heads), claimed);
    if (probe->found.error < 1e-6) /* ln n / C */
        probe->found.error = 0;
    return 0;
}

int lab_compare_one_limit(struct lab_probe *probe) { return compare_saturated(probe, 1); }

static int compare_two_limit(struct lab_probe *probe)
{
    return compare_saturated(probe, 2);
}

/* Choices: one, two, same: which is closer to the average, in mean square. */
static int compare_better(struct lab_probe *probe)
{
    const double C = probe->point->scale;
    const struct lab_pair_query one[] = {{C, C, 0}}, two[] = {{C, 0, 0}, {0, C, 0}};
    struct lab_drawn by_one, by_two;
    if (lab_exercise_draw(probe->point, 1, 1, one, &by_one) ||
        lab_exercise_draw(probe->point, 1, 2, two, &by_two))
        return -1;
    const double x = by_one.to_average, y = by_two.to_average;
    probe->found = lab_found_choice(probe, lab_same_number(x, y) ? 2 : y < x, y, x);
    return 0;
}

const struct lab_part lab_parts_heads[LAB_PARTS_HEADS] = {
    {LAB_ASKS("1d-i", "queries",
              "two different queries whose mean output is near the average"),
     .hint = "Let each head copy one of the two values.", .points = 4, .texts = 2,
     .approximate = 1, .solution = {"C mu_a", "C mu_b"},
     LAB_JUDGED(.letters = &lab_letters_noise, .compute = compare_queries,
                .free = LAB_FREE_SCALE, .far = 1e9, .grows = "C",
                .measures = "coefficient of v_a", .against = "wanted", .query = 1)},
    {LAB_ASKS("1d-i", "outputs", "the outputs c_1 and c_2 at your queries, no noise"),
     .hint = "Which key leads in each head?", .points = 1, .texts = 2, .approximate = 1,
     .solution = {"v_a", "v_b"},
     LAB_JUDGED(.letters = &lab_letters_noise, .claims = LAB_CLAIMS_OUTPUTS,
                .compute = compute_outputs, .free = LAB_FREE_SCALE, .far = 1e9,
                .grows = "C")},
    {LAB_ASKS("1d-ii", "heads", "which head's output varies with the length of k_a"),
     .hint = "Does q_2^T k_a depend on gamma?", .points = 2, .texts = 2,
     .choices = "varies|constant", .solution = {"varies", "constant"},
     LAB_JUDGED(.letters = &lab_letters_noise, .compute = compare_vary, .grows = "C",
                .measures = "variance of the head")},
    {LAB_ASKS("1d-ii", "correlation",
              "sign of the correlation of c_1 and c_2 at your queries"),
     .hint = "Both heads see the same k_a. Look at q_1^T Sigma_a q_2.", .points = 1,
     .texts = 1, .choices = "negative|zero|positive", .solution = {"zero"},
     LAB_JUDGED(.letters = &lab_letters_noise, .compute = compare_correlation,
                .grows = "C", .measures = "correlation", .against = "claimed")},
    {LAB_ASKS("1d-ii", "compared",
              "variance of c, compared with one head C (mu_a + mu_b)"),
     .hint = "c is the mean of a varying and a constant output.", .points = 2, .texts = 1,
     .approximate = 1, .choices = "smaller|larger|equal", .solution = {"smaller"},
     LAB_JUDGED(.letters = &lab_letters_noise, .compute = compare_variance,
                .free = LAB_FREE_SCALE, .far = 1e9, .grows = "C",
                .measures = "variance over that of one head", .against = "against")},
    {LAB_ASKS("1d-ii", "output", "c over samples, those with gamma < 0 ignored"),
     .hint = "Each head still copies its value once C gamma is large.", .points = 1,
     .texts = 1, .approximate = 1, .solution = {"(v_a + v_b)/2"},
     LAB_JUDGED(.letters = &lab_letters_noise, .compute = compare_output,
                .vary = LAB_VARY_GAMMA, .free = LAB_FREE_SCALE | LAB_FREE_EVENT,
                .far = 1e9, .grows = "C")},
    {LAB_ASKS("1d-ii", "lose",
              "probability that head 1, C mu_a, gives v_a less than half"),
     .hint = "C gamma must exceed ln(n - 1), and gamma ~ N(1, sigma^2).", .points = 2,
     .texts = 1, .solution = {"Phi((ln(n-1)/C - 1)/sigma)"},
     LAB_JUDGED(.letters = &lab_letters_noise, .claims = LAB_CLAIMS_NUMBERS,
                .compute = compute_lose, .free = LAB_FREE_SCALE, .far = 1e9, .grows = "C",
                .number = 1)},
    {LAB_ASKS("1d-ii", "limit", "variance of the coefficient of v_a in c as C grows"),
     .hint = "Head 1 is a coin with P(gamma > 0), and c has half of it.", .points = 1,
     .texts = 1, .approximate = 1, .solution = {"Phi(1/sigma)*Phi(-1/sigma)/4"},
     LAB_JUDGED(.letters = &lab_letters_noise, .compute = compare_two_limit,
                .number = 1)},
    {LAB_ASKS("1e", "better", "which is closer to the average in mean square, C large"),
     .hint = "One head tosses one coin between the values.", .points = 2, .texts = 1,
     .approximate = 1, .choices = "one|two|same", .solution = {"two"},
     LAB_JUDGED(.letters = &lab_letters_noise, .compute = compare_better,
                .free = LAB_FREE_SCALE, .far = 1e9, .grows = "C",
                .measures = "distance from the average by two heads",
                .against = "by one")},
};

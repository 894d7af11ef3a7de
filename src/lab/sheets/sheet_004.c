/* SPDX-License-Identifier: MIT */
/* Sheet 004: copy, extraction, average, one noisy head, two unscaled heads. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "lab/sheets/claims.h"

enum { D = LAB_EXERCISE_D, M = 3 };

/* ---- definitions and copy ---------------------------------------------------- */

/* c = sum alpha_i v_i as well, on a sequence of tokens. */
static int read_definitions(const struct lab_point *point, struct lab_found *reading)
{
    struct lab_sequence sequence;
    lab_square weights, out, values, sum;
    if (lab_claim_definition(point, reading))
        return -1;
    lab_exercise_sequence(point->exercise, &sequence);
    if (lab_exercise_self(point->exercise, &sequence, sequence.x, NULL, weights, out))
        return -1;
    lab_square_multiply(sequence.x, sequence.wv, values);
    lab_square_multiply(weights, values, sum);
    reading->error = fmax(reading->error, lab_square_distance(sum, out));
    return 0;
}

/* Either way of line 16: a gap, or every other score -inf. */
static int read_gap_or_masked(const struct lab_point *point, struct lab_found *reading)
{
    const size_t n = (size_t)point->n;
    double *const scores = malloc(2 * n * sizeof *scores);
    if (!scores)
        return -1;
    for (size_t i = 0; i < n; i++)
        scores[i] = i ? -INFINITY : 0;
    int status =
        lab_exercise_softmax_scores(point->exercise, point->n, scores, scores + n);
    const double masked = fabs(scores[n] - 1);
    if (!status)
        status = lab_claim_copy(point, reading);
    reading->error = fmax(reading->error, masked);
    free(scores);
    return status;
}

static int read_other_weights(const struct lab_point *point, struct lab_found *reading)
{
    struct lab_pair_weights p;
    if (lab_exercise_pair(point->exercise, point->n,
                          (struct lab_pair_query){point->scale, 0}, &p))
        return -1;
    lab_reading_equal(reading, p.b + p.others, 0);
    return 0;
}

/* ---- extraction ---------------------------------------------------------------- */

/* A^T s = c, and A A^T s = v_a. */
static int read_hence(const struct lab_point *point, struct lab_found *reading)
{
    struct lab_basis basis;
    double y[D];
    if (lab_claim_projector(point, reading))
        return -1;
    lab_exercise_basis(point->exercise, M, &basis);
    lab_basis_coordinates(&basis, basis.s, y);
    reading->error = fmax(reading->error, lab_distance(y, basis.c, M));
    return 0;
}

/* Line 24 where the shapes agree, m = d: A c = v_a. */
static int read_square(const struct lab_point *point, struct lab_found *reading)
{
    struct lab_basis basis;
    double x[D];
    lab_exercise_basis(point->exercise, D, &basis);
    lab_basis_combine(&basis, basis.c, x);
    lab_reading_equal(reading, lab_distance(x, basis.va, D), 0);
    return 0;
}

/* ---- average --------------------------------------------------------------------- */

/* (alpha - 2) in the denominator, alpha the weight of line 11. */
static int read_alpha_count(const struct lab_point *point, struct lab_found *reading)
{
    const double beta = point->scale;
    struct lab_pair_weights p;
    if (lab_exercise_pair(point->exercise, point->n, (struct lab_pair_query){beta, beta},
                          &p))
        return -1;
    lab_reading_equal(reading, p.a, 1 / ((p.a - 2) * exp(-beta) + 2));
    return 0;
}

/* Largest entry of Sigma_i^T Sigma_i with the covariance of k_a. */
static int read_covariance_square(const struct lab_point *point,
                                  struct lab_found *reading)
{
    const double along = point->alpha + point->exercise->sigma2;
    lab_reading_equal(reading, along * along, 0);
    return 0;
}

/* Largest entry of Sigma_i^T Sigma_j for the keys of lines 36 and 38: alpha I each. */
static int read_covariance_product(const struct lab_point *point,
                                   struct lab_found *reading)
{
    lab_reading_equal(reading, point->alpha * point->alpha, 0);
    return 0;
}

/* Variance of m_a + alpha x against that of a key of covariance alpha I; and of m_a. */
static int read_alpha_x(const struct lab_point *point, struct lab_found *reading)
{
    const struct lab_pair_query across = {0, 1};
    const double variance =
        lab_exercise_score_covariance(point->exercise, point->alpha, 0, across, across);
    lab_reading_equal(reading, variance, point->alpha * point->alpha);
    reading->error = fmax(reading->error, variance);
    return 0;
}

static int read_scores(const struct lab_point *point, struct lab_found *reading)
{
    return lab_claim_pair_scores(point, reading);
}

/*
 * Line 48: unit means, hence equal scores, hence 1/2.  Case 0: orthonormal means; case
 * 1: a third unit mean between the two; case 2: all means equal.
 */
static int argue_unit_means(const struct lab_exercise *exercise, int x,
                            struct lab_case *found)
{
    static const double third[][3] = {
        {0, 0, 1}, {0.70710678118654752, 0.70710678118654752, 0}, {1, 0, 0}};
    static const char *const names[] = {"orthonormal means",
                                        "a third unit mean (m_a+m_b)/sqrt 2",
                                        "three equal unit means"};
    const double beta = 50, *const m = third[x < 3 ? x : 0];
    double p[3];
    if (x >= 3)
        return 1;
    const double keys[9] = {1, 0, 0, x == 2 ? 1 : 0, x == 2 ? 0 : 1, 0, m[0], m[1], m[2]};
    const double query[3] = {beta * (keys[0] + keys[3]), beta * (keys[1] + keys[4]), 0};
    if (lab_exercise_softmax(exercise, 3, 3, keys, query, p))
        return -1;
    found->premise = fabs(sqrt(m[0] * m[0] + m[1] * m[1] + m[2] * m[2]) - 1);
    found->conclusion = fabs(p[0] - 0.5);
    snprintf(found->text, sizeof found->text, "%s, beta = %g, n = 3", names[x], beta);
    return 0;
}

/* ---- one head and noise --------------------------------------------------------------
 */

static int read_scores_differ(const struct lab_point *point, struct lab_found *reading)
{
    const struct lab_pair_query query = {point->scale, point->scale};
    const double a =
        lab_exercise_score_covariance(point->exercise, point->alpha, 0, query, query);
    const double b =
        lab_exercise_score_covariance(point->exercise, point->alpha, 1, query, query);
    lab_reading_above(reading, a + b, 0);
    return 0;
}

/* Scores beta and -beta of the two wanted keys, no others. */
static int read_opposed(const struct lab_point *point, struct lab_found *reading)
{
    const double beta = point->scale;
    struct lab_pair_weights p;
    if (lab_exercise_pair(point->exercise, 2, (struct lab_pair_query){beta, -beta}, &p))
        return -1;
    lab_reading_equal(reading, p.a, 1 / (1 + exp(beta)));
    reading->error = fmax(reading->error, fabs(p.b - 1 / (1 + exp(-beta))));
    return 0;
}

/* The same for beta from .1 to 2: near 1.0 or near .1. */
static int read_extremes(const struct lab_point *point, struct lab_found *reading)
{
    double worst = -1;
    for (double beta = 0.1; beta < 2.05; beta += 0.1) {
        struct lab_pair_weights p;
        if (lab_exercise_pair(point->exercise, 2, (struct lab_pair_query){beta, -beta},
                              &p))
            return -1;
        const double nearer = fabs(p.a - 1) < fabs(p.a - 0.1) ? 1 : 0.1;
        if (fabs(p.a - nearer) > worst) {
            worst = fabs(p.a - nearer);
            lab_reading_equal(reading, p.a, nearer);
        }
    }
    return 0;
}

/* ---- two unscaled heads
 * ------------------------------------------------------------------ */

static int draw_unscaled(const struct lab_point *point, struct lab_drawn *drawn)
{
    const struct lab_pair_query query[2] = {{point->exercise->unit, 0},
                                            {0, point->exercise->unit}};
    return lab_exercise_draw(point, 1, 2, query, drawn);
}

static int read_without_exponential(const struct lab_point *point,
                                    struct lab_found *reading)
{
    struct lab_drawn drawn;
    if (draw_unscaled(point, &drawn))
        return -1;
    lab_reading_equal(reading, drawn.weight_mean, 1);
    return 0;
}

static int read_average_kept(const struct lab_point *point, struct lab_found *reading)
{
    struct lab_drawn drawn;
    if (draw_unscaled(point, &drawn))
        return -1;
    lab_reading_equal(reading, drawn.to_average, 0);
    return 0;
}

static const struct lab_statement statements[] = {
    {LAB_SAYS("004-1", 7, "definitions of c, alpha"), .quoted = 9,
     .quote = "c = \\sum_{i=1}^n \\alpha_i v_i",
     .exact = "alpha = softmax of the scores, c = sum alpha_i v_i.",
     .printed = {LAB_READS(read_definitions, 0, "beta")}},
    {LAB_SAYS("004-2", 15, "distribution"), .quoted = 15,
     .quote = "$0 \\leq \\alpha_i \\leq 1$ $\\sum \\alpha_i = 1$",
     .exact = "Weights are positive and add up to 1, for any finite scores.",
     .printed = {LAB_READS(lab_claim_distribution, 0, "beta")}},
    {LAB_SAYS("004-3", 16, "k_i.q << k_j.q, or k_i.q = -inf"), .quoted = 16,
     .quote = "$k_i^T q \\ll k_j^T q$ or $k_i^T q = -\\infty$",
     .exact = "A gap of ln((n-1)(1-eps)/eps) gives p_j >= 1-eps; with -inf, which no "
              "finite query gives, p_j = 1.",
     .printed = {LAB_READS(read_gap_or_masked, LAB_FREE_SCALE, "the gap")}},
    {LAB_SAYS("004-4", 17, "then c = v_j"), .quoted = 17,
     .quote = "under the condition ii, $c = v_j$",
     .exact = "c = v_j when the other scores are -inf; else |c - v_j| <= (1-p_j) "
              "max|v_i - v_j|, never 0.",
     .printed = {LAB_READS(read_gap_or_masked, LAB_FREE_SCALE, "the gap")}},
    {LAB_SAYS("004-5", 18, "other weights are 0; large similarity gives a copy"),
     .quoted = 18, .quote = "The attention weight for the index $i \\neq j$ is 0",
     .exact =
         "They are (n-1)e^-gap/(1+(n-1)e^-gap) together: positive for finite scores.",
     .printed = {LAB_READS(read_other_weights, LAB_FREE_SCALE, "the gap")}},
    {LAB_SAYS("004-6", 24, "V_a=Ac with c in R^d, V_b=Bd with d in R^d"), .quoted = 24,
     .quote = "(A \\in \\mathbb{R}^{d \\times m} \\quad c \\in \\mathbb{R}^d)",
     .exact = "V_a = A c with c in R^m, V_b = B d with d in R^p.",
     .repair = "R^d -> R^m (and R^p), as A in R^{d x m} in the same line",
     .printed = {LAB_READS(read_square, 0, NULL), .left = "A c(R^d)", .right = "v_a"},
     .repaired = {LAB_READS(lab_claim_coordinates, 0, NULL), .left = "A c",
                  .right = "v_a"}},
    {LAB_SAYS("004-7", 28, "M=A^T gives c, hence M=A A^T"), .quoted = 28,
     .quote = "\\text{if } M = A^T \\Rightarrow A^T A_c + A^T B_d = I \\quad c = c",
     .exact = "A^T s = c, so A A^T s = A c = V_a.",
     .printed = {LAB_READS(read_hence, 0, NULL), .left = "A A^T", .right = "M"}},
    {LAB_SAYS("004-8", 34, "q=(k_a+k_b)beta, alpha=e^b/((alpha-2)+2e^b)"), .quoted = 34,
     .quote = "\\alpha_b = \\alpha_a = \\frac{\\exp(\\beta)}{(\\alpha-2) + \\exp(\\beta) "
              "\\cdot 2} \\approx \\frac{1}{2}",
     .exact = "alpha_a = alpha_b = e^b/((n-2)+2e^b), near 1/2 once "
              "beta >= ln((n-2)(1-eps)/(2 eps)).",
     .repair = "alpha -> n, as line 7 counts the keys",
     .printed = {LAB_READS(read_alpha_count, 0, "beta"),
                 .symbol = {"alpha", LAB_MEANS_WEIGHT, 11, LAB_MEANS_KEYS}},
     .repaired = {LAB_READS(lab_claim_pair_half, LAB_FREE_SCALE, "beta"),
                  .symbol = {"n", LAB_MEANS_KEYS, 7, LAB_MEANS_KEYS}}},
    {LAB_SAYS("004-9", 36, "keys N(m_i, Sigma_i), \"Sigma_i^T Sigma_i=0\""), .quoted = 36,
     .quote = "\\Sigma_i^T \\Sigma_i = 0 \\quad (i \\neq j)",
     .exact = "m_i^T m_j = 0 for i != j; of the covariances alpha I only the product "
              "alpha^2 I vanishes, with alpha.",
     .repair = "Sigma_i^T Sigma_j, with the j of the condition i != j in the same line",
     .printed = {LAB_READS(read_covariance_square, LAB_FREE_ALPHA, NULL),
                 .symbol = {"i", LAB_MEANS_KEY, 36, LAB_MEANS_OTHER_KEY}},
     .repaired = {LAB_READS(read_covariance_product, LAB_FREE_ALPHA, NULL),
                  .symbol = {"j", LAB_MEANS_OTHER_KEY, 36, LAB_MEANS_OTHER_KEY}}},
    {LAB_SAYS("004-10", 42, "k_a = m_a + Sigma_a x = m_a + alpha x"), .quoted = 42,
     .quote = "k_a = (m_a + \\Sigma_a \\cdot x) = m_a + \\alpha \\cdot I \\cdot x_a "
              "\\approx m_a",
     .exact =
         "k_a = m_a + sqrt(alpha) x: covariance alpha I, not alpha^2 I. Both tend to "
         "m_a; the scores need alpha beta^2 << 1.",
     .printed = {LAB_READS(read_alpha_x, LAB_FREE_ALPHA, "beta")}},
    {LAB_SAYS("004-11", 46, "k_a.q = beta m_b, k_b.q = beta m_a"), .quoted = 46,
     .quote = "k_a^T q = \\beta \\cdot m_b \\quad k_b^T q = \\beta \\cdot m_a",
     .exact = "k_a.q = beta |m_a|^2 = beta, k_b.q = beta, numbers; k_i.q = 0.",
     .repair = "m -> |m|, as line 48 writes it",
     .printed = {LAB_READS(read_scores, 0, "beta"), .left = "score", .right = "beta m_b"},
     .repaired = {LAB_READS(read_scores, LAB_FREE_ALPHA, "beta"), .left = "score",
                  .right = "beta |m_b|"}},
    {LAB_SAYS("004-12", 48, "norms 1 so alpha_a ~ alpha_b ~ 1/2"), .quoted = 48,
     .quote = "\\|m_i\\| = 1, \\quad k_a^T q \\approx k_b^T q \\Rightarrow \\alpha_a "
              "\\approx \\alpha_b \\approx \\frac{1}{2}",
     .exact =
         "Unit norms do not suffice: the other means must be orthogonal to m_a + m_b "
         "and beta >= ln((n-2)(1-eps)/(2 eps)).",
     .printed = {LAB_READS(lab_claim_pair, LAB_FREE_SCALE | LAB_FREE_ALPHA, "beta"),
                 .argue = argue_unit_means}},
    {LAB_SAYS("004-13", 50, "with high variance k_a.q ~ k_b.q fails"), .quoted = 50,
     .quote = "Under the high variance condition, $k_a^T q \\approx k_b^T q$ doesn't "
              "hold true",
     .exact = "Var(k_a.q - k_b.q) = beta^2 (1/2 + 4 alpha).",
     .printed = {LAB_READS(read_scores_differ, 0, "beta")}},
    {LAB_SAYS("004-14", 52, "c = a v_a + b v_b + small rest, a+b ~ 1"), .quoted = 54,
     .quote = "where $\\alpha_a + \\alpha_b \\approx 1$, ϵ_i is a small number",
     .exact = "The rest weighs (n-2)/(e^beta + e^(gamma beta) + n-2): nothing at n = 2, "
              "little once beta >> ln n.",
     .printed = {LAB_READS(lab_claim_pair_leak, LAB_FREE_SCALE, "beta")}},
    {LAB_SAYS("004-15", 56, "scores beta, -beta: alpha_a=1/(1+e^b), alpha_b=1/(1+e^-b)"),
     .quoted = 58,
     .quote = "\\alpha_a = \\frac{\\exp(\\beta)}{\\exp(\\beta) + \\exp(-\\beta)} = "
              "\\frac{1}{1 + \\exp(\\beta)}",
     .exact =
         "alpha_a = 1/(1+e^{-2 beta}), alpha_b = 1/(1+e^{2 beta}): sign and factor 2.",
     .printed = {LAB_READS(read_opposed, LAB_FREE_SCALE, "beta")}},
    {LAB_SAYS("004-16", 62, "beta in .1..2 gives weights ~1.0 or .1"), .quoted = 62,
     .quote = "if β has a high variance (e.g. $0.1 \\sim 2$), $\\alpha_a, \\alpha_b "
              "\\approx 1.0$ or 0.1",
     .exact = "1/(1+e^{-2 beta}) runs from .55 to .98, and the other from .45 to .02.",
     .printed = {LAB_READS(read_extremes, 0, NULL)}},
    {LAB_SAYS("004-17", 66, "q1=mu_a, q2=mu_b (unscaled): scores 1, c1=V_a, c2=V_b"),
     .quoted = 68, .quote = "c_1 = 1 \\cdot V_a = V_a \\quad c_2 = 1 \\cdot V_b = V_b",
     .exact = "A score of 1 gives the weight e/(e+n-1): .73 at n = 2, .0027 at n = 1000.",
     .printed = {LAB_READS(lab_claim_two_unscaled, 0, NULL)}},
    {LAB_SAYS("004-18", 70, "alpha_a = beta/(beta+0+..+0) = 1"), .quoted = 70,
     .quote = "\\alpha_a = \\frac{\\beta}{\\beta + 0 \\dots + 0} = 1",
     .exact = "alpha_a = e^gamma/(e^gamma+n-1): softmax exponentiates, and exp(0) = 1.",
     .printed = {LAB_READS(read_without_exponential, 0, NULL)}},
    {LAB_SAYS("004-19", 74,
              "c=(V_a+V_b)/2 under magnitude noise (its queries are unscaled)"),
     .quoted = 74, .quote = "c = \\frac{1}{2}(V_a + V_b)",
     .exact =
         "At scale 1 c is near the mean of all values; a scale C >> ln n and gamma > "
         "0 are needed.",
     .printed = {LAB_READS(read_average_kept, 0, NULL)}},
};

const struct lab_sheet lab_sheet_004 = {"004", statements,
                                        sizeof statements / sizeof statements[0]};

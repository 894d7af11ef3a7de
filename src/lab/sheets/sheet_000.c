/* SPDX-License-Identifier: MIT */
/* Sheet 000: copy, average, one noisy head, two heads. */
#include <math.h>
#include <stdio.h>

#include "lab/sheets/claims.h"
#include "lab/measure/random.h"

/* A copy under a gap, and no copy closer than its gap allows. */
static int read_needs_gap(const struct lab_point *point, struct lab_found *reading)
{
    if (lab_claim_copy(point, reading))
        return -1;
    const double least = log(reading->measured / (1 - reading->measured));
    if (reading->measured < 1 && least > point->scale + 1e-9 * (1 + point->scale))
        reading->error = 1;
    return 0;
}

/*
 * Line 25 argues from the covariance of each key.  Case x: noise of k_b = rho times that
 * of k_a, completed by noise of its own, so that both keep the covariance alpha I.
 */
static int argue_uncorrelated(const struct lab_exercise *exercise, int x,
                              struct lab_case *found)
{
    static const double rho[] = {0, 0.5, 1, -1};
    const double alpha = 1e-4;
    (void)exercise;
    if (x >= 4)
        return 1;
    /* Factors: k_a = mu_a + f u, k_b = mu_b + g u + h w, entries u, w standard normal. */
    const double f = sqrt(alpha), g = rho[x] * f, h = sqrt(1 - rho[x] * rho[x]) * f;
    found->premise = fabs(f * f - alpha) + fabs(g * g + h * h - alpha);
    found->conclusion = fabs(f * g) / alpha;
    snprintf(found->text, sizeof found->text,
             "both keys N(mu, %g I), noise of k_b = %g times noise of k_a plus its own",
             alpha, rho[x]);
    return 0;
}

/* Of one coordinate of the noise of two keys, as the exercise samples them. */
static int read_correlation(const struct lab_point *point, struct lab_found *reading)
{
    enum { STREAM = 931, DRAWS = 2048 };
    float normal[2 * DRAWS];
    double both = 0;
    lab_random_normals(point->exercise->seed, STREAM, 0, normal, 2 * DRAWS);
    for (int x = 0; x < DRAWS; x++)
        both += (double)normal[2 * x] * (double)normal[2 * x + 1] / DRAWS;
    lab_reading_equal(reading, both, 0);
    reading->se = 1 / sqrt(DRAWS);
    return 0;
}

/* Line 25 argues that independent keys have perpendicular means. */
static int argue_perpendicular(const struct lab_exercise *exercise, int x,
                               struct lab_case *found)
{
    static const double cosine[] = {0, 0.5, 1};
    (void)exercise;
    if (x >= 3)
        return 1;
    found->premise = 0; /* drawn one after the other: no noise in common */
    found->conclusion = fabs(cosine[x]);
    snprintf(found->text, sizeof found->text,
             "independent keys whose unit means have cosine %g", cosine[x]);
    return 0;
}

static int read_perpendicular(const struct lab_point *point, struct lab_found *reading)
{
    lab_reading_equal(reading, point->exercise->overlap, 0);
    return 0;
}

static int read_direction(const struct lab_point *point, struct lab_found *reading)
{
    lab_reading_equal(reading, point->exercise->overlap, 1);
    return 0;
}

/* The coefficient of v_a, at three lengths of k_a. */
static int read_inverse_exponentials(const struct lab_point *point,
                                     struct lab_found *reading)
{
    static const double gamma[] = {1, 0.5, 1.5};
    const struct lab_pair_query query = {point->scale, point->scale};
    for (int x = 0; x < 3; x++) {
        struct lab_pair_weights p;
        if (lab_exercise_pair_at(point->exercise, point->n, gamma[x], query, &p))
            return -1;
        const double printed = 1 / exp((gamma[x] - 1) * point->scale);
        if (x == 0 || fabs(p.a - printed) > reading->error)
            lab_reading_equal(reading, p.a, printed);
    }
    return 0;
}

static int read_closer(const struct lab_point *point, struct lab_found *reading)
{
    const struct lab_pair_query query = {point->scale, point->scale};
    struct lab_drawn drawn;
    if (lab_exercise_draw(point, 1, 1, &query, &drawn))
        return -1;
    lab_reading_equal(reading, drawn.closer_a, 0.5);
    reading->se = sqrt(0.25 / (double)drawn.count);
    return 0;
}

static int read_longer(const struct lab_point *point, struct lab_found *reading)
{
    const struct lab_pair_query query = {point->scale, point->scale};
    struct lab_drawn drawn;
    if (lab_exercise_draw(point, 1, 1, &query, &drawn))
        return -1;
    lab_reading_equal(reading, drawn.longer_loses, 0);
    return 0;
}

/* k_a.q1 and k_b.q2, both with the law that line 31 gives to epsilon. */
static int read_head_scores(const struct lab_point *point, struct lab_found *reading)
{
    const struct lab_pair_query q1 = {point->scale, 0}, q2 = {0, point->scale};
    const double square = point->scale * point->scale;
    const double a =
        lab_exercise_score_covariance(point->exercise, point->alpha, 0, q1, q1);
    const double b =
        lab_exercise_score_covariance(point->exercise, point->alpha, 1, q2, q2);
    lab_reading_equal(reading, b / square, 0.5);
    reading->error = fmax(reading->error, fabs(a / square - 0.5));
    return 0;
}

static int draw_heads(const struct lab_point *point, struct lab_drawn *drawn)
{
    const struct lab_pair_query query[2] = {{point->scale, 0}, {0, point->scale}};
    return lab_exercise_draw(point, 1, 2, query, drawn);
}

static int read_own_values(const struct lab_point *point, struct lab_found *reading)
{
    struct lab_drawn drawn;
    if (draw_heads(point, &drawn))
        return -1;
    lab_reading_equal(reading, drawn.weight_mean, 1);
    reading->error = fmax(drawn.head_1_to_a, drawn.head_2_to_b);
    return 0;
}

static int read_close(const struct lab_point *point, struct lab_found *reading)
{
    struct lab_drawn drawn;
    if (draw_heads(point, &drawn))
        return -1;
    lab_reading_equal(reading, drawn.to_average, 0);
    return 0;
}

static const struct lab_statement statements[] = {
    {LAB_SAYS("000-1", 11,
              "copy of v_i needs k_i.q significantly greater than every other k_j.q"),
     .quoted = 11,
     .quote = "$k_i^T q$  would have to significantly greater than  $k_j^T q$  for any  "
              "$j \\neq i$",
     .exact = "p_i = 1/(1 + sum exp(-gap_j)): within eps of a copy if every gap is at "
              "least ln((n-1)(1-eps)/eps), and only if it is at least ln((1-eps)/eps).",
     .printed = {LAB_READS(read_needs_gap, LAB_FREE_SCALE, "the gap")}},
    {LAB_SAYS("000-2", 15, "q = C(k_a+k_b), C >> 0 gives the average"), .quoted = 15,
     .quote = "q = C(k_a + k_b)",
     .exact = "The unwanted weight is (n-2)/(2e^C+n-2): at most eps iff "
              "C >= ln((n-2)(1-eps)/(2 eps)); exact at n = 2.",
     .printed = {LAB_READS(lab_claim_pair, LAB_FREE_SCALE, "C")}},
    {LAB_SAYS("000-3", 22, "q = C(mu_a+mu_b) under Sigma = alpha I"), .quoted = 22,
     .quote = "q = C(\\mu_a + \\mu_b)",
     .exact =
         "Average if C >= ln((n-2)(1-eps)/(2 eps)) and alpha C^2 << 1: the scores of "
         "a and b differ by N(0, 4 alpha C^2).",
     .printed = {LAB_READS(lab_claim_pair, LAB_FREE_SCALE | LAB_FREE_ALPHA, "C")}},
    {LAB_SAYS(
         "000-4", 25,
         "Sigma_i = alpha I implies k_a, k_b uncorrelated \"therefore independent\""),
     .quoted = 25,
     .quote = "keys (random variables)  $k_a$  and  $k_b$  are not correlated, therefore "
              "independent",
     .exact = "The covariance of each key says nothing about two keys together; "
              "independence is given by how they are sampled.",
     .printed = {LAB_READS(read_correlation, 0, NULL), .argue = argue_uncorrelated}},
    {LAB_SAYS("000-5", 25, "therefore mu_a, mu_b are best estimators and perpendicular"),
     .quoted = 25,
     .quote = "$\\mu_a$  and  $\\mu_b$  are their best estimators and are also "
              "perpendicular to each other",
     .exact =
         "mu_i is the mean of k_i whatever the noise; perpendicular means are given, "
         "and do not follow from independence.",
     .printed = {LAB_READS(read_perpendicular, 0, NULL), .argue = argue_perpendicular}},
    {LAB_SAYS("000-6", 27, "k_a ~ N(mu_a, alpha I + mu_a mu_a^T/2)"), .quoted = 27,
     .quote = "k_a \\sim \\mathcal{N}(\\mu_a, \\alpha I + \\frac{1}{2}(\\mu_a \\mu_a^T))",
     .exact = "<mu_a, k_a> ~ N(1, 1/2 + alpha), and variance alpha across mu_a.",
     .printed = {LAB_READS(lab_claim_noise_law, 0, NULL)}},
    {LAB_SAYS("000-7", 29,
              "\"let k_b point in the same direction as k_a with different norm\""),
     .quoted = 29,
     .quote = "let  $k_b$  be the key pointing in the same direction as  $k_a$  but with "
              "different norm",
     .exact =
         "k_a lies along mu_a and k_b along mu_b, which are perpendicular: cosine 0. "
         "It is k_a that keeps the direction of mu_a.",
     .printed = {LAB_READS(read_direction, 0, NULL)}},
    {LAB_SAYS("000-8", 31, "scores eps_a C, eps_b C, 0 with eps_a, eps_b ~ N(1,1/2)"),
     .quoted = 31,
     .quote = "\\varepsilon_b C & \\text{for } i = b, \\text{ where } \\varepsilon_b "
              "\\sim \\mathcal{N}(1, \\frac{1}{2})",
     .exact = "Scores gamma C, C, 0 with gamma ~ N(1, 1/2): only k_a has the larger "
              "variance, Sigma_b = alpha I.",
     .printed = {LAB_READS(lab_claim_noise_both, 0, "C")}},
    {LAB_SAYS("000-9", 35, "c = two-term softmax"), .quoted = 35,
     .quote = "c = \\frac{\\exp(\\varepsilon_a C)}{\\exp(\\varepsilon_a C) + "
              "\\exp(\\varepsilon_b C)} v_a + \\frac{\\exp(\\varepsilon_b "
              "C)}{\\exp(\\varepsilon_a C) + \\exp(\\varepsilon_b C)} v_b",
     .exact = "The other n-2 keys add n-2 to the denominator: the two terms are all at "
              "n = 2, and nearly all once C >> ln n.",
     .printed = {LAB_READS(lab_claim_two_term, LAB_FREE_SCALE, "C")}},
    {LAB_SAYS("000-10", 37, "= v_a/exp((ea-eb)C) + v_b/exp((eb-ea)C)"), .quoted = 37,
     .quote = "= \\frac{1}{\\exp((\\varepsilon_a - \\varepsilon_b)C)} v_a + "
              "\\frac{1}{\\exp((\\varepsilon_b - \\varepsilon_a)C)} v_b",
     .exact = "v_a/(1+exp((eb-ea)C)) + v_b/(1+exp((ea-eb)C)): the 1 is missing and the "
              "sign is turned; at ea = eb the printed weights are 1 and 1.",
     .printed = {LAB_READS(read_inverse_exponentials, LAB_FREE_SCALE, "C")}},
    {LAB_SAYS("000-11", 39, "equally likely closer to v_a or v_b"), .quoted = 39,
     .quote = "it is equally likely that c will be closer to  $v_a$  as to  $v_b$",
     .exact = "c is closer to v_a iff gamma > 1, at every n and C: probability 1/2.",
     .printed = {LAB_READS(read_closer, 0, "C")}},
    {LAB_SAYS("000-12", 39, "c closer to the v whose key is longer"), .quoted = 39,
     .quote = "c will be closer to whichever  $v_i$  has bigger  $|k_i|$",
     .exact = "c is closer to v_a iff gamma > 1; |k_a| = |gamma| tells the same unless "
              "gamma < -1, probability Phi(-2/sigma) = 0.0023.",
     .printed = {LAB_READS(read_longer, LAB_FREE_EVENT, "C")}},
    {LAB_SAYS("000-13", 45, "q1=C1 mu_a, q2=C2 mu_b, C >> 0"), .quoted = 45,
     .quote = "q_1 = C_1 \\mu_a",
     .exact = "Each head copies its value with weight e^C/(e^C+n-1): within eps once "
              "C >= ln((n-1)(1-eps)/eps).",
     .printed = {LAB_READS(lab_claim_two_heads, LAB_FREE_SCALE, "C")}},
    {LAB_SAYS("000-14", 51, "k_a.q1=C1 eps_a, k_b.q2=C2 eps_b"), .quoted = 52,
     .quote = "k_b^T q_2 = C_2 \\varepsilon_b",
     .exact = "k_a.q1 = C1 gamma with gamma ~ N(1, 1/2), but k_b.q2 = C2: eps_b of line "
              "31 has variance 1/2, <mu_b, k_b> has none.",
     .printed = {LAB_READS(read_head_scores, 0, "C")}},
    {LAB_SAYS("000-15", 56, "c1 = v_a, c2 = v_b"), .quoted = 56, .quote = "c_1 = v_a",
     .exact = "c2 tends to v_b as C grows; c1 tends to v_a where gamma > 0, and to the "
              "mean of the others where gamma < 0, probability Phi(-1/sigma) = 0.079.",
     .printed = {LAB_READS(read_own_values, LAB_FREE_SCALE | LAB_FREE_EVENT, "C")}},
    {LAB_SAYS("000-16", 60, "c close to the average across samples"), .quoted = 60,
     .quote = "c = \\frac{1}{2}(c_1 + c_2) \\approx \\frac{1}{2}(v_a + v_b)",
     .exact = "True of the draws with gamma > 0 once C gamma >> ln n; over all draws the "
              "mean square distance tends to (1-p)/4 (1+1/(n-1)), p = Phi(1/sigma).",
     .printed = {LAB_READS(read_close, LAB_FREE_SCALE | LAB_FREE_EVENT, "C")}},
};

const struct lab_sheet lab_sheet_000 = {"000", statements,
                                        sizeof statements / sizeof statements[0]};

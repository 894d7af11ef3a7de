/* SPDX-License-Identifier: MIT */
/* Sheet 003: copy, extraction, average, variances of scores, two unscaled heads. */
#include <math.h>
#include <stddef.h>

#include "lab/sheets/claims.h"

/*
 * Line 6 with v_i put to alpha_i: n/(j-1) times the output, where the output is meant.
 * The item copied is j = 2.
 */
static int read_factor(const struct lab_point *point, struct lab_found *reading)
{
    struct lab_pair_weights p;
    if (lab_exercise_pair(point->exercise, point->n,
                          (struct lab_pair_query){0, point->scale}, &p))
        return -1;
    const double factor = (double)point->n / (2 - 1);
    lab_reading_equal(reading, p.b, factor * p.b);
    reading->error = fabs(factor - 1) * lab_pair_distance(&p, 0, 0);
    return 0;
}

/* At scale 1: e/(2e+n-2), and not 1/2. */
static int read_not_half(const struct lab_point *point, struct lab_found *reading)
{
    struct lab_point unscaled = *point;
    unscaled.scale = point->exercise->unit;
    if (lab_claim_pair_formula(&unscaled, reading))
        return -1;
    const double formula = exp(1.0) / (2 * exp(1.0) + (double)(point->n - 2)),
                 off = reading->error;
    lab_reading_equal(reading, reading->measured, formula);
    reading->error = fmax(reading->error, off);
    if (fabs(reading->measured - 0.5) < LAB_TOLERANCE)
        reading->error = 1;
    return 0;
}

static int read_variance(const struct lab_point *point, int key, double claimed,
                         struct lab_found *reading)
{
    const struct lab_pair_query query = {point->scale, point->scale};
    lab_reading_equal(
        reading,
        lab_exercise_score_covariance(point->exercise, point->alpha, key, query, query),
        claimed);
    return 0;
}

static int read_variance_a(const struct lab_point *point, struct lab_found *reading)
{
    return read_variance(point, 0, point->scale * point->scale / 2, reading);
}

static int read_variance_b(const struct lab_point *point, struct lab_found *reading)
{
    return read_variance(point, 1, 0, reading);
}

static int draw_unscaled(const struct lab_point *point, struct lab_drawn *drawn)
{
    const struct lab_pair_query query[2] = {{point->exercise->unit, 0},
                                            {0, point->exercise->unit}};
    return lab_exercise_draw(point, 1, 2, query, drawn);
}

/* High: the weight's standard deviation is at least a tenth of its range. */
#define HIGH_DEVIATION 0.1

static int read_high_variance(const struct lab_point *point, struct lab_found *reading)
{
    struct lab_drawn drawn;
    if (draw_unscaled(point, &drawn))
        return -1;
    lab_reading_above(reading, sqrt(drawn.weight_variance), HIGH_DEVIATION);
    return 0;
}

static int read_second_unaffected(const struct lab_point *point,
                                  struct lab_found *reading)
{
    struct lab_drawn drawn;
    if (draw_unscaled(point, &drawn))
        return -1;
    lab_reading_equal(reading, drawn.trace[1], 0);
    return 0;
}

static const struct lab_statement statements[] = {
    {LAB_SAYS("003-1", 3, "nonnegative, sums to 1"), .quoted = 3,
     .quote = "All the values of  $\\alpha_i$  are non-negative ( $\\alpha_i \\geq 0$ ) "
              "and their summation is 1",
     .exact = "Weights are positive and add up to 1, for any finite scores.",
     .printed = {LAB_READS(lab_claim_distribution, 0, "C")}},
    {LAB_SAYS("003-2", 5,
              "q much more aligned with k_j, resulting in a much larger k_j.q, "
              "concentrates alpha"),
     .quoted = 5,
     .quote =
         "resulting in a much larger  $k_j^T q$ , the distribution of  $\\alpha$  "
         "concentrates almost all of its weight on the single component  $\\alpha_j$",
     .exact =
         "A score larger by ln((n-1)(1-eps)/eps) than every other gives p_j >= 1-eps.",
     .printed = {LAB_READS(lab_claim_copy, LAB_FREE_SCALE, "the gap")}},
    {LAB_SAYS("003-3", 6, "\"c = n/(j-1) sum alpha_i ~ sum alpha_i\""), .quoted = 6,
     .quote =
         "c = \\frac{n}{j-1} \\sum_{i=1}^n \\alpha_i \\simeq \\sum_{i=1}^n \\alpha_i",
     .exact = "c = sum alpha_i v_i ~ v_j. The sum of alpha_i is the number 1, and the "
              "factor n/(j-1) belongs to nothing.",
     .repair = "alpha_i -> alpha_i v_i, as line 51 writes the output",
     .printed = {LAB_READS(read_factor, LAB_FREE_SCALE, "the gap"), .left = "output",
                 .right = "n/(j-1) alpha_i"},
     .repaired = {LAB_READS(read_factor, LAB_FREE_SCALE, "the gap"), .left = "output",
                  .right = "n/(j-1) alpha_i v_i"}},
    {LAB_SAYS("003-4", 7, "lookup/copy intuition"), .quoted = 7,
     .quote = "If the query is highly similar to a specific key, the attention mechanism "
              "acts as a copying, or lookup system",
     .exact = "With orthonormal keys, and |q| large enough for a gap of "
              "ln((n-1)(1-eps)/eps).",
     .printed = {LAB_READS(lab_claim_copy_aligned, LAB_FREE_SCALE, "|q|")}},
    {LAB_SAYS("003-5", 9, "M = A A^T, A^T A=I, A^T B=0, M s=v_a"), .quoted = 9,
     .quote = "$M = A \\cdot A^T$",
     .exact = "For orthonormal columns of A, perpendicular to those of B.",
     .printed = {LAB_READS(lab_claim_projector, 0, NULL), .left = "A A^T v_a",
                 .right = "v_a"}},
    {LAB_SAYS("003-6", 25, "q=k_a+k_b gives e/(2e+n-2) != 1/2"), .quoted = 27,
     .quote =
         "\\alpha_a = \\frac{e^1}{2e^1 + \\sum_{i \\neq a, b} e^0} \\neq \\frac{1}{2}",
     .exact = "e/(2e+n-2) at every n; it is 1/2 at n = 2, where no other key is left.",
     .printed = {LAB_READS(read_not_half, LAB_FREE_N, NULL)}},
    {LAB_SAYS("003-7", 29, "q=c(k_a+k_b), c very large: ~1/2"), .quoted = 31,
     .quote = "\\alpha_a = \\alpha_b = \\frac{e^c}{2e^c + (n-2)e^0} \\simeq \\frac{1}{2}",
     .exact = "e^c/(2e^c+n-2) is 1/2 to within eps/2 iff c >= ln((n-2)(1-eps)/(2 eps)).",
     .printed = {LAB_READS(lab_claim_pair_half, LAB_FREE_SCALE, "c")}},
    {LAB_SAYS("003-8", 34, "q=C(mu_a+mu_b) so \"C ~ (mu_a+mu_b)/2\""), .quoted = 34,
     .quote = "C \\simeq \\frac{1}{2}(\\mu_a + \\mu_b)",
     .exact = "The output is near (v_a+v_b)/2, values, not means, for C > ln n and "
              "alpha C^2 << 1.",
     .repair = "mu -> v, as line 53 writes the output",
     .printed = {LAB_READS(lab_claim_pair, 0, "C"), .left = "output", .right = "mu_i",
                 .symbol = {"mu", LAB_MEANS_MEAN, 33, LAB_MEANS_VALUE}},
     .repaired = {LAB_READS(lab_claim_pair, LAB_FREE_SCALE | LAB_FREE_ALPHA, "C"),
                  .left = "output", .right = "v_i",
                  .symbol = {"v", LAB_MEANS_VALUE, 53, LAB_MEANS_VALUE}}},
    {LAB_SAYS("003-9", 36, "Var S_a = C^2(2alpha+1/2) ~ C^2/2"), .quoted = 41,
     .quote = "= C^2(2\\alpha + \\frac{1}{2}) \\simeq \\frac{C^2}{2}",
     .exact = "The first is exact; the second drops 2 alpha C^2, which is 0.5 at alpha = "
              "1e-4, C = 50.",
     .printed = {LAB_READS(read_variance_a, LAB_FREE_ALPHA, "C")}},
    {LAB_SAYS("003-10", 43, "Var S_b = 2alpha C^2 ~ 0"), .quoted = 43,
     .quote = "= 2\\alpha C^2 \\simeq 0",
     .exact = "2 alpha C^2 is exact; it is near 0 only if alpha C^2 << 1, however small "
              "alpha is.",
     .printed = {LAB_READS(read_variance_b, LAB_FREE_ALPHA, "C")}},
    {LAB_SAYS("003-11", 45, "c is not a stable mean; single head not robust"),
     .quoted = 45, .quote = "isn't a stable mean",
     .exact = "With this query the output varies at every n and C, up to 1/4 per "
              "coefficient. (The query -B sum of the other means would not feel gamma.)",
     .printed = {LAB_READS(lab_claim_one_head_spread, 0, "C")}},
    {LAB_SAYS("003-12", 49, "q1=mu_a (unscaled): S=1 vs 0 so alpha ~ 1"), .quoted = 51,
     .quote = "$\\alpha_{1,a} \\simeq 1$ ,  $\\alpha_{1,\\tilde{a}} \\simeq 0",
     .exact = "Scores 1 and 0 give e/(e+n-1): .73 at n = 2, .0027 at n = 1000.",
     .printed = {LAB_READS(lab_claim_two_unscaled, 0, NULL)}},
    {LAB_SAYS("003-13", 57,
              "c1 has high variance and becomes unstable (its queries are unscaled)"),
     .quoted = 59, .quote = "$C_1$  has a high variance and  $C_1$  becomes unstable",
     .exact =
         "At scale 1 the weight of v_a has standard deviation .0028 at n = 1000: c1 is "
         "steady near the mean of all values. High (above .1) needs C near ln n.",
     .printed = {LAB_READS(read_high_variance, 0, NULL)}},
    {LAB_SAYS("003-14", 61, "head 2 unaffected by k_a's noise (orthogonal)"),
     .quoted = 61, .quote = "the noise of  $\\tilde{k}_a$  is negligible to  $C_2$",
     .exact = "mu_b.k_a = gamma mu_b.mu_a = 0 whatever gamma, at alpha = 0.",
     .printed = {LAB_READS(read_second_unaffected, 0, NULL)}},
    {LAB_SAYS("003-15", 65,
              "variance smaller than single-head (its queries are unscaled)"),
     .quoted = 65, .quote = "it makes its variance smaller than single-head attention",
     .exact = "Smaller than that of one head C(mu_a+mu_b) above a crossover C.",
     .printed = {LAB_READS(lab_claim_steadier, LAB_FREE_SCALE, "C")}},
};

const struct lab_sheet lab_sheet_003 = {"003", statements,
                                        sizeof statements / sizeof statements[0]};

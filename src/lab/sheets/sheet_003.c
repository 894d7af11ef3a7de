/* SPDX-License-Identifier: MIT */
/* Sheet 003: copy, extraction, average, variances of scores, two unscaled heads. */
#include <math.h>
#include <stddef.h>

#include "lab/sheets/claims.h"

/*
 * Line 6 with v_i put to alpha_i: n/(j-1) times the output, where the output is meant.
 * The item copied is j = 2.
 */
static int read_factor(const struct lab_exercise *exercise, const struct lab_point *point,
                       struct lab_reading *reading)
{
    struct lab_pair_weights p;
    if (lab_exercise_pair(exercise, point->n, (struct lab_pair_query){0, point->scale},
                          &p))
        return -1;
    const double factor = (double)point->n / (2 - 1);
    lab_reading_equal(reading, p.b, factor * p.b);
    reading->error = fabs(factor - 1) * lab_pair_distance(&p, 0, 0);
    return 0;
}

/* At scale 1: e/(2e+n-2), and not 1/2. */
static int read_not_half(const struct lab_exercise *exercise,
                         const struct lab_point *point, struct lab_reading *reading)
{
    struct lab_point unscaled = *point;
    unscaled.scale = exercise->unit;
    if (lab_claim_pair_formula(exercise, &unscaled, reading))
        return -1;
    const double formula = exp(1.0) / (2 * exp(1.0) + (double)(point->n - 2)),
                 off = reading->error;
    lab_reading_equal(reading, reading->measured, formula);
    reading->error = fmax(reading->error, off);
    if (fabs(reading->measured - 0.5) < LAB_TOLERANCE)
        reading->error = 1;
    return 0;
}

static int read_variance(const struct lab_exercise *exercise,
                         const struct lab_point *point, int key, double claimed,
                         struct lab_reading *reading)
{
    const struct lab_pair_query query = {point->scale, point->scale};
    lab_reading_equal(
        reading, lab_exercise_score_covariance(exercise, point->alpha, key, query, query),
        claimed);
    return 0;
}

static int read_variance_a(const struct lab_exercise *exercise,
                           const struct lab_point *point, struct lab_reading *reading)
{
    return read_variance(exercise, point, 0, point->scale * point->scale / 2, reading);
}

static int read_variance_b(const struct lab_exercise *exercise,
                           const struct lab_point *point, struct lab_reading *reading)
{
    return read_variance(exercise, point, 1, 0, reading);
}

static int draw_unscaled(const struct lab_exercise *exercise,
                         const struct lab_point *point, struct lab_drawn *drawn)
{
    const struct lab_pair_query query[2] = {{exercise->unit, 0}, {0, exercise->unit}};
    return lab_exercise_draw(exercise, point, 1, 2, query, drawn);
}

/* High: the weight's standard deviation is at least a tenth of its range. */
#define HIGH_DEVIATION 0.1

static int read_high_variance(const struct lab_exercise *exercise,
                              const struct lab_point *point, struct lab_reading *reading)
{
    struct lab_drawn drawn;
    if (draw_unscaled(exercise, point, &drawn))
        return -1;
    lab_reading_above(reading, sqrt(drawn.weight_variance), HIGH_DEVIATION);
    return 0;
}

static int read_second_unaffected(const struct lab_exercise *exercise,
                                  const struct lab_point *point,
                                  struct lab_reading *reading)
{
    struct lab_drawn drawn;
    if (draw_unscaled(exercise, point, &drawn))
        return -1;
    lab_reading_equal(reading, drawn.trace[1], 0);
    return 0;
}

static const struct lab_statement statements[] = {
    {.id = "003-1",
     .line = 3,
     .says = "nonnegative, sums to 1",
     .exact = "Weights are positive and add up to 1, for any finite scores.",
     .printed = {LAB_READS(lab_claim_distribution, 0, "C")}},
    {.id = "003-2",
     .line = 5,
     .says =
         "q much more aligned with k_j, resulting in a much larger k_j.q, concentrates "
         "alpha",
     .exact =
         "A score larger by ln((n-1)(1-eps)/eps) than every other gives p_j >= 1-eps.",
     .printed = {LAB_READS(lab_claim_copy, LAB_FREE_SCALE, "the gap")}},
    {.id = "003-3",
     .line = 6,
     .says = "\"c = n/(j-1) sum alpha_i ~ sum alpha_i\"",
     .exact = "c = sum alpha_i v_i ~ v_j. The sum of alpha_i is the number 1, and the "
              "factor n/(j-1) belongs to nothing.",
     .repair = "alpha_i -> alpha_i v_i, as line 51 writes the output",
     .printed = {LAB_READS(read_factor, LAB_FREE_SCALE, "the gap"), .left = "output",
                 .right = "n/(j-1) alpha_i"},
     .repaired = {LAB_READS(read_factor, LAB_FREE_SCALE, "the gap"), .left = "output",
                  .right = "n/(j-1) alpha_i v_i"}},
    {.id = "003-4",
     .line = 7,
     .says = "lookup/copy intuition",
     .exact = "With orthonormal keys, and |q| large enough for a gap of "
              "ln((n-1)(1-eps)/eps).",
     .printed = {LAB_READS(lab_claim_copy_aligned, LAB_FREE_SCALE, "|q|")}},
    {.id = "003-5",
     .line = 9,
     .says = "M = A A^T, A^T A=I, A^T B=0, M s=v_a",
     .exact = "For orthonormal columns of A, perpendicular to those of B.",
     .printed = {LAB_READS(lab_claim_projector, 0, NULL), .left = "A A^T v_a",
                 .right = "v_a"}},
    {.id = "003-6",
     .line = 25,
     .says = "q=k_a+k_b gives e/(2e+n-2) != 1/2",
     .exact = "e/(2e+n-2) at every n; it is 1/2 at n = 2, where no other key is left.",
     .printed = {LAB_READS(read_not_half, LAB_FREE_N, NULL)}},
    {.id = "003-7",
     .line = 29,
     .says = "q=c(k_a+k_b), c very large: ~1/2",
     .exact = "e^c/(2e^c+n-2) is 1/2 to within eps/2 iff c >= ln((n-2)(1-eps)/(2 eps)).",
     .printed = {LAB_READS(lab_claim_pair_half, LAB_FREE_SCALE, "c")}},
    {.id = "003-8",
     .line = 34,
     .says = "q=C(mu_a+mu_b) so \"C ~ (mu_a+mu_b)/2\"",
     .exact = "The output is near (v_a+v_b)/2, values, not means, for C > ln n and "
              "alpha C^2 << 1.",
     .repair = "mu -> v, as line 53 writes the output",
     .printed = {LAB_READS(lab_claim_pair, 0, "C"), .left = "output", .right = "mu_i",
                 .symbol = {"mu", LAB_MEANS_MEAN, 33, LAB_MEANS_VALUE}},
     .repaired = {LAB_READS(lab_claim_pair, LAB_FREE_SCALE | LAB_FREE_ALPHA, "C"),
                  .left = "output", .right = "v_i",
                  .symbol = {"v", LAB_MEANS_VALUE, 53, LAB_MEANS_VALUE}}},
    {.id = "003-9",
     .line = 36,
     .says = "Var S_a = C^2(2alpha+1/2) ~ C^2/2",
     .exact = "The first is exact; the second drops 2 alpha C^2, which is 0.5 at alpha = "
              "1e-4, C = 50.",
     .printed = {LAB_READS(read_variance_a, LAB_FREE_ALPHA, "C")}},
    {.id = "003-10",
     .line = 43,
     .says = "Var S_b = 2alpha C^2 ~ 0",
     .exact = "2 alpha C^2 is exact; it is near 0 only if alpha C^2 << 1, however small "
              "alpha is.",
     .printed = {LAB_READS(read_variance_b, LAB_FREE_ALPHA, "C")}},
    {.id = "003-11",
     .line = 45,
     .says = "c is not a stable mean; single head not robust",
     .exact = "With this query the output varies at every n and C, up to 1/4 per "
              "coefficient. (The query -B sum of the other means would not feel gamma.)",
     .printed = {LAB_READS(lab_claim_one_head_spread, 0, "C")}},
    {.id = "003-12",
     .line = 49,
     .says = "q1=mu_a (unscaled): S=1 vs 0 so alpha ~ 1",
     .exact = "Scores 1 and 0 give e/(e+n-1): .73 at n = 2, .0027 at n = 1000.",
     .printed = {LAB_READS(lab_claim_two_unscaled, 0, NULL)}},
    {.id = "003-13",
     .line = 57,
     .says = "c1 has high variance and becomes unstable (its queries are unscaled)",
     .exact =
         "At scale 1 the weight of v_a has standard deviation .0028 at n = 1000: c1 is "
         "steady near the mean of all values. High (above .1) needs C near ln n.",
     .printed = {LAB_READS(read_high_variance, 0, NULL)}},
    {.id = "003-14",
     .line = 61,
     .says = "head 2 unaffected by k_a's noise (orthogonal)",
     .exact = "mu_b.k_a = gamma mu_b.mu_a = 0 whatever gamma, at alpha = 0.",
     .printed = {LAB_READS(read_second_unaffected, 0, NULL)}},
    {.id = "003-15",
     .line = 65,
     .says = "variance smaller than single-head (its queries are unscaled)",
     .exact = "Smaller than that of one head C(mu_a+mu_b) above a crossover C.",
     .printed = {LAB_READS(lab_claim_steadier, LAB_FREE_SCALE, "C")}},
};

const struct lab_sheet lab_sheet_003 = {"003", statements,
                                        sizeof statements / sizeof statements[0]};

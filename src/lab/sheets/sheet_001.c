/* SPDX-License-Identifier: MIT */
/* Sheet 001: copy, extraction, average, noise in magnitude, two unscaled heads. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "lab/sheets/claims.h"

enum { D = LAB_EXERCISE_D, M = 3 };

/* ---- extraction ---------------------------------------------------------- */

/*
 * Line 45: M v_a = v_a iff M(v_a + v_b) = v_a.  Case 0 is the projector on A, case 1 the
 * identity, case 2 the projector plus a part that answers to v_b alone.
 */
static int argue_equivalence(const struct lab_exercise *exercise, int x,
                             struct lab_case *found)
{
    static const char *const names[] = {"M = A A^T", "M = I", "M = A A^T + b_1 b_1^T"};
    struct lab_basis basis;
    double y[D], image_a[D], image_s[D];
    if (x >= 3)
        return 1;
    lab_exercise_basis(exercise, M, &basis);
    lab_basis_coordinates(&basis, basis.s, y);
    lab_basis_combine(&basis, y, image_s);
    lab_basis_coordinates(&basis, basis.va, y);
    lab_basis_combine(&basis, y, image_a);
    if (x == 1) {
        memcpy(image_s, basis.s, sizeof image_s);
        memcpy(image_a, basis.va, sizeof image_a);
    }
    for (int c = 0; x == 2 && c < D; c++)
        image_s[c] += basis.e[0] * basis.b[0][c]; /* b_1^T s = e_1, b_1^T v_a = 0 */
    found->premise = lab_distance(image_a, basis.va, D);
    found->conclusion = lab_distance(image_s, basis.va, D);
    snprintf(found->text, sizeof found->text, "%s", names[x]);
    return 0;
}

static int read_identity(const struct lab_point *point, struct lab_found *reading)
{
    struct lab_case found;
    if (argue_equivalence(point->exercise, 1, &found) < 0)
        return -1;
    lab_reading_equal(reading, found.conclusion, 0);
    return 0;
}

/*
 * M that is the identity on A, 0 on B, and anything on what is perpendicular to both:
 * s -> v_a.
 */
static int read_two_conditions(const struct lab_point *point, struct lab_found *reading)
{
    struct lab_basis basis;
    double y[D], image[D], rest[D];
    lab_exercise_basis(point->exercise, M, &basis);
    lab_basis_coordinates(&basis, basis.s, y);
    lab_basis_combine(&basis, y, image);
    for (int c = 0; c < D; c++) {
        rest[c] = basis.s[c] - image[c];
        for (int j = 0; j < basis.p; j++)
            rest[c] -= basis.e[j] * basis.b[j][c];
        image[c] += point->scale * rest[c];
    }
    lab_reading_equal(reading, lab_distance(image, basis.va, D), 0);
    return 0;
}

/* |A^T s - v_a| where the shapes agree: m = d and nothing but v_a. */
static int read_transpose(const struct lab_point *point, struct lab_found *reading)
{
    struct lab_basis basis;
    double y[D];
    lab_exercise_basis(point->exercise, D, &basis);
    lab_basis_coordinates(&basis, basis.s, y);
    lab_reading_equal(reading, lab_distance(y, basis.va, D), 0);
    return 0;
}

/*
 * Line 58: a_i^T b_j = 0 for i != j, so the sum of d_i a_i^T b_i is 0.  Case 0: B
 * perpendicular to A; case 1: b_i = a_i, which the premise allows.
 */
static int argue_diagonal(const struct lab_exercise *exercise, int x,
                          struct lab_case *found)
{
    struct lab_basis basis;
    double off = 0, sum = 0;
    if (x >= 2)
        return 1;
    lab_exercise_basis(exercise, M, &basis);
    if (x == 1)
        memcpy(basis.b, basis.a, sizeof basis.b);
    for (int j = 0; j < basis.p; j++) {
        double column[D];
        lab_basis_coordinates(&basis, basis.b[j], column);
        for (int i = 0; i < M; i++)
            off = i == j ? off : fmax(off, fabs(column[i]));
        sum += basis.e[j] * column[j];
    }
    found->premise = off;
    found->conclusion = fabs(sum);
    snprintf(found->text, sizeof found->text, "%s",
             x ? "b_1 = a_1 and b_2 = a_2" : "B perpendicular to A");
    return 0;
}

static int read_perpendicular(const struct lab_point *point, struct lab_found *reading)
{
    struct lab_basis basis;
    double y[D], zero[D] = {0};
    lab_exercise_basis(point->exercise, M, &basis);
    lab_basis_coordinates(&basis, basis.vb, y);
    lab_reading_equal(reading, lab_distance(y, zero, M), 0);
    return 0;
}

/* ---- average ------------------------------------------------------------- */

/* e^c/(m - 2 + 2e^c), `m` terms in the sum, and its value as c grows without end. */
static int read_average(const struct lab_point *point, double m,
                        struct lab_found *reading)
{
    const struct lab_pair_query query = {point->scale, point->scale};
    const double formula = 1 / ((m - 2) * exp(-point->scale) + 2);
    const double end = 1 / ((m - 2) * exp(-2000.0) + 2);
    struct lab_pair_weights p;
    if (lab_exercise_pair(point->exercise, point->n, query, &p))
        return -1;
    lab_reading_equal(reading, p.a, formula);
    reading->error = fmax(reading->error, fabs(end - 0.5));
    return 0;
}

static int read_average_m(const struct lab_point *point, struct lab_found *reading)
{
    return read_average(point, M, reading);
}

static int read_average_n(const struct lab_point *point, struct lab_found *reading)
{
    return read_average(point, (double)point->n, reading);
}

/* ---- one head, noise in magnitude ------------------------------------------ */

static int draw_one(const struct lab_point *point, int magnitude, struct lab_drawn *drawn)
{
    const struct lab_pair_query query = {point->scale, point->scale};
    return lab_exercise_draw(point, magnitude, 1, &query, drawn);
}

static int read_inside(const struct lab_point *point, struct lab_found *reading)
{
    struct lab_drawn drawn;
    if (draw_one(point, 1, &drawn))
        return -1;
    lab_reading_equal(reading, drawn.inside, 1);
    return 0;
}

/* gamma C, C, 0 of every draw, against the products as they are. */
static int read_scores(const struct lab_point *point, struct lab_found *reading)
{
    double gamma[LAB_EXERCISE_DRAWS], worst = 0;
    if (lab_exercise_gammas(point->exercise, gamma))
        return -1;
    const double C = point->scale, dot = point->exercise->overlap;
    for (int x = 0; x < LAB_EXERCISE_DRAWS; x++) {
        const double a = point->exercise->tau * gamma[x] * (C + C * dot);
        worst = fmax(worst, fabs(a - gamma[x] * C));
    }
    const double b = point->exercise->tau * (C * dot + C);
    lab_reading_equal(reading, b, C);
    reading->error = fmax(reading->error, worst);
    return 0;
}

static int read_ends(const struct lab_point *point, struct lab_found *reading)
{
    const struct lab_pair_query query = {point->scale, point->scale};
    struct lab_pair_weights short_key, long_key;
    if (lab_exercise_pair_at(point->exercise, point->n, 0.5, query, &short_key) ||
        lab_exercise_pair_at(point->exercise, point->n, 1.5, query, &long_key))
        return -1;
    lab_reading_equal(reading, short_key.b, 1);
    reading->error =
        fmax(lab_pair_distance(&short_key, 0, 1), lab_pair_distance(&long_key, 1, 0));
    return 0;
}

/* On the segment between v_a and v_b, and with more spread than without the noise. */
static int read_fluctuates(const struct lab_point *point, struct lab_found *reading)
{
    struct lab_drawn before, now;
    if (draw_one(point, 0, &before) || draw_one(point, 1, &now))
        return -1;
    lab_reading_equal(reading, now.off_segment, 0);
    if (!(now.trace[0] > before.trace[0] + LAB_TOLERANCE))
        reading->error = 1;
    return 0;
}

/* ---- two heads ------------------------------------------------------------- */

static int draw_two(const struct lab_point *point, struct lab_drawn *drawn)
{
    const struct lab_pair_query query[2] = {{point->exercise->unit, 0},
                                            {0, point->exercise->unit}};
    return lab_exercise_draw(point, 1, 2, query, drawn);
}

static double correlation(const struct lab_drawn *drawn)
{
    const double scale = sqrt(drawn->trace[0] * drawn->trace[1]);
    return scale > 0 ? drawn->trace_cross / scale : 0;
}

/* Line 128: different queries, so independent.  Cases are pairs of different queries. */
static int argue_independent(const struct lab_exercise *exercise, int x,
                             struct lab_case *found)
{
    static const struct lab_pair_query pairs[][2] = {
        {{1, 0}, {0, 1}}, {{1, 1}, {1, -1}}, {{1, 0}, {2, 0}}};
    const struct lab_point point = {.n = 10, .scale = 1, .exercise = exercise};
    struct lab_drawn drawn;
    if (x >= 3)
        return 1;
    if (lab_exercise_draw(&point, 1, 2, pairs[x], &drawn))
        return -1;
    const double apart =
        fabs(pairs[x][0].a - pairs[x][1].a) + fabs(pairs[x][0].b - pairs[x][1].b);
    found->premise = apart > 0 ? 0 : 1;
    found->conclusion = fabs(correlation(&drawn));
    snprintf(found->text, sizeof found->text,
             "q1 = %g mu_a %+g mu_b, q2 = %g mu_a %+g mu_b: correlation of the outputs",
             pairs[x][0].a, pairs[x][0].b, pairs[x][1].a, pairs[x][1].b);
    return 0;
}

static int read_correlation(const struct lab_point *point, struct lab_found *reading)
{
    struct lab_drawn drawn;
    if (draw_two(point, &drawn))
        return -1;
    lab_reading_equal(reading, correlation(&drawn), 0);
    return 0;
}

static int read_second_stays(const struct lab_point *point, struct lab_found *reading)
{
    struct lab_drawn drawn;
    if (draw_two(point, &drawn))
        return -1;
    lab_reading_equal(reading, drawn.weight_mean_2, 1);
    reading->error = drawn.head_2_to_b;
    if (!(drawn.trace[0] > LAB_TOLERANCE))
        reading->error = 1;
    return 0;
}

static int read_averaging(const struct lab_point *point, struct lab_found *reading)
{
    struct lab_drawn drawn;
    if (draw_two(point, &drawn))
        return -1;
    lab_reading_below(reading, drawn.trace_mean / drawn.trace[0], 1);
    return 0;
}

static const struct lab_statement statements[] = {
    {LAB_SAYS("001-1", 15, "0<=alpha_i<=1, sum 1: categorical"), .quoted = 17,
     .quote = "0 \\leq \\alpha_i \\leq 1, \\sum_{i=1}^n \\alpha_i = 1",
     .exact = "Weights are positive and add up to 1, for any finite scores.",
     .printed = {LAB_READS(lab_claim_distribution, 0, "C")}},
    {LAB_SAYS("001-2", 23, "k_j.q >> k_i.q for all i"), .quoted = 23,
     .quote = "k_j^T q \\gg k_i^T q",
     .exact = "The difference counts, not the ratio: a gap of ln((n-1)(1-eps)/eps) gives "
              "p_j >= 1-eps.",
     .printed = {LAB_READS(lab_claim_copy, LAB_FREE_SCALE, "the gap")}},
    {LAB_SAYS("001-3", 27, "alpha_j >> sum of others implies alpha_j ~ 1, c ~ v_j"),
     .quoted = 27, .quote = "\\alpha_j \\gg \\sum_{i \\neq j} \\alpha_i",
     .exact = "With r = alpha_j / sum of the others, alpha_j = r/(1+r) and |c - v_j| <= "
              "max|v_i - v_j|/(1+r).",
     .printed = {LAB_READS(lab_claim_copy_ratio, LAB_FREE_SCALE, "the ratio")}},
    {LAB_SAYS("001-4", 33, "q aligned very closely with one key gives a copy"),
     .quoted = 33, .quote = "If  $q$  aligns very closely with one of all key vectors",
     .exact = "Direction alone does not do it: with orthonormal keys the gap is "
              "|q|(cos - sin) of the angle, and must reach ln((n-1)(1-eps)/eps).",
     .printed = {LAB_READS(lab_claim_copy_aligned, LAB_FREE_SCALE, "|q|")}},
    {LAB_SAYS("001-5", 45, "M v_a = v_a iff M(v_a+v_b) = v_a"), .quoted = 45,
     .quote = "Mv_a = v_a \\Leftrightarrow M(v_a + v_b) = v_a",
     .exact =
         "M(v_a+v_b) = v_a iff M v_a + M v_b = v_a; the first equation gives it only "
         "together with M v_b = 0.",
     .printed = {LAB_READS(read_identity, 0, NULL), .argue = argue_equivalence}},
    {LAB_SAYS("001-6", 47, "require M v_a=v_a and M v_b=0"), .quoted = 47,
     .quote = "①  $Mv_a = v_a$  ②  $Mv_b = 0$",
     .exact = "Both together give M(v_a+v_b) = v_a by linearity, whatever M does "
              "elsewhere.",
     .printed = {LAB_READS(read_two_conditions, 0, "C")}},
    {LAB_SAYS("001-7", 51, "M=A^T: A^T A c = sum c_i a_i^T a_i = c = v_a"), .quoted = 51,
     .quote =
         "$A^T A c = c_1 a_1^T a_1 + c_2 a_2^T a_2 + \\dots + c_m a_m^T a_m = c = v_a$",
     .exact = "A^T A c = c, the m coordinates of v_a; v_a itself is A c. The sum of "
              "c_i a_i^T a_i is one number.",
     .repair = "c -> A c at the end, as line 49 writes v_a",
     .printed = {LAB_READS(read_transpose, 0, NULL), .left = "A^T A c", .right = "v_a"},
     .repaired = {LAB_READS(read_transpose, 0, NULL), .left = "A^T A c", .right = "A c"}},
    {LAB_SAYS("001-8", 54, "c = v_a in R^d"), .quoted = 54,
     .quote = "c = v_a \\in \\mathbb{R}^d",
     .exact = "A c = v_a in R^d; c itself has m coordinates.",
     .repair = "c -> A c, as line 49 writes v_a",
     .printed = {LAB_READS(read_transpose, 0, NULL), .left = "c", .right = "v_a"},
     .repaired = {LAB_READS(lab_claim_coordinates, 0, NULL), .left = "A c",
                  .right = "v_a"}},
    {LAB_SAYS("001-9", 58, "M v_b = sum d_i a_i^T b_i = 0 since a_i^T b_j=0 for i != j"),
     .quoted = 58,
     .quote = "$Mv_b = d_1 a_1^T b_1 + \\dots + d_p a_p^T b_p = 0 \\quad (\\because "
              "a_i^T b_j = 0 \\text{ for } i \\neq j)$",
     .exact = "A^T v_b = 0 because a_i^T b_j = 0 for all i and j, i = j included, which "
              "are the only terms of the printed sum.",
     .repair = "b_i -> b_j, as the reason in the same line writes it",
     .printed = {LAB_READS(read_perpendicular, 0, NULL), .left = "A^T v_b",
                 .right = "d_i a_i^T b_i", .argue = argue_diagonal},
     .repaired = {LAB_READS(read_perpendicular, 0, NULL), .left = "A^T v_b",
                  .right = "d_i (a_i^Tb_j)_i", .argue = argue_diagonal}},
    {LAB_SAYS("001-10", 60, "M = A^T"), .quoted = 60, .quote = "choose  $M = A^T$",
     .exact = "M = A A^T (d x d). A^T s is c in R^m, the coordinates of v_a; even with "
              "m = d it is not v_a.",
     .printed = {LAB_READS(read_transpose, 0, NULL), .left = "A^T", .right = "M"}},
    {LAB_SAYS("001-11", 66, "alpha = e^c/(m-2+2e^c), limit 1/2, q=C(k_a+k_b)"),
     .quoted = 68,
     .quote = "\\frac{\\exp(c)}{m-2 + 2\\exp(c)}$ , and  $\\lim_{c \\rightarrow \\infty} "
              "\\frac{\\exp(c)}{m-2 + 2\\exp(c)} = \\frac{1}{2}$",
     .exact = "alpha_a = alpha_b = e^c/(n-2+2e^c), which tends to 1/2.",
     .repair = "m -> n, as line 17 counts the keys",
     .printed = {LAB_READS(read_average_m, 0, "c"),
                 .symbol = {"m", LAB_MEANS_BASIS, 43, LAB_MEANS_KEYS}},
     .repaired = {LAB_READS(read_average_n, 0, "c"),
                  .symbol = {"n", LAB_MEANS_KEYS, 17, LAB_MEANS_KEYS}}},
    {LAB_SAYS("001-12", 76, "alpha I tiny so k_i ~ mu_i; q=C(mu_a+mu_b)"), .quoted = 78,
     .quote = "k_i \\sim N(\\mu_i, \\Sigma_i) \\Rightarrow k_i \\approx \\mu_i",
     .exact = "Tiny means alpha C^2 << 1: the scores of a and b differ by N(0, 4 alpha "
              "C^2), and C must exceed ln((n-2)(1-eps)/(2 eps)).",
     .printed = {LAB_READS(lab_claim_pair, LAB_FREE_SCALE | LAB_FREE_ALPHA, "C")}},
    {LAB_SAYS("001-13", 86, "k_a in [.5mu_a, 1.5mu_a]"), .quoted = 86,
     .quote = "k_a \\in [0.5\\mu_a, 1.5\\mu_a]",
     .exact = "gamma ~ N(1, 1/2) has no bounds: it is in [.5, 1.5] with probability "
              "2 Phi(1/sqrt 2) - 1 = 0.52.",
     .printed = {LAB_READS(read_inside, 0, NULL)}},
    {LAB_SAYS("001-14", 88, "k_a = gamma mu_a, gamma ~ N(1,.5)"), .quoted = 88,
     .quote = "$k_a = \\gamma \\mu_a$  where  $\\gamma \\sim N(1, 0.5)$",
     .exact = "At alpha = 0: mean 1, variance 1/2, nothing across mu_a.",
     .printed = {LAB_READS(lab_claim_noise_law, 0, NULL)}},
    {LAB_SAYS("001-15", 92, "scores gamma C, C, 0"), .quoted = 92,
     .quote = "k_a^T q = \\gamma \\mu_a^T \\cdot C \\cdot (\\mu_a + \\mu_b) = \\gamma "
              "\\cdot C",
     .exact = "At alpha = 0, for every gamma.",
     .printed = {LAB_READS(read_scores, 0, "C")}},
    {LAB_SAYS("001-16", 94, "alpha_a = e^{gC}/(e^C+e^{gC}) etc."), .quoted = 94,
     .quote = "\\alpha_a = \\frac{\\exp(\\gamma c)}{\\exp(c) + \\exp(\\gamma c)}",
     .exact = "The denominator also has n-2: exact at n = 2, and off by at most "
              "(n-2)/(e^C+n-2).",
     .printed = {LAB_READS(lab_claim_two_term, LAB_FREE_SCALE, "C")}},
    {LAB_SAYS("001-17", 98, "gamma=.5: c=v_b; gamma=1.5: c=v_a"), .quoted = 98,
     .quote = "\\gamma \\rightarrow 0.5",
     .exact = "alpha_a = 1/(1+e^{-(gamma-1)C}+(n-2)e^{-gamma C}): the loser keeps "
              "e^{-C/2}.",
     .printed = {LAB_READS(read_ends, LAB_FREE_SCALE, "C")}},
    {LAB_SAYS("001-18", 108, "c fluctuates between v_a and v_b, more than before"),
     .quoted = 108, .quote = "$c$  is fluctuating between  $\\nu_a$  and  $\\nu_b$",
     .exact = "It varies at every C where it did not before; it stays on the segment "
              "from v_a to v_b at n = 2, and near it once C >> ln n.",
     .printed = {LAB_READS(read_fluctuates, LAB_FREE_SCALE, "C")}},
    {LAB_SAYS("001-19", 116, "q1=mu_a (unscaled) gives c1=v_a; q2=mu_b gives v_b"),
     .quoted = 116, .quote = "Let,  $q_i = \\mu_n$",
     .exact = "At scale 1 the weight is e/(e+n-1): .73 at n = 2, .0027 at n = 1000. A "
              "scale of ln((n-1)(1-eps)/eps) is needed.",
     .printed = {LAB_READS(lab_claim_two_unscaled, 0, NULL)}},
    {LAB_SAYS("001-20", 118, "C_1 = sum N_i mu_i = N_n"), .quoted = 118,
     .quote = "C_1 = \\sum_{i=1}^n N_i \\mu_i = N_n",
     .exact = "C_1 = sum N_i alpha_i, and at scale 1 its weight of N_n is e/(e+n-1), "
              "not 1.",
     .repair = "mu_i -> alpha_i, as line 29 writes the sum",
     .printed = {LAB_READS(lab_claim_two_unscaled, 0, NULL), .left = "v_i mu_i",
                 .right = "output"},
     .repaired = {LAB_READS(lab_claim_two_unscaled, 0, NULL), .left = "v_i alpha_i",
                  .right = "output"}},
    {LAB_SAYS("001-21", 128,
              "different queries so the variances of c1, c2 are independent"),
     .quoted = 128,
     .quote =
         "are derived from different query vector so their variances are independent",
     .exact = "Heads see the same keys: their scores are independent iff q1^T Sigma_i q2 "
              "= 0 for all i, as for mu_a and mu_b, not because the queries differ.",
     .printed = {LAB_READS(read_correlation, 0, NULL), .argue = argue_independent}},
    {LAB_SAYS("001-22", 130, "c1 fluctuates, c2 stays at v_b (its queries are unscaled)"),
     .quoted = 132,
     .quote = "$C_2$  will remain stable ( $\\Leftrightarrow C_2 \\approx N_b$ )",
     .exact = "c2 does not vary, but stays at weight e/(e+n-1) of v_b, not at v_b; c1 "
              "varies.",
     .printed = {LAB_READS(read_second_stays, 0, NULL)}},
    {LAB_SAYS("001-23", 134, "averaging reduces the variance"), .quoted = 134,
     .quote = "averaging  $C_1$  and  $C_2$  will reduce variance of final output",
     .exact = "c2 is constant, so Cov c = Cov(c1)/4.",
     .printed = {LAB_READS(read_averaging, 0, NULL)}},
    {LAB_SAYS("001-24", 136, "multi-head much more stable than single"), .quoted = 136,
     .quote = "multi-headed attention is much more stable for handling large variance "
              "than single-headed attention",
     .exact = "The variance of the heads mu_a, mu_b is smaller than that of one head "
              "C(mu_a+mu_b) above a crossover C.",
     .printed = {LAB_READS(lab_claim_steadier, LAB_FREE_SCALE, "C")}},
};

const struct lab_sheet lab_sheet_001 = {"001", statements,
                                        sizeof statements / sizeof statements[0]};

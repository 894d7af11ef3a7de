/* SPDX-License-Identifier: MIT */
/* Sheet 002: copy, average, one noisy head, and heads mu_a + mu_b, mu_a - mu_b. */
#include <math.h>
#include <stdio.h>

#include "lab/sheets/claims.h"

/*
 * Line 24: a large key has a large product with the query.  Case x: k_j of length 1000,
 * all other keys and the query of length 1, the query at an angle to k_j.
 */
static int argue_long_key(const struct lab_exercise *exercise, int x,
                          struct lab_case *found)
{
    enum { N = 10 };
    static const double angle[] = {0, 45, 90, 135};
    const double length = 1000, turn = acos(-1.0) / 180;
    double keys[N][2] = {{length, 0}}, p[N];
    if (x >= 4)
        return 1;
    const double query[2] = {cos(turn * angle[x]), sin(turn * angle[x])};
    for (int i = 1; i < N; i++)
        keys[i][1] = 1;
    if (lab_exercise_softmax(exercise, N, 2, &keys[0][0], query, p))
        return -1;
    found->premise = 0;
    found->conclusion = 1 - p[0];
    snprintf(found->text, sizeof found->text,
             "|k_j| = %g, the other keys and q of length 1, q at %g degrees to k_j",
             length, angle[x]);
    return 0;
}

static int read_long_key(const struct lab_point *point, struct lab_found *reading)
{
    /* The most favourable query: along the long key. */
    struct lab_pair_weights p;
    if (lab_exercise_pair_at(point->exercise, point->n, point->scale,
                             (struct lab_pair_query){1, 0}, &p))
        return -1;
    lab_reading_equal(reading, p.a, 1);
    reading->error = lab_pair_distance(&p, 1, 0);
    return 0;
}

/* Scores of a and b that differ by 1/beta, and beta above all others. */
static int read_nearly_equal(const struct lab_point *point, struct lab_found *reading)
{
    const struct lab_pair_query query = {point->scale + 1 / point->scale, point->scale};
    struct lab_pair_weights p;
    if (lab_exercise_pair(point->exercise, point->n, query, &p))
        return -1;
    lab_reading_equal(reading, p.a, 0.5);
    reading->error = lab_pair_distance(&p, 0.5, 0.5);
    return 0;
}

static int read_scores(const struct lab_point *point, struct lab_found *reading)
{
    const struct lab_point exact = {
        .n = point->n, .scale = point->scale, .exercise = point->exercise};
    return lab_claim_pair_scores(&exact, reading);
}

/* The share of the denominator that exp(0) has. */
static int read_insignificant(const struct lab_point *point, struct lab_found *reading)
{
    struct lab_pair_weights p;
    if (lab_exercise_pair(point->exercise, point->n,
                          (struct lab_pair_query){point->scale, point->scale}, &p))
        return -1;
    lab_reading_equal(reading, p.others, 0);
    return 0;
}

/* exp(beta / sqrt(d)) in every term, d = n, against scores as line 13 has them. */
static int read_root_d(const struct lab_point *point, struct lab_found *reading)
{
    const double n = (double)point->n, beta = point->scale;
    const double printed = 1 / ((n - 2) * exp(-beta / sqrt(n)) + 2);
    struct lab_pair_weights p;
    if (lab_exercise_pair(point->exercise, point->n, (struct lab_pair_query){beta, beta},
                          &p))
        return -1;
    lab_reading_equal(reading, p.a, printed);
    reading->error = fmax(reading->error, fabs(printed - 0.5));
    return 0;
}

/*
 * Line 137: it works because q is orthogonal to the other means.  Cases are queries in
 * the plane of mu_a and mu_b.
 */
static int argue_orthogonal(const struct lab_exercise *exercise, int x,
                            struct lab_case *found)
{
    static const struct lab_pair_query queries[] = {{50, 50}, {50, 25}, {0, 0}, {50, 0}};
    struct lab_pair_weights p;
    if (x >= 4)
        return 1;
    if (lab_exercise_pair(exercise, 10, queries[x], &p))
        return -1;
    found->premise = 0; /* mu_a and mu_b are orthogonal to every other mean */
    found->conclusion = lab_pair_distance(&p, 0.5, 0.5);
    snprintf(found->text, sizeof found->text,
             "q = %g mu_a + %g mu_b is orthogonal to every other mean, n = 10",
             queries[x].a, queries[x].b);
    return 0;
}

/* ---- permutation ----------------------------------------------------------- */

enum { LEFT, RIGHT };

/* Whether tokens are moved, each to its place, and nothing else. */
static int read_moves_tokens(const struct lab_exercise *exercise, int side,
                             struct lab_found *reading)
{
    struct lab_sequence sequence;
    lab_square moved, wanted;
    lab_exercise_sequence(exercise, &sequence);
    lab_exercise_permute(exercise, sequence.order, side, sequence.x, moved);
    lab_permute(sequence.order, LEFT, sequence.x, wanted);
    lab_reading_equal(reading, lab_square_distance(moved, wanted), 0);
    return 0;
}

/* (Pi X) W = Pi (X W), or the same on the other side. */
static int read_projection(const struct lab_exercise *exercise, int side,
                           struct lab_found *reading)
{
    struct lab_sequence sequence;
    lab_square moved, first, then;
    lab_exercise_sequence(exercise, &sequence);
    lab_exercise_permute(exercise, sequence.order, side, sequence.x, moved);
    lab_square_multiply(moved, sequence.wq, first);
    lab_square_multiply(sequence.x, sequence.wq, moved);
    lab_exercise_permute(exercise, sequence.order, side, moved, then);
    lab_reading_equal(reading, lab_square_distance(first, then), 0);
    return 0;
}

static int read_same_scores(const struct lab_exercise *exercise, int side,
                            struct lab_found *reading)
{
    struct lab_sequence sequence;
    lab_square moved, before, after;
    lab_exercise_sequence(exercise, &sequence);
    lab_exercise_permute(exercise, sequence.order, side, sequence.x, moved);
    if (lab_exercise_self(exercise, &sequence, sequence.x, before, NULL, NULL) ||
        lab_exercise_self(exercise, &sequence, moved, after, NULL, NULL))
        return -1;
    lab_reading_equal(reading, lab_square_distance(before, after), 0);
    return 0;
}

static int read_softmax(const struct lab_exercise *exercise, int side,
                        struct lab_found *reading)
{
    struct lab_sequence sequence;
    lab_square moved, before, after, wanted;
    lab_exercise_sequence(exercise, &sequence);
    lab_exercise_permute(exercise, sequence.order, side, sequence.x, moved);
    if (lab_exercise_self(exercise, &sequence, sequence.x, NULL, before, NULL) ||
        lab_exercise_self(exercise, &sequence, moved, NULL, after, NULL))
        return -1;
    lab_permute(sequence.order, side, before, wanted);
    lab_reading_equal(reading, lab_square_distance(wanted, after), 0);
    return 0;
}

static int read_attention(const struct lab_exercise *exercise, int side,
                          struct lab_found *reading)
{
    struct lab_sequence sequence;
    lab_square moved, before, after, wanted;
    lab_exercise_sequence(exercise, &sequence);
    lab_exercise_permute(exercise, sequence.order, side, sequence.x, moved);
    if (lab_exercise_self(exercise, &sequence, sequence.x, NULL, NULL, before) ||
        lab_exercise_self(exercise, &sequence, moved, NULL, NULL, after))
        return -1;
    lab_exercise_permute(exercise, sequence.order, side, before, wanted);
    lab_reading_equal(reading, lab_square_distance(wanted, after), 0);
    return 0;
}

/* Each of these as printed (X Pi), and with Pi on the side that moves rows. */
#define BOTH_SIDES(name)                                                                 \
    static int name##_right(const struct lab_point *point, struct lab_found *reading)    \
    {                                                                                    \
        return name(point->exercise, RIGHT, reading);                                    \
    }                                                                                    \
    static int name##_left(const struct lab_point *point, struct lab_found *reading)     \
    {                                                                                    \
        return name(point->exercise, LEFT, reading);                                     \
    }

BOTH_SIDES(read_moves_tokens)
BOTH_SIDES(read_projection)
BOTH_SIDES(read_same_scores)
BOTH_SIDES(read_softmax)
BOTH_SIDES(read_attention)

/* ---- one head and noise ------------------------------------------------------ */

/* Var of the key along its mean, with the query's scale where alpha should stand. */
static int read_beta_noise(const struct lab_point *point, struct lab_found *reading)
{
    const struct lab_pair_query along = {1, 0};
    const double variance =
        lab_exercise_score_covariance(point->exercise, point->alpha, 0, along, along);
    lab_reading_equal(reading, variance, point->scale + 0.5);
    return 0;
}

/* The share of draws in which a key longer by 1% gets less weight. */
static int read_longer_raises(const struct lab_point *point, struct lab_found *reading)
{
    const struct lab_pair_query query = {point->scale, point->scale};
    double gamma[LAB_EXERCISE_DRAWS];
    int count = 0, lowered = 0;
    if (lab_exercise_gammas(point->exercise, gamma))
        return -1;
    for (int x = 0; x < 256; x++) {
        struct lab_pair_weights p, longer;
        if (point->given_positive && gamma[x] <= 0)
            continue;
        /* Few other keys suffice: their number moves no sign. */
        if (lab_exercise_pair_at(point->exercise, 3, gamma[x], query, &p) ||
            lab_exercise_pair_at(point->exercise, 3, 1.01 * gamma[x], query, &longer))
            return -1;
        lowered += longer.a < p.a;
        count++;
    }
    lab_reading_equal(reading, (double)lowered / count, 0);
    return 0;
}

static int read_larger_variance(const struct lab_point *point, struct lab_found *reading)
{
    const struct lab_pair_query query = {point->scale, point->scale};
    struct lab_drawn before, now;
    if (lab_exercise_draw(point, 0, 1, &query, &before) ||
        lab_exercise_draw(point, 1, 1, &query, &now))
        return -1;
    lab_reading_above(reading, now.trace[0], before.trace[0]);
    if (before.trace[0] > LAB_TOLERANCE)
        reading->error = fmax(reading->error, before.trace[0]);
    return 0;
}

/* ---- heads beta (mu_a + mu_b) and beta (mu_a - mu_b) --------------------------- */

static int plus_minus(const struct lab_point *point, struct lab_pair_weights p[2])
{
    const double beta = point->scale;
    return lab_exercise_pair(point->exercise, point->n,
                             (struct lab_pair_query){beta, beta}, &p[0]) ||
                   lab_exercise_pair(point->exercise, point->n,
                                     (struct lab_pair_query){beta, -beta}, &p[1])
               ? -1
               : 0;
}

static int read_design(const struct lab_point *point, struct lab_found *reading)
{
    struct lab_pair_weights p[2];
    if (plus_minus(point, p))
        return -1;
    const struct lab_pair_weights mean = {.a = (p[0].a + p[1].a) / 2,
                                          .b = (p[0].b + p[1].b) / 2};
    lab_reading_equal(reading, mean.a, 0.5);
    reading->error = lab_pair_distance(&mean, 0.5, 0.5);
    return 0;
}

static int read_same_keys(const struct lab_point *point, struct lab_found *reading)
{
    struct lab_pair_weights p[2];
    if (plus_minus(point, p))
        return -1;
    lab_reading_equal(reading, p[1].b, p[0].b);
    return 0;
}

static int read_second_average(const struct lab_point *point, struct lab_found *reading)
{
    struct lab_pair_weights p[2];
    if (plus_minus(point, p))
        return -1;
    lab_reading_equal(reading, p[1].a, 0.5);
    reading->error = lab_pair_distance(&p[1], 0.5, 0.5);
    return 0;
}

static int draw_plus_minus(const struct lab_point *point, struct lab_drawn *drawn)
{
    const double beta = point->scale;
    const struct lab_pair_query query[2] = {{beta, beta}, {beta, -beta}};
    return lab_exercise_draw(point, 1, 2, query, drawn);
}

static int read_both_vary(const struct lab_point *point, struct lab_found *reading)
{
    struct lab_drawn drawn;
    if (draw_plus_minus(point, &drawn))
        return -1;
    lab_reading_above(reading, fmin(drawn.trace[0], drawn.trace[1]), 0);
    return 0;
}

/* What cancels varies in opposite directions: a covariance below 0. */
static int read_cancels(const struct lab_point *point, struct lab_found *reading)
{
    struct lab_drawn drawn;
    if (draw_plus_minus(point, &drawn))
        return -1;
    const double scale = sqrt(drawn.trace[0] * drawn.trace[1]);
    lab_reading_below(reading, scale > 0 ? drawn.trace_cross / scale : 0, 0);
    return 0;
}

static const struct lab_statement statements[] = {
    {LAB_SAYS("002-1", 13, "softmax definition"), .quoted = 13,
     .quote = "\\alpha_i = \\frac{\\exp(k_i^\\top q)}{\\sum_{j=1}^n \\exp(k_j^\\top q)}",
     .exact = "alpha_i = exp(k_i.q) / sum_j exp(k_j.q), for any finite scores.",
     .printed = {LAB_READS(lab_claim_definition, 0, "beta")}},
    {LAB_SAYS("002-2", 17, "exp >= 0, sum 1: categorical"), .quoted = 17,
     .quote = "The exponential function ensures that $\\exp(k_i^{\\top}q) \\geq 0$, so "
              "$\\alpha_i \\geq 0$",
     .exact = "Weights are positive and add up to 1, for any finite scores.",
     .printed = {LAB_READS(lab_claim_distribution, 0, "beta")}},
    {LAB_SAYS("002-3", 24, "copy when the key k_j >> k_i is large"), .quoted = 24,
     .quote = "$k_j \\gg k_i$, for $i \\in \\{1, ..., n\\}$ and $i \\neq j$), then the "
              "dot product between the key and the query will be large",
     .exact = "The gap of the scores decides. A long key has a large score only if its "
              "angle to q is below 90 degrees; else the longer it is, the less it gets.",
     .printed = {LAB_READS(read_long_key, LAB_FREE_SCALE, "|k_j|"),
                 .argue = argue_long_key}},
    {LAB_SAYS("002-4", 28, "c ~ v_j since alpha_j >> sum others"), .quoted = 28,
     .quote = "almost be a copy of the value v_j due to the fact that $\\alpha_j \\gg "
              "\\sum_{i \\neq j} \\alpha_i$",
     .exact = "With r = alpha_j / sum of the others, |c - v_j| <= max|v_i - v_j|/(1+r).",
     .printed = {LAB_READS(lab_claim_copy_ratio, LAB_FREE_SCALE, "the ratio")}},
    {LAB_SAYS("002-5", 32, "q closely aligned with k_j makes v_j dominate"), .quoted = 32,
     .quote = "when the query q is closely aligned with a specific key k_j , the output "
              "c becomes dominated by the corresponding value v_j",
     .exact = "With orthonormal keys, and |q| large enough for a gap of "
              "ln((n-1)(1-eps)/eps): direction alone does not do it.",
     .printed = {LAB_READS(lab_claim_copy_aligned, LAB_FREE_SCALE, "|q|")}},
    {LAB_SAYS("002-6", 42, "need k_a.q ~ k_b.q >> k_i.q"), .quoted = 44,
     .quote = "k_a^{\\top} q \\approx k_b^{\\top} q \\gg k_i^{\\top} q",
     .exact = "p_a/p_b = exp(k_a.q - k_b.q): the difference must be near 0, and both "
              "ln((n-2)/(2 eps)) above the rest.",
     .printed = {LAB_READS(read_nearly_equal, LAB_FREE_SCALE, "the gap")}},
    {LAB_SAYS("002-7", 48, "q=beta(k_a+k_b): scores beta, beta, 0"), .quoted = 48,
     .quote = "q = \\beta(k_a + k_b)", .exact = "For orthonormal keys.",
     .printed = {LAB_READS(read_scores, 0, "beta")}},
    {LAB_SAYS("002-8", 57, "only exp(beta) matters since exp(0)=1 is insignificant"),
     .quoted = 57,
     .quote =
         "only $\\exp(\\beta)$ will matter, because $\\exp(0) = 1$ will be insignificant",
     .exact = "There are n-2 terms exp(0): together (n-2)/(2e^beta+n-2) of the mass, so "
              "beta - ln n must be large, not beta alone.",
     .printed = {LAB_READS(read_insignificant, LAB_FREE_SCALE, "beta")}},
    {LAB_SAYS("002-9", 59, "alpha = e^b/(n-2+2e^b) ~ 1/2"), .quoted = 59,
     .quote = "\\alpha_a = \\alpha_b = \\frac{\\exp(\\beta)}{n - 2 + 2\\exp(\\beta)} "
              "\\approx \\frac{\\exp(\\beta)}{2\\exp(\\beta)} \\approx \\frac{1}{2}",
     .exact = "The fraction is exact; it is 1/2 to within eps/2 iff "
              "beta >= ln((n-2)(1-eps)/(2 eps)).",
     .printed = {LAB_READS(lab_claim_pair_half, LAB_FREE_SCALE, "beta")}},
    {LAB_SAYS("002-10", 63, "Pi rearranges rows of X; X Pi is the permuted input"),
     .quoted = 63,
     .quote = "A permutation matrix Π rearranges the rows of the input X. If X is the "
              "input, then $X\\Pi$ represents the permuted input",
     .exact =
         "Pi X rearranges rows; X Pi would rearrange columns, and fits only if there "
         "are as many tokens as features.",
     .repair = "Pi on the left, the side that moves rows, as the same line says",
     .printed = {LAB_READS(read_moves_tokens_right, 0, NULL), .left = "X Pi",
                 .right = "X"},
     .repaired = {LAB_READS(read_moves_tokens_left, 0, NULL), .left = "Pi X",
                  .right = "X"}},
    {LAB_SAYS("002-11", 66, "(X Pi)W = (X W)Pi"), .quoted = 66,
     .quote = "Q(X\\Pi) = (X\\Pi)W_Q = Q(X)\\Pi",
     .exact = "(Pi X)W = Pi(X W). X Pi W = X W Pi would need W and Pi to commute.",
     .repair = "Pi on the left, the side that moves rows, as line 63 says",
     .printed = {LAB_READS(read_projection_right, 0, NULL), .left = "X Pi W",
                 .right = "X W Pi"},
     .repaired = {LAB_READS(read_projection_left, 0, NULL), .left = "Pi X W",
                  .right = "Pi X W"}},
    {LAB_SAYS("002-12", 76, "S(X Pi) = S(X)"), .quoted = 76,
     .quote = "S(X\\Pi) = \\frac{Q(X)K(X)^{\\top}}{\\sqrt{d_k}} = S(X)",
     .exact = "S(Pi X) = Pi S(X) Pi^T: rows and columns of the scores move.",
     .repair = "Pi on the left, the side that moves rows, as line 63 says",
     .printed = {LAB_READS(read_same_scores_right, 0, NULL), .left = "X Pi",
                 .right = "X"},
     .repaired = {LAB_READS(read_same_scores_left, 0, NULL), .left = "Pi X",
                  .right = "X"}},
    {LAB_SAYS("002-13", 80, "softmax(S(X Pi)) = softmax(S(X)) Pi"), .quoted = 80,
     .quote = "\\operatorname{Softmax}(S(X\\Pi)) = \\operatorname{Softmax}(S(X))\\Pi",
     .exact = "softmax(S(Pi X)) = Pi softmax(S(X)) Pi^T; it also contradicts line 76, by "
              "which nothing would move.",
     .repair = "Pi on the left, the side that moves rows, as line 63 says",
     .printed = {LAB_READS(read_softmax_right, 0, NULL), .left = "X Pi", .right = "X"},
     .repaired = {LAB_READS(read_softmax_left, 0, NULL), .left = "Pi X", .right = "X"}},
    {LAB_SAYS("002-14", 84, "Attention(X Pi) = Attention(X) Pi"), .quoted = 84,
     .quote = "Attention(X\\Pi) = Attention(X)\\Pi",
     .exact =
         "Attention(Pi X) = Pi Attention(X) when rows are tokens; X Pi is right when "
         "columns are.",
     .repair = "Pi on the left, the side that moves rows, as line 63 says",
     .printed = {LAB_READS(read_attention_right, 0, NULL), .left = "X Pi", .right = "X"},
     .repaired = {LAB_READS(read_attention_left, 0, NULL), .left = "Pi X", .right = "X"}},
    {LAB_SAYS("002-15", 102, "q=beta(mu_a+mu_b): scores ~ beta, beta, 0"), .quoted = 109,
     .quote = "\\approx \\beta (\\mu_a^{\\mathsf{T}} \\mu_a + \\mu_a^{\\mathsf{T}} "
              "\\mu_b) = \\beta (1 + 0) = \\beta",
     .exact = "Each score has variance 2 alpha beta^2 around these: alpha beta^2 << 1.",
     .printed = {LAB_READS(lab_claim_pair_scores, LAB_FREE_ALPHA, "beta")}},
    {LAB_SAYS("002-16", 123, "weights with exp(beta/sqrt(d_k)), beta >> 0"),
     .quoted = 123,
     .quote = "\\alpha_a = \\alpha_b = "
              "\\frac{\\exp(\\beta/\\sqrt{d_k})}{\\exp(\\beta/\\sqrt{d_k}) + "
              "\\exp(\\beta/\\sqrt{d_k}) + \\sum_{i \\notin \\{a,b\\}} \\exp(0)}",
     .exact = "With scores scaled by 1/sqrt(d) the scale needed is "
              "sqrt(d) ln((n-2)(1-eps)/(2 eps)); line 13 has no such factor. Here d = n.",
     .printed = {LAB_READS(read_root_d, LAB_FREE_SCALE, "beta")}},
    {LAB_SAYS("002-17", 133,
              "c ~ (v_a+v_b)/2; works because q is orthogonal to other mu_i"),
     .quoted = 137,
     .quote = "This construction works because q is orthogonal to all other μ_i",
     .exact = "It works because k_a.q = k_b.q exceeds the other scores by more than "
              "ln((n-2)/(2 eps)); orthogonality only makes those scores 0.",
     .printed = {LAB_READS(lab_claim_pair, LAB_FREE_SCALE, "beta"),
                 .argue = argue_orthogonal}},
    {LAB_SAYS("002-18", 141, "Sigma_a = beta I + mu_a mu_a^T/2"), .quoted = 141,
     .quote = "\\Sigma_a = \\beta I + \\frac{1}{2}(\\mu_a \\mu_a^{\\mathsf{T}})",
     .exact = "Sigma_a = alpha I + mu_a mu_a^T/2.",
     .repair = "beta -> alpha, as line 107 writes the variance",
     .printed = {LAB_READS(read_beta_noise, 0, "beta"),
                 .symbol = {"beta", LAB_MEANS_SCALE, 102, LAB_MEANS_NOISE}},
     .repaired = {LAB_READS(lab_claim_noise_law, 0, "beta"),
                  .symbol = {"alpha", LAB_MEANS_NOISE, 107, LAB_MEANS_NOISE}}},
    {LAB_SAYS("002-19", 145, "larger k_a raises alpha_a, smaller lowers it"),
     .quoted = 145, .quote = "When k_a is larger in a sample, α_a increases",
     .exact = "alpha_a increases with gamma; with |k_a| = |gamma| only where gamma > 0 "
              "(92% of draws), else a longer k_a lowers it.",
     .printed = {LAB_READS(read_longer_raises, LAB_FREE_EVENT, "beta")}},
    {LAB_SAYS("002-20", 147, "stable in part i, variance of c larger now"), .quoted = 153,
     .quote = "The variance of c increases due to the variability in k_a",
     .exact = "At alpha = 0 the variance is 0 in part i and positive now: .195 per "
              "coefficient at beta = 10, n = 2.",
     .printed = {LAB_READS(read_larger_variance, 0, "beta")}},
    {LAB_SAYS("002-21", 161, "q1=beta(mu_a+mu_b), q2=beta(mu_a-mu_b)"), .quoted = 161,
     .quote = "q_1 = \\beta(\\mu_a + \\mu_b), \\quad q_2 = \\beta(\\mu_a - \\mu_b)",
     .exact = "Head 2 copies v_a, so c tends to (3 v_a + v_b)/4.",
     .printed = {LAB_READS(read_design, LAB_FREE_SCALE, "beta")}},
    {LAB_SAYS("002-22", 166, "q2 is opposed to mu_b yet focuses on the same keys"),
     .quoted = 166,
     .quote = "The query q_2 aligns oppositely with μ_a and μ_b , providing diversity "
              "while still focusing on the same keys",
     .exact = "Head 2 gives b the weight e^-beta/(e^beta+e^-beta+n-2), the least of all "
              "keys.",
     .printed = {LAB_READS(read_same_keys, LAB_FREE_SCALE, "beta")}},
    {LAB_SAYS("002-23", 172, "c2 ~ c ~ (v_a+v_b)/2"), .quoted = 172,
     .quote = "c_2 \\approx \\frac{1}{2}(v_a + v_b)",
     .exact = "c2 tends to v_a and c to (3 v_a + v_b)/4.",
     .printed = {LAB_READS(read_second_average, LAB_FREE_SCALE, "beta")}},
    {LAB_SAYS("002-24", 186, "with magnitude noise both c1 and c2 vary"), .quoted = 186,
     .quote = "its fluctuations in magnitude result in variability in these outputs",
     .exact = "The score of a is beta gamma in both heads: both variances are positive.",
     .printed = {LAB_READS(read_both_vary, 0, "beta")}},
    {LAB_SAYS("002-25", 195, "fluctuations partially cancel, showing robustness"),
     .quoted = 195,
     .quote = "the fluctuations in c_1 and c_2 may partially cancel out, reducing the "
              "overall variance in c",
     .exact =
         "Both heads follow the same gamma upwards, so their covariance is positive; "
         "the average varies less only because head 2 varies little.",
     .printed = {LAB_READS(read_cancels, LAB_FREE_SCALE, "beta")}},
};

const struct lab_sheet lab_sheet_002 = {"002", statements,
                                        sizeof statements / sizeof statements[0]};

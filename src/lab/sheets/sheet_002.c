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

static int read_long_key(const struct lab_exercise *exercise,
                         const struct lab_point *point, struct lab_reading *reading)
{
    /* The most favourable query: along the long key. */
    struct lab_pair_weights p;
    if (lab_exercise_pair_at(exercise, point->n, point->scale,
                             (struct lab_pair_query){1, 0}, &p))
        return -1;
    lab_reading_equal(reading, p.a, 1);
    reading->error = lab_pair_distance(&p, 1, 0);
    return 0;
}

/* Scores of a and b that differ by 1/beta, and beta above all others. */
static int read_nearly_equal(const struct lab_exercise *exercise,
                             const struct lab_point *point, struct lab_reading *reading)
{
    const struct lab_pair_query query = {point->scale + 1 / point->scale, point->scale};
    struct lab_pair_weights p;
    if (lab_exercise_pair(exercise, point->n, query, &p))
        return -1;
    lab_reading_equal(reading, p.a, 0.5);
    reading->error = lab_pair_distance(&p, 0.5, 0.5);
    return 0;
}

static int read_scores(const struct lab_exercise *exercise, const struct lab_point *point,
                       struct lab_reading *reading)
{
    const struct lab_point exact = {.n = point->n, .scale = point->scale};
    return lab_claim_pair_scores(exercise, &exact, reading);
}

/* The share of the denominator that exp(0) has. */
static int read_insignificant(const struct lab_exercise *exercise,
                              const struct lab_point *point, struct lab_reading *reading)
{
    struct lab_pair_weights p;
    if (lab_exercise_pair(exercise, point->n,
                          (struct lab_pair_query){point->scale, point->scale}, &p))
        return -1;
    lab_reading_equal(reading, p.others, 0);
    return 0;
}

/* exp(beta / sqrt(d)) in every term, d = n, against scores as line 13 has them. */
static int read_root_d(const struct lab_exercise *exercise, const struct lab_point *point,
                       struct lab_reading *reading)
{
    const double n = (double)point->n, beta = point->scale;
    const double printed = 1 / ((n - 2) * exp(-beta / sqrt(n)) + 2);
    struct lab_pair_weights p;
    if (lab_exercise_pair(exercise, point->n, (struct lab_pair_query){beta, beta}, &p))
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
                             struct lab_reading *reading)
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
                           struct lab_reading *reading)
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
                            struct lab_reading *reading)
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
                        struct lab_reading *reading)
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
                          struct lab_reading *reading)
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
    static int name##_right(const struct lab_exercise *exercise,                         \
                            const struct lab_point *point, struct lab_reading *reading)  \
    {                                                                                    \
        (void)point;                                                                     \
        return name(exercise, RIGHT, reading);                                           \
    }                                                                                    \
    static int name##_left(const struct lab_exercise *exercise,                          \
                           const struct lab_point *point, struct lab_reading *reading)   \
    {                                                                                    \
        (void)point;                                                                     \
        return name(exercise, LEFT, reading);                                            \
    }

BOTH_SIDES(read_moves_tokens)
BOTH_SIDES(read_projection)
BOTH_SIDES(read_same_scores)
BOTH_SIDES(read_softmax)
BOTH_SIDES(read_attention)

/* ---- one head and noise ------------------------------------------------------ */

/* Var of the key along its mean, with the query's scale where alpha should stand. */
static int read_beta_noise(const struct lab_exercise *exercise,
                           const struct lab_point *point, struct lab_reading *reading)
{
    const struct lab_pair_query along = {1, 0};
    const double variance =
        lab_exercise_score_covariance(exercise, point->alpha, 0, along, along);
    lab_reading_equal(reading, variance, point->scale + 0.5);
    return 0;
}

/* The share of draws in which a key longer by 1% gets less weight. */
static int read_longer_raises(const struct lab_exercise *exercise,
                              const struct lab_point *point, struct lab_reading *reading)
{
    const struct lab_pair_query query = {point->scale, point->scale};
    double gamma[LAB_EXERCISE_DRAWS];
    int count = 0, lowered = 0;
    if (lab_exercise_gammas(exercise, gamma))
        return -1;
    for (int x = 0; x < 256; x++) {
        struct lab_pair_weights p, longer;
        if (point->given_positive && gamma[x] <= 0)
            continue;
        /* Few other keys suffice: their number moves no sign. */
        if (lab_exercise_pair_at(exercise, 3, gamma[x], query, &p) ||
            lab_exercise_pair_at(exercise, 3, 1.01 * gamma[x], query, &longer))
            return -1;
        lowered += longer.a < p.a;
        count++;
    }
    lab_reading_equal(reading, (double)lowered / count, 0);
    return 0;
}

static int read_larger_variance(const struct lab_exercise *exercise,
                                const struct lab_point *point,
                                struct lab_reading *reading)
{
    const struct lab_pair_query query = {point->scale, point->scale};
    struct lab_drawn before, now;
    if (lab_exercise_draw(exercise, point, 0, 1, &query, &before) ||
        lab_exercise_draw(exercise, point, 1, 1, &query, &now))
        return -1;
    lab_reading_above(reading, now.trace[0], before.trace[0]);
    if (before.trace[0] > LAB_TOLERANCE)
        reading->error = fmax(reading->error, before.trace[0]);
    return 0;
}

/* ---- heads beta (mu_a + mu_b) and beta (mu_a - mu_b) --------------------------- */

static int plus_minus(const struct lab_exercise *exercise, const struct lab_point *point,
                      struct lab_pair_weights p[2])
{
    const double beta = point->scale;
    return lab_exercise_pair(exercise, point->n, (struct lab_pair_query){beta, beta},
                             &p[0]) ||
                   lab_exercise_pair(exercise, point->n,
                                     (struct lab_pair_query){beta, -beta}, &p[1])
               ? -1
               : 0;
}

static int read_design(const struct lab_exercise *exercise, const struct lab_point *point,
                       struct lab_reading *reading)
{
    struct lab_pair_weights p[2];
    if (plus_minus(exercise, point, p))
        return -1;
    const struct lab_pair_weights mean = {.a = (p[0].a + p[1].a) / 2,
                                          .b = (p[0].b + p[1].b) / 2};
    lab_reading_equal(reading, mean.a, 0.5);
    reading->error = lab_pair_distance(&mean, 0.5, 0.5);
    return 0;
}

static int read_same_keys(const struct lab_exercise *exercise,
                          const struct lab_point *point, struct lab_reading *reading)
{
    struct lab_pair_weights p[2];
    if (plus_minus(exercise, point, p))
        return -1;
    lab_reading_equal(reading, p[1].b, p[0].b);
    return 0;
}

static int read_second_average(const struct lab_exercise *exercise,
                               const struct lab_point *point, struct lab_reading *reading)
{
    struct lab_pair_weights p[2];
    if (plus_minus(exercise, point, p))
        return -1;
    lab_reading_equal(reading, p[1].a, 0.5);
    reading->error = lab_pair_distance(&p[1], 0.5, 0.5);
    return 0;
}

static int draw_plus_minus(const struct lab_exercise *exercise,
                           const struct lab_point *point, struct lab_drawn *drawn)
{
    const double beta = point->scale;
    const struct lab_pair_query query[2] = {{beta, beta}, {beta, -beta}};
    return lab_exercise_draw(exercise, point, 1, 2, query, drawn);
}

static int read_both_vary(const struct lab_exercise *exercise,
                          const struct lab_point *point, struct lab_reading *reading)
{
    struct lab_drawn drawn;
    if (draw_plus_minus(exercise, point, &drawn))
        return -1;
    lab_reading_above(reading, fmin(drawn.trace[0], drawn.trace[1]), 0);
    return 0;
}

/* What cancels varies in opposite directions: a covariance below 0. */
static int read_cancels(const struct lab_exercise *exercise,
                        const struct lab_point *point, struct lab_reading *reading)
{
    struct lab_drawn drawn;
    if (draw_plus_minus(exercise, point, &drawn))
        return -1;
    const double scale = sqrt(drawn.trace[0] * drawn.trace[1]);
    lab_reading_below(reading, scale > 0 ? drawn.trace_cross / scale : 0, 0);
    return 0;
}

static const struct lab_statement statements[] = {
    {.id = "002-1",
     .line = 13,
     .says = "softmax definition",
     .exact = "alpha_i = exp(k_i.q) / sum_j exp(k_j.q), for any finite scores.",
     .printed = {LAB_READS(lab_claim_definition, 0, "beta")}},
    {.id = "002-2",
     .line = 17,
     .says = "exp >= 0, sum 1: categorical",
     .exact = "Weights are positive and add up to 1, for any finite scores.",
     .printed = {LAB_READS(lab_claim_distribution, 0, "beta")}},
    {.id = "002-3",
     .line = 24,
     .says = "copy when the key k_j >> k_i is large",
     .exact = "The gap of the scores decides. A long key has a large score only if its "
              "angle to q is below 90 degrees; else the longer it is, the less it gets.",
     .printed = {LAB_READS(read_long_key, LAB_FREE_SCALE, "|k_j|"),
                 .argue = argue_long_key}},
    {.id = "002-4",
     .line = 28,
     .says = "c ~ v_j since alpha_j >> sum others",
     .exact = "With r = alpha_j / sum of the others, |c - v_j| <= max|v_i - v_j|/(1+r).",
     .printed = {LAB_READS(lab_claim_copy_ratio, LAB_FREE_SCALE, "the ratio")}},
    {.id = "002-5",
     .line = 32,
     .says = "q closely aligned with k_j makes v_j dominate",
     .exact = "With orthonormal keys, and |q| large enough for a gap of "
              "ln((n-1)(1-eps)/eps): direction alone does not do it.",
     .printed = {LAB_READS(lab_claim_copy_aligned, LAB_FREE_SCALE, "|q|")}},
    {.id = "002-6",
     .line = 42,
     .says = "need k_a.q ~ k_b.q >> k_i.q",
     .exact = "p_a/p_b = exp(k_a.q - k_b.q): the difference must be near 0, and both "
              "ln((n-2)/(2 eps)) above the rest.",
     .printed = {LAB_READS(read_nearly_equal, LAB_FREE_SCALE, "the gap")}},
    {.id = "002-7",
     .line = 48,
     .says = "q=beta(k_a+k_b): scores beta, beta, 0",
     .exact = "For orthonormal keys.",
     .printed = {LAB_READS(read_scores, 0, "beta")}},
    {.id = "002-8",
     .line = 57,
     .says = "only exp(beta) matters since exp(0)=1 is insignificant",
     .exact = "There are n-2 terms exp(0): together (n-2)/(2e^beta+n-2) of the mass, so "
              "beta - ln n must be large, not beta alone.",
     .printed = {LAB_READS(read_insignificant, LAB_FREE_SCALE, "beta")}},
    {.id = "002-9",
     .line = 59,
     .says = "alpha = e^b/(n-2+2e^b) ~ 1/2",
     .exact = "The fraction is exact; it is 1/2 to within eps/2 iff "
              "beta >= ln((n-2)(1-eps)/(2 eps)).",
     .printed = {LAB_READS(lab_claim_pair_half, LAB_FREE_SCALE, "beta")}},
    {.id = "002-10",
     .line = 63,
     .says = "Pi rearranges rows of X; X Pi is the permuted input",
     .exact =
         "Pi X rearranges rows; X Pi would rearrange columns, and fits only if there "
         "are as many tokens as features.",
     .repair = "Pi on the left, the side that moves rows, as the same line says",
     .printed = {LAB_READS(read_moves_tokens_right, 0, NULL), .left = "X Pi",
                 .right = "X"},
     .repaired = {LAB_READS(read_moves_tokens_left, 0, NULL), .left = "Pi X",
                  .right = "X"}},
    {.id = "002-11",
     .line = 66,
     .says = "(X Pi)W = (X W)Pi",
     .exact = "(Pi X)W = Pi(X W). X Pi W = X W Pi would need W and Pi to commute.",
     .repair = "Pi on the left, the side that moves rows, as line 63 says",
     .printed = {LAB_READS(read_projection_right, 0, NULL), .left = "X Pi W",
                 .right = "X W Pi"},
     .repaired = {LAB_READS(read_projection_left, 0, NULL), .left = "Pi X W",
                  .right = "Pi X W"}},
    {.id = "002-12",
     .line = 76,
     .says = "S(X Pi) = S(X)",
     .exact = "S(Pi X) = Pi S(X) Pi^T: rows and columns of the scores move.",
     .repair = "Pi on the left, the side that moves rows, as line 63 says",
     .printed = {LAB_READS(read_same_scores_right, 0, NULL), .left = "X Pi",
                 .right = "X"},
     .repaired = {LAB_READS(read_same_scores_left, 0, NULL), .left = "Pi X",
                  .right = "X"}},
    {.id = "002-13",
     .line = 80,
     .says = "softmax(S(X Pi)) = softmax(S(X)) Pi",
     .exact = "softmax(S(Pi X)) = Pi softmax(S(X)) Pi^T; it also contradicts line 76, by "
              "which nothing would move.",
     .repair = "Pi on the left, the side that moves rows, as line 63 says",
     .printed = {LAB_READS(read_softmax_right, 0, NULL), .left = "X Pi", .right = "X"},
     .repaired = {LAB_READS(read_softmax_left, 0, NULL), .left = "Pi X", .right = "X"}},
    {.id = "002-14",
     .line = 84,
     .says = "Attention(X Pi) = Attention(X) Pi",
     .exact =
         "Attention(Pi X) = Pi Attention(X) when rows are tokens; X Pi is right when "
         "columns are.",
     .repair = "Pi on the left, the side that moves rows, as line 63 says",
     .printed = {LAB_READS(read_attention_right, 0, NULL), .left = "X Pi", .right = "X"},
     .repaired = {LAB_READS(read_attention_left, 0, NULL), .left = "Pi X", .right = "X"}},
    {.id = "002-15",
     .line = 102,
     .says = "q=beta(mu_a+mu_b): scores ~ beta, beta, 0",
     .exact = "Each score has variance 2 alpha beta^2 around these: alpha beta^2 << 1.",
     .printed = {LAB_READS(lab_claim_pair_scores, LAB_FREE_ALPHA, "beta")}},
    {.id = "002-16",
     .line = 123,
     .says = "weights with exp(beta/sqrt(d_k)), beta >> 0",
     .exact = "With scores scaled by 1/sqrt(d) the scale needed is "
              "sqrt(d) ln((n-2)(1-eps)/(2 eps)); line 13 has no such factor. Here d = n.",
     .printed = {LAB_READS(read_root_d, LAB_FREE_SCALE, "beta")}},
    {.id = "002-17",
     .line = 133,
     .says = "c ~ (v_a+v_b)/2; works because q is orthogonal to other mu_i",
     .exact = "It works because k_a.q = k_b.q exceeds the other scores by more than "
              "ln((n-2)/(2 eps)); orthogonality only makes those scores 0.",
     .printed = {LAB_READS(lab_claim_pair, LAB_FREE_SCALE, "beta"),
                 .argue = argue_orthogonal}},
    {.id = "002-18",
     .line = 141,
     .says = "Sigma_a = beta I + mu_a mu_a^T/2",
     .exact = "Sigma_a = alpha I + mu_a mu_a^T/2.",
     .repair = "beta -> alpha, as line 107 writes the variance",
     .printed = {LAB_READS(read_beta_noise, 0, "beta"),
                 .symbol = {"beta", LAB_MEANS_SCALE, 102, LAB_MEANS_NOISE}},
     .repaired = {LAB_READS(lab_claim_noise_law, 0, "beta"),
                  .symbol = {"alpha", LAB_MEANS_NOISE, 107, LAB_MEANS_NOISE}}},
    {.id = "002-19",
     .line = 145,
     .says = "larger k_a raises alpha_a, smaller lowers it",
     .exact = "alpha_a increases with gamma; with |k_a| = |gamma| only where gamma > 0 "
              "(92% of draws), else a longer k_a lowers it.",
     .printed = {LAB_READS(read_longer_raises, LAB_FREE_EVENT, "beta")}},
    {.id = "002-20",
     .line = 147,
     .says = "stable in part i, variance of c larger now",
     .exact = "At alpha = 0 the variance is 0 in part i and positive now: .195 per "
              "coefficient at beta = 10, n = 2.",
     .printed = {LAB_READS(read_larger_variance, 0, "beta")}},
    {.id = "002-21",
     .line = 161,
     .says = "q1=beta(mu_a+mu_b), q2=beta(mu_a-mu_b)",
     .exact = "Head 2 copies v_a, so c tends to (3 v_a + v_b)/4.",
     .printed = {LAB_READS(read_design, LAB_FREE_SCALE, "beta")}},
    {.id = "002-22",
     .line = 166,
     .says = "q2 is opposed to mu_b yet focuses on the same keys",
     .exact = "Head 2 gives b the weight e^-beta/(e^beta+e^-beta+n-2), the least of all "
              "keys.",
     .printed = {LAB_READS(read_same_keys, LAB_FREE_SCALE, "beta")}},
    {.id = "002-23",
     .line = 172,
     .says = "c2 ~ c ~ (v_a+v_b)/2",
     .exact = "c2 tends to v_a and c to (3 v_a + v_b)/4.",
     .printed = {LAB_READS(read_second_average, LAB_FREE_SCALE, "beta")}},
    {.id = "002-24",
     .line = 186,
     .says = "with magnitude noise both c1 and c2 vary",
     .exact = "The score of a is beta gamma in both heads: both variances are positive.",
     .printed = {LAB_READS(read_both_vary, 0, "beta")}},
    {.id = "002-25",
     .line = 195,
     .says = "fluctuations partially cancel, showing robustness",
     .exact =
         "Both heads follow the same gamma upwards, so their covariance is positive; "
         "the average varies less only because head 2 varies little.",
     .printed = {LAB_READS(read_cancels, LAB_FREE_SCALE, "beta")}},
};

const struct lab_sheet lab_sheet_002 = {"002", statements,
                                        sizeof statements / sizeof statements[0]};

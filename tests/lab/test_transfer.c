/* SPDX-License-Identifier: MIT */
/* The error of an output due to rounded keys: predicted and measured. */
#include "support/problems.h"

#include "attend/theory.h"
#include "lab/measure/frames.h"
#include "lab/measure/moments.h"
#include "lab/place/place.h"
#include "lab/place/transfer.h"
#include "lab/place/transfer_rows.h"

enum { D = 8, N = 12 };

/* Softmax over keys 0 .. n - 1, and c = sum p v, by the definition. */
static void dense(const double *q, const double *k, const double *v, int n, double scale,
                  double *p, double *c)
{
    double sum = 0;

    for (int j = 0; j < n; j++)
        sum += p[j] = exp(scale * lab_dot(q, k + j * D, D));
    memset(c, 0, D * sizeof *c);
    for (int j = 0; j < n; j++) {
        p[j] /= sum;
        for (int x = 0; x < D; x++)
            c[x] += p[j] * v[j * D + x];
    }
}

static double square(const double *x, const double *y)
{
    double sum = 0;

    for (int c = 0; c < D; c++)
        sum += (x[c] - y[c]) * (x[c] - y[c]);
    return sum;
}

/* Expected sums of one row over the first n keys, from p and T24 by definition. */
static struct lab_transfer_sums expected_row(enum lab_key_format format, const double *q,
                                             const double *k, const double *v, int n,
                                             double scale)
{
    double rounded[N * D], variance[N * D], p[N], moved[N], c[D], c_moved[D], e2[N];
    double covariance[D * D], mean = 0, spread = 0;
    struct lab_transfer_sums sums = {.rows = 1, .delta_rows = 1};

    lab_round_keys(format, k, N, D, rounded, variance);
    dense(q, k, v, n, scale, p, c);
    dense(q, rounded, v, n, scale, moved, c_moved);
    for (int x = 0; x < N * D; x++)
        mean += variance[x] / (N * D);
    for (int j = 0; j < n; j++) {
        double moved_score = 0;
        e2[j] = 0;
        for (int x = 0; x < D; x++) {
            e2[j] += scale * scale * q[x] * q[x] * variance[j * D + x];
            moved_score += scale * q[x] * (rounded[j * D + x] - k[j * D + x]);
        }
        spread += p[j] * p[j] * square(v + j * D, c);
        sums.score_variance += p[j] * e2[j];
        sums.score_measured += p[j] * moved_score * moved_score;
    }
    attend_theory_delta_covariance(p, v, e2, n, D, covariance);
    for (int x = 0; x < D; x++)
        sums.delta += covariance[x * D + x];
    sums.output = sums.delta_output = lab_dot(c, c, D);
    sums.measured = sums.delta_measured = square(c, c_moved);
    sums.statistic = scale * scale * lab_dot(q, q, D) * spread * mean;
    return sums;
}

static int near(double x, double y) { return fabs(x - y) <= 1e-9 * fabs(y) + 1e-18; }

/* Causal rows: the first two have no visible key, the next has one. */
TEST(sums_are_those_of_the_definition)
{
    enum { NQ = 9 };
    double q[NQ * D], k[N * D], v[N * D];
    const int64_t offset = -2;
    attend_rule rule = attend_rule_default();
    const struct lab_transfer_head head = {
        .nq = NQ, .nk = N, .d = D, .dv = D, .q = q, .k = k, .v = v, .rule = &rule};
    auto_free double *const scratch =
        malloc((size_t)lab_transfer_scratch(&head) * sizeof *scratch);
    auto_context const ctx = open_set(NULL, 1);

    lab_normals(3, 0, 0, q, NQ * D);
    lab_normals(3, 1, 0, k, N * D);
    lab_normals(3, 2, 0, v, N * D);
    rule.causal = ATTEND_CAUSAL_OFFSET;
    rule.causal_offset = &offset;
    rule.scale_is_set = 1;
    rule.scale = 0.7;
    CHECK(lab_transfer_exact(ctx, &head, scratch, NULL) == ATTEND_OK, "exact");
    for (int format = 0; format < LAB_KEY_FORMATS; format++)
        for (int rows = 3; rows <= NQ; rows += NQ - 3) {
            struct lab_transfer_sums sums, all = {.rows = 0};
            CHECK(lab_transfer_rounded(ctx, &head, (enum lab_key_format)format, rows,
                                       scratch, &sums, NULL) == ATTEND_OK,
                  "rounded");
            for (int i = 2; i < NQ; i++) {
                const struct lab_transfer_sums row = expected_row(
                    (enum lab_key_format)format, q + i * D, k, v, i - 1, 0.7);
                const int sampled = lab_is_sampled(i - 2, NQ - 2, rows);
                all.rows++;
                all.output += row.output;
                all.measured += row.measured;
                all.statistic += row.statistic;
                all.delta_rows += sampled;
                all.delta += sampled * row.delta;
                all.delta_output += sampled * row.output;
                all.delta_measured += sampled * row.measured;
                all.score_variance += sampled * row.score_variance;
                all.score_measured += sampled * row.score_measured;
            }
            CHECK(sums.rows == all.rows && sums.delta_rows == (rows < NQ ? rows : NQ - 2),
                  "%lld rows", (long long)sums.delta_rows);
            CHECK(near(sums.output, all.output) && near(sums.measured, all.measured) &&
                      near(sums.statistic, all.statistic),
                  "%s: %g %g", lab_key_format_name[format], sums.statistic,
                  all.statistic);
            CHECK(near(sums.delta, all.delta) &&
                      near(sums.delta_output, all.delta_output) &&
                      near(sums.delta_measured, all.delta_measured),
                  "%s: %g %g", lab_key_format_name[format], sums.delta, all.delta);
            CHECK(near(sums.score_variance, all.score_variance) &&
                      near(sums.score_measured, all.score_measured),
                  "%s: scores", lab_key_format_name[format]);
        }
}

TEST(samples_lie_evenly)
{
    for (int64_t count = 1; count < 40; count++)
        for (int64_t wanted = 1; wanted < 50; wanted++) {
            int64_t taken = 0, last = -1, widest = 0;
            for (int64_t i = 0; i < count; i++)
                if (lab_is_sampled(i, count, wanted)) {
                    taken++;
                    widest = i - last > widest ? i - last : widest;
                    last = i;
                }
            CHECK(taken == (wanted < count ? wanted : count) && last == count - 1,
                  "%lld of %lld", (long long)taken, (long long)count);
            CHECK(widest <= (count + wanted - 1) / wanted, "a gap of %lld",
                  (long long)widest);
        }
}

/* ---- synthetic heads ----------------------------------------------------- */

/* Over heads: moments of the error squared, of its prediction and of the difference. */
struct compared {
    struct lab_moments measured, predicted, off, score;
};

static int compare(const struct lab_synthetic *s, enum lab_key_format format, int heads,
                   struct compared *to)
{
    const attend_rule rule = attend_rule_default();
    auto_free double *const tensors =
        malloc((size_t)lab_synthetic_size(s) * sizeof *tensors);
    const double *const k = tensors + s->rows * s->d;
    const struct lab_transfer_head head = {.nq = s->rows,
                                           .nk = s->n,
                                           .d = s->d,
                                           .dv = s->d,
                                           .q = tensors,
                                           .k = k,
                                           .v = k + s->n * s->d,
                                           .rule = &rule};
    auto_free double *const scratch =
        malloc((size_t)lab_transfer_scratch(&head) * sizeof *scratch);
    auto_context const ctx = open_set(NULL, 1);
    int failed = 0;

    *to = (struct compared){.measured = {0}};
    for (int x = 0; x < heads && !failed; x++) {
        struct lab_transfer_sums sums;
        lab_synthetic_draw(s, (uint64_t)x, tensors);
        failed = lab_transfer_exact(ctx, &head, scratch, NULL) ||
                 lab_transfer_rounded(ctx, &head, format, s->rows, scratch, &sums, NULL);
        lab_moments_add(&to->measured, sums.measured);
        lab_moments_add(&to->predicted, sums.delta);
        lab_moments_add(&to->off, sums.measured - sums.delta);
        lab_moments_add(&to->score, sums.score_variance / (double)s->rows);
    }
    return failed;
}

TEST(synthetic_heads_do_what_they_are_called)
{
    enum { ROWS = 8 };
    struct lab_synthetic s = {.n = 256, .d = 64, .rows = ROWS, .seed = 2};
    auto_free double *const tensors =
        malloc((size_t)(ROWS + 2 * 256) * 64 * sizeof *tensors);

    for (int kind = 0; kind < LAB_HEAD_KINDS; kind++) {
        s.kind = (enum lab_head_kind)kind;
        s.S = lab_synthetic_spread((enum lab_head_kind)kind, 256);
        lab_synthetic_draw(&s, 5, tensors);
        for (int i = 0; i < ROWS; i++) {
            double sum = 0, score[256], squares = 0;
            for (int j = 0; j < 256; j++) {
                score[j] = lab_dot(tensors + i * 64, tensors + (ROWS + j) * 64, 64) / 8;
                sum += exp(score[j]);
                squares += score[j] * score[j] / 256;
            }
            const double a = exp(score[2 * i]) / sum, b = exp(score[2 * i + 1]) / sum;
            CHECK(kind != LAB_HEAD_COPY || a > 0.9, "copy: %g", a);
            CHECK(kind != LAB_HEAD_AVERAGE ||
                      (a + b > 0.9 && fabs(score[2 * i] - score[2 * i + 1]) < 1e-9),
                  "average: %g %g", a, b);
            /* Random queries: the spread is S |q| / (S sqrt d), within 4 se of chance. */
            const double length = lab_norm(tensors + i * 64, 64) / 8;
            CHECK(kind > LAB_HEAD_CONDENSED ||
                      fabs(squares / (length * length) - 1) < 4 * sqrt(2.0 / 256),
                  "spread %g, not %g", sqrt(squares), length);
        }
    }
}

/* Where scores move by a hundredth, first order is exact except for chance. */
TEST(prediction_is_right_at_small_noise)
{
    const struct {
        enum lab_head_kind kind;
        double S;
        enum lab_key_format format;
    } cases[] = {
        {LAB_HEAD_DIFFUSE, 1, LAB_KEYS_INT8},  {LAB_HEAD_DIFFUSE, 1, LAB_KEYS_BF16},
        {LAB_HEAD_AVERAGE, 2, LAB_KEYS_INT8},  {LAB_HEAD_AVERAGE, 2, LAB_KEYS_BF16},
        {LAB_HEAD_COPY, 1, LAB_KEYS_BF16},     {LAB_HEAD_CONDENSED, 6, LAB_KEYS_BF16},
        {LAB_HEAD_DIFFUSE, 0.25, LAB_KEYS_FP8}};
    double sum = 0, squares = 0;
    int count = 0;

    for (unsigned c = 0; c < sizeof cases / sizeof cases[0]; c++)
        for (uint64_t seed = 1; seed <= 5; seed++) {
            const struct lab_synthetic s = {.kind = cases[c].kind,
                                            .n = 64,
                                            .d = 32,
                                            .rows = 4,
                                            .S = cases[c].S,
                                            .seed = seed};
            struct compared is;
            CHECK(!compare(&s, cases[c].format, 120, &is), "runs");
            const double z = is.off.mean / lab_moments_mean_se(&is.off);
            CHECK(sqrt(is.score.mean) < 0.03, "score noise %g", sqrt(is.score.mean));
            CHECK(fabs(z) < 4, "case %u, seed %d: %g against %g, z %g", c, (int)seed,
                  is.measured.mean, is.predicted.mean, z);
            sum += z;
            squares += z * z;
            count++;
        }
    /* z is that of chance: its mean within 4 of its own se, its sd near 1. */
    CHECK(fabs(sum / count) < 4 / sqrt(count), "mean z %g", sum / count);
    CHECK(squares / count > 0.5 && squares / count < 1.7, "mean z^2 %g", squares / count);
}

/*
 * Two keys of equal score: w is logit-normal, and E(w - 1/2)^2 is known for every noise.
 * First order is T^2 / 16; the measured value differs by the amount of the theory, which
 * decreases with the noise.
 */
TEST(prediction_departs_as_theory_says)
{
    double before = 1;

    for (double S = 32; S >= 2; S /= 2) {
        const struct lab_synthetic s = {.kind = LAB_HEAD_AVERAGE,
                                        .n = 2,
                                        .d = 64,
                                        .rows = 1,
                                        .S = S,
                                        .seed = 9,
                                        .stream = (uint64_t)S};
        struct compared is;
        CHECK(!compare(&s, LAB_KEYS_FP8, 3000, &is), "runs");
        const double T = sqrt(2 * is.score.mean);
        const attend_theory_law law = {0, T, -INFINITY};
        const double theory =
            attend_theory_weight_variance(law) / attend_theory_weight_variance_small(T);
        const double ratio = is.measured.mean / is.predicted.mean;
        const double se = lab_moments_mean_se(&is.measured) / is.predicted.mean;
        CHECK(fabs(ratio - theory) < 4 * se + 0.02, "T = %g: %g, theory %g, se %g", T,
              ratio, theory, se);
        CHECK(1 - theory < before, "departure %g, before %g", 1 - theory, before);
        before = 1 - theory;
    }
    CHECK(before < 0.01, "%g", before);
}

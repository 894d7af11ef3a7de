/* SPDX-License-Identifier: MIT */
/*
 * m wanted values, h heads.  With orthonormal keys a saturated head is a sampler, and h
 * groups of m/h targets are stratified sampling; with random keys the heads also share
 * the dimensions, d_h = d/h each (T17, T21).
 */
#include "attend/theory.h"
#include "lab/experiments/runner.h"
#include "lab/experiments/experiment_parts.h"
#include "theory/score_law.h"

#include <math.h>

static const struct lab_flag flags[] = {
    LAB_FLAG_INTEGER("n", 256, 2, 1e6, "keys"),
    LAB_FLAG_INTEGER("m", 2, 1, LAB_WANTED_MAX, "wanted values, all noisy"),
    LAB_FLAG_INTEGER("h", 2, 1, LAB_HEADS_MAX, "heads; a divisor or a multiple of m"),
    LAB_FLAG_REAL("C", 50, 0, 1e6, "scale of the queries"),
    LAB_FLAG_REAL("sigma2", 0.5, 1e-6, 100,
                  "magnitude noise of the wanted keys, or of all random keys"),
    LAB_FLAG_INTEGER("d", NAN, 1, 1e6,
                     "dimensions, shared by the heads if keys are random (default n)"),
    LAB_FLAG_CHOICE("groups", "split", LAB_2("split", "copies"),
                    "each head asks for its own m/h targets, or every head for all m"),
    LAB_FLAG_CHOICE("noise", "shared", LAB_2("shared", "independent"),
                    "heads see the same noisy keys, or keys drawn anew"),
    LAB_FLAG_CHOICE("keys", "orthonormal", LAB_2("orthonormal", "random"),
                    "random: unit vectors in d/h dimensions for each head"),
};

enum { N, TARGETS, HEADS, SCALE, SIGMA2, D, GROUPS, NOISE, KEYS }; /* flags */

enum { MSE, MSE_POSITIVE, ROWS };
/* Mixtures of orthonormal values are at most sqrt(2) apart. */
#define MSE_MAX 2.0
static const struct lab_observable rows[] = {
    {"mse", MSE, LAB_SQUARE, MSE_MAX},
    {"mse_given_positive", MSE_POSITIVE, LAB_SQUARE, MSE_MAX},
};

/* Targets of one head, and different queries among the heads. */
static double targets_of_head(const struct lab_setting *p)
{
    return p->at[GROUPS] ? p->at[TARGETS] : fmax(1, p->at[TARGETS] / p->at[HEADS]);
}

static double queries_of(const struct lab_setting *p)
{
    return p->at[TARGETS] / targets_of_head(p);
}

/*
 * Exact at finite C.  A head's weights depend only on the magnitudes of its own
 * targets, so different queries are independent even on the same keys, and copies of a
 * query are equal on the same keys and independent on keys drawn anew.  With `positive`,
 * given that every wanted magnitude is positive.
 */
static double mse_theory(const struct lab_setting *p, int positive)
{
    const double n = p->at[N], m = p->at[TARGETS], scale = p->at[SCALE];
    const double own = targets_of_head(p), queries = queries_of(p);
    struct attendi_theory_score_kind classes[2] = {
        attendi_theory_plain_kind(own, scale, scale * sqrt(p->at[SIGMA2])),
        attendi_theory_plain_kind(fmax(1, n - own), 0, 0)};
    const int count = n > own ? 2 : 1;
    double mean[2] = {0}, variance[2] = {0};

    if (positive && scale > 0)
        classes[0].lo = 0;
    if (attendi_theory_score_variances(classes, count, mean, variance))
        return NAN;
    const double copies = p->at[NOISE] ? p->at[HEADS] / queries : 1;
    const double target = (mean[0] + (queries - 1) * mean[1]) / queries - 1 / m;
    const double var_target =
        (variance[0] + (queries - 1) * variance[1]) / (queries * queries * copies);
    return m * (target * target + var_target) +
           (n - m) * (mean[1] * mean[1] + variance[1] / (queries * copies));
}

static void theory_of(const struct lab_setting *p, const struct lab_scene *scene,
                      double *theory)
{
    (void)scene;
    theory[MSE] = mse_theory(p, 0);
    theory[MSE_POSITIVE] = mse_theory(p, 1);
}

static void observe(void *arg, const struct lab_outcome *outcome, double *values)
{
    const int m = (int)((const struct lab_setting *)arg)->at[TARGETS];
    int is_positive = 1;

    values[MSE] = outcome->others_squared;
    for (int i = 0; i < m; i++) {
        const double off = outcome->coefficient[i] - 1.0 / m;
        values[MSE] += off * off;
        is_positive &= outcome->gamma[i] > 0;
    }
    values[MSE_POSITIVE] = is_positive ? values[MSE] : NAN;
}

static struct lab_scene scene_of(const struct lab_setting *p)
{
    struct lab_scene scene = {.n = (int64_t)p->at[N],
                              .wanted = (int)p->at[TARGETS],
                              .heads = (int)p->at[HEADS],
                              .sigma2 = p->at[SIGMA2],
                              .tau = 1,
                              .noisy = LAB_NOISY_WANTED,
                              .independent_noise = p->at[NOISE] != 0};
    const int own = (int)targets_of_head(p), queries = (int)queries_of(p);

    for (int h = 0; h < scene.heads; h++)
        for (int i = 0; i < own; i++)
            scene.query[h][h % queries * own + i] = p->at[SCALE];
    return scene;
}

/* An outcome has the magnitudes of one head only. */
static void finish(const struct lab_setting *p, struct lab_sample *sample)
{
    sample->found[MSE_POSITIVE].is_absent = p->at[NOISE] && p->at[HEADS] > 1;
}

static const struct lab_model model = {LAB_ROWS(rows),     .theory = theory_of,
                                       .values = ROWS,     .scene = scene_of,
                                       .observe = observe, .finish = finish};

/* The run's setting with orthonormal keys, n dimensions, and heads of this kind. */
static struct lab_setting setting_of(const struct lab_run *run, int copies,
                                     int independent)
{
    struct lab_setting p = lab_own(run);

    p.at[D] = p.at[N];
    p.at[GROUPS] = copies;
    p.at[NOISE] = independent;
    p.at[KEYS] = 0;
    return p;
}

/* ---- sweeps -------------------------------------------------------------- */

/* So far into C -> inf that the limits are near. */
#define SCALE_LIMIT 1e4

/* What T17 says at C -> inf: given positive magnitudes, with flips, to first order. */
static int limits(struct lab_run *run, struct lab_setting p, uint64_t stream)
{
    const double n = p.at[N], m = p.at[TARGETS], h = p.at[HEADS], sigma2 = p.at[SIGMA2];
    struct lab_sample sample = {.histogram = NULL};
    struct lab_found mse, *const positive = &sample.found[MSE_POSITIVE];

    p.at[SCALE] = SCALE_LIMIT;
    if (lab_measure_at(run, &model, &p, stream, run->trials / 10 + 100, &sample))
        return -1;
    mse = sample.found[MSE];
    positive->kind = mse.kind = LAB_ASYMPTOTIC;
    positive->theory = attend_theory_groups_mse_positive(m, h);
    if (h < m)
        lab_emit(run, "mse_given_positive_limit", &p, *positive);
    mse.theory = attend_theory_groups_mse_flips(m, h, n, sigma2);
    lab_emit(run, "mse_limit", &p, mse);
    mse.kind = LAB_FIRST_ORDER;
    mse.theory = attend_theory_groups_mse_first_order(m, n, sigma2);
    if (h >= m)
        lab_emit(run, "mse_first_order", &p, mse);
    return 0;
}

static int split_curves(struct lab_run *run)
{
    static const double targets[] = {2, 4, 8, 16};
    struct lab_figure *const figure = lab_plot(
        run, "split", "Stratified sampling: error by number of heads", "h (heads)",
        "E|c - mean of m values|^2, magnitudes > 0", LAB_LOG_X, "%s", "");
    struct lab_setting p = setting_of(run, 0, 0);
    struct lab_sample sample = {.histogram = NULL};
    const struct lab_found *const mse = &sample.found[MSE_POSITIVE];
    uint64_t stream = 100;
    double most = 0, best = 0;

    for (size_t t = 0; t < sizeof targets / sizeof targets[0]; t++) {
        const double m = p.at[TARGETS] = targets[t];
        if (m > p.at[N])
            break;
        const struct lab_curve curve = lab_curve_add(figure, "m = %g", m);
        for (int h = 1; h <= (int)m; h *= 2)
            lab_series_point(curve.theory, h, attend_theory_groups_mse_positive(m, h), 0);
        double least = INFINITY;
        for (int h = 1; h <= LAB_HEADS_MAX; h *= 2) {
            if (lab_stopped(&run->session))
                return 0;
            p.at[HEADS] = h;
            if (lab_rows_at(run, &model, &p, stream++, run->trials / 20 + 100, &sample) ||
                (h <= (int)m && limits(run, p, stream++)))
                return -1;
            lab_series_point(curve.measured, h, mse->measured, mse->se);
            if (mse->measured < least) {
                least = mse->measured;
                best = h;
            }
        }
        most = m;
    }
    lab_figure_describe(
        figure, LAB_LOG_X,
        "Lines: 1/h - 1/m, the limit C -> inf. Points: C = %g, n = %g. For "
        "m = %g the least error was measured with h = %g heads.  Heads "
        "beyond h = m are copies and change nothing.",
        p.at[SCALE], p.at[N], most, best);
    return 0;
}

static int copies_curves(struct lab_run *run)
{
    static const double heads[] = {1, 2, 4, 8, 16};
    struct lab_figure *const figure =
        lab_plot(run, "copies", "Copies of one head help only with fresh noise",
                 "h (copies of one head)", "E|c - mean of m values|^2", LAB_LOG_X,
                 "Every head asks for all m = %g targets. On the same keys copies are "
                 "equal and change nothing; if each saw keys with noise of its own, the "
                 "variance would fall as 1/h.",
                 lab_real(run, "m"));

    for (int independent = 0; independent <= 1; independent++) {
        const struct lab_plotted drawn = {
            MSE, lab_curve_add(figure, "%s", independent ? "independent" : "shared")};
        for (size_t x = 0; x < sizeof heads / sizeof heads[0]; x++) {
            const struct lab_sweep over_h = {
                .flag = HEADS,
                .line = {1, LAB_HEADS_MAX, x ? 0 : LAB_HEADS_MAX - 1, LAB_EVENLY, 0, 0},
                .steps = &heads[x],
                .count = 1,
                .stream = 200 + (uint64_t)(20 * independent + (int)heads[x]),
                .trials = run->trials / 20 + 100,
                .only_drawn = 1};
            if (lab_sweep(run, &model, &over_h, setting_of(run, 1, independent), &drawn,
                          1))
                return -1;
        }
    }
    return 0;
}

static int perform(struct lab_run *run)
{
    struct lab_setting p = lab_own(run);
    const double n = p.at[N], m = p.at[TARGETS], h = p.at[HEADS];
    const double ratio = fmax(m, h) / fmin(m, h);
    struct lab_sample sample = {.histogram = NULL};

    if (n < m)
        return lab_misuse(&run->session, "--n: %g is less than --m %g", n, m);
    if (ratio > floor(ratio))
        return lab_misuse(&run->session,
                          "--h: %g is neither a divisor nor a multiple of --m %g", h, m);
    if (p.at[KEYS])
        return lab_random_heads_rows(run);
    if (lab_settle_d(run))
        return -1;
    p.at[D] = n;
    return lab_rows_at(run, &model, &p, 1, run->trials, &sample);
}

static int sweep(struct lab_run *run)
{
    return split_curves(run) || copies_curves(run) || lab_random_heads_curves(run);
}

const struct lab_experiment lab_experiment_how_many_heads = {
    .name = "how-many-heads",
    .title = "How many heads",
    .shows =
        "For m noisy targets and h heads of m/h targets each the error tends to "
        "1/h - 1/m as C grows, while no key points away: one head per target is then "
        "best.  Copies on the same keys are useless at any C.",
    .answers = "1e",
    LAB_FLAGS(flags),
    .trials = 100000,
    .perform = perform,
    .sweep = sweep,
};

/* SPDX-License-Identifier: MIT */
/*
 * m wanted values, h heads.  With orthonormal keys a saturated head is a sampler, and h
 * groups of m/h targets are stratified sampling; with random keys the heads also share
 * the dimensions, d_h = d/h each (T17, T21).
 */
#include "attend/theory.h"
#include "lab/experiments/experiment.h"
#include "lab/experiments/experiment_parts.h"
#include "lab/setups/scene.h"
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

struct setting {
    double n, m, h, C, sigma2;
    int is_copies, is_independent;
};

static struct setting setting_of(const struct lab_run *run)
{
    return (struct setting){.n = lab_real(run, "n"),
                            .m = lab_real(run, "m"),
                            .h = lab_real(run, "h"),
                            .C = lab_real(run, "C"),
                            .sigma2 = lab_real(run, "sigma2"),
                            .is_copies = lab_choice(run, "groups"),
                            .is_independent = lab_choice(run, "noise")};
}

/* Targets of one head, and different queries among the heads. */
static double targets_of_head(const struct setting *s)
{
    return s->is_copies ? s->m : fmax(1, s->m / s->h);
}

static double queries_of(const struct setting *s) { return s->m / targets_of_head(s); }

/*
 * Exact at finite C.  A head's weights depend only on the magnitudes of its own
 * targets, so different queries are independent even on the same keys, and copies of a
 * query are equal on the same keys and independent on keys drawn anew.  With `positive`,
 * given that every wanted magnitude is positive.
 */
static double mse_theory(const struct setting *s, int positive)
{
    const double own = targets_of_head(s), queries = queries_of(s);
    struct attendi_theory_score_kind classes[2] = {
        attendi_theory_plain_kind(own, s->C, s->C * sqrt(s->sigma2)),
        attendi_theory_plain_kind(fmax(1, s->n - own), 0, 0)};
    const int count = s->n > own ? 2 : 1;
    double mean[2] = {0}, variance[2] = {0};

    if (positive && s->C > 0)
        classes[0].lo = 0;
    if (attendi_theory_score_variances(classes, count, mean, variance))
        return NAN;
    const double copies = s->is_independent ? s->h / queries : 1;
    const double target = (mean[0] + (queries - 1) * mean[1]) / queries - 1 / s->m;
    const double var_target =
        (variance[0] + (queries - 1) * variance[1]) / (queries * queries * copies);
    return s->m * (target * target + var_target) +
           (s->n - s->m) * (mean[1] * mean[1] + variance[1] / (queries * copies));
}

enum { MSE, MSE_POSITIVE, VALUES };
/* Mixtures of orthonormal values are at most sqrt(2) apart. */
#define MSE_MAX 2.0

static void observe(void *arg, const struct lab_outcome *outcome, double *values)
{
    const int m = *(const int *)arg;
    int is_positive = 1;

    values[MSE] = outcome->others_squared;
    for (int i = 0; i < m; i++) {
        const double off = outcome->coefficient[i] - 1.0 / m;
        values[MSE] += off * off;
        is_positive &= outcome->gamma[i] > 0;
    }
    values[MSE_POSITIVE] = is_positive ? values[MSE] : NAN;
}

static int measure(struct lab_run *run, const struct setting *s, uint64_t stream,
                   int64_t trials, struct lab_moments m[VALUES])
{
    struct lab_scene scene = {.n = (int64_t)s->n,
                              .wanted = (int)s->m,
                              .heads = (int)s->h,
                              .sigma2 = s->sigma2,
                              .tau = 1,
                              .noisy = LAB_NOISY_WANTED,
                              .independent_noise = s->is_independent};
    const int own = (int)targets_of_head(s), queries = (int)queries_of(s);

    for (int h = 0; h < scene.heads; h++)
        for (int i = 0; i < own; i++)
            scene.query[h][h % queries * own + i] = s->C;
    return lab_scene_measure(&run->session, &scene, stream, trials, observe,
                             &scene.wanted, VALUES, m, NULL);
}

static void emit(struct lab_run *run, const struct setting *s, const char *quantity,
                 struct lab_found found)
{
    lab_emit_at(
        run, quantity,
        LAB_CHANGES(LAB_IS("n", s->n), LAB_IS("m", s->m), LAB_IS("h", s->h),
                    LAB_IS("C", s->C), LAB_IS("d", s->n),
                    LAB_IS_TEXT("groups", s->is_copies ? "copies" : "split"),
                    LAB_IS_TEXT("noise", s->is_independent ? "independent" : "shared"),
                    LAB_IS_TEXT("keys", "orthonormal")),
        found);
}

static void emit_mse(struct lab_run *run, const struct setting *s, int positive,
                     struct lab_estimate measured)
{
    emit(run, s, positive ? "mse_given_positive" : "mse",
         lab_exact(mse_theory(s, positive), measured));
}

/*
 * Rows of one setting, a point where a series is given, and where it is wanted the mse
 * given positive magnitudes.
 */
static int measure_rows(struct lab_run *run, const struct setting *s, uint64_t stream,
                        int64_t trials, struct lab_series *series, double *positive)
{
    struct lab_moments m[VALUES];

    if (measure(run, s, stream, trials, m))
        return -1;
    emit_mse(run, s, 0, lab_estimate_square(&m[MSE], 0, MSE_MAX));
    if (s->is_independent && s->h > 1)
        return 0; /* an outcome has the magnitudes of one head only */
    const struct lab_estimate estimate =
        lab_estimate_square(&m[MSE_POSITIVE], 0, MSE_MAX);
    emit_mse(run, s, 1, estimate);
    lab_series_estimate(series, s->h, estimate);
    if (positive)
        *positive = estimate.value;
    return 0;
}

/* ---- sweeps -------------------------------------------------------------- */

/* So far into C -> inf that the limits are near. */
#define SCALE_LIMIT 1e4

/* What T17 says at C -> inf: given positive magnitudes, with flips, to first order. */
static int limits(struct lab_run *run, double m, double h, uint64_t stream)
{
    struct setting s = setting_of(run);
    struct lab_moments moments[VALUES];

    s.m = m;
    s.h = h;
    s.C = SCALE_LIMIT;
    s.is_copies = s.is_independent = 0;
    if (s.n < m || measure(run, &s, stream, run->trials / 10 + 100, moments))
        return s.n < m ? 0 : -1;
    const struct lab_estimate mse = lab_estimate_square(&moments[MSE], 0, MSE_MAX);
    if (h < m)
        emit(run, &s, "mse_given_positive_limit",
             lab_near(LAB_ASYMPTOTIC, attend_theory_groups_mse_positive(m, h),
                      lab_estimate_square(&moments[MSE_POSITIVE], 0, MSE_MAX)));
    emit(run, &s, "mse_limit",
         lab_near(LAB_ASYMPTOTIC, attend_theory_groups_mse_flips(m, h, s.n, s.sigma2),
                  mse));
    if (h < m)
        return 0;
    emit(run, &s, "mse_first_order",
         lab_near(LAB_FIRST_ORDER, attend_theory_groups_mse_first_order(m, s.n, s.sigma2),
                  mse));
    return 0;
}

static int split_curves(struct lab_run *run)
{
    static const double targets[] = {2, 4, 8, 16};
    struct lab_figure *const figure =
        lab_plot(run, "Stratified sampling: error by number of heads", "h (heads)",
                 "E|c - mean of m values|^2, magnitudes > 0", LAB_LOG_X, "%s", "");
    const int64_t trials = run->trials / 20 + 100;
    uint64_t stream = 100;
    double most = 0, best = 0;

    for (size_t t = 0; t < sizeof targets / sizeof targets[0]; t++) {
        const double m = targets[t];
        if (m > lab_real(run, "n"))
            break;
        const struct lab_curve curve = lab_curve_add(figure, "m = %g", m);
        for (int h = 1; h <= (int)m; h *= 2)
            lab_series_point(curve.theory, h, attend_theory_groups_mse_positive(m, h), 0);
        double least = INFINITY, mse = NAN;
        for (int h = 1; h <= LAB_HEADS_MAX; h *= 2) {
            struct setting s = setting_of(run);
            if (lab_stopped(&run->session))
                return 0;
            s.m = m;
            s.h = h;
            s.is_copies = s.is_independent = 0;
            if (measure_rows(run, &s, stream++, trials, curve.measured, &mse) ||
                (h <= (int)m && limits(run, m, h, stream++)))
                return -1;
            if (mse < least) {
                least = mse;
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
        lab_real(run, "C"), lab_real(run, "n"), most, best);
    return 0;
}

static int copies_curves(struct lab_run *run)
{
    struct lab_figure *const figure =
        lab_plot(run, "Copies of one head help only with fresh noise",
                 "h (copies of one head)", "E|c - mean of m values|^2", LAB_LOG_X,
                 "Every head asks for all m = %g targets. On the same keys copies are "
                 "equal and change nothing; if each saw keys with noise of its own, the "
                 "variance would fall as 1/h.",
                 lab_real(run, "m"));
    const int64_t trials = run->trials / 20 + 100;

    for (int independent = 0; independent <= 1; independent++) {
        struct setting s = setting_of(run);
        struct lab_moments m[VALUES];
        s.is_copies = 1;
        s.is_independent = independent;
        const struct lab_curve curve =
            lab_curve_add(figure, "%s", independent ? "independent" : "shared");
        for (int h = 1; h <= LAB_HEADS_MAX; h++) {
            s.h = h;
            lab_series_point(curve.theory, h, mse_theory(&s, 0), 0);
        }
        for (int h = 1; h <= LAB_HEADS_MAX && !lab_stopped(&run->session); h *= 2) {
            const uint64_t stream = 200 + (uint64_t)(20 * independent + h);
            s.h = h;
            if (measure(run, &s, stream, trials, m))
                return -1;
            const struct lab_estimate mse = lab_estimate_square(&m[MSE], 0, MSE_MAX);
            emit_mse(run, &s, 0, mse);
            lab_series_estimate(curve.measured, s.h, mse);
        }
    }
    return 0;
}

static int perform(struct lab_run *run)
{
    const struct setting s = setting_of(run);
    const double ratio = fmax(s.m, s.h) / fmin(s.m, s.h);

    if (s.n < s.m)
        return lab_misuse(&run->session, "--n: %g is less than --m %g", s.n, s.m);
    if (ratio > floor(ratio))
        return lab_misuse(&run->session,
                          "--h: %g is neither a divisor nor a multiple of --m %g", s.h,
                          s.m);
    if (lab_choice(run, "keys"))
        return lab_random_heads_rows(run);
    return lab_settle_d(run) || measure_rows(run, &s, 1, run->trials, NULL, NULL);
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

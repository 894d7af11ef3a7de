/* SPDX-License-Identifier: MIT */
/*
 * m wanted values, h heads.  With orthonormal keys a saturated head is a sampler, and h
 * groups of m/h targets are stratified sampling; with random keys the heads also share
 * the dimensions, d_h = d/h each (T17, T21).
 */
#include "attend/theory.h"
#include "lab/experiments/exp_how_many_heads.h"
#include "lab/setups/scene_laws.h"

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

enum { MSE, MSE_POSITIVE, ROWS };
/* Mixtures of orthonormal values are at most sqrt(2) apart. */
#define MSE_MAX 2.0
static const struct lab_observable rows[] = {
    {"mse", MSE, LAB_SQUARE, MSE_MAX},
    {"mse_given_positive", MSE_POSITIVE, LAB_SQUARE, MSE_MAX},
};

/* Targets of one head. */
static double targets_of_head(const struct lab_setting *p)
{
    return p->at[GROUPS] ? p->at[TARGETS] : fmax(1, p->at[TARGETS] / p->at[HEADS]);
}

static void observe(const struct lab_setting *p, const struct lab_outcome *outcome,
                    double *values)
{
    const int m = (int)p->at[TARGETS];
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
    const int own = (int)targets_of_head(p), queries = scene.wanted / own;

    for (int h = 0; h < scene.heads; h++)
        for (int i = 0; i < own; i++)
            scene.query[h][h % queries * own + i] = p->at[SCALE];
    return scene;
}

static void theory_of(const struct lab_setting *p, double *theory)
{
    const struct lab_scene scene = scene_of(p);

    theory[MSE] = lab_scene_groups_mse(&scene, targets_of_head(p), 0);
    theory[MSE_POSITIVE] = lab_scene_groups_mse(&scene, targets_of_head(p), 1);
}

/* An outcome has the magnitudes of one head only. */
static void finish(const struct lab_setting *p, struct lab_sample *sample)
{
    sample->found[MSE_POSITIVE].is_absent = p->at[NOISE] && p->at[HEADS] > 1;
}

static const struct lab_model model = {LAB_ROWS(rows),     .theory = theory_of,
                                       .values = ROWS,     .scene = scene_of,
                                       .observe = observe, .finish = finish};

/* The run's setting with orthonormal keys and n dimensions. */
static struct lab_setting orthonormal(const struct lab_run *run)
{
    struct lab_setting p = lab_own(run);

    p.at[D] = p.at[N];
    p.at[GROUPS] = p.at[NOISE] = p.at[KEYS] = 0;
    return p;
}

/* ---- sweeps -------------------------------------------------------------- */

/* T17 at C -> inf: given positive magnitudes, with flips, to first order. */
static int limits(struct lab_run *run, struct lab_setting p, uint64_t stream)
{
    const double n = p.at[N], m = p.at[TARGETS], h = p.at[HEADS], sigma2 = p.at[SIGMA2];
    struct lab_sample sample = {.histogram = NULL};
    struct lab_found mse, *const positive = &sample.found[MSE_POSITIVE];

    p.at[SCALE] = 1e4; /* where the limits are near */
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
    struct lab_setting p = orthonormal(run);
    struct lab_sample sample = {.histogram = NULL};
    const struct lab_found *const mse = &sample.found[MSE_POSITIVE];
    uint64_t stream = 100;
    double most = 0, best = 0;

    for (int t = 0; t < 4 && targets[t] <= p.at[N]; t++) {
        const double m = most = p.at[TARGETS] = targets[t];
        const struct lab_curve curve = lab_curve_add(figure, "m = %g", m);
        double least = INFINITY;
        for (int h = 1; h <= (int)m; h *= 2)
            lab_series_point(curve.theory, h, attend_theory_groups_mse_positive(m, h), 0);
        for (int h = 1; h <= LAB_HEADS_MAX; h *= 2) {
            if (lab_stopped(&run->session))
                return 0;
            p.at[HEADS] = h;
            if (lab_rows_at(run, &model, &p, stream++, run->trials / 20 + 100, &sample) ||
                (h <= (int)m && limits(run, p, stream++)))
                return -1;
            lab_series_point(curve.measured, h, mse->measured, mse->se);
            best = mse->measured < least ? h : best;
            least = fmin(least, mse->measured);
        }
    }
    lab_caption(figure,
                "Lines: 1/h - 1/m, the limit C -> inf. Points: C = %g, n = %g. For m = "
                "%g the least error was measured with h = %g heads.  Heads beyond h = m "
                "are copies and change nothing.",
                p.at[SCALE], p.at[N], most, best);
    return 0;
}

static int copies_curves(struct lab_run *run)
{
    static const double heads[] = {1, 2, 4, 8, 16};
    static const struct lab_member noises[] = {{0, "shared"}, {1, "independent"}};
    const struct lab_family family = {MSE, NOISE, 0, LAB_MEMBERS(noises), .stride = 20};
    const struct lab_sweep over_h = LAB_SWEEP(
        HEADS, heads, .line = {1, LAB_HEADS_MAX, LAB_HEADS_MAX - 1, LAB_EVENLY, 0, 0},
        .stream = 200, .by_value = 1, .trials = run->trials / 20 + 100, .only_drawn = 1);
    struct lab_setting p = orthonormal(run);
    struct lab_figure *const figure =
        lab_plot(run, "copies", "Copies of one head help only with fresh noise",
                 "h (copies of one head)", "E|c - mean of m values|^2", LAB_LOG_X,
                 "Every head asks for all m = %g targets. On the same keys copies are "
                 "equal and change nothing; if each saw keys with noise of its own, the "
                 "variance would fall as 1/h.",
                 p.at[TARGETS]);

    p.at[GROUPS] = 1;
    return lab_curves(run, &model, &over_h, p, figure, &family);
}

static int perform(struct lab_run *run)
{
    struct lab_setting p = lab_own(run);
    const double n = p.at[N], m = p.at[TARGETS], h = p.at[HEADS];
    const double ratio = fmax(m, h) / fmin(m, h);

    if (n < m)
        return lab_misuse(&run->session, "--n: %g is less than --m %g", n, m);
    if (ratio > floor(ratio))
        return lab_misuse(&run->session,
                          "--h: %g is neither a divisor nor a multiple of --m %g", h, m);
    if (p.at[KEYS])
        return lab_shared_dimensions_rows(run);
    if (lab_settle_d(run))
        return -1;
    p.at[D] = n;
    return lab_rows_at(run, &model, &p, 1, run->trials, NULL);
}

static int sweep(struct lab_run *run)
{
    return split_curves(run) || copies_curves(run) || lab_shared_dimensions_sweep(run);
}

const struct lab_experiment lab_experiment_how_many_heads = {
    .name = "how-many-heads",
    .title = "How many heads",
    .shows = "For m noisy targets and h heads of m/h targets each the error tends to 1/h "
             "- 1/m as C grows, while no key points away: one head per target is then "
             "best.  Copies on the same keys are useless at any C.",
    .answers = "1e",
    LAB_FLAGS(flags),
    .trials = 100000,
    .perform = perform,
    .sweep = sweep,
};

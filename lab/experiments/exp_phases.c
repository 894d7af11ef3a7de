/* SPDX-License-Identifier: MIT */
/* Random logits: diffuse and frozen attention, why 1/sqrt(d), entropy floor (T22, T23).
 */
#include <math.h>

#include "attend/theory.h"
#include "lab/experiments/experiment.h"
#include "lab/measure/frames.h"
#include "lab/measure/forward.h"
#include "lab/measure/trials.h"

enum { OWN_STREAM = 1, SCATTER_STREAM, SWEEP_STREAM };

static const struct lab_flag flags[] = {
    LAB_FLAG_INTEGER("n", 1024, 2, 65536, "keys"),
    LAB_FLAG_INTEGER(
        "d", 64, 1, 1024,
        "dimension; q has entries +1 and -1, k normal ones (n d > 2^20: one each)"),
    LAB_FLAG_CHOICE("scale", "on", LAB_2("on", "off"),
                    "on: scores are divided by sqrt(d)"),
    LAB_FLAG_REAL("S", NAN, 0, 100,
                  "spread of the logits (default: 1 scaled, sqrt(d) unscaled)"),
};

/* n logits tau <q, k_i> that are N(0, S^2). */
struct cloud {
    int64_t n, d;
    double S;
    uint64_t seed, stream;
};

enum value { ENTROPY, SQUARES, BELOW_FLOOR, VALUES };

static int64_t room_of(const struct cloud *cloud) { return (cloud->n + 1) * cloud->d; }

/* One row of attention, and the norm r of its logits less their mean. */
static attend_status draw(const struct cloud *cloud, attend_context *ctx, uint64_t trial,
                          double *room, struct lab_row_stats *stats, double *r,
                          attend_error *err)
{
    const int64_t n = cloud->n, d = cloud->d;
    double *const key = room, *const query = key + n * d;
    const struct lab_problem problem = {.nk = n,
                                        .d = d,
                                        .q = query,
                                        .k = key,
                                        .scale = cloud->S / sqrt((double)d),
                                        .stats = stats};

    lab_normals(cloud->seed, cloud->stream, trial * (uint64_t)((n + 1) * d), key,
                (n + 1) * d);
    for (int64_t c = 0; c < d; c++)
        query[c] = query[c] < 0 ? -1 : 1;
    const attend_status status = lab_forward(ctx, &problem, err);
    if (status == ATTEND_OK)
        *r = sqrt((double)n * stats->score_variance);
    return status;
}

static attend_status trial_of(const void *arg, struct lab_worker *worker, uint64_t trial,
                              double *values)
{
    const struct cloud *const cloud = arg;
    struct lab_row_stats stats;
    double r;
    const attend_status status =
        draw(cloud, worker->ctx, trial, worker->scratch, &stats, &r, &worker->err);

    if (status != ATTEND_OK)
        return status;
    values[ENTROPY] = stats.entropy;
    values[SQUARES] = 1 / stats.n_eff;
    values[BELOW_FLOOR] =
        fmax(0, attend_theory_entropy_floor((double)cloud->n, r) - stats.entropy);
    return ATTEND_OK;
}

static int measure(struct lab_run *run, const struct cloud *cloud, int64_t trials,
                   struct lab_moments *moments)
{
    return lab_run_trials(run, trial_of, cloud, trials, VALUES, room_of(cloud), moments);
}

/* ---- rows -------------------------------------------------------------- */

static void emit(struct lab_run *run, const struct cloud *cloud, const char *quantity,
                 struct lab_found found)
{
    lab_emit_at(run, quantity, LAB_CHANGES(LAB_IS("S", cloud->S)), found);
}

/* What is exact at this n, and the limit of many keys where it applies. */
static void emit_pair(struct lab_run *run, const struct cloud *cloud,
                      const char *const quantity[2], double exact, double limit,
                      struct lab_estimate measured)
{
    emit(run, cloud, quantity[0], lab_exact(exact, measured));
    if (limit > 0)
        emit(run, cloud, quantity[1], lab_near(LAB_ASYMPTOTIC, limit, measured));
}

static void emit_cloud(struct lab_run *run, const struct cloud *cloud,
                       const struct lab_moments *moments)
{
    static const char *const names[3][2] = {{"entropy", "entropy_limit"},
                                            {"sum_p2", "sum_p2_limit"},
                                            {"n_eff", "n_eff_limit"}};
    const double n = (double)cloud->n, S = cloud->S;
    const double squares = attend_theory_random_sum_squares(n, S);
    const struct lab_estimate sum = lab_estimate_mean(&moments[SQUARES]);
    const struct lab_estimate n_eff = {.value = 1 / sum.value,
                                       .se = sum.se / (sum.value * sum.value)};

    if (moments[SQUARES].count == 0)
        return;
    emit_pair(run, cloud, names[0], attend_theory_random_entropy(n, S),
              attend_theory_random_entropy_limit(n, S),
              lab_estimate_mean(&moments[ENTROPY]));
    emit_pair(run, cloud, names[1], squares, attend_theory_random_sum_squares_limit(n, S),
              sum);
    emit_pair(run, cloud, names[2], 1 / squares, attend_theory_random_keys_limit(n, S),
              n_eff);
    emit(run, cloud, "below_floor", lab_zero(moments[BELOW_FLOOR].mean, 1e-12 * log(n)));
}

/* One spike of norm r attains the floor. */
static int emit_spike(struct lab_run *run, const struct cloud *cloud)
{
    const int64_t n = cloud->n;
    const double r = cloud->S * sqrt((double)n);
    double *const score = lab_room(run, n);
    struct lab_row_stats stats;

    if (!score)
        return -1;
    score[0] = r * sqrt((double)n / (double)(n - 1));
    if (lab_measure_scores(&run->session, run->ctx, n, score, &stats))
        return -1;
    emit(run, cloud, "entropy_spike",
         lab_sure(attend_theory_entropy_floor((double)n, r), stats.entropy));
    return 0;
}

/* ---- sweeps and figures ------------------------------------------------ */

static const double spreads[] = {0.25, 0.5, 1, 1.5, 2, 2.5, 3, 3.5, 4, 5, 6, 8, 10};
enum { SPREADS = sizeof spreads / sizeof *spreads };

static double sum_squares_limits(double n, double S)
{
    const double frozen = attend_theory_random_sum_squares_limit(n, S);

    return isnan(frozen) ? 1 / attend_theory_random_keys_limit(n, S) : frozen;
}

enum { FIGURES = 2 };
static const struct {
    const char *title, *y_label;
    double (*exact)(double n, double S), (*limit)(double n, double S);
    enum value value;
} plots[FIGURES] = {
    {"Random attention: entropy", "H (nats)", attend_theory_random_entropy,
     attend_theory_random_entropy_limit, ENTROPY},
    {"Random attention: concentration", "Σp² = 1/N_eff", attend_theory_random_sum_squares,
     sum_squares_limits, SQUARES},
};

/* Draws the theory of a plot; returns the series of its measurements. */
static struct lab_series *draw_plot(struct lab_run *run, int plot, double n)
{
    struct lab_figure *const figure = lab_plot(
        run, plots[plot].title, "S (spread of the logits)", plots[plot].y_label, 0,
        "n = %.0f independent N(0, S²) logits.  Of many keys, diffuse below and frozen "
        "on "
        "a few above S = √(2 ln n), here %.2f.  Unit entries give S = √d without the "
        "factor 1/√d, "
        "and S = 1 with it.",
        n, attend_theory_freezing_spread(n));
    struct lab_series *series = lab_series_add(figure, LAB_LINE, "theory, exact");

    for (double S = 0; S <= 10; S += 0.25)
        lab_series_point(series, S, plots[plot].exact(n, S), 0);
    series = lab_series_add(figure, LAB_LINE, "large-n limit");
    for (double S = 0; S <= 10; S += 0.0625)
        lab_series_point(series, S, plots[plot].limit(n, S), 0);
    return lab_series_add(figure, LAB_POINTS, "measured, exact");
}

static int sweep_spreads(struct lab_run *run, struct cloud cloud)
{
    struct lab_series *points[FIGURES];

    for (int f = 0; f < FIGURES; f++)
        points[f] = draw_plot(run, f, (double)cloud.n);
    cloud.d = 1;
    for (int x = 0; x < SPREADS && !lab_stopped(&run->session); x++) {
        struct lab_moments moments[VALUES];
        cloud.S = spreads[x];
        cloud.stream = SWEEP_STREAM + (uint64_t)x;
        if (measure(run, &cloud, run->trials, moments))
            return -1;
        emit_cloud(run, &cloud, moments);
        for (int f = 0; f < FIGURES; f++)
            lab_series_estimate(points[f], cloud.S,
                                lab_estimate_mean(&moments[plots[f].value]));
    }
    return 0;
}

static int scatter(struct lab_run *run, struct cloud cloud)
{
    struct lab_figure *const figure =
        lab_plot(run, "Entropy of random rows, and its floor",
                 "r (norm of the centred logits)", "H (nats)", LAB_LOG_X, "%s", "");
    struct lab_series *const line = lab_series_add(figure, LAB_LINE, "theory, floor");
    struct lab_series *points;
    double *const room = lab_room(run, room_of(&cloud));
    attend_status status = ATTEND_OK;
    attend_error err;
    double nearest = INFINITY;

    if (!room)
        return -1;
    const double most = 10 * sqrt((double)cloud.n);
    for (double r = 0.25; r <= most; r *= 1.0625)
        lab_series_point(line, r, attend_theory_entropy_floor((double)cloud.n, r), 0);
    points = lab_series_add(figure, LAB_POINTS, "measured, random rows");
    cloud.d = 1;
    cloud.stream = SCATTER_STREAM;
    for (int x = 0; status == ATTEND_OK && x < 8 * SPREADS && !lab_stopped(&run->session);
         x++) {
        struct lab_row_stats stats;
        double r;
        cloud.S = spreads[x % SPREADS];
        status = draw(&cloud, run->ctx, (uint64_t)x, room, &stats, &r, &err);
        if (status != ATTEND_OK)
            break;
        lab_series_point(points, r, stats.entropy, 0);
        nearest = fmin(nearest,
                       stats.entropy - attend_theory_entropy_floor((double)cloud.n, r));
    }
    lab_figure_describe(
        figure, LAB_LOG_X,
        "n = %lld.  No row of this norm has less entropy than one spike.  "
        "The nearest of these random rows is %.2g nats above it.",
        (long long)cloud.n, fmax(nearest, 0));
    return status == ATTEND_OK ? 0 : lab_fail(&run->session, "%s", err.message);
}

static struct cloud cloud_of(const struct lab_run *run)
{
    const int64_t n = lab_integer(run, "n"), d = lab_integer(run, "d");

    return (struct cloud){.n = n,
                          .d = n * d > 1 << 20 ? 1 : d,
                          .S = lab_real(run, "S"),
                          .seed = run->session.seed,
                          .stream = OWN_STREAM};
}

static int perform(struct lab_run *run)
{
    struct lab_moments moments[VALUES];

    if (isnan(lab_real(run, "S")))
        lab_set(run, "S", lab_choice(run, "scale") ? sqrt(lab_real(run, "d")) : 1);
    const struct cloud cloud = cloud_of(run);
    if (measure(run, &cloud, run->trials, moments))
        return -1;
    emit_cloud(run, &cloud, moments);
    return emit_spike(run, &cloud);
}

static int sweep(struct lab_run *run)
{
    return sweep_spreads(run, cloud_of(run)) || scatter(run, cloud_of(run));
}

const struct lab_experiment lab_experiment_phases = {
    .name = "phases",
    .title = "Phases of random attention",
    .shows = "Random logits of spread S leave attention on many keys diffuse below S = "
             "sqrt(2 ln n) and freeze it on a few above; the factor 1/sqrt(d) keeps a "
             "new model "
             "on the diffuse side.",
    .answers = "",
    LAB_FLAGS(flags),
    .trials = 1000,
    .perform = perform,
    .sweep = sweep,
};

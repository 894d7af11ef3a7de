/* SPDX-License-Identifier: MIT */
/*
 * Sigmoid attention: every key is weighed by itself, w_i = logistic(s_i - ln n).  The
 * engine does it as n rows of one key and a sink of logit 0.
 */
#include <math.h>
#include <string.h>

#include "attend/theory.h"
#include "lab/measure/frames.h"
#include "lab/measure/forward.h"
#include "lab/measure/trials.h"
#include "lab/experiments/experiment_parts.h"

enum { N, LATENTS, BETA, SIGMA2 }; /* flags */

static attend_status weigh_alone(attend_context *ctx, const double *score, int64_t count,
                                 double bias, double *weights, double *ones,
                                 attend_error *err)
{
    const double sink = 0;
    const struct lab_problem problem = {.nb = count,
                                        .nk = 1,
                                        .d = 1,
                                        .q = ones,
                                        .k = score,
                                        .bias = &bias,
                                        .sink = &sink,
                                        .scale = 1,
                                        .weights = weights};

    for (int64_t i = 0; i < count; i++)
        ones[i] = 1;
    return lab_forward(ctx, &problem, err);
}

/* ---- statistics without noise ------------------------------------------ */

/* Of two weights `high` and n - 2 weights `low`, relative to their sum. */
static struct lab_row_stats two_levels(double n, double high, double low)
{
    const double sum = 2 * high + (n - 2) * low, p = high / sum, r = low / sum;

    return (struct lab_row_stats){.top_weight = p,
                                  .entropy = -2 * p * log(p) - (n - 2) * r * log(r),
                                  .n_eff = 1 / (2 * p * p + (n - 2) * r * r)};
}

static void emit_stats(struct lab_run *run, const char *const names[3],
                       struct lab_row_stats theory, struct lab_row_stats measured)
{
    lab_emit_exact(run, names[0], theory.top_weight, measured.top_weight, 0);
    lab_emit_exact(run, names[1], theory.entropy, measured.entropy, 0);
    lab_emit_exact(run, names[2], theory.n_eff, measured.n_eff, 0);
}

/* q = beta (k_a + k_b): the scores of a and b are beta, those of the others 0. */
static int emit_statistics(struct lab_run *run, const struct lab_setting *p)
{
    static const char *const softmax[3] = {"softmax_max", "softmax_entropy",
                                           "softmax_n_eff"};
    static const char *const sigmoid[3] = {"sigmoid_max", "sigmoid_entropy",
                                           "sigmoid_n_eff"};
    const int64_t keys = (int64_t)p->at[N];
    const double n = (double)keys, low = attend_theory_logistic(-log(n));
    const double high = attend_theory_logistic(p->at[BETA] - log(n));
    double *const score = lab_room(run, 3 * keys);
    double sum = 0;
    struct lab_row_stats stats;
    attend_error err;

    if (!score)
        return -1;
    double *const weights = score + keys;
    score[0] = score[1] = p->at[BETA];
    if (lab_measure_scores(&run->session, run->ctx, keys, score, &stats))
        return -1;
    emit_stats(run, softmax, two_levels(n, exp(p->at[BETA]), 1), stats);
    if (weigh_alone(run->ctx, score, keys, -log(n), weights, weights + keys, &err) !=
        ATTEND_OK)
        return lab_fail(&run->session, "%s", err.message);
    /* Relative to their sum the weights are the softmax of their logarithms. */
    for (int64_t i = 0; i < keys; i++) {
        sum += weights[i];
        score[i] = log(weights[i]);
    }
    if (lab_measure_scores(&run->session, run->ctx, keys, score, &stats))
        return -1;
    emit_stats(run, sigmoid, two_levels(n, high, low), stats);
    lab_emit_exact(run, "sigmoid_sum", 2 * high + (n - 2) * low, sum, 0);
    return 0;
}

/* ---- magnitude noise of key a ------------------------------------------ */

enum { SOFTMAX_A, SOFTMAX_B, SIGMOID_A, SIGMOID_B, ROWS };
static const struct lab_observable rows[ROWS] = {
    {"softmax_var_a", SOFTMAX_A, LAB_VARIANCE_WITHIN, 1},
    {"softmax_var_b", SOFTMAX_B, LAB_VARIANCE_WITHIN, 1},
    {"sigmoid_var_a", SIGMOID_A, LAB_VARIANCE_WITHIN, 1},
    {"sigmoid_var_b", SIGMOID_B, LAB_VARIANCE_WITHIN, 1},
};

static attend_status noisy_trial(const void *arg, struct lab_worker *worker,
                                 uint64_t trial, double *values)
{
    const struct lab_draws *const draws = arg;
    const int64_t n = (int64_t)draws->at->at[N];
    const double beta = draws->at->at[BETA], sigma = sqrt(draws->at->at[SIGMA2]);
    double *const score = worker->scratch, *const weights = score + n;
    const double one = 1;
    double noise;
    const struct lab_problem problem = {
        .nk = n, .d = 1, .q = &one, .k = score, .scale = 1, .weights = weights};

    lab_normals(draws->seed, draws->stream, trial, &noise, 1);
    memset(score, 0, sizeof(double) * (size_t)n);
    score[0] = beta * (1 + sigma * noise);
    score[1] = beta;
    attend_status status = lab_forward(worker->ctx, &problem, &worker->err);
    if (status != ATTEND_OK)
        return status;
    values[SOFTMAX_A] = weights[0];
    values[SOFTMAX_B] = weights[1];
    status = weigh_alone(worker->ctx, score, 2, -log((double)n), weights, weights + n,
                         &worker->err);
    values[SIGMOID_A] = weights[0];
    values[SIGMOID_B] = weights[1];
    return status;
}

static int64_t scratch_of(const struct lab_setting *p) { return 3 * (int64_t)p->at[N]; }

static void theory_of(const struct lab_setting *p, const struct lab_scene *scene,
                      double *theory)
{
    const double n = p->at[N], beta = p->at[BETA];
    const attend_theory_scene law = attend_theory_scene_exercise(n, p->at[SIGMA2], 0);
    const attend_theory_output output =
        attend_theory_head(&law, (attend_theory_query){.a = beta, .b = beta, .rest = 0});
    const attend_theory_law alone = {
        .mean = beta - log(n), .sd = beta * sqrt(p->at[SIGMA2]), .floor = -INFINITY};

    (void)scene;
    theory[SOFTMAX_A] = output.variance[ATTEND_THEORY_A];
    theory[SOFTMAX_B] = output.variance[ATTEND_THEORY_B];
    theory[SIGMOID_A] = attend_theory_weight_variance(alone);
    theory[SIGMOID_B] = 0;
}

/* Nothing moves b's weight in sigmoid attention. */
static void finish(const struct lab_setting *p, struct lab_sample *sample)
{
    const struct lab_found b = sample->found[SIGMOID_B];

    (void)p;
    sample->found[SIGMOID_B] = lab_zero(b.measured, 0);
}

static const struct lab_model model = {LAB_ROWS(rows),        .theory = theory_of,
                                       .values = ROWS,        .trial = noisy_trial,
                                       .scratch = scratch_of, .finish = finish};

int lab_sigmoid_rows(struct lab_run *run, uint64_t stream)
{
    const struct lab_setting p = lab_own(run);
    struct lab_sample sample = {.histogram = NULL};

    return emit_statistics(run, &p) ||
           lab_rows_at(run, &model, &p, stream, run->trials, &sample);
}

int lab_sigmoid_sweep(struct lab_run *run, uint64_t stream)
{
    static const double scales[] = {1, 2, 3, 4, 6, 8, 10, 15, 20};
    static const char *const labels[ROWS] = {"softmax, a", "softmax, b", "sigmoid, a",
                                             "sigmoid, b"};
    const struct lab_sweep over_beta = {.flag = BETA,
                                        .line = {0.25, 19.75, 39, LAB_EVENLY, 0, 0},
                                        LAB_STEPS_OF(scales),
                                        .stream = stream,
                                        .trials = run->trials / 8 + 1};
    const struct lab_setting p = lab_own(run);
    struct lab_figure *const figure =
        lab_plot(run, "magnitude-noise", "Magnitude noise of key a: softmax and sigmoid",
                 "β (query scale)", "variance of a weight", 0,
                 "n = %.0f, σ² = %g.  Softmax weights compete, so noise in key a moves "
                 "b's weight as well; sigmoid weights stand alone.",
                 p.at[N], p.at[SIGMA2]);
    struct lab_plotted drawn[ROWS];

    for (int x = 0; x < ROWS; x++)
        drawn[x] = (struct lab_plotted){x, lab_curve_add(figure, "%s", labels[x])};
    return lab_sweep(run, &model, &over_beta, p, drawn, ROWS);
}

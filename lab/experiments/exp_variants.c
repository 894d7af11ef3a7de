/* SPDX-License-Identifier: MIT */
/* Variants of attention: Synthesizer, bottleneck of m latents, sigmoid weights. */
#include <math.h>
#include <string.h>

#include "attend/theory.h"
#include "lab/experiments/runner.h"
#include "lab/measure/forward.h"
#include "lab/measure/frames.h"
#include "lab/measure/random.h"

enum { NOISE_STREAM = 16 };

static const struct lab_flag flags[] = {
    LAB_FLAG_INTEGER("n", 16, 3, 256, "keys, the n axes"),
    LAB_FLAG_INTEGER("m", 2, 1, 256, "latents of the bottleneck, at most n"),
    LAB_FLAG_REAL("beta", 10, 0, 100, "query scale"),
    LAB_FLAG_REAL("sigma2", 0.5, 0, 100,
                  "magnitude noise of key a, for the weights of a and b"),
};

enum { N, LATENTS, BETA, SIGMA2 }; /* flags */

/* ---- Synthesizer: scores that do not read the keys ----------------------- */

enum { SCORE_STREAM = 1, PLACE_STREAM };

/*
 * The key that matches the query stands at a place drawn anew in every trial.  The
 * Synthesizer's scores are made from the query alone: here they are its bias.
 */
enum { ATTENTION_HIT, SYNTHESIZER_HIT, KEY_EFFECT, SEARCH_VALUES };
static const struct lab_observable search_rows[] = {
    {"attention_hit", ATTENTION_HIT, LAB_PROBABILITY, 1},
    {"synthesizer_hit", SYNTHESIZER_HIT, LAB_PROBABILITY, 1},
    {"synthesizer_key_effect", KEY_EFFECT, LAB_MEAN, 0},
};

static int64_t largest(const double *weights, int64_t n)
{
    int64_t best = 0;

    for (int64_t i = 1; i < n; i++)
        if (weights[i] > weights[best])
            best = i;
    return best;
}

static attend_status search_trial(const void *arg, struct lab_worker *worker,
                                  uint64_t trial, double *values)
{
    const struct lab_draws *const draws = arg;
    const int64_t n = (int64_t)draws->at->at[N];
    double *const key = worker->scratch, *const query = key + n * n;
    double *const weights = query + n, *const bias = weights + n,
                  *const before = bias + n;
    struct lab_problem problem =
        LAB_PROBLEM(n, n, query, key, draws->at->at[BETA], .weights = weights);
    uint32_t word;

    lab_random_words(draws->seed, PLACE_STREAM, trial, &word, 1);
    const int64_t place = (int64_t)(((uint64_t)word * (uint64_t)n) >> 32);
    lab_normals(draws->seed, SCORE_STREAM, 0, bias, n);
    memset(key, 0, sizeof(double) * (size_t)(n * n + n));
    query[0] = 1;
    for (int64_t i = 0; i < n; i++)
        key[i * n + (i + n - place) % n] = 1;
    attend_status status = lab_forward(worker->ctx, &problem, &worker->err);
    if (status != ATTEND_OK)
        return status;
    values[ATTENTION_HIT] = largest(weights, n) == place;

    problem.scale = 0;
    problem.bias = bias;
    status = lab_forward(worker->ctx, &problem, &worker->err);
    if (status != ATTEND_OK)
        return status;
    values[SYNTHESIZER_HIT] = largest(weights, n) == place;
    memcpy(before, weights, sizeof(double) * (size_t)n);
    for (int64_t x = 0; x < n * n; x++)
        key[x] = 1 - key[x];
    status = lab_forward(worker->ctx, &problem, &worker->err);
    values[KEY_EFFECT] = 0;
    for (int64_t i = 0; i < n; i++)
        values[KEY_EFFECT] = fmax(values[KEY_EFFECT], fabs(weights[i] - before[i]));
    return status;
}

static int64_t search_scratch(const struct lab_setting *p)
{
    const int64_t n = (int64_t)p->at[N];

    return n * n + 4 * n;
}

static void search_theory(const struct lab_setting *p, double *theory)
{
    /* At beta = 0 attention weighs all keys equally, too. */
    theory[ATTENTION_HIT] = p->at[BETA] > 0 ? 1 : 1 / p->at[N];
    theory[SYNTHESIZER_HIT] = 1 / p->at[N];
    theory[KEY_EFFECT] = 0;
}

static void search_finish(const struct lab_setting *p, struct lab_sample *sample)
{
    (void)p;
    sample->found[KEY_EFFECT] = lab_zero(sample->found[KEY_EFFECT].measured, 0);
}

static const struct lab_model search = {
    LAB_ROWS(search_rows), .theory = search_theory,   .values = SEARCH_VALUES,
    .trial = search_trial, .scratch = search_scratch, .finish = search_finish};

static int synthesizer_rows(struct lab_run *run)
{
    const struct lab_setting p = lab_own(run);

    return lab_rows_at(run, &search, &p, 0, run->trials / 8 + 1, NULL);
}

/* ---- bottleneck: n tokens to m latents and back -------------------------- */

/* Measures of a map of n tokens to n outputs; values are the axes. */
struct map {
    double error; /* |I - R|^2, the sum of squares */
    double rank;
    double scores; /* weights that the engine made for it */
};

/* A rest below 1e-9 of the largest row counts as 0. */
static double rank_of(double *matrix, int64_t n)
{
    double largest = 0;

    for (int64_t i = 0; i < n; i++)
        largest = fmax(largest, lab_norm(matrix + i * n, n));
    return (double)lab_orthonormalise(matrix, n, n, 1e-9 * largest);
}

static void rate(double *matrix, int64_t n, struct map *map)
{
    map->error = 0;
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++) {
            const double off = matrix[i * n + j] - (i == j);
            map->error += off * off;
        }
    map->rank = rank_of(matrix, n);
}

/* Entries of `weights` that a call has written over NaN. */
static double written(const double *weights, int64_t count)
{
    double sum = 0;

    for (int64_t x = 0; x < count; x++)
        sum += !isnan(weights[x]);
    return sum;
}

static void reset(double *weights, int64_t count)
{
    for (int64_t x = 0; x < count; x++)
        weights[x] = NAN;
}

/*
 * Every token looks for itself: directly, or by way of m latents that each look for one
 * of the first m tokens and are then looked up.
 */
static int measure_map(struct lab_run *run, const struct lab_setting *p, int64_t latents,
                       struct map *map)
{
    const int64_t n = (int64_t)p->at[N];
    double *const scratch = lab_scratch(run, 4 * n * n);
    if (!scratch)
        return -1;
    double *const token = scratch, *const weights = scratch + n * n;
    double *const latent = scratch + 2 * n * n, *const out = scratch + 3 * n * n;
    struct lab_problem problem =
        LAB_PROBLEM(n, n, token, token, p->at[BETA], .nq = latents ? latents : n, .dv = n,
                    .v = token, .out = latents ? latent : out, .weights = weights);

    for (int64_t i = 0; i < n; i++)
        token[i * n + i] = 1;
    reset(weights, n * n);
    if (lab_measure(&run->session, run->ctx, &problem))
        return -1;
    map->scores = written(weights, n * n);
    if (latents) {
        problem.nq = n;
        problem.nk = latents;
        problem.v = latent;
        problem.out = out;
        reset(weights, n * n);
        if (lab_measure(&run->session, run->ctx, &problem))
            return -1;
        map->scores += written(weights, n * n);
    }
    rate(out, n, map);
    return 0;
}

/*
 * The error of that bottleneck.  A latent puts p on its token and r on each other; one
 * of the first m tokens puts u on its latent and w on each other; the rest, 1/m.
 */
static double bottleneck_error(const struct lab_setting *at)
{
    const double n = at->at[N], m = at->at[LATENTS], beta = at->at[BETA];
    const double p = attend_theory_copy_weight(n, beta), r = (1 - p) / (n - 1);
    const double u = attend_theory_copy_weight(m, beta);
    const double w = m > 1 ? (1 - u) / (m - 1) : 0;
    const double self = u * p + (1 - u) * r - 1, peer = w * p + (1 - w) * r;
    const double mean = (p + (m - 1) * r) / m;
    const double first = self * self + (m - 1) * peer * peer + (n - m) * r * r;
    const double rest = m * mean * mean + (r - 1) * (r - 1) + (n - m - 1) * r * r;

    return m * first + (n - m) * rest;
}

static double attention_error(const struct lab_setting *p)
{
    const double error = attend_theory_copy_error(p->at[N], p->at[BETA]);

    return p->at[N] * error * error;
}

static int bottleneck_rows(struct lab_run *run)
{
    const struct lab_setting p = lab_own(run);
    const double n = p.at[N], m = p.at[LATENTS];
    struct map map;

    if (measure_map(run, &p, 0, &map))
        return -1;
    lab_emit_own(run, "attention_scores", lab_sure(n * n, map.scores));
    lab_emit_own(run, "attention_error", lab_sure(attention_error(&p), map.error));
    if (measure_map(run, &p, (int64_t)m, &map))
        return -1;
    lab_emit_own(run, "bottleneck_scores", lab_sure(2 * n * m, map.scores));
    lab_emit_own(run, "bottleneck_error", lab_sure(bottleneck_error(&p), map.error));
    lab_emit_own(run, "bottleneck_rank", lab_below(m, map.rank, 0));
    /* A map of rank m misses the identity by n - m at least, that of all 0 by n. */
    lab_emit_own(run, "bottleneck_copied", lab_below(m, fmax(0, n - map.error), 0));
    return 0;
}

static int bottleneck_sweep(struct lab_run *run)
{
    struct lab_setting p = lab_own(run);
    double *const m = &p.at[LATENTS];
    const double n = p.at[N], step = n > 16 ? floor(n / 16) : 1;
    struct lab_figure *const figure =
        lab_plot(run, "bottleneck", "Bottleneck: what m latents can hand through",
                 "m (latents)", "|I - R|² (tokens not copied)", 0,
                 "n = %.0f tokens look for themselves through m latents: %.0f·2m scores "
                 "instead of %.0f, and never more than m tokens copied.",
                 n, n, n * n);
    struct lab_series *const theory = lab_theory_add(figure, "this design");
    struct lab_series *const least =
        lab_series_add(figure, LAB_LINE, "least of any, n - m");
    struct lab_series *const measured = lab_measured_add(figure, "this design");

    for (*m = 1; *m <= n; *m += step) {
        lab_series_point(theory, *m, bottleneck_error(&p), 0);
        lab_series_point(least, *m, n - *m, 0);
    }
    for (*m = 1; *m <= n && !lab_stopped(&run->session); *m += step) {
        struct map map;
        if (measure_map(run, &p, (int64_t)*m, &map))
            return -1;
        lab_emit(run, "bottleneck_error", &p, lab_sure(bottleneck_error(&p), map.error));
        lab_emit(run, "bottleneck_rank", &p, lab_below(*m, map.rank, 0));
        lab_series_point(measured, *m, map.error, 0);
    }
    return 0;
}

/* ---- sigmoid ------------------------------------------------------------- */

/*
 * Sigmoid attention: every key is weighed by itself, w_i = logistic(s_i - ln n).  The
 * engine does it as n rows of one key and a sink of logit 0.
 */
static attend_status weigh_alone(attend_context *ctx, const double *score, int64_t count,
                                 double bias, double *weights, double *ones,
                                 attend_error *err)
{
    const double sink = 0;
    const struct lab_problem problem =
        LAB_PROBLEM(1, 1, ones, score, 1, .nb = count, .bias = &bias, .sink = &sink,
                    .weights = weights);

    for (int64_t i = 0; i < count; i++)
        ones[i] = 1;
    return lab_forward(ctx, &problem, err);
}

/* ---- statistics without noise ------------------------------------------ */

/* Statistics of two weights `high` and n - 2 weights `low`, relative to their sum. */
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
    lab_emit_own(run, names[0], lab_sure(theory.top_weight, measured.top_weight));
    lab_emit_own(run, names[1], lab_sure(theory.entropy, measured.entropy));
    lab_emit_own(run, names[2], lab_sure(theory.n_eff, measured.n_eff));
}

/* q = beta (k_a + k_b): the scores of a and b are beta, those of the others 0. */
static int statistics_rows(struct lab_run *run, const struct lab_setting *p)
{
    static const char *const softmax[3] = {"softmax_max", "softmax_entropy",
                                           "softmax_n_eff"};
    static const char *const sigmoid[3] = {"sigmoid_max", "sigmoid_entropy",
                                           "sigmoid_n_eff"};
    const int64_t keys = (int64_t)p->at[N];
    const double n = (double)keys, low = attend_theory_logistic(-log(n));
    const double high = attend_theory_logistic(p->at[BETA] - log(n));
    double *const score = lab_scratch(run, 3 * keys);
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
    lab_emit_own(run, "sigmoid_sum", lab_sure(2 * high + (n - 2) * low, sum));
    return 0;
}

/* ---- magnitude noise of key a ------------------------------------------ */

enum { SOFTMAX_A, SOFTMAX_B, SIGMOID_A, SIGMOID_B, NOISE_ROWS };
static const struct lab_observable noise_rows[NOISE_ROWS] = {
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
    const struct lab_problem problem =
        LAB_PROBLEM(n, 1, &one, score, 1, .weights = weights);

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

static int64_t noise_scratch(const struct lab_setting *p)
{
    return 3 * (int64_t)p->at[N];
}

static void noise_theory(const struct lab_setting *p, double *theory)
{
    const double n = p->at[N], beta = p->at[BETA];
    const attend_theory_scene law = attend_theory_scene_exercise(n, p->at[SIGMA2], 0);
    const attend_theory_output output =
        attend_theory_head(&law, (attend_theory_query){.a = beta, .b = beta, .rest = 0});
    const attend_theory_law alone = {
        .mean = beta - log(n), .sd = beta * sqrt(p->at[SIGMA2]), .floor = -INFINITY};

    theory[SOFTMAX_A] = output.variance[ATTEND_THEORY_A];
    theory[SOFTMAX_B] = output.variance[ATTEND_THEORY_B];
    theory[SIGMOID_A] = attend_theory_weight_variance(alone);
    theory[SIGMOID_B] = 0;
}

/* In sigmoid attention the weight of b is constant. */
static void noise_finish(const struct lab_setting *p, struct lab_sample *sample)
{
    const struct lab_found b = sample->found[SIGMOID_B];

    (void)p;
    sample->found[SIGMOID_B] = lab_zero(b.measured, 0);
}

static const struct lab_model noisy = {LAB_ROWS(noise_rows),     .theory = noise_theory,
                                       .values = NOISE_ROWS,     .trial = noisy_trial,
                                       .scratch = noise_scratch, .finish = noise_finish};

static int sigmoid_rows(struct lab_run *run, uint64_t stream)
{
    const struct lab_setting p = lab_own(run);

    return statistics_rows(run, &p) ||
           lab_rows_at(run, &noisy, &p, stream, run->trials, NULL);
}

static int sigmoid_sweep(struct lab_run *run, uint64_t stream)
{
    static const double scales[] = {1, 2, 3, 4, 6, 8, 10, 15, 20};
    static const char *const labels[NOISE_ROWS] = {"softmax, a", "softmax, b",
                                                   "sigmoid, a", "sigmoid, b"};
    const struct lab_sweep over_beta =
        LAB_SWEEP(BETA, scales, .line = {0.25, 19.75, 39, LAB_EVENLY, 0, 0},
                  .stream = stream, .trials = run->trials / 8 + 1);
    const struct lab_setting p = lab_own(run);
    struct lab_figure *const figure =
        lab_plot(run, "magnitude-noise", "Magnitude noise of key a: softmax and sigmoid",
                 "β (query scale)", "variance of a weight", 0,
                 "n = %.0f, σ² = %g.  Softmax weights compete, so noise in key a moves "
                 "b's weight as well; sigmoid weights stand alone.",
                 p.at[N], p.at[SIGMA2]);
    struct lab_plotted drawn[NOISE_ROWS];

    for (int x = 0; x < NOISE_ROWS; x++)
        drawn[x] = (struct lab_plotted){x, lab_curve_add(figure, "%s", labels[x])};
    return lab_sweep(run, &noisy, &over_beta, p, drawn, NOISE_ROWS);
}

/* ---- the experiment ------------------------------------------------------ */

static int perform(struct lab_run *run)
{
    const double n = lab_real(run, "n"), m = lab_real(run, "m");

    if (m > n)
        return lab_misuse(&run->session, "--m %.0f: at most n = %.0f latents are allowed",
                          m, n);
    return synthesizer_rows(run) || bottleneck_rows(run) ||
           sigmoid_rows(run, NOISE_STREAM);
}

static int sweep(struct lab_run *run)
{
    return bottleneck_sweep(run) || sigmoid_sweep(run, NOISE_STREAM + 1);
}

const struct lab_experiment lab_experiment_variants = {
    .name = "variants",
    .title = "Variants: Synthesizer, bottleneck, sigmoid",
    .shows =
        "A Synthesizer cannot find a key it does not read, a bottleneck of m latents "
        "hands at most m values through for 2 n m scores, and sigmoid weights do not "
        "compete.",
    .answers = "3g",
    LAB_FLAGS(flags),
    .trials = 20000,
    .perform = perform,
    .sweep = sweep,
};

/* SPDX-License-Identifier: MIT */
/* Variants of attention: Synthesizer, bottleneck of m latents, sigmoid weights. */
#include <math.h>

#include "attend/theory.h"
#include "lab/experiments/runner.h"
#include "lab/setups/variants.h"

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

static const struct lab_observable search_rows[] = {
    {"attention_hit", LAB_ATTENTION_HIT, LAB_PROBABILITY, 1},
    {"synthesizer_hit", LAB_SYNTHESIZER_HIT, LAB_PROBABILITY, 1},
    {"synthesizer_key_effect", LAB_KEY_EFFECT, LAB_VANISHING_MEAN, 0},
};

static void search_theory(const struct lab_setting *p, double *theory)
{
    /* At beta = 0 attention weighs all keys equally, too. */
    theory[LAB_ATTENTION_HIT] = p->at[BETA] > 0 ? 1 : 1 / p->at[N];
    theory[LAB_SYNTHESIZER_HIT] = 1 / p->at[N];
    theory[LAB_KEY_EFFECT] = 0;
}

static int search_trials(struct lab_run *run, const struct lab_setting *p,
                         uint64_t stream, int64_t trials, struct lab_sample *sample)
{
    (void)stream;
    return lab_synthesizer_measure(&run->session, (int64_t)p->at[N], p->at[BETA], trials,
                                   sample->moments);
}

static const struct lab_model search = {LAB_ROWS(search_rows), .theory = search_theory,
                                        .values = LAB_SEARCH_VALUES,
                                        .trials = search_trials};

/* ---- bottleneck: n tokens to m latents and back -------------------------- */

static int measure_map(struct lab_run *run, const struct lab_setting *p, double latents,
                       struct lab_bottleneck *map)
{
    return lab_bottleneck_measure(&run->session, run->ctx, (int64_t)p->at[N],
                                  (int64_t)latents, p->at[BETA], map);
}

static double error_of(const struct lab_setting *p, double latents)
{
    return lab_bottleneck_error(p->at[N], latents, p->at[BETA]);
}

static int bottleneck_rows(struct lab_run *run, struct lab_setting p)
{
    const double n = p.at[N], m = p.at[LATENTS];
    struct lab_bottleneck map;

    if (measure_map(run, &p, 0, &map))
        return -1;
    lab_emit_own(run, "attention_scores", lab_sure(n * n, map.scores));
    lab_emit_own(run, "attention_error", lab_sure(error_of(&p, 0), map.error));
    if (measure_map(run, &p, m, &map))
        return -1;
    lab_emit_own(run, "bottleneck_scores", lab_sure(2 * n * m, map.scores));
    lab_emit_own(run, "bottleneck_error", lab_sure(error_of(&p, m), map.error));
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
        lab_series_point(theory, *m, error_of(&p, *m), 0);
        lab_series_point(least, *m, n - *m, 0);
    }
    for (*m = 1; *m <= n && !lab_stopped(&run->session); *m += step) {
        struct lab_bottleneck map;
        if (measure_map(run, &p, *m, &map))
            return -1;
        lab_emit(run, "bottleneck_error", &p, lab_sure(error_of(&p, *m), map.error));
        lab_emit(run, "bottleneck_rank", &p, lab_below(*m, map.rank, 0));
        lab_series_point(measured, *m, map.error, 0);
    }
    return 0;
}

/* ---- sigmoid ------------------------------------------------------------- */

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

/* q = beta (k_a + k_b), without noise: the scores of a and b are beta, of the others 0.
 */
static int statistics_rows(struct lab_run *run, const struct lab_setting *p)
{
    static const char *const softmax[3] = {"softmax_max", "softmax_entropy",
                                           "softmax_n_eff"};
    static const char *const sigmoid[3] = {"sigmoid_max", "sigmoid_entropy",
                                           "sigmoid_n_eff"};
    const int64_t keys = (int64_t)p->at[N];
    const double n = (double)keys, low = attend_theory_logistic(-log(n));
    const double high = attend_theory_logistic(p->at[BETA] - log(n));
    double *const score = lab_scratch(run, 3 * keys), sum;
    struct lab_row_stats stats;

    if (!score)
        return -1;
    score[0] = score[1] = p->at[BETA];
    if (lab_measure_scores(&run->session, run->ctx, keys, score, &stats))
        return -1;
    emit_stats(run, softmax, two_levels(n, exp(p->at[BETA]), 1), stats);
    if (lab_sigmoid_measure(&run->session, run->ctx, keys, score, score + keys, &sum,
                            &stats))
        return -1;
    emit_stats(run, sigmoid, two_levels(n, high, low), stats);
    lab_emit_own(run, "sigmoid_sum", lab_sure(2 * high + (n - 2) * low, sum));
    return 0;
}

/* Magnitude noise of key a. */
static const struct lab_observable noise_rows[] = {
    {"softmax_var_a", LAB_SOFTMAX_A, LAB_VARIANCE_WITHIN, 1},
    {"softmax_var_b", LAB_SOFTMAX_B, LAB_VARIANCE_WITHIN, 1},
    {"sigmoid_var_a", LAB_SIGMOID_A, LAB_VARIANCE_WITHIN, 1},
    /* In sigmoid attention the weight of b is constant. */
    {"sigmoid_var_b", LAB_SIGMOID_B, LAB_VANISHING_VARIANCE, 0},
};

static int noise_trials(struct lab_run *run, const struct lab_setting *p, uint64_t stream,
                        int64_t trials, struct lab_sample *sample)
{
    return lab_noisy_weights_measure(&run->session, (int64_t)p->at[N], p->at[BETA],
                                     p->at[SIGMA2], stream, trials, sample->moments);
}

static void noise_theory(const struct lab_setting *p, double *theory)
{
    const double n = p->at[N], beta = p->at[BETA];
    const attend_theory_scene law = attend_theory_scene_exercise(n, p->at[SIGMA2], 0);
    const attend_theory_output output =
        attend_theory_head(&law, (attend_theory_query){.a = beta, .b = beta, .rest = 0});
    const attend_theory_law alone = {
        .mean = beta - log(n), .sd = beta * sqrt(p->at[SIGMA2]), .floor = -INFINITY};

    theory[LAB_SOFTMAX_A] = output.variance[ATTEND_THEORY_A];
    theory[LAB_SOFTMAX_B] = output.variance[ATTEND_THEORY_B];
    theory[LAB_SIGMOID_A] = attend_theory_weight_variance(alone);
    theory[LAB_SIGMOID_B] = 0;
}

static const struct lab_model noisy = {LAB_ROWS(noise_rows), .theory = noise_theory,
                                       .values = LAB_NOISE_VALUES,
                                       .trials = noise_trials};

static int sigmoid_sweep(struct lab_run *run)
{
    static const double scales[] = {1, 2, 3, 4, 6, 8, 10, 15, 20};
    static const char *const labels[LAB_NOISE_VALUES] = {"softmax, a", "softmax, b",
                                                         "sigmoid, a", "sigmoid, b"};
    const struct lab_sweep over_beta =
        LAB_SWEEP(BETA, scales, .line = {0.25, 19.75, 39, LAB_EVENLY, 0, 0},
                  .stream = NOISE_STREAM + 1, .trials = run->trials / 8 + 1);
    const struct lab_setting p = lab_own(run);
    struct lab_figure *const figure =
        lab_plot(run, "magnitude-noise", "Magnitude noise of key a: softmax and sigmoid",
                 "β (query scale)", "variance of a weight", 0,
                 "n = %.0f, σ² = %g.  Softmax weights compete, so noise in key a moves "
                 "b's weight as well; sigmoid weights stand alone.",
                 p.at[N], p.at[SIGMA2]);
    struct lab_plotted drawn[LAB_NOISE_VALUES];

    for (int x = 0; x < LAB_NOISE_VALUES; x++)
        drawn[x] = (struct lab_plotted){x, lab_curve_add(figure, "%s", labels[x])};
    return lab_sweep(run, &noisy, &over_beta, p, drawn, LAB_NOISE_VALUES);
}

/* ---- the experiment ------------------------------------------------------ */

static int perform(struct lab_run *run)
{
    const struct lab_setting p = lab_own(run);
    const double n = p.at[N], m = p.at[LATENTS];

    if (m > n)
        return lab_misuse(&run->session, "--m %.0f: at most n = %.0f latents are allowed",
                          m, n);
    return lab_rows_at(run, &search, &p, 0, run->trials / 8 + 1, NULL) ||
           bottleneck_rows(run, p) || statistics_rows(run, &p) ||
           lab_rows_at(run, &noisy, &p, NOISE_STREAM, run->trials, NULL);
}

static int sweep(struct lab_run *run)
{
    return bottleneck_sweep(run) || sigmoid_sweep(run);
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

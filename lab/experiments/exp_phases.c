/* SPDX-License-Identifier: MIT */
/* Random logits: diffuse and frozen attention, 1/sqrt(d), entropy floor (T22, T23). */
#include <math.h>

#include "attend/theory.h"
#include "lab/experiments/runner.h"
#include "lab/setups/random_keys.h"

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

enum { N, D, SCALED, SPREAD, DRAWN }; /* flags, and the columns that are drawn */

/* Exact means at this n, each with its limit for many keys. */
static const struct lab_observable rows[] = {
    {"entropy", LAB_LOGITS_ENTROPY, LAB_MEAN, 0},
    {"entropy_limit", LAB_LOGITS_ENTROPY, LAB_MEAN, 0},
    {"sum_p2", LAB_LOGITS_SQUARES, LAB_MEAN, 0},
    {"sum_p2_limit", LAB_LOGITS_SQUARES, LAB_MEAN, 0},
    {"n_eff", LAB_LOGITS_SQUARES, LAB_MEAN, 0},
    {"n_eff_limit", LAB_LOGITS_SQUARES, LAB_MEAN, 0},
    {"below_floor", LAB_LOGITS_BELOW_FLOOR, LAB_MEAN, 0}};
enum { H, H_LIMIT, SUM_P2, SUM_P2_LIMIT, N_EFF, N_EFF_LIMIT, FLOOR };

static void theory_of(const struct lab_setting *p, double *theory)
{
    const double n = p->at[N], S = p->at[SPREAD];

    theory[H] = attend_theory_random_entropy(n, S);
    theory[H_LIMIT] = attend_theory_random_entropy_limit(n, S);
    theory[SUM_P2] = attend_theory_random_sum_squares(n, S);
    theory[SUM_P2_LIMIT] = attend_theory_random_sum_squares_limit(n, S);
    theory[N_EFF] = 1 / theory[SUM_P2];
    theory[N_EFF_LIMIT] = attend_theory_random_keys_limit(n, S);
    theory[FLOOR] = 0;
}

static int measure(struct lab_run *run, const struct lab_setting *p, uint64_t stream,
                   int64_t trials, struct lab_sample *sample)
{
    const struct lab_logits logits = {(int64_t)p->at[N], (int64_t)p->at[DRAWN],
                                      p->at[SPREAD]};

    return lab_logits_measure(&run->session, &logits, stream, trials, sample->moments);
}

static void finish(const struct lab_setting *p, struct lab_sample *sample)
{
    struct lab_found *const found = sample->found;
    const double sum = found[SUM_P2].measured, se = found[SUM_P2].se;
    const struct lab_estimate n_eff = {.value = 1 / sum, .se = se / (sum * sum)};

    found[N_EFF] = lab_exact(found[N_EFF].theory, n_eff);
    found[N_EFF_LIMIT] = lab_exact(found[N_EFF_LIMIT].theory, n_eff);
    for (int r = H_LIMIT; r <= N_EFF_LIMIT; r += 2) {
        found[r].kind = LAB_ASYMPTOTIC;
        found[r].is_absent = !(found[r].theory > 0);
    }
    found[FLOOR] = lab_zero(found[FLOOR].measured, 1e-12 * log(p->at[N]));
}

static const struct lab_model model = {LAB_ROWS(rows), .theory = theory_of,
                                       .values = LAB_LOGITS_VALUES, .trials = measure,
                                       .finish = finish};

/* One spike of norm r attains the floor. */
static int emit_spike(struct lab_run *run, const struct lab_setting *p)
{
    const double n = p->at[N], r = p->at[SPREAD] * sqrt(n);
    double *const score = lab_scratch(run, (int64_t)n);
    struct lab_row_stats stats;

    if (!score)
        return -1;
    score[0] = r * sqrt(n / (n - 1));
    if (lab_measure_scores(&run->session, run->ctx, (int64_t)n, score, &stats))
        return -1;
    lab_emit(run, "entropy_spike", p,
             lab_sure(attend_theory_entropy_floor(n, r), stats.entropy));
    return 0;
}

static const double spreads[] = {0.25, 0.5, 1, 1.5, 2, 2.5, 3, 3.5, 4, 5, 6, 8, 10};
enum { SPREADS = sizeof spreads / sizeof *spreads };

static double entropy_limit(const struct lab_setting *p)
{
    return attend_theory_random_entropy_limit(p->at[N], p->at[SPREAD]);
}

static double squares_limit(const struct lab_setting *p)
{
    const double n = p->at[N], S = p->at[SPREAD];
    const double frozen = attend_theory_random_sum_squares_limit(n, S);

    return isnan(frozen) ? 1 / attend_theory_random_keys_limit(n, S) : frozen;
}

static const struct lab_chart charts[2] = {
    {"entropy", "Random attention: entropy", "S (spread of the logits)", "H (nats)",
     .curves = {{H, "exact"}}, .label = "large-n limit", .value = entropy_limit,
     .line = {0, 10, 160, LAB_EVENLY, 0, 0}},
    {"concentration", "Random attention: concentration", "S (spread of the logits)",
     "Σp² = 1/N_eff", .curves = {{SUM_P2, "exact"}}, .label = "large-n limit",
     .value = squares_limit, .line = {0, 10, 160, LAB_EVENLY, 0, 0}},
};

static int sweep_spreads(struct lab_run *run)
{
    const struct lab_sweep over_S =
        LAB_SWEEP(SPREAD, spreads, .line = {0, 10, 40, LAB_EVENLY, 0, 0},
                  .stream = SWEEP_STREAM, .trials = run->trials);
    struct lab_setting p = lab_own(run);
    struct lab_figure *figures[2];

    p.at[DRAWN] = 1; /* the logits are the same in law */
    if (lab_charts(run, &model, &over_S, p, charts, 2, figures))
        return -1;
    for (int f = 0; f < 2; f++)
        lab_caption(figures[f],
                    "n = %.0f independent N(0, S²) logits.  Of many keys, diffuse below "
                    "and frozen on a few above S = √(2 ln n), here %.2f.  Unit entries "
                    "give S = √d without the factor 1/√d, and S = 1 with it.",
                    p.at[N], attend_theory_freezing_spread(p.at[N]));
    return 0;
}

static int scatter(struct lab_run *run)
{
    const double n = lab_real(run, "n"), most = 10 * sqrt(n);
    struct lab_worker worker = {.ctx = run->ctx,
                                .scratch = lab_scratch(run, (int64_t)n + 1),
                                .seed = run->session.seed,
                                .stream = SCATTER_STREAM};
    struct lab_figure *const figure =
        lab_plot(run, "floor", "Entropy of random rows, and its floor",
                 "r (norm of the centred logits)", "H (nats)", LAB_LOG_X, "%s", "");
    struct lab_series *const line = lab_series_add(figure, LAB_LINE, "theory, floor");
    struct lab_series *const points =
        lab_series_add(figure, LAB_POINTS, "measured, random rows");
    double nearest = INFINITY;

    if (!worker.scratch)
        return -1;
    for (double r = 0.25; r <= most; r *= 1.0625)
        lab_series_point(line, r, attend_theory_entropy_floor(n, r), 0);
    for (int x = 0; x < 8 * SPREADS && !lab_stopped(&run->session); x++) {
        struct lab_row_stats stats;
        double r;
        const struct lab_logits logits = {(int64_t)n, 1, spreads[x % SPREADS]};
        if (lab_logits_row(&logits, &worker, (uint64_t)x, &stats, &r) != ATTEND_OK)
            return lab_fail(&run->session, "%s", worker.err.message);
        lab_series_point(points, r, stats.entropy, 0);
        nearest = fmin(nearest, stats.entropy - attend_theory_entropy_floor(n, r));
    }
    lab_caption(figure,
                "n = %.0f.  No row of this norm has less entropy than one spike.  The "
                "nearest of these random rows is %.2g nats above it.",
                n, fmax(nearest, 0));
    return 0;
}

static int perform(struct lab_run *run)
{
    if (isnan(lab_real(run, "S")))
        lab_set(run, "S", lab_choice(run, "scale") ? sqrt(lab_real(run, "d")) : 1);
    struct lab_setting p = lab_own(run);
    p.at[DRAWN] = p.at[N] * p.at[D] > 1 << 20 ? 1 : p.at[D];
    return lab_rows_at(run, &model, &p, OWN_STREAM, run->trials, NULL) ||
           emit_spike(run, &p);
}

static int sweep(struct lab_run *run) { return sweep_spreads(run) || scatter(run); }

const struct lab_experiment lab_experiment_phases = {
    .name = "phases",
    .title = "Phases of random attention",
    .shows = "Random logits of spread S leave attention on many keys diffuse below S = "
             "sqrt(2 ln n) and freeze it on a few above; the factor 1/sqrt(d) keeps a "
             "new model on the diffuse side.",
    .answers = "",
    LAB_FLAGS(flags),
    .trials = 1000,
    .perform = perform,
    .sweep = sweep,
};

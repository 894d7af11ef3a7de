/* SPDX-License-Identifier: MIT */
/* Dispersion: logits of bounded range cannot stay sharp as keys are added (T20). */
#include <math.h>

#include "attend/theory.h"
#include "lab/experiments/runner.h"
#include "lab/measure/forward.h"
#include "lab/measure/random.h"

static const struct lab_flag flags[] = {
    LAB_FLAG_INTEGER("n", 1000, 2, 1e6, "keys; each is one number, its logit"),
    LAB_FLAG_REAL("D", 10, 0, 700, "range of the logits, largest minus smallest"),
    LAB_FLAG_CHOICE("scale", "off", LAB_2("off", "on"),
                    "on: logits are multiplied by ln n / ln n0"),
    LAB_FLAG_INTEGER("n0", 10, 2, 1e6, "number of keys at which that factor is 1"),
};

enum { N, RANGE, SCALED, N0 }; /* flags */

static const struct lab_observable rows[] = {
    {.quantity = "max_p"}, {.quantity = "entropy"}, {.quantity = "n_eff"}};
enum { MAX_P, ENTROPY, N_EFF, ROWS };

/* Logits k_i within [0, D], multiplied by tau. */
static double tau_of(const struct lab_setting *p)
{
    return p->at[SCALED] ? log(p->at[N]) / log(p->at[N0]) : 1;
}

static int attend(struct lab_run *run, const struct lab_setting *p, const double *logits,
                  struct lab_row_stats *stats)
{
    const double one = 1;
    const struct lab_problem problem =
        LAB_PROBLEM((int64_t)p->at[N], 1, &one, logits, tau_of(p), .stats = stats);

    return lab_measure(&run->session, run->ctx, &problem);
}

/* One spike attains the entropy floor of its centred norm. */
static void theory_of(const struct lab_setting *p, double *theory)
{
    const double n = p->at[N], D = tau_of(p) * p->at[RANGE];
    const double most = attend_theory_dispersion_bound(n, D), rest = 1 - most;

    theory[MAX_P] = most;
    theory[ENTROPY] = attend_theory_entropy_floor(n, D * sqrt((n - 1) / n));
    theory[N_EFF] = 1 / (most * most + rest * rest / (n - 1));
}

static double rounding_of(const struct lab_setting *p) { return 1e-14 * log(p->at[N]); }

/* The sharpest row of that range: one key at D, the others at 0. */
static int measure_spike(struct lab_run *run, const struct lab_setting *p,
                         struct lab_found *found)
{
    double *const logits = lab_scratch(run, (int64_t)p->at[N]);
    struct lab_row_stats stats;

    if (!logits)
        return -1;
    logits[0] = p->at[RANGE];
    if (attend(run, p, logits, &stats))
        return -1;
    const double rounding = rounding_of(p);
    found[MAX_P] = lab_below(found[MAX_P].theory, stats.top_weight, rounding);
    found[ENTROPY] = lab_about(found[ENTROPY].theory, stats.entropy, rounding);
    found[N_EFF] = lab_about(found[N_EFF].theory, stats.n_eff, rounding);
    return 0;
}

static const struct lab_model model = {LAB_ROWS(rows), .theory = theory_of,
                                       .measure = measure_spike};

/* Logits uniform over [0, D] with both ends taken: the largest weight of any trial. */
static int measure_random(struct lab_run *run, const struct lab_setting *p,
                          double *largest)
{
    const double warm_seconds =
        0.03; /* of trials but the first, for the estimate of time */
    const int64_t n = (int64_t)p->at[N];
    double *const logits = lab_scratch(run, n);
    double warm_at = 0;
    int is_estimated = 0;
    struct lab_row_stats stats;

    *largest = 0;
    for (int64_t t = 0; logits && t < run->trials && !lab_stopped(&run->session); t++) {
        for (int64_t i = 0; i < n; i++) {
            uint32_t word;
            lab_random_words(run->session.seed, (uint64_t)t, (uint64_t)i, &word, 1);
            logits[i] = p->at[RANGE] * (double)word * 0x1p-32;
        }
        logits[0] = p->at[RANGE];
        logits[1] = 0;
        if (attend(run, p, logits, &stats))
            return -1;
        *largest = fmax(*largest, stats.top_weight);
        lab_report_progress(&run->session, t + 1, run->trials);
        if (t == 0) {
            warm_at = lab_now();
        } else if (!is_estimated && lab_now() - warm_at > warm_seconds) {
            is_estimated = 1;
            lab_expect(&run->session,
                       (lab_now() - warm_at) * (double)run->trials / (double)t);
        }
        if (run->session.estimate && is_estimated)
            break;
    }
    return logits ? 0 : -1;
}

/* ---- sweeps and figures ------------------------------------------------ */

static const double sizes[] = {10,   30,    100,   300,    1000,
                               3000, 10000, 30000, 100000, 1000000};

static const struct {
    const char *id, *title, *y_label;
    int log_axes;
} plots[ROWS] = {
    {"largest-weight", "Dispersion: the largest weight", "max p", LAB_LOG_X},
    {"entropy", "Dispersion: entropy", "H (nats)", LAB_LOG_X},
    {"keys-in-effect", "Dispersion: keys in effect", "N_eff = 1/Σp²",
     LAB_LOG_X | LAB_LOG_Y},
};

static int sweep(struct lab_run *run)
{
    const struct lab_sweep over_n =
        LAB_SWEEP(N, sizes, .line = {1, 6, 80, LAB_BY_POWERS, 1, 0});
    struct lab_setting p = lab_own(run);
    const double D = p.at[RANGE], n0 = p.at[N0], power = D / log(n0);
    struct lab_figure *figure[ROWS];
    struct lab_plotted drawn[ROWS];

    for (int f = 0; f < ROWS; f++)
        figure[f] = lab_plot(
            run, plots[f].id, plots[f].title, "n (keys)", plots[f].y_label,
            plots[f].log_axes,
            "One key leads the n - 1 others by D = %g.  At a fixed range the lead drowns "
            "once n exceeds e^D = %.3g.  With a factor ln n / ln %g the others together "
            "weigh (n - 1) n^-%.3g of it, %s.",
            D, exp(D), n0, power,
            power > 1 ? "which vanishes" : "which does not vanish: D is not above ln n0");
    for (int scaled = 0; scaled < 2; scaled++) {
        p.at[SCALED] = scaled;
        for (int f = 0; f < ROWS; f++)
            drawn[f] = (struct lab_plotted){
                f, lab_curve_add(figure[f], scaled ? "logits × ln n" : "fixed range")};
        if (lab_sweep(run, &model, &over_n, p, drawn, ROWS))
            return -1;
    }
    return 0;
}

static int perform(struct lab_run *run)
{
    const struct lab_setting p = lab_own(run);
    struct lab_sample sample = {.histogram = NULL};
    double largest;

    if (lab_rows_at(run, &model, &p, 0, 0, &sample) || measure_random(run, &p, &largest))
        return -1;
    lab_emit(run, "max_p_random", &p,
             lab_below(sample.found[MAX_P].theory, largest, rounding_of(&p)));
    return 0;
}

const struct lab_experiment lab_experiment_dispersion = {
    .name = "dispersion",
    .title = "Dispersion: many keys, bounded logits",
    .shows = "Logits of bounded range cannot hold their sharpness as keys are added: the "
             "largest weight falls like e^D/n, unless logits grow with ln n.",
    .answers = "",
    LAB_FLAGS(flags),
    .trials = 16,
    .perform = perform,
    .sweep = sweep,
};

/* SPDX-License-Identifier: MIT */
/* Dispersion: logits of bounded range cannot stay sharp as keys are added (T20). */
#include <math.h>
#include <string.h>

#include "attend/theory.h"
#include "lab/experiments/experiment.h"
#include "lab/measure/forward.h"
#include "lab/measure/random.h"

static const struct lab_flag flags[] = {
    LAB_FLAG_INTEGER("n", 1000, 2, 1e6, "keys; each is one number, its logit"),
    LAB_FLAG_REAL("D", 10, 0, 700, "range of the logits, largest minus smallest"),
    LAB_FLAG_CHOICE("scale", "off", LAB_2("off", "on"),
                    "on: logits are multiplied by ln n / ln n0"),
    LAB_FLAG_INTEGER("n0", 10, 2, 1e6, "number of keys at which that factor is 1"),
};

/* Logits k_i within [0, D], multiplied by tau. */
struct crowd {
    int64_t n;
    double D, tau;
    int scaled;
};

static struct crowd crowd_of(const struct lab_run *run, int64_t n, int scaled)
{
    const double n0 = lab_real(run, "n0");

    return (struct crowd){.n = n,
                          .D = lab_real(run, "D"),
                          .tau = scaled ? log((double)n) / log(n0) : 1,
                          .scaled = scaled};
}

static int measure(struct lab_run *run, const struct crowd *crowd, double *room,
                   struct lab_row_stats *stats)
{
    const double one = 1;
    const struct lab_problem problem = {.nk = crowd->n,
                                        .d = 1,
                                        .q = &one,
                                        .k = room,
                                        .scale = crowd->tau,
                                        .stats = stats};

    return lab_measure(&run->session, run->ctx, &problem);
}

/* The sharpest row of that range: one key at D, the others at 0. */
static int measure_spike(struct lab_run *run, const struct crowd *crowd, double *room,
                         struct lab_row_stats *stats)
{
    memset(room, 0, sizeof(double) * (size_t)crowd->n);
    room[0] = crowd->D;
    return measure(run, crowd, room, stats);
}

/* Logits uniform over [0, D] with both ends taken: the largest weight of any trial. */
static int measure_random(struct lab_run *run, const struct crowd *crowd, double *room,
                          double *largest)
{
    const double warm_seconds = 0.03; /* of trials but the first, to tell the time by */
    double warm_at = 0;
    int is_told = 0;
    struct lab_row_stats stats;

    *largest = 0;
    for (int64_t t = 0; t < run->trials && !lab_stopped(&run->session); t++) {
        for (int64_t i = 0; i < crowd->n; i++) {
            uint32_t word;
            lab_random_words(run->session.seed, (uint64_t)t, (uint64_t)i, &word, 1);
            room[i] = crowd->D * (double)word * 0x1p-32;
        }
        room[0] = crowd->D;
        room[1] = 0;
        if (measure(run, crowd, room, &stats))
            return -1;
        *largest = fmax(*largest, stats.top_weight);
        lab_report_progress(&run->session, t + 1, run->trials);
        if (t == 0) {
            warm_at = lab_now();
        } else if (!is_told && lab_now() - warm_at > warm_seconds) {
            is_told = 1;
            lab_expect(&run->session,
                       (lab_now() - warm_at) * (double)run->trials / (double)t);
        }
        if (run->session.estimate && is_told)
            break;
    }
    return 0;
}

/* ---- theory ------------------------------------------------------------ */

static double max_of(const struct crowd *crowd)
{
    return attend_theory_dispersion_bound((double)crowd->n, crowd->tau * crowd->D);
}

/* One spike attains the entropy floor of its centred norm. */
static double entropy_of(const struct crowd *crowd)
{
    const double n = (double)crowd->n;

    return attend_theory_entropy_floor(n, crowd->tau * crowd->D * sqrt((n - 1) / n));
}

static double n_eff_of(const struct crowd *crowd)
{
    const double p = max_of(crowd), rest = 1 - p;

    return 1 / (p * p + rest * rest / ((double)crowd->n - 1));
}

/* ---- rows, sweeps, figures --------------------------------------------- */

static void emit(struct lab_run *run, const struct crowd *crowd, const char *quantity,
                 enum lab_kind kind, double theory, double measured)
{
    lab_emit_at(run, quantity,
                LAB_CHANGES(LAB_IS("n", crowd->n),
                            LAB_IS_TEXT("scale", crowd->scaled ? "on" : "off")),
                (struct lab_found){.theory = theory,
                                   .measured = measured,
                                   .kind = kind,
                                   .allowed = 1e-14 * log((double)crowd->n)});
}

static void emit_spike(struct lab_run *run, const struct crowd *crowd,
                       const struct lab_row_stats *stats)
{
    emit(run, crowd, "max_p", LAB_BOUND, max_of(crowd), stats->top_weight);
    emit(run, crowd, "entropy", LAB_EXACT, entropy_of(crowd), stats->entropy);
    emit(run, crowd, "n_eff", LAB_EXACT, n_eff_of(crowd), stats->n_eff);
}

static const int64_t sizes[] = {10,   30,    100,   300,    1000,
                                3000, 10000, 30000, 100000, 1000000};
enum { SIZES = sizeof sizes / sizeof *sizes };

enum { FIGURES = 3 };
static const struct {
    const char *title, *y_label;
    int log_axes;
    double (*theory)(const struct crowd *crowd);
} plots[FIGURES] = {
    {"Dispersion: the largest weight", "max p", LAB_LOG_X, max_of},
    {"Dispersion: entropy", "H (nats)", LAB_LOG_X, entropy_of},
    {"Dispersion: keys in effect", "N_eff = 1/Σp²", LAB_LOG_X | LAB_LOG_Y, n_eff_of},
};

/* One curve of each figure: max p, entropy and N_eff against n. */
static int sweep_sizes(struct lab_run *run, double *room, int scaled,
                       struct lab_figure *const figure[FIGURES])
{
    struct lab_curve curve[FIGURES];

    for (int f = 0; f < FIGURES; f++) {
        curve[f] = lab_curve_add(figure[f], scaled ? "logits × ln n" : "fixed range");
        for (double power = 1; power <= 6; power += 0.0625) {
            const struct crowd crowd = crowd_of(run, (int64_t)pow(10, power), scaled);
            lab_series_point(curve[f].theory, (double)crowd.n, plots[f].theory(&crowd),
                             0);
        }
    }
    for (int x = 0; x < SIZES && !lab_stopped(&run->session); x++) {
        const struct crowd crowd = crowd_of(run, sizes[x], scaled);
        struct lab_row_stats stats;
        if (measure_spike(run, &crowd, room, &stats))
            return -1;
        emit_spike(run, &crowd, &stats);
        const double measured[FIGURES] = {stats.top_weight, stats.entropy, stats.n_eff};
        for (int f = 0; f < FIGURES; f++)
            lab_series_point(curve[f].measured, (double)crowd.n, measured[f], 0);
    }
    return 0;
}

static int sweep(struct lab_run *run)
{
    double *const room = lab_room(run, sizes[SIZES - 1]);
    struct lab_figure *figure[FIGURES];

    const double D = lab_real(run, "D"), n0 = lab_real(run, "n0"), power = D / log(n0);
    for (int f = 0; f < FIGURES; f++)
        figure[f] = lab_plot(
            run, plots[f].title, "n (keys)", plots[f].y_label, plots[f].log_axes,
            "One key leads the n - 1 others by D = %g.  At a fixed range the lead drowns "
            "once n exceeds e^D = %.3g.  With a factor ln n / ln %g the others together "
            "weigh (n - 1) n^-%.3g of it, %s.",
            D, exp(D), n0, power,
            power > 1 ? "which vanishes" : "which does not vanish: D is not above ln n0");
    return !room || sweep_sizes(run, room, 0, figure) ||
           sweep_sizes(run, room, 1, figure);
}

static int perform(struct lab_run *run)
{
    const struct crowd crowd =
        crowd_of(run, lab_integer(run, "n"), lab_choice(run, "scale"));
    double *const room = lab_room(run, crowd.n);
    struct lab_row_stats stats;
    double largest;

    if (!room || measure_spike(run, &crowd, room, &stats))
        return -1;
    emit_spike(run, &crowd, &stats);
    if (measure_random(run, &crowd, room, &largest))
        return -1;
    emit(run, &crowd, "max_p_random", LAB_BOUND, max_of(&crowd), largest);
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

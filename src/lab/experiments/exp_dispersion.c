/* SPDX-License-Identifier: MIT */
/* Dispersion: logits of bounded range cannot stay sharp as keys are added (T20). */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "attend/theory.h"
#include "lab/experiments/experiment.h"
#include "lab/measure/forward.h"
#include "lab/measure/random.h"

static const struct lab_flag flags[] = {
    LAB_FLAG_INTEGER("n", 1000, 2, 1e6, "keys; each is one number, its logit"),
    LAB_FLAG_REAL("D", 10, 0, 700, "range of the logits, largest minus smallest"),
    LAB_FLAG_CHOICE("scale", "off", "off|on",
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

static int measure(struct lab_run *run, attend_context *ctx, const struct crowd *crowd,
                   double *room, struct lab_row_stats *stats)
{
    const double one = 1;
    const struct lab_problem problem = {.nk = crowd->n,
                                        .d = 1,
                                        .q = &one,
                                        .k = room,
                                        .scale = crowd->tau,
                                        .stats = stats};

    return lab_measure(&run->session, ctx, &problem);
}

/* The sharpest row of that range: one key at D, the others at 0. */
static int measure_spike(struct lab_run *run, attend_context *ctx,
                         const struct crowd *crowd, double *room,
                         struct lab_row_stats *stats)
{
    memset(room, 0, sizeof(double) * (size_t)crowd->n);
    room[0] = crowd->D;
    return measure(run, ctx, crowd, room, stats);
}

/* Logits uniform over [0, D] with both ends taken: the largest weight of any trial. */
static int measure_random(struct lab_run *run, attend_context *ctx,
                          const struct crowd *crowd, double *room, double *largest)
{
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
        if (measure(run, ctx, crowd, room, &stats))
            return -1;
        *largest = fmax(*largest, stats.top_weight);
        if (run->session.progress)
            run->session.progress(run->session.user, t + 1, run->trials);
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
                (struct lab_found){.theory = theory, .measured = measured, .kind = kind});
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

/* One curve of each figure: max p, entropy and N_eff against n. */
static int sweep(struct lab_run *run, attend_context *ctx, double *room, int scaled,
                 struct lab_figure *const figure[3])
{
    const char *const name = scaled ? "logits × ln n" : "fixed range";
    double measured[SIZES][3];
    int count = 0;

    for (; count < SIZES && !lab_stopped(&run->session); count++) {
        const struct crowd crowd = crowd_of(run, sizes[count], scaled);
        struct lab_row_stats stats;
        if (measure_spike(run, ctx, &crowd, room, &stats))
            return -1;
        emit_spike(run, &crowd, &stats);
        measured[count][0] = stats.top_weight;
        measured[count][1] = stats.entropy;
        measured[count][2] = stats.n_eff;
    }
    for (int f = 0; f < 3; f++) {
        const struct lab_curve curve = lab_curve_add(figure[f], "%s", name);
        for (double power = 1; power <= 6; power += 0.0625) {
            const struct crowd crowd = crowd_of(run, (int64_t)pow(10, power), scaled);
            lab_series_point(curve.theory, (double)crowd.n,
                             f == 0   ? max_of(&crowd)
                             : f == 1 ? entropy_of(&crowd)
                                      : n_eff_of(&crowd),
                             0);
        }
        for (int x = 0; x < count; x++)
            lab_series_point(curve.measured, (double)sizes[x], measured[x][f], 0);
    }
    return 0;
}

static int sweep_both(struct lab_run *run, attend_context *ctx, double *room)
{
    struct lab_figure *const figure[3] = {
        lab_figure_add(run->figures, "Dispersion: the largest weight", "n (keys)",
                       "max p"),
        lab_figure_add(run->figures, "Dispersion: entropy", "n (keys)", "H (nats)"),
        lab_figure_add(run->figures, "Dispersion: keys in effect", "n (keys)",
                       "N_eff = 1/Σp²"),
    };

    for (int f = 0; f < 3; f++)
        lab_figure_describe(
            figure[f], f == 2 ? LAB_LOG_X | LAB_LOG_Y : LAB_LOG_X,
            "One key leads the n - 1 others by D = %g.  At a fixed range the lead drowns "
            "once n exceeds e^D; a factor ln n / ln %g keeps it.",
            lab_real(run, "D"), lab_real(run, "n0"));
    return sweep(run, ctx, room, 0, figure) || sweep(run, ctx, room, 1, figure);
}

static int own_rows(struct lab_run *run, attend_context *ctx, double *room)
{
    const struct crowd crowd =
        crowd_of(run, lab_integer(run, "n"), !strcmp(lab_text(run, "scale"), "on"));
    struct lab_row_stats stats;
    double largest;

    if (measure_spike(run, ctx, &crowd, room, &stats))
        return -1;
    emit_spike(run, &crowd, &stats);
    if (measure_random(run, ctx, &crowd, room, &largest))
        return -1;
    emit(run, &crowd, "max_p_random", LAB_BOUND, max_of(&crowd), largest);
    return 0;
}

static int perform(struct lab_run *run)
{
    const int64_t own = lab_integer(run, "n");
    const int64_t most = run->sweeps && own < sizes[SIZES - 1] ? sizes[SIZES - 1] : own;
    attend_context *const ctx = lab_context(&run->session);
    double *const room = malloc(sizeof(double) * (size_t)most);
    int failed = !ctx;

    if (ctx && !room)
        failed =
            lab_fail(&run->session, "memory is short for %lld keys", (long long)most);
    if (!failed)
        failed = own_rows(run, ctx, room);
    if (!failed && run->sweeps)
        failed = sweep_both(run, ctx, room);
    free(room);
    attend_context_destroy(ctx);
    return failed ? -1 : 0;
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
};

/* SPDX-License-Identifier: MIT */
/* Capacity: how many random keys one query can keep apart from its targets (T21). */
#include <math.h>

#include "attend/theory.h"
#include "lab/experiments/runner.h"
#include "lab/setups/random_keys.h"

enum { OWN_STREAM = 1, SWEEP_STREAM };

static const struct lab_flag flags[] = {
    LAB_FLAG_INTEGER("n", 256, 2, 16384,
                     "keys, m of them targets, the others random unit vectors"),
    LAB_FLAG_INTEGER("d", 12, 2, 1024, "dimension of the keys, at least 2 m"),
    LAB_FLAG_INTEGER("m", 2, 1, LAB_TARGETS_MAX, "targets"),
    LAB_FLAG_REAL("beta", 10, 0.001, 100,
                  "query scale; which key leads does not depend on it"),
};

enum { N, D, TARGETS, BETA }; /* flags */

static const struct lab_observable rows[] = {
    {"success", LAB_SUCCESS, LAB_PROBABILITY, 1},
    {"p_beaten", LAB_BEATEN, LAB_PROBABILITY, 1},
    {"collision_size", LAB_BEATEN, LAB_MEAN, 0},
    {"success_heads", LAB_HEADS_SUCCESS, LAB_PROBABILITY, 1},
    {"success_random_naive", LAB_NAIVE_SUCCESS, LAB_PROBABILITY, 1},
    {"success_random_pinv", LAB_PINV_SUCCESS, LAB_PROBABILITY, 1},
    {"member_spread", LAB_SPREAD, LAB_MEAN, 0},
    {"member_spread_pinv", LAB_PINV_SPREAD, LAB_VANISHING_MEAN, 1e-9},
};
enum {
    P_SUCCESS,
    P_BEATEN,
    COLLISION_SIZE,
    P_HEADS,
    P_NAIVE,
    P_PINV,
    MEMBER_SPREAD,
    MEMBER_SPREAD_PINV
};

static int measure(struct lab_run *run, const struct lab_setting *p, uint64_t stream,
                   int64_t trials, struct lab_sample *sample)
{
    const struct lab_targets targets = {(int64_t)p->at[N], (int64_t)p->at[D],
                                        (int64_t)p->at[TARGETS], p->at[BETA]};

    return lab_targets_measure(&run->session, &targets, stream, trials, sample->moments);
}

static void theory_of(const struct lab_setting *p, double *theory)
{
    const double d = p->at[D], m = p->at[TARGETS];
    const double beaten = attend_theory_collision_probability(d, m);

    theory[P_SUCCESS] = exp((p->at[N] - m) * log1p(-beaten));
    theory[P_BEATEN] = beaten;
    theory[COLLISION_SIZE] = attend_theory_collision_size(d, m);
    theory[P_HEADS] = 1;
    theory[P_NAIVE] = theory[P_PINV] = NAN;
    theory[MEMBER_SPREAD] = sqrt((m - 1) / d);
    theory[MEMBER_SPREAD_PINV] = 0;
}

static void finish(const struct lab_setting *p, struct lab_sample *sample)
{
    const struct lab_moments *const moments = sample->moments;
    struct lab_found *const found = sample->found;
    /* The other keys of a trial are drawn independently: each is a trial of its own. */
    const struct lab_moments keys = {.count = moments[LAB_BEATEN].count *
                                              (int64_t)(p->at[N] - p->at[TARGETS]),
                                     .mean = moments[LAB_BEATEN].mean};
    const struct lab_estimate beaten = lab_estimate_probability(&keys);
    const double spread = sqrt(moments[LAB_SPREAD].mean);

    found[P_BEATEN] = lab_exact(found[P_BEATEN].theory, beaten);
    found[COLLISION_SIZE] =
        lab_exact(found[COLLISION_SIZE].theory,
                  (struct lab_estimate){.value = 1 / keys.mean,
                                        .se = beaten.se / (keys.mean * keys.mean),
                                        .rare = beaten.rare,
                                        .low = 1 / beaten.high,
                                        .high = 1 / beaten.low});
    found[MEMBER_SPREAD] =
        lab_exact(found[MEMBER_SPREAD].theory,
                  (struct lab_estimate){.value = spread,
                                        .se = lab_moments_mean_se(&moments[LAB_SPREAD]) /
                                              (2 * spread)});
    for (int r = 0; r <= MEMBER_SPREAD_PINV; r++)
        found[r].is_absent = moments[rows[r].value].count == 0;
    found[MEMBER_SPREAD].is_absent |= p->at[TARGETS] == 1;
    found[COLLISION_SIZE].is_absent |= !(keys.mean > 0);
}

static const struct lab_model model = {LAB_ROWS(rows), .theory = theory_of,
                                       .values = LAB_TARGET_VALUES, .trials = measure,
                                       .finish = finish};

/* ---- sweeps and figures ------------------------------------------------ */

static const double sizes[] = {16, 32, 64, 128, 256, 512, 1024};
enum { SIZES = sizeof sizes / sizeof *sizes };

/* Random targets instead of orthonormal ones: their sum as query, and pinv. */
static int sweep_random(struct lab_run *run)
{
    static const char *const labels[3] = {"query = sum", "query by pinv",
                                          "one head per target"};
    static const int value[3] = {LAB_NAIVE_SUCCESS, LAB_PINV_SUCCESS, LAB_HEADS_SUCCESS};
    struct lab_setting p = lab_own(run);
    const double m = p.at[TARGETS], d = p.at[D];
    struct lab_series *series[3];
    struct lab_sample sample = {.histogram = NULL};
    struct lab_figure *const figure =
        lab_plot(run, "random-targets", "Capacity: random targets", "n (keys)",
                 "probability of success", LAB_LOG_X, "d = %.0f, m = %.0f.  ", d, m);

    if (m == 1)
        lab_caption(figure, "For one target both queries are its key.");
    else if (m == 2)
        lab_caption(figure,
                    "Of two unit targets the sum scores both alike, as pinv does: the "
                    "two queries are the same but for their length.");
    else
        lab_caption(figure,
                    "Targets that are not orthogonal push each other's scores about by "
                    "√((m-1)/d) = %.2f; pinv evens them out.",
                    sqrt((m - 1) / d));
    lab_caption(figure, " One head per target never fails.");
    for (int c = 0; c < 3; c++)
        series[c] = lab_series_add(figure, LAB_POINTS, "%s", labels[c]);
    for (int x = 0; x < SIZES && sizes[x] <= 512 && !lab_stopped(&run->session); x++) {
        p.at[N] = fmax(sizes[x], m);
        if (lab_measure_at(run, &model, &p, SWEEP_STREAM + 100 + (uint64_t)x,
                           run->trials / 8 + 1, &sample))
            return -1;
        for (int c = 0; c < 3; c++)
            lab_series_point(series[c], sizes[x], sample.moments[value[c]].mean,
                             lab_moments_probability_se(&sample.moments[value[c]]));
    }
    return 0;
}

static int sweep(struct lab_run *run)
{
    static const double targets[] = {4, 8, 16};
    struct lab_setting p = lab_own(run);
    struct lab_figure *const figure = lab_plot(
        run, "orthonormal-targets", "Capacity: orthonormal targets among random keys",
        "n (keys)", "probability of success", LAB_LOG_X,
        "d = %.0f, q = β times the sum of m targets: no other key may beat them. Lines "
        "are (1 - P)^(n-m), P = I_{1-1/m}((d-1)/2, 1/2)/2.",
        p.at[D]);

    for (int x = 0; x < 3 && 2 * targets[x] <= p.at[D]; x++) {
        /* The first size is left out where every key would be a target. */
        const int skipped = sizes[0] <= targets[x];
        const struct lab_sweep over_n = {.flag = N,
                                         .line = {4, 10, 48, LAB_BY_POWERS, 1, 2},
                                         .steps = sizes + skipped,
                                         .count = SIZES - skipped,
                                         .stream = SWEEP_STREAM +
                                                   (uint64_t)(x * SIZES + skipped),
                                         .trials = run->trials / 16 + 1,
                                         .only_drawn = 1};
        const struct lab_plotted drawn[2] = {
            {P_SUCCESS, lab_curve_add(figure, "m = %g", targets[x])},
            {P_BEATEN, {NULL, NULL}}};
        p.at[TARGETS] = targets[x];
        if (lab_sweep(run, &model, &over_n, p, drawn, 2))
            return -1;
    }
    return sweep_random(run);
}

static int perform(struct lab_run *run)
{
    const struct lab_setting p = lab_own(run);

    if (p.at[TARGETS] > p.at[N])
        return lab_misuse(&run->session, "--m %.0f: at most n = %.0f keys can be targets",
                          p.at[TARGETS], p.at[N]);
    if (p.at[D] < 2 * p.at[TARGETS])
        return lab_misuse(&run->session, "--d %.0f: at least 2 m = %.0f is allowed",
                          p.at[D], 2 * p.at[TARGETS]);
    return lab_rows_at(run, &model, &p, OWN_STREAM, run->trials, NULL);
}

const struct lab_experiment lab_experiment_capacity = {
    .name = "capacity",
    .title = "Capacity: random keys in d dimensions",
    .shows =
        "One query for m targets is beaten by a random key with cosine above "
        "1/sqrt(m), so about 1/P keys are too many; one head per target is never beaten.",
    .answers = "",
    LAB_FLAGS(flags),
    .trials = 2000,
    .perform = perform,
    .sweep = sweep,
};

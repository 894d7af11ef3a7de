/* SPDX-License-Identifier: MIT */
/* Capacity: how many random keys one query can keep apart from its targets (T21). */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "attend/theory.h"
#include "lab/experiments/runner.h"
#include "lab/measure/frames.h"
#include "lab/measure/forward.h"

enum { OWN_STREAM = 1, SWEEP_STREAM };

static const struct lab_flag flags[] = {
    LAB_FLAG_INTEGER("n", 256, 2, 16384,
                     "keys, m of them targets, the others random unit vectors"),
    LAB_FLAG_INTEGER("d", 12, 2, 1024, "dimension of the keys, at least 2 m"),
    LAB_FLAG_INTEGER("m", 2, 1, 64, "targets"),
    LAB_FLAG_REAL("beta", 10, 0.001, 100,
                  "query scale; which key leads does not depend on it"),
};

enum { N, D, TARGETS, BETA }; /* flags */

/* Values of a trial; SPREAD: mean square of the member scores about 1, in beta. */
enum { SUCCESS, BEATEN, NAIVE, PINV, HEADS, SPREAD, PINV_SPREAD, VALUES };

static const struct lab_observable rows[] = {
    {"success", SUCCESS, LAB_PROBABILITY, 1},
    {"p_beaten", BEATEN, LAB_PROBABILITY, 1},
    {"collision_size", BEATEN, LAB_MEAN, 0},
    {"success_heads", HEADS, LAB_PROBABILITY, 1},
    {"success_random_naive", NAIVE, LAB_PROBABILITY, 1},
    {"success_random_pinv", PINV, LAB_PROBABILITY, 1},
    {"member_spread", SPREAD, LAB_MEAN, 0},
    {"member_spread_pinv", PINV_SPREAD, LAB_MEAN, 0},
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

static int64_t keys_of(const struct lab_setting *p) { return (int64_t)p->at[N]; }
static int64_t columns_of(const struct lab_setting *p) { return (int64_t)p->at[D]; }
static int64_t targets_of(const struct lab_setting *p) { return (int64_t)p->at[TARGETS]; }

/* Number of other keys with a weight above the least of the targets'. */
static int64_t beaten_by(const double *weights, const struct lab_setting *p)
{
    double least = weights[0];
    int64_t count = 0;

    for (int64_t i = 1; i < targets_of(p); i++)
        least = fmin(least, weights[i]);
    for (int64_t i = targets_of(p); i < keys_of(p); i++)
        count += weights[i] > least;
    return count;
}

/* Sets the first m keys and the query, their sum; the other keys are already set. */
static void axes(const struct lab_setting *p, double *key, double *query)
{
    const int64_t d = columns_of(p);

    memset(key, 0, sizeof(double) * (size_t)(targets_of(p) * d));
    memset(query, 0, sizeof(double) * (size_t)d);
    for (int64_t i = 0; i < targets_of(p); i++)
        key[i * d + i] = query[i] = 1;
}

/* Queries of random targets: their sum, pinv(K) 1, and each target by itself. */
static int random_queries(const struct lab_setting *p, const double *key, double *query)
{
    const int64_t d = columns_of(p), m = targets_of(p);
    double ones[64];

    memset(query, 0, sizeof(double) * (size_t)d);
    for (int64_t i = 0; i < m; i++) {
        ones[i] = 1;
        for (int64_t c = 0; c < d; c++)
            query[c] += key[i * d + c];
    }
    memcpy(query + 2 * d, key, sizeof(double) * (size_t)(m * d));
    return attend_theory_query_for_scores(key, m, d, ones, query + d);
}

static int64_t scratch_of(const struct lab_setting *p)
{
    const int64_t queries = targets_of(p) + 2;

    return (keys_of(p) + targets_of(p) + queries) * columns_of(p) +
           queries * (keys_of(p) + 1);
}

/* Scores of the targets from the engine's results: ln p + lse, in units of beta. */
static void member_scores(const struct lab_setting *p, const double *weights,
                          const double *lse, double *values)
{
    double square = 0, widest = 0;

    for (int64_t i = 0; i < targets_of(p); i++) {
        const double naive = (log(weights[i]) + lse[0]) / p->at[BETA] - 1;
        const double exact = (log(weights[keys_of(p) + i]) + lse[1]) / p->at[BETA] - 1;
        square += naive * naive / (double)targets_of(p);
        widest = fmax(widest, fabs(exact));
    }
    values[SPREAD] = square;
    values[PINV_SPREAD] = widest;
}

static attend_status trial_of(const void *arg, struct lab_worker *worker, uint64_t trial,
                              double *values)
{
    const struct lab_draws *const draws = arg;
    const struct lab_setting *const p = draws->at;
    const int64_t n = keys_of(p), d = columns_of(p), m = targets_of(p);
    double *const key = worker->scratch, *const spare = key + n * d;
    double *const query = spare + m * d, *const weights = query + (m + 2) * d;
    double *const lse = weights + (m + 2) * n;
    struct lab_problem problem =
        LAB_PROBLEM(n, d, query, key, p->at[BETA], .lse = lse, .weights = weights);

    lab_normals(draws->seed, draws->stream, trial * (uint64_t)(n * d), key, n * d);
    for (int64_t i = 0; i < n; i++)
        lab_unit(key + i * d, d);
    memcpy(spare, key, sizeof(double) * (size_t)(m * d));
    axes(p, key, query);
    attend_status status = lab_forward(worker->ctx, &problem, &worker->err);
    if (status != ATTEND_OK)
        return status;
    const int64_t beaten = beaten_by(weights, p);
    values[SUCCESS] = beaten == 0;
    values[BEATEN] = n > m ? (double)beaten / (double)(n - m) : NAN;

    memcpy(key, spare, sizeof(double) * (size_t)(m * d));
    if (random_queries(p, key, query)) {
        for (int x = NAIVE; x < VALUES; x++)
            values[x] = NAN;
        return ATTEND_OK;
    }
    problem.nq = m + 2;
    status = lab_forward(worker->ctx, &problem, &worker->err);
    if (status != ATTEND_OK)
        return status;
    values[NAIVE] = beaten_by(weights, p) == 0;
    values[PINV] = beaten_by(weights + n, p) == 0;
    values[HEADS] = 1;
    for (int64_t h = 0; h < m; h++)
        for (int64_t i = 0; i < n; i++)
            if (i != h && weights[(h + 2) * n + i] >= weights[(h + 2) * n + h])
                values[HEADS] = 0;
    member_scores(p, weights, lse, values);
    return ATTEND_OK;
}

/* ---- rows -------------------------------------------------------------- */

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
    const struct lab_moments keys = {.count = moments[BEATEN].count *
                                              (int64_t)(p->at[N] - p->at[TARGETS]),
                                     .mean = moments[BEATEN].mean};
    const struct lab_estimate beaten = lab_estimate_probability(&keys);
    const double spread = sqrt(moments[SPREAD].mean);

    for (int r = 0; r <= MEMBER_SPREAD_PINV; r++)
        found[r].is_absent = moments[rows[r].value].count == 0;
    found[MEMBER_SPREAD].is_absent |= p->at[TARGETS] == 1;
    if (!found[P_BEATEN].is_absent)
        found[P_BEATEN] = lab_exact(found[P_BEATEN].theory, beaten);
    found[COLLISION_SIZE].is_absent |= !(keys.mean > 0);
    if (!found[COLLISION_SIZE].is_absent)
        found[COLLISION_SIZE] =
            lab_exact(found[COLLISION_SIZE].theory,
                      (struct lab_estimate){.value = 1 / keys.mean,
                                            .se = beaten.se / (keys.mean * keys.mean),
                                            .rare = beaten.rare,
                                            .low = 1 / beaten.high,
                                            .high = 1 / beaten.low});
    if (!found[MEMBER_SPREAD].is_absent)
        found[MEMBER_SPREAD] =
            lab_exact(found[MEMBER_SPREAD].theory,
                      (struct lab_estimate){.value = spread,
                                            .se = lab_moments_mean_se(&moments[SPREAD]) /
                                                  (2 * spread)});
    if (!found[MEMBER_SPREAD_PINV].is_absent)
        found[MEMBER_SPREAD_PINV] = lab_zero(moments[PINV_SPREAD].mean, 1e-9);
}

static const struct lab_model model = {LAB_ROWS(rows),        .theory = theory_of,
                                       .values = VALUES,      .trial = trial_of,
                                       .scratch = scratch_of, .finish = finish};
/* ---- sweeps and figures ------------------------------------------------ */

static const double sizes[] = {16, 32, 64, 128, 256, 512, 1024};
enum { SIZES = sizeof sizes / sizeof *sizes };

/* Random targets instead of orthonormal ones: their sum as query, and pinv. */
static int sweep_random(struct lab_run *run)
{
    static const char *const labels[3] = {"query = sum", "query by pinv",
                                          "one head per target"};
    static const int value[3] = {NAIVE, PINV, HEADS};
    struct lab_setting p = lab_own(run);
    const double m = p.at[TARGETS], d = p.at[D];
    char queries[200] = "Of two unit targets the sum scores both alike, as pinv does: "
                        "the two queries are the same but for their length.";
    struct lab_series *series[3];
    struct lab_sample sample = {.histogram = NULL};

    if (m == 1)
        snprintf(queries, sizeof queries, "For one target both queries are its key.");
    if (m > 2)
        snprintf(queries, sizeof queries,
                 "Targets that are not orthogonal push each other's scores about by "
                 "√((m-1)/d) = %.2f; pinv evens them out.",
                 sqrt((m - 1) / d));
    struct lab_figure *const figure = lab_plot(
        run, "random-targets", "Capacity: random targets", "n (keys)",
        "probability of success", LAB_LOG_X,
        "d = %.0f, m = %.0f.  %s One head per target never fails.", d, m, queries);
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

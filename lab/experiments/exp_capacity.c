/* SPDX-License-Identifier: MIT */
/* Capacity: how many random keys one query can keep apart from its targets (T21). */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "attend/theory.h"
#include "lab/experiments/experiment.h"
#include "lab/measure/frames.h"
#include "lab/measure/forward.h"
#include "lab/measure/trials.h"

enum { OWN_STREAM = 1, SWEEP_STREAM };

static const struct lab_flag flags[] = {
    LAB_FLAG_INTEGER("n", 256, 2, 16384,
                     "keys, m of them targets, the others random unit vectors"),
    LAB_FLAG_INTEGER("d", 12, 2, 1024, "dimension of the keys, at least 2 m"),
    LAB_FLAG_INTEGER("m", 2, 1, 64, "targets"),
    LAB_FLAG_REAL("beta", 10, 0.001, 100,
                  "query scale; which key leads does not depend on it"),
};

struct memory {
    int64_t n, d, m;
    double beta;
    uint64_t seed, stream;
};

/* SPREAD: mean square of the member scores about 1, in units of beta. */
enum value { SUCCESS, BEATEN, NAIVE, PINV, HEADS, SPREAD, PINV_SPREAD, VALUES };

/* How many of the n - m other keys have a weight above the least of the targets'. */
static int64_t beaten_by(const double *weights, const struct memory *memory)
{
    double least = weights[0];
    int64_t count = 0;

    for (int64_t i = 1; i < memory->m; i++)
        least = fmin(least, weights[i]);
    for (int64_t i = memory->m; i < memory->n; i++)
        count += weights[i] > least;
    return count;
}

/* The m first keys and the query of their sum; the others are there already. */
static void axes(const struct memory *memory, double *key, double *query)
{
    const int64_t d = memory->d;

    memset(key, 0, sizeof(double) * (size_t)(memory->m * d));
    memset(query, 0, sizeof(double) * (size_t)d);
    for (int64_t i = 0; i < memory->m; i++)
        key[i * d + i] = query[i] = 1;
}

/* Queries of random targets: their sum, pinv(K) 1, and each target by itself. */
static int random_queries(const struct memory *memory, const double *key, double *query)
{
    const int64_t d = memory->d, m = memory->m;
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

static int64_t room_of(const struct memory *memory)
{
    const int64_t rows = memory->m + 2;

    return (memory->n + memory->m + rows) * memory->d + rows * (memory->n + 1);
}

/* Scores of the targets from what the engine gives: ln p + lse, in units of beta. */
static void member_scores(const struct memory *memory, const double *weights,
                          const double *lse, double *values)
{
    double square = 0, widest = 0;

    for (int64_t i = 0; i < memory->m; i++) {
        const double naive = (log(weights[i]) + lse[0]) / memory->beta - 1;
        const double exact = (log(weights[memory->n + i]) + lse[1]) / memory->beta - 1;
        square += naive * naive / (double)memory->m;
        widest = fmax(widest, fabs(exact));
    }
    values[SPREAD] = square;
    values[PINV_SPREAD] = widest;
}

static attend_status trial_of(const void *arg, struct lab_worker *worker, uint64_t trial,
                              double *values)
{
    const struct memory *const memory = arg;
    const int64_t n = memory->n, d = memory->d, m = memory->m;
    double *const key = worker->scratch, *const spare = key + n * d;
    double *const query = spare + m * d, *const weights = query + (m + 2) * d;
    double *const lse = weights + (m + 2) * n;
    struct lab_problem problem = {.nk = n,
                                  .d = d,
                                  .q = query,
                                  .k = key,
                                  .scale = memory->beta,
                                  .lse = lse,
                                  .weights = weights};

    lab_normals(memory->seed, memory->stream, trial * (uint64_t)(n * d), key, n * d);
    for (int64_t i = 0; i < n; i++)
        lab_unit(key + i * d, d);
    memcpy(spare, key, sizeof(double) * (size_t)(m * d));
    axes(memory, key, query);
    attend_status status = lab_forward(worker->ctx, &problem, &worker->err);
    if (status != ATTEND_OK)
        return status;
    const int64_t beaten = beaten_by(weights, memory);
    values[SUCCESS] = beaten == 0;
    values[BEATEN] = n > m ? (double)beaten / (double)(n - m) : NAN;

    memcpy(key, spare, sizeof(double) * (size_t)(m * d));
    if (random_queries(memory, key, query)) {
        for (int x = NAIVE; x < VALUES; x++)
            values[x] = NAN;
        return ATTEND_OK;
    }
    problem.nq = m + 2;
    status = lab_forward(worker->ctx, &problem, &worker->err);
    if (status != ATTEND_OK)
        return status;
    values[NAIVE] = beaten_by(weights, memory) == 0;
    values[PINV] = beaten_by(weights + n, memory) == 0;
    values[HEADS] = 1;
    for (int64_t h = 0; h < m; h++)
        for (int64_t i = 0; i < n; i++)
            if (i != h && weights[(h + 2) * n + i] >= weights[(h + 2) * n + h])
                values[HEADS] = 0;
    member_scores(memory, weights, lse, values);
    return ATTEND_OK;
}

static int measure(struct lab_run *run, const struct memory *memory, int64_t trials,
                   struct lab_moments *moments)
{
    return lab_run_trials(run, trial_of, memory, trials, VALUES, room_of(memory),
                          moments);
}

static struct memory memory_of(const struct lab_run *run)
{
    return (struct memory){.n = lab_integer(run, "n"),
                           .d = lab_integer(run, "d"),
                           .m = lab_integer(run, "m"),
                           .beta = lab_real(run, "beta"),
                           .seed = run->session.seed,
                           .stream = OWN_STREAM};
}

/* ---- rows -------------------------------------------------------------- */

static double success_of(const struct memory *memory)
{
    const double beaten =
        attend_theory_collision_probability((double)memory->d, (double)memory->m);

    return exp((double)(memory->n - memory->m) * log1p(-beaten));
}

static void emit(struct lab_run *run, const struct memory *memory, const char *quantity,
                 double theory, struct lab_estimate measured)
{
    lab_emit_at(run, quantity,
                LAB_CHANGES(LAB_IS("n", memory->n), LAB_IS("m", memory->m)),
                lab_exact(theory, measured));
}

static void emit_probability(struct lab_run *run, const struct memory *memory,
                             const char *quantity, double theory,
                             const struct lab_moments *moments)
{
    if (moments->count > 0)
        emit(run, memory, quantity, theory, lab_estimate_probability(moments));
}

/* `own`: all quantities, not only those of the sweep. */
static void emit_memory(struct lab_run *run, const struct memory *memory,
                        const struct lab_moments *moments, int own)
{
    const double d = (double)memory->d, m = (double)memory->m;
    /* The other keys of a trial are drawn independently: each is a trial of its own. */
    const struct lab_moments keys = {.count =
                                         moments[BEATEN].count * (memory->n - memory->m),
                                     .mean = moments[BEATEN].mean};
    const double probability = attend_theory_collision_probability(d, m);
    const struct lab_estimate beaten = lab_estimate_probability(&keys);
    const double spread = sqrt(moments[SPREAD].mean);

    emit_probability(run, memory, "success", success_of(memory), &moments[SUCCESS]);
    emit_probability(run, memory, "p_beaten", probability, &keys);
    if (!own)
        return;
    if (keys.mean > 0)
        emit(run, memory, "collision_size", attend_theory_collision_size(d, m),
             (struct lab_estimate){.value = 1 / keys.mean,
                                   .se = beaten.se / (keys.mean * keys.mean),
                                   .rare = beaten.rare,
                                   .low = 1 / beaten.high,
                                   .high = 1 / beaten.low});
    emit_probability(run, memory, "success_heads", 1, &moments[HEADS]);
    emit_probability(run, memory, "success_random_naive", NAN, &moments[NAIVE]);
    emit_probability(run, memory, "success_random_pinv", NAN, &moments[PINV]);
    if (moments[SPREAD].count > 0 && memory->m > 1)
        emit(run, memory, "member_spread", sqrt((m - 1) / d),
             (struct lab_estimate){.value = spread,
                                   .se = lab_moments_mean_se(&moments[SPREAD]) /
                                         (2 * spread)});
    if (moments[PINV_SPREAD].count > 0)
        lab_emit_at(run, "member_spread_pinv", NULL,
                    lab_zero(moments[PINV_SPREAD].mean, 1e-9));
}

/* ---- sweeps and figures ------------------------------------------------ */

static const int64_t sizes[] = {16, 32, 64, 128, 256, 512, 1024};
enum { SIZES = sizeof sizes / sizeof *sizes };

static int sweep_targets(struct lab_run *run, struct memory memory, int64_t m,
                         struct lab_figure *figure, uint64_t stream)
{
    memory.m = m;
    const struct lab_curve curve = lab_curve_add(figure, "m = %lld", (long long)m);
    for (double power = 4; power <= 10; power += 0.125) {
        memory.n = (int64_t)pow(2, power);
        lab_series_point(curve.theory, (double)memory.n, success_of(&memory), 0);
    }
    for (int x = 0; x < SIZES && !lab_stopped(&run->session); x++) {
        struct lab_moments moments[VALUES];
        memory.n = sizes[x];
        memory.stream = stream + (uint64_t)x;
        if (memory.n <= m)
            continue;
        if (measure(run, &memory, run->trials / 16 + 1, moments))
            return -1;
        emit_memory(run, &memory, moments, 0);
        lab_series_point(curve.measured, (double)memory.n, moments[SUCCESS].mean,
                         lab_moments_probability_se(&moments[SUCCESS]));
    }
    return 0;
}

/* Random targets instead of orthonormal ones: their sum as query, and pinv. */
static int sweep_random(struct lab_run *run, struct memory memory)
{
    char queries[200] =
        "Of two unit targets the sum scores both alike, as pinv does: the "
        "two queries are the same but for their length.";

    if (memory.m == 1)
        snprintf(queries, sizeof queries, "For one target both queries are its key.");
    if (memory.m > 2)
        snprintf(queries, sizeof queries,
                 "Targets that are not orthogonal push each other's scores about by "
                 "√((m-1)/d) = %.2f; pinv evens them out.",
                 sqrt((double)(memory.m - 1) / (double)memory.d));
    struct lab_figure *const figure =
        lab_plot(run, "Capacity: random targets", "n (keys)", "probability of success",
                 LAB_LOG_X, "d = %lld, m = %lld.  %s One head per target never fails.",
                 (long long)memory.d, (long long)memory.m, queries);
    struct lab_moments moments[SIZES][VALUES];
    int count = 0;

    for (; count < SIZES && sizes[count] <= 512 && !lab_stopped(&run->session); count++) {
        memory.n = sizes[count] > memory.m ? sizes[count] : memory.m;
        memory.stream = SWEEP_STREAM + 100 + (uint64_t)count;
        if (measure(run, &memory, run->trials / 8 + 1, moments[count]))
            return -1;
    }
    if (!figure)
        return 0;
    static const char *const labels[3] = {"query = sum", "query by pinv",
                                          "one head per target"};
    static const enum value of[3] = {NAIVE, PINV, HEADS};
    for (int s = 0; s < 3; s++) {
        struct lab_series *const series =
            lab_series_add(figure, LAB_POINTS, "%s", labels[s]);
        for (int x = 0; x < count; x++)
            lab_series_point(series, (double)sizes[x], moments[x][of[s]].mean,
                             lab_moments_probability_se(&moments[x][of[s]]));
    }
    return 0;
}

static int sweep(struct lab_run *run)
{
    const struct memory memory = memory_of(run);
    static const int64_t targets[] = {4, 8, 16};
    struct lab_figure *const figure =
        lab_plot(run, "Capacity: orthonormal targets among random keys", "n (keys)",
                 "probability of success", LAB_LOG_X,
                 "d = %lld, q = β times the sum of m targets: no other key may beat "
                 "them. Lines are (1 - P)^(n-m), P = I_{1-1/m}((d-1)/2, 1/2)/2.",
                 (long long)memory.d);

    for (int x = 0; x < 3; x++)
        if (2 * targets[x] <= memory.d &&
            sweep_targets(run, memory, targets[x], figure,
                          SWEEP_STREAM + (uint64_t)(x * SIZES)))
            return -1;
    return sweep_random(run, memory);
}

static int perform(struct lab_run *run)
{
    const struct memory memory = memory_of(run);
    struct lab_moments moments[VALUES];

    if (memory.m > memory.n)
        return lab_misuse(&run->session, "--m %lld: at most n = %lld keys can be targets",
                          (long long)memory.m, (long long)memory.n);
    if (memory.d < 2 * memory.m)
        return lab_misuse(&run->session, "--d %lld: at least 2 m = %lld is allowed",
                          (long long)memory.d, (long long)(2 * memory.m));
    if (measure(run, &memory, run->trials, moments))
        return -1;
    emit_memory(run, &memory, moments, 1);
    return 0;
}

const struct lab_experiment lab_experiment_capacity = {
    .name = "capacity",
    .title = "Capacity: random keys in d dimensions",
    .shows = "One query for m targets is beaten by a random key with cosine above "
             "1/sqrt(m), so it holds some 1/P keys; one head per target is never beaten.",
    .answers = "",
    LAB_FLAGS(flags),
    .trials = 2000,
    .perform = perform,
    .sweep = sweep,
};

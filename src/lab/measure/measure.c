/* SPDX-License-Identifier: MIT */
#include "lab/measure/measure.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "lab/measure/crew.h"
#include "layer/refuse.h"

static attend_view view_of(const void *data, attend_dtype dtype, int64_t nb, int64_t rows,
                           int64_t columns)
{
    return (attend_view){.data = data,
                         .dtype = dtype,
                         .size = {nb, 1, rows, columns},
                         .stride = {rows * columns, rows * columns, columns, 1}};
}

static attend_tensor tensor_of(void *data, attend_dtype dtype, int64_t nb, int64_t rows,
                               int64_t columns)
{
    return (attend_tensor){.data = data,
                           .dtype = dtype,
                           .size = {nb, 1, rows, columns},
                           .stride = {rows * columns, rows * columns, columns, 1}};
}

/* In the order of struct lab_spread. */
static const attend_stat spread_columns[] = {ATTEND_STAT_SINK1, ATTEND_STAT_TOP_WEIGHT,
                                             ATTEND_STAT_ENTROPY, ATTEND_STAT_N_EFF,
                                             ATTEND_STAT_RAW_VARIANCE};
enum { SPREAD_COLUMNS = sizeof spread_columns / sizeof *spread_columns };
_Static_assert(sizeof(struct lab_spread) == SPREAD_COLUMNS * sizeof(double),
               "a row of statistics is a struct lab_spread");

/* Class 0 for the keys that `rest` sums; NULL without memory. */
static int32_t *rest_classes(const struct lab_problem *problem)
{
    int32_t *const classes = malloc((size_t)problem->nk * sizeof *classes);

    for (int64_t i = 0; classes && i < problem->nk; i++)
        classes[i] = i < problem->wanted ? -1 : 0;
    return classes;
}

static attend_status forward(attend_context *ctx, const struct lab_problem *problem,
                             const int32_t *classes, attend_error *err)
{
    const int64_t nb = problem->nb ? problem->nb : 1, nq = problem->nq ? problem->nq : 1;
    const int64_t nk = problem->nk, dv = problem->v ? problem->dv : 0;
    attend_rule rule = attend_rule_default();
    attend_stats stats = attend_stats_default();
    attend_io io = attend_io_default();

    rule.scale_is_set = 1;
    rule.scale = problem->scale;
    rule.sinks = problem->sink;
    if (problem->bias)
        rule.bias = (attend_view){.data = problem->bias,
                                  .dtype = ATTEND_F64,
                                  .size = {1, 1, 1, nk},
                                  .stride = {0, 0, 0, 1}};
    io.q = view_of(problem->q, ATTEND_F64, nb, nq, problem->d);
    io.k = view_of(problem->k, ATTEND_F64, nb, nk, problem->d);
    io.v = view_of(problem->v, ATTEND_F64, nb, nk, dv);
    io.out = tensor_of(problem->out, ATTEND_F64, nb, nq, dv);
    if (problem->lse)
        io.lse = tensor_of(problem->lse, ATTEND_F64, nb, nq, 1);
    if (problem->weights)
        io.weights = tensor_of(problem->weights, ATTEND_F64, nb, nq, nk);
    stats.columns = spread_columns;
    if (problem->spread)
        stats.rows = tensor_of(problem->spread, ATTEND_F64, nb, nq, SPREAD_COLUMNS);
    stats.classes = classes;
    if (problem->rest)
        stats.class_mass = tensor_of(problem->rest, ATTEND_F64, nb, nq, 1);
    io.stats = &stats;
    return attend_forward(ctx, &rule, &io, err);
}

attend_status lab_forward(attend_context *ctx, const struct lab_problem *problem,
                          attend_error *err)
{
    int32_t *const classes = problem->rest ? rest_classes(problem) : NULL;

    if (problem->rest && !classes)
        return attendi_layer_refuse(err, ATTEND_ENOMEM, "memory is short");
    const attend_status status = forward(ctx, problem, classes, err);
    free(classes);
    return status;
}

/* ---- other dtypes ------------------------------------------------------ */

/* Round to nearest, ties to even; finite numbers only. */
static uint16_t bf16_of(double value)
{
    const float narrow = (float)value;
    uint32_t bits;

    memcpy(&bits, &narrow, sizeof bits);
    return (uint16_t)((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}

static double of_bf16(uint16_t value)
{
    const uint32_t bits = (uint32_t)value << 16;
    float wide;

    memcpy(&wide, &bits, sizeof wide);
    return (double)wide;
}

static void narrow(attend_dtype dtype, const double *from, void *to, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        if (dtype == ATTEND_BF16)
            ((uint16_t *)to)[i] = bf16_of(from[i]);
        else
            ((float *)to)[i] = (float)from[i];
}

static void widen(attend_dtype dtype, const void *from, double *to, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        to[i] = dtype == ATTEND_BF16 ? of_bf16(((const uint16_t *)from)[i])
                                     : (double)((const float *)from)[i];
}

attend_status lab_forward_as(attend_context *ctx, attend_dtype dtype,
                             const struct lab_problem *problem, attend_error *err)
{
    const int64_t nq = problem->nq ? problem->nq : 1, nk = problem->nk, d = problem->d;
    const int64_t dv = problem->v ? problem->dv : 0;
    /* Room for floats, whichever the type: q, k, v, out, weights. */
    const int64_t start[] = {0, nq * d, (nq + nk) * d, (nq + nk) * d + nk * dv,
                             (nq + nk) * d + (nk + nq) * dv};

    if (dtype == ATTEND_F64)
        return lab_forward(ctx, problem, err);
    float *const room = malloc((size_t)(start[4] + nq * nk) * sizeof *room);
    if (!room)
        return ATTEND_ENOMEM;

    attend_rule rule = attend_rule_default();
    attend_io io = attend_io_default();
    rule.scale_is_set = 1;
    rule.scale = problem->scale;
    narrow(dtype, problem->q, room, nq * d);
    narrow(dtype, problem->k, room + start[1], nk * d);
    narrow(dtype, problem->v, room + start[2], nk * dv);
    io.q = view_of(room, dtype, 1, nq, d);
    io.k = view_of(room + start[1], dtype, 1, nk, d);
    io.v = view_of(room + start[2], dtype, 1, nk, dv);
    io.out = tensor_of(room + start[3], dtype, 1, nq, dv);
    io.weights = tensor_of(room + start[4], ATTEND_F32, 1, nq, nk);

    const attend_status status = attend_forward(ctx, &rule, &io, err);
    if (status == ATTEND_OK && problem->out)
        widen(dtype, room + start[3], problem->out, nq * dv);
    if (status == ATTEND_OK && problem->weights)
        widen(ATTEND_F32, room + start[4], problem->weights, nq * nk);
    free(room);
    return status;
}

/* ---- for experiments --------------------------------------------------- */

attend_context *lab_context(struct lab_run *run)
{
    attend_options options = attend_options_default();
    attend_context *ctx;
    attend_error err;

    options.threads = run->threads;
    if (attend_context_create(&ctx, &options, &err) != ATTEND_OK)
        lab_fail(run, "%s", err.message);
    return ctx;
}

int lab_measure(struct lab_run *run, attend_context *ctx,
                const struct lab_problem *problem)
{
    attend_error err;

    if (lab_forward(ctx, problem, &err) != ATTEND_OK)
        return lab_fail(run, "%s", err.message);
    return 0;
}

int lab_measure_scores(struct lab_run *run, attend_context *ctx, int64_t n,
                       const double *scores, struct lab_spread *spread)
{
    const double one = 1;
    const struct lab_problem problem = {
        .nk = n, .d = 1, .q = &one, .k = scores, .scale = 1, .spread = spread};

    return lab_measure(run, ctx, &problem);
}

/* ---- Monte Carlo ------------------------------------------------------- */

/* Trials of a chunk; chunks are joined in their order, whoever counted them. */
enum { CHUNK = 16 };

static attend_status count_chunk(const struct lab_trials *plan, int64_t first,
                                 int64_t end, struct lab_worker *worker,
                                 struct lab_moments *moments)
{
    double values[LAB_TRIAL_VALUES_MAX];

    memset(moments, 0, sizeof *moments * (size_t)plan->count);
    for (int64_t t = first; t < end; t++) {
        const attend_status status = plan->trial(plan->arg, worker, (uint64_t)t, values);
        if (status != ATTEND_OK)
            return status;
        for (int x = 0; x < plan->count; x++)
            if (!isnan(values[x]))
                lab_moments_add(&moments[x], values[x]);
    }
    return ATTEND_OK;
}

static void close_workers(struct lab_worker *workers, int count)
{
    for (int w = 0; w < count; w++) {
        attend_context_destroy(workers[w].ctx);
        free(workers[w].scratch);
    }
    free(workers);
}

static struct lab_worker *open_workers(struct lab_run *run, size_t scratch)
{
    struct lab_worker *const workers = calloc((size_t)run->threads, sizeof *workers);
    attend_options options = attend_options_default();

    options.threads = 1;
    for (int w = 0; workers && w < run->threads; w++) {
        workers[w].scratch = malloc((scratch + 1) * sizeof(double));
        if (attend_context_create(&workers[w].ctx, &options, NULL) != ATTEND_OK ||
            !workers[w].scratch) {
            close_workers(workers, w + 1);
            return NULL;
        }
    }
    return workers;
}

/*
 * Chunks `first` .. `first + count - 1`, worker w those with the numbers w, w + threads
 * and so on of them.  A worker leaves off when the person has had enough.
 */
struct wave {
    int64_t first;
    int count;
    struct lab_moments *moments; /* [count][LAB_TRIAL_VALUES_MAX] */
    enum { NOT_DONE, DONE, FAILED } * state;
};

/* Chunks of a wave, of each thread: enough that waiting for the last costs little. */
enum { WAVE_MAX = 64 };

/* What the threads of a wave share. */
struct counting {
    const struct lab_run *run;
    const struct lab_trials *plan;
    struct lab_worker *workers;
    struct wave *wave;
};

static void count_part(void *arg, int w)
{
    const struct counting *const all = arg;
    const struct lab_trials *const plan = all->plan;
    struct wave *const wave = all->wave;

    for (int c = w; c < wave->count; c += all->run->threads) {
        const int64_t from = (wave->first + c) * CHUNK;
        const int64_t end = from + CHUNK < plan->trials ? from + CHUNK : plan->trials;
        wave->state[c] = NOT_DONE;
        if (lab_stopped(all->run))
            continue;
        const attend_status status =
            count_chunk(plan, from, end, &all->workers[w],
                        wave->moments + (size_t)c * LAB_TRIAL_VALUES_MAX);
        wave->state[c] = status == ATTEND_OK ? DONE : FAILED;
    }
}

static void count_wave(const struct lab_run *run, const struct lab_trials *plan,
                       struct lab_worker *workers, struct wave *wave)
{
    struct counting all = {.run = run, .plan = plan, .workers = workers, .wave = wave};

    lab_crew(wave->count < run->threads ? wave->count : run->threads, count_part, &all);
}

static int join_wave(struct lab_run *run, const struct lab_trials *plan,
                     const struct lab_worker *workers, const struct wave *wave,
                     struct lab_moments *moments)
{
    for (int c = 0; c < wave->count; c++) {
        if (wave->state[c] == FAILED)
            return lab_fail(run, "%s", workers[c % run->threads].err.message);
        for (int x = 0; wave->state[c] == DONE && x < plan->count; x++)
            lab_moments_join(&moments[x], &wave->moments[c * LAB_TRIAL_VALUES_MAX + x]);
    }
    return 0;
}

static double seconds(void)
{
    struct timespec now;

    timespec_get(&now, TIME_UTC);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static int count_all(struct lab_run *run, const struct lab_trials *plan,
                     struct lab_worker *workers, struct wave *wave,
                     struct lab_moments *moments)
{
    const int64_t chunks = (plan->trials + CHUNK - 1) / CHUNK;
    int width = run->threads;

    for (wave->first = 0; wave->first < chunks && !lab_stopped(run);
         wave->first += wave->count) {
        const double start = seconds();
        wave->count = chunks - wave->first < width ? (int)(chunks - wave->first) : width;
        count_wave(run, plan, workers, wave);
        if (join_wave(run, plan, workers, wave, moments))
            return -1;
        const int64_t done = (wave->first + wave->count) * CHUNK;
        if (run->progress)
            run->progress(run->user, done < plan->trials ? done : plan->trials,
                          plan->trials);
        /* Wide waves waste less, narrow ones show progress: which it is changes no
         * result. */
        if (seconds() - start < 0.05 && width < WAVE_MAX * run->threads)
            width *= 2;
    }
    return 0;
}

int lab_measure_trials(struct lab_run *run, const struct lab_trials *plan,
                       struct lab_moments *moments)
{
    const size_t most = (size_t)run->threads * 2 * WAVE_MAX;
    struct lab_worker *const workers = open_workers(run, plan->scratch);
    struct wave wave = {.moments =
                            malloc(most * LAB_TRIAL_VALUES_MAX * sizeof *wave.moments),
                        .state = calloc(most, sizeof *wave.state)};
    int failed = !workers || !wave.moments || !wave.state;

    memset(moments, 0, sizeof *moments * (size_t)plan->count);
    if (failed)
        lab_fail(run, "memory is short");
    else
        failed = count_all(run, plan, workers, &wave, moments);
    if (workers)
        close_workers(workers, run->threads);
    free(wave.moments);
    free(wave.state);
    return failed ? -1 : 0;
}

/* SPDX-License-Identifier: MIT */
#include "lab/measure/trials.h"

#include <assert.h>
#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "lab/measure/parallel.h"

/* ---- blocks ------------------------------------------------------------ */

/* Blocks between two looks at progress: few where a block takes long. */
enum { WAVE_MAX = 256 };
#define WAVE_SECONDS 0.05

struct wave {
    const struct lab_session *session;
    const struct lab_blocks *blocks;
    struct lab_histogram *const *histograms; /* the caller's, for their bounds */
    int64_t first;
    int count, threads;
    struct lab_block *results;  /* [count] */
    struct lab_worker *workers; /* [threads] */
    attend_status *status;      /* [threads] */
    atomic_int next;
};

static void clear(const struct wave *wave, struct lab_block *block)
{
    memset(block->moments, 0, sizeof block->moments);
    block->failed = 0;
    for (int c = 0; block->histogram && c < wave->blocks->count; c++)
        if (wave->histograms[c])
            block->histogram[c] = (struct lab_histogram){.lo = wave->histograms[c]->lo,
                                                         .hi = wave->histograms[c]->hi};
}

static void perform_some(void *arg, int w)
{
    struct wave *const wave = arg;
    const struct lab_blocks *const blocks = wave->blocks;
    int b;

    while ((b = atomic_fetch_add(&wave->next, 1)) < wave->count) {
        const struct lab_peers *const peers = wave->session->peers;
        const int is_ours = !peers || b % peers->count == peers->rank;
        const int64_t first = (wave->first + b) * blocks->size;
        const int64_t left = blocks->trials - first;
        clear(wave, &wave->results[b]);
        if (is_ours && !lab_stopped(wave->session) && wave->status[w] == ATTEND_OK)
            wave->status[w] = blocks->perform(blocks->arg, &wave->workers[w], first,
                                              left < blocks->size ? left : blocks->size,
                                              &wave->results[b]);
        wave->results[b].failed = wave->status[w] != ATTEND_OK;
    }
}

/* The blocks of the other processes; -1 if that failed on one of them. */
static int share(const struct wave *wave)
{
    const struct lab_peers *const peers = wave->session->peers;
    const size_t count = (size_t)wave->blocks->count;
    struct lab_histogram *const bins = wave->results[0].histogram;

    if (!peers)
        return 0;
    if (peers->share(wave->results, sizeof *wave->results, wave->count) != 0)
        return -1;
    /* Pointers are each process's own. */
    for (size_t b = 0; b < (size_t)wave->count && bins; b++)
        wave->results[b].histogram = bins + b * count;
    return bins ? peers->share(bins, count * sizeof *bins, wave->count) : 0;
}

/* In the order of the blocks, on any process: sums round the same. */
static void join(const struct wave *wave, struct lab_moments *moments)
{
    for (int b = 0; b < wave->count; b++)
        for (int c = 0; c < wave->blocks->count; c++) {
            lab_moments_join(&moments[c], &wave->results[b].moments[c]);
            if (wave->histograms && wave->histograms[c])
                lab_histogram_join(wave->histograms[c], &wave->results[b].histogram[c]);
        }
}

/* Seconds of work on which an estimate of all of it rests: of a run, and of a pilot. */
#define MEASURED_SECONDS 0.2
#define PILOT_SECONDS 0.03

/*
 * The first wave is cold: it finds memory and threads not ready.  Of the others the
 * fastest has the pace; the others were slowed down by something else.
 */
struct pace {
    double began, warm_at, last; /* times: of the start, after the first wave, the last */
    double block;                /* seconds of a block */
};

/* After a part of the measurement; 1 in a pilot run, which then ends. */
static int estimate_time(struct lab_session *session, const struct wave *wave,
                         int64_t all, struct pace *pace)
{
    const double now = lab_now(), block = (now - pace->last) / wave->count;
    const int64_t done = wave->first + wave->count;
    const int is_pilot = session->estimate != NULL;

    if (wave->first == 0)
        pace->warm_at = now;
    pace->block = pace->last > pace->warm_at ? fmin(pace->block, block) : block;
    pace->last = now;
    const int is_known = done == all || now - pace->began > MEASURED_SECONDS ||
                         (is_pilot && now - pace->warm_at > PILOT_SECONDS);
    if (is_known)
        lab_expect(session, pace->block * (double)all);
    return is_pilot && is_known;
}

/* Nonzero to continue, on all processes alike: by `stops` of the first. */
static int goes_on(struct lab_session *session, int stops, int *failed)
{
    if (session->peers && session->peers->decide(&stops) != 0) {
        *failed = lab_fail(session, "the other processes cannot be reached");
        return 0;
    }
    return !stops;
}

/* A failure of this process, or of another, by the status of its blocks. */
static int wave_status(struct lab_session *session, const struct wave *wave)
{
    for (int w = 0; w < wave->threads; w++)
        if (wave->status[w] != ATTEND_OK)
            return lab_fail(session, "%s", wave->workers[w].err.message);
    for (int b = 0; b < wave->count; b++)
        if (wave->results[b].failed)
            return lab_fail(session, "another process failed");
    return 0;
}

static int perform_waves(struct lab_session *session, struct wave *wave, int most,
                         struct lab_moments *moments)
{
    const struct lab_blocks *const blocks = wave->blocks;
    const int64_t all = (blocks->trials + blocks->size - 1) / blocks->size;
    const double began = lab_now();
    struct pace pace = {.began = began, .last = began};
    /* Processes synchronise after each wave: waves are long, and equal on all. */
    int width = session->peers ? most : wave->threads;
    int failed = 0, is_estimated = 0;

    for (; wave->first < all &&
           goes_on(session, is_estimated || lab_stopped(session), &failed);
         wave->first += wave->count) {
        const double start = lab_now();
        wave->count = all - wave->first < width ? (int)(all - wave->first) : width;
        atomic_store(&wave->next, 0);
        lab_parallel(wave->threads, perform_some, wave);
        if (share(wave) != 0)
            return lab_fail(session, "the other processes cannot be reached");
        failed = wave_status(session, wave);
        if (failed)
            return failed;
        join(wave, moments);
        lab_report_progress(session, (wave->first + wave->count) * blocks->size,
                            blocks->trials);
        is_estimated = estimate_time(session, wave, all, &pace);
        if (is_estimated && !session->peers)
            break;
        if (lab_now() - start < WAVE_SECONDS && 2 * width <= most)
            width *= 2;
    }
    return failed;
}

static int open_worker(struct lab_worker *worker, const struct lab_blocks *blocks,
                       uint64_t seed)
{
    attend_options options = attend_options_default();

    options.threads = 1;
    worker->seed = seed;
    worker->stream = blocks->stream;
    worker->scratch = calloc(blocks->scratch + 1, sizeof(double));
    return !worker->scratch ||
           attend_context_create(&worker->ctx, &options, NULL) != ATTEND_OK;
}

int lab_measure_blocks(struct lab_session *session, const struct lab_blocks *blocks,
                       struct lab_moments *moments,
                       struct lab_histogram *const *histograms)
{
    const int64_t all = (blocks->trials + blocks->size - 1) / blocks->size;
    const int threads = session->threads < all ? session->threads : (int)all;
    const int most = threads > WAVE_MAX ? threads : WAVE_MAX;
    const size_t count = (size_t)blocks->count;
    struct wave wave = {.session = session,
                        .blocks = blocks,
                        .histograms = histograms,
                        .threads = threads,
                        .results = calloc((size_t)most, sizeof *wave.results),
                        .workers = calloc((size_t)threads, sizeof *wave.workers),
                        .status = calloc((size_t)threads, sizeof *wave.status)};
    struct lab_histogram *const bins =
        histograms ? calloc((size_t)most * count, sizeof *bins) : NULL;
    int failed = !wave.results || !wave.workers || !wave.status || (histograms && !bins);

    assert(count > 0 && count <= LAB_TRIAL_VALUES_MAX);
    memset(moments, 0, sizeof *moments * count);
    for (size_t b = 0; b < (size_t)most && bins && wave.results; b++)
        wave.results[b].histogram = bins + b * count;
    for (int w = 0; w < threads && !failed; w++)
        failed = open_worker(&wave.workers[w], blocks, session->seed);
    if (failed)
        lab_fail(session, "out of memory for the trials");
    else
        failed = perform_waves(session, &wave, most, moments);
    for (int w = 0; w < threads && wave.workers; w++) {
        attend_context_destroy(wave.workers[w].ctx);
        free(wave.workers[w].scratch);
    }
    free(wave.results);
    free(wave.workers);
    free(wave.status);
    free(bins);
    return failed ? -1 : 0;
}

/* ---- single trials ------------------------------------------------------- */

enum { BLOCK = 16 };

/* The arg of a block. */
struct plan {
    lab_trial trial;
    const void *arg;
    int count;
};

static attend_status perform_trials(const void *arg, struct lab_worker *worker,
                                    int64_t first, int64_t trials,
                                    struct lab_block *block)
{
    const struct plan *const plan = arg;
    double values[LAB_TRIAL_VALUES_MAX];

    for (int64_t t = first; t < first + trials; t++) {
        const attend_status status = plan->trial(plan->arg, worker, (uint64_t)t, values);
        if (status != ATTEND_OK)
            return status;
        for (int x = 0; x < plan->count; x++)
            if (!isnan(values[x]))
                lab_moments_add(&block->moments[x], values[x]);
    }
    return ATTEND_OK;
}

int lab_measure_trials(struct lab_session *session, lab_trial trial, const void *arg,
                       uint64_t stream, int64_t trials, int count, int64_t scratch,
                       struct lab_moments *moments)
{
    const struct plan plan = {trial, arg, count};
    const struct lab_blocks blocks = {.trials = trials,
                                      .size = BLOCK,
                                      .count = count,
                                      .scratch = (size_t)scratch,
                                      .stream = stream,
                                      .perform = perform_trials,
                                      .arg = &plan};

    return lab_measure_blocks(session, &blocks, moments, NULL);
}

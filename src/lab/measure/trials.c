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
        const int64_t first = (wave->first + b) * blocks->size;
        const int64_t left = blocks->trials - first;
        clear(wave, &wave->results[b]);
        if (!lab_stopped(wave->session) && wave->status[w] == ATTEND_OK)
            wave->status[w] = blocks->perform(blocks->arg, &wave->workers[w], first,
                                              left < blocks->size ? left : blocks->size,
                                              &wave->results[b]);
    }
}

/* In the order of the blocks, whoever made them: sums round the same. */
static void join(const struct wave *wave, struct lab_moments *moments)
{
    for (int b = 0; b < wave->count; b++)
        for (int c = 0; c < wave->blocks->count; c++) {
            lab_moments_join(&moments[c], &wave->results[b].moments[c]);
            if (wave->histograms && wave->histograms[c])
                lab_histogram_join(wave->histograms[c], &wave->results[b].histogram[c]);
        }
}

/* Seconds of work by which the time of all of it is told. */
#define PILOT_SECONDS 0.2

/* After so much of the measurement; 1 where that was all that is wanted. */
static int tell_time(struct lab_session *session, const struct wave *wave, int64_t all,
                     double elapsed)
{
    const int64_t done = wave->first + wave->count;

    if (session->estimate || elapsed >= PILOT_SECONDS)
        lab_expect(session, elapsed * (double)all / (double)done);
    return session->estimate != NULL;
}

static int perform_waves(struct lab_session *session, struct wave *wave, int most,
                         struct lab_moments *moments)
{
    const struct lab_blocks *const blocks = wave->blocks;
    const int64_t all = (blocks->trials + blocks->size - 1) / blocks->size;
    const double began = lab_now();
    int width = wave->threads;

    for (; wave->first < all && !lab_stopped(session); wave->first += wave->count) {
        const double start = lab_now();
        wave->count = all - wave->first < width ? (int)(all - wave->first) : width;
        atomic_store(&wave->next, 0);
        lab_parallel(wave->threads, perform_some, wave);
        for (int w = 0; w < wave->threads; w++)
            if (wave->status[w] != ATTEND_OK)
                return lab_fail(session, "%s", wave->workers[w].err.message);
        join(wave, moments);
        lab_report_progress(session, (wave->first + wave->count) * blocks->size,
                            blocks->trials);
        if (tell_time(session, wave, all, lab_now() - began))
            break;
        if (lab_now() - start < WAVE_SECONDS && 2 * width <= most)
            width *= 2;
    }
    return 0;
}

static int open_worker(struct lab_worker *worker, size_t scratch)
{
    attend_options options = attend_options_default();

    options.threads = 1;
    worker->scratch = calloc(scratch + 1, sizeof(double));
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
        failed = open_worker(&wave.workers[w], blocks->scratch);
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

static attend_status perform_trials(const void *arg, struct lab_worker *worker,
                                    int64_t first, int64_t trials,
                                    struct lab_block *block)
{
    const struct lab_trials *const plan = arg;
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

int lab_measure_trials(struct lab_session *session, const struct lab_trials *plan,
                       struct lab_moments *moments)
{
    const struct lab_blocks blocks = {.trials = plan->trials,
                                      .size = BLOCK,
                                      .count = plan->count,
                                      .scratch = plan->scratch,
                                      .perform = perform_trials,
                                      .arg = plan};

    return lab_measure_blocks(session, &blocks, moments, NULL);
}

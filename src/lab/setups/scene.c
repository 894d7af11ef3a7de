/* SPDX-License-Identifier: MIT */
#include "lab/setups/scene.h"

#include <assert.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "lab/measure/crew.h"
#include "lab/setups/scene_plan.h"

/* Blocks between two looks at progress. */
enum { WAVE = 256 };

/* What a block leaves behind. */
struct result {
    struct lab_moments moments[LAB_VALUES_MAX];
    struct lab_histogram *histogram; /* [count], where they are wanted */
};

struct measurement {
    struct lab_run *run;
    struct lab_plan plan;
    int64_t trials, blocks;
    int threads;
    struct lab_scene_worker *workers; /* [threads] */
    struct result *results;           /* [WAVE] */
    struct lab_histogram *bins;       /* of the results */
    struct lab_moments *moments;      /* the caller's */
    struct lab_histogram *const *histograms;
};

static void perform_block(const struct measurement *m, struct lab_scene_worker *worker,
                          int64_t block, struct result *result)
{
    const struct lab_plan *const plan = &m->plan;
    const int64_t first = block * plan->block, left = m->trials - first;
    const int64_t trials = left < plan->block ? left : plan->block;

    memset(result->moments, 0, sizeof result->moments);
    for (int c = 0; c < plan->count && m->histograms; c++)
        if (m->histograms[c])
            result->histogram[c] = (struct lab_histogram){.lo = m->histograms[c]->lo,
                                                          .hi = m->histograms[c]->hi};
    if (lab_stopped(m->run) || worker->err.status != ATTEND_OK ||
        lab_scene_block(plan, worker, first, trials))
        return;
    for (int c = 0; c < plan->count; c++) {
        const double *const values = worker->values + c * plan->block;
        result->moments[c] = lab_moments_of(values, trials);
        for (int64_t t = 0; t < trials && m->histograms && m->histograms[c]; t++)
            lab_histogram_add(&result->histogram[c], values[t]);
    }
}

struct wave {
    const struct measurement *m;
    int64_t first, blocks;
    atomic_llong next; /* of the blocks */
};

static void perform_in_turn(void *arg, int w)
{
    struct wave *const wave = arg;
    const struct measurement *const m = wave->m;
    int64_t b;

    while ((b = atomic_fetch_add(&wave->next, 1)) < wave->blocks)
        perform_block(m, &m->workers[w], wave->first + b, &m->results[b]);
}

/* In any order, by any thread. */
static void perform_wave(const struct measurement *m, int64_t first, int64_t blocks)
{
    struct wave wave = {.m = m, .first = first, .blocks = blocks};

    lab_crew(m->threads, perform_in_turn, &wave);
}

/* In the order of the blocks, whoever made them: sums round the same. */
static void join_wave(const struct measurement *m, int64_t blocks)
{
    for (int64_t b = 0; b < blocks; b++)
        for (int c = 0; c < m->plan.count; c++) {
            lab_moments_join(&m->moments[c], &m->results[b].moments[c]);
            if (m->histograms && m->histograms[c])
                lab_histogram_join(m->histograms[c], &m->results[b].histogram[c]);
        }
}

static int measure(const struct measurement *m)
{
    struct lab_run *const run = m->run;

    for (int64_t first = 0; first < m->blocks && !lab_stopped(run); first += WAVE) {
        const int64_t blocks = m->blocks - first < WAVE ? m->blocks - first : WAVE;
        perform_wave(m, first, blocks);
        for (int t = 0; t < m->threads; t++)
            if (m->workers[t].err.status != ATTEND_OK)
                return lab_fail(run, "%s", m->workers[t].err.message);
        join_wave(m, blocks);
        const int64_t done = (first + blocks) * m->plan.block;
        if (run->progress)
            run->progress(run->user, done < m->trials ? done : m->trials, m->trials);
    }
    return 0;
}

static int measurement_open(struct measurement *m)
{
    const size_t count = (size_t)m->plan.count;

    if (lab_plan_open(&m->plan, m->run))
        return -1;
    m->blocks = (m->trials + m->plan.block - 1) / m->plan.block;
    m->threads = m->run->threads < m->blocks ? m->run->threads : (int)m->blocks;
    m->workers = calloc((size_t)m->threads, sizeof *m->workers);
    m->results = calloc(WAVE, sizeof *m->results);
    m->bins = m->histograms ? calloc(WAVE * count, sizeof *m->bins) : NULL;
    if (!m->workers || !m->results || (m->histograms && !m->bins))
        return lab_fail(m->run, "out of memory for the trials");
    for (size_t b = 0; b < WAVE && m->bins; b++)
        m->results[b].histogram = m->bins + b * count;
    for (int t = 0; t < m->threads; t++)
        if (lab_scene_worker_open(&m->plan, &m->workers[t]))
            return lab_fail(m->run, "%s", m->workers[t].err.message);
    return 0;
}

static void measurement_close(struct measurement *m)
{
    for (int t = 0; t < m->threads && m->workers; t++)
        lab_scene_worker_close(&m->workers[t]);
    lab_plan_close(&m->plan);
    free(m->workers);
    free(m->results);
    free(m->bins);
}

int lab_scene_measure(struct lab_run *run, const struct lab_scene *scene, uint64_t stream,
                      int64_t trials, lab_observe observe, void *arg, int count,
                      struct lab_moments *moments,
                      struct lab_histogram *const *histograms)
{
    struct measurement m = {.run = run,
                            .plan = {.scene = scene,
                                     .seed = run->seed,
                                     .stream = stream,
                                     .observe = observe,
                                     .arg = arg,
                                     .count = count},
                            .trials = trials,
                            .moments = moments,
                            .histograms = histograms};

    assert(trials > 0 && count > 0 && count <= LAB_VALUES_MAX);
    memset(moments, 0, (size_t)count * sizeof *moments);
    int failed = measurement_open(&m);
    if (!failed)
        failed = measure(&m);
    measurement_close(&m);
    return failed;
}

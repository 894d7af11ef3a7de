/* SPDX-License-Identifier: MIT */
#include "pools.h"

#include <pthread.h>

enum { POOL_MAX = 64 };

static void pool_note(void *user, int n)
{
    pool_log *const log = user;

    log->calls++;
    log->n_max = n > log->n_max ? n : log->n_max;
}

void pool_sequential(void *user, int n, void (*body)(void *arg, int w), void *arg)
{
    pool_note(user, n);
    for (int w = 0; w < n; w++)
        body(arg, w);
}

void pool_reversed(void *user, int n, void (*body)(void *arg, int w), void *arg)
{
    pool_note(user, n);
    for (int w = n - 1; w >= 0; w--)
        body(arg, w);
}

typedef struct pool_job {
    void (*body)(void *arg, int w);
    void *arg;
    int w;
} pool_job;

static void *pool_thread(void *user)
{
    const pool_job *const job = user;

    job->body(job->arg, job->w);
    return NULL;
}

void pool_pthreads(void *user, int n, void (*body)(void *arg, int w), void *arg)
{
    pthread_t threads[POOL_MAX];
    pool_job jobs[POOL_MAX];

    pool_note(user, n);
    if (n > POOL_MAX) {
        fprintf(stderr, "a pool of %d\n", n);
        exit(2);
    }
    for (int w = 0; w < n; w++) {
        jobs[w] = (pool_job){body, arg, w};
        if (pthread_create(&threads[w], NULL, pool_thread, &jobs[w]) != 0) {
            fprintf(stderr, "no thread\n");
            exit(2);
        }
    }
    for (int w = 0; w < n; w++)
        pthread_join(threads[w], NULL);
}

attend_context *pool_context(const char *isa, int threads, attend_parallel_for pool,
                             pool_log *log)
{
    attend_options options = options_for(isa, threads);

    options.parallel_for = pool;
    options.parallel_user = log;
    return open_context(&options);
}

static void note_progress(void *user, int64_t done, int64_t total)
{
    progress_log *const log = user;

    if (atomic_fetch_add(&log->inside, 1) != 0)
        atomic_store(&log->met, 1);
    log->backwards |= done < log->last || done > total;
    log->totals_differ |= log->calls > 0 && log->total != total;
    log->last = done;
    log->total = total;
    log->calls++;
    atomic_fetch_sub(&log->inside, 1);
}

attend_context *progress_context(const char *isa, int threads, progress_log *log)
{
    attend_options options = options_for(isa, threads);

    options.progress = note_progress;
    options.progress_user = log;
    return open_context(&options);
}

int progress_is_sound(progress_log *log, int threads)
{
    const int whole = log->calls > 1 && log->last == log->total;

    return !log->backwards && !log->totals_differ && !atomic_load(&log->met) &&
           (threads > 1 || whole);
}

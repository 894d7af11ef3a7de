/* SPDX-License-Identifier: MIT */
#include "bench/team.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>

#include "shared/stopwatch.h"
#include "lab/measure/parallel.h"

struct team {
    bench_work work;
    void *arg;
    int n;
    atomic_int here;
    pthread_mutex_t mutex; /* of the sums below */
    double done, start, end;
};

/* Limit of the wait for all threads: some may have failed to start. */
static const double longest_wait = 20e-3;

static void wait_for_all(struct team *team)
{
    const double end = tool_seconds() + longest_wait;

    atomic_fetch_add(&team->here, 1);
    while (atomic_load(&team->here) < team->n && tool_seconds() < end)
        ;
}

static void take_part(void *arg, int w)
{
    struct team *const team = arg;

    wait_for_all(team);
    const double start = tool_seconds();
    const double done = team->work(team->arg, w);
    const double end = tool_seconds();

    pthread_mutex_lock(&team->mutex);
    team->done += done;
    team->start = fmin(team->start, start);
    team->end = fmax(team->end, end);
    pthread_mutex_unlock(&team->mutex);
}

double bench_team_rate(int n, bench_work work, void *arg)
{
    struct team team = {.work = work,
                        .arg = arg,
                        .n = n,
                        .mutex = PTHREAD_MUTEX_INITIALIZER,
                        .start = INFINITY,
                        .end = -INFINITY};

    lab_parallel(n, take_part, &team);
    return team.done / (team.end - team.start);
}

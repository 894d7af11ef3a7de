/* SPDX-License-Identifier: MIT */
#include "bench/team.h"

#include <math.h>
#include <pthread.h>

#include "shared/stopwatch.h"
#include "lab/measure/crew.h"

struct team {
    bench_work work;
    const void *arg;
    pthread_mutex_t mutex; /* of the sums below */
    double done, start, end;
};

static void take_part(void *arg, int w)
{
    struct team *const team = arg;
    const double start = tool_seconds();
    const double done = team->work(team->arg, w);
    const double end = tool_seconds();

    pthread_mutex_lock(&team->mutex);
    team->done += done;
    team->start = fmin(team->start, start);
    team->end = fmax(team->end, end);
    pthread_mutex_unlock(&team->mutex);
}

double bench_team_rate(int n, bench_work work, const void *arg)
{
    struct team team = {.work = work,
                        .arg = arg,
                        .mutex = PTHREAD_MUTEX_INITIALIZER,
                        .start = INFINITY,
                        .end = -INFINITY};

    lab_crew(n, take_part, &team);
    return team.done / (team.end - team.start);
}

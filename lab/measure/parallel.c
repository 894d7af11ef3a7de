/* SPDX-License-Identifier: MIT */
#include "lab/measure/parallel.h"

#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>

struct member {
    pthread_t thread;
    void (*body)(void *arg, int w);
    void *arg;
    int w;
};

static void *work(void *arg)
{
    const struct member *const me = arg;

    me->body(me->arg, me->w);
    return NULL;
}

void lab_parallel(int n, void (*body)(void *arg, int w), void *arg)
{
    struct member *const members = n > 1 ? malloc((size_t)n * sizeof *members) : NULL;
    int started = 1;

    for (; members && started < n; started++) {
        struct member *const m = &members[started];
        *m = (struct member){.body = body, .arg = arg, .w = started};
        if (pthread_create(&m->thread, NULL, work, m) != 0)
            break;
    }
    body(arg, 0);
    for (int w = started; w < n; w++)
        body(arg, w);
    for (int w = 1; w < started; w++)
        pthread_join(members[w].thread, NULL);
    free(members);
}

/* SPDX-License-Identifier: MIT */
/* Parameters of every measurement, its callbacks, and its failures. */
#ifndef LAB_SESSION_H
#define LAB_SESSION_H

#include <signal.h>
#include <stddef.h>
#include <stdint.h>

#include "attend/attend.h"

/*
 * Processes that perform the same run together, each some of its trials.  Both calls are
 * made by all of them, and return -1 if they cannot be reached.
 */
struct lab_peers {
    int rank, count;
    /* Process r has set the items with index % count == r; afterwards all have all. */
    int (*share)(void *items, size_t size, int count);
    /* All get the value of the first process. */
    int (*decide)(int *what);
};

/* The caller fills it and owns all that its pointers refer to. */
struct lab_session {
    uint64_t seed;
    int threads;                   /* >= 1 */
    const struct lab_peers *peers; /* NULL: none */
    /* `done` of `total` trials of the current measurement; NULL: not called. */
    void (*progress)(void *user, int64_t done, int64_t total);
    void *user;
    /* Called once before long work, with an estimate of its seconds; NULL: not called. */
    void (*slow)(void *user, double seconds);
    double *estimate; /* not NULL: a pilot run, which adds its estimate of seconds */
    const volatile sig_atomic_t *stop; /* non-zero: cancelled; NULL: never */
    int refused;                       /* 1: the caller's parameters do not go together */
    char error[256];
};

/* Both put a message into session->error and return -1. */
__attribute__((format(printf, 2, 3))) int lab_fail(struct lab_session *session,
                                                   const char *format, ...);
/*
 * Refuses parameters, before the first result: the message names the flag, its value and
 * the allowed values.
 */
__attribute__((format(printf, 2, 3))) int lab_misuse(struct lab_session *session,
                                                     const char *format, ...);

int lab_stopped(const struct lab_session *session);
/* Reports progress, if that is wanted. */
void lab_report_progress(const struct lab_session *session, int64_t done, int64_t total);

/* The time in seconds. */
double lab_now(void);

/* More than this many seconds are long. */
#define LAB_LONG 5.0
/* A measurement that has begun takes about so many seconds in all. */
void lab_expect(struct lab_session *session, double seconds);

/* A context with so many threads; NULL after lab_fail(). */
attend_context *lab_context(struct lab_session *session, int threads);

#endif

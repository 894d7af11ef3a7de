/* SPDX-License-Identifier: MIT */
/* What every measurement needs of its caller, and how it fails. */
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
    /* Of `items` items, process r has set those with index % count == r: all get all. */
    int (*share)(void *items, size_t size, int count);
    /* What the first process says. */
    int (*decide)(int *what);
};

/* The caller fills it and owns what it points to. */
struct lab_session {
    uint64_t seed;
    int threads;                   /* >= 1 */
    const struct lab_peers *peers; /* NULL: none */
    /* `done` of `total` trials of the measurement under way; NULL: not wanted. */
    void (*progress)(void *user, int64_t done, int64_t total);
    void *user;
    /* Called once, before what takes about so many seconds, if that is long; NULL: no. */
    void (*slow)(void *user, double seconds);
    double
        *estimate; /* not NULL: only so much is measured as tells the time, added here */
    const volatile sig_atomic_t *stop; /* non-zero: cancelled; NULL: never */
    int refused;                       /* 1: the caller's parameters do not go together */
    char error[256];
};

/* Both put a message into session->error and return -1. */
__attribute__((format(printf, 2, 3))) int lab_fail(struct lab_session *session,
                                                   const char *format, ...);
/*
 * Refuses parameters, before the first result: the message names the flag, its value and
 * what is allowed.
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

/* A context with the session's threads; NULL after lab_fail(). */
attend_context *lab_context(struct lab_session *session);

#endif

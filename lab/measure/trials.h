/* SPDX-License-Identifier: MIT */
/*
 * Monte Carlo over numbered trials, on the session's threads.  Trials are grouped into
 * blocks; every block gives moments, and blocks are joined in their order, so results
 * are the same for any number of threads.
 */
#ifndef LAB_TRIALS_H
#define LAB_TRIALS_H

#include <stddef.h>
#include <stdint.h>

#include "lab/measure/moments.h"
#include "lab/measure/session.h"

enum { LAB_TRIAL_VALUES_MAX = 32 };

/* State of one thread. */
struct lab_worker {
    attend_context *ctx;   /* of one thread */
    double *scratch;       /* as many numbers as were asked for, zeroed at first */
    uint64_t seed, stream; /* of the random numbers */
    attend_error err;      /* of the last failure */
};

/* ---- blocks ------------------------------------------------------------ */

/* Results of one block of trials, by value; zeroed before. */
struct lab_block {
    struct lab_moments moments[LAB_TRIAL_VALUES_MAX];
    struct lab_histogram *histogram; /* NULL: no histogram */
    int failed;                      /* set by lab_measure_blocks() alone */
};

struct lab_blocks {
    int64_t trials, size; /* of all, and of a block but the last */
    int count;            /* of values, at most LAB_TRIAL_VALUES_MAX */
    size_t scratch;       /* numbers per thread */
    uint64_t stream;      /* of their random numbers; the seed is the session's */
    /* Trials first .. first + trials - 1; another block may run on another worker. */
    attend_status (*perform)(const void *arg, struct lab_worker *worker, int64_t first,
                             int64_t trials, struct lab_block *block);
    const void *arg;
};

/*
 * Moments of `count` values, and histograms of those whose pointer is not NULL; all
 * blocks, or those measured before the session was cancelled.  0, or -1 after
 * lab_fail().
 */
int lab_measure_blocks(struct lab_session *session, const struct lab_blocks *blocks,
                       struct lab_moments *moments,
                       struct lab_histogram *const *histograms);

/* ---- single trials ------------------------------------------------------- */

/*
 * One trial, drawn from its number alone; `arg` is shared by the threads and only
 * read.  A value of NaN leaves the trial out of that number's moments.
 */
typedef attend_status (*lab_trial)(const void *arg, struct lab_worker *worker,
                                   uint64_t trial, double *values);

/*
 * Moments of `count` values, at most LAB_TRIAL_VALUES_MAX, as lab_measure_blocks() gives
 * them; each thread has `scratch` numbers.
 */
int lab_measure_trials(struct lab_session *session, lab_trial trial, const void *arg,
                       uint64_t stream, int64_t trials, int count, int64_t scratch,
                       struct lab_moments *moments);

#endif

/* SPDX-License-Identifier: MIT */
/* Problems with statistics for tests: requests, and rows with known scores. */
#ifndef TESTS_STATS_FIXTURE_H
#define TESTS_STATS_FIXTURE_H

#include "support/oracle.h"

extern const attend_stat every_stat[ATTEND_STAT_COUNT];

/* All statistics in f64; top keys, bins of distance and classes where not 0. */
void ask_stats(problem *p, attend_stats *stats, int top, int bins, int classes);
/* The same in a request that the problem owns. */
attend_stats *own_stats(problem *p, int top, int bins, int classes);
/* The same and raw sums, with memory for a problem of this shape; outputs poisoned. */
typedef struct wanted {
    problem store;
    attend_stats request;
} wanted;
wanted wanted_make(shape n, int top, int bins, int classes);
void wanted_free(wanted *w);
/*
 * Poisons the requested outputs and runs, without weights: with them few rows take the
 * prefill path.
 */
int run_stats(problem *p, attend_context *ctx);
double stat_of(const problem *p, attend_stat stat, int64_t b, int64_t h, int64_t i);
/* Rows with equal scores. */
problem problem_of_score(attend_dtype dtype, int64_t nq, int64_t nk, double score);
/* Equal rows with the given scores, if exact in dtype. */
problem problem_of_scores(attend_dtype dtype, int64_t nq, int64_t nk,
                          const double *scores);
/* All scores 0: P is uniform over the visible keys of a row. */
problem problem_even(shape n, attend_dtype dtype);
int is_near(double got, double want, double share);
/* Distance of two floats of the same sign, in units in the last place. */
int64_t floats_apart(double a, double b);

/*
 * main() of a program whose tests run once for every kernel set that runs here.  *ctx is
 * the context; *isa, unless NULL, the name of the set, which is printed.
 */
int run_on_every_set(attend_context **ctx, const char **isa);

#endif

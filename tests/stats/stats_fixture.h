/* SPDX-License-Identifier: MIT */
/* Problems with statistics for tests: what to ask for, and rows of known scores. */
#ifndef TESTS_STATS_FIXTURE_H
#define TESTS_STATS_FIXTURE_H

#include "support/oracle.h"

extern const attend_stat every_stat[ATTEND_STAT_COUNT];

/* Every statistic in f64; top keys, bins of distance and classes where not 0. */
void ask_stats(problem *p, attend_stats *stats, int top, int bins, int classes);
/*
 * Poisons what is asked for and runs.  Weights are not asked for: the rows would be
 * computed another way where they are few.
 */
int run_stats(problem *p, attend_context *ctx);
double stat_of(const problem *p, attend_stat stat, int64_t b, int64_t h, int64_t i);
/* Rows whose scores are all one number. */
problem problem_of_score(attend_dtype dtype, int64_t nq, int64_t nk, double score);
/* Rows that are all alike, whose scores are the numbers given where dtype holds them. */
problem problem_of_scores(attend_dtype dtype, int64_t nq, int64_t nk,
                          const double *scores);
/* Every score 0: P is even over what a row sees. */
problem problem_even(shape n, attend_dtype dtype);
int is_near(double got, double want, double share);
/* Floats between two of one sign, the second counted. */
int64_t floats_apart(double a, double b);

/*
 * main() of a program whose tests run once for every kernel set that runs here, with a
 * context in *ctx, and the name of the set, which is printed, in *isa unless NULL.
 */
int run_on_every_set(attend_context **ctx, const char **isa);

#endif

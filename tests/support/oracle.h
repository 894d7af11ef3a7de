/* SPDX-License-Identifier: MIT */
/*
 * Expected results: the dense evaluation of tools/check in double, with tolerances.  It
 * shares no code with the library, so that `ref` is tested too.
 */
#ifndef TESTS_ORACLE_H
#define TESTS_ORACLE_H

#include "check/dense_row.h"
#include "problems.h"

/* The problem with every value in double; the caller gives it to check_problem_free(). */
struct check_problem dense_problem(const problem *p);
/*
 * The sum of the absolute values of the terms of score `at` of a row; 0 for a score of
 * -inf.  Unlike the size in the row, ALiBi counts from the position only.
 */
double score_magnitude(const struct check_problem *dense, int64_t b, int64_t h, int64_t i,
                       const struct check_row *row, int64_t at);

/* Rounding of P and of the output, relative to max |V|. */
double type_error(attend_dtype dtype);
/* NaN only equals NaN, and an infinity only itself. */
int near_or_same(double got, double want, double tolerance);
/* Compares every row with the dense evaluation; reports the first that differs. */
int problem_is_close(const problem *p);
/* Runs and compares. */
int problem_check(const problem *p, attend_context *ctx);

#endif

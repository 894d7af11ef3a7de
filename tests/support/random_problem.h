/* SPDX-License-Identifier: MIT */
/* Problems of random shapes and rules. */
#ifndef TESTS_RANDOM_PROBLEM_H
#define TESTS_RANDOM_PROBLEM_H

#include "problems.h"

int chance(uint64_t *state, double of);
/* A number for each query head. */
double *own_heads(problem *p, uint64_t *state, double size);
/* Few rows and many, one split and many, any rules at once; dtypes in turn with n. */
problem random_problem(int n, uint64_t *state);

#endif

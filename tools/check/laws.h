/* SPDX-License-Identifier: MIT */
/* What the laws share. */
#ifndef CHECK_LAWS_H
#define CHECK_LAWS_H

#include "check/check.h"
#include "check/sample.h"

/*
 * A random problem with at least one row, all outputs asked for at times.  Two of five
 * have fewer rows and 2 to 5 splits of the least size, whatever max_length is.
 */
struct check_problem check_law_sample(const struct check_run *run, uint64_t salt,
                                      int64_t n, int64_t max_length);

/* The problem over keys from .. end - 1, positions kept; the sink goes to one part. */
struct check_problem check_part_of(const struct check_problem *p, int64_t from,
                                   int64_t end, int keeps_sink);

/* Equal bits, or both NaN: the bits of a NaN carry nothing. */
int check_same_bits(double a, double b);

/*
 * 0 if all outputs of `a` and `b` are the same bits, infinite if not.  Rows where
 * skip[row] is set are left out; `skip` may be NULL.  Weights are compared over the
 * keys that both have; beyond them they must be 0.
 */
double check_same_outputs(const struct check_problem *pa, const struct check_outputs *a,
                          const struct check_problem *pb, const struct check_outputs *b,
                          const unsigned char *skip, char *where, size_t where_size);

/* Runs both problems on every set and notes whether their bits are the same. */
void check_compare_bits(struct check_run *run, const struct check_problem *pa,
                        const struct check_problem *pb, const unsigned char *skip);

#endif

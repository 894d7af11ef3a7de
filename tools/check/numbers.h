/* SPDX-License-Identifier: MIT */
/* Numbers for the checks: element formats as doubles, and random numbers. */
#ifndef CHECK_NUMBERS_H
#define CHECK_NUMBERS_H

#include <stddef.h>
#include <stdint.h>

#include "attend/attend.h"

/* Element `index` of an array of `dtype`, exactly; a BOOL is 0 or 1. */
double check_load(const void *data, attend_dtype dtype, int64_t index);
/* `value` rounded to nearest even (by way of float for the 16-bit formats). */
void check_store(void *data, attend_dtype dtype, int64_t index, double value);
/* The result of check_load() after check_store(). */
double check_round(attend_dtype dtype, double value);

/* Half the distance from 1 to the next number: 2^-53, 2^-24, 2^-11, 2^-8. */
double check_unit(attend_dtype dtype);
/* The smallest positive number, subnormals included. */
double check_smallest(attend_dtype dtype);
/* The largest finite number. */
double check_largest(attend_dtype dtype);

/*
 * Counter-based: number n of seed s is a fixed function of (s, n), so a case is
 * replayed from its seed alone.
 */
struct check_random {
    uint64_t seed, next;
};

uint64_t check_random_bits(struct check_random *random);
/* Uniform in low .. high, both included. */
int64_t check_random_int(struct check_random *random, int64_t low, int64_t high);
/* Uniform in [0, 1). */
double check_random_unit(struct check_random *random);
/* True with the probability given. */
int check_random_chance(struct check_random *random, double probability);
/*
 * Unit normal: one of 2^16 numbers of mean 0 and variance 1, made by the first call, so
 * that large problems are not mostly logarithms.
 */
double check_random_normal(struct check_random *random);
/* The one selected by random bits. */
double check_normal(uint64_t bits);

/* Allocates memory, or exits with a message and status 1. */
void *check_memory(size_t count, size_t size);

#endif

/* SPDX-License-Identifier: MIT */
/* Vectors, orthonormal frames and root finding of the experiments. */
#ifndef LAB_FRAMES_H
#define LAB_FRAMES_H

#include <stdint.h>

double lab_dot(const double *x, const double *y, int64_t n);
double lab_norm(const double *x, int64_t n);
/* Scales to norm 1. */
void lab_unit(double *x, int64_t n);
/*
 * Makes the rows of `frame` [rows][d] orthonormal in their order (Gram-Schmidt, twice),
 * without those whose rest is not longer than `least`.  Returns how many there are.
 */
int64_t lab_orthonormalise(double *frame, int64_t rows, int64_t d, double least);
/* P(x < t), x normal; a sure x is a step. */
double lab_normal_below(double t, double mean, double sd);
/* lab_random_normals() in double: the same numbers. */
void lab_normals(uint64_t seed, uint64_t stream, uint64_t first, double *out,
                 int64_t count);
/* Orthonormal rows of random direction. */
void lab_random_frame(uint64_t seed, uint64_t stream, double *frame, int64_t rows,
                      int64_t d);

/*
 * A noisy key [d], the one way in which keys in double are disturbed: `length` times its
 * mean and, where noise is not NULL, sd times standard normals [d].
 */
void lab_noisy_key(const double *mean, double length, double sd, const double *noise,
                   int64_t d, double *key);

/* A function to be inverted: stores f(x) through `y`; 0, or another number to give up. */
typedef int (*lab_function)(void *arg, double x, double *y);
/*
 * The x with f(x) = wanted, by false position from 0 and `first`, in 40 steps at most.
 * 0, or -1 where f gave up.
 */
int lab_reach(lab_function f, void *arg, double first, double wanted, double *x);

#endif

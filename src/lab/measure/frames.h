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
 * Makes the rows of `frame` [rows][d], rows <= d, orthonormal in their order
 * (Gram-Schmidt, twice); they must be independent.
 */
void lab_orthonormalise(double *frame, int64_t rows, int64_t d);
/* lab_random_normals() in double: the same numbers. */
void lab_normals(uint64_t seed, uint64_t stream, uint64_t first, double *out,
                 int64_t count);
/* Orthonormal rows of random direction. */
void lab_random_frame(uint64_t seed, uint64_t stream, double *frame, int64_t rows,
                      int64_t d);

/*
 * False position: moves x[1] to where the line through (x, y) reaches `wanted`, and the
 * old x[1], y[1] to x[0], y[0].  0 when x[1] no longer moves.
 */
int lab_false_position(double x[2], double y[2], double wanted);

#endif

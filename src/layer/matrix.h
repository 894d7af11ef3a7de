/* SPDX-License-Identifier: MIT */
/*
 * Products and triangular systems of row-major matrices, by CBLAS or, with
 * ATTEND_CBLAS=OFF, by plain loops.  Sizes fit an int.
 */
#ifndef ATTEND_LAYER_MATRIX_H
#define ATTEND_LAYER_MATRIX_H

#include "attend/attend.h"

/*
 * y = x w, or with `adds` y += x w, of `dtype`, f64 or f32: x (rows, inner) and
 * w (inner, outer) contiguous, the rows of y `stride` elements apart.
 */
void attendi_matrix_product(attend_dtype dtype, int64_t rows, int64_t inner,
                            int64_t outer, const void *x, const void *w, int adds,
                            void *y, int64_t stride);

double attendi_matrix_dot(const double *x, const double *y, int64_t count);
/* a = x x^T on the diagonal and below it: x (n, d), a (n, n). */
void attendi_matrix_gram(const double *x, int64_t n, int64_t d, double *a);
/* y += factor x v and v += factor x^T y: x (n, d), v [d], y [n]. */
void attendi_matrix_apply(const double *x, int64_t n, int64_t d, double factor,
                          const double *v, double *y);
void attendi_matrix_apply_transposed(const double *x, int64_t n, int64_t d, double factor,
                                     const double *y, double *v);
/* v = L^-1 v and v = L^-T v: L (n, n), of which the lower triangle is read. */
void attendi_matrix_solve(const double *l, int64_t n, double *v);
void attendi_matrix_solve_transposed(const double *l, int64_t n, double *v);

#endif

/* SPDX-License-Identifier: MIT */
/* Y = X W + b, validation and workspace of layers. */
#ifndef ATTEND_LAYER_PROJECTION_H
#define ATTEND_LAYER_PROJECTION_H

#include "attend/attend.h"

/*
 * y[r] = x[r] w + bias for r < rows, all of `dtype`, f64 or f32: x (rows, inner) and
 * w (inner, outer) contiguous, the rows of y `stride` elements apart; bias [outer] or
 * NULL.  The caller has checked that sizes and stride fit an int.
 */
void attendi_layer_project(attend_dtype dtype, int64_t rows, int64_t inner, int64_t outer,
                           const void *x, const void *w, const void *bias, void *y,
                           int64_t stride);

/*
 * Copies the caller's struct into `own`, of `size` bytes with defaults, by the rules of
 * base/struct_size.h; EINVAL for NULL.
 */
attend_status attendi_layer_read(const char *name, const void *given, void *own,
                                 size_t size, attend_error *err);

/* f64 or f32, else EINVAL. */
attend_status attendi_layer_check_dtype(attend_dtype dtype, attend_error *err);

/* EINVAL unless min <= value, EUNSUPPORTED if it exceeds CBLAS's int. */
attend_status attendi_layer_check_count(const char *name, int64_t value, int64_t min,
                                        attend_error *err);

/* a * b * size bytes into *bytes; EINVAL, naming the counts, where that overflows. */
attend_status attendi_layer_check_bytes(const char *names, int64_t a, int64_t b,
                                        size_t size, size_t *bytes, attend_error *err);

/*
 * The caller's workspace if it is not NULL and has `bytes`, else memory of malloc(),
 * which *owned holds for free(); otherwise *owned is NULL.
 */
attend_status attendi_layer_workspace(void *given, size_t given_size, size_t bytes,
                                      void **memory, void **owned, attend_error *err);

#endif

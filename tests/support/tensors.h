/* SPDX-License-Identifier: MIT */
/*
 * Tensors for tests: views, random contents, bits.  check_load() and check_store() of
 * tools/check read and write single elements of every dtype.
 */
#ifndef TESTS_TENSORS_H
#define TESTS_TENSORS_H

#include <attend/stats.h>

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check/numbers.h"

void *test_memory(size_t size);
/* The destructor of auto_context. */
void context_free(attend_context *const *ctx);
int64_t view_at(const int64_t *stride, int64_t b, int64_t h, int64_t l, int64_t d);
double view_get(const attend_view *view, int64_t b, int64_t h, int64_t l, int64_t d);
/* Views of memory that the problem owns. */
void view_set(const attend_view *view, int64_t b, int64_t h, int64_t l, int64_t d,
              double value);
double tensor_get(const attend_tensor *tensor, int64_t b, int64_t h, int64_t l,
                  int64_t d);
/* The unit roundoff of the arithmetic on a dtype: half floats are computed in f32. */
double unit_of(attend_dtype dtype);
/* The view from element (b, h, l, 0) on; the caller reduces the sizes. */
attend_view view_from(attend_view view, int64_t b, int64_t h, int64_t l);
/* That of LSE, weights and partials for inputs of a dtype. */
attend_dtype dtype_of_lse(attend_dtype dtype);
int64_t count_of(const int64_t *size);
attend_view view_of_tensor(const attend_tensor *tensor);
/* Views of memory that the caller owns. */
attend_tensor tensor_of_view(const attend_view *view);

/* ---- random numbers ------------------------------------------------------ */

uint64_t random_bits(uint64_t *state);
/* In (0, 1]. */
double random_unit(uint64_t *state);
double random_normal(uint64_t *state);
void fill_normal(const attend_view *view, uint64_t seed);
void fill_value(const attend_view *view, double value);
size_t bytes_of(const int64_t *size, attend_dtype dtype);
/* Fills a contiguous tensor with 0xff; whether all bytes are still 0xff. */
void poison(const attend_tensor *tensor);
int is_poisoned(const attend_tensor *tensor);
void *copy_bits(const attend_tensor *tensor);

enum { FLOAT_DTYPES = 4 };
extern const attend_dtype float_dtypes[FLOAT_DTYPES];

#endif

/* SPDX-License-Identifier: MIT */
/* Tensors for tests: single elements of every dtype, views, random contents. */
#ifndef TESTS_TENSORS_H
#define TESTS_TENSORS_H

#include <attend/stats.h>

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "float_bits.h"

static inline void *test_memory(size_t size)
{
    void *const memory = malloc(size ? size : 1);

    if (memory == NULL) {
        fprintf(stderr, "out of memory for %zu bytes\n", size);
        exit(2);
    }
    return memory;
}

static inline double load_element(const void *data, attend_dtype dtype, int64_t at)
{
    switch (dtype) {
    case ATTEND_F64:
        return ((const double *)data)[at];
    case ATTEND_F32:
        return (double)((const float *)data)[at];
    case ATTEND_F16:
        return (double)bits_f16_value(((const uint16_t *)data)[at]);
    case ATTEND_BF16:
        return (double)bits_bf16_value(((const uint16_t *)data)[at]);
    default:
        return ((const uint8_t *)data)[at] != 0;
    }
}

static inline void store_element(void *data, attend_dtype dtype, int64_t at, double value)
{
    switch (dtype) {
    case ATTEND_F64:
        ((double *)data)[at] = value;
        break;
    case ATTEND_F32:
        ((float *)data)[at] = (float)value;
        break;
    case ATTEND_F16:
        ((uint16_t *)data)[at] = bits_f16_nearest((float)value);
        break;
    case ATTEND_BF16:
        ((uint16_t *)data)[at] = bits_bf16_nearest((float)value);
        break;
    default:
        ((uint8_t *)data)[at] = value != 0.0;
        break;
    }
}

static inline int64_t view_at(const int64_t *stride, int64_t b, int64_t h, int64_t l,
                              int64_t d)
{
    return b * stride[0] + h * stride[1] + l * stride[2] + d * stride[3];
}

static inline double view_get(const attend_view *view, int64_t b, int64_t h, int64_t l,
                              int64_t d)
{
    return load_element(view->data, view->dtype, view_at(view->stride, b, h, l, d));
}

/* For views of memory the problem owns. */
static inline void view_set(const attend_view *view, int64_t b, int64_t h, int64_t l,
                            int64_t d, double value)
{
    store_element((void *)(uintptr_t)view->data, view->dtype,
                  view_at(view->stride, b, h, l, d), value);
}

static inline double tensor_get(const attend_tensor *tensor, int64_t b, int64_t h,
                                int64_t l, int64_t d)
{
    return load_element(tensor->data, tensor->dtype, view_at(tensor->stride, b, h, l, d));
}

static inline int64_t count_of(const int64_t *size)
{
    return size[0] * size[1] * size[2] * size[3];
}

static inline attend_view view_of(void *data, attend_dtype dtype, int64_t s0, int64_t s1,
                                  int64_t s2, int64_t s3)
{
    return (attend_view){.data = data,
                         .dtype = dtype,
                         .size = {s0, s1, s2, s3},
                         .stride = {s1 * s2 * s3, s2 * s3, s3, 1}};
}

static inline attend_tensor tensor_of(void *data, attend_dtype dtype, int64_t s0,
                                      int64_t s1, int64_t s2, int64_t s3)
{
    return (attend_tensor){.data = data,
                           .dtype = dtype,
                           .size = {s0, s1, s2, s3},
                           .stride = {s1 * s2 * s3, s2 * s3, s3, 1}};
}

static inline attend_view view_of_tensor(const attend_tensor *tensor)
{
    attend_view view = {.data = tensor->data, .dtype = tensor->dtype};

    memcpy(view.size, tensor->size, sizeof view.size);
    memcpy(view.stride, tensor->stride, sizeof view.stride);
    return view;
}

/* ---- random numbers ------------------------------------------------------ */

static inline uint64_t random_bits(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;

    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/* In (0, 1]. */
static inline double random_unit(uint64_t *state)
{
    return (double)((random_bits(state) >> 11) + 1) * 0x1p-53;
}

static inline double random_normal(uint64_t *state)
{
    const double radius = sqrt(-2.0 * log(random_unit(state)));

    return radius * cos(6.283185307179586 * random_unit(state));
}

static inline void fill_normal(const attend_view *view, uint64_t seed)
{
    uint64_t state = seed;

    for (int64_t at = 0; at < count_of(view->size); at++)
        store_element((void *)(uintptr_t)view->data, view->dtype, at,
                      random_normal(&state));
}

static inline void fill_value(const attend_view *view, double value)
{
    for (int64_t at = 0; at < count_of(view->size); at++)
        store_element((void *)(uintptr_t)view->data, view->dtype, at, value);
}

static inline size_t bytes_of(const int64_t *size, attend_dtype dtype)
{
    return (size_t)count_of(size) * attend_dtype_size(dtype);
}

static inline void poison(const attend_tensor *tensor)
{
    if (tensor->data != NULL)
        memset(tensor->data, 0xff, bytes_of(tensor->size, tensor->dtype));
}

static inline void *copy_bits(const attend_tensor *tensor)
{
    if (tensor->data == NULL)
        return NULL;
    const size_t size = bytes_of(tensor->size, tensor->dtype);
    return memcpy(test_memory(size), tensor->data, size);
}

static const attend_dtype float_dtypes[] = {ATTEND_F64, ATTEND_F32, ATTEND_F16,
                                            ATTEND_BF16};
enum { FLOAT_DTYPES = sizeof float_dtypes / sizeof float_dtypes[0] };

#endif

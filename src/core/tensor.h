/* SPDX-License-Identifier: MIT */
/* Views of memory: validation, addresses, access to single elements. */
#ifndef ATTEND_CORE_TENSOR_H
#define ATTEND_CORE_TENSOR_H

#include <stdbool.h>

#include "attend/attend.h"
#include "base/base.h"

/* Upper bound of sizes: a size times that of a tile cannot overflow. */
#define SIZE_LIMIT ((int64_t)1 << 40)
/*
 * Upper bound of the bytes that a view spans: differences of pointers are representable.
 */
#define REACH_LIMIT min_i64(INT64_MAX >> 4, PTRDIFF_MAX)

bool attendi_is_float(attend_dtype dtype);

/* Validates the dtype, sizes, the data pointer (required unless empty) and the span. */
attend_status attendi_view_check(const char *name, const attend_view *view,
                                 attend_error *err);
/* Strides of an empty tensor have no effect and may have any value: sets them to 0. */
void attendi_drop_empty_strides(const int64_t size[4], int64_t stride[4]);
/* EINVAL unless sizes and dtype are those in `want`; dtype 0 stands for f32 or f64. */
attend_status attendi_size_check(const char *name, const int64_t size[4],
                                 const int64_t want[4], attend_error *err);
attend_status attendi_dtype_check(const char *name, attend_dtype dtype, attend_dtype want,
                                  attend_error *err);
/* attendi_view_check() and attendi_size_check(), and no two elements share an address. */
attend_status attendi_tensor_check(const char *name, const attend_tensor *tensor,
                                   const int64_t want[4], attend_error *err);

/*
 * log2 of the bytes of a valid dtype.  Switches over dtypes have no default: the compiler
 * finds those that a new dtype has to be added to.
 */
static inline DEVICE_TOO int attendi_dtype_shift(attend_dtype dtype)
{
    switch (dtype) {
    case ATTEND_F64:
        return 3;
    case ATTEND_F32:
        return 2;
    case ATTEND_F16:
    case ATTEND_BF16:
        return 1;
    case ATTEND_BOOL:
        return 0;
    }
    __builtin_unreachable();
}

/* Accumulation and LSE dtype for inputs of this floating dtype. */
static inline attend_dtype attendi_wide_dtype(attend_dtype dtype)
{
    switch (dtype) {
    case ATTEND_F64:
        return ATTEND_F64;
    case ATTEND_F32:
    case ATTEND_F16:
    case ATTEND_BF16:
        return ATTEND_F32;
    case ATTEND_BOOL:
        break;
    }
    __builtin_unreachable();
}

static inline DEVICE_TOO int64_t attendi_row_offset(const int64_t stride[4],
                                                    attend_dtype dtype, int64_t b,
                                                    int64_t h, int64_t l)
{
    return (b * stride[0] + h * stride[1] + l * stride[2]) *
           ((int64_t)1 << attendi_dtype_shift(dtype));
}

/* Address of (b, h, l, 0). */
static inline const void *attendi_view_row(const attend_view *view, int64_t b, int64_t h,
                                           int64_t l)
{
    return (const char *)view->data +
           attendi_row_offset(view->stride, view->dtype, b, h, l);
}

static inline void *attendi_tensor_row(const attend_tensor *tensor, int64_t b, int64_t h,
                                       int64_t l)
{
    return (char *)tensor->data +
           attendi_row_offset(tensor->stride, tensor->dtype, b, h, l);
}

/* The element `offset` elements after `at`; 0 or 1 for a boolean. */
double attendi_load(const void *at, attend_dtype dtype, int64_t offset);
/* Stores `value` with one rounding, to nearest even. */
void attendi_store(void *at, attend_dtype dtype, int64_t offset, double value);

#endif

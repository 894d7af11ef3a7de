/* SPDX-License-Identifier: MIT */
#include "layer/projection.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "layer/matrix.h"
#include "layer/refuse.h"

void attendi_layer_project(attend_dtype dtype, int64_t rows, int64_t inner, int64_t outer,
                           const void *x, const void *w, const void *bias, void *y,
                           int64_t stride)
{
    const size_t size = attend_dtype_size(dtype);

    /* The bias stands in Y before the product is added to it. */
    if (bias != NULL)
        for (int64_t r = 0; r < rows; r++)
            memcpy((char *)y + (size_t)(r * stride) * size, bias, (size_t)outer * size);
    attendi_matrix_product(dtype, rows, inner, outer, x, w, bias != NULL, y, stride);
}

/* No struct of any version is this large: a size that was never set. */
enum { STRUCT_MAX = 4096 };

attend_status attendi_layer_check_struct(const char *name, const void *object,
                                         size_t known, attend_error *err)
{
    size_t given;

    if (object == NULL)
        return attendi_layer_refuse(err, ATTEND_EINVAL, "%s is NULL", name);
    memcpy(&given, object, sizeof given);
    if (given < known || given > STRUCT_MAX)
        return attendi_layer_refuse(
            err, ATTEND_EINVAL,
            "%s.struct_size (%zu) is not %zu: start from attend_layer_%s_default()", name,
            given, known, name);
    for (size_t at = known; at < given; at++)
        if (((const unsigned char *)object)[at] != 0)
            return attendi_layer_refuse(
                err, ATTEND_EUNSUPPORTED,
                "%s: byte %zu is set, and this library knows the first %zu", name, at,
                known);
    return ATTEND_OK;
}

attend_status attendi_layer_check_dtype(attend_dtype dtype, attend_error *err)
{
    if (dtype != ATTEND_F64 && dtype != ATTEND_F32)
        return attendi_layer_refuse(err, ATTEND_EINVAL,
                                    "dtype (%s) is neither f64 nor f32",
                                    attend_dtype_name(dtype));
    return ATTEND_OK;
}

attend_status attendi_layer_check_count(const char *name, int64_t value, int64_t min,
                                        attend_error *err)
{
    if (value < min)
        return attendi_layer_refuse(err, ATTEND_EINVAL, "%s (%lld) must be at least %lld",
                                    name, (long long)value, (long long)min);
    if (value > INT_MAX)
        return attendi_layer_refuse(err, ATTEND_EUNSUPPORTED,
                                    "%s (%lld) exceeds CBLAS's %d", name,
                                    (long long)value, INT_MAX);
    return ATTEND_OK;
}

attend_status attendi_layer_check_bytes(const char *names, int64_t a, int64_t b,
                                        size_t size, size_t *bytes, attend_error *err)
{
    int64_t count;

    if (__builtin_mul_overflow(a, b, &count) ||
        __builtin_mul_overflow(count, (int64_t)size, &count))
        return attendi_layer_refuse(err, ATTEND_EINVAL,
                                    "%s (%lld x %lld elements) is too large", names,
                                    (long long)a, (long long)b);
    *bytes = (size_t)count;
    return ATTEND_OK;
}

attend_status attendi_layer_workspace(void *given, size_t given_size, size_t bytes,
                                      void **memory, void **owned, attend_error *err)
{
    *owned = NULL;
    *memory = given;
    if (given != NULL) {
        if (given_size < bytes)
            return attendi_layer_refuse(
                err, ATTEND_EINVAL, "workspace_size (%zu) is below the %zu bytes needed",
                given_size, bytes);
        return ATTEND_OK;
    }
    *owned = *memory = malloc(bytes > 0 ? bytes : 1);
    if (*memory == NULL)
        return attendi_layer_refuse(err, ATTEND_ENOMEM, "no %zu bytes for the workspace",
                                    bytes);
    return ATTEND_OK;
}

/* SPDX-License-Identifier: MIT */
#include "layer/projection.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/struct_size.h"
#include "layer/matrix.h"

void attendi_layer_project(attend_dtype dtype, int64_t rows, int64_t inner, int64_t outer,
                           const void *x, const void *w, const void *bias, void *y,
                           int64_t stride)
{
    const size_t size = attend_dtype_size(dtype);

    /* Y is initialised with the bias, then the product is added. */
    if (bias != NULL)
        for (int64_t r = 0; r < rows; r++)
            memcpy((char *)y + (size_t)(r * stride) * size, bias, (size_t)outer * size);
    attendi_matrix_product(dtype, rows, inner, outer, x, w, bias != NULL, y, stride);
}

attend_status attendi_layer_read(const char *name, const void *given, void *own,
                                 size_t size, attend_error *err)
{
    const struct struct_sizes sizes = {name, 1, &size};

    if (given == NULL)
        return attendi_fail(err, ATTEND_EINVAL, "%s is NULL", name);
    return attendi_struct_read(&sizes, given, own, err);
}

attend_status attendi_layer_check_dtype(attend_dtype dtype, attend_error *err)
{
    if (dtype != ATTEND_F64 && dtype != ATTEND_F32)
        return attendi_fail(err, ATTEND_EINVAL, "dtype (%s) is neither f64 nor f32",
                            attend_dtype_name(dtype));
    return ATTEND_OK;
}

attend_status attendi_layer_check_count(const char *name, int64_t value, int64_t min,
                                        attend_error *err)
{
    if (value < min)
        return attendi_fail(err, ATTEND_EINVAL, "%s (%lld) must be at least %lld", name,
                            (long long)value, (long long)min);
    if (value > INT_MAX)
        return attendi_fail(err, ATTEND_EUNSUPPORTED, "%s (%lld) exceeds CBLAS's %d",
                            name, (long long)value, INT_MAX);
    return ATTEND_OK;
}

attend_status attendi_layer_check_bytes(const char *names, int64_t a, int64_t b,
                                        size_t size, size_t *bytes, attend_error *err)
{
    int64_t count;

    if (__builtin_mul_overflow(a, b, &count) ||
        __builtin_mul_overflow(count, (int64_t)size, &count))
        return attendi_fail(err, ATTEND_EINVAL, "%s (%lld x %lld elements) is too large",
                            names, (long long)a, (long long)b);
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
            return attendi_fail(err, ATTEND_EINVAL,
                                "workspace_size (%zu) is below the %zu bytes needed",
                                given_size, bytes);
        return ATTEND_OK;
    }
    *owned = *memory = malloc(bytes > 0 ? bytes : 1);
    if (*memory == NULL)
        return attendi_fail(err, ATTEND_ENOMEM,
                            "out of memory for a workspace of %zu bytes", bytes);
    return ATTEND_OK;
}

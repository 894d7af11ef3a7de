/* SPDX-License-Identifier: MIT */
#include "core/tensor.h"

#include "base/base.h"
#include "base/error.h"
#include "base/half.h"

size_t attend_dtype_size(attend_dtype dtype)
{
    switch (dtype) {
    case ATTEND_F64:
        return 8;
    case ATTEND_F32:
        return 4;
    case ATTEND_F16:
    case ATTEND_BF16:
        return 2;
    case ATTEND_BOOL:
        return 1;
    }
    return 0;
}

const char *attend_dtype_name(attend_dtype dtype)
{
    switch (dtype) {
    case ATTEND_F64:
        return "f64";
    case ATTEND_F32:
        return "f32";
    case ATTEND_F16:
        return "f16";
    case ATTEND_BF16:
        return "bf16";
    case ATTEND_BOOL:
        return "bool";
    }
    return "unknown";
}

bool attendi_is_float(attend_dtype dtype)
{
    return dtype == ATTEND_F64 || dtype == ATTEND_F32 || dtype == ATTEND_F16 ||
           dtype == ATTEND_BF16;
}

static bool is_empty(const int64_t size[4])
{
    return size[0] == 0 || size[1] == 0 || size[2] == 0 || size[3] == 0;
}

void attendi_drop_empty_strides(const int64_t size[4], int64_t stride[4])
{
    for (int a = 0; a < 4 && is_empty(size); a++)
        stride[a] = 0;
}

attend_status attendi_view_check(const char *name, const attend_view *v,
                                 attend_error *err)
{
    const int64_t *const size = v->size, *const stride = v->stride;
    const size_t bytes = attend_dtype_size(v->dtype);
    int64_t reach = 0;

    if (bytes == 0)
        return attendi_fail(err, ATTEND_EINVAL, "%s.dtype (%d) is not a dtype", name,
                            (int)v->dtype);
    for (int a = 0; a < 4; a++)
        if (size[a] < 0 || size[a] > SIZE_LIMIT)
            return attendi_fail(err, ATTEND_EINVAL,
                                "%s.size[%d] (%lld) is outside 0..%lld", name, a,
                                LL(size[a]), LL(SIZE_LIMIT));
    if (is_empty(size))
        return ATTEND_OK;
    if (!v->data)
        return attendi_fail(err, ATTEND_EINVAL, "%s.data is NULL", name);
    if (((uintptr_t)v->data & (bytes - 1)) != 0)
        return attendi_fail(
            err, ATTEND_EINVAL, "%s.data (%p) is not aligned to the %zu bytes of %s",
            name, (void *)(uintptr_t)v->data, bytes, attend_dtype_name(v->dtype));
    for (int a = 0; a < 4; a++) {
        int64_t span;

        if (stride[a] == INT64_MIN ||
            __builtin_mul_overflow(size[a] - 1, stride[a] < 0 ? -stride[a] : stride[a],
                                   &span) ||
            __builtin_add_overflow(reach, span, &reach) ||
            reach >= REACH_LIMIT / (int64_t)bytes)
            return attendi_fail(
                err, ATTEND_EINVAL,
                "%s.stride[%d] (%lld) over size %lld leaves the address space", name, a,
                LL(stride[a]), LL(size[a]));
    }
    return ATTEND_OK;
}

attend_status attendi_size_check(const char *name, const int64_t size[4],
                                 const int64_t want[4], attend_error *err)
{
    for (int a = 0; a < 4; a++)
        if (size[a] != want[a])
            return attendi_fail(err, ATTEND_EINVAL, "%s.size[%d] (%lld) must be %lld",
                                name, a, LL(size[a]), LL(want[a]));
    return ATTEND_OK;
}

attend_status attendi_dtype_check(const char *name, attend_dtype dtype, attend_dtype want,
                                  attend_error *err)
{
    if (want ? dtype == want : dtype == ATTEND_F32 || dtype == ATTEND_F64)
        return ATTEND_OK;
    return attendi_fail(err, ATTEND_EINVAL, "%s.dtype (%s) must be %s", name,
                        attend_dtype_name(dtype),
                        want ? attend_dtype_name(want) : "f32 or f64");
}

static int64_t step_of(const attend_tensor *t, int axis)
{
    return t->stride[axis] < 0 ? -t->stride[axis] : t->stride[axis];
}

/*
 * Whether x elements along axis a and y along axis b lead to one address, within the
 * tensor.
 */
static bool axes_meet(const attend_tensor *t, int a, int b)
{
    const int64_t step_a = step_of(t, a), step_b = step_of(t, b);
    int64_t divisor = step_a, rest = step_b;

    if (step_a * t->size[a] <= step_b || step_b * t->size[b] <= step_a)
        return false;
    while (rest != 0) {
        const int64_t next = divisor % rest;
        divisor = rest;
        rest = next;
    }
    return step_b / divisor < t->size[a] && step_a / divisor < t->size[b];
}

/* Whether it has more elements than addresses between the lowest and the highest. */
static bool is_crowded(const attend_tensor *t)
{
    int64_t count = 1, addresses = 1;

    for (int a = 0; a < 4; a++) {
        if (__builtin_mul_overflow(count, t->size[a], &count))
            return true;
        addresses += (t->size[a] - 1) * step_of(t, a);
    }
    return count > addresses;
}

/* For a tensor that is not empty and has no stride of 0. */
static attend_status check_strides(const char *name, const attend_tensor *t,
                                   attend_error *err)
{
    for (int a = 0; a < 4; a++)
        for (int b = a + 1; b < 4; b++)
            if (t->size[a] > 1 && t->size[b] > 1 && axes_meet(t, a, b))
                return attendi_fail(
                    err, ATTEND_EINVAL,
                    "%s.stride[%d] (%lld) and stride[%d] (%lld) make elements share an "
                    "address",
                    name, a, LL(t->stride[a]), b, LL(t->stride[b]));
    if (is_crowded(t))
        return attendi_fail(err, ATTEND_EINVAL,
                            "%s.stride (%lld, %lld, %lld, %lld) makes elements share an "
                            "address",
                            name, LL(t->stride[0]), LL(t->stride[1]), LL(t->stride[2]),
                            LL(t->stride[3]));
    return ATTEND_OK;
}

attend_status attendi_tensor_check(const char *name, const attend_tensor *t,
                                   const int64_t want[4], attend_error *err)
{
    const attend_view view = attend_view_of(t);
    attend_status status = attendi_view_check(name, &view, err);

    for (int a = 0; a < 4 && status == ATTEND_OK; a++)
        if (t->size[a] != want[a])
            status = attendi_size_check(name, t->size, want, err);
        else if (t->size[a] > 1 && t->stride[a] == 0 && !is_empty(t->size))
            status =
                attendi_fail(err, ATTEND_EINVAL,
                             "%s.stride[%d] (0) makes %lld elements share an address",
                             name, a, LL(t->size[a]));
    return status == ATTEND_OK && !is_empty(t->size) ? check_strides(name, t, err)
                                                     : status;
}

double attendi_load(const void *at, attend_dtype dtype, int64_t offset)
{
    switch (dtype) {
    case ATTEND_F64:
        return ((const double *)at)[offset];
    case ATTEND_F32:
        return (double)((const float *)at)[offset];
    case ATTEND_F16:
        return (double)attendi_f16_to_f32(((const uint16_t *)at)[offset]);
    case ATTEND_BF16:
        return (double)attendi_bf16_to_f32(((const uint16_t *)at)[offset]);
    case ATTEND_BOOL:
        break;
    }
    return ((const unsigned char *)at)[offset] != 0;
}

/*
 * A float that rounds to the same half as `value` does: the last bit is set when
 * anything was cut off ("round to odd"), so that the second rounding sees it.
 */
static float round_to_odd(double value)
{
    const float x = (float)value;
    const uint32_t bits = float_bits(x);

    if ((double)x == value || (bits & 1u) || (bits & 0x7f800000u) == 0x7f800000u)
        return x;
    /* x is even and inexact: its odd neighbour on the side of `value`. */
    const int away = ((double)x < value) == (value > 0.0);
    return bits_float(away ? bits + 1u : bits - 1u);
}

void attendi_store(void *at, attend_dtype dtype, int64_t offset, double value)
{
    switch (dtype) {
    case ATTEND_F64:
        ((double *)at)[offset] = value;
        break;
    case ATTEND_F32:
        ((float *)at)[offset] = (float)value;
        break;
    case ATTEND_F16:
        ((uint16_t *)at)[offset] = attendi_f32_to_f16(round_to_odd(value));
        break;
    case ATTEND_BF16:
        ((uint16_t *)at)[offset] = attendi_f32_to_bf16(round_to_odd(value));
        break;
    case ATTEND_BOOL:
        break;
    }
}

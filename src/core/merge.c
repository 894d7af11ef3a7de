/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdio.h>

#include "base/base.h"
#include "base/error.h"
#include "core/tensor.h"

static attend_status check_part(const attend_part *part, int64_t index,
                                const int64_t out[4], attend_error *err)
{
    const struct {
        const char *name;
        const attend_view *view;
        int64_t last;
    } half[] = {{"out", &part->out, out[3]}, {"lse", &part->lse, 1}};

    for (size_t x = 0; x < ARRAY_LEN(half); x++) {
        const attend_view *v = half[x].view;
        const int64_t want[4] = {out[0], out[1], out[2], half[x].last};
        char name[48];

        snprintf(name, sizeof name, "parts[%lld].%s", LL(index), half[x].name);
        const attend_status status = attendi_view_check(name, v, err);
        if (status != ATTEND_OK)
            return status;
        if (!attendi_is_float(v->dtype) || (x == 1 && attend_dtype_size(v->dtype) < 4))
            return attendi_fail(err, ATTEND_EINVAL, "%s.dtype (%s) must be %s", name,
                                attend_dtype_name(v->dtype),
                                x == 0 ? "floating" : "f32 or f64");
        for (int a = 0; a < 4; a++)
            if (v->size[a] != want[a])
                return attendi_fail(err, ATTEND_EINVAL, "%s.size[%d] (%lld) must be %lld",
                                    name, a, LL(v->size[a]), LL(want[a]));
    }
    return ATTEND_OK;
}

static attend_status check_merge(const attend_part *parts, int64_t count,
                                 const attend_tensor *out, const attend_tensor *lse,
                                 attend_error *err)
{
    if (count < 0 || (count > 0 && !parts))
        return attendi_fail(err, ATTEND_EINVAL,
                            "count (%lld) is negative or parts is NULL", LL(count));
    if (!out)
        return attendi_fail(err, ATTEND_EINVAL, "out is NULL");
    attend_status status = attendi_tensor_check("out", out, out->size, err);
    if (status != ATTEND_OK)
        return status;
    if (!attendi_is_float(out->dtype))
        return attendi_fail(err, ATTEND_EINVAL, "out.dtype (%s) is not a floating dtype",
                            attend_dtype_name(out->dtype));
    if (lse && lse->data) {
        const int64_t want[4] = {out->size[0], out->size[1], out->size[2], 1};

        status = attendi_tensor_check("lse", lse, want, err);
        if (status != ATTEND_OK)
            return status;
        if (lse->dtype != ATTEND_F32 && lse->dtype != ATTEND_F64)
            return attendi_fail(err, ATTEND_EINVAL, "lse.dtype (%s) must be f32 or f64",
                                attend_dtype_name(lse->dtype));
    }
    for (int64_t x = 0; x < count && status == ATTEND_OK; x++)
        status = check_part(&parts[x], x, out->size, err);
    return status;
}

static double part_lse(const attend_part *part, int64_t b, int64_t h, int64_t i)
{
    return attendi_load(attendi_view_row(&part->lse, b, h, i), part->lse.dtype, 0);
}

/*
 * sum_p exp(lse_p - top), top the largest lse.  Kept apart from top: where |top| is
 * huge, as for a row of finfo.min biases, top + ln sum has lost the sum.
 */
struct denominator {
    double top, sum;
};

static struct denominator join(const attend_part *parts, int64_t count, int64_t b,
                               int64_t h, int64_t i)
{
    struct denominator d = {.top = -INFINITY};

    for (int64_t x = 0; x < count; x++) {
        const double lse = part_lse(&parts[x], b, h, i);

        if (!isnan(d.top) && !(lse <= d.top))
            d.top = lse;
    }
    for (int64_t x = 0; x < count && d.top != -INFINITY; x++)
        d.sum += exp(part_lse(&parts[x], b, h, i) - d.top);
    return d;
}

static void merge_row(const attend_part *parts, int64_t count, const attend_tensor *out,
                      const struct denominator *d, int64_t b, int64_t h, int64_t i)
{
    void *const to = attendi_tensor_row(out, b, h, i);
    double sum[64]; /* columns at a time: each weight is computed once for all of them */

    for (int64_t c = 0; c < out->size[3]; c += (int64_t)ARRAY_LEN(sum)) {
        const int64_t n = min_i64((int64_t)ARRAY_LEN(sum), out->size[3] - c);

        for (int64_t x = 0; x < n; x++)
            sum[x] = 0.0;
        for (int64_t p = 0; p < count; p++) {
            const attend_view *from = &parts[p].out;
            const double lse = part_lse(&parts[p], b, h, i);

            if (lse == -INFINITY)
                continue; /* an empty part is skipped, not weighed: its O may be anything
                           */
            const void *row = attendi_view_row(from, b, h, i);
            const double weight = exp(lse - d->top) / d->sum;
            for (int64_t x = 0; x < n; x++)
                sum[x] +=
                    weight * attendi_load(row, from->dtype, (c + x) * from->stride[3]);
        }
        for (int64_t x = 0; x < n; x++)
            attendi_store(to, out->dtype, (c + x) * out->stride[3], sum[x]);
    }
}

attend_status attend_merge(const attend_part *parts, int64_t count,
                           const attend_tensor *out, const attend_tensor *lse,
                           attend_error *err)
{
    const attend_status status = check_merge(parts, count, out, lse, err);

    if (status != ATTEND_OK)
        return status;
    if (out->size[3] == 0 && !(lse && lse->data))
        return ATTEND_OK;
    for (int64_t b = 0; b < out->size[0]; b++)
        for (int64_t h = 0; h < out->size[1]; h++)
            for (int64_t i = 0; i < out->size[2]; i++) {
                const struct denominator d = join(parts, count, b, h, i);

                merge_row(parts, count, out, &d, b, h, i);
                if (lse && lse->data)
                    attendi_store(attendi_tensor_row(lse, b, h, i), lse->dtype, 0,
                                  d.sum == 0.0 ? -INFINITY : d.top + log(d.sum));
            }
    return ATTEND_OK;
}

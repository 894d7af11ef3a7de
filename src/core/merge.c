/* SPDX-License-Identifier: MIT */
#include "core/merge.h"

#include <stdio.h>

#include "base/base.h"
#include "base/error.h"
#include "core/operands.h"
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

/*
 * Outputs overlap neither each other nor a part, except in place: O or LSE may be the
 * tensor of a part.
 */
static attend_status check_memory(const attend_part *parts, int64_t count,
                                  const attend_tensor *out, const attend_tensor *lse,
                                  attend_error *err)
{
    struct operands o, l, both;

    o.count = l.count = both.count = 0;
    attendi_add_output(&o, "out", out);
    attendi_add_output(&both, "out", out);
    if (lse && lse->data) {
        attendi_add_output(&l, "lse", lse);
        attendi_add_output(&both, "lse", lse);
    }
    TRY(attendi_operands_check(&both, err));
    for (int64_t x = 0; x < count; x++) {
        const attend_view *const part_out = &parts[x].out, *const part_lse =
                                                               &parts[x].lse;

        if (!attendi_is_same_tensor(out, part_out))
            TRY(attendi_part_check(&o, x, "out", part_out, err));
        TRY(attendi_part_check(&l, x, "out", part_out, err));
        TRY(attendi_part_check(&o, x, "lse", part_lse, err));
        if (l.count > 0 && !attendi_is_same_tensor(lse, part_lse))
            TRY(attendi_part_check(&l, x, "lse", part_lse, err));
    }
    return ATTEND_OK;
}

static attend_status check_merge(const attend_part *parts, int64_t count,
                                 const attend_tensor *out, const attend_tensor *lse,
                                 attend_error *err)
{
    TRY(attendi_parts_check(parts, count, 0, err));
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
    return status == ATTEND_OK ? check_memory(parts, count, out, lse, err) : status;
}

attend_status attendi_merge_init(struct merge *m, const attend_part *parts, int64_t count,
                                 const attend_tensor *out, const attend_tensor *lse,
                                 attend_error *err)
{
    const attend_status status = check_merge(parts, count, out, lse, err);

    if (status != ATTEND_OK)
        return status;
    *m = (struct merge){.parts = parts, .count = count, .out = *out};
    if (lse && lse->data)
        m->lse = *lse;
    if (out->size[3] == 0 && !m->lse.data)
        return ATTEND_OK;
    if (__builtin_mul_overflow(out->size[0], out->size[1], &m->rows) ||
        __builtin_mul_overflow(m->rows, out->size[2], &m->rows))
        return attendi_fail(err, ATTEND_EINVAL,
                            "out.size (%lld, %lld, %lld) has too many rows",
                            LL(out->size[0]), LL(out->size[1]), LL(out->size[2]));
    return ATTEND_OK;
}

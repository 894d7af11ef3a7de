/* SPDX-License-Identifier: MIT */
#include "core/operands.h"

#include "base/base.h"
#include "base/error.h"
#include "core/tensor.h"

static uintptr_t address_at(const void *data, int64_t elements, int shift)
{
    return (uintptr_t)data + ((uintptr_t)elements << shift);
}

static void add(struct operands *all, const char *name, bool is_output, const void *data,
                attend_dtype dtype, const int64_t size[4], const int64_t stride[4])
{
    const int shift = attendi_dtype_shift(dtype);
    const size_t element = (size_t)1 << shift;
    int64_t low = 0, high = 0;

    if (size[0] == 0 || size[1] == 0 || size[2] == 0 || size[3] == 0)
        return;
    for (int a = 0; a < 4; a++) {
        const int64_t reach = (size[a] - 1) * stride[a];

        low += min_i64(reach, 0);
        high += max_i64(reach, 0);
    }
    all->at[all->count++] =
        (struct operand){.name = name,
                         .is_output = is_output,
                         .data = (uintptr_t)data,
                         .low = address_at(data, low, shift),
                         .high = address_at(data, high, shift) + element - 1,
                         .element = element,
                         .size = size,
                         .stride = stride};
}

void attendi_add_input(struct operands *all, const char *name, const attend_view *view)
{
    if (view->data)
        add(all, name, false, view->data, view->dtype, view->size, view->stride);
}

void attendi_add_output(struct operands *all, const char *name,
                        const attend_tensor *tensor)
{
    if (tensor->data)
        add(all, name, true, tensor->data, tensor->dtype, tensor->size, tensor->stride);
}

static void add_bytes_of(struct operands *all, const char *name, bool is_output,
                         const void *data, int64_t count, size_t element)
{
    const size_t bytes = (size_t)count * element;

    if (data && count > 0)
        all->at[all->count++] = (struct operand){.name = name,
                                                 .is_output = is_output,
                                                 .data = (uintptr_t)data,
                                                 .low = (uintptr_t)data,
                                                 .high = (uintptr_t)data + bytes - 1,
                                                 .element = bytes};
}

void attendi_add_input_array(struct operands *all, const char *name, const void *data,
                             int64_t count, size_t element)
{
    add_bytes_of(all, name, false, data, count, element);
}

void attendi_add_output_array(struct operands *all, const char *name, const void *data,
                              int64_t count, size_t element)
{
    add_bytes_of(all, name, true, data, count, element);
}

/* ---- overlap --------------------------------------------------------------- */

/* The axis with the largest step below `step`, or with the same step after `axis`. */
static int next_axis(const struct operand *o, int64_t step, int axis)
{
    int64_t largest = 0;
    int next = 4;

    for (int a = 0; a < 4; a++) {
        const int64_t own = o->stride[a] < 0 ? -o->stride[a] : o->stride[a];

        if (o->size[a] > 1 && own > largest &&
            (own < step || (own == step && a > axis))) {
            largest = own;
            next = a;
        }
    }
    return next;
}

/*
 * Whether the byte belongs to an element.  Takes the largest possible index of each axis
 * in turn: exact for layouts whose axes nest; in other layouts an element may be missed.
 */
static bool holds(const struct operand *o, uintptr_t address)
{
    if (address < o->low || address > o->high)
        return false;
    if (!o->size)
        return true;
    uint64_t rest = address - o->low;
    for (int a = next_axis(o, INT64_MAX, -1); a < 4;) {
        const int64_t step = o->stride[a] < 0 ? -o->stride[a] : o->stride[a];
        const uint64_t bytes = (uint64_t)step * o->element, index = rest / bytes;

        rest -= bytes * (uint64_t)min_i64((int64_t)index, o->size[a] - 1);
        a = next_axis(o, step, a);
    }
    return rest < o->element;
}

static bool overlap(const struct operand *a, const struct operand *b)
{
    if (a->high < b->low || b->high < a->low)
        return false;
    return holds(a, b->data) || holds(a, b->low) || holds(a, b->high) ||
           holds(b, a->data) || holds(b, a->low) || holds(b, a->high);
}

attend_status attendi_operands_check(const struct operands *all, attend_error *err)
{
    for (int x = 0; x < all->count; x++)
        for (int y = 0; all->at[x].is_output && y < all->count; y++)
            if ((y > x || !all->at[y].is_output) && overlap(&all->at[x], &all->at[y]))
                return attendi_fail(err, ATTEND_EINVAL, "%s (at %p) overlaps %s (at %p)",
                                    all->at[x].name, (void *)all->at[x].data,
                                    all->at[y].name, (void *)all->at[y].data);
    return ATTEND_OK;
}

attend_status attendi_part_check(const struct operands *all, int64_t index,
                                 const char *field, const attend_view *view,
                                 attend_error *err)
{
    struct operands part;

    part.count = 0;
    attendi_add_input(&part, field, view);
    for (int x = 0; part.count > 0 && x < all->count; x++)
        if (all->at[x].is_output && overlap(&all->at[x], &part.at[0]))
            return attendi_fail(err, ATTEND_EINVAL,
                                "%s (at %p) overlaps parts[%lld].%s (at %p)",
                                all->at[x].name, (void *)all->at[x].data, LL(index),
                                field, (void *)part.at[0].data);
    return ATTEND_OK;
}

bool attendi_is_same_tensor(const attend_tensor *tensor, const attend_view *view)
{
    if (tensor->data != view->data || tensor->dtype != view->dtype)
        return false;
    for (int a = 0; a < 4; a++)
        if (tensor->size[a] != view->size[a] ||
            (tensor->size[a] > 1 && tensor->stride[a] != view->stride[a]))
            return false;
    return true;
}

attend_status attendi_parts_check(const void *parts, int64_t count, int64_t least,
                                  attend_error *err)
{
    if (count < least)
        return attendi_fail(err, ATTEND_EINVAL, "count (%lld) is below %lld", LL(count),
                            LL(least));
    if (count > 0 && !parts)
        return attendi_fail(err, ATTEND_EINVAL, "parts is NULL, but count is %lld",
                            LL(count));
    return ATTEND_OK;
}

attend_status attendi_array_check(const char *name, const void *data, size_t alignment,
                                  attend_error *err)
{
    if (((uintptr_t)data & (alignment - 1)) == 0)
        return ATTEND_OK;
    return attendi_fail(err, ATTEND_EINVAL, "%s (%p) is not aligned to %zu bytes", name,
                        (void *)(uintptr_t)data, alignment);
}

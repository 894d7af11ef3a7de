/* SPDX-License-Identifier: MIT */
#include "core/combination.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/base.h"
#include "base/error.h"
#include "core/operands.h"
#include "core/tensor.h"

size_t attendi_record_size(const struct combination *c)
{
    return (size_t)(c->problem.dv + 2) * attend_dtype_size(c->dtype);
}

void attendi_empty_record(const struct combination *c, void *to)
{
    memset(to, 0, attendi_record_size(c));
    attendi_store(to, c->dtype, 0, -INFINITY);
}

void attendi_copy_records(const struct combination *c, int64_t b, int64_t h, int64_t i,
                          void *copies, size_t step)
{
    const size_t size = attendi_record_size(c);
    const char *row = NULL;
    char *to = copies;

    for (int64_t x = 0; x < c->records; x++, to += step) {
        const struct record_place *place = &c->place[x];

        if (place->part < 0) {
            attendi_empty_record(c, to);
            continue;
        }
        if (x == 0 || place->part != place[-1].part)
            row = attendi_tensor_row(&c->parts[place->part].data, b, h, i);
        memcpy(to, row + (size_t)place->record * size, size);
    }
}

int64_t attendi_records_before(const struct combination *c, int64_t first, int64_t end)
{
    int64_t x = first;

    while (x < c->records && c->start[x] < end)
        x++;
    return x - first;
}

/* ---- arguments ------------------------------------------------------------- */

static void part_name(char name[static 32], int64_t part)
{
    snprintf(name, 32, "parts[%lld]", LL(part));
}

/*
 * Validates each shard, and that all belong to one sequence; *dtype: that of the records.
 */
static attend_status check_shards(struct combination *c, int64_t *all_keys,
                                  attend_dtype *dtype, attend_error *err)
{
    *all_keys = 0;
    for (int64_t x = 0; x < c->part_count; x++) {
        const attend_partials *part = &c->parts[x];
        struct shard shard;
        char name[32];

        part_name(name, x);
        TRY(attendi_shard_init(&shard, name, part, err));
        if (x == 0)
            *all_keys = shard.all_keys;
        if (c->records == 0 && shard.records > 0)
            *dtype = part->data.dtype == ATTEND_F64 ? ATTEND_F64 : ATTEND_F32;
        if (shard.all_keys != *all_keys)
            return attendi_fail(err, ATTEND_EINVAL,
                                "%s.all_keys (%lld) differs from parts[0]'s (%lld)", name,
                                LL(shard.all_keys), LL(*all_keys));
        if (__builtin_add_overflow(c->records, shard.records, &c->records))
            return attendi_fail(err, ATTEND_EINVAL, "parts have too many records");
    }
    return ATTEND_OK;
}

/* No output overlaps a part, except records that are reduced in place. */
static attend_status check_memory(const struct combination *c, int64_t part,
                                  attend_error *err)
{
    const struct problem *const p = &c->problem;
    const attend_view data = attend_view_of(&c->parts[part].data);
    struct operands all;

    all.count = 0;
    if (c->parts[part].keys == 0 ||
        (p->shard && attendi_is_same_tensor(&p->records, &data)))
        return ATTEND_OK;
    attendi_add_output(&all, "out", &p->out);
    attendi_add_output(&all, "lse", &p->lse);
    attendi_add_output(&all, "to.data", &p->records);
    return attendi_part_check(&all, part, "data", &data, err);
}

static attend_status check_data(const struct combination *c, attend_error *err)
{
    attend_status status = ATTEND_OK;

    for (int64_t x = 0; x < c->part_count && status == ATTEND_OK; x++) {
        struct shard shard;
        char name[32];

        part_name(name, x);
        attendi_shard_init(&shard, name, &c->parts[x], NULL);
        status = attendi_records_check(&shard, name, &c->parts[x].data,
                                       c->problem.out.size, c->dtype, err);
        if (status == ATTEND_OK)
            status = check_memory(c, x, err);
    }
    return status;
}

static attend_status check_target(struct combination *c, const attend_partials *to,
                                  attend_error *err)
{
    const int64_t *const size = to->data.size;

    TRY(attendi_shard_init(&c->to, "to", to, err));
    if (!c->to.reduce)
        return attendi_fail(err, ATTEND_EINVAL, "to.reduce is 0");
    if (c->to.records == 0)
        return ATTEND_OK;
    if (size[3] < 2 * c->to.records || size[3] % c->to.records != 0)
        return attendi_fail(err, ATTEND_EINVAL,
                            "to.data.size[3] (%lld) is not that of %lld records",
                            LL(size[3]), LL(c->to.records));
    const int64_t out[4] = {size[0], size[1], size[2], size[3] / c->to.records - 2};
    c->dtype = to->data.dtype == ATTEND_F64 ? ATTEND_F64 : ATTEND_F32;
    TRY(attendi_records_check(&c->to, "to", &to->data, out, c->dtype, err));
    attendi_problem_init_records(&c->problem, &c->to, &to->data, c->dtype);
    return ATTEND_OK;
}

static attend_status check_inside(const struct combination *c, attend_error *err)
{
    const struct shard *const to = &c->to;

    for (int64_t x = 0; x < c->part_count; x++) {
        const attend_partials *const part = &c->parts[x];

        if (part->keys > 0 && (part->first_key < to->first_key ||
                               part->first_key + part->keys > to->first_key + to->keys))
            return attendi_fail(
                err, ATTEND_EINVAL, "parts[%lld] (keys %lld to %lld) is not inside `to`",
                LL(x), LL(part->first_key), LL(part->first_key + part->keys - 1));
    }
    return ATTEND_OK;
}

attend_status attendi_combine_init(struct combination *c, const attend_rule *rule,
                                   const attend_partials *parts, int64_t count,
                                   const attend_tensor *out, const attend_tensor *lse,
                                   attend_error *err)
{
    struct problem *const p = &c->problem;
    int64_t all_keys;

    *c = (struct combination){.parts = parts, .part_count = count};
    /* Without records, shapes are those of the outputs. */
    c->dtype = (out && out->dtype == ATTEND_F64) ||
                       (lse && lse->data && lse->dtype == ATTEND_F64)
                   ? ATTEND_F64
                   : ATTEND_F32;
    TRY(attendi_parts_check(parts, count, 0, err));
    TRY(check_shards(c, &all_keys, &c->dtype, err));
    TRY(attendi_problem_init_rows(p, rule, c->dtype, all_keys, out, lse, err));
    TRY(check_data(c, err));
    c->records = max_i64(c->records, 1);
    if (p->dv == 0 && !p->lse.data)
        p->nq = 0;
    return ATTEND_OK;
}

attend_status attendi_reduce_init(struct combination *c, const attend_partials *parts,
                                  int64_t count, const attend_partials *to,
                                  attend_error *err)
{
    attend_dtype dtype;
    int64_t all_keys;

    *c = (struct combination){.parts = parts, .part_count = count};
    if (!to)
        return attendi_fail(err, ATTEND_EINVAL, "to is NULL");
    TRY(attendi_parts_check(parts, count, 1, err));
    TRY(check_target(c, to, err));
    TRY(check_shards(c, &all_keys, &dtype, err));
    if (all_keys != c->to.all_keys)
        return attendi_fail(err, ATTEND_EINVAL,
                            "to.all_keys (%lld) differs from parts[0]'s (%lld)",
                            LL(c->to.all_keys), LL(all_keys));
    TRY(check_inside(c, err));
    if (c->to.records == 0 || c->problem.nb * c->problem.hq * c->problem.nq == 0) {
        c->problem.nq = 0;
        return ATTEND_OK;
    }
    TRY(check_data(c, err));
    if (c->records == 0)
        return attendi_fail(err, ATTEND_EINVAL, "parts have no records");
    return ATTEND_OK;
}

/* ---- order -------------------------------------------------------------------- */

/* Lists the shards that have keys; returns their number. */
static int64_t list_parts(const struct combination *c, struct record_place *order)
{
    int64_t n = 0;

    for (int64_t x = 0; x < c->part_count; x++)
        if (c->parts[x].keys > 0)
            order[n++] = (struct record_place){.part = x};
    return n;
}

/* Shell sort: in place, and fast on nearly sorted lists. */
static void sort_parts(const struct combination *c, struct record_place *order, int64_t n)
{
    for (int64_t gap = n / 2; gap > 0; gap /= 2)
        for (int64_t x = gap; x < n; x++) {
            const struct record_place place = order[x];
            const int64_t key = c->parts[place.part].first_key;
            int64_t y = x;

            for (; y >= gap && c->parts[order[y - gap].part].first_key > key; y -= gap)
                order[y] = order[y - gap];
            order[y] = place;
        }
}

/*
 * Fills place and start from the sorted shards at the beginning of `place`, from the last
 * backwards, so that no shard is overwritten before it is read.
 */
static attend_status order_records(struct combination *c, attend_error *err)
{
    const int64_t parts = list_parts(c, c->place);
    int64_t at = c->records, next = INT64_MAX, after = -1;

    sort_parts(c, c->place, parts);
    for (int64_t x = parts - 1; x >= 0; x--) {
        const int64_t part = c->place[x].part;
        const attend_partials *from = &c->parts[part];
        struct shard shard;

        attendi_shard_init(&shard, "", from, NULL);
        if (from->first_key + from->keys > next)
            return attendi_fail(err, ATTEND_EINVAL,
                                "parts[%lld] (keys from %lld) and parts[%lld] (keys from "
                                "%lld) overlap",
                                LL(part), LL(from->first_key), LL(after), LL(next));
        for (int64_t y = shard.records - 1; y >= 0; y--) {
            c->place[--at] = (struct record_place){.part = part, .record = y};
            c->start[at] = attendi_record_start(&shard, y);
        }
        next = from->first_key;
        after = part;
    }
    if (parts == 0) {
        c->place[0] = (struct record_place){.part = -1};
        c->start[0] = 0;
    }
    return ATTEND_OK;
}

attend_status attendi_order_records(struct combination *c, attend_context *ctx,
                                    size_t size, void **memory, attend_error *err)
{
    size_t total = 0;
    void *base;

    attendi_reserve(&total, 1, size);
    const size_t start_at = attendi_reserve(&total, c->records, sizeof *c->start);
    const size_t place_at = attendi_reserve(&total, c->records, sizeof *c->place);
    TRY(attendi_scratch(ctx, total, &base, err));
    *memory = base;
    c->start = (int64_t *)(void *)((char *)base + start_at);
    c->place = (struct record_place *)(void *)((char *)base + place_at);
    return order_records(c, err);
}

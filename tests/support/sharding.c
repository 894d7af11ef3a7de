/* SPDX-License-Identifier: MIT */
#include "sharding.h"

int64_t random_below(uint64_t *state, int64_t n)
{
    return (int64_t)(random_bits(state) % (uint64_t)n);
}

void sharding_free(sharding *s)
{
    for (int64_t x = 0; x < s->count; x++)
        free(s->parts[x].data.data);
    s->count = 0;
}

attend_partials shard_make(const problem *p, int64_t first, int64_t keys, int reduce)
{
    attend_partials part = attend_partials_default();
    const int64_t records = attend_partials_records(first, keys, reduce);

    part.first_key = first;
    part.keys = keys;
    part.all_keys = p->n.nk;
    part.reduce = reduce;
    part.data = attend_tensor_dense(NULL, dtype_of_lse(p->dtype), p->n.nb, p->n.hq,
                                    p->n.nq, records * (p->n.dv + 2));
    part.data.data = test_memory(bytes_of(part.data.size, part.data.dtype));
    poison(&part.data);
    return part;
}

sharding sharding_make(const problem *p, uint64_t *state)
{
    const int64_t splits = (p->n.nk + ATTEND_SPLIT_KEYS - 1) / ATTEND_SPLIT_KEYS;
    sharding s = {.count = 1 + random_below(state, SHARDS_MAX)};
    int64_t cut[SHARDS_MAX + 1] = {0};

    for (int64_t x = 1; x < s.count; x++) {
        int64_t at = x;
        const int64_t split = random_below(state, splits + 1);
        for (; at > 1 && cut[at - 1] > split; at--)
            cut[at] = cut[at - 1];
        cut[at] = split;
    }
    cut[s.count] = splits;
    for (int64_t x = 0; x < s.count; x++) {
        const int64_t first = cut[x] * ATTEND_SPLIT_KEYS;
        const int64_t end = cut[x + 1] * ATTEND_SPLIT_KEYS;
        const int64_t keys = (end < p->n.nk ? end : p->n.nk) - first;
        const int64_t place = random_below(state, x + 1);
        s.parts[x] = s.parts[place];
        s.parts[place] =
            shard_make(p, first, keys < 0 ? 0 : keys, (int)random_below(state, 2));
    }
    return s;
}

/* Columns first .. first + n - 1 of the last axis but `axis`, which may be broadcast. */
static attend_view view_slice(attend_view view, int axis, int64_t first, int64_t n)
{
    if (view.data == NULL || (view.size[axis] == 1 && axis == 3))
        return view;
    view.data = (const char *)view.data +
                first * view.stride[axis] * (int64_t)attend_dtype_size(view.dtype);
    view.size[axis] = n;
    return view;
}

attend_rule shard_rule(const problem *p, const attend_partials *part)
{
    attend_rule rule = p->rule;

    rule.mask = view_slice(rule.mask, 3, part->first_key, part->keys);
    rule.bias = view_slice(rule.bias, 3, part->first_key, part->keys);
    return rule;
}

attend_io shard_io(const problem *p, const attend_partials *part)
{
    attend_io io = attend_io_default();

    io.q = p->io.q;
    io.k = view_slice(p->io.k, 2, part->first_key, part->keys);
    io.v = view_slice(p->io.v, 2, part->first_key, part->keys);
    return io;
}

int shard_run(const problem *p, attend_context *ctx, const attend_partials *part)
{
    const attend_rule rule = shard_rule(p, part);
    const attend_io io = shard_io(p, part);

    return IS_OK(attend_forward_partials, ctx, &rule, &io, part);
}

int sharding_combine(const problem *p, attend_context *ctx, const sharding *s)
{
    poison(&p->io.out);
    poison(&p->io.lse);
    return IS_OK(attend_combine, ctx, &p->rule, s->parts, s->count, &p->io.out,
                 &p->io.lse);
}

int sharding_run(const problem *p, attend_context *ctx, const sharding *s)
{
    for (int64_t x = 0; x < s->count; x++)
        if (!shard_run(p, ctx, &s->parts[x]))
            return 0;
    return sharding_combine(p, ctx, s);
}

int same_or_near(const attend_tensor *got, const void *want, double within)
{
    for (int64_t at = 0; got->data != NULL && at < count_of(got->size); at++) {
        const double x = check_load(got->data, got->dtype, at);
        const double y = check_load(want, got->dtype, at);
        if ((isnan(x) && isnan(y)) || memcmp(&x, &y, sizeof x) == 0 ||
            fabs(x - y) <= within * (1.0 + fabs(y)))
            continue;
        test_fail(__FILE__, __LINE__, "as over all keys", "at %lld: %.17g and %.17g",
                  (long long)at, x, y);
        return 0;
    }
    return 1;
}

double nearness(const problem *p, const attend_context *ctx)
{
    if (strcmp(attend_context_isa(ctx), "ref") != 0)
        return 0.0;
    return p->dtype == ATTEND_F64   ? 1e-13
           : p->dtype == ATTEND_F32 ? 1e-5
           : p->dtype == ATTEND_F16 ? 0x1p-9
                                    : 0x1p-6;
}

int sharding_is_whole(const problem *p, attend_context *ctx, const sharding *s,
                      const result *whole)
{
    const double within = nearness(p, ctx);

    return sharding_run(p, ctx, s) && same_or_near(&p->io.out, whole->out, within) &&
           same_or_near(&p->io.lse, whole->lse, within);
}

/* SPDX-License-Identifier: MIT */
#include "cuda/host/staging.h"

#include "base/error.h"
#include "core/tensor.h"

/* A pointer of the problem to redirect to the copy of its span on the device. */
struct fixup {
    const void **pointer;
    int span;
    int64_t offset; /* bytes from the start of the span to the target of the pointer */
};

struct fixups {
    struct fixup fixup[STAGED_MOST];
    int count;
};

static void add_span(struct staging *s, struct fixups *fixups, const void **pointer,
                     const char *start, size_t size, int64_t offset, bool is_output,
                     bool copy_in)
{
    const int x = s->count++;

    s->span[x] = (struct staged_span){.host = (void *)(uintptr_t)start,
                                      .size = size,
                                      .at = s->total,
                                      .is_output = is_output,
                                      .copy_in = copy_in};
    s->total += (size + 255) / 256 * 256;
    fixups->fixup[fixups->count++] =
        (struct fixup){.pointer = pointer, .span = x, .offset = offset};
}

/* Adds the span from the lowest to the highest element of a view. */
static void add_view(struct staging *s, struct fixups *fixups, const void **pointer,
                     attend_dtype dtype, const int64_t size[4], const int64_t stride[4],
                     bool is_output)
{
    const int64_t bytes = (int64_t)attend_dtype_size(dtype);
    int64_t low = 0, high = 0, count = 1;

    if (!*pointer)
        return;
    for (int a = 0; a < 4; a++) {
        if (size[a] == 0)
            return;
        count *= size[a];
        low += min_i64(0, (size[a] - 1) * stride[a]);
        high += max_i64(0, (size[a] - 1) * stride[a]);
    }
    add_span(s, fixups, pointer, (const char *)*pointer + low * bytes,
             (size_t)((high - low + 1) * bytes), -low * bytes, is_output,
             !is_output || count != high - low + 1);
}

static void add_input(struct staging *s, struct fixups *fixups, attend_view *view)
{
    add_view(s, fixups, &view->data, view->dtype, view->size, view->stride, false);
}

static void add_output(struct staging *s, struct fixups *fixups, attend_tensor *tensor)
{
    add_view(s, fixups, (const void **)&tensor->data, tensor->dtype, tensor->size,
             tensor->stride, true);
}

static void add_array(struct staging *s, struct fixups *fixups, const void **pointer,
                      int64_t count, size_t size, bool is_output)
{
    if (*pointer && count > 0)
        add_span(s, fixups, pointer, *pointer, (size_t)count * size, 0, is_output,
                 !is_output);
}

static void add_rule(struct staging *s, struct fixups *fixups, struct problem *p)
{
    add_array(s, fixups, (const void **)&p->causal_offset, p->nb, sizeof(int64_t), false);
    add_array(s, fixups, (const void **)&p->key_lengths, p->nb, sizeof(int64_t), false);
    add_array(s, fixups, (const void **)&p->alibi, p->hq, sizeof(double), false);
    add_array(s, fixups, (const void **)&p->sinks, p->hq, sizeof(double), false);
    add_input(s, fixups, &p->mask);
    add_input(s, fixups, &p->bias);
}

static void add_stats(struct staging *s, struct fixups *fixups, struct problem *p)
{
    struct stats *const stats = &p->stats;
    const int64_t heads = p->nb * p->hq;

    add_output(s, fixups, &stats->rows);
    add_output(s, fixups, &stats->top_weights);
    add_output(s, fixups, &stats->distances);
    add_output(s, fixups, &stats->class_mass);
    add_output(s, fixups, &stats->raw);
    add_array(s, fixups, (const void **)&stats->top_keys, heads * p->nq * stats->named,
              sizeof(int64_t), true);
    add_array(s, fixups, (const void **)&stats->classes, p->nb * p->nk, sizeof(int32_t),
              false);
    add_array(s, fixups, (const void **)&stats->summaries,
              heads * stats->summary_kinds * ATTEND_SUMMARY_GROUPS,
              (size_t)stats->summary_stride, true);
}

static void add_inspection(struct staging *s, struct fixups *fixups, struct inspection *i)
{
    add_input(s, fixups, &i->lse);
    add_output(s, fixups, &i->column_mass);
    add_output(s, fixups, &i->column_max);
    add_output(s, fixups, &i->column_last);
    add_output(s, fixups, &i->pooled);
    add_output(s, fixups, &i->zoom);
    add_array(s, fixups, (const void **)&i->probes, i->probe_count, sizeof(attend_probe),
              false);
    add_array(s, fixups, (const void **)&i->probe_weights, i->probe_count, sizeof(double),
              true);
}

attend_status attendi_stage_in(struct staging *s, struct cuda_device *d,
                               struct problem *p, struct record_list *records,
                               attend_error *err)
{
    struct fixups fixups = {.count = 0};

    *s = (struct staging){.count = 0};
    add_input(s, &fixups, &p->q);
    add_input(s, &fixups, &p->k);
    if (!p->inspection)
        add_input(s, &fixups, &p->v);
    add_output(s, &fixups, &p->out);
    add_output(s, &fixups, &p->lse);
    add_output(s, &fixups, &p->weights);
    if (p->shard)
        add_output(s, &fixups, &p->records);
    add_rule(s, &fixups, p);
    add_stats(s, &fixups, p);
    if (p->inspection)
        add_inspection(s, &fixups, p->inspection);
    if (records) {
        attend_tensor *const data = &records->data;
        add_view(s, &fixups, (const void **)&data->data, data->dtype, data->size,
                 data->stride, false);
        add_array(s, &fixups, (const void **)&records->start, records->count,
                  sizeof *records->start, false);
    }
    TRY(attendi_cuda_reserve(d, &d->staging, s->total, err));
    for (int x = 0; x < s->count; x++)
        if (s->span[x].copy_in)
            TRY(attendi_driver_check(&d->driver,
                                     d->driver.copy_in(d->staging.at + s->span[x].at,
                                                       s->span[x].host, s->span[x].size,
                                                       d->stream),
                                     "copying to the device", err));
    for (int x = 0; x < fixups.count; x++) {
        const struct fixup *const fixup = &fixups.fixup[x];
        *fixup->pointer = (const void *)(d->staging.at + s->span[fixup->span].at +
                                         (size_t)fixup->offset);
    }
    return ATTEND_OK;
}

attend_status attendi_stage_out(const struct staging *s, struct cuda_device *d,
                                attend_error *err)
{
    for (int x = 0; x < s->count; x++)
        if (s->span[x].is_output)
            TRY(attendi_driver_check(&d->driver,
                                     d->driver.copy_out(s->span[x].host,
                                                        d->staging.at + s->span[x].at,
                                                        s->span[x].size, d->stream),
                                     "copying from the device", err));
    return attendi_driver_check(&d->driver, d->driver.synchronize(d->stream),
                                "waiting for the device", err);
}

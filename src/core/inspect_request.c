/* SPDX-License-Identifier: MIT */
#include "core/inspect_request.h"

#include "base/base.h"
#include "base/error.h"
#include "core/operands.h"
#include "base/published.h"
#include "core/tensor.h"

/* Minimum number of items of a problem; step and maximum of the keys of an item. */
enum { ITEMS_WANTED = 32, KEYS_STEP = 128, KEYS_MOST = 512 };

static attend_status check_lse(const struct problem *p, const attend_view *lse,
                               attend_error *err)
{
    const int64_t want[4] = {p->nb, p->hq, p->nq, 1};

    TRY(attendi_view_check("lse", lse, err));
    TRY(attendi_size_check("lse", lse->size, want, err));
    return attendi_dtype_check("lse", lse->dtype, 0, err);
}

/* Validates an optional output of `rows` by `columns` per head. */
static attend_status read_output(const struct problem *p, const char *name,
                                 const attend_tensor *from, int64_t rows, int64_t columns,
                                 attend_tensor *to, attend_error *err)
{
    const int64_t want[4] = {p->nb, p->hq, rows, columns};

    if (!from->data)
        return ATTEND_OK;
    *to = *from;
    attendi_drop_empty_strides(to->size, to->stride);
    TRY(attendi_tensor_check(name, from, want, err));
    return attendi_dtype_check(name, from->dtype, attendi_wide_dtype(p->dtype), err);
}

static attend_status read_columns(const struct problem *p, struct inspection *s,
                                  const attend_inspection *request, attend_error *err)
{
    TRY(read_output(p, "column_mass", &request->column_mass, 1, p->nk, &s->column_mass,
                    err));
    TRY(read_output(p, "column_max", &request->column_max, 1, p->nk, &s->column_max,
                    err));
    TRY(read_output(p, "column_last", &request->column_last, 1, p->nk, &s->column_last,
                    err));
    s->last_query = p->nq;
    if (!s->column_last.data)
        return ATTEND_OK;
    if (request->last_queries < 1 || request->last_queries > p->nq)
        return attendi_fail(err, ATTEND_EINVAL,
                            "last_queries (%lld) is outside 1..%lld (nq)",
                            LL(request->last_queries), LL(p->nq));
    s->last_query -= request->last_queries;
    return ATTEND_OK;
}

static attend_status read_pooled(const struct problem *p, struct inspection *s,
                                 const attend_inspection *request, attend_error *err)
{
    if (!request->pooled.data)
        return ATTEND_OK;
    if (request->pooled_block < 1)
        return attendi_fail(err, ATTEND_EINVAL, "pooled_block (%lld) is below 1",
                            LL(request->pooled_block));
    s->block = min_i64(request->pooled_block, max_i64(1, max_i64(p->nq, p->nk)));
    return read_output(p, "pooled", &request->pooled, ceil_div_i64(p->nq, s->block),
                       ceil_div_i64(p->nk, s->block), &s->pooled, err);
}

static attend_status check_zoom_axis(const char *name, int64_t first, int64_t count,
                                     int axis, int64_t n, attend_error *err)
{
    if (first < 0 || first > n || count > n - first)
        return attendi_fail(err, ATTEND_EINVAL,
                            "%s (%lld) and zoom.size[%d] (%lld) leave 0..%lld", name,
                            LL(first), axis, LL(count), LL(n));
    return ATTEND_OK;
}

static attend_status read_zoom(const struct problem *p, struct inspection *s,
                               const attend_inspection *request, attend_error *err)
{
    const attend_tensor *zoom = &request->zoom;

    if (!zoom->data)
        return ATTEND_OK;
    TRY(read_output(p, "zoom", zoom, zoom->size[2], zoom->size[3], &s->zoom, err));
    TRY(check_zoom_axis("zoom_query", request->zoom_query, zoom->size[2], 2, p->nq, err));
    TRY(check_zoom_axis("zoom_key", request->zoom_key, zoom->size[3], 3, p->nk, err));
    s->zoom_query = request->zoom_query;
    s->zoom_key = request->zoom_key;
    return ATTEND_OK;
}

static attend_status check_probe(const struct problem *p, int64_t x,
                                 const attend_probe *probe, attend_error *err)
{
    const struct {
        const char *name;
        int64_t at, n;
    } axis[] = {{"b", probe->b, p->nb},
                {"h", probe->h, p->hq},
                {"i", probe->i, p->nq},
                {"j", probe->j, p->nk}};

    for (size_t a = 0; a < ARRAY_LEN(axis); a++)
        if (axis[a].at < 0 || axis[a].at >= axis[a].n)
            return attendi_fail(err, ATTEND_EINVAL,
                                "probes[%lld].%s (%lld) is outside 0..%lld", LL(x),
                                axis[a].name, LL(axis[a].at), LL(axis[a].n - 1));
    return ATTEND_OK;
}

static attend_status read_probes(struct inspection *s, const attend_inspection *request,
                                 attend_error *err)
{
    if (request->probe_count < 0)
        return attendi_fail(err, ATTEND_EINVAL, "probe_count (%lld) is negative",
                            LL(request->probe_count));
    if (request->probe_count > 0 && (!request->probes || !request->probe_weights))
        return attendi_fail(err, ATTEND_EINVAL, "%s is NULL, but probe_count is %lld",
                            request->probes ? "probe_weights" : "probes",
                            LL(request->probe_count));
    TRY(attendi_array_check("probes", request->probes, sizeof(int64_t), err));
    TRY(attendi_array_check("probe_weights", request->probe_weights, sizeof(double),
                            err));
    s->probes = request->probes;
    s->probe_count = request->probe_count;
    s->probe_weights = request->probe_weights;
    return ATTEND_OK;
}

attend_status attendi_inspect_check_host(const struct problem *p, attend_error *err)
{
    const struct inspection *const s = p->inspection;

    for (int64_t x = 0; x < s->probe_count; x++) {
        TRY(check_probe(p, x, &s->probes[x], err));
    }
    return ATTEND_OK;
}

/* The rectangle of P that the outputs other than probes cover. */
static void find_extent(const struct problem *p, struct inspection *s)
{
    const bool whole = s->column_mass.data || s->column_max.data || s->pooled.data;
    const bool columns = whole || s->column_last.data, zoom = s->zoom.data;
    const int64_t zoom_end = s->zoom_query + s->zoom.size[2];

    s->queries = whole ? 0 : s->column_last.data ? s->last_query : s->zoom_query;
    if (zoom)
        s->queries = min_i64(s->queries, s->zoom_query);
    s->queries_end = columns ? p->nq : zoom_end;
    if (columns)
        s->keys = (struct key_range){0, p->nk};
    else if (zoom)
        s->keys = (struct key_range){s->zoom_key, s->zoom_key + s->zoom.size[3]};
}

static attend_status cut(const struct problem *p, struct inspection *s, attend_error *err)
{
    const int64_t heads = p->nb * p->hq, keys = s->keys.hi - s->keys.lo;
    /* Keys of an item: fewer if the problem is small; a function of the shape. */
    const int64_t share = min_i64(heads, ITEMS_WANTED) *
                          min_i64(keys, ITEMS_WANTED * KEYS_MOST) / ITEMS_WANTED;
    const int64_t wanted = max_i64(
        KEYS_STEP, min_i64(KEYS_MOST, ceil_div_i64(share, KEYS_STEP) * KEYS_STEP));

    s->span = !s->block            ? wanted
              : s->block <= wanted ? wanted / s->block * s->block
                                   : s->block;
    s->pieces = ceil_div_i64(s->span, wanted);
    s->item_keys = ceil_div_i64(s->span, s->pieces);
    s->first_span = s->keys.lo / s->span;
    s->items_per_head =
        keys > 0 ? (ceil_div_i64(s->keys.hi, s->span) - s->first_span) * s->pieces : 0;
    if (__builtin_mul_overflow(heads, s->items_per_head, &s->count))
        return attendi_fail(err, ATTEND_EINVAL,
                            "k.size[2] (nk, %lld) of %lld heads is too much", LL(p->nk),
                            LL(heads));
    return ATTEND_OK;
}

static attend_status check_memory(const struct problem *p, attend_error *err)
{
    const struct inspection *const s = p->inspection;
    struct operands all;

    all.count = 0;
    attendi_problem_add_inputs(p, &all);
    attendi_add_input(&all, "lse", &s->lse);
    attendi_add_input_array(&all, "probes", s->probes, s->probe_count, sizeof *s->probes);
    attendi_add_output_array(&all, "probe_weights", s->probe_weights, s->probe_count,
                             sizeof *s->probe_weights);
    attendi_add_output(&all, "column_mass", &s->column_mass);
    attendi_add_output(&all, "column_max", &s->column_max);
    attendi_add_output(&all, "column_last", &s->column_last);
    attendi_add_output(&all, "pooled", &s->pooled);
    attendi_add_output(&all, "zoom", &s->zoom);
    return attendi_operands_check(&all, err);
}

attend_status attendi_inspect_init(struct problem *p, struct inspection *s,
                                   const attend_rule *rule,
                                   const attend_inspection *given, attend_error *err)
{
    attend_inspection own;
    const attend_inspection *const request = &own;

    if (!given)
        return attendi_fail(err, ATTEND_EINVAL, "inspection is NULL");
    TRY(attendi_inspection_read(given, &own, err));
    *s = (struct inspection){.lse = request->lse};
    TRY(attendi_problem_init_keys(p, rule, &request->q, &request->k, err));
    TRY(check_lse(p, &request->lse, err));
    TRY(read_columns(p, s, request, err));
    TRY(read_pooled(p, s, request, err));
    TRY(read_zoom(p, s, request, err));
    TRY(read_probes(s, request, err));
    p->inspection = s;
    find_extent(p, s);
    TRY(cut(p, s, err));
    return check_memory(p, err);
}

struct inspect_item attendi_inspect_item(const struct problem *p, int64_t index)
{
    const struct inspection *s = p->inspection;
    const int64_t head = index / s->items_per_head, x = index % s->items_per_head;
    const int64_t start = (s->first_span + x / s->pieces) * s->span;
    const int64_t from = x % s->pieces * s->item_keys;
    const int64_t lo = max_i64(s->keys.lo, start + from);
    const int64_t hi = min_i64(s->keys.hi, start + min_i64(from + s->item_keys, s->span));

    return (struct inspect_item){.index = index,
                                 .b = head / p->hq,
                                 .h = head % p->hq,
                                 .keys = {lo, max_i64(lo, hi)}};
}

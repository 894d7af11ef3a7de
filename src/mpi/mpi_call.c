/* SPDX-License-Identifier: MIT */
#include "mpi/mpi_call.h"

#include <math.h>
#include <string.h>

#include "base/key_range.h"
#include "base/published.h"
#include "mpi/comm/compare_arguments.h"
#include "mpi/comm/views.h"
#include "mpi/mpi_stats.h"

/* ---- arguments of this rank -------------------------------------------------- */

static attend_status read_rule(struct mpi_call *call, const attend_rule *given,
                               attend_error *err)
{
    TRY(attendi_rule_read(given, &call->rule, err));
    if (call->rule.first_query != 0)
        return attendi_fail(err, ATTEND_EINVAL,
                            "first_query (%lld) must be 0: ranges say which "
                            "queries these are",
                            LL(call->rule.first_query));
    return ATTEND_OK;
}

static attend_status check_ranges(const char *name, const attend_mpi_range *range,
                                  int64_t count, int64_t rows, attend_error *err)
{
    int64_t sum = 0;

    if (!range && count == 0)
        return ATTEND_OK;
    if (count < 0 || count > INT16_MAX || !range)
        return attendi_fail(err, ATTEND_EINVAL,
                            "dist.%s: %lld ranges, or no pointer to them", name,
                            LL(count));
    for (int64_t x = 0; x < count; x++) {
        if (range[x].first < 0 || range[x].count < 0 || range[x].first > INT64_MAX / 4 ||
            range[x].count > INT64_MAX / 4)
            return attendi_fail(err, ATTEND_EINVAL,
                                "dist.%s[%lld] (from %lld, %lld rows) is out of range",
                                name, LL(x), LL(range[x].first), LL(range[x].count));
        sum += range[x].count;
    }
    if (sum != rows)
        return attendi_fail(err, ATTEND_EINVAL,
                            "dist.%s has %lld rows, but the tensor %lld", name, LL(sum),
                            LL(rows));
    return ATTEND_OK;
}

static attend_status check_dist(struct mpi_call *call, const attend_mpi_dist *given,
                                attend_error *err)
{
    const attend_mpi_dist *const dist = &call->comm.dist;
    attend_mpi_dist read;

    /*
     * The communicator has read it already; an error is reported with those of the other
     * arguments.
     */
    TRY(attendi_dist_read(given, &read, err));
    if (dist->strategy < ATTEND_MPI_AUTO || dist->strategy > ATTEND_MPI_SHARED)
        return attendi_fail(err, ATTEND_EINVAL, "dist.strategy (%lld) is not a strategy",
                            LL(dist->strategy));
    if (dist->chunk_keys < 0)
        return attendi_fail(err, ATTEND_EINVAL, "dist.chunk_keys (%lld) is negative",
                            LL(dist->chunk_keys));
    TRY(check_ranges("queries", dist->queries, dist->query_ranges, call->nq, err));
    return check_ranges("keys", dist->keys, dist->key_ranges, call->nk, err);
}

/*
 * Sizes and strides of an output of this rank.  The engine's validation, below, sees no
 * rows.
 */
static attend_status check_output(const char *name, const attend_tensor *t,
                                  const int64_t want[4], attend_error *err)
{
    const bool is_empty = want[0] == 0 || want[1] == 0 || want[2] == 0 || want[3] == 0;

    for (int a = 0; t->data && a < 4; a++) {
        if (t->size[a] != want[a])
            return attendi_fail(err, ATTEND_EINVAL, "%s.size[%d] (%lld) must be %lld",
                                name, a, LL(t->size[a]), LL(want[a]));
        if (t->stride[a] == 0 && t->size[a] > 1 && !is_empty)
            return attendi_fail(err, ATTEND_EINVAL,
                                "%s.stride[%d] is 0, but its size is %lld", name, a,
                                LL(t->size[a]));
    }
    return ATTEND_OK;
}

static attend_status check_stats(const struct mpi_call *call, attend_error *err)
{
    const attend_stats *const s = call->io.stats;
    const struct {
        const char *name;
        const attend_tensor *tensor;
    } rows[] = {{"stats.rows", &s->rows},
                {"stats.top_weights", &s->top_weights},
                {"stats.distances", &s->distances},
                {"stats.class_mass", &s->class_mass},
                {"stats.raw", &s->raw}};

    if (s->summaries)
        return attendi_fail(err, ATTEND_EUNSUPPORTED,
                            "stats.summaries are of whole heads: gather stats.raw and "
                            "call attend_stats_merge()");
    for (size_t x = 0; x < ARRAY_LEN(rows); x++) {
        const int64_t want[4] = {call->nb, call->hq, call->nq, rows[x].tensor->size[3]};

        TRY(check_output(rows[x].name, rows[x].tensor, want, err));
    }
    return ATTEND_OK;
}

static attend_status check_outputs(const struct mpi_call *call, attend_error *err)
{
    const int64_t out[4] = {call->nb, call->hq, call->nq, call->dv};
    const int64_t lse[4] = {call->nb, call->hq, call->nq, 1};
    const int64_t weights[4] = {call->nb, call->hq, call->nq, call->io.weights.size[3]};
    const int64_t strategy = call->comm.dist.strategy;

    if (!call->io.out.data && call->nb * call->hq * call->nq * call->dv > 0)
        return attendi_fail(err, ATTEND_EINVAL, "out.data is NULL");
    TRY(check_output("out", &call->io.out, out, err));
    TRY(check_output("lse", &call->io.lse, lse, err));
    TRY(check_output("weights", &call->io.weights, weights, err));
    if (call->io.weights.data && strategy != ATTEND_MPI_AUTO &&
        strategy != ATTEND_MPI_GATHER)
        return attendi_fail(err, ATTEND_EUNSUPPORTED,
                            "weights needs ATTEND_MPI_GATHER, dist.strategy is %lld",
                            LL(strategy));
    return call->io.stats ? check_stats(call, err) : ATTEND_OK;
}

static attend_status check_columns(const struct mpi_call *call, attend_error *err)
{
    const attend_inspection *const s = &call->inspection;
    const int64_t columns[4] = {call->nb, call->hq, 1, call->nk};
    const int64_t lse[4] = {call->nb, call->hq, call->nq, 1};

    if (s->probe_count < 0 || (s->probe_count > 0 && (!s->probes || !s->probe_weights)))
        return attendi_fail(err, ATTEND_EINVAL,
                            "probe_count (%lld) is negative, or probes or "
                            "probe_weights is NULL",
                            LL(s->probe_count));
    for (int a = 0; a < 4; a++)
        if (s->lse.size[a] != lse[a])
            return attendi_fail(err, ATTEND_EINVAL, "lse.size[%d] (%lld) must be %lld", a,
                                LL(s->lse.size[a]), LL(lse[a]));
    const int64_t zoom[4] = {call->nb, call->hq, s->zoom.size[2], s->zoom.size[3]};
    TRY(check_output("zoom", &s->zoom, zoom, err));
    TRY(check_output("column_mass", &s->column_mass, columns, err));
    TRY(check_output("column_max", &s->column_max, columns, err));
    return check_output("column_last", &s->column_last, columns, err);
}

static void read_shape(struct mpi_call *call, const attend_io *io)
{
    call->io = *io;
    call->nb = io->q.size[0];
    call->hq = io->q.size[1];
    call->nq = io->q.size[2];
    call->d = io->q.size[3];
    call->hkv = io->k.size[1];
    call->nk = io->k.size[2];
    call->dv = io->v.size[3];
    call->dtype = io->q.dtype;
    call->partial_dtype = call->dtype == ATTEND_F64 ? ATTEND_F64 : ATTEND_F32;
}

/* Sizes and strides of an input of this rank, checked before any use. */
static attend_status check_rows(const char *name, const attend_view *view,
                                attend_error *err)
{
    double reach = 0;
    bool is_empty = false;

    for (int a = 0; a < 4; a++) {
        if (view->size[a] < 0 || view->size[a] > ROWS_MAX)
            return attendi_fail(err, ATTEND_EINVAL,
                                "%s.size[%d] (%lld) must be 0 .. %lld", name, a,
                                LL(view->size[a]), LL(ROWS_MAX));
        is_empty = is_empty || view->size[a] == 0;
        reach += fabs((double)view->stride[a]) * (double)(view->size[a] - 1);
    }
    if (is_empty)
        return ATTEND_OK;
    if (!view->data)
        return attendi_fail(err, ATTEND_EINVAL, "%s.data is NULL", name);
    if (reach >= 0x1p58)
        return attendi_fail(err, ATTEND_EINVAL,
                            "%s: its strides reach over %.3g elements", name, reach);
    return ATTEND_OK;
}

static attend_status read_io(struct mpi_call *call, const attend_io *io,
                             attend_error *err)
{
    attend_io own;

    if (!call->ctx)
        return attendi_fail(err, ATTEND_EINVAL, "ctx is NULL");
    if (!io)
        return attendi_fail(err, ATTEND_EINVAL, "io is NULL");
    TRY(attendi_io_read(io, &own, err));
    TRY(check_rows("q", &own.q, err));
    TRY(check_rows("k", &own.k, err));
    TRY(check_rows("v", &own.v, err));
    read_shape(call, &own);
    if (own.v.size[2] != own.k.size[2])
        return attendi_fail(err, ATTEND_EINVAL,
                            "v.size[2] (nk, %lld) differs from k's (%lld)",
                            LL(own.v.size[2]), LL(own.k.size[2]));
    if (!own.stats)
        return ATTEND_OK;
    call->io.stats = NULL; /* in case its size is refused */
    TRY(attendi_stats_request_read(own.stats, &call->stats, err));
    call->io.stats = &call->stats;
    return ATTEND_OK;
}

/* ---- arguments of all ranks -------------------------------------------------- */

/*
 * A mask or bias: all ranks have one or none has.  All axes except the rows are compared.
 */
static void list_mask(struct arguments *a, const char *const name[4],
                      const attend_view *view)
{
    attendi_argument_text(a, name[0],
                          view->data ? attend_dtype_name(view->dtype) : "none");
    attendi_argument(a, name[1], view->data ? view->size[0] : 0);
    attendi_argument(a, name[2], view->data ? view->size[1] : 0);
    attendi_argument(a, name[3], view->data ? view->size[3] : 0);
}

static void list_rule(struct arguments *a, const struct mpi_call *call)
{
    static const char *const mask[] = {"mask.dtype", "mask.size[0]", "mask.size[1]",
                                       "mask.size[3]"};
    static const char *const bias[] = {"bias.dtype", "bias.size[0]", "bias.size[1]",
                                       "bias.size[3]"};
    const attend_rule *const r = &call->rule;

    attendi_argument(a, "causal", r->causal);
    attendi_argument(a, "window_left", r->window_left);
    attendi_argument(a, "window_right", r->window_right);
    attendi_argument(a, "scale_is_set", r->scale_is_set);
    attendi_argument_real(a, "scale", r->scale_is_set ? r->scale : 0);
    attendi_argument_real(a, "softcap", r->softcap);
    attendi_argument_bytes(a, "causal_offset",
                           r->causal == ATTEND_CAUSAL_OFFSET ? r->causal_offset : NULL,
                           call->nb, sizeof *r->causal_offset);
    attendi_argument_bytes(a, "key_lengths", r->key_lengths, call->nb,
                           sizeof *r->key_lengths);
    attendi_argument_bytes(a, "alibi", r->alibi, call->hq, sizeof *r->alibi);
    attendi_argument_bytes(a, "sinks", r->sinks, call->hq, sizeof *r->sinks);
    list_mask(a, mask, &r->mask);
    list_mask(a, bias, &r->bias);
}

/* Columns of an output; 0: not requested. */
static int64_t wanted_columns(const attend_tensor *tensor)
{
    return tensor->data ? tensor->size[3] : 0;
}

static void list_stats(struct arguments *a, const struct mpi_call *call)
{
    const attend_stats none = attend_stats_default();
    const attend_stats *const s = call->io.stats ? call->io.stats : &none;
    const int64_t columns = s->columns ? wanted_columns(&s->rows) : 0;

    attendi_argument(a, "stats is set", call->io.stats != NULL);
    attendi_argument(a, "stats.rows.size[3]", columns);
    attendi_argument_bytes(a, "stats.columns", columns > 0 ? s->columns : NULL,
                           min_i64(columns, ATTEND_STAT_COUNT), sizeof *s->columns);
    attendi_argument(a, "stats.top_weights.size[3]", wanted_columns(&s->top_weights));
    attendi_argument(a, "stats.distances.size[3]", wanted_columns(&s->distances));
    attendi_argument(a, "stats.class_mass.size[3]", wanted_columns(&s->class_mass));
}

static void list_requests(struct arguments *a, const struct mpi_call *call)
{
    const attend_inspection *const s = &call->inspection;

    attendi_argument(a, "weights.data is set", call->io.weights.data != NULL);
    list_stats(a, call);
    attendi_argument(a, "lse.dtype", call->inspects ? s->lse.dtype : 0);
    attendi_argument(a, "column_mass.data is set", s->column_mass.data != NULL);
    attendi_argument(a, "column_max.data is set", s->column_max.data != NULL);
    attendi_argument(a, "column_last.data is set", s->column_last.data != NULL);
    attendi_argument(a, "last_queries", s->column_last.data ? s->last_queries : 0);
    attendi_argument(a, "pooled.data is set", s->pooled.data != NULL);
    attendi_argument(a, "pooled_block", s->pooled.data ? s->pooled_block : 0);
    attendi_argument(a, "zoom.size[2]", s->zoom.data ? s->zoom.size[2] : -1);
    attendi_argument(a, "zoom.size[3]", s->zoom.data ? s->zoom.size[3] : -1);
    attendi_argument(a, "zoom_query", s->zoom.data ? s->zoom_query : 0);
    attendi_argument(a, "zoom_key", s->zoom.data ? s->zoom_key : 0);
    attendi_argument(a, "probe_count", s->probe_count);
    attendi_argument_bytes(a, "probes", s->probe_count > 0 ? s->probes : NULL,
                           s->probe_count, sizeof *s->probes);
}

static attend_status compare(struct mpi_call *call, attend_error *err)
{
    const attend_mpi_dist *const dist = &call->comm.dist;
    struct arguments a = {.count = 0};

    attendi_argument_text(&a, "version", attend_version());
    attendi_argument(&a, "the call", call->inspects);
    attendi_argument_text(&a, "q.dtype", attend_dtype_name(call->dtype));
    attendi_argument(&a, "nb", call->nb);
    attendi_argument(&a, "hq", call->hq);
    attendi_argument(&a, "hkv", call->hkv);
    attendi_argument(&a, "d", call->d);
    attendi_argument(&a, "dv", call->dv);
    attendi_argument_text(&a, "the kernel set", attend_context_isa(call->ctx));
    list_rule(&a, call);
    list_requests(&a, call);
    attendi_argument(&a, "dist.strategy", dist->strategy);
    attendi_argument(&a, "dist.chunk_keys", dist->chunk_keys);
    attendi_argument(&a, "dist.queries is set", dist->queries != NULL);
    attendi_argument(&a, "dist.keys is set", dist->keys != NULL);
    return attendi_arguments_compare(&call->comm, &a, err);
}

/* Classes of all keys.  Their number is known only after the allgather of the ranges. */
static attend_status compare_classes(struct mpi_call *call, attend_error *err)
{
    const attend_stats *const s = call->io.stats;
    struct arguments a = {.count = 0};

    if (!s || !s->class_mass.data)
        return ATTEND_OK;
    attendi_argument_bytes(&a, "stats.classes", s->classes, call->nb * call->keys.all,
                           sizeof *s->classes);
    return attendi_arguments_compare(&call->comm, &a, err);
}

/* Sets the number of raw sums of a row for the requested statistics. */
static void count_raw_sums(struct mpi_call *call)
{
    const attend_tensor shape =
        attend_tensor_dense(NULL, ATTEND_F64, call->nb, call->hq, call->nq, 0);

    if (call->io.stats) {
        const attend_stats sums =
            attendi_stats_raw_request(call, &shape, call->io.stats->classes);

        call->raw_size = attend_stats_raw_size(&sums, call->dv);
    }
}

/* Bottom-right alignment becomes an offset, which holds for slices too. */
static attend_status align_bottom_right(struct mpi_call *call, attend_error *err)
{
    if (call->rule.causal != ATTEND_CAUSAL_BOTTOM_RIGHT)
        return ATTEND_OK;
    call->offsets = attendi_mpi_alloc(&call->comm, call->nb, sizeof *call->offsets, err);
    if (!call->offsets)
        return ATTEND_ENOMEM;
    for (int64_t b = 0; b < call->nb; b++)
        call->offsets[b] = call->keys.all - call->queries.all;
    call->rule.causal = ATTEND_CAUSAL_OFFSET;
    call->rule.causal_offset = call->offsets;
    return ATTEND_OK;
}

/* ---- validation by the engine, with zero rows -------------------------------- */

/* A view with as many rows as the sequence, by stride 0; never read. */
static attend_view stretch_rows(attend_view view, int64_t rows)
{
    static const double nothing;

    if (!view.data)
        view.data = &nothing;
    view.size[2] = rows;
    view.stride[2] = 0;
    return view;
}

static attend_tensor no_rows(attend_tensor tensor)
{
    tensor.size[2] = 0;
    return tensor;
}

static attend_status validate(const struct mpi_call *call, attend_error *err)
{
    attend_rule rule = call->rule;
    attend_io io = call->io;
    attend_stats stats;

    if (io.k.dtype != io.q.dtype || io.v.dtype != io.q.dtype)
        return attendi_fail(err, ATTEND_EUNSUPPORTED,
                            "q.dtype (%s) is not that of k and v (%s, %s)",
                            attend_dtype_name(io.q.dtype), attend_dtype_name(io.k.dtype),
                            attend_dtype_name(io.v.dtype));
    if (rule.mask.data && rule.mask.size[2] != 1 && rule.mask.size[2] != call->nq)
        return attendi_fail(err, ATTEND_EINVAL,
                            "mask.size[2] (%lld) is neither nq (%lld) nor 1",
                            LL(rule.mask.size[2]), LL(call->nq));
    if (rule.bias.data && rule.bias.size[2] != 1 && rule.bias.size[2] != call->nq)
        return attendi_fail(err, ATTEND_EINVAL,
                            "bias.size[2] (%lld) is neither nq (%lld) nor 1",
                            LL(rule.bias.size[2]), LL(call->nq));
    if (rule.mask.data)
        rule.mask.size[2] = 0;
    if (rule.bias.data)
        rule.bias.size[2] = 0;
    io.q.size[2] = 0;
    io.k = stretch_rows(io.k, call->keys.all);
    io.v = stretch_rows(io.v, call->keys.all);
    io.out = no_rows(io.out);
    io.lse = no_rows(io.lse);
    io.weights = no_rows(io.weights);
    if (io.stats) {
        stats = *io.stats;
        stats.rows = no_rows(stats.rows);
        stats.top_weights = no_rows(stats.top_weights);
        stats.distances = no_rows(stats.distances);
        stats.class_mass = no_rows(stats.class_mass);
        stats.raw = no_rows(stats.raw);
        io.stats = &stats;
    }
    return attend_forward(call->ctx, &rule, &io, err);
}

/* ---- opening and closing a call ---------------------------------------------- */

/*
 * Agrees on `status` of reading the arguments, compares them between ranks, and gathers
 * the ranges.
 */
static attend_status agree_on_arguments(struct mpi_call *call, attend_status status,
                                        attend_error *err)
{
    const attend_mpi_dist *const dist = &call->comm.dist;

    TRY(attendi_comm_agree(&call->comm, status, err));
    TRY(compare(call, err));
    TRY(attendi_ranges_allgather(&call->queries, &call->comm, "queries", dist->queries,
                                 dist->query_ranges, call->nq, err));
    TRY(attendi_ranges_allgather(&call->keys, &call->comm, "keys", dist->keys,
                                 dist->key_ranges, call->nk, err));
    TRY(compare_classes(call, err));
    status = align_bottom_right(call, err);
    if (status == ATTEND_OK)
        status = validate(call, err);
    count_raw_sums(call);
    return attendi_comm_agree(&call->comm, status, err);
}

attend_status attendi_mpi_call_open(struct mpi_call *call, MPI_Comm comm,
                                    attend_context *ctx, const attend_rule *rule,
                                    const attend_io *io, const attend_mpi_dist *dist,
                                    attend_error *err)
{
    *call = (struct mpi_call){
        .ctx = ctx, .io = attend_io_default(), .inspection = attend_inspection_default()};
    TRY(attendi_comm_open(&call->comm, comm, dist, err));
    attend_status status = read_io(call, io, err);
    if (status == ATTEND_OK)
        status = read_rule(call, rule, err);
    if (status == ATTEND_OK)
        status = check_dist(call, dist, err);
    if (status == ATTEND_OK)
        status = check_outputs(call, err);
    return agree_on_arguments(call, status, err);
}

/* An inspection as a forward pass without values, to validate its inputs. */
static attend_status read_inspection(struct mpi_call *call,
                                     const attend_inspection *given, attend_io *io,
                                     attend_error *err)
{
    if (!given)
        return attendi_fail(err, ATTEND_EINVAL, "inspection is NULL");
    TRY(attendi_inspection_read(given, &call->inspection, err));
    const attend_inspection *const s = &call->inspection;
    call->inspects = true;
    io->q = s->q;
    io->k = s->k;
    io->v = s->k;
    io->v.size[3] = 0;
    io->out = attend_tensor_dense(NULL, s->q.dtype, s->q.size[0], s->q.size[1],
                                  s->q.size[2], 0);
    return ATTEND_OK;
}

attend_status attendi_mpi_call_open_inspection(
    struct mpi_call *call, MPI_Comm comm, attend_context *ctx, const attend_rule *rule,
    const attend_inspection *inspection, const attend_mpi_dist *dist, attend_error *err)
{
    attend_io io = attend_io_default();

    *call = (struct mpi_call){
        .ctx = ctx, .io = io, .inspection = attend_inspection_default()};
    TRY(attendi_comm_open(&call->comm, comm, dist, err));
    attend_status status = read_inspection(call, inspection, &io, err);
    if (status == ATTEND_OK)
        status = read_io(call, &io, err);
    if (status == ATTEND_OK)
        status = read_rule(call, rule, err);
    if (status == ATTEND_OK)
        status = check_dist(call, dist, err);
    if (status == ATTEND_OK)
        status = check_columns(call, err);
    return agree_on_arguments(call, status, err);
}

void attendi_mpi_call_close(struct mpi_call *call)
{
    attendi_ranges_free(&call->queries, &call->comm);
    attendi_ranges_free(&call->keys, &call->comm);
    attendi_mpi_free(&call->comm, call->offsets);
    attendi_comm_close(&call->comm);
}

/* ---- slices of the rule ------------------------------------------------------- */

attend_rule attendi_rule_slice(const struct mpi_call *call, int64_t first_query,
                               int64_t row, int64_t rows, int64_t first_key,
                               int64_t count)
{
    attend_rule rule = call->rule;

    rule.first_query = first_query;
    rule.mask = attendi_broadcast_slice(rule.mask, 2, row, rows);
    rule.bias = attendi_broadcast_slice(rule.bias, 2, row, rows);
    rule.mask = attendi_broadcast_slice(rule.mask, 3, first_key, count);
    rule.bias = attendi_broadcast_slice(rule.bias, 3, first_key, count);
    return rule;
}

/* Extends *lo .. *hi by the keys that the queries see in batch b. */
static void widen_to_batch(const struct mpi_call *call, const attend_mpi_range *queries,
                           int64_t b, int64_t *lo, int64_t *hi)
{
    const attend_rule *const r = &call->rule;
    const int64_t shift = r->causal == ATTEND_CAUSAL_OFFSET ? r->causal_offset[b] : 0;
    const int64_t first = queries->first + shift, last = first + queries->count - 1;
    const int64_t length = r->key_lengths ? r->key_lengths[b] : call->keys.all;
    const struct {
        attend_causal causal;
        int64_t window_left, window_right;
    } rule = {r->causal, min_i64(r->window_left, WINDOW_MAX),
              min_i64(r->window_right, WINDOW_MAX)};
    int64_t from = 0, to = length, ignored = 0;

    /* Both bounds are non-decreasing in the position. */
    ATTENDI_CLIP_KEYS(rule, last, ignored, to);
    ATTENDI_CLIP_KEYS(rule, first, from, ignored);
    if (from >= to)
        return;
    *lo = *lo == *hi ? from : min_i64(*lo, from);
    *hi = max_i64(*hi, to);
}

void attendi_mpi_keys_seen(const struct mpi_call *call, const attend_mpi_range *queries,
                           int64_t *lo, int64_t *hi)
{
    *lo = *hi = 0;
    for (int64_t b = 0; b < call->nb && queries->count > 0; b++)
        widen_to_batch(call, queries, b, lo, hi);
}

bool attendi_rank_sees(const struct mpi_call *call, int rank, int64_t lo, int64_t hi)
{
    for (int64_t x = call->queries.start[rank]; x < call->queries.start[rank + 1]; x++) {
        int64_t from, to;

        attendi_mpi_keys_seen(call, &call->queries.range[x], &from, &to);
        if (max_i64(lo, from) < min_i64(hi, to))
            return true;
    }
    return false;
}

/* SPDX-License-Identifier: MIT */
/*
 * `attend stats` on the ranks of a launcher: each computes the sums of its rows and the
 * columns of its keys, and rank 0 gets them all.
 */
#include "stats_tool.h"

#include "shared/inputs_ranks.h"

static attend_tensor make(struct inputs_slice *slice, attend_dtype dtype, int64_t b,
                          int64_t h, int64_t l, int64_t d, int *failed)
{
    void *const data =
        inputs_slice_memory(slice, "stats", b * h * l * d, attend_dtype_size(dtype));

    if (!data)
        *failed = TOOL_FAILED;
    return attend_tensor_dense(data, dtype, b, h, l, d);
}

/* The request of all rows, for those of this rank, with the sums that rank 0 needs. */
static attend_stats own_request(const struct stats_result *r, struct inputs_slice *slice,
                                int64_t raw, int *failed)
{
    attend_stats own = r->rows;
    const int64_t top = own.top_weights.size[3];

    own.rows = make(slice, ATTEND_F64, r->nb, r->hq, slice->rows, r->columns, failed);
    own.top_weights = make(slice, ATTEND_F64, r->nb, r->hq, slice->rows, top, failed);
    if (own.top_keys)
        own.top_keys = inputs_slice_memory(
            slice, "stats", r->nb * r->hq * slice->rows * top, sizeof *own.top_keys);
    own.summaries = NULL;
    own.raw = make(slice, ATTEND_F64, r->nb, r->hq, slice->rows, raw, failed);
    return own;
}

/* All rows on rank 0, from their sums. */
static int merge(const struct inputs_slice *slice, const attend_stats *own,
                 attend_context *ctx, int64_t dv, const attend_tensor *raw,
                 struct stats_result *r)
{
    const attend_view sums = attend_view_of(&own->raw);
    const attend_stats_part part = {.raw = attend_view_of(raw)};
    attend_error err;
    int failed = ranks_status(
        "stats",
        ranks.mpi->gather_rows(slice->queries, slice->query_ranges, &sums, raw, &err),
        &err);

    if (!failed && ranks.rank == 0)
        failed = ranks_status(
            "stats", attend_stats_merge(ctx, &r->rows, dv, &part, 1, &err), &err);
    return ranks_agree(failed);
}

static int forward(struct inputs_slice *slice, attend_context *ctx,
                   struct stats_result *r, attend_stats *own)
{
    const int64_t dv = slice->io.v.size[3], length = attend_stats_raw_size(&r->rows, dv);
    attend_error err;
    int failed = TOOL_OK;

    *own = own_request(r, slice, length, &failed);
    slice->io.out =
        make(slice, slice->io.q.dtype, r->nb, r->hq, slice->rows, dv, &failed);
    const attend_tensor raw = make(slice, ATTEND_F64, r->nb, r->hq,
                                   ranks.rank == 0 ? r->nq : 0, length, &failed);
    slice->io.stats = own;
    failed = ranks_agree(failed);
    if (failed)
        return failed;
    failed = ranks_status(
        "stats", ranks.mpi->forward(ctx, &slice->rule, &slice->io, &slice->dist, &err),
        &err);
    return failed ? failed : merge(slice, own, ctx, dv, &raw, r);
}

/* ---- columns, map and zoom --------------------------------------------------------- */

enum { COLUMNS = 3 };

static attend_tensor *column_of(attend_inspection *s, int which)
{
    attend_tensor *const all[COLUMNS] = {&s->column_mass, &s->column_max,
                                         &s->column_last};

    return all[which];
}

/* (b, h, 1, keys) as rows of one number. */
static attend_tensor as_rows(attend_tensor t)
{
    t.size[2] = t.size[3];
    t.stride[2] = t.stride[3];
    t.size[3] = 1;
    return t;
}

static int collect_columns(const struct inputs_slice *slice, attend_inspection *own,
                           attend_inspection *all)
{
    int failed = TOOL_OK;

    for (int x = 0; x < COLUMNS && !failed; x++) {
        const attend_tensor rows = as_rows(*column_of(own, x));
        const attend_tensor to = as_rows(*column_of(all, x));
        const attend_view from = attend_view_of(&rows);
        attend_error err;

        if (to.data)
            failed = ranks_status(
                "stats", ranks.mpi->gather_rows(&slice->keys, 1, &from, &to, &err), &err);
    }
    return failed;
}

static int inspect(struct inputs_slice *slice, attend_context *ctx,
                   const attend_stats *rows, struct stats_result *r)
{
    attend_inspection own = r->inspection;
    attend_error err;
    int failed = TOOL_OK;

    own.q = slice->io.q;
    own.k = slice->io.k;
    own.lse = attend_view_of(&rows->rows);
    own.lse.data = (const double *)own.lse.data + STATS_COLUMN_LSE;
    own.lse.size[3] = 1;
    for (int x = 0; x < COLUMNS; x++) {
        attend_tensor *const column = column_of(&own, x);

        if (column->data)
            *column =
                make(slice, column->dtype, r->nb, r->hq, 1, slice->keys.count, &failed);
    }
    failed = ranks_agree(failed);
    if (!failed)
        failed = ranks_status(
            "stats", ranks.mpi->inspect(ctx, &slice->rule, &own, &slice->dist, &err),
            &err);
    return failed ? failed : collect_columns(slice, &own, &r->inspection);
}

int stats_compute_on_ranks(const struct stats_args *args, const struct inputs *inputs,
                           attend_context *ctx, struct stats_result *r)
{
    struct inputs_slice slice;
    attend_stats own;

    int failed = inputs_slice_make(&slice, inputs);
    if (!failed)
        failed = forward(&slice, ctx, r, &own);
    if (!failed && (args->wants_columns || args->map || args->zoom.is_wanted))
        failed = inspect(&slice, ctx, &own, r);
    inputs_slice_free(&slice);
    return failed;
}

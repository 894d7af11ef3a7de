/* SPDX-License-Identifier: MIT */
/* The two passes of `attend stats`, and O(n) memory for their results. */
#include "stats_tool.h"

#include <math.h>
#include <stdlib.h>

#include "shared/ranks.h"

/* In the order of the tensors in --out, those of a printed row first. */
static const attend_stat always[] = {
    ATTEND_STAT_KEYS,       ATTEND_STAT_MAX,          ATTEND_STAT_LSE,
    ATTEND_STAT_ENTROPY,    ATTEND_STAT_KEYS_EFF,     ATTEND_STAT_N_EFF,
    ATTEND_STAT_TOP_WEIGHT, ATTEND_STAT_MARGIN,       ATTEND_STAT_SINK1,
    ATTEND_STAT_SINK4,      ATTEND_STAT_SELF,         ATTEND_STAT_PREVIOUS,
    ATTEND_STAT_DISTANCE,   ATTEND_STAT_LOG_DISTANCE, ATTEND_STAT_SCORE_VARIANCE,
    ATTEND_STAT_RAW_MEAN,   ATTEND_STAT_RAW_VARIANCE, ATTEND_STAT_SECOND_PREVIOUS,
};
static const attend_stat of_values[] = {ATTEND_STAT_VALUE_NORM, ATTEND_STAT_CANCELLATION};

enum {
    ALWAYS = sizeof always / sizeof always[0],
    OF_VALUES = sizeof of_values / sizeof of_values[0]
};

/* Memory for `count` elements of `size` bytes, zeros; NULL with a message. */
static void *allocate(int64_t count, size_t size)
{
    void *const memory = tool_zeros(count, size);

    if (!memory)
        tool_fail("stats", TOOL_FAILED, "out of memory for %lld numbers",
                  (long long)count);
    return memory;
}

static int allocate_tensor(attend_tensor *tensor, attend_dtype dtype, int64_t b,
                           int64_t h, int64_t l, int64_t d)
{
    int64_t row, head, all;

    if (__builtin_mul_overflow(l, d, &row) || __builtin_mul_overflow(h, row, &head) ||
        __builtin_mul_overflow(b, head, &all))
        row = head = all = INT64_MAX;
    *tensor = (attend_tensor){
        .dtype = dtype, .size = {b, h, l, d}, .stride = {head, row, d, 1}};
    tensor->data = allocate(all, attend_dtype_size(dtype));
    return tensor->data ? TOOL_OK : TOOL_FAILED;
}

/* A column of statistics lies in one piece, so that the LSE is a tensor of its own. */
static int allocate_rows(const struct stats_args *args, struct stats_result *r)
{
    const int64_t heads = r->nb * r->hq, rows = heads * r->nq;
    int status;

    if ((status = allocate_tensor(&r->rows.rows, ATTEND_F64, r->nb, r->hq, r->nq,
                                  r->columns)) ||
        (status = allocate_tensor(&r->rows.top_weights, ATTEND_F64, r->nb, r->hq, r->nq,
                                  ATTEND_TOP_MAX)))
        return status;
    r->rows.columns = r->column;
    for (int a = 0; a < 3; a++)
        r->rows.rows.stride[a] /= r->columns;
    r->rows.rows.stride[3] = rows;
    if (args->top) {
        r->rows.top_keys = allocate(rows * ATTEND_TOP_MAX, sizeof *r->rows.top_keys);
        if (!r->rows.top_keys)
            return TOOL_FAILED;
    }
    if (args->wants_json && !args->wants_rows) {
        r->rows.summaries = allocate(heads * ATTEND_SUMMARY_COUNT * ATTEND_SUMMARY_GROUPS,
                                     sizeof *r->rows.summaries);
        if (!r->rows.summaries)
            return TOOL_FAILED;
    }
    return TOOL_OK;
}

static int allocate_inspection(const struct stats_args *args, attend_dtype dtype,
                               struct stats_result *r)
{
    const struct stats_zoom *const z = &args->zoom;
    int status = TOOL_OK;

    r->inspection.last_queries = args->last;
    r->inspection.zoom_query = z->first;
    r->inspection.zoom_key = z->key_first;
    if (args->wants_columns &&
        ((status = allocate_tensor(&r->inspection.column_mass, dtype, r->nb, r->hq, 1,
                                   r->nk)) ||
         (status =
              allocate_tensor(&r->inspection.column_max, dtype, r->nb, r->hq, 1, r->nk))))
        return status;
    if (args->last)
        status =
            allocate_tensor(&r->inspection.column_last, dtype, r->nb, r->hq, 1, r->nk);
    if (!status && args->map) {
        const int64_t block = stats_map_block(r->nb * r->hq, r->nq, r->nk);

        r->inspection.pooled_block = block;
        status = allocate_tensor(&r->inspection.pooled, dtype, r->nb, r->hq,
                                 (r->nq - 1) / block + 1, (r->nk - 1) / block + 1);
    }
    if (!status && z->is_wanted)
        status = allocate_tensor(&r->inspection.zoom, dtype, r->nb, r->hq,
                                 z->end - z->first, z->key_end - z->key_first);
    return status;
}

static int forward(const struct inputs *inputs, attend_context *ctx,
                   struct stats_result *r)
{
    attend_io io = inputs->io;
    attend_error err;
    const int status =
        allocate_tensor(&io.out, io.q.dtype, r->nb, r->hq, r->nq, io.v.size[3]);

    if (status)
        return status;
    r->output = io.out.data;
    io.stats = &r->rows;
    const attend_status failed = attend_forward(ctx, &inputs->rule, &io, &err);
    if (failed)
        return tool_fail("stats", tool_status(failed), "%s", err.message);
    return TOOL_OK;
}

static attend_view lse_of(const struct stats_result *r)
{
    attend_view lse = attend_view_of(&r->rows.rows);

    lse.data = (const double *)lse.data + STATS_COLUMN_LSE * lse.stride[3];
    lse.size[3] = 1;
    return lse;
}

static int inspect(const struct stats_args *args, const struct inputs *inputs,
                   attend_context *ctx, struct stats_result *r)
{
    attend_error err;

    if (!args->wants_columns && !args->map && !args->zoom.is_wanted)
        return TOOL_OK;
    r->inspection.q = inputs->io.q;
    r->inspection.k = inputs->io.k;
    r->inspection.lse = lse_of(r);
    const attend_status failed = attend_inspect(ctx, &inputs->rule, &r->inspection, &err);
    if (failed)
        return tool_fail("stats", tool_status(failed), "%s", err.message);
    return TOOL_OK;
}

int stats_prepare(const struct stats_args *args, const struct inputs *inputs,
                  struct stats_result *r)
{
    const attend_io *const io = &inputs->io;
    const attend_dtype exact = io->q.dtype == ATTEND_F64 ? ATTEND_F64 : ATTEND_F32;

    *r = (struct stats_result){.nb = io->q.size[0],
                               .hq = io->q.size[1],
                               .nq = io->q.size[2],
                               .nk = io->k.size[2],
                               .rows = attend_stats_default(),
                               .inspection = attend_inspection_default()};
    for (int x = 0; x < ALWAYS; x++)
        r->column[r->columns++] = always[x];
    for (int x = 0; x < OF_VALUES && args->inputs.file[INPUT_V]; x++)
        r->column[r->columns++] = of_values[x];
    const int status = allocate_rows(args, r);
    return status ? status : allocate_inspection(args, exact, r);
}

int stats_compute(const struct stats_args *args, const struct inputs *inputs,
                  attend_context *ctx, struct progress_line *line, struct stats_result *r)
{
    progress_line_start(line, "attend stats", NULL);
    int status = ranks.mpi ? stats_compute_on_ranks(args, inputs, ctx, r)
                           : forward(inputs, ctx, r);
    progress_line_clear(line);
    if (status || ranks.mpi)
        return status;
    progress_line_start(line, "attend stats, inspection", NULL);
    status = inspect(args, inputs, ctx, r);
    progress_line_clear(line);
    return status;
}

void stats_result_free(struct stats_result *r)
{
    free(r->rows.rows.data);
    free(r->rows.top_weights.data);
    free(r->rows.top_keys);
    free(r->rows.summaries);
    free(r->inspection.column_mass.data);
    free(r->inspection.column_max.data);
    free(r->inspection.column_last.data);
    free(r->inspection.pooled.data);
    free(r->inspection.zoom.data);
    free(r->output);
}

double stats_element(const attend_tensor *t, int64_t b, int64_t h, int64_t l, int64_t d)
{
    const int64_t at =
        b * t->stride[0] + h * t->stride[1] + l * t->stride[2] + d * t->stride[3];

    return t->dtype == ATTEND_F64 ? ((const double *)t->data)[at]
                                  : (double)((const float *)t->data)[at];
}

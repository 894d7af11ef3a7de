/* SPDX-License-Identifier: MIT */
#include "cpu/merge/merge_rows.h"

#include <math.h>

#include "base/base.h"
#include "core/tensor.h"

int64_t attendi_merge_row_bytes(const struct merge *m)
{
    int64_t bytes = (int64_t)attend_dtype_size(m->out.dtype);

    for (int64_t x = 0; x < m->count; x++)
        bytes += (int64_t)attend_dtype_size(m->parts[x].out.dtype);
    return max_i64(1, bytes * m->out.size[3]);
}

/*
 * A group of rows of one head.  The denominator is sum exp(lse_p - max), with max the
 * largest lse, and is not added to max: if |max| is huge, as in a row of finfo.min
 * biases, max + ln sum would lose the sum.
 */
struct rows {
    const struct merge *m;
    const struct kernels *k;
    int64_t b, h, i, count; /* queries i .. i + count - 1 */
    double lse_max[MERGE_ROWS], sum[MERGE_ROWS];
    int64_t part, part_end; /* the parts whose weights are loaded */
    double weight[MERGE_PARTS][MERGE_ROWS];
    bool empty[MERGE_PARTS][MERGE_ROWS]; /* lse is -inf: O is ignored */
};

static double part_lse(const struct rows *r, int64_t part, int64_t row)
{
    const attend_view *lse = &r->m->parts[part].lse;

    return attendi_load(attendi_view_row(lse, r->b, r->h, r->i), lse->dtype,
                        row * lse->stride[2]);
}

static void find_lse_max(struct rows *r)
{
    for (int64_t x = 0; x < MERGE_ROWS; x++)
        r->lse_max[x] = -INFINITY;
    for (int64_t p = 0; p < r->m->count; p++)
        for (int64_t x = 0; x < r->count; x++) {
            const double lse = part_lse(r, p, x);

            if (!isnan(r->lse_max[x]) && !(lse <= r->lse_max[x]))
                r->lse_max[x] = lse;
        }
}

/* Loads exp(lse - lse_max) of parts from `part` on, as many as fit. */
static void load_parts(struct rows *r, int64_t part)
{
    r->part = part;
    r->part_end = min_i64(part + MERGE_PARTS, r->m->count);
    for (int64_t p = 0; p < r->part_end - part; p++)
        for (int64_t x = 0; x < MERGE_ROWS; x++) {
            const double lse = x < r->count ? part_lse(r, part + p, x) : -INFINITY;

            r->empty[p][x] = lse == -INFINITY;
            r->weight[p][x] = r->empty[p][x] ? -INFINITY : lse - r->lse_max[x];
        }
    r->k->merge_exp(r->weight[0], (r->part_end - part) * MERGE_ROWS);
}

/* Computes the denominators; weights of the first parts stay loaded. */
static void find_sum(struct rows *r)
{
    for (int64_t x = 0; x < MERGE_ROWS; x++)
        r->sum[x] = 0.0;
    for (int64_t part = 0; part < r->m->count; part = r->part_end) {
        load_parts(r, part);
        for (int64_t p = 0; p < r->part_end - part; p++)
            for (int64_t x = 0; x < MERGE_ROWS; x++)
                r->sum[x] += r->weight[p][x];
    }
}

static void divide_weights(struct rows *r)
{
    for (int64_t p = 0; p < r->part_end - r->part; p++)
        for (int64_t x = 0; x < r->count; x++)
            r->weight[p][x] /= r->sum[x];
}

/* Merges all columns of the rows from the loaded parts. */
static void merge_parts(const struct rows *r, struct merge_run *run,
                        double sums[MERGE_ROWS][MERGE_COLUMNS])
{
    for (int64_t x = 0; x < r->count; x++) {
        run->count = 0;
        for (int64_t p = 0; p < r->part_end - r->part; p++) {
            const attend_view *from = &r->m->parts[r->part + p].out;

            if (!r->empty[p][x])
                run->part[run->count++] = (struct merge_part){
                    .row = attendi_view_row(from, r->b, r->h, r->i + x),
                    .step = from->stride[3],
                    .dtype = from->dtype,
                    .weight = r->weight[p][x]};
        }
        run->out = attendi_tensor_row(&r->m->out, r->b, r->h, r->i + x);
        r->k->merge(run, sums[x]);
    }
}

/* More parts than fit: a few columns at a time, with sums kept over all parts. */
static void merge_many(struct rows *r, struct merge_run *run)
{
    double sums[MERGE_ROWS][MERGE_COLUMNS];

    for (int64_t c = 0; c < r->m->out.size[3]; c += MERGE_COLUMNS) {
        run->first = c;
        run->end = min_i64(c + MERGE_COLUMNS, r->m->out.size[3]);
        for (int64_t part = 0; part < r->m->count; part = r->part_end) {
            load_parts(r, part);
            divide_weights(r);
            run->begins = part == 0;
            run->stores = r->part_end == r->m->count;
            merge_parts(r, run, sums);
        }
    }
}

static void merge_rows(struct rows *r, struct merge_run *run)
{
    const attend_tensor *lse = &r->m->lse;

    r->part = r->part_end = 0;
    find_lse_max(r);
    find_sum(r);
    if (r->m->count > MERGE_PARTS) {
        merge_many(r, run);
    } else if (r->m->out.size[3] > 0) {
        double none[MERGE_ROWS][MERGE_COLUMNS];

        divide_weights(r);
        merge_parts(r, run, none);
    }
    /* Stored last: it may overwrite that of a part. */
    for (int64_t x = 0; lse->data && x < r->count; x++)
        attendi_store(attendi_tensor_row(lse, r->b, r->h, r->i + x), lse->dtype, 0,
                      r->sum[x] == 0.0 ? -INFINITY : r->lse_max[x] + log(r->sum[x]));
}

void attendi_merge_rows(const struct merge *m, const struct kernels *k, int64_t first,
                        int64_t end)
{
    const int64_t hq = m->out.size[1], nq = m->out.size[2];
    struct merge_run run = {.in_order = m->out.stride[3] == 1,
                            .end = m->out.size[3],
                            .begins = true,
                            .stores = true,
                            .out_step = m->out.stride[3],
                            .out_dtype = m->out.dtype};
    struct rows r;

    r.m = m;
    r.k = k;
    for (int64_t x = 0; x < m->count; x++)
        run.in_order &= m->parts[x].out.stride[3] == 1;
    for (int64_t x = first; x < end; x += r.count) {
        r.b = x / nq / hq;
        r.h = x / nq % hq;
        r.i = x % nq;
        r.count = min_i64(MERGE_ROWS, min_i64(nq - r.i, end - x));
        merge_rows(&r, &run);
    }
}

void attendi_merge_columns(const struct merge_run *run, double *sums, int64_t c,
                           int64_t end)
{
    const bool half = attend_dtype_size(run->out_dtype) == 2;

    for (; c < end; c++) {
        double sum = run->begins ? 0.0 : sums[c - run->first];

        for (int64_t x = 0; x < run->count; x++) {
            const struct merge_part *part = &run->part[x];
            sum += part->weight * attendi_load(part->row, part->dtype, c * part->step);
        }
        if (run->stores)
            attendi_store(run->out, run->out_dtype, c * run->out_step,
                          half ? (double)(float)sum : sum);
        else
            sums[c - run->first] = sum;
    }
}

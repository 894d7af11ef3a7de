/* SPDX-License-Identifier: MIT */
#include "cuda/host/sums.h"

#include "base/error.h"
#include "core/problem.h"
#include "cuda/general/sums_launch.h"

void attendi_cuda_keep_raw(struct stats *stats)
{
    stats->rows.data = stats->top_weights.data = NULL;
    stats->distances.data = stats->class_mass.data = NULL;
    stats->top_keys = NULL;
}

static attend_status add(struct cuda_device *d, const struct problem *p,
                         struct sums_launch *a, attend_error *err)
{
    void *parameters[] = {a};

    a->layout = p->stats.sums;
    a->length = p->stats.sums_length;
    a->rows = p->nb * p->hq * p->nq;
    return attendi_cuda_launch(d, KERNEL_sums_add, ceil_div_i64(a->rows, TILE_THREADS),
                               TILE_THREADS, 0, parameters, err);
}

attend_status attendi_cuda_sums_move(struct cuda_device *d, const struct launch *a,
                                     attend_error *err)
{
    const struct problem *const p = &a->p;
    struct sums_launch move = {.from =
                                   attend_view_dense(a->sums, ATTEND_F64, p->nb, p->hq,
                                                     p->nq, p->stats.sums_length),
                               .first_key = p->first_key,
                               .to = a->sums};

    return add(d, p, &move, err);
}

attend_status attendi_cuda_sums_read(struct cuda_device *d, struct launch *a,
                                     attend_error *err)
{
    const int64_t heads = a->p.nb * a->p.hq;
    void *parameters[] = {a};

    const int rows = stats_rows_by_threads(a->p.stats.sums_length, heads * a->p.nq)
                         ? TILE_THREADS
                         : TILE_THREADS / 32;

    TRY(attendi_cuda_launch(d, KERNEL_stats_rows, ceil_div_i64(heads * a->p.nq, rows),
                            TILE_THREADS, 0, parameters, err));
    if (!a->p.stats.summaries)
        return ATTEND_OK;
    return attendi_cuda_general(d, KERNEL_summaries, a,
                                heads * a->p.stats.summary_kinds * ATTEND_SUMMARY_GROUPS,
                                err);
}

/* Double buffered: a->sums is the buffer with the sums of the parts so far. */
static attend_status add_parts(struct cuda_device *d, struct launch *a,
                               double *const buffer[2], const attend_stats_part *parts,
                               int64_t count, attend_error *err)
{
    const attend_stats_part none = {.first_key = 0};

    for (int64_t x = 0; x < (count > 0 ? count : 1); x++) {
        const attend_stats_part *const part = count > 0 ? &parts[x] : &none;
        struct sums_launch sums = {.from = part->raw,
                                   .first_key = part->first_key,
                                   .before = x > 0 ? a->sums : NULL,
                                   .to = buffer[x % 2]};

        TRY(add(d, &a->p, &sums, err));
        a->sums = buffer[x % 2];
    }
    return ATTEND_OK;
}

attend_status attendi_cuda_sums_merge(struct cuda_device *d, struct problem *p,
                                      const attend_stats_part *parts, int64_t count,
                                      attend_error *err)
{
    const int64_t rows = p->nb * p->hq * p->nq;
    const size_t record = (size_t)p->stats.sums_length * sizeof(double);
    struct launch a = {.p = *p};
    size_t total = 0;
    void *at;

    const size_t first = attendi_cuda_take(&total, rows, record);
    const size_t second = attendi_cuda_take(&total, count > 1 ? rows : 0, record);
    const size_t digest = attendi_cuda_take(&total, p->stats.summaries ? rows : 0,
                                            ATTEND_SUMMARY_COUNT * sizeof(double));
    TRY(attendi_cuda_workspace(d, total, &at, err));
    char *const base = at;
    double *const buffer[2] = {(double *)(void *)(base + first),
                               (double *)(void *)(base + second)};
    a.p.stats.ln_count = 0;
    a.p.stats.digest = p->stats.summaries ? (double *)(void *)(base + digest) : NULL;
    TRY(attendi_cuda_enter(d, err));
    attend_status status = add_parts(d, &a, buffer, parts, count, err);
    if (status == ATTEND_OK)
        status = attendi_cuda_sums_read(d, &a, err);
    attendi_cuda_leave(d);
    return status;
}

/* SPDX-License-Identifier: MIT */
#include "lab/place/transfer.h"

#include <math.h>

#include "attend/stats.h"
#include "lab/measure/frames.h"
#include "lab/place/place.h"

enum { KEYS, LSE, NOISE, COLUMNS };
static const attend_stat columns[COLUMNS] = {
    [KEYS] = ATTEND_STAT_KEYS, [LSE] = ATTEND_STAT_LSE, [NOISE] = ATTEND_STAT_KEY_NOISE};

/* Arrays within the caller's scratch. */
struct places {
    double *output, *stats;     /* of exact keys: [nq][dv], [nq][COLUMNS] */
    double *moved;              /* output of rounded keys */
    double *rounded, *variance; /* [nk][d] */
    double *weights;            /* [nk], of one row */
};

static struct places places_of(const struct lab_transfer_head *head, double *scratch)
{
    struct places at = {.output = scratch};

    at.stats = at.output + head->nq * head->dv;
    at.moved = at.stats + head->nq * COLUMNS;
    at.rounded = at.moved + head->nq * head->dv;
    at.variance = at.rounded + head->nk * head->d;
    at.weights = at.variance + head->nk * head->d;
    return at;
}

int64_t lab_transfer_scratch(const struct lab_transfer_head *head)
{
    return head->nq * (2 * head->dv + COLUMNS) + head->nk * (2 * head->d + 1);
}

static double scale_of(const struct lab_transfer_head *head)
{
    return head->rule->scale_is_set ? head->rule->scale
                                    : 1 / sqrt(fmax((double)head->d, 1));
}

static int64_t length_of(const struct lab_transfer_head *head)
{
    return head->rule->key_lengths ? head->rule->key_lengths[0] : head->nk;
}

static attend_status forward(attend_context *ctx, const struct lab_transfer_head *head,
                             const double *k, double *out, double *rows,
                             attend_error *err)
{
    attend_io io = attend_io_default();
    attend_stats stats = attend_stats_default();

    io.q = attend_view_dense(head->q, ATTEND_F64, 1, 1, head->nq, head->d);
    io.k = attend_view_dense(k, ATTEND_F64, 1, 1, head->nk, head->d);
    io.v = attend_view_dense(head->v, ATTEND_F64, 1, 1, head->nk, head->dv);
    io.out = attend_tensor_dense(out, ATTEND_F64, 1, 1, head->nq, head->dv);
    stats.columns = columns;
    if (rows) {
        stats.rows = attend_tensor_dense(rows, ATTEND_F64, 1, 1, head->nq, COLUMNS);
        io.stats = &stats;
    }
    return attend_forward(ctx, head->rule, &io, err);
}

attend_status lab_transfer_exact(attend_context *ctx,
                                 const struct lab_transfer_head *head, double *scratch,
                                 attend_error *err)
{
    const struct places at = places_of(head, scratch);

    return forward(ctx, head, head->k, at.output, at.stats, err);
}

/* The weights of row i, by a zoom of one row. */
static attend_status row_weights(attend_context *ctx,
                                 const struct lab_transfer_head *head,
                                 const struct places *at, int64_t i, attend_error *err)
{
    attend_inspection inspection = attend_inspection_default();

    inspection.q = attend_view_dense(head->q, ATTEND_F64, 1, 1, head->nq, head->d);
    inspection.k = attend_view_dense(head->k, ATTEND_F64, 1, 1, head->nk, head->d);
    inspection.lse =
        (attend_view){.data = at->stats + LSE,
                      .dtype = ATTEND_F64,
                      .size = {1, 1, head->nq, 1},
                      .stride = {head->nq * COLUMNS, head->nq * COLUMNS, COLUMNS, 1}};
    inspection.zoom = attend_tensor_dense(at->weights, ATTEND_F64, 1, 1, 1, head->nk);
    inspection.zoom_query = i;
    return attend_inspect(ctx, head->rule, &inspection, err);
}

/* |x - y|^2 */
static double distance2(const double *x, const double *y, int64_t count)
{
    double sum = 0;

    for (int64_t c = 0; c < count; c++)
        sum += (x[c] - y[c]) * (x[c] - y[c]);
    return sum;
}

/* Adds row i: its error by T24, and the errors of its scores. */
static void add_delta(const struct lab_transfer_head *head, const struct places *at,
                      int64_t i, struct lab_transfer_sums *sums)
{
    const double *const q = head->q + i * head->d, *const c = at->output + i * head->dv;
    const double scale = scale_of(head);

    for (int64_t j = 0; j < head->nk; j++) {
        const double p = at->weights[j];
        double expected = 0, moved = 0;
        if (!(p > 0)) /* hidden */
            continue;
        for (int64_t x = 0; x < head->d; x++) {
            const int64_t entry = j * head->d + x;
            expected += q[x] * q[x] * at->variance[entry];
            moved += q[x] * (at->rounded[entry] - head->k[entry]);
        }
        expected *= scale * scale;
        sums->delta += p * p * expected * distance2(head->v + j * head->dv, c, head->dv);
        sums->score_variance += p * expected;
        sums->score_measured += p * scale * scale * moved * moved;
    }
}

static int counts(const struct places *at, int64_t i, double output, double measured)
{
    return at->stats[i * COLUMNS + KEYS] >= 1 && isfinite(output) && isfinite(measured) &&
           isfinite(at->stats[i * COLUMNS + NOISE]);
}

static double mean_of(const double *x, int64_t count)
{
    double sum = 0;

    for (int64_t c = 0; c < count; c++)
        sum += x[c];
    return count ? sum / (double)count : 0;
}

/* Over all rows. */
static void add_rows(const struct lab_transfer_head *head, const struct places *at,
                     struct lab_transfer_sums *sums)
{
    const double entry = mean_of(at->variance, length_of(head) * head->d);

    for (int64_t i = 0; i < head->nq; i++) {
        const double *const c = at->output + i * head->dv;
        const double output = lab_dot(c, c, head->dv);
        const double measured = distance2(at->moved + i * head->dv, c, head->dv);
        if (!counts(at, i, output, measured))
            continue;
        sums->rows++;
        sums->output += output;
        sums->measured += measured;
        sums->statistic += entry * at->stats[i * COLUMNS + NOISE];
    }
}

/* Entries beyond the key length stay as they are. */
static void round_keys(const struct lab_transfer_head *head, enum lab_key_format format,
                       const struct places *at)
{
    const int64_t length = length_of(head), d = head->d;

    lab_round_keys(format, head->k, length, d, at->rounded, at->variance);
    for (int64_t c = length * d; c < head->nk * d; c++) {
        at->rounded[c] = head->k[c];
        at->variance[c] = 0;
    }
}

attend_status lab_transfer_rounded(attend_context *ctx,
                                   const struct lab_transfer_head *head,
                                   enum lab_key_format format, int64_t rows,
                                   double *scratch, struct lab_transfer_sums *sums,
                                   attend_error *err)
{
    const struct places at = places_of(head, scratch);
    int64_t index = 0;

    *sums = (struct lab_transfer_sums){.rows = 0};
    round_keys(head, format, &at);
    attend_status status = forward(ctx, head, at.rounded, at.moved, NULL, err);
    if (status != ATTEND_OK)
        return status;
    add_rows(head, &at, sums);
    for (int64_t i = 0; i < head->nq && status == ATTEND_OK; i++) {
        const double *const c = at.output + i * head->dv;
        const double output = lab_dot(c, c, head->dv);
        const double measured = distance2(at.moved + i * head->dv, c, head->dv);
        if (!counts(&at, i, output, measured) ||
            !lab_is_sampled(index++, sums->rows, rows))
            continue;
        status = row_weights(ctx, head, &at, i, err);
        sums->delta_rows++;
        sums->delta_output += output;
        sums->delta_measured += measured;
        add_delta(head, &at, i, sums);
    }
    return status;
}

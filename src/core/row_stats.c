/* SPDX-License-Identifier: MIT */
#include "core/row_stats.h"

#include <math.h>

#include "base/base.h"
#include "base/error.h"
#include "core/operands.h"
#include "core/problem.h"
#include "base/published.h"
#include "core/row_stats_read.h"
#include "core/tensor.h"

static const struct {
    const char *name;
    unsigned needs;
} known[ATTEND_STAT_COUNT] = {
    [ATTEND_STAT_KEYS] = {"keys", STATS_RAW},
    [ATTEND_STAT_MAX] = {"max", 0},
    [ATTEND_STAT_LSE] = {"lse", 0},
    [ATTEND_STAT_TOP_WEIGHT] = {"top_weight", 0},
    [ATTEND_STAT_ENTROPY] = {"entropy", 0},
    [ATTEND_STAT_KEYS_EFF] = {"keys_eff", 0},
    [ATTEND_STAT_N_EFF] = {"n_eff", 0},
    [ATTEND_STAT_SCORE_VARIANCE] = {"score_variance", STATS_SPREAD2},
    [ATTEND_STAT_RAW_MEAN] = {"raw_mean", STATS_RAW},
    [ATTEND_STAT_RAW_VARIANCE] = {"raw_variance", STATS_RAW},
    [ATTEND_STAT_MARGIN] = {"margin", STATS_TOP},
    [ATTEND_STAT_SINK1] = {"sink1", STATS_SINK},
    [ATTEND_STAT_SINK4] = {"sink4", STATS_SINK},
    [ATTEND_STAT_SELF] = {"self", STATS_NEAR},
    [ATTEND_STAT_PREVIOUS] = {"previous", STATS_NEAR},
    [ATTEND_STAT_SECOND_PREVIOUS] = {"second_previous", STATS_NEAR},
    [ATTEND_STAT_DISTANCE] = {"distance", STATS_DISTANCE},
    [ATTEND_STAT_LOG_DISTANCE] = {"log_distance", STATS_LOG_DISTANCE},
    [ATTEND_STAT_VALUE_NORM] = {"value_norm", STATS_NORM},
    [ATTEND_STAT_CANCELLATION] = {"cancellation", STATS_NORM},
    [ATTEND_STAT_KEY_NOISE] = {"key_noise", STATS_KEY_NOISE},
    [ATTEND_STAT_MAGNITUDE_NOISE] = {"magnitude_noise", STATS_MAGNITUDE_NOISE},
};

static const unsigned summary_needs = STATS_RAW | STATS_TOP | STATS_SINK;

const char *attend_stat_name(attend_stat stat)
{
    return (int)stat >= 0 && stat < ATTEND_STAT_COUNT ? known[stat].name : "unknown";
}

/* Validates an optional tensor (nb, hq, nq, columns), with 1 <= columns <= most. */
static attend_status read_tensor(struct problem *p, const char *name,
                                 const attend_tensor *from, int64_t most, unsigned needs,
                                 attend_tensor *to, int *columns, attend_error *err)
{
    const int64_t size[4] = {p->nb, p->hq, p->nq, from->size[3]};

    if (!from->data)
        return ATTEND_OK;
    *to = *from;
    attendi_drop_empty_strides(to->size, to->stride);
    *columns = (int)from->size[3];
    p->stats.needs |= needs | STATS_ROWS;
    if (from->size[3] < 1 || from->size[3] > most)
        return attendi_fail(err, ATTEND_EINVAL, "%s.size[3] (%lld) is outside 1..%lld",
                            name, LL(from->size[3]), LL(most));
    TRY(attendi_tensor_check(name, from, size, err));
    return attendi_dtype_check(name, from->dtype, 0, err);
}

static attend_status read_columns(struct problem *p, const attend_stats *request,
                                  attend_error *err)
{
    struct stats *const s = &p->stats;
    TRY(read_tensor(p, "stats.rows", &request->rows, ATTEND_STAT_COUNT, 0, &s->rows,
                    &s->columns, err));
    if (s->columns > 0 && !request->columns)
        return attendi_fail(err, ATTEND_EINVAL, "stats.columns is NULL");
    for (int c = 0; c < s->columns; c++) {
        const attend_stat stat = request->columns[c];

        if ((int)stat < 0 || stat >= ATTEND_STAT_COUNT)
            return attendi_fail(err, ATTEND_EINVAL,
                                "stats.columns[%d] (%d) is not a statistic", c,
                                (int)stat);
        if (s->wanted >> stat & 1)
            return attendi_fail(err, ATTEND_EINVAL, "stats.columns[%d] (%s) is repeated",
                                c, known[stat].name);
        s->wanted |= 1u << stat;
        s->column[c] = stat;
        s->needs |= known[stat].needs;
        s->ln_count = stat == ATTEND_STAT_LOG_DISTANCE ? p->nq + p->nk : s->ln_count;
        s->top = stat == ATTEND_STAT_MARGIN ? 2 : s->top;
    }
    return ATTEND_OK;
}

static attend_status read_top(struct problem *p, const attend_stats *request,
                              attend_error *err)
{
    struct stats *const s = &p->stats;

    if (!request->top_weights.data && request->top_keys && p->nb > 0 && p->hq > 0 &&
        p->nq > 0)
        return attendi_fail(err, ATTEND_EINVAL,
                            "stats.top_keys is set but stats.top_weights is not");
    const attend_status status =
        read_tensor(p, "stats.top_weights", &request->top_weights, ATTEND_TOP_MAX,
                    STATS_TOP, &s->top_weights, &s->named, err);
    s->top_keys = request->top_keys;
    s->top = s->named > s->top ? s->named : s->top;
    TRY(status);
    return attendi_array_check("stats.top_keys", s->top_keys, sizeof *s->top_keys, err);
}

static attend_status read_classes(struct problem *p, const attend_stats *request,
                                  attend_error *err)
{
    struct stats *const s = &p->stats;
    const attend_status status =
        read_tensor(p, "stats.class_mass", &request->class_mass, STATS_BINS_MAX,
                    STATS_CLASSES, &s->class_mass, &s->class_count, err);

    if (status != ATTEND_OK || s->class_count == 0)
        return status;
    if (!request->classes && p->nb > 0 && p->nk > 0)
        return attendi_fail(err, ATTEND_EINVAL, "stats.classes is NULL");
    int64_t keys;
    if (__builtin_mul_overflow(p->nb, p->nk, &keys) ||
        count_bytes(keys, sizeof *request->classes) == SIZE_MAX)
        return attendi_fail(err, ATTEND_EINVAL,
                            "stats.classes of (%lld, %lld) leaves the address space",
                            LL(p->nb), LL(p->nk));
    s->classes = request->classes;
    return attendi_array_check("stats.classes", s->classes, sizeof *s->classes, err);
}

/* The layout of the raw sums, which depends on the other fields. */
static attend_status read_raw(struct problem *p, const attend_stats *request,
                              attend_error *err)
{
    struct stats *const s = &p->stats;
    const unsigned of_values = STATS_NORM | STATS_KEY_NOISE | STATS_MAGNITUDE_NOISE;

    s->sums =
        (struct sums_layout){.top = s->top,
                             .bins = s->bins,
                             .class_count = s->class_count,
                             .columns = s->needs & of_values ? (int)p->dv : 0,
                             .key_noise = (s->needs & STATS_KEY_NOISE) != 0,
                             .magnitude_noise = (s->needs & STATS_MAGNITUDE_NOISE) != 0};
    s->sums_length = s->needs ? attendi_sums_length(&s->sums) : 0;
    if (!request->raw.data)
        return ATTEND_OK;
    s->raw = request->raw;
    attendi_drop_empty_strides(s->raw.size, s->raw.stride);
    const int64_t size[4] = {p->nb, p->hq, p->nq, s->sums_length};
    TRY(attendi_tensor_check("stats.raw", &request->raw, size, err));
    return attendi_dtype_check("stats.raw", request->raw.dtype, ATTEND_F64, err);
}

/* The array of summaries, with the caller's struct size and number of kinds. */
static attend_status read_summaries(struct problem *p, const attend_stats *request,
                                    attend_error *err)
{
    const int64_t stride =
        request->summary_stride ? request->summary_stride : SUMMARY_BYTES_0_1;
    const int64_t kinds =
        request->summary_kinds ? request->summary_kinds : SUMMARY_KINDS_0_1;

    if (!request->summaries)
        return ATTEND_OK;
    if (stride < SUMMARY_BYTES_0_1 || stride > SUMMARY_BYTES_MOST || stride % 8 != 0)
        return attendi_fail(
            err, ATTEND_EINVAL,
            "stats.summary_stride (%lld) is not a multiple of 8 in %d..%d", LL(stride),
            SUMMARY_BYTES_0_1, SUMMARY_BYTES_MOST);
    if (kinds < 1 || kinds > SUMMARY_KINDS_MOST)
        return attendi_fail(err, ATTEND_EINVAL,
                            "stats.summary_kinds (%lld) is outside 1..%d", LL(kinds),
                            SUMMARY_KINDS_MOST);
    TRY(attendi_array_check("stats.summaries", request->summaries, sizeof(int64_t), err));
    p->stats.summaries = request->summaries;
    p->stats.summary_stride = stride;
    p->stats.summary_kinds = (int)kinds;
    p->stats.top = (int)max_i64(p->stats.top, 2);
    p->stats.needs |= summary_needs | STATS_ROWS;
    return ATTEND_OK;
}

attend_status attendi_stats_init(struct problem *p, const attend_stats *given,
                                 attend_error *err)
{
    attend_stats request;

    p->stats = (struct stats){0};
    if (!given)
        return ATTEND_OK;
    TRY(attendi_stats_request_read(given, &request, err));
    TRY(read_columns(p, &request, err));
    TRY(read_top(p, &request, err));
    TRY(read_tensor(p, "stats.distances", &request.distances, STATS_BINS_MAX, STATS_BINS,
                    &p->stats.distances, &p->stats.bins, err));
    TRY(read_classes(p, &request, err));
    TRY(read_summaries(p, &request, err));
    TRY(read_raw(p, &request, err));
    if (p->stats.top > 0 && p->nk > INT32_MAX)
        return attendi_fail(err, ATTEND_EUNSUPPORTED,
                            "stats: the largest scores of %lld (nk) keys cannot be named",
                            LL(p->nk));
    return ATTEND_OK;
}

void attendi_stats_add_operands(const struct problem *p, struct operands *all)
{
    const struct stats *const s = &p->stats;
    const int64_t heads = p->nb * p->hq;
    int64_t summaries;

    attendi_add_output(all, "stats.raw", &s->raw);
    attendi_add_input_array(all, "stats.classes", s->classes,
                            s->classes ? p->nb * p->nk : 0, sizeof *s->classes);
    if (p->shard) /* only raw sums are written */
        return;
    attendi_add_output(all, "stats.rows", &s->rows);
    attendi_add_output(all, "stats.top_weights", &s->top_weights);
    attendi_add_output(all, "stats.distances", &s->distances);
    attendi_add_output(all, "stats.class_mass", &s->class_mass);
    attendi_add_output_array(all, "stats.top_keys", s->top_keys,
                             s->top_keys ? heads * p->nq * s->named : 0,
                             sizeof *s->top_keys);
    if (s->summaries && !__builtin_mul_overflow(
                            heads, s->summary_kinds * ATTEND_SUMMARY_GROUPS, &summaries))
        attendi_add_output_array(all, "stats.summaries", s->summaries, summaries,
                                 (size_t)s->summary_stride);
}

static void store_numbers(const attend_tensor *to, int64_t b, int64_t h, int64_t i,
                          const double *numbers, int count)
{
    void *const row = attendi_tensor_row(to, b, h, i);

    for (int x = 0; x < count; x++)
        attendi_store(row, to->dtype, x * to->stride[3], numbers[x]);
}

void attendi_stats_store(const struct problem *p, int64_t b, int64_t h, int64_t i,
                         const struct row_stats *row)
{
    const struct stats *const s = &p->stats;
    const int64_t index = (b * p->hq + h) * p->nq + i;

    if (s->rows.data) {
        double numbers[ATTEND_STAT_COUNT];

        for (int c = 0; c < s->columns; c++)
            numbers[c] = row->value[s->column[c]];
        store_numbers(&s->rows, b, h, i, numbers, s->columns);
    }
    if (s->top_weights.data)
        store_numbers(&s->top_weights, b, h, i, row->top_weight, s->named);
    for (int x = 0; s->top_keys && x < s->named; x++)
        s->top_keys[index * s->named + x] = row->top_key[x];
    if (s->distances.data)
        store_numbers(&s->distances, b, h, i, row->bin, s->bins);
    if (s->class_mass.data)
        store_numbers(&s->class_mass, b, h, i, row->class_mass, s->class_count);
    if (s->digest)
        attendi_stats_digest(s->digest + index * ATTEND_SUMMARY_COUNT, row->value);
}

void attendi_stats_store_raw(const struct problem *p, int64_t b, int64_t h, int64_t i,
                             double *sums)
{
    attendi_sums_move(&p->stats.sums, sums, p->first_key);
    if (p->stats.raw.data)
        store_numbers(&p->stats.raw, b, h, i, sums, p->stats.sums_length);
}

void attendi_stats_finish(const struct problem *p, int64_t b, int64_t h, int64_t i,
                          double *sums)
{
    struct row_stats row;

    attendi_stats_store_raw(p, b, h, i, sums);
    if (sums[ROW_MAX] == -INFINITY)
        attendi_stats_no_keys(&row);
    else if (isnan(sums[ROW_MAX]))
        attendi_stats_not_numbers(&row, sums[ROW_KEYS]);
    else {
        const struct stats_products products =
            attendi_stats_products(&p->stats, sums, 0, 1);
        attendi_stats_read(p, sums, &products, 0, 1, &row);
    }
    attendi_stats_store(p, b, h, i, &row);
}

/* SPDX-License-Identifier: MIT */
/* Tensors of a layer, head by head: the page shows each as it comes, and can stop. */
#include "page.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "attend/stats.h"
#include "lab/place/place_rows.h"
#include "page_figures.h"
#include "page_report.h"

/* The columns of `attend stats --json`, in its order. */
static const attend_stat columns[] = {
    ATTEND_STAT_KEYS,       ATTEND_STAT_MAX,          ATTEND_STAT_LSE,
    ATTEND_STAT_ENTROPY,    ATTEND_STAT_KEYS_EFF,     ATTEND_STAT_N_EFF,
    ATTEND_STAT_TOP_WEIGHT, ATTEND_STAT_MARGIN,       ATTEND_STAT_SINK1,
    ATTEND_STAT_SINK4,      ATTEND_STAT_SELF,         ATTEND_STAT_PREVIOUS,
    ATTEND_STAT_DISTANCE,   ATTEND_STAT_LOG_DISTANCE, ATTEND_STAT_SCORE_VARIANCE,
    ATTEND_STAT_RAW_MEAN,   ATTEND_STAT_RAW_VARIANCE, ATTEND_STAT_SECOND_PREVIOUS,
    ATTEND_STAT_VALUE_NORM, ATTEND_STAT_CANCELLATION,
};
enum {
    COLUMNS = sizeof columns / sizeof columns[0],
    OF_VALUES = 2,
    LSE = 2,
    PLACED = 16
};

static attend_view tensor[3]; /* q, k, v as the page gave them; no data: none */
static attend_rule rule;
static double noise;
static attend_context *ctx;

/* Results of the last head. */
static double *rows, *top;
static char *output;
static float *map, *zoom;
static attend_error err;

/* Heads placed so far. */
static struct lab_run placing;
static struct lab_figures places;
static struct lab_place_figures place_figures;
static int is_placing;

static void forget_places(void)
{
    lab_figures_free(&places);
    places = (struct lab_figures){.count = 0};
    is_placing = 0;
}

const char *page_tensor(int which, void *data, int dtype, const double *size,
                        const double *stride)
{
    attend_options options = attend_options_default();

    options.threads = 1;
    if (!ctx && attend_context_create(&ctx, &options, &err) != ATTEND_OK)
        return err.message;
    if (which == 0)
        memset(tensor, 0, sizeof tensor);
    forget_places();
    tensor[which].data = data;
    tensor[which].dtype = (attend_dtype)dtype;
    for (int a = 0; a < 4; a++) {
        tensor[which].size[a] = (int64_t)size[a];
        tensor[which].stride[a] = (int64_t)stride[a];
    }
    return "";
}

void page_rule(int causal, double scale, double window, double softcap, double of_keys)
{
    rule = attend_rule_default();
    rule.causal = (attend_causal)causal;
    rule.scale_is_set = !isnan(scale);
    rule.scale = isnan(scale) ? 0 : scale;
    rule.window_left = (int64_t)window;
    rule.softcap = softcap;
    noise = of_keys;
    forget_places();
}

/* ---- a head ---------------------------------------------------------------------- */

/* Head h of batch b, of a tensor that may have fewer heads than q. */
static attend_view head_of(int which, int64_t b, int64_t h)
{
    attend_view view = tensor[which];
    const int64_t group = view.size[1] > 0 ? tensor[0].size[1] / view.size[1] : 1;
    const int64_t at = b * view.stride[0] + h / (group > 0 ? group : 1) * view.stride[1];

    if (view.data)
        view.data = (const char *)view.data + at * (int64_t)attend_dtype_size(view.dtype);
    view.size[0] = view.size[1] = 1;
    return view;
}

static attend_view values_of(int64_t b, int64_t h)
{
    attend_view view = head_of(tensor[2].data ? 2 : 1, b, h);

    if (!tensor[2].data)
        view.size[3] = 0;
    return view;
}

static attend_tensor dense(void *data, attend_dtype dtype, int64_t l, int64_t d)
{
    return attend_tensor_dense(data, dtype, 1, 1, l, d);
}

static void *room(void *old, int64_t count, size_t size)
{
    free(old);
    return calloc(count > 0 ? (size_t)count : 1, size);
}

static int column_count(void) { return tensor[2].data ? COLUMNS : COLUMNS - OF_VALUES; }

static int forward(int64_t b, int64_t h, attend_stats *stats)
{
    attend_io io = attend_io_default();

    io.q = head_of(0, b, h);
    io.k = head_of(1, b, h);
    io.v = values_of(b, h);
    const int64_t nq = io.q.size[2], dv = io.v.size[3];
    rows = room(rows, nq * column_count(), sizeof *rows);
    top = room(top, nq * ATTEND_TOP_MAX, sizeof *top);
    output = room(output, nq * dv, attend_dtype_size(io.q.dtype));
    if (!rows || !top || !output) {
        snprintf(err.message, sizeof err.message, "out of memory for %lld rows",
                 (long long)nq);
        return -1;
    }
    io.out = dense(output, io.q.dtype, nq, dv);
    *stats = attend_stats_default();
    stats->columns = columns;
    stats->rows = dense(rows, ATTEND_F64, nq, column_count());
    stats->top_weights = dense(top, ATTEND_F64, nq, ATTEND_TOP_MAX);
    io.stats = stats;
    return attend_forward(ctx, &rule, &io, &err) == ATTEND_OK ? 0 : -1;
}

static attend_view lse_view(void)
{
    attend_view lse = {rows + LSE, ATTEND_F64, {1, 1, tensor[0].size[2], 1}, {0}};

    lse.stride[2] = column_count();
    lse.stride[3] = 1;
    return lse;
}

static attend_inspection inspection_of(int64_t b, int64_t h)
{
    attend_inspection inspection = attend_inspection_default();

    inspection.q = head_of(0, b, h);
    inspection.k = head_of(1, b, h);
    inspection.lse = lse_view();
    return inspection;
}

/* Outputs are f64 where the inputs are. */
static int inspect(attend_inspection *inspection, attend_tensor *wanted, float **to)
{
    const int64_t count = wanted->size[2] * wanted->size[3];
    double *const wide = tensor[0].dtype == ATTEND_F64
                             ? calloc((size_t)(count > 0 ? count : 1), sizeof *wide)
                             : NULL;

    *to = room(*to, count, sizeof **to);
    if (!*to || (tensor[0].dtype == ATTEND_F64 && !wide)) {
        free(wide);
        snprintf(err.message, sizeof err.message, "out of memory for a map");
        return -1;
    }
    wanted->data = wide ? (void *)wide : (void *)*to;
    wanted->dtype = wide ? ATTEND_F64 : ATTEND_F32;
    const int failed = attend_inspect(ctx, &rule, inspection, &err) != ATTEND_OK;
    for (int64_t x = 0; wide && x < count; x++)
        (*to)[x] = (float)wide[x];
    free(wide);
    return failed ? -1 : 0;
}

/* ---- its statistics as JSON ----------------------------------------------------------
 */

/* Means over the rows that see a key and have no NaN, as `attend stats` has them. */
static void put_means(struct lab_json *json, int64_t nq)
{
    double sum[COLUMNS] = {0}, counted = 0, with_choice = 0;
    const int count = column_count();

    for (int64_t i = 0; i < nq; i++) {
        const double *const row = rows + i * count;

        if (!(row[0] >= 1) || isnan(row[1]))
            continue;
        counted++;
        with_choice += row[0] >= 2;
        for (int c = 0; c < count; c++)
            if (columns[c] != ATTEND_STAT_MARGIN || row[0] >= 2)
                sum[c] += row[c];
    }
    lab_json_put(json, "rows:r", counted);
    for (int c = 0; c < count; c++) {
        lab_json_key(json, attend_stat_name(columns[c]));
        lab_json_real(
            json, sum[c] / (columns[c] == ATTEND_STAT_MARGIN ? with_choice : counted));
    }
}

static void put_character(struct lab_json *json, const attend_stats *stats)
{
    attend_head head = attend_head_default();
    char reason[200];

    attend_head_read(stats, 0, 0, &head, NULL);
    const char *const character =
        attend_character_name(attend_head_character(&head, noise, reason, sizeof reason));
    lab_json_put(json, "entropy_share:r raw_sd:r", head.entropy_share, head.raw_sd);
    lab_json_reals(json, "top_mass", head.top_mass, ATTEND_TOP_MAX);
    lab_json_put(json, "character:s reason:s", character, reason);
}

static double cell(int64_t i, attend_stat stat)
{
    for (int c = 0; c < column_count(); c++)
        if (columns[c] == stat)
            return rows[i * column_count() + c];
    return NAN;
}

static void on_placed(void *user, const struct lab_row *row)
{
    (void)user;
    (void)row;
}

/* Adds the head to the phase diagram and the other maps; 0, or -1. */
static int place(int b, int h, int64_t nq, struct lab_place_head *found)
{
    struct lab_place_row *const row = calloc((size_t)(nq > 0 ? nq : 1), sizeof *row);
    int64_t chosen[PLACED];
    struct lab_place_sample sample = {
        .b = b, .h = h, .rows = row, .count = nq, .chosen = chosen};

    if (!row)
        return -1;
    if (!is_placing) {
        lab_run_init(&placing, &lab_place_tensors);
        placing.session.threads = 1;
        placing.row = on_placed;
        placing.figures = &places;
        lab_set(&placing, "noise", noise);
        lab_place_figures_open(&placing, 0, &place_figures);
        is_placing = 1;
    }
    for (int64_t i = 0; i < nq; i++)
        row[i] = (struct lab_place_row){
            .keys = cell(i, ATTEND_STAT_KEYS),
            .max = cell(i, ATTEND_STAT_MAX),
            .margin = cell(i, ATTEND_STAT_MARGIN),
            .top_weight = cell(i, ATTEND_STAT_TOP_WEIGHT),
            .entropy = cell(i, ATTEND_STAT_ENTROPY),
            .n_eff = cell(i, ATTEND_STAT_N_EFF),
            .raw_mean = cell(i, ATTEND_STAT_RAW_MEAN),
            .raw_variance = cell(i, ATTEND_STAT_RAW_VARIANCE),
        };
    lab_place_choose(&sample, PLACED);
    const int failed = lab_place_emit(&placing, &sample, NULL, &place_figures, found);
    free(row);
    return failed;
}

static void put_place(struct lab_json *json, const struct lab_place_head *head)
{
    lab_json_put(json,
                 "place:{ spread:r freezing_spread:r scale:r scale_min:r score_noise:r "
                 "fragile_share:r phase:s }",
                 head->mean.spread, head->mean.freezing, head->mean.scale,
                 head->mean.scale_min, head->mean.score_noise, head->fragile,
                 head->rows == 0                ? "no choice"
                 : lab_place_is_condensed(head) ? "condensed"
                                                : "spread");
}

const char *page_head(int b, int h, int cells)
{
    const int64_t nq = tensor[0].size[2], nk = tensor[1].size[2];
    const int64_t longest = nq > nk ? nq : nk;
    const int64_t block = longest > cells ? (longest + cells - 1) / cells : 1;
    attend_stats stats;
    struct lab_place_head placed;

    if (forward(b, h, &stats))
        return page_refuse(err.message);
    attend_inspection inspection = inspection_of(b, h);
    inspection.pooled =
        dense(NULL, ATTEND_F32, (nq + block - 1) / block, (nk + block - 1) / block);
    inspection.pooled_block = block;
    if (inspect(&inspection, &inspection.pooled, &map))
        return page_refuse(err.message);
    if (place(b, h, nq, &placed))
        return page_refuse(*placing.session.error ? placing.session.error
                                                  : "out of memory");
    struct lab_json *const json = page_begin();
    lab_json_put(json, "b:i h:i", b, h);
    put_means(json, nq);
    put_character(json, &stats);
    put_place(json, &placed);
    lab_json_put(json, "block:l map_rows:l map_columns:l", block,
                 inspection.pooled.size[2], inspection.pooled.size[3]);
    return page_end();
}

const float *page_map(void) { return map; }

const float *page_zoom(int b, int h, double query, double key, int count, int across)
{
    attend_stats stats;

    if (forward(b, h, &stats))
        return NULL;
    attend_inspection inspection = inspection_of(b, h);
    inspection.zoom = dense(NULL, ATTEND_F32, count, across);
    inspection.zoom_query = (int64_t)query;
    inspection.zoom_key = (int64_t)key;
    return inspect(&inspection, &inspection.zoom, &zoom) ? NULL : zoom;
}

const char *page_zoom_error(void) { return err.message; }

const char *page_places(void)
{
    if (!is_placing)
        return page_refuse("no head was placed");
    lab_place_figures_close(&place_figures);
    page_figures_put(page_begin(), &places);
    forget_places();
    return page_end();
}

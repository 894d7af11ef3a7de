/* SPDX-License-Identifier: MIT */
/* `attend stats --json`: one object per line, of heads or of rows. */
#include "stats_tool.h"

#include "shared/json_line.h"

static void put_row(struct lab_json *json, const struct stats_args *args,
                    const struct stats_result *r, int64_t b, int64_t h, int64_t i)
{
    const int64_t *const keys =
        r->rows.top_keys + ((b * r->hq + h) * r->nq + i) * ATTEND_TOP_MAX;

    lab_json_put(json, "b:l h:l i:l", b, h, i);
    for (int c = 1; c < STATS_ROW_COLUMNS; c++) {
        lab_json_key(json, attend_stat_name(r->column[c]));
        lab_json_real(json, stats_element(&r->rows.rows, b, h, i, c));
    }
    if (!args->top)
        return;
    lab_json_put(json, "top:[");
    for (int x = 0; x < args->top && keys[x] >= 0; x++)
        lab_json_put(json, "[ l r ]", keys[x],
                     stats_element(&r->rows.top_weights, b, h, i, x));
    lab_json_end(json, ']');
}

/* Line l of a tensor as a list. */
static void put_line(struct lab_json *json, const attend_tensor *tensor, int64_t b,
                     int64_t h, int64_t l)
{
    lab_json_begin(json, '[');
    for (int64_t d = 0; d < tensor->size[3]; d++)
        lab_json_real(json, stats_element(tensor, b, h, l, d));
    lab_json_end(json, ']');
}

static void put_summary(struct lab_json *json, const char *name,
                        const attend_summary *groups)
{
    lab_json_key(json, name);
    lab_json_put(json, "{ rows:l mean:r sd:r min:r max:r histogram:[",
                 (int64_t)groups->rows, groups->mean, groups->sd, groups->min,
                 groups->max);
    for (int x = 0; x < ATTEND_SUMMARY_BINS; x++)
        lab_json_whole(json, groups->histogram[x]);
    lab_json_put(json, "] mean_by_tenth:[");
    for (int x = 1; x < ATTEND_SUMMARY_GROUPS; x++)
        lab_json_real(json, groups[x].mean);
    lab_json_put(json, "] }");
}

static void put_summaries(struct lab_json *json, const struct stats_result *r, int64_t b,
                          int64_t h)
{
    static const char *const names[ATTEND_SUMMARY_COUNT] = {
        [ATTEND_SUMMARY_ENTROPY] = "entropy_share",
        [ATTEND_SUMMARY_N_EFF] = "n_eff_share",
        [ATTEND_SUMMARY_TOP_WEIGHT] = "top_weight",
        [ATTEND_SUMMARY_MARGIN] = "margin",
        [ATTEND_SUMMARY_SINK1] = "sink1"};

    lab_json_put(json, "summary:{");
    for (int x = 0; x < ATTEND_SUMMARY_COUNT; x++)
        put_summary(json, names[x],
                    r->rows.summaries + ((b * r->hq + h) * ATTEND_SUMMARY_COUNT + x) *
                                            ATTEND_SUMMARY_GROUPS);
    lab_json_end(json, '}');
}

static void put_inspection(struct lab_json *json, const struct stats_result *r, int64_t b,
                           int64_t h)
{
    const struct {
        const char *name;
        const attend_tensor *tensor;
    } columns[] = {{"column_mass", &r->inspection.column_mass},
                   {"column_max", &r->inspection.column_max},
                   {"column_last", &r->inspection.column_last}};

    for (size_t x = 0; x < sizeof columns / sizeof columns[0]; x++)
        if (columns[x].tensor->data) {
            lab_json_key(json, columns[x].name);
            put_line(json, columns[x].tensor, b, h, 0);
        }
    if (!r->inspection.zoom.data)
        return;
    lab_json_put(json, "zoom:[");
    for (int64_t l = 0; l < r->inspection.zoom.size[2]; l++)
        put_line(json, &r->inspection.zoom, b, h, l);
    lab_json_end(json, ']');
}

static void put_head(struct lab_json *json, const struct stats_args *args,
                     const struct stats_result *r, int64_t b, int64_t h)
{
    struct stats_head means;

    stats_head_read(r, args->noise, b, h, &means);
    lab_json_put(json, "b:l h:l rows:l", b, h, (int64_t)means.head.rows);
    for (int c = 0; c < r->columns; c++) {
        lab_json_key(json, attend_stat_name(r->column[c]));
        lab_json_real(json, means.mean[r->column[c]]);
    }
    lab_json_put(json, "entropy_share:r raw_sd:r", means.head.entropy_share,
                 means.head.raw_sd);
    if (args->top)
        lab_json_reals(json, "top_mass", means.head.top_mass, args->top);
    lab_json_put(json, "character:s reason:s", attend_character_name(means.character),
                 means.reason);
    put_summaries(json, r, b, h);
    put_inspection(json, r, b, h);
}

/* An object for a row, or for the head where `i` is negative. */
static int print_one(const struct stats_args *args, const struct stats_result *r,
                     int64_t b, int64_t h, int64_t i)
{
    struct lab_json json;

    tool_open_json(&json);
    if (i < 0)
        put_head(&json, args, r, b, h);
    else
        put_row(&json, args, r, b, h, i);
    return tool_put_json("stats", &json);
}

int stats_print_json(const struct stats_args *args, const struct stats_result *r)
{
    const int64_t first = args->wants_rows ? 0 : -1, end = args->wants_rows ? r->nq : 0;
    int status = TOOL_OK;

    for (int64_t b = 0; b < r->nb; b++)
        for (int64_t h = 0; h < r->hq; h++)
            for (int64_t i = first; i < end && !status; i++)
                status = print_one(args, r, b, h, i);
    return status;
}

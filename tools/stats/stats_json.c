/* SPDX-License-Identifier: MIT */
/* `attend stats --json`: one object per line, of heads or of rows. */
#include "stats_tool.h"

#include "shared/json_line.h"

static json_t *top_of_row(const struct stats_args *args, const struct stats_result *r,
                          int64_t b, int64_t h, int64_t i)
{
    const int64_t *const keys =
        r->rows.top_keys + ((b * r->hq + h) * r->nq + i) * ATTEND_TOP_MAX;
    json_t *const top = json_array();

    for (int x = 0; x < args->top && keys[x] >= 0; x++)
        json_array_append_new(
            top,
            json_pack("[I, o]", (json_int_t)keys[x],
                      tool_json_real(stats_element(&r->rows.top_weights, b, h, i, x))));
    return top;
}

static json_t *row(const struct stats_args *args, const struct stats_result *r, int64_t b,
                   int64_t h, int64_t i)
{
    json_t *const object = json_pack("{s:I, s:I, s:I}", "b", (json_int_t)b, "h",
                                     (json_int_t)h, "i", (json_int_t)i);

    for (int c = 1; c < STATS_ROW_COLUMNS; c++)
        json_object_set_new(object, attend_stat_name(r->column[c]),
                            tool_json_real(stats_element(&r->rows.rows, b, h, i, c)));
    if (args->top)
        json_object_set_new(object, "top", top_of_row(args, r, b, h, i));
    return object;
}

/* Line l of a tensor as numbers. */
static json_t *line(const attend_tensor *tensor, int64_t b, int64_t h, int64_t l)
{
    json_t *const array = json_array();

    for (int64_t d = 0; d < tensor->size[3]; d++)
        json_array_append_new(array, tool_json_real(stats_element(tensor, b, h, l, d)));
    return array;
}

static json_t *summary(const attend_summary *groups)
{
    json_t *const histogram = json_array(), *const tenths = json_array();

    for (int x = 0; x < ATTEND_SUMMARY_BINS; x++)
        json_array_append_new(histogram, json_integer(groups->histogram[x]));
    for (int x = 1; x < ATTEND_SUMMARY_GROUPS; x++)
        json_array_append_new(tenths, tool_json_real(groups[x].mean));
    return json_pack("{s:I, s:o, s:o, s:o, s:o, s:o, s:o}", "rows",
                     (json_int_t)groups->rows, "mean", tool_json_real(groups->mean), "sd",
                     tool_json_real(groups->sd), "min", tool_json_real(groups->min),
                     "max", tool_json_real(groups->max), "histogram", histogram,
                     "mean_by_tenth", tenths);
}

static json_t *summaries(const struct stats_result *r, int64_t b, int64_t h)
{
    static const char *const names[ATTEND_SUMMARY_COUNT] = {
        [ATTEND_SUMMARY_ENTROPY] = "entropy_share",
        [ATTEND_SUMMARY_N_EFF] = "n_eff_share",
        [ATTEND_SUMMARY_TOP_WEIGHT] = "top_weight",
        [ATTEND_SUMMARY_MARGIN] = "margin",
        [ATTEND_SUMMARY_SINK1] = "sink1"};
    json_t *const object = json_object();

    for (int x = 0; x < ATTEND_SUMMARY_COUNT; x++)
        json_object_set_new(
            object, names[x],
            summary(r->rows.summaries + ((b * r->hq + h) * ATTEND_SUMMARY_COUNT + x) *
                                            ATTEND_SUMMARY_GROUPS));
    return object;
}

static void add_inspection(const struct stats_result *r, int64_t b, int64_t h,
                           json_t *object)
{
    const struct {
        const char *name;
        const attend_tensor *tensor;
    } columns[] = {{"column_mass", &r->inspection.column_mass},
                   {"column_max", &r->inspection.column_max},
                   {"column_last", &r->inspection.column_last}};

    for (size_t x = 0; x < sizeof columns / sizeof columns[0]; x++)
        if (columns[x].tensor->data)
            json_object_set_new(object, columns[x].name,
                                line(columns[x].tensor, b, h, 0));
    if (r->inspection.zoom.data) {
        json_t *const zoom = json_array();

        for (int64_t l = 0; l < r->inspection.zoom.size[2]; l++)
            json_array_append_new(zoom, line(&r->inspection.zoom, b, h, l));
        json_object_set_new(object, "zoom", zoom);
    }
}

static json_t *head(const struct stats_args *args, const struct stats_result *r,
                    int64_t b, int64_t h)
{
    struct stats_head means;
    json_t *const object =
        json_pack("{s:I, s:I}", "b", (json_int_t)b, "h", (json_int_t)h);

    stats_head_read(r, args->noise, b, h, &means);
    json_object_set_new(object, "rows", json_integer(means.head.rows));
    for (int c = 0; c < r->columns; c++)
        json_object_set_new(object, attend_stat_name(r->column[c]),
                            tool_json_real(means.mean[r->column[c]]));
    json_object_set_new(object, "entropy_share",
                        tool_json_real(means.head.entropy_share));
    json_object_set_new(object, "raw_sd", tool_json_real(means.head.raw_sd));
    if (args->top) {
        json_t *const mass = json_array();

        for (int x = 0; x < args->top; x++)
            json_array_append_new(mass, tool_json_real(means.head.top_mass[x]));
        json_object_set_new(object, "top_mass", mass);
    }
    json_object_set_new(object, "character",
                        json_string(attend_character_name(means.character)));
    json_object_set_new(object, "reason", json_string(means.reason));
    json_object_set_new(object, "summary", summaries(r, b, h));
    add_inspection(r, b, h, object);
    return object;
}

int stats_print_json(const struct stats_args *args, const struct stats_result *r)
{
    int status = TOOL_OK;

    for (int64_t b = 0; b < r->nb; b++)
        for (int64_t h = 0; h < r->hq; h++) {
            if (!args->wants_rows)
                status = tool_put_json("stats", head(args, r, b, h), JSON_LINE_DIGITS);
            for (int64_t i = 0; args->wants_rows && i < r->nq && !status; i++)
                status = tool_put_json("stats", row(args, r, b, h, i), JSON_LINE_DIGITS);
            if (status)
                return status;
        }
    return TOOL_OK;
}

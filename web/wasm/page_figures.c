/* SPDX-License-Identifier: MIT */
#define _POSIX_C_SOURCE 200809L

#include "page_figures.h"

#include <stdlib.h>

static void put_drawing(struct lab_json *json, const struct lab_figure *figure)
{
    char *svg = NULL;
    size_t size = 0;
    FILE *const out = open_memstream(&svg, &size);

    if (!out)
        abort();
    lab_figure_svg_inline(figure, out);
    fclose(out);
    lab_json_put(json, "svg:s", svg);
    free(svg);
}

static void put_series(struct lab_json *json, const struct lab_series *series)
{
    static const char *const marks[] = {[LAB_LINE] = "line",
                                        [LAB_POINTS] = "points",
                                        [LAB_BARS] = "bars",
                                        [LAB_STEPS] = "steps",
                                        [LAB_ANNOTATION] = "note"};

    lab_json_put(json, "{ mark:s label:s", marks[series->mark], series->label);
    lab_json_reals(json, "x", series->x, series->count);
    lab_json_reals(json, "y", series->y, series->count);
    lab_json_reals(json, "se", series->se, series->count);
    lab_json_end(json, '}');
}

static void put_heat(struct lab_json *json, const struct lab_heat *heat)
{
    lab_json_put(json, "heat:{ label:s", heat->label);
    lab_json_reals(json, "x", heat->x, heat->columns);
    lab_json_reals(json, "y", heat->y, heat->rows);
    lab_json_reals(json, "value", heat->value, (long long)heat->columns * heat->rows);
    lab_json_end(json, '}');
}

static void put_figure(struct lab_json *json, const struct lab_figure *figure)
{
    const struct lab_frame at = lab_figure_frame(figure);

    lab_json_put(json, "{ id:s title:s x_label:s y_label:s caption:p x_names:s",
                 figure->id, figure->title, figure->x_label, figure->y_label,
                 figure->caption, figure->x_names);
    put_drawing(json, figure);
    lab_json_put(json, "box:[ r r r r ] x:[ r r ] y:[ r r ] x_log:b y_log:b series:[",
                 at.left, at.top, at.width, at.height, at.x_lo, at.x_hi, at.y_lo, at.y_hi,
                 figure->x_log, figure->y_log);
    for (int s = 0; s < figure->count; s++)
        if (figure->series[s]->mark != LAB_ANNOTATION)
            put_series(json, figure->series[s]);
    lab_json_end(json, ']');
    if (figure->heat.columns)
        put_heat(json, &figure->heat);
    lab_json_end(json, '}');
}

void page_figures_put(struct lab_json *json, const struct lab_figures *figures)
{
    lab_json_put(json, "figures:[");
    for (int f = 0; f < figures->count; f++)
        put_figure(json, figures->figure[f]);
    lab_json_end(json, ']');
}

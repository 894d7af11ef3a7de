/* SPDX-License-Identifier: MIT */
#define _POSIX_C_SOURCE 200809L

#include "page_figures.h"

#include <stdlib.h>

#include "lab/figures/text.h"
#include "page_json.h"

static void put_drawing(const struct lab_figure *figure)
{
    char *svg = NULL;
    size_t size = 0;
    FILE *const out = open_memstream(&svg, &size);

    if (!out)
        abort();
    lab_figure_svg_inline(figure, out);
    fclose(out);
    page_json_text_of("svg", svg);
    free(svg);
}

static void put_frame(const struct lab_figure *figure)
{
    const struct lab_frame frame = lab_figure_frame(figure);
    const double box[] = {frame.left, frame.top, frame.width, frame.height};
    const double x[] = {frame.x_lo, frame.x_hi}, y[] = {frame.y_lo, frame.y_hi};

    page_json_numbers_of("box", box, 4);
    page_json_numbers_of("x", x, 2);
    page_json_numbers_of("y", y, 2);
    page_json_truth_of("x_log", figure->x_log);
    page_json_truth_of("y_log", figure->y_log);
}

static void put_series(const struct lab_series *series)
{
    static const char *const marks[] = {[LAB_LINE] = "line",
                                        [LAB_POINTS] = "points",
                                        [LAB_BARS] = "bars",
                                        [LAB_STEPS] = "steps",
                                        [LAB_NOTE] = "note"};

    page_json_begin('{');
    page_json_text_of("mark", marks[series->mark]);
    page_json_text_of("label", series->label);
    page_json_numbers_of("x", series->x, series->count);
    page_json_numbers_of("y", series->y, series->count);
    page_json_numbers_of("se", series->se, series->count);
    page_json_end('}');
}

static void put_heat(const struct lab_heat *heat)
{
    page_json_key("heat");
    page_json_begin('{');
    page_json_text_of("label", heat->label);
    page_json_numbers_of("x", heat->x, heat->columns);
    page_json_numbers_of("y", heat->y, heat->rows);
    page_json_numbers_of("value", heat->value, (long long)heat->columns * heat->rows);
    page_json_end('}');
}

static void put_figure(const struct lab_figure *figure)
{
    page_json_begin('{');
    page_json_text_of("title", figure->title);
    page_json_text_of("x_label", figure->x_label);
    page_json_text_of("y_label", figure->y_label);
    page_json_markup_of("caption", lab_text_prose, figure->caption);
    page_json_text_of("x_names", figure->x_names);
    put_drawing(figure);
    put_frame(figure);
    page_json_key("series");
    page_json_begin('[');
    for (int s = 0; s < figure->count; s++)
        if (figure->series[s]->mark != LAB_NOTE)
            put_series(figure->series[s]);
    page_json_end(']');
    if (figure->heat.columns)
        put_heat(&figure->heat);
    page_json_end('}');
}

void page_figures_put(const struct lab_figures *figures)
{
    page_json_key("figures");
    page_json_begin('[');
    for (int f = 0; f < figures->count; f++)
        put_figure(figures->figure[f]);
    page_json_end(']');
}

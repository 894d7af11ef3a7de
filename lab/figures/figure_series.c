/* SPDX-License-Identifier: MIT */
/* Series: lines, steps, bars and points with error bars. */
#include "lab/figures/figure_draw.h"

#include <math.h>
#include <string.h>

/* More points than this are a cloud: small, and to be seen through. */
enum { DENSE = 80 };

int lab_series_colours(const struct lab_figure *figure, int *colour, int most)
{
    int used = 0;
    for (int i = 0; i < figure->count && i < most; i++) {
        if (figure->series[i]->mark == LAB_ANNOTATION) {
            colour[i] = 0;
            continue;
        }
        colour[i] = -1;
        for (int j = 0; j < i && colour[i] < 0; j++)
            if (figure->series[j]->mark != LAB_ANNOTATION &&
                !strcmp(figure->series[j]->subject, figure->series[i]->subject))
                colour[i] = colour[j];
        if (colour[i] < 0)
            colour[i] = used++ % LAB_COLOURS;
    }
    return used < LAB_COLOURS ? used : LAB_COLOURS;
}

static int inside(const struct lab_canvas *canvas, double x, double y)
{
    const double far = 0.5;
    return x >= canvas->left - far && x <= canvas->left + canvas->width + far &&
           y >= canvas->top - far && y <= canvas->top + canvas->height + far;
}

/* A path through the points; points that cannot be drawn interrupt it. */
static void path_data(const struct lab_canvas *canvas, const struct lab_series *series)
{
    int drawing = 0;
    /* Limits coordinates far outside the plot: viewers fail with huge numbers. */
    const double limit = 10000;
    for (int i = 0; i < series->count; i++) {
        const double x = lab_canvas_x(canvas, series->x[i]);
        const double y = lab_canvas_y(canvas, series->y[i]);
        if (!isfinite(x) || !isfinite(y) || fabs(x) > limit) {
            drawing = 0;
            continue;
        }
        const double limited = fmin(fmax(y, -limit), limit);
        if (drawing && series->mark == LAB_STEPS)
            fprintf(canvas->out, "H%.2fV%.2f", x, limited);
        else
            fprintf(canvas->out, "%c%.2f %.2f", drawing ? 'L' : 'M', x, limited);
        drawing = 1;
    }
}

/*
 * Between names there is nothing to join: a line is a dash at each, and series stand
 * side by side, theory and measurement in one place.
 */
static double beside(const struct lab_canvas *canvas, int colour)
{
    return canvas->x.names ? (colour - 0.5 * (canvas->colours - 1)) * 13 : 0;
}

static void draw_dashes(const struct lab_canvas *canvas, const struct lab_series *series,
                        int colour)
{
    for (int i = 0; i < series->count; i++) {
        const double x = lab_canvas_x(canvas, series->x[i]) + beside(canvas, colour);
        const double y = lab_canvas_y(canvas, series->y[i]);
        if (isfinite(x) && isfinite(y))
            fprintf(canvas->out, "<path class=\"line c%d\" d=\"M%.2f %.2fh14\"/>\n",
                    colour, x - 7, y);
    }
}

/*
 * On a heat map colours mean values: a line is white with a black edge, to be seen on
 * every colour; series differ in their dashes.
 */
static void open_line(const struct lab_canvas *canvas, int colour)
{
    static const char *const dashes[] = {"", "8 6", "2 4", "12 4 2 4"};
    const char *const dash = dashes[colour % 4];
    if (!canvas->figure->heat.columns)
        fprintf(canvas->out, "<path class=\"line c%d\" d=\"", colour);
    else if (*dash)
        fprintf(canvas->out, "<path class=\"line over\" stroke-dasharray=\"%s\" d=\"",
                dash);
    else
        fputs("<path class=\"line over\" d=\"", canvas->out);
}

static void draw_line(const struct lab_canvas *canvas, const struct lab_series *series,
                      int colour)
{
    if (canvas->figure->heat.columns) {
        fputs("<path class=\"halo\" d=\"", canvas->out);
        path_data(canvas, series);
        fputs("\"/>", canvas->out);
    }
    open_line(canvas, colour);
    path_data(canvas, series);
    fputs("\"/>\n", canvas->out);
}

/* Words beside each point, on the side where there is room. */
static void draw_note(const struct lab_canvas *canvas, const struct lab_series *series)
{
    for (int i = 0; i < series->count; i++) {
        const double x = lab_canvas_x(canvas, series->x[i]);
        const double y = lab_canvas_y(canvas, series->y[i]);
        const int left = x > canvas->left + canvas->width / 2;
        if (!isfinite(x) || !isfinite(y))
            continue;
        fprintf(canvas->out, "<text class=\"note%s\" x=\"%.2f\" y=\"%.2f\">",
                left ? " end" : "", x + (left ? -7 : 7), y + 4.5);
        lab_text_math(canvas->out, series->label, strlen(series->label), LAB_SVG);
        fputs("</text>\n", canvas->out);
    }
}

/* Half the width of a bar: all but touching its nearest neighbour. */
static double half_bar(const struct lab_canvas *canvas, const struct lab_series *series)
{
    double nearest = canvas->width / 4;
    for (int i = 1; i < series->count; i++) {
        const double gap = fabs(lab_canvas_x(canvas, series->x[i]) -
                                lab_canvas_x(canvas, series->x[i - 1]));
        if (gap > 0 && gap < nearest)
            nearest = gap;
    }
    return nearest > 20 ? 0.4 * nearest : 0.5 * nearest;
}

static void draw_bars(const struct lab_canvas *canvas, const struct lab_series *series,
                      int colour)
{
    const double half = half_bar(canvas, series);
    const double bottom = canvas->top + canvas->height;
    const double zero = canvas->y.log ? bottom : fmin(lab_canvas_y(canvas, 0), bottom);
    for (int i = 0; i < series->count; i++) {
        const double x = lab_canvas_x(canvas, series->x[i]);
        const double y = lab_canvas_y(canvas, series->y[i]);
        if (isfinite(x) && isfinite(y))
            fprintf(canvas->out,
                    "<rect class=\"bar c%d\" x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" "
                    "height=\"%.2f\"/>\n",
                    colour, x - half, fmin(y, zero), 2 * half, fabs(zero - y));
    }
}

/* Shapes distinguish series in print without colours. */
static void draw_point(const struct lab_canvas *canvas, double x, double y, double r,
                       int colour)
{
    const char *const over = canvas->figure->heat.columns ? " over" : "";
    fprintf(canvas->out, "<path class=\"point c%d%s\" d=\"", colour, over);
    switch (colour % 4) {
    case 0:
        fprintf(canvas->out, "M%.2f %.2fa%.2f %.2f 0 1 0 %.2f 0a%.2f %.2f 0 1 0 %.2f 0z",
                x - r, y, r, r, 2 * r, r, r, -2 * r);
        break;
    case 1:
        fprintf(canvas->out, "M%.2f %.2fh%.2fv%.2fh%.2fz", x - 0.88 * r, y - 0.88 * r,
                1.76 * r, 1.76 * r, -1.76 * r);
        break;
    case 2:
        fprintf(canvas->out, "M%.2f %.2fl%.2f %.2fh%.2fz", x, y - 1.2 * r, 1.15 * r,
                2 * r, -2.3 * r);
        break;
    default:
        fprintf(canvas->out, "M%.2f %.2fl%.2f %.2fl%.2f %.2fl%.2f %.2fz", x, y - 1.3 * r,
                1.2 * r, 1.3 * r, -1.2 * r, 1.3 * r, -1.2 * r, -1.3 * r);
    }
    fputs("\"/>\n", canvas->out);
}

static void draw_error_bar(const struct lab_canvas *canvas, double x, double value,
                           double se, int colour)
{
    const double bottom = canvas->top + canvas->height;
    const double high = fmax(lab_canvas_y(canvas, value + se), canvas->top);
    double low = lab_canvas_y(canvas, value - se);
    /* NaN on a logarithmic axis, where the bar reaches below everything. */
    if (!(low < bottom))
        low = bottom;
    fprintf(canvas->out, "<path class=\"error c%d\" d=\"M%.2f %.2fV%.2f", colour, x, high,
            low);
    fprintf(canvas->out, "M%.2f %.2fh6M%.2f %.2fh6\"/>\n", x - 3, high, x - 3, low);
}

static void draw_points(const struct lab_canvas *canvas, const struct lab_series *series,
                        int colour)
{
    const int dense = series->count > DENSE;
    const double r = dense ? 2.2 : 3.4;
    if (dense)
        fputs("<g class=\"cloud\">\n", canvas->out);
    for (int i = 0; i < series->count; i++) {
        const double x = lab_canvas_x(canvas, series->x[i]) + beside(canvas, colour);
        const double y = lab_canvas_y(canvas, series->y[i]);
        if (!isfinite(x) || !isfinite(y) || !inside(canvas, x, y))
            continue;
        if (series->se[i] > 0 && isfinite(series->se[i]))
            draw_error_bar(canvas, x, series->y[i], series->se[i], colour);
        draw_point(canvas, x, y, r, colour);
    }
    if (dense)
        fputs("</g>\n", canvas->out);
}

void lab_series_draw(const struct lab_canvas *canvas, const struct lab_series *series,
                     int colour)
{
    switch (series->mark) {
    case LAB_LINE:
    case LAB_STEPS:
        if (canvas->x.names)
            draw_dashes(canvas, series, colour);
        else
            draw_line(canvas, series, colour);
        break;
    case LAB_BARS:
        draw_bars(canvas, series, colour);
        break;
    case LAB_POINTS:
        draw_points(canvas, series, colour);
        break;
    case LAB_ANNOTATION:
        draw_note(canvas, series);
        break;
    }
}

void lab_series_sample(const struct lab_canvas *canvas, const struct lab_series *series,
                       int colour, double x, double y)
{
    const int heat = canvas->figure->heat.columns > 0;
    switch (series->mark) {
    case LAB_LINE:
    case LAB_STEPS:
        if (heat)
            fprintf(canvas->out, "<path class=\"halo\" d=\"M%.2f %.2fh22\"/>", x, y);
        open_line(canvas, colour);
        fprintf(canvas->out, "M%.2f %.2fh22\"/>\n", x, y);
        break;
    case LAB_BARS:
        fprintf(canvas->out,
                "<rect class=\"bar c%d\" x=\"%.2f\" y=\"%.2f\" width=\"16\" "
                "height=\"10\"/>\n",
                colour, x + 3, y - 5);
        break;
    case LAB_POINTS:
        for (int i = 0; i < series->count; i++)
            if (series->se[i] > 0) {
                fprintf(canvas->out,
                        "<path class=\"error c%d\" d=\"M%.2f %.2fv12m-3 0h6m-6 -12h6\"/>",
                        colour, x + 11, y - 6);
                break;
            }
        draw_point(canvas, x + 11, y, 3.4, colour);
        break;
    case LAB_ANNOTATION:
        break;
    }
}

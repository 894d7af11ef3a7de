/* SPDX-License-Identifier: MIT */
/* Heat maps: cells of equal share, a colour scale, and its bar. */
#include "lab/figures/figure_draw.h"

#include <math.h>

struct colour {
    double r, g, b;
};

/* Dark to light, in steps that look equal, in grey as well: viridis. */
static const struct colour sequential[] = {
    {68, 1, 84},    {71, 44, 122}, {59, 81, 139},  {44, 113, 142}, {33, 144, 141},
    {39, 173, 129}, {92, 200, 99}, {170, 220, 50}, {253, 231, 37}};
/* Blue below 0, grey at 0, yellow above: dark to light, so that grey print keeps the
 * sign.
 */
static const struct colour diverging[] = {
    {0, 34, 78},     {25, 54, 104},  {52, 74, 118},  {88, 101, 124}, {128, 128, 128},
    {164, 156, 112}, {196, 182, 92}, {226, 208, 70}, {254, 235, 60}};

enum { STOPS = sizeof sequential / sizeof sequential[0], LEVELS = 96 };

/* The colour of a level, 0 .. LEVELS - 1, as 0xrrggbb. */
static unsigned colour_of(const struct lab_canvas *canvas, int level)
{
    const struct colour *const stops = canvas->diverging ? diverging : sequential;
    const double at = (double)level / (LEVELS - 1) * (STOPS - 1);
    const int i = at < STOPS - 1 ? (int)at : STOPS - 2;
    const double t = at - i;
    const unsigned r = (unsigned)lround(stops[i].r + t * (stops[i + 1].r - stops[i].r));
    const unsigned g = (unsigned)lround(stops[i].g + t * (stops[i + 1].g - stops[i].g));
    const unsigned b = (unsigned)lround(stops[i].b + t * (stops[i + 1].b - stops[i].b));
    return r << 16 | g << 8 | b;
}

/* The level of a value; -1: it has none and its cell stays empty. */
static int level_of(const struct lab_canvas *canvas, double value)
{
    if (!isfinite(value))
        return -1;
    const double place = fmin(fmax(lab_axis_place(&canvas->z, value), 0), 1);
    return (int)fmin(place * LEVELS, LEVELS - 1);
}

void lab_heat_scale(struct lab_canvas *canvas)
{
    const struct lab_heat *const heat = &canvas->figure->heat;
    double lo = INFINITY, hi = -INFINITY;
    for (int i = 0; i < heat->rows * heat->columns; i++)
        if (isfinite(heat->value[i])) {
            lo = fmin(lo, heat->value[i]);
            hi = fmax(hi, heat->value[i]);
        }
    if (!(lo <= hi))
        lo = 0, hi = 1;
    canvas->diverging = lo < 0 && hi > 0;
    if (canvas->diverging) {
        hi = fmax(-lo, hi);
        lo = -hi;
    }
    lab_axis_fit(&canvas->z, lo, hi, 0, 5);
}

/* Page coordinate of the edge before cell i: midway between the middles of cells. */
static double edge(const struct lab_canvas *canvas, const double *middle, int count,
                   int i, double (*place)(const struct lab_canvas *, double))
{
    if (count == 1)
        return place == lab_canvas_x ? canvas->left + i * canvas->width
                                     : canvas->top + (1 - i) * canvas->height;
    const int a = i > 0 ? i - 1 : 0, b = i < count ? i : count - 1;
    if (a != b)
        return (place(canvas, middle[a]) + place(canvas, middle[b])) / 2;
    const int inner = i == 0 ? 1 : count - 2;
    return place(canvas, middle[a]) * 1.5 - place(canvas, middle[inner]) * 0.5;
}

/*
 * The cells of one level as one path, neighbours in a row as one piece.  Cells reach a
 * little under those that follow, or rounding would leave seams.
 */
static void draw_level(const struct lab_canvas *canvas, int level)
{
    const struct lab_heat *const heat = &canvas->figure->heat;
    const double under = 0.6;
    int started = 0;
    for (int row = 0; row < heat->rows; row++) {
        const double *const value = heat->value + (size_t)row * (size_t)heat->columns;
        const double y0 = edge(canvas, heat->y, heat->rows, row, lab_canvas_y);
        const double y1 = edge(canvas, heat->y, heat->rows, row + 1, lab_canvas_y);
        for (int column = 0, end; column < heat->columns; column = end) {
            end = column + 1;
            if (level_of(canvas, value[column]) != level)
                continue;
            while (end < heat->columns && level_of(canvas, value[end]) == level)
                end++;
            if (!started)
                fprintf(canvas->out, "<path fill=\"#%06x\" d=\"",
                        colour_of(canvas, level));
            started = 1;
            const double x0 = edge(canvas, heat->x, heat->columns, column, lab_canvas_x);
            const double x1 = edge(canvas, heat->x, heat->columns, end, lab_canvas_x);
            fprintf(canvas->out, "M%.1f %.1fH%.1fV%.1fH%.1fz", x0, y0, x1 + under,
                    y1 - under, x0);
        }
    }
    if (started)
        fputs("\"/>\n", canvas->out);
}

void lab_heat_draw(const struct lab_canvas *canvas)
{
    fputs("<g shape-rendering=\"crispEdges\">\n", canvas->out);
    for (int level = 0; level < LEVELS; level++)
        draw_level(canvas, level);
    fputs("</g>\n", canvas->out);
}

void lab_heat_bar(const struct lab_canvas *canvas)
{
    const double x = canvas->left + canvas->width + 14;
    const double step = canvas->height / LEVELS;
    fputs("<g shape-rendering=\"crispEdges\">\n", canvas->out);
    for (int i = 0; i < LEVELS; i++)
        fprintf(
            canvas->out,
            "<rect x=\"%.2f\" y=\"%.2f\" width=\"%d\" height=\"%.2f\" fill=\"#%06x\"/>\n",
            x, canvas->top + canvas->height - (i + 1) * step, LAB_BAR_WIDTH, step + 0.3,
            colour_of(canvas, i));
    fputs("</g>\n", canvas->out);
    for (int i = 0; i < canvas->z.ticks; i++) {
        char text[128];
        const double place = lab_axis_place(&canvas->z, canvas->z.tick[i]);
        const double y = canvas->top + canvas->height * (1 - place);
        lab_axis_label(&canvas->z, i, text, sizeof text);
        fprintf(canvas->out,
                "<path class=\"tick\" d=\"M%.2f %.2fh4\"/><text class=\"number\" "
                "x=\"%.2f\" y=\"%.2f\">%s</text>\n",
                x + LAB_BAR_WIDTH, y, x + LAB_BAR_WIDTH + 7, y + 4.5, text);
    }
}

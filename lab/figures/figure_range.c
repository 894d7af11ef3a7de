/* SPDX-License-Identifier: MIT */
/* Which range the axes of a figure show. */
#include "lab/figures/figure_draw.h"

#include <math.h>

struct range {
    double lo, hi;
    int log;
};

static void include(struct range *range, double value)
{
    if (!isfinite(value) || (range->log && !(value > 0)))
        return;
    range->lo = fmin(range->lo, value);
    range->hi = fmax(range->hi, value);
}

/* Half a cell beyond the first and the last middle. */
static void include_cells(struct range *range, const double *middle, int count)
{
    for (int i = 0; i < count; i++)
        include(range, middle[i]);
    if (count < 2)
        return;
    for (int end = 0; end < 2; end++) {
        const double at = middle[end ? count - 1 : 0];
        const double inner = middle[end ? count - 2 : 1];
        include(range, range->log ? at * sqrt(at / inner) : at + (at - inner) / 2);
    }
}

static void find_ranges(const struct lab_figure *figure, struct range *x, struct range *y)
{
    *x = (struct range){INFINITY, -INFINITY, figure->x_log};
    *y = (struct range){INFINITY, -INFINITY, figure->y_log};
    include_cells(x, figure->heat.x, figure->heat.columns);
    include_cells(y, figure->heat.y, figure->heat.rows);
    /* What is drawn on a heat map is cut off at its edges. */
    for (int s = 0; s < figure->count && !figure->heat.columns; s++) {
        const struct lab_series *const series = figure->series[s];
        for (int i = 0; i < series->count; i++) {
            const double at = series->y[i];
            if (!isfinite(series->x[i]) || !isfinite(at) ||
                (x->log && !(series->x[i] > 0)))
                continue;
            include(x, series->x[i]);
            include(y, at);
            if (series->mark == LAB_POINTS && series->se[i] > 0) {
                include(y, at + series->se[i]);
                /* A bar that reaches towards 0 must not stretch a logarithmic axis. */
                if (!y->log || series->se[i] < 0.9 * at)
                    include(y, at - series->se[i]);
            }
        }
        if (series->mark == LAB_BARS && !y->log)
            include(y, 0);
    }
    if (figure->y_top > 0)
        y->hi = fmin(y->hi, figure->y_top);
}

/* Air around the data, and 0 where it is near enough to be worth showing. */
static void set_axis(struct lab_axis *axis, struct range range, int heat, double margin,
                     int wanted)
{
    enum { DECADES_MAX = 20 };
    if (!(range.lo <= range.hi))
        range = (struct range){range.log ? 1 : 0, range.log ? 10 : 1, range.log};
    if (range.log) {
        range.lo = fmax(range.lo, range.hi * pow(10, -DECADES_MAX));
        if (!heat) {
            const double factor = pow(range.hi / range.lo, margin);
            range.lo /= factor;
            range.hi *= factor;
        }
    } else if (!heat) {
        if (range.lo > 0 && range.lo < 0.35 * range.hi)
            range.lo = 0;
        const double air = margin * (range.hi - range.lo);
        if (range.lo != 0)
            range.lo -= air;
        if (range.hi != 0)
            range.hi += air;
    }
    lab_axis_fit(axis, range.lo, range.hi, range.log, wanted);
}

/* Room on both sides of the first and the last name. */
static void set_names(struct lab_axis *axis, const char *names)
{
    if (!*names)
        return;
    int count = 1;
    for (const char *at = names; *at; at++)
        count += *at == '|';
    axis->log = 0;
    axis->lo = fmin(axis->lo, -0.5);
    axis->hi = fmax(axis->hi, count - 0.5);
    lab_axis_name(axis, names);
}

void lab_canvas_axes(struct lab_canvas *canvas)
{
    const struct lab_figure *const figure = canvas->figure;
    const int heat = figure->heat.columns > 0;
    struct range x, y;
    find_ranges(figure, &x, &y);
    x.log = figure->x_log && !*figure->x_names;
    y.log = figure->y_log && !*figure->y_names;
    set_axis(&canvas->x, x, heat, 0.025, 6);
    set_axis(&canvas->y, y, heat, 0.05, 5);
    set_names(&canvas->x, figure->x_names);
    set_names(&canvas->y, figure->y_names);
    if (heat)
        lab_heat_scale(canvas);
}

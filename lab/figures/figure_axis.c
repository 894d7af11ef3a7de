/* SPDX-License-Identifier: MIT */
#define _POSIX_C_SOURCE 200809L

#include "lab/figures/figure_draw.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lab/figures/text.h"

static void add_tick(struct lab_axis *axis, double value)
{
    /* Rounding must not drop a tick at the very end of the range. */
    const double place = lab_axis_place(axis, value);
    if (axis->ticks < LAB_TICKS_MAX && place > -1e-9 && place < 1 + 1e-9)
        axis->tick[axis->ticks++] = value;
}

/* 1, 2 or 5 times a power of ten, with a number of steps nearest to `wanted`. */
static double round_step(double span, int wanted)
{
    const double rough = span / wanted, power = pow(10, floor(log10(rough)));
    static const double factors[] = {2, 5, 10};
    double step = power;
    for (int i = 0; i < 3; i++)
        if (fabs(log(factors[i] * power / rough)) < fabs(log(step / rough)))
            step = factors[i] * power;
    return step;
}

static void linear_ticks(struct lab_axis *axis, int wanted)
{
    const double step = round_step(axis->hi - axis->lo, wanted);
    const double first = ceil(axis->lo / step - 1e-9);
    for (int i = 0; i < LAB_TICKS_MAX; i++)
        add_tick(axis, (first + i) * step);
}

static void log_ticks(struct lab_axis *axis, int wanted)
{
    const double lo = log10(axis->lo), hi = log10(axis->hi);
    const int first = (int)floor(lo), last = (int)ceil(hi);
    const int every = (int)fmax(1, ceil((hi - lo) / wanted));
    static const double factors[] = {1, 2, 5};
    /* In a few decades powers of ten alone would be too few. */
    const int between = 3 * (hi - lo) <= wanted + 2 ? 3 : 1;
    for (int power = first; power <= last; power++)
        for (int i = 0; i < between; i++)
            if (power % every == 0)
                add_tick(axis, factors[i] * pow(10, power));
    if (axis->ticks < 2) {
        axis->ticks = 0;
        linear_ticks(axis, wanted);
    }
}

void lab_axis_fit(struct lab_axis *axis, double lo, double hi, int log, int wanted)
{
    *axis = (struct lab_axis){.log = log, .lo = lo, .hi = hi};
    if (log && !(hi / lo > 1 + 1e-9)) {
        axis->lo = lo / 2;
        axis->hi = hi * 2;
    } else if (!log && !(hi - lo > 1e-12 * fmax(fabs(lo), fabs(hi)))) {
        const double around = lo == 0 ? 1 : 0.5 * fabs(lo);
        axis->lo = lo - around;
        axis->hi = hi + around;
    }
    if (log)
        log_ticks(axis, wanted);
    else
        linear_ticks(axis, wanted);
}

void lab_axis_name(struct lab_axis *axis, const char *names)
{
    axis->names = names;
    axis->ticks = 0;
    int i = 0;
    for (const char *at = names; at; at = strchr(at, '|') ? strchr(at, '|') + 1 : NULL)
        add_tick(axis, i++);
}

double lab_axis_place(const struct lab_axis *axis, double value)
{
    if (!axis->log)
        return (value - axis->lo) / (axis->hi - axis->lo);
    if (!(value > 0))
        return NAN;
    return log(value / axis->lo) / log(axis->hi / axis->lo);
}

/* The name of tick i: where it starts, and its length. */
static const char *name_at(const struct lab_axis *axis, int i, size_t *length)
{
    const char *at = axis->names;
    for (int skip = (int)lround(axis->tick[i]); skip > 0; skip--)
        at = strchr(at, '|') + 1;
    *length = strcspn(at, "|");
    return at;
}

/* Nonzero if tick labels are powers of ten. */
static int wants_powers(const struct lab_axis *axis)
{
    double least = INFINITY, most = 0;
    for (int i = 0; i < axis->ticks; i++) {
        const double size = fabs(axis->tick[i]);
        most = fmax(most, size);
        if (size > 0)
            least = fmin(least, size);
    }
    return axis->log ? most > 9999 || least < 0.00099 : most > 99999 || most < 0.00099;
}

/* "2 x 10^5" in two parts: all but the exponent, and the exponent. */
static void power_parts(double value, char *base, size_t size, char *exponent)
{
    int power = (int)floor(log10(fabs(value)) + 1e-9);
    const double factor = value / pow(10, power);
    if (fabs(fabs(factor) - 1) < 1e-6)
        snprintf(base, size, "%s10", value < 0 ? "\u2212" : "");
    else
        snprintf(base, size, "%s%.3g\u00b710", value < 0 ? "\u2212" : "", fabs(factor));
    snprintf(exponent, 16, "%s%d", power < 0 ? "\u2212" : "", abs(power));
}

static void plain_number(const struct lab_axis *axis, double value, char *text,
                         size_t size)
{
    const char *const sign = value < 0 ? "\u2212" : "";
    if (axis->log || axis->ticks < 2) {
        snprintf(text, size, "%s%.6g", sign, fabs(value));
        return;
    }
    const double step = axis->tick[1] - axis->tick[0];
    const int decimals = (int)fmax(0, -floor(log10(step) + 1e-9));
    if (fabs(value) < step / 2)
        snprintf(text, size, "0");
    else
        snprintf(text, size, "%s%.*f", sign, decimals, fabs(value));
}

void lab_axis_label(const struct lab_axis *axis, int i, char *text, size_t size)
{
    const double value = axis->tick[i];
    if (axis->names) {
        size_t length;
        const char *const name = name_at(axis, i, &length);
        FILE *const out = fmemopen(text, size, "w");
        if (!out) {
            *text = '\0';
            return;
        }
        lab_text_escape(out, name, length);
        fclose(out);
    } else if (value != 0 && wants_powers(axis)) {
        char base[48], exponent[16];
        power_parts(value, base, sizeof base, exponent);
        snprintf(text, size, "%s<tspan dy=\"-0.42em\" font-size=\"75%%\">%s</tspan>",
                 base, exponent);
    } else {
        plain_number(axis, value, text, size);
    }
}

double lab_axis_label_width(const struct lab_axis *axis, int i)
{
    char base[64], exponent[16] = "";
    if (axis->names) {
        size_t length;
        const char *const name = name_at(axis, i, &length);
        return lab_text_width(name, length);
    }
    if (axis->tick[i] != 0 && wants_powers(axis))
        power_parts(axis->tick[i], base, sizeof base, exponent);
    else
        plain_number(axis, axis->tick[i], base, sizeof base);
    return lab_text_width(base, strlen(base)) +
           0.75 * lab_text_width(exponent, strlen(exponent));
}

/* ---- the ranges of the axes of a figure ------------------------------------ */

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
    /* Series on a heat map are cut off at its edges. */
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

/* SPDX-License-Identifier: MIT */
/* The drawing: the place of the plot, its axes, series and heat map. */
#ifndef LAB_FIGURE_DRAW_H
#define LAB_FIGURE_DRAW_H

#include <stddef.h>

#include "lab/figures/figure.h"
#include "lab/figures/text.h"

/* ---- axes: range, ticks, and their labels --------------------------------------- */

enum { LAB_TICKS_MAX = 32 };

struct lab_axis {
    int log;
    double lo, hi; /* lo < hi; both positive on a logarithmic axis */
    double tick[LAB_TICKS_MAX];
    int ticks;
    const char *names; /* "a|b|c" for 0, 1, 2; NULL: numbers */
};

/*
 * Takes a range of data, lo <= hi (both positive where `log`), widens an empty
 * range, and puts about `wanted` ticks at round numbers: multiples of 1, 2 or 5 times
 * a power of ten, or powers of ten (with 2 and 5 between where there is room).
 */
void lab_axis_fit(struct lab_axis *axis, double lo, double hi, int log, int wanted);
/* The same with one tick for each name. */
void lab_axis_name(struct lab_axis *axis, const char *names);
/* Position of a value: 0 at lo, 1 at hi, not limited; NaN where there is none. */
double lab_axis_place(const struct lab_axis *axis, double value);
/* The inside of a <text>: the number or the name of tick `i`. */
void lab_axis_label(const struct lab_axis *axis, int i, char *text, size_t size);
/* The width in em of that tick's label, roughly. */
double lab_axis_label_width(const struct lab_axis *axis, int i);

/* ---- the drawing ------------------------------------------------------------------ */

enum { LAB_COLOURS = 8, LAB_BAR_WIDTH = 14 };

/* Lengths in px of the drawing, which is 480 wide and scales as a whole. */
struct lab_canvas {
    FILE *out;
    const struct lab_figure *figure;
    struct lab_axis x, y, z;         /* z: the colours of a heat map */
    double left, top, width, height; /* of the plot within the drawing */
    int colours;                     /* of the series */
    int diverging;                   /* the heat map has both signs */
};

/* Sets x, y and z from the figure. */
void lab_canvas_axes(struct lab_canvas *canvas);
/* Page coordinates of a data point; NaN if it cannot be drawn. */
double lab_canvas_x(const struct lab_canvas *canvas, double x);
double lab_canvas_y(const struct lab_canvas *canvas, double y);

/*
 * Colours of the first `most` series, 0 .. LAB_COLOURS - 1: see struct lab_series.
 * Returns how many colours there are.
 */
int lab_series_colours(const struct lab_figure *figure, int *colour, int most);

/* Sets z and diverging from the values. */
void lab_heat_scale(struct lab_canvas *canvas);
/* The cells, and the colour bar to the right of the plot. */
void lab_heat_draw(const struct lab_canvas *canvas);
void lab_heat_bar(const struct lab_canvas *canvas);

/* One series in the plot, and the sample of it in the legend at (x, y). */
void lab_series_draw(const struct lab_canvas *canvas, const struct lab_series *series,
                     int colour);
void lab_series_sample(const struct lab_canvas *canvas, const struct lab_series *series,
                       int colour, double x, double y);

#endif

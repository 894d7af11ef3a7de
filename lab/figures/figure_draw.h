/* SPDX-License-Identifier: MIT */
/* What the parts of the drawing share: the plot's place on the page and its axes. */
#ifndef LAB_FIGURE_DRAW_H
#define LAB_FIGURE_DRAW_H

#include "lab/figures/figure.h"
#include "lab/figures/figure_axis.h"
#include "lab/figures/text.h"

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
/* Page coordinates of a data point; NaN for what has no place. */
double lab_canvas_x(const struct lab_canvas *canvas, double x);
double lab_canvas_y(const struct lab_canvas *canvas, double y);

/* The label without the words "theory" and "measured"; `subject` is as long. */
void lab_series_subject(const struct lab_series *series, char *subject);
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

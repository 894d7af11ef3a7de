/* SPDX-License-Identifier: MIT */
/* Figures as data: what is plotted, not how.  figure_svg.c draws them. */
#ifndef LAB_FIGURE_H
#define LAB_FIGURE_H

#include <stdint.h>
#include <stdio.h>

enum lab_mark {
    LAB_LINE,   /* theory */
    LAB_POINTS, /* measurement, with error bars where se > 0 */
    LAB_BARS,   /* histogram: x = middle of a bin, y = height */
    LAB_STEPS,  /* piecewise constant */
    LAB_NOTE    /* the label itself, written at each point; not in the legend */
};

/*
 * Series whose labels differ only in the words "theory" and "measured" are drawn in
 * one colour: "theory, n = 10" and "measured, n = 10".
 */
struct lab_series {
    enum lab_mark mark;
    char label[96];
    int count, capacity;
    double *x, *y, *se;
};

/* A heat map: value[row * columns + column], x by column, y by row. */
struct lab_heat {
    int columns, rows;
    double *x, *y, *value;
    char label[96]; /* of the colour scale */
};

struct lab_figure {
    const char *id; /* of lab_plot(): names it among those of its experiment; or NULL */
    char title[160], x_label[96], y_label[96], caption[400];
    int x_log, y_log;
    double y_top; /* the axis ends here at the latest; 0: where the data do */
    int square;   /* x and y in the same unit: the plot is as high as it is wide */
    /* Names instead of numbers: "plain|QK-norm" are those of x = 0 and x = 1. */
    char x_names[160], y_names[160];
    struct lab_series **series;
    int count;
    struct lab_heat heat; /* columns 0: none */
};

struct lab_figures {
    struct lab_figure **figure;
    int count;
};

/*
 * All return NULL, and accept NULL and do nothing, when `figures` is NULL (no plots
 * wanted) or memory is short, so experiments need not ask.
 */
struct lab_figure *lab_figure_add(struct lab_figures *figures, const char *title,
                                  const char *x_label, const char *y_label);
/* Logarithmic axes, and the caption. */
enum { LAB_LOG_X = 1, LAB_LOG_Y = 2 };
__attribute__((format(printf, 3, 4))) void
lab_figure_describe(struct lab_figure *figure, int log_axes, const char *caption, ...);
__attribute__((format(printf, 3, 4))) struct lab_series *
lab_series_add(struct lab_figure *figure, enum lab_mark mark, const char *label, ...);
/* Two series of one subject: "theory, LABEL" as a line, "measured, LABEL" as points. */
struct lab_curve {
    struct lab_series *theory, *measured;
};
__attribute__((format(printf, 2, 3))) struct lab_curve
lab_curve_add(struct lab_figure *figure, const char *label, ...);
/* Names of x = 0, 1 and so on: "plain|QK-norm". */
void lab_figure_names(struct lab_figure *figure, const char *names);
void lab_series_point(struct lab_series *series, double x, double y, double se);
/* Words in the plot: left of (x, y) where x lies in the right half, else right of it. */
__attribute__((format(printf, 4, 5))) void
lab_figure_note(struct lab_figure *figure, double x, double y, const char *text, ...);
/* Allocates the arrays, zeroed; NULL as above. */
struct lab_heat *lab_heat_set(struct lab_figure *figure, int columns, int rows,
                              const char *label);
void lab_figures_free(struct lab_figures *figures);

/*
 * One <svg> element, self-contained: axes with ticks, units, legend, theory as a
 * line, measurement as points with error bars, a colour bar for a heat map.  It
 * follows the page's light or dark scheme, and stands alone as a file as well.
 * 0, or -1 when writing failed.
 */
int lab_figure_svg(const struct lab_figure *figure, FILE *out);
/* The same with all of them one below the other. */
int lab_figures_svg(const struct lab_figures *figures, FILE *out);
/* One figure without style and background, for a page that has lab_figure_style. */
int lab_figure_svg_inline(const struct lab_figure *figure, FILE *out);
extern const char lab_figure_style[]; /* figure.css */

/* Where the plot lies in that drawing, in its units, and what its ends stand for. */
struct lab_frame {
    double left, top, width, height, x_lo, x_hi, y_lo, y_hi;
};
struct lab_frame lab_figure_frame(const struct lab_figure *figure);

#endif

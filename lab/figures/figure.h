/* SPDX-License-Identifier: MIT */
/* Figures as data, without layout.  figure_svg.c draws them. */
#ifndef LAB_FIGURE_H
#define LAB_FIGURE_H

#include <stdint.h>
#include <stdio.h>

enum lab_mark {
    LAB_LINE,      /* theory */
    LAB_POINTS,    /* measurement, with error bars where se > 0 */
    LAB_BARS,      /* histogram: x = middle of a bin, y = height */
    LAB_STEPS,     /* piecewise constant */
    LAB_ANNOTATION /* the label itself, written at each point; not in the legend */
};

/* Series of one subject have one colour, and one entry of the legend where it has words.
 */
struct lab_series {
    enum lab_mark mark;
    char label[96],
        subject[96]; /* the subject is the label but for theory and measured */
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
    const char *id; /* id in lab_plot(), unique within its experiment; or NULL */
    char title[160], x_label[96], y_label[96], caption[400];
    int x_log, y_log;
    double y_top; /* upper limit of the y axis; 0: that of the data */
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
 * All return NULL, and accept NULL and do nothing, when `figures` is NULL (no plots) or
 * out of memory, so that experiments need no checks.
 */
struct lab_figure *lab_figure_add(struct lab_figures *figures, const char *title,
                                  const char *x_label, const char *y_label);
enum { LAB_LOG_X = 1, LAB_LOG_Y = 2 };
/* Appends to the caption. */
__attribute__((format(printf, 2, 3))) void lab_caption(struct lab_figure *figure,
                                                       const char *words, ...);
__attribute__((format(printf, 3, 4))) struct lab_series *
lab_series_add(struct lab_figure *figure, enum lab_mark mark, const char *label, ...);
/* Series of one subject: "theory, SUBJECT" as a line, "measured, SUBJECT" as points. */
struct lab_curve {
    struct lab_series *theory, *measured;
};
struct lab_series *lab_theory_add(struct lab_figure *figure, const char *subject);
struct lab_series *lab_measured_add(struct lab_figure *figure, const char *subject);
__attribute__((format(printf, 2, 3))) struct lab_curve
lab_curve_add(struct lab_figure *figure, const char *subject, ...);
/* A series, given another subject than its label; NULL stays. */
struct lab_series *lab_series_about(struct lab_series *series, const char *subject);
/* A straight line. */
void lab_line_add(struct lab_figure *figure, const char *label, double x0, double y0,
                  double x1, double y1);
/* Names of x = 0, 1 and so on: "plain|QK-norm". */
void lab_figure_names(struct lab_figure *figure, const char *names);
void lab_series_point(struct lab_series *series, double x, double y, double se);
/* Words in the plot: left of (x, y) where x lies in the right half, else right of it. */
__attribute__((format(printf, 4, 5))) void
lab_figure_annotate(struct lab_figure *figure, double x, double y, const char *text, ...);
/* Allocates the arrays, zeroed; NULL as above. */
struct lab_heat *lab_heat_set(struct lab_figure *figure, int columns, int rows,
                              const char *label);
void lab_figures_free(struct lab_figures *figures);

/*
 * One <svg> element, self-contained, with all figures one below the other: axes with
 * ticks, units, legend, theory as a line, measurement as points with error bars, a
 * colour bar for a heat map.  It follows the page's light or dark scheme, and stands
 * alone as a file as well.  0, or -1 when writing failed.
 */
int lab_figures_svg(const struct lab_figures *figures, FILE *out);
/* One figure without style and background, for a page that has lab_figure_style. */
int lab_figure_svg_inline(const struct lab_figure *figure, FILE *out);
extern const char lab_figure_style[]; /* figure.css */

/* The plot within that drawing, in its units, and the values at its ends. */
struct lab_frame {
    double left, top, width, height, x_lo, x_hi, y_lo, y_hi;
};
struct lab_frame lab_figure_frame(const struct lab_figure *figure);

#endif

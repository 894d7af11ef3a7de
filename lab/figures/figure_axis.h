/* SPDX-License-Identifier: MIT */
/* Axes: which range, where the ticks are, and how numbers and words are written. */
#ifndef LAB_FIGURE_AXIS_H
#define LAB_FIGURE_AXIS_H

#include <stddef.h>

enum { LAB_TICKS_MAX = 32 };

struct lab_axis {
    int log;
    double lo, hi; /* lo < hi; both positive on a logarithmic axis */
    double tick[LAB_TICKS_MAX];
    int ticks;
    const char *names; /* "a|b|c" for 0, 1, 2; NULL: numbers */
};

/*
 * Takes a range of data, lo <= hi (both positive where `log`), widens what has no
 * width, and puts about `wanted` ticks at round numbers: multiples of 1, 2 or 5 times
 * a power of ten, or powers of ten (with 2 and 5 between where there is room).
 */
void lab_axis_fit(struct lab_axis *axis, double lo, double hi, int log, int wanted);
/* The same with one tick for each name. */
void lab_axis_name(struct lab_axis *axis, const char *names);
/* Where a value lies: 0 at lo, 1 at hi, not limited; NaN for what has no place. */
double lab_axis_place(const struct lab_axis *axis, double value);
/* The inside of a <text>: the number or the name of tick `i`. */
void lab_axis_label(const struct lab_axis *axis, int i, char *text, size_t size);
/* The width in em of that tick's label, roughly. */
double lab_axis_label_width(const struct lab_axis *axis, int i);

#endif

/* SPDX-License-Identifier: MIT */
#include "lab/figures/figure.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static int widen(double **array, int capacity)
{
    double *wider = realloc(*array, (size_t)capacity * sizeof *wider);
    if (!wider)
        return -1;
    *array = wider;
    return 0;
}

struct lab_figure *lab_figure_add(struct lab_figures *figures, const char *title,
                                  const char *x_label, const char *y_label)
{
    if (!figures)
        return NULL;
    struct lab_figure *figure = calloc(1, sizeof *figure);
    struct lab_figure **list =
        realloc(figures->figure, ((size_t)figures->count + 1) * sizeof *list);
    if (list)
        figures->figure = list;
    if (!figure || !list) {
        free(figure);
        return NULL;
    }
    snprintf(figure->title, sizeof figure->title, "%s", title);
    snprintf(figure->x_label, sizeof figure->x_label, "%s", x_label);
    snprintf(figure->y_label, sizeof figure->y_label, "%s", y_label);
    list[figures->count++] = figure;
    return figure;
}

void lab_caption(struct lab_figure *figure, const char *words, ...)
{
    va_list args;

    if (!figure)
        return;
    const size_t used = strlen(figure->caption);
    va_start(args, words);
    vsnprintf(figure->caption + used, sizeof figure->caption - used, words, args);
    va_end(args);
}

void lab_figure_names(struct lab_figure *figure, const char *names)
{
    if (figure)
        snprintf(figure->x_names, sizeof figure->x_names, "%s", names);
}

struct lab_series *lab_series_add(struct lab_figure *figure, enum lab_mark mark,
                                  const char *label, ...)
{
    va_list args;

    if (!figure)
        return NULL;
    struct lab_series *const series = calloc(1, sizeof *series);
    struct lab_series **const list =
        realloc(figure->series, ((size_t)figure->count + 1) * sizeof *list);
    if (list)
        figure->series = list;
    if (!series || !list) {
        free(series);
        return NULL;
    }
    list[figure->count++] = series;
    series->mark = mark;
    va_start(args, label);
    vsnprintf(series->label, sizeof series->label, label, args);
    va_end(args);
    return lab_series_about(series, series->label);
}

struct lab_series *lab_series_about(struct lab_series *series, const char *subject)
{
    if (series)
        snprintf(series->subject, sizeof series->subject, "%s", subject);
    return series;
}

struct lab_series *lab_theory_add(struct lab_figure *figure, const char *subject)
{
    return lab_series_about(
        lab_series_add(figure, LAB_LINE, "theory%s%s", *subject ? ", " : "", subject),
        subject);
}

struct lab_series *lab_measured_add(struct lab_figure *figure, const char *subject)
{
    return lab_series_about(
        lab_series_add(figure, LAB_POINTS, "measured%s%s", *subject ? ", " : "", subject),
        subject);
}

struct lab_curve lab_curve_add(struct lab_figure *figure, const char *subject, ...)
{
    char text[sizeof((struct lab_series *)0)->subject];
    va_list args;

    va_start(args, subject);
    vsnprintf(text, sizeof text, subject, args);
    va_end(args);
    struct lab_series *const theory = lab_theory_add(figure, text);
    return (struct lab_curve){theory, lab_measured_add(figure, text)};
}

void lab_line_add(struct lab_figure *figure, const char *label, double x0, double y0,
                  double x1, double y1)
{
    struct lab_series *const series = lab_series_add(figure, LAB_LINE, "%s", label);

    lab_series_point(series, x0, y0, 0);
    lab_series_point(series, x1, y1, 0);
}

void lab_series_point(struct lab_series *series, double x, double y, double se)
{
    if (!series)
        return;
    if (series->count == series->capacity) {
        const int capacity = series->capacity ? 2 * series->capacity : 32;
        if (widen(&series->x, capacity) || widen(&series->y, capacity) ||
            widen(&series->se, capacity))
            return;
        series->capacity = capacity;
    }
    series->x[series->count] = x;
    series->y[series->count] = y;
    series->se[series->count++] = se;
}

void lab_figure_annotate(struct lab_figure *figure, double x, double y, const char *text,
                         ...)
{
    char words[sizeof((struct lab_series *)0)->label];
    va_list args;

    va_start(args, text);
    vsnprintf(words, sizeof words, text, args);
    va_end(args);
    lab_series_point(lab_series_add(figure, LAB_ANNOTATION, "%s", words), x, y, 0);
}

struct lab_heat *lab_heat_set(struct lab_figure *figure, int columns, int rows,
                              const char *label)
{
    if (!figure || columns <= 0 || rows <= 0)
        return NULL;
    double *x = calloc((size_t)columns, sizeof *x);
    double *y = calloc((size_t)rows, sizeof *y);
    double *value = calloc((size_t)columns * (size_t)rows, sizeof *value);
    if (!x || !y || !value) {
        free(x);
        free(y);
        free(value);
        return NULL;
    }
    struct lab_heat *heat = &figure->heat;
    free(heat->x);
    free(heat->y);
    free(heat->value);
    *heat = (struct lab_heat){
        .columns = columns, .rows = rows, .x = x, .y = y, .value = value};
    snprintf(heat->label, sizeof heat->label, "%s", label);
    return heat;
}

void lab_figures_free(struct lab_figures *figures)
{
    if (!figures)
        return;
    for (int i = 0; i < figures->count; i++) {
        struct lab_figure *figure = figures->figure[i];
        for (int j = 0; j < figure->count; j++) {
            free(figure->series[j]->x);
            free(figure->series[j]->y);
            free(figure->series[j]->se);
            free(figure->series[j]);
        }
        free(figure->series);
        free(figure->heat.x);
        free(figure->heat.y);
        free(figure->heat.value);
        free(figure);
    }
    free(figures->figure);
    *figures = (struct lab_figures){0};
}

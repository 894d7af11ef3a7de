/* SPDX-License-Identifier: MIT */
#include "lab/experiments/experiment.h"

#include <assert.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXPERIMENT(x) extern const struct lab_experiment lab_experiment_##x;
#include "lab/experiments/experiments.inc"
#undef EXPERIMENT

const struct lab_experiment *const lab_experiments[] = {
#define EXPERIMENT(x) &lab_experiment_##x,
#include "lab/experiments/experiments.inc"
#undef EXPERIMENT
    NULL};

const struct lab_experiment *lab_find(const char *name)
{
    for (int e = 0; lab_experiments[e]; e++)
        if (!strcmp(lab_experiments[e]->name, name))
            return lab_experiments[e];
    return NULL;
}

void lab_run_init(struct lab_run *run, const struct lab_experiment *experiment)
{
    *run = (struct lab_run){.experiment = experiment,
                            .session = {.seed = 1, .threads = 1},
                            .trials = experiment->trials,
                            .sweeps = 1};
    assert(experiment->flag_count <= LAB_PARAMS_MAX);
    for (int f = 0; f < experiment->flag_count; f++) {
        run->numbers[f] = experiment->flags[f].preset;
        run->texts[f] = experiment->flags[f].text;
    }
}

int lab_perform(struct lab_run *run)
{
    const struct lab_experiment *const experiment = run->experiment;

    for (int f = 0; f < experiment->flag_count; f++)
        if (experiment->flags[f].type == LAB_CHOICE)
            run->numbers[f] = lab_choice(run, experiment->flags[f].name);
    run->conclusion[0] = '\0';
    run->ctx = lab_context(&run->session, run->session.threads);
    int failed = !run->ctx || experiment->perform(run);
    if (!failed && run->sweeps && experiment->sweep)
        failed = experiment->sweep(run);
    attend_context_destroy(run->ctx);
    free(run->scratch);
    run->ctx = NULL;
    run->scratch = NULL;
    run->scratch_count = 0;
    return failed ? -1 : 0;
}

double lab_seconds(const struct lab_run *run)
{
    struct lab_run pilot = *run;
    double seconds = 0;

    pilot.row = NULL;
    pilot.figures = NULL;
    pilot.scratch = NULL;
    pilot.scratch_count = 0;
    pilot.session.progress = NULL;
    pilot.session.slow = NULL;
    pilot.session.estimate = &seconds;
    lab_perform(&pilot);
    return seconds;
}

double *lab_scratch(struct lab_run *run, int64_t count)
{
    if ((size_t)count > run->scratch_count) {
        free(run->scratch);
        run->scratch = malloc((size_t)count * sizeof *run->scratch);
        run->scratch_count = run->scratch ? (size_t)count : 0;
    }
    if (!run->scratch)
        lab_fail(&run->session, "out of memory for %lld numbers", (long long)count);
    else
        memset(run->scratch, 0, (size_t)count * sizeof *run->scratch);
    return run->scratch;
}

static int flag_index(const struct lab_run *run, const char *name)
{
    for (int f = 0; f < run->experiment->flag_count; f++)
        if (!strcmp(run->experiment->flags[f].name, name))
            return f;
    assert(0 && "a flag of the experiment");
    return 0;
}

double lab_real(const struct lab_run *run, const char *name)
{
    return run->numbers[flag_index(run, name)];
}

int64_t lab_integer(const struct lab_run *run, const char *name)
{
    return (int64_t)run->numbers[flag_index(run, name)];
}

const char *lab_text(const struct lab_run *run, const char *name)
{
    return run->texts[flag_index(run, name)];
}

int lab_choice(const struct lab_run *run, const char *name)
{
    const int f = flag_index(run, name);
    const char *choice = run->experiment->flags[f].choices;
    const size_t length = strlen(run->texts[f]);

    for (int index = 0; choice; index++) {
        if (strcspn(choice, "|") == length && !strncmp(choice, run->texts[f], length))
            return index;
        choice = strchr(choice, '|');
        choice += choice != NULL;
    }
    assert(0 && "one of the choices");
    return 0;
}

void lab_set(struct lab_run *run, const char *name, double number)
{
    run->numbers[flag_index(run, name)] = number;
}

struct lab_setting lab_own(const struct lab_run *run)
{
    struct lab_setting own = {.with = NULL};

    memcpy(own.at, run->numbers, sizeof own.at);
    return own;
}

static struct lab_row row_at(const struct lab_run *run, const char *quantity,
                             const struct lab_setting *at)
{
    const struct lab_experiment *const experiment = run->experiment;
    struct lab_row row = {.param_count = experiment->flag_count, .quantity = quantity};

    for (int f = 0; f < experiment->flag_count; f++) {
        const struct lab_flag *const flag = &experiment->flags[f];
        const int is_text = flag->type == LAB_CHOICE || flag->type == LAB_TEXT;
        row.params[f] = (struct lab_param){
            .name = flag->name,
            .number = is_text ? 0 : at->at[f],
            .text = flag->type == LAB_CHOICE ? flag->names[(int)at->at[f]]
                    : is_text                ? run->texts[f]
                                             : NULL,
        };
    }
    return row;
}

/* NaN is a number not given. */
static int differs(const struct lab_param *param, double number, const char *text)
{
    if (param->text && text)
        return strcmp(param->text, text) != 0;
    return param->text || text ||
           !(param->number == number || (isnan(param->number) && isnan(number)));
}

static void compare(const struct lab_run *run, struct lab_row *row)
{
    row->is_own = 1;
    for (int f = 0; f < row->param_count; f++) {
        struct lab_param *const param = &row->params[f];
        param->differs = differs(param, run->numbers[f], run->texts[f]);
        row->is_own &= !param->differs;
    }
}

/* Nonzero if the quantity was emitted before; keeps its name otherwise. */
static int is_emitted(struct lab_run *run, const char *quantity)
{
    for (int e = 0; e < run->emitted_count; e++)
        if (!strcmp(run->emitted[e], quantity))
            return 1;
    if (run->emitted_count < LAB_EMITTED_MAX)
        snprintf(run->emitted[run->emitted_count++], sizeof run->emitted[0], "%s",
                 quantity);
    return 0;
}

struct lab_found lab_exact(double theory, struct lab_estimate measured)
{
    return (struct lab_found){.theory = theory,
                              .measured = measured.value,
                              .se = measured.se,
                              .allowed = measured.allowed,
                              .rare = measured.rare,
                              .low = measured.low,
                              .high = measured.high};
}

struct lab_found lab_sure(double theory, double measured)
{
    return (struct lab_found){.theory = theory, .measured = measured};
}

struct lab_found lab_about(double theory, double measured, double allowed)
{
    return (struct lab_found){.theory = theory, .measured = measured, .allowed = allowed};
}

struct lab_found lab_below(double bound, double measured, double allowed)
{
    return (struct lab_found){
        .theory = bound, .measured = measured, .allowed = allowed, .kind = LAB_BOUND};
}

struct lab_found lab_zero(double measured, double allowed)
{
    return lab_below(0, measured, allowed);
}

struct lab_found lab_defect(double theory, double measured, double allowed)
{
    return theory == 0 ? lab_zero(measured, allowed)
                       : lab_about(theory, measured, allowed);
}

struct lab_found lab_near(enum lab_kind kind, double theory, struct lab_estimate measured)
{
    struct lab_found found = lab_exact(theory, measured);

    found.kind = kind;
    return found;
}

void lab_emit(struct lab_run *run, const char *quantity, const struct lab_setting *at,
              struct lab_found found)
{
    struct lab_row row = row_at(run, quantity, at);

    row.theory = found.theory;
    row.measured = found.measured;
    row.se = found.se;
    row.allowed = found.allowed;
    row.kind = found.kind;
    row.rare = found.rare;
    row.low = found.low;
    row.high = found.high;
    compare(run, &row);
    if (row.is_own && is_emitted(run, quantity))
        return;
    if (run->row)
        run->row(run->session.user, &row);
}

void lab_emit_own(struct lab_run *run, const char *quantity, struct lab_found found)
{
    const struct lab_setting own = lab_own(run);

    lab_emit(run, quantity, &own, found);
}

void lab_series_estimate(struct lab_series *series, double x,
                         struct lab_estimate estimate)
{
    lab_series_point(series, x, estimate.value, estimate.se);
}

void lab_conclude(struct lab_run *run, const char *format, ...)
{
    const size_t used = strlen(run->conclusion);
    va_list args;

    va_start(args, format);
    vsnprintf(run->conclusion + used, sizeof run->conclusion - used, format, args);
    va_end(args);
}

struct lab_figure *lab_plot(struct lab_run *run, const char *id, const char *title,
                            const char *x_label, const char *y_label, int log_axes,
                            const char *caption, ...)
{
    struct lab_figure *const figure =
        lab_figure_add(run->figures, title, x_label, y_label);
    va_list args;

    va_start(args, caption);
    if (figure) {
        figure->id = id;
        figure->x_log = (log_axes & LAB_LOG_X) != 0;
        figure->y_log = (log_axes & LAB_LOG_Y) != 0;
        vsnprintf(figure->caption, sizeof figure->caption, caption, args);
    }
    va_end(args);
    return figure;
}

/*
 * Where the first and the last bar would dwarf the others, they are cut off and their
 * mass is written in.  `end` is the theory of both masses, NaN: there is none.
 */
static void cut_end_bars(struct lab_figure *figure, const struct lab_histogram *histogram,
                         const double end[2])
{
    const double mass[2] = {lab_histogram_density(histogram, 0) / LAB_BINS,
                            lab_histogram_density(histogram, LAB_BINS - 1) / LAB_BINS};
    double highest = 0;

    for (int b = 1; b < LAB_BINS - 1; b++)
        highest = fmax(highest, lab_histogram_density(histogram, b));
    if (!figure || !(highest > 0) || !(fmax(mass[0], mass[1]) * LAB_BINS > 2 * highest))
        return;
    figure->y_top = 1.4 * highest;
    lab_figure_annotate(figure, 1.0 / LAB_BINS, 1.3 * highest, "%.3g%% below 1/%d",
                        100 * mass[0], LAB_BINS);
    lab_figure_annotate(figure, 1 - 1.0 / LAB_BINS, 1.3 * highest, "%.3g%% above %d/%d",
                        100 * mass[1], LAB_BINS - 1, LAB_BINS);
    lab_caption(figure, " Bars above the axis are cut off; the mass of the end bars is "
                        "written in");
    if (!isnan(end[0]))
        lab_caption(figure, " (theory: %.3g%% and %.3g%%)", 100 * end[0], 100 * end[1]);
    lab_caption(figure, ".");
}

void lab_plot_histogram(struct lab_figure *figure, const struct lab_histogram *histogram,
                        const char *subject, double (*cdf)(const void *arg, double w),
                        const void *arg)
{
    struct lab_series *series =
        lab_series_about(lab_series_add(figure, LAB_BARS, "measured"), "");
    double below = 0, density = 0, end[2] = {NAN, NAN};

    for (int b = 0; b < LAB_BINS && series; b++)
        lab_series_point(series, (b + 0.5) / LAB_BINS,
                         lab_histogram_density(histogram, b), 0);
    series = subject ? lab_series_add(figure, LAB_STEPS, "theory%s%s",
                                      *subject ? ", " : "", subject)
                     : NULL;
    lab_series_about(series, subject);
    for (int b = 0; b < LAB_BINS && series; b++) {
        const double above = cdf(arg, (b + 1.0) / LAB_BINS);
        density = LAB_BINS * (above - below);
        below = above;
        lab_series_point(series, (double)b / LAB_BINS, density, 0);
        if (b == 0 || b == LAB_BINS - 1)
            end[b > 0] = density / LAB_BINS;
    }
    lab_series_point(series, 1, density, 0);
    cut_end_bars(figure, histogram, end);
}

int lab_settle_d(struct lab_run *run)
{
    const int d = flag_index(run, "d");
    const double n = lab_real(run, "n");

    if (isnan(run->numbers[d]))
        run->numbers[d] = n;
    if (run->numbers[d] < n)
        return lab_misuse(&run->session,
                          "--d: %.0f is less than --n %.0f: %.0f orthonormal keys need a "
                          "d of %.0f or more",
                          run->numbers[d], n, n, n);
    return 0;
}

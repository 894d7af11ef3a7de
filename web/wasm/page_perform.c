/* SPDX-License-Identifier: MIT */
/* Experiments: one performance after the other. */
#define _POSIX_C_SOURCE 200809L

#include "page.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lab/door/objects.h"
#include "lab/experiments/experiment.h"
#include "page_figures.h"
#include "page_report.h"

static struct lab_run run;
static char *kept[LAB_PARAMS_MAX]; /* texts of flags that were set */

int page_run_open(const char *experiment)
{
    const struct lab_experiment *const found = lab_find(experiment);

    for (int f = 0; f < LAB_PARAMS_MAX; f++) {
        free(kept[f]);
        kept[f] = NULL;
    }
    if (!found)
        return -1;
    lab_run_init(&run, found);
    return 0;
}

/* ---- flags --------------------------------------------------------------------- */

static char why[240];

static const char *set_number(int f, const char *value)
{
    const struct lab_flag *const flag = &run.experiment->flags[f];
    const int is_whole = flag->type == LAB_INTEGER;
    char *end;
    const double number = strtod(value, &end);

    if (end == value || *end || !isfinite(number) || (is_whole && number != rint(number)))
        snprintf(why, sizeof why, "%s: '%.40s' is not a %s", flag->name, value,
                 is_whole ? "whole number" : "number");
    else if (number < flag->min || number > flag->max)
        snprintf(why, sizeof why, "%s: %.10g is outside %.10g .. %.10g", flag->name,
                 number, flag->min, flag->max);
    else
        run.numbers[f] = number;
    return why;
}

static int is_choice(const char *choices, const char *value)
{
    const size_t length = strlen(value);

    for (const char *at = choices; length && (at = strstr(at, value)); at += length)
        if ((at == choices || at[-1] == '|') && (at[length] == '|' || !at[length]))
            return 1;
    return 0;
}

static const char *set_text(int f, const char *value)
{
    const struct lab_flag *const flag = &run.experiment->flags[f];
    char *const copy = strdup(value);

    if (!copy)
        snprintf(why, sizeof why, "out of memory");
    else if (flag->type == LAB_CHOICE && !is_choice(flag->choices, value))
        snprintf(why, sizeof why, "%s: '%.40s' is none of %s", flag->name, value,
                 flag->choices);
    if (*why) {
        free(copy);
        return why;
    }
    free(kept[f]);
    run.texts[f] = kept[f] = copy;
    return why;
}

const char *page_run_set(const char *flag, const char *value)
{
    *why = 0;
    for (int f = 0; f < run.experiment->flag_count; f++)
        if (!strcmp(run.experiment->flags[f].name, flag))
            return run.experiment->flags[f].type >= LAB_CHOICE ? set_text(f, value)
                                                               : set_number(f, value);
    snprintf(why, sizeof why, "%.40s: no flag of %s", flag, run.experiment->name);
    return why;
}

/* ---- rows ---------------------------------------------------------------------- */

/* With the names of `attend lab --json`, and "own". */
static const char *row_json(const struct lab_row *row)
{
    struct lab_json *const json = page_begin();

    lab_json_row(json, &run, row);
    lab_json_put(json, "own:b", row->is_own);
    return page_end();
}

static struct lab_count count;

static void on_row(void *user, const struct lab_row *row)
{
    (void)user;
    lab_count_row(&count, row);
    page_report_row(row_json(row));
}

static void on_progress(void *user, int64_t done, int64_t total)
{
    (void)user;
    page_report_progress((double)done, (double)total);
}

/* ---- the performance ------------------------------------------------------------ */

const char *page_run(double seed, double trials, int sweeps, int figures)
{
    struct lab_figures drawn = {.count = 0};
    char text[160];

    if (!(trials >= 1 && trials <= 1e9) || !(seed >= 0 && seed <= 0x1p53))
        return page_refuse("trials: 1 to 10^9, and a seed: 0 to 2^53");
    count = (struct lab_count){0};
    run.session.seed = (uint64_t)seed;
    run.session.threads = 1;
    run.session.progress = on_progress;
    run.trials = (int64_t)trials;
    run.sweeps = sweeps;
    run.row = on_row;
    run.figures = figures ? &drawn : NULL;
    if (lab_perform(&run)) {
        lab_figures_free(&drawn);
        return page_refuse(run.session.error);
    }
    lab_count_text(&count, text, sizeof text);
    const char *const seen = *run.conclusion ? run.conclusion : run.experiment->shows;
    struct lab_json *const json = page_begin();
    lab_json_put(json, "conclusion:s concluded:p count:s", seen, seen, text);
    page_figures_put(json, &drawn);
    lab_figures_free(&drawn);
    return page_end();
}

/* SPDX-License-Identifier: MIT */
#include "lab/performed.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct performed lab;

static void keep_row(void *user, const struct lab_row *row)
{
    (void)user;
    if (lab.count < PERFORMED_ROWS)
        lab.row[lab.count] = *row;
    lab.count++;
}

/* Sets one flag; -1: there is no such flag. */
static int set_flag(const char *name, const char *value)
{
    for (int f = 0; f < lab.run.experiment->flag_count; f++) {
        const struct lab_flag *const flag = &lab.run.experiment->flags[f];
        if (strcmp(flag->name, name) != 0)
            continue;
        if (flag->type == LAB_REAL || flag->type == LAB_INTEGER)
            lab.run.numbers[f] = strtod(value, NULL);
        else
            lab.run.texts[f] = value;
        return 0;
    }
    snprintf(lab.run.session.error, sizeof lab.run.session.error, "no flag %s", name);
    return -1;
}

int perform_as(const char *name, struct performing how)
{
    static char flags[256]; /* storage that rows point into */

    lab_run_init(&lab.run, lab_find(name));
    lab.count = 0;
    lab.run.row = keep_row;
    lab.run.sweeps = how.sweeps;
    lab.run.figures = how.figures ? &lab.figures : NULL;
    lab.run.session.threads = how.threads ? how.threads : 2;
    lab.run.session.stop = how.stop;
    if (how.seed)
        lab.run.session.seed = how.seed;
    if (how.trials && lab.run.experiment->trials)
        lab.run.trials = how.trials;
    snprintf(flags, sizeof flags, "%s", how.flags ? how.flags : "");
    for (char *item = strtok(flags, " "); item; item = strtok(NULL, " ")) {
        char *const value = strchr(item, '=');
        *value = '\0';
        if (set_flag(item, value + 1))
            return -1;
    }
    return lab_perform(&lab.run);
}

int perform(const char *name, const char *flags, int64_t trials)
{
    return perform_as(name, (struct performing){.flags = flags, .trials = trials});
}

static int kept(void) { return lab.count < PERFORMED_ROWS ? lab.count : PERFORMED_ROWS; }

const struct lab_row *find_row(const char *quantity)
{
    for (int r = 0; r < kept(); r++)
        if (!strcmp(lab.row[r].quantity, quantity))
            return &lab.row[r];
    return NULL;
}

double measured(const char *quantity)
{
    const struct lab_row *const row = find_row(quantity);

    return row ? row->measured : NAN;
}

double theory(const char *quantity)
{
    const struct lab_row *const row = find_row(quantity);

    return row ? row->theory : NAN;
}

const struct lab_row *disagreement(void)
{
    for (int r = 0; r < kept(); r++)
        if ((isnan(lab.row[r].measured) && !isnan(lab.row[r].theory)) ||
            lab_row_differs(&lab.row[r]))
            return &lab.row[r];
    return NULL;
}

const char *describe(const struct lab_row *row)
{
    static char texts[3][600];
    static int next;
    char *const text = texts[next++ % 3];

    if (!row)
        return "no row";
    int length = snprintf(text, sizeof texts[0],
                          "%s %s: theory %.17g measured %.17g se %g allowed %g;",
                          lab.run.experiment->name, row->quantity, row->theory,
                          row->measured, row->se, row->allowed);
    for (int p = 0; p < row->param_count && length < (int)sizeof texts[0]; p++) {
        const struct lab_param *const param = &row->params[p];
        char *const to = text + length;
        const size_t room = sizeof texts[0] - (size_t)length;
        length += param->text ? snprintf(to, room, " %s=%s", param->name, param->text)
                              : snprintf(to, room, " %s=%g", param->name, param->number);
    }
    return text;
}

/*
 * P(chi-square of k degrees of freedom > x): the sum of e^-y y^i / Gamma(i + 1) over i =
 * k/2 - 1, k/2 - 2, ... with y = x/2, and erfc(sqrt y) where k is odd.
 */
static double chi_square_above(double x, int k)
{
    const double y = x / 2;
    double sum = k % 2 ? erfc(sqrt(y)) : 0;

    for (double i = k % 2 ? 0.5 : 0; i < k / 2.0; i++)
        sum += exp(i * log(y) - y - lgamma(i + 1));
    return sum;
}

struct limits limits_of_sd(int seeds, double p)
{
    const int k = seeds - 1;
    double limit[2];

    for (int upper = 0; upper < 2; upper++) {
        double low = 1e-12, high = 100 + 10.0 * k;
        for (int step = 0; step < 100; step++) {
            const double middle = (low + high) / 2;
            const int beyond = upper ? chi_square_above(middle, k) < p
                                     : 1 - chi_square_above(middle, k) > p;
            *(beyond ? &high : &low) = middle;
        }
        limit[upper] = sqrt(high / k);
    }
    return (struct limits){.low = limit[0], .high = limit[1]};
}

int seeds_taken(void)
{
    const int64_t seeds = test_count(10);

    return seeds < 3 ? 3 : seeds > 150 ? 150 : (int)seeds;
}

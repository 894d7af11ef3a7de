/* SPDX-License-Identifier: MIT */
/* The standing of a row: its theory holds, fails, or is only shown beside it. */
#include "lab/experiments/experiment.h"

#include <math.h>
#include <stdio.h>

/*
 * Rounding of a deterministic quantity computed in double: relative, and for a difference
 * of numbers of size 1.
 */
static const double rounding = 1e-10, cancellation = 1e-15;
/* Least ratio of a theory to its rounding; below it the theory is not tested. */
static const double digits = 10;

const char *lab_kind_name(enum lab_kind kind)
{
    static const char *const names[] = {[LAB_EXACT] = "exact",
                                        [LAB_BOUND] = "bound",
                                        [LAB_FIRST_ORDER] = "first-order",
                                        [LAB_ASYMPTOTIC] = "asymptotic",
                                        [LAB_MODEL] = "model"};
    return names[kind];
}

static int is_limit(const struct lab_row *row)
{
    return row->kind == LAB_FIRST_ORDER || row->kind == LAB_ASYMPTOTIC ||
           row->kind == LAB_MODEL;
}

/* Rounding of a measurement over a sample. */
static double sample_rounding(const struct lab_row *row)
{
    return fmax(row->allowed, rounding * fabs(row->theory));
}

/* Scatter of the size of the rounding is not statistical. */
static int is_chance(const struct lab_row *row)
{
    return row->se > digits * sample_rounding(row);
}

double lab_row_z(const struct lab_row *row)
{
    return row->se > 0 && is_chance(row) && !row->rare && !is_limit(row)
               ? (row->measured - row->theory) / row->se
               : NAN;
}

double lab_row_distance(const struct lab_row *row)
{
    return is_limit(row) ? fabs(row->measured - row->theory) / fabs(row->theory) : NAN;
}

static double tolerance(const struct lab_row *row)
{
    return fmax(fmax(row->allowed, cancellation), rounding * fabs(row->theory));
}

static enum lab_standing exact_standing(const struct lab_row *row)
{
    const double off = row->measured - row->theory, slack = tolerance(row);
    int is_within;

    if (row->theory == 0 && row->measured == 0)
        return LAB_UNJUDGED;
    if (row->rare && isnan(row->low))
        return LAB_UNJUDGED;
    if (row->rare)
        is_within = row->theory >= row->low - slack && row->theory <= row->high + slack;
    else if (row->se > 0 && is_chance(row))
        is_within = fabs(off) <= 4 * row->se;
    else if (!(fabs(row->theory) > digits * slack) || isinf(row->theory))
        return LAB_UNJUDGED;
    else
        is_within = fabs(off) <= 4 * row->se + slack;
    return is_within ? LAB_WITHIN : LAB_OUTSIDE;
}

enum lab_standing lab_row_standing(const struct lab_row *row)
{
    if (isnan(row->theory) || isnan(row->measured) || isnan(row->se))
        return LAB_UNJUDGED;
    if (is_limit(row))
        return LAB_SHOWN;
    if (row->kind == LAB_BOUND)
        return row->measured <= row->theory + 4 * row->se + tolerance(row) ? LAB_HELD
                                                                           : LAB_BROKEN;
    return exact_standing(row);
}

int lab_row_differs(const struct lab_row *row)
{
    const enum lab_standing standing = lab_row_standing(row);

    return standing == LAB_OUTSIDE || standing == LAB_BROKEN;
}

int lab_row_holds(const struct lab_row *row)
{
    const enum lab_standing standing = lab_row_standing(row);

    return standing == LAB_WITHIN || standing == LAB_HELD ? 1
           : lab_row_differs(row)                         ? 0
                                                          : -1;
}

void lab_count_row(struct lab_count *count, const struct lab_row *row)
{
    const enum lab_standing standing = lab_row_standing(row);

    count->exact += standing == LAB_WITHIN || standing == LAB_OUTSIDE;
    count->within += standing == LAB_WITHIN;
    count->bounds += standing == LAB_HELD || standing == LAB_BROKEN;
    count->held += standing == LAB_HELD;
    count->shown += standing == LAB_SHOWN;
}

void lab_count_text(const struct lab_count *count, char *text, unsigned long size)
{
    snprintf(text, size,
             "within 4 se of theory: %d of %d rows; bounds held: %d of %d; limits and "
             "first-order forms: %d",
             count->within, count->exact, count->held, count->bounds, count->shown);
}

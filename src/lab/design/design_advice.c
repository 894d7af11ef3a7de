/* SPDX-License-Identifier: MIT */
/* What is said of a design once it is made, and how long its check may take. */
#include "lab/design/design.h"

#include <math.h>
#include <stdio.h>

/* Draws for the check by default: some seconds at most. */
enum { TRIALS = 20000, TRIALS_MIN = 500 };
#define ENTRIES_DRAWN 5e8
/* An error this much smaller is worth a head. */
#define STEADIER 0.99

int64_t lab_design_trials(int64_t n, int64_t d)
{
    return (int64_t)fmax(TRIALS_MIN, fmin(TRIALS, ENTRIES_DRAWN / (double)(n * d)));
}

double lab_design_z(const struct lab_design_row *row)
{
    return row->se > 0 && !row->rare ? (row->measured - row->predicted) / row->se : NAN;
}

/* Whether more heads, or fewer, promise a smaller error than those designed. */
static int is_better_known(const struct lab_design *design, double *designed)
{
    *designed = NAN;
    for (int x = 0; x < design->choices; x++)
        if (design->choice[x].heads == design->heads)
            *designed = design->choice[x].mse;
    return design->choice[design->best].mse < STEADIER * *designed;
}

void lab_design_advice(const struct lab_design *design, char *text, size_t size)
{
    double designed;

    if (is_better_known(design, &designed))
        snprintf(text, size,
                 "%d heads would be steadier: mean squared error %.4g instead of %.4g",
                 design->choice[design->best].heads, design->choice[design->best].mse,
                 designed);
    else if (design->choices > 1)
        snprintf(text, size, "no other number of heads is steadier");
    else
        snprintf(text, size, "one head is all there is to it");
}

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

/* The choice that was designed; NULL: its number of heads is none of the choices. */
static const struct lab_design_choice *designed_choice(const struct lab_design *design)
{
    for (int x = 0; x < design->choices; x++)
        if (design->choice[x].heads == design->heads)
            return &design->choice[x];
    return NULL;
}

/* At which scales two choices were compared. */
static void describe_scales(const struct lab_design_choice *best,
                            const struct lab_design_choice *designed, char *text,
                            size_t size)
{
    if (fabs(best->scale - designed->scale) <= 1e-9 * fabs(designed->scale))
        snprintf(text, size, "both at scale %.4g", best->scale);
    else
        snprintf(text, size, "at scales %.4g and %.4g, of equal leak without noise",
                 best->scale, designed->scale);
}

void lab_design_advice(const struct lab_design *design, char *text, size_t size)
{
    const struct lab_design_choice *const best = &design->choice[design->best];
    const struct lab_design_choice *const designed = designed_choice(design);
    char scales[96];

    if (!design->is_noisy) {
        snprintf(text, size, "without noise nothing varies: one head is enough");
    } else if (designed && best->mse < STEADIER * designed->mse) {
        describe_scales(best, designed, scales, sizeof scales);
        snprintf(text, size,
                 "%d heads would be steadier: mean squared error %.4g instead of %.4g, "
                 "%s",
                 best->heads, best->mse, designed->mse, scales);
    } else if (design->choices > 1) {
        snprintf(text, size, "no other number of heads is steadier");
    } else {
        snprintf(text, size, "one head is all there is to it");
    }
}

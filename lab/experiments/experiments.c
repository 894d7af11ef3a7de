/* SPDX-License-Identifier: MIT */
/* The list of experiments. */
#include "lab/experiments/experiment.h"

#include <stddef.h>
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

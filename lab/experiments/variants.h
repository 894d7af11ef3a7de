/* SPDX-License-Identifier: MIT */
/* Variants of attention, each made of calls of attend_forward(). */
#ifndef LAB_VARIANTS_H
#define LAB_VARIANTS_H

#include "lab/experiments/experiment.h"

struct lab_variant {
    int64_t n, m; /* keys; latents, m <= n */
    double beta, sigma2;
    uint64_t seed, stream;
};

/*
 * Rows of the run's own parameters, then those of the sweeps with their figures.  All
 * return 0, or -1 after lab_fail().
 */
int lab_synthesizer_rows(struct lab_run *run, const struct lab_variant *variant);
int lab_bottleneck_rows(struct lab_run *run, const struct lab_variant *variant);
int lab_bottleneck_sweep(struct lab_run *run, const struct lab_variant *variant);
int lab_sigmoid_rows(struct lab_run *run, const struct lab_variant *variant);
int lab_sigmoid_sweep(struct lab_run *run, const struct lab_variant *variant);

#endif

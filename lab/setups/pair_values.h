/* SPDX-License-Identifier: MIT */
/*
 * Values of a trial that most scenes with two wanted keys measure, each with its theory.
 */
#ifndef LAB_PAIR_VALUES_H
#define LAB_PAIR_VALUES_H

#include "lab/setups/scene.h"

enum {
    LAB_WEIGHT_A,      /* head 0's weight of key a */
    LAB_LEAK,          /* its weight of the keys other than a and b */
    LAB_COEFFICIENT_A, /* of v_a in c */
    LAB_COEFFICIENT_B,
    LAB_ERROR, /* |c - (v_a + v_b)/2|^2 */
    LAB_PAIR_VALUES
};
/* The same over the trials with gamma > 0 alone: LAB_GIVEN_POSITIVE(LAB_ERROR). */
#define LAB_GIVEN_POSITIVE(value) ((int)LAB_PAIR_VALUES + (int)(value))

/* The first `count` of them: LAB_PAIR_VALUES, or twice as many. */
void lab_pair_observe(const struct lab_outcome *outcome, int count, double *values);
/* The mean or the variance of a value; `output` is that of its trials. */
double lab_pair_theory(const struct lab_scene *scene, const attend_theory_output *output,
                       int value, int is_variance);

#endif

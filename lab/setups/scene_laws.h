/* SPDX-License-Identifier: MIT */
/* Laws of a scene that attend/theory.h does not have. */
#ifndef LAB_SCENE_LAWS_H
#define LAB_SCENE_LAWS_H

#include "lab/setups/scene.h"

/*
 * The mean coefficients of v_b and of all other values given <k_a, mu_a> < 0; NaN where
 * alpha > 0, and for keys of unit norm of which others are noisy as well: mixtures of
 * signs are not computed.
 */
void lab_scene_lost(const struct lab_scene *scene, double *b, double *others);

/*
 * E|c - mean of the wanted values|^2 of a scene with alpha = 0 whose wanted keys alone
 * are noisy and whose queries are equal sums of `own` targets each, or copies of these;
 * with `positive`, given that every length is positive.  NaN where it is not known.
 */
double lab_scene_groups_mse(const struct lab_scene *scene, double own, int positive);

/*
 * One head C (mu_a + mu_b), only k_a noisy, scale = C tau: the chance that one of v_a and
 * v_b holds more than 90% of the weight, and E|c - (v_a + v_b)/2|, to about 1e-12.
 */
double lab_one_head_copies(double n, double scale, double sigma2);
double lab_one_head_distance(double n, double scale, attend_theory_law law);

/* The number of modes of w, 1 or 2, where logit w is normal; NaN without a variance. */
double lab_logit_normal_modes(double mean, double variance);

#endif

/* SPDX-License-Identifier: MIT */
/* Parts of experiments in files of their own.  All give 0, or -1 after lab_fail(). */
#ifndef LAB_PARTS_H
#define LAB_PARTS_H

#include "lab/experiments/runner.h"

/* Outputs of the two heads of a scene, and of the one, over draws of the keys. */
int lab_output_cloud(struct lab_run *run, const struct lab_scene *scene);

/*
 * A copy among the run's n keys as a row of scores: the gap of eps, rivals that trail by
 * `gap` and more, the steps of f32 and bf16; and the figure of those steps.
 */
int lab_copy_score_rows(struct lab_run *run, double gap);
int lab_copy_rounding_figure(struct lab_run *run);

#endif

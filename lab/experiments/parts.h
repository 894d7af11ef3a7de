/* SPDX-License-Identifier: MIT */
/* Parts of experiments in files of their own.  All give 0, or -1 after lab_fail(). */
#ifndef LAB_PARTS_H
#define LAB_PARTS_H

#include "lab/experiments/runner.h"

/* Outputs of the two heads of a scene, and of the one, over draws of the keys. */
int lab_output_cloud(struct lab_run *run, const struct lab_scene *scene);

/* A copy among the run's n keys in f32 and bf16. */
int lab_copy_rounding_rows(struct lab_run *run);
int lab_copy_rounding_figure(struct lab_run *run);

#endif

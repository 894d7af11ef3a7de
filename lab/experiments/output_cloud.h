/* SPDX-License-Identifier: MIT */
#ifndef LAB_OUTPUT_CLOUD_H
#define LAB_OUTPUT_CLOUD_H

#include "lab/experiments/runner.h"

/*
 * heads: the figure of outputs c in the plane of v_a and v_b, of one head, the scene's
 * last, and of the others on the same keys, if plots are wanted.  0, or -1 after
 * lab_fail().
 */
int lab_output_cloud(struct lab_run *run, const struct lab_scene *scene);

#endif

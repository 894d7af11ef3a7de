/* SPDX-License-Identifier: MIT */
#ifndef LAB_OUTPUT_CLOUD_H
#define LAB_OUTPUT_CLOUD_H

#include "lab/experiments/experiment.h"
#include "lab/setups/two_heads.h"

/*
 * The figure of outputs c in the plane of v_a and v_b, of one head and of the two on the
 * same keys, if plots are wanted: 0, or -1 after lab_fail().
 */
int lab_output_cloud(struct lab_run *run, const struct lab_two_heads *setup);

#endif

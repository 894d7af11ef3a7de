/* SPDX-License-Identifier: MIT */
/* Parts of experiments that have a file of their own.  All give 0, or -1 after
 * lab_fail(). */
#ifndef LAB_EXPERIMENT_PARTS_H
#define LAB_EXPERIMENT_PARTS_H

#include "lab/experiments/runner.h"

/*
 * copy: where floating point makes a copy exact.  Rows of the gaps at which a weight of
 * f32, or an output of bf16, becomes exactly 1 and the other weights exactly 0, among n
 * keys; and a figure of the steps.
 */
int lab_copy_floats_rows(struct lab_run *run, int64_t n);
int lab_copy_floats_figure(struct lab_run *run, int64_t n);

/*
 * heads: the figure of outputs c in the plane of v_a and v_b, of one head, the scene's
 * last, and of the others on the same keys, if plots are wanted.
 */
int lab_output_cloud(struct lab_run *run, const struct lab_scene *scene);

/*
 * how-many-heads: heads that share d dimensions.  Each sees n keys as random unit vectors
 * in d/h of them, drawn for itself, and asks for its m/h targets with C times their sum.
 * The magnitude of every key is noisy.  There is no formula for the error; it is
 * measured. First the rows of exactly the run's parameters; then the error at the best C
 * by number of heads, at d = 64, n = 256, m = 8, and the chance that a random key beats
 * the targets of a head.
 */
int lab_random_heads_rows(struct lab_run *run);
int lab_random_heads_curves(struct lab_run *run);

/* ---- variants: each is made of calls of attend_forward() ---- */

/*
 * Rows of the run's own parameters, then those of the sweeps with their figures.  All
 * return 0, or -1 after lab_fail().
 */
int lab_synthesizer_rows(struct lab_run *run);
int lab_bottleneck_rows(struct lab_run *run);
int lab_bottleneck_sweep(struct lab_run *run);
int lab_sigmoid_rows(struct lab_run *run, uint64_t stream);
int lab_sigmoid_sweep(struct lab_run *run, uint64_t stream);

#endif

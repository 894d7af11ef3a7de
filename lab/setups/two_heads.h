/* SPDX-License-Identifier: MIT */
/*
 * Two heads of a scene, and a third one beside them, on the same keys: values of a trial,
 * their theory, and the scale from which the two are nearer to the average.  Everything
 * is there twice: over all trials, and over those with gamma > 0 alone.
 */
#ifndef LAB_TWO_HEADS_H
#define LAB_TWO_HEADS_H

#include "lab/setups/scene.h"

/* Values of a trial; those given gamma > 0 begin at LAB_TWO_VALUES. */
enum {
    LAB_TWO_W1,
    LAB_TWO_LOSES,
    LAB_TWO_SPREAD1, /* |c1 - m1|^2, m1 a fixed point near the mean of c1 */
    LAB_TWO_SPREAD2,
    LAB_TWO_PRODUCT, /* <c1 - m1, c2 - m2> */
    LAB_TWO_FROM1,   /* c1 - m1 by coordinates: a, b, all others together */
    LAB_TWO_FROM2 = LAB_TWO_FROM1 + 3,
    LAB_TWO_COEFFICIENT_A = LAB_TWO_FROM2 + 3,
    LAB_TWO_COEFFICIENT_B,
    LAB_TWO_ERROR_TWO,
    LAB_TWO_COEFFICIENT_ONE,
    LAB_TWO_ERROR_ONE,
    LAB_TWO_VALUES
};

/* Numbers over the same trials; those given gamma > 0 begin at LAB_TWO_ROWS. */
enum {
    LAB_TWO_MEAN_W1,
    LAB_TWO_VAR_W1,
    LAB_TWO_HEAD1_LOSES,
    LAB_TWO_VAR_C1, /* E|c1 - E c1|^2 */
    LAB_TWO_VAR_C2,
    LAB_TWO_COV_C1_C2, /* E<c1 - E c1, c2 - E c2> */
    LAB_TWO_COEFF_A,
    LAB_TWO_COEFF_B,
    LAB_TWO_COEFF_VAR_ONE,
    LAB_TWO_COEFF_VAR_TWO,
    LAB_TWO_MSE_ONE,
    LAB_TWO_MSE_TWO,
    LAB_TWO_ROWS
};

void lab_two_theory(const struct lab_scene *scene, double *theory);

/* `moments` of all values: 0, or -1 after lab_fail(). */
int lab_two_measure(struct lab_session *session, const struct lab_scene *scene,
                    uint64_t stream, int64_t trials, struct lab_moments *moments,
                    struct lab_histogram *of_w1);
/* LAB_TWO_VAR_C1, VAR_C2 and COV_C1_C2, from those moments. */
void lab_two_spreads(const struct lab_scene *scene, int positive,
                     const struct lab_moments *moments, struct lab_estimate spreads[3]);

/*
 * The factor of all queries from which two heads have the smaller mse, found with the
 * same keys at every factor; NaN where there is none up to 64.  0, or -1 after
 * lab_fail().
 */
int lab_two_crossover(struct lab_session *session, const struct lab_scene *scene,
                      int64_t trials, struct lab_estimate *factor);

#endif

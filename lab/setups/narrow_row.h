/* SPDX-License-Identifier: MIT */
/*
 * One row of n keys in a narrow type: the wanted one leads by a gap, which is made by the
 * scale, since no type rounds that.  The value is 1 for it and 0 for the others, so that
 * the output is the coefficient of v_j.
 */
#ifndef LAB_NARROW_ROW_H
#define LAB_NARROW_ROW_H

#include "lab/measure/session.h"

struct lab_narrow_row {
    struct lab_session *session;
    attend_context *ctx;
    int64_t n, wanted;
    attend_dtype dtype;
    double *key, *weights; /* [n], the caller's */
    double out;
};

enum lab_narrow_step { LAB_WEIGHT_IS_ONE, LAB_OUTPUT_IS_ONE, LAB_OTHERS_ARE_ZERO };

/* Both: 0, or -1 after lab_fail(). */
int lab_narrow_attend(struct lab_narrow_row *row, double gap);
/* The largest gap at which the step is not taken yet, by bisection. */
int lab_narrow_find(struct lab_narrow_row *row, enum lab_narrow_step step, double *gap);

#endif

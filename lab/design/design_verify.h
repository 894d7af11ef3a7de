/* SPDX-License-Identifier: MIT */
/* A design on the engine: once without noise, and many times with it. */
#ifndef LAB_DESIGN_VERIFY_H
#define LAB_DESIGN_VERIFY_H

#include "lab/design/design_head.h"
#include "lab/measure/moments.h"

/*
 * The coefficient of every value in the mean of the heads' outputs, without noise, and
 * the largest weight outside its own items that any head has.
 */
attend_status lab_design_measure(const struct lab_design_request *request,
                                 const struct lab_design *design, double *coefficient,
                                 double *leak, attend_error *err);

/* Monte Carlo of request->trials trials, or of those before the session was stopped. */
struct lab_design_noise {
    int64_t done;             /* trials, fewer than asked for after a stop */
    struct lab_estimate leak; /* weight outside all items */
    struct lab_estimate mse;
    struct lab_estimate flip, lopsided; /* probabilities that some head does so */
    struct lab_estimate weight[LAB_DESIGN_ITEMS_MAX];
    struct lab_estimate variance[LAB_DESIGN_ITEMS_MAX];
};

attend_status lab_design_measure_noise(const struct lab_design_request *request,
                                       const struct lab_design *design,
                                       const struct lab_design_head *heads,
                                       struct lab_design_noise *noise, attend_error *err);

#endif

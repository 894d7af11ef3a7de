/* SPDX-License-Identifier: MIT */
/* Rows of n independent logits N(0, spread^2): products of q and k with d columns. */
#ifndef LAB_RANDOM_LOGITS_H
#define LAB_RANDOM_LOGITS_H

#include "lab/measure/forward.h"
#include "lab/measure/moments.h"
#include "lab/measure/session.h"

struct lab_logits {
    int64_t n, d; /* q has entries +1 and -1, k normal ones */
    double spread;
    uint64_t stream;
};

/* Numbers of scratch for a row. */
int64_t lab_logits_scratch(const struct lab_logits *logits);
/* Row `trial`, and the norm r of its logits less their mean. */
attend_status lab_logits_row(const struct lab_logits *logits, uint64_t seed,
                             uint64_t trial, attend_context *ctx, double *scratch,
                             struct lab_row_stats *stats, double *r, attend_error *err);

/* Values of a trial: sum p^2, and what the entropy lacks to its floor for this r. */
enum {
    LAB_LOGITS_ENTROPY,
    LAB_LOGITS_SQUARES,
    LAB_LOGITS_BELOW_FLOOR,
    LAB_LOGITS_VALUES
};
int lab_logits_measure(struct lab_session *session, const struct lab_logits *logits,
                       int64_t trials, struct lab_moments *moments);

#endif

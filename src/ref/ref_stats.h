/* SPDX-License-Identifier: MIT */
/* The statistics of a row as the header defines them, from all its scores. */
#ifndef ATTEND_REF_REF_STATS_H
#define ATTEND_REF_REF_STATS_H

#include <stdbool.h>

#include "core/problem.h"

/* One row and where it is computed. */
struct ref_row {
    const struct problem *p;
    int64_t b, h, hk, i;
    double *score;  /* [nk]; -inf where nothing is seen */
    bool *seen;     /* [nk] */
    double *weight; /* [nk], room for P without the sink */
    double *centre; /* [dv], room for sum P v */
    double *sums;   /* [sums_length] */
};

/* `m` is the largest score, NaN if any is.  Writes what p->stats asks for. */
void attendi_ref_stats(const struct ref_row *r, double m);

#endif

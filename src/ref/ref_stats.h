/* SPDX-License-Identifier: MIT */
/* The statistics of a row as the header defines them, from all its scores. */
#ifndef ATTEND_REF_REF_STATS_H
#define ATTEND_REF_REF_STATS_H

#include <stdbool.h>

#include "core/problem.h"
#include "core/tensor.h"

/* A row, and its working memory. */
struct ref_row {
    const struct problem *p;
    int64_t b, h, hk, i;
    double *score;  /* [nk]; -inf for hidden keys */
    bool *seen;     /* [nk] */
    double *weight; /* [nk]: P without the sink */
    double *centre; /* [dv]: sum P v */
    double *sums;   /* [sums_length] */
};

/* Column c of the values of key j. */
static inline double attendi_ref_value(const struct ref_row *r, int64_t j, int64_t c)
{
    const attend_view *const v = &r->p->v;

    return attendi_load(attendi_view_row(v, r->b, r->hk, j), v->dtype, c * v->stride[3]);
}

/*
 * Writes the statistics in p->stats, for a shard only the raw sums.  `m`: the largest
 * score, NaN if any is.
 */
void attendi_ref_stats(const struct ref_row *r, double m);

#endif

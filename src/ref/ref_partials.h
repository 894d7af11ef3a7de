/* SPDX-License-Identifier: MIT */
/*
 * Partials in double.  Records are rounded to their dtype and combined in order, not in
 * the tree: `ref` promises no bits.
 */
#ifndef ATTEND_REF_REF_PARTIALS_H
#define ATTEND_REF_REF_PARTIALS_H

#include "cpu/dispatch/tiling.h"
#include "ref/ref_stats.h"

/*
 * Stores a row's record of the keys of `t`; r->score: its scores relative to the anchor.
 */
void attendi_ref_leave_record(const struct ref_row *r, const struct work_item *t);

/* kernels.finish */
void attendi_ref_finish(const struct problem *p, const struct work_item *t,
                        void *partials, const int64_t *start, int64_t count,
                        void *scratch);

#endif

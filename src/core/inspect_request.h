/* SPDX-License-Identifier: MIT */
/*
 * A request for an inspection, validated, and how its work is cut.  An item is one query
 * head with some keys and every query that is asked about, so that no two items write to
 * one column.  The cut follows from shape and request alone.
 */
#ifndef ATTEND_CORE_INSPECT_REQUEST_H
#define ATTEND_CORE_INSPECT_REQUEST_H

#include "core/problem.h"

struct inspection {
    attend_view lse;
    attend_tensor column_mass, column_max, column_last, pooled, zoom;
    int64_t last_query; /* column_last begins here */
    int64_t block;      /* of pooled, within the problem; 0: not wanted */
    int64_t zoom_query, zoom_key;
    const attend_probe *probes;
    int64_t probe_count;
    double *probe_weights;
    int64_t queries, queries_end; /* queries that something but a probe is about */
    struct key_range keys;        /* keys likewise */
    /*
     * Items begin at multiples of `span` keys, a multiple of `block`; a block with more
     * keys than an item should have is a span of several pieces.
     */
    int64_t span, pieces, item_keys; /* item_keys: of a full item */
    int64_t first_span, items_per_head, count;
    double *parts; /* [count][pooled rows], where a block has several items; else NULL */
};

struct inspect_item {
    int64_t index, b, h;
    struct key_range keys; /* may be empty */
};

/* Fills *p and *s, with p->inspection = s; s->parts is left NULL. */
attend_status attendi_inspect_init(struct problem *p, struct inspection *s,
                                   const attend_rule *rule,
                                   const attend_inspection *request, attend_error *err);

/* Part of attendi_problem_check_host(): the probes. */
attend_status attendi_inspect_check_host(const struct problem *p, attend_error *err);

struct inspect_item attendi_inspect_item(const struct problem *p, int64_t index);

/* Rows of the pooled map. */
static inline int64_t attendi_pooled_rows(const struct problem *p,
                                          const struct inspection *s)
{
    return ceil_div_i64(p->nq, s->block);
}

#endif

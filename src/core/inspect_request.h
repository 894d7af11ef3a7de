/* SPDX-License-Identifier: MIT */
/*
 * A validated inspection request and its work items.  An item is one query head with a
 * range of keys and all requested queries, so that no two items write to one column.  The
 * items depend on shape and request only.
 */
#ifndef ATTEND_CORE_INSPECT_REQUEST_H
#define ATTEND_CORE_INSPECT_REQUEST_H

#include "core/problem.h"

struct inspection {
    attend_view lse;
    attend_tensor column_mass, column_max, column_last, pooled, zoom;
    int64_t last_query; /* first query of column_last */
    int64_t block;      /* of pooled, at most the problem's size; 0: not requested */
    int64_t zoom_query, zoom_key;
    const attend_probe *probes;
    int64_t probe_count;
    double *probe_weights;
    int64_t queries, queries_end; /* range of queries of the outputs other than probes */
    struct key_range keys;        /* range of keys of these outputs */
    /*
     * Items begin at multiples of `span` keys, a multiple of `block`; a block with more
     * keys than an item is a span of several pieces.
     */
    int64_t span, pieces, item_keys; /* item_keys: of a full item */
    int64_t first_span, items_per_head, count;
    double *parts; /* [count][pooled rows], if a block has several items; else NULL */
};

struct inspect_item {
    int64_t index, b, h;
    struct key_range keys; /* may be empty */
};

/* Fills *p and *s, with p->inspection = s and s->parts = NULL. */
attend_status attendi_inspect_init(struct problem *p, struct inspection *s,
                                   const attend_rule *rule,
                                   const attend_inspection *request, attend_error *err);

/* Validates the probes, for attendi_problem_check_host(). */
attend_status attendi_inspect_check_host(const struct problem *p, attend_error *err);

struct inspect_item attendi_inspect_item(const struct problem *p, int64_t index);

/* Rows of the pooled map. */
static inline int64_t attendi_pooled_rows(const struct problem *p,
                                          const struct inspection *s)
{
    return ceil_div_i64(p->nq, s->block);
}

#endif

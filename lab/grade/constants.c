/* SPDX-License-Identifier: MIT */
/*
 * Queries without C, such as 20 (k_a + k_b).  What they do is judged for n from 2 to
 * LAB_CONSTANT_N, to within LAB_SMALL.  Weights of a long one are 1/2 or 1 in double
 * precision, which proves nothing: an answer about it is exact only if it is so for
 * every number in place of the query's largest.
 */
#include <math.h>

#include "lab/grade/probing.h"

#define SATURATED 20.0 /* length from which exp(-|q|) is lost beside 1 */

/* The queries that the part is about; NULL: it is about none, or about the claim's. */
static const struct lab_asked *queries_of(const struct lab_asked *asked)
{
    const struct lab_probing *const probing = asked->part->probing;
    if (probing->claim.query[0])
        return NULL;
    return probing->query ? asked : asked->own;
}

int lab_uses_scale(const struct lab_expression *formula)
{
    static const char *const scales[] = {"C", "beta", "C_1", "C_2", "C1", "C2", "c"};
    for (size_t s = 0; s < sizeof scales / sizeof scales[0]; s++)
        if (lab_expression_uses(formula, scales[s]))
            return 1;
    return 0;
}

static int queries_use(const struct lab_asked *own, const char *letter)
{
    for (int k = 0; own && k < own->part->texts; k++)
        if (lab_expression_uses(&own->formula[k], letter))
            return 1;
    return 0;
}

int lab_queries_use_eps(const struct lab_asked *asked)
{
    return queries_use(queries_of(asked), "eps");
}

int lab_queries_use_alpha(const struct lab_asked *asked)
{
    const struct lab_asked *const own = queries_of(asked);
    return own && own->part->probing->letters == LAB_TOPIC_NOISE &&
           queries_use(own, "alpha");
}

/* Whether no query has a scale. */
static int is_constant(const struct lab_asked *own)
{
    for (int k = 0; own && k < own->part->texts; k++)
        if (lab_uses_scale(&own->formula[k]))
            return 0;
    return own != NULL;
}

int lab_is_constant(const struct lab_asked *asked)
{
    const struct lab_claim *const claim = &asked->part->probing->claim;
    return !claim->rival && claim->free & LAB_FREE_SCALE &&
           is_constant(queries_of(asked));
}

/* Whether every query is so long at n = 10 that its weights round. */
static int is_saturated(const struct lab_asked *own)
{
    struct lab_point point;
    lab_probe_world(own, 4, &point);
    for (int k = 0; k < own->part->texts; k++) {
        struct lab_pair_query query;
        struct lab_finding ignored = {0};
        if (lab_asked_query(own, k, &point, &query, &ignored) ||
            hypot(hypot(query.a, query.b), query.rest) < SATURATED)
            return 0;
    }
    return 1;
}

int lab_name_constant(const struct lab_asked *asked, struct lab_asked *named,
                      struct lab_asked *own)
{
    const struct lab_asked *const queries = queries_of(asked);
    double largest = 0;

    if (!is_constant(queries) || !is_saturated(queries))
        return 0;
    for (int k = 0; k < queries->part->texts; k++)
        largest = fmax(largest, lab_expression_largest(&queries->formula[k]));
    *named = *asked;
    *own = *queries;
    named->own = asked->own ? own : NULL;
    for (int k = 0; k < asked->part->texts && !asked->part->choices; k++)
        if (lab_expression_name(&named->formula[k], largest, "C"))
            return 0;
    for (int k = 0; k < queries->part->texts; k++)
        if (lab_expression_name(&own->formula[k], largest, "C"))
            return 0;
    return largest > 0 ? 1 : -1;
}

int lab_is_exact_by_rounding(const struct lab_asked *asked, int *by_rounding)
{
    struct lab_asked named, own;
    struct lab_probe_result result;
    const int found = lab_is_constant(asked) ? lab_name_constant(asked, &named, &own) : 0;

    *by_rounding = found < 0;
    if (found <= 0)
        return 0;
    if (lab_probe(&named, &result))
        return -1;
    *by_rounding = result.mark != LAB_MARK_RIGHT;
    return 0;
}

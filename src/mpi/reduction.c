/* SPDX-License-Identifier: MIT */
#include "mpi/reduction.h"

#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "mpi/comm/views.h"
#include "mpi/mpi_stats.h"

/* ---- row blocks -------------------------------------------------------------- */

/* A range is cut into as few row blocks as possible, of about equal size. */
static int64_t blocks_of_range(const attend_mpi_range *range, int64_t block_rows)
{
    return ceil_div_i64(range->count, block_rows);
}

static void list_row_blocks(struct reduction *r, const attend_mpi_range *range,
                            int64_t block_rows)
{
    const int64_t row_blocks = blocks_of_range(range, block_rows);
    const int64_t rows = row_blocks > 0 ? ceil_div_i64(range->count, row_blocks) : 1;

    for (int64_t at = 0; at < range->count; at += rows) {
        const int64_t count = min_i64(rows, range->count - at);

        r->row_block[r->row_blocks++] =
            (struct row_block){.query = range->first + at, .row = r->rows, .rows = count};
        r->rows += count;
    }
}

attend_status attendi_reduction_begin(struct reduction *r, struct mpi_call *call,
                                      const attend_mpi_range *range, int64_t ranges,
                                      int64_t block_rows, attend_error *err)
{
    int64_t row_blocks = 0;

    *r = (struct reduction){.call = call};
    for (int64_t x = 0; x < ranges; x++)
        row_blocks += blocks_of_range(&range[x], block_rows);
    r->row_block = attendi_mpi_alloc(&call->comm, row_blocks, sizeof *r->row_block, err);
    if (!r->row_block)
        return ATTEND_ENOMEM;
    for (int64_t x = 0; x < ranges; x++)
        list_row_blocks(r, &range[x], block_rows);
    return ATTEND_OK;
}

void attendi_reduction_free(struct reduction *r)
{
    if (!r->call)
        return; /* not begun */
    for (int64_t x = 0; x < r->count; x++)
        attendi_mpi_free(&r->call->comm, r->list[x].data);
    for (int64_t x = 0; x < r->spare_count; x++)
        attendi_mpi_free(&r->call->comm, r->spare[x]);
    attendi_mpi_free(&r->call->comm, r->row_block);
    free(r->list);
    free(r->spare);
    *r = (struct reduction){.call = NULL};
}

/* ---- memory of a subtree ----------------------------------------------------- */

/* Raw sums begin at the next multiple of sizeof(double). */
static int64_t partial_bytes(const struct reduction *r)
{
    return ceil_div_i64(r->call->nb * r->call->hq * r->rows * (r->call->dv + 2) *
                            (int64_t)attend_dtype_size(r->call->partial_dtype),
                        (int64_t)sizeof(double)) *
           (int64_t)sizeof(double);
}

int64_t attendi_subtree_bytes(const struct reduction *r)
{
    return partial_bytes(r) + r->call->nb * r->call->hq * r->rows * r->call->raw_size *
                                  (int64_t)sizeof(double);
}

bool attendi_subtree_alloc(struct reduction *r, struct subtree *subtree,
                           attend_error *err)
{
    const int64_t bytes = attendi_subtree_bytes(r);

    subtree->data = r->spare_count > 0 ? r->spare[--r->spare_count]
                                       : attendi_mpi_alloc(&r->call->comm,
                                                           bytes + r->row_blocks, 1, err);
    if (!subtree->data)
        return false;
    subtree->seen = (bool *)subtree->data + bytes;
    memset(subtree->seen, 0, (size_t)r->row_blocks * sizeof *subtree->seen);
    return true;
}

void attendi_subtree_free(const struct reduction *r, struct subtree *subtree)
{
    attendi_mpi_free(&r->call->comm, subtree->data);
    subtree->data = NULL;
}

attend_partials attendi_subtree_partials(const struct reduction *r,
                                         const struct subtree *subtree, int64_t first,
                                         int64_t count)
{
    const struct mpi_call *const call = r->call;
    attend_partials part = attend_partials_default();

    part.first_key = subtree->first_key;
    part.keys = subtree->keys;
    part.all_keys = call->keys.all;
    part.reduce = 1;
    part.data = attendi_tensor_slice(attend_tensor_dense(subtree->data,
                                                         call->partial_dtype, call->nb,
                                                         call->hq, r->rows, call->dv + 2),
                                     2, first, count);
    return part;
}

attend_tensor attendi_subtree_sums(const struct reduction *r,
                                   const struct subtree *subtree, int64_t first,
                                   int64_t count)
{
    return attendi_tensor_slice(
        attend_tensor_dense((char *)subtree->data + partial_bytes(r), ATTEND_F64,
                            r->call->nb, r->call->hq, r->rows, r->call->raw_size),
        2, first, count);
}

struct subtree attendi_chunk_subtree(const struct chunk *chunk)
{
    return (struct subtree){.split = chunk->split,
                            .splits = chunk->splits,
                            .first_key = chunk->first_key,
                            .keys = chunk->keys};
}

/* ---- reduction of siblings --------------------------------------------------- */

/* Capacity for one more subtree, and for the memory of all subtrees as spare memory. */
static attend_status reserve(struct reduction *r, attend_error *err)
{
    const int64_t capacity = r->count < r->capacity ? r->capacity : 2 * r->capacity + 16;

    if (capacity == r->capacity)
        return ATTEND_OK;
    struct subtree *const list = realloc(r->list, (size_t)capacity * sizeof *list);
    if (list)
        r->list = list;
    void **const spare = realloc(r->spare, (size_t)capacity * sizeof *spare);
    if (spare)
        r->spare = spare;
    if (!list || !spare)
        return attendi_fail(err, ATTEND_ENOMEM, "out of memory for %lld partials",
                            LL(capacity));
    r->capacity = capacity;
    return ATTEND_OK;
}

static bool are_siblings(const struct subtree *a, const struct subtree *b)
{
    return a->splits == b->splits && a->split + a->splits == b->split &&
           a->split % (2 * a->splits) == 0;
}

/*
 * Climbs from a new subtree to its ancestors: the subtree reached, its neighbours in the
 * list, and the sibling added last.
 */
struct climb {
    struct subtree result;
    int64_t left, right; /* neighbours in the list */
    int64_t sibling;
};

static struct climb climb_begin(const struct subtree *subtree, int64_t place)
{
    return (struct climb){.result = *subtree, .left = place - 1, .right = place};
}

/* Adds the sibling, if it is in the list; false if not. */
static bool climb(const struct reduction *r, struct climb *c)
{
    struct subtree *const result = &c->result;

    if (c->left >= 0 && are_siblings(&r->list[c->left], result)) {
        c->sibling = c->left--;
        result->split = r->list[c->sibling].split;
        result->first_key = r->list[c->sibling].first_key;
    } else if (c->right < r->count && are_siblings(result, &r->list[c->right])) {
        c->sibling = c->right++;
    } else {
        return false;
    }
    result->splits *= 2;
    result->keys += r->list[c->sibling].keys;
    return true;
}

attend_status attendi_reduction_plan(struct reduction *r, const struct subtree *subtree,
                                     struct reduce_plan *plan, attend_error *err)
{
    int64_t place = r->count;

    TRY(reserve(r, err));
    while (place > 0 && r->list[place - 1].split > subtree->split)
        place--;
    struct climb c = climb_begin(subtree, place);
    while (climb(r, &c))
        ;
    *plan = (struct reduce_plan){.place = place,
                                 .first = c.left + 1,
                                 .count = c.right - c.left - 1,
                                 .result = c.result};
    if (plan->count > 0) {
        plan->result.data = r->list[plan->first].data;
        plan->result.seen = r->list[plan->first].seen;
    }
    return ATTEND_OK;
}

/* Partials of some heads of a row block. */
static attend_partials block_partials(const struct reduction *r,
                                      const struct subtree *subtree, int64_t block,
                                      int64_t head, int64_t heads)
{
    attend_partials part = attendi_subtree_partials(r, subtree, r->row_block[block].row,
                                                    r->row_block[block].rows);

    part.data = attendi_tensor_slice(part.data, 1, head, heads);
    return part;
}

static attend_status reduce_partials(const struct reduction *r,
                                     const struct reduce_plan *plan, int64_t block,
                                     int64_t head, int64_t heads,
                                     const attend_partials *partials, attend_error *err)
{
    attend_partials parts[66]; /* one for each level of the tree */
    const attend_partials to = block_partials(r, &plan->result, block, head, heads);
    int64_t count = 0;

    for (int64_t x = plan->first; x < plan->first + plan->count; x++)
        if (r->list[x].seen[block])
            parts[count++] = block_partials(r, &r->list[x], block, head, heads);
    if (partials)
        parts[count++] = *partials;
    if (count == 0 || (count == 1 && parts[0].data.data == to.data.data))
        return ATTEND_OK;
    return attend_reduce(r->call->ctx, parts, count, &to, err);
}

/* Reduces `left`, whose keys come first, and `right` into `to`, which may be either. */
static attend_status add_sums(const struct mpi_call *call, const attend_tensor *left,
                              const attend_tensor *right, const attend_tensor *to,
                              attend_error *err)
{
    const attend_stats_part parts[2] = {{attend_view_of(left), 0},
                                        {attend_view_of(right), 0}};
    const attend_stats request = attendi_stats_raw_request(call, to, NULL);

    return attend_stats_reduce(call->ctx, &request, call->dv, parts, 2, err);
}

/* In tree order.  The memory of the new subtree holds the intermediate sums. */
static attend_status reduce_sums(const struct reduction *r,
                                 const struct reduce_plan *plan,
                                 const struct subtree *subtree, int64_t block,
                                 int64_t head, int64_t heads, const attend_tensor *sums,
                                 attend_error *err)
{
    const int64_t row = r->row_block[block].row, rows = r->row_block[block].rows;
    struct climb c = climb_begin(subtree, plan->place);

    for (int64_t x = 1; x <= plan->count && climb(r, &c); x++) {
        const struct subtree *const to = x == plan->count ? &plan->result : NULL;
        const attend_tensor sibling = attendi_tensor_slice(
            attendi_subtree_sums(r, &r->list[c.sibling], row, rows), 1, head, heads);
        const attend_tensor result =
            to ? attendi_tensor_slice(attendi_subtree_sums(r, to, row, rows), 1, head,
                                      heads)
               : *sums;
        const bool comes_first = c.sibling < plan->place;

        TRY(add_sums(r->call, comes_first ? &sibling : sums,
                     comes_first ? sums : &sibling, &result, err));
    }
    return ATTEND_OK;
}

attend_status attendi_reduction_reduce_rows(const struct reduction *r,
                                            const struct reduce_plan *plan,
                                            const struct subtree *subtree, int64_t block,
                                            int64_t head, int64_t heads,
                                            const attend_partials *partials,
                                            const attend_tensor *sums, attend_error *err)
{
    if (plan->count == 0)
        return ATTEND_OK;
    TRY(reduce_partials(r, plan, block, head, heads, partials, err));
    return r->call->raw_size == 0
               ? ATTEND_OK
               : reduce_sums(r, plan, subtree, block, head, heads, sums, err);
}

void attendi_reduction_commit(struct reduction *r, const struct reduce_plan *plan,
                              const struct subtree *subtree)
{
    const int64_t end = plan->first + plan->count;

    if (plan->count > 0)
        r->spare[r->spare_count++] = subtree->data;
    for (int64_t x = plan->first + 1; x < end; x++)
        r->spare[r->spare_count++] = r->list[x].data;
    memmove(r->list + plan->first + 1, r->list + end,
            (size_t)(r->count - end) * sizeof *r->list);
    r->list[plan->first] = plan->count > 0 ? plan->result : *subtree;
    r->count += 1 - plan->count;
}

attend_status attendi_reduction_add(struct reduction *r, struct subtree subtree,
                                    attend_error *err)
{
    struct reduce_plan plan;
    attend_status status = attendi_reduction_plan(r, &subtree, &plan, err);

    for (int64_t block = 0; block < r->row_blocks && status == ATTEND_OK; block++) {
        const attend_partials partials =
            block_partials(r, &subtree, block, 0, r->call->hq);
        const attend_tensor sums = attendi_subtree_sums(
            r, &subtree, r->row_block[block].row, r->row_block[block].rows);

        status = attendi_reduction_reduce_rows(r, &plan, &subtree, block, 0, r->call->hq,
                                               &partials, &sums, err);
        (plan.count > 0 ? plan.result : subtree).seen[block] = true;
    }
    if (status == ATTEND_OK)
        attendi_reduction_commit(r, &plan, &subtree);
    else
        attendi_subtree_free(r, &subtree);
    return status;
}

attend_status attendi_reduction_finish(const struct reduction *r, int64_t block,
                                       const attend_tensor *out, const attend_tensor *lse,
                                       attend_error *err)
{
    attend_rule rule = r->call->rule;
    attend_partials none = attend_partials_default();
    attend_partials *parts;
    attend_status status;
    int64_t count = 0;

    rule.first_query = r->row_block[block].query;
    rule.mask.data = rule.bias.data = NULL;
    none.all_keys = r->call->keys.all;
    parts = malloc((size_t)(r->count + 1) * sizeof *parts);
    if (!parts)
        return attendi_fail(err, ATTEND_ENOMEM, "out of memory for %lld partials",
                            LL(r->count));
    for (int64_t x = 0; x < r->count; x++)
        if (r->list[x].seen[block])
            parts[count++] = block_partials(r, &r->list[x], block, 0, r->call->hq);
    parts[count++] = none; /* sets all_keys even if no rank has partials */
    status = attend_combine(r->call->ctx, &rule, parts, count, out, lse, err);
    free(parts);
    return status;
}

/* ---- statistics --------------------------------------------------------------- */

/* Whether subtrees x - 1 and x have their common ancestor above that of y - 1 and y. */
static bool meets_above(const struct reduction *r, int64_t x, int64_t y)
{
    const int64_t a = r->list[x - 1].split ^ r->list[x].split;
    const int64_t b = r->list[y - 1].split ^ r->list[y].split;

    return __builtin_clzll((unsigned long long)a) <
           __builtin_clzll((unsigned long long)b);
}

/* Reduces the sums of subtrees first .. end - 1 into the first, in tree order. */
static attend_status reduce_all_sums(struct reduction *r, int64_t first, int64_t end,
                                     attend_error *err)
{
    int64_t middle = first + 1;

    if (end - first < 2)
        return ATTEND_OK;
    for (int64_t x = first + 2; x < end; x++)
        if (meets_above(r, x, middle))
            middle = x;
    TRY(reduce_all_sums(r, first, middle, err));
    TRY(reduce_all_sums(r, middle, end, err));
    const attend_tensor left = attendi_subtree_sums(r, &r->list[first], 0, r->rows);
    const attend_tensor right = attendi_subtree_sums(r, &r->list[middle], 0, r->rows);
    return add_sums(r->call, &left, &right, &left, err);
}

/* A subtree without keys, for rows that see none. */
static attend_status add_empty(struct reduction *r, attend_error *err)
{
    struct subtree subtree = {.splits = 0};

    if (!attendi_subtree_alloc(r, &subtree, err))
        return ATTEND_ENOMEM;
    TRY(attendi_reduction_add(r, subtree, err));
    const attend_tensor raw = attendi_subtree_sums(r, &r->list[0], 0, r->rows);
    const attend_stats request = attendi_stats_raw_request(r->call, &raw, NULL);
    return attend_stats_reduce(r->call->ctx, &request, r->call->dv, NULL, 0, err);
}

attend_status attendi_reduction_finish_stats(struct reduction *r, attend_error *err)
{
    if (r->call->raw_size == 0 || r->rows == 0)
        return ATTEND_OK;
    if (r->count == 0)
        TRY(add_empty(r, err));
    TRY(reduce_all_sums(r, 0, r->count, err));
    const attend_tensor raw = attendi_subtree_sums(r, &r->list[0], 0, r->rows);
    const attend_stats_part part = {attend_view_of(&raw), 0};
    return attend_stats_merge(r->call->ctx, r->call->io.stats, r->call->dv, &part, 1,
                              err);
}

/* SPDX-License-Identifier: MIT */
#include "mpi/nodes.h"

#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "mpi/comm/rows.h"
#include "mpi/mpi_stats.h"

void attendi_nodes_begin(struct nodes *n, struct job *job, int64_t rows)
{
    *n = (struct nodes){.job = job, .rows = rows};
}

void attendi_nodes_free(struct nodes *n)
{
    for (int64_t x = 0; x < n->count; x++)
        attendi_team_free(&n->job->team, n->list[x].data);
    for (int64_t x = 0; x < n->spare_count; x++)
        attendi_team_free(&n->job->team, n->spare[x]);
    free(n->list);
    free(n->spare);
    *n = (struct nodes){.job = n->job};
}

/* Where the sums begin: at a double. */
static int64_t record_bytes(const struct nodes *n)
{
    return ceil_div_i64(n->job->nb * n->job->hq * n->rows * (n->job->dv + 2) *
                            (int64_t)attend_dtype_size(n->job->number),
                        (int64_t)sizeof(double)) *
           (int64_t)sizeof(double);
}

int64_t attendi_node_bytes(const struct nodes *n)
{
    return record_bytes(n) +
           n->job->nb * n->job->hq * n->rows * n->job->sums * (int64_t)sizeof(double);
}

void *attendi_nodes_memory(struct nodes *n, attend_error *err)
{
    if (n->spare_count > 0)
        return n->spare[--n->spare_count];
    return attendi_team_alloc(&n->job->team, attendi_node_bytes(n), 1, err);
}

attend_partials attendi_node_partials(const struct nodes *n, const struct node *node,
                                      int64_t first, int64_t count)
{
    const struct job *const job = n->job;
    attend_partials part = attend_partials_default();

    part.first_key = node->first_key;
    part.keys = node->keys;
    part.all_keys = job->keys.all;
    part.reduce = 1;
    part.data = attendi_tensor_part(attend_tensor_dense(node->data, job->number, job->nb,
                                                        job->hq, n->rows, job->dv + 2),
                                    2, first, count);
    return part;
}

attend_tensor attendi_node_sums(const struct nodes *n, const struct node *node,
                                int64_t first, int64_t count)
{
    return attendi_tensor_part(attend_tensor_dense((char *)node->data + record_bytes(n),
                                                   ATTEND_F64, n->job->nb, n->job->hq,
                                                   n->rows, n->job->sums),
                               2, first, count);
}

struct node attendi_chunk_node(const struct chunk *chunk)
{
    return (struct node){.split = chunk->split,
                         .splits = chunk->splits,
                         .first_key = chunk->first_key,
                         .keys = chunk->keys};
}

/* Room for one more node, and for its memory once it is spare. */
static attend_status make_room(struct nodes *n, attend_error *err)
{
    const int64_t room = n->count < n->room ? n->room : 2 * n->room + 16;

    if (room == n->room)
        return ATTEND_OK;
    struct node *const list = realloc(n->list, (size_t)room * sizeof *list);
    if (list)
        n->list = list;
    void **const spare = realloc(n->spare, (size_t)room * sizeof *spare);
    if (spare)
        n->spare = spare;
    if (!list || !spare)
        return attendi_mpi_fail(err, ATTEND_ENOMEM, "no memory for %lld nodes", LL(room));
    n->room = room;
    return ATTEND_OK;
}

/* The sums of node b, whose keys come later, to those of node a. */
static attend_status add_sums(const struct nodes *n, const struct node *a,
                              const struct node *b, attend_error *err)
{
    const attend_tensor to = attendi_node_sums(n, a, 0, n->rows);
    const attend_tensor from = attendi_node_sums(n, b, 0, n->rows);
    const attend_stats_part parts[2] = {{attend_view_of(&to), 0},
                                        {attend_view_of(&from), 0}};
    const attend_stats request = attendi_stats_sums(n->job, &to, NULL);

    return attend_stats_reduce(n->job->ctx, &request, n->job->dv, parts, 2, err);
}

/* Node x + 1 into node x, whose other half it is. */
static attend_status join_halves(struct nodes *n, int64_t x, attend_error *err)
{
    struct node *const a = &n->list[x], *const b = a + 1;
    const attend_partials parts[2] = {attendi_node_partials(n, a, 0, n->rows),
                                      attendi_node_partials(n, b, 0, n->rows)};
    attend_partials to = parts[0];

    to.keys = a->keys + b->keys;
    if (n->rows > 0)
        TRY(attend_reduce(n->job->ctx, parts, 2, &to, err));
    if (n->rows > 0 && n->job->sums > 0)
        TRY(add_sums(n, a, b, err));
    a->splits *= 2;
    a->keys += b->keys;
    n->spare[n->spare_count++] = b->data;
    memmove(b, b + 1, (size_t)(n->count - x - 2) * sizeof *b);
    n->count--;
    return ATTEND_OK;
}

static bool are_halves(const struct node *a, const struct node *b)
{
    return a->splits == b->splits && a->split + a->splits == b->split &&
           a->split % (2 * a->splits) == 0;
}

attend_status attendi_nodes_add(struct nodes *n, struct node node, attend_error *err)
{
    const attend_status status = make_room(n, err);
    int64_t x = n->count;

    if (status != ATTEND_OK) {
        attendi_team_free(&n->job->team, node.data);
        return status;
    }
    while (x > 0 && n->list[x - 1].split > node.split)
        x--;
    memmove(n->list + x + 1, n->list + x, (size_t)(n->count - x) * sizeof *n->list);
    n->list[x] = node;
    n->count++;
    for (;;) {
        if (x > 0 && are_halves(&n->list[x - 1], &n->list[x]))
            x--;
        else if (x + 1 >= n->count || !are_halves(&n->list[x], &n->list[x + 1]))
            return ATTEND_OK;
        TRY(join_halves(n, x, err));
    }
}

attend_status attendi_nodes_end(const struct nodes *n, int64_t first_query, int64_t first,
                                int64_t count, const attend_tensor *out,
                                const attend_tensor *lse, attend_error *err)
{
    attend_rule rule = n->job->rule;
    attend_partials none = attend_partials_default();
    attend_partials *parts;
    attend_status status;

    if (count == 0)
        return ATTEND_OK;
    rule.first_query = first_query;
    rule.mask.data = rule.bias.data = NULL;
    none.all_keys = n->job->keys.all;
    parts = malloc((size_t)(n->count + 1) * sizeof *parts);
    if (!parts)
        return attendi_mpi_fail(err, ATTEND_ENOMEM, "no memory for %lld nodes",
                                LL(n->count));
    for (int64_t x = 0; x < n->count; x++)
        parts[x] = attendi_node_partials(n, &n->list[x], first, count);
    parts[n->count] = none; /* what no rank sees has its length all the same */
    status = attend_combine(n->job->ctx, &rule, parts, n->count + 1, out, lse, err);
    free(parts);
    return status;
}

/* ---- statistics --------------------------------------------------------------- */

/* Whether nodes x - 1 and x meet above the level at which y - 1 and y do. */
static bool meets_above(const struct nodes *n, int64_t x, int64_t y)
{
    const int64_t a = n->list[x - 1].split ^ n->list[x].split;
    const int64_t b = n->list[y - 1].split ^ n->list[y].split;

    return __builtin_clzll((unsigned long long)a) <
           __builtin_clzll((unsigned long long)b);
}

/* Sums of nodes first .. end - 1 to the first of them, in the order of the tree. */
static attend_status sum_nodes(struct nodes *n, int64_t first, int64_t end,
                               attend_error *err)
{
    int64_t middle = first + 1;

    if (end - first < 2)
        return ATTEND_OK;
    for (int64_t x = first + 2; x < end; x++)
        if (meets_above(n, x, middle))
            middle = x;
    TRY(sum_nodes(n, first, middle, err));
    TRY(sum_nodes(n, middle, end, err));
    return add_sums(n, &n->list[first], &n->list[middle], err);
}

/* A node of no keys, for rows that see none. */
static attend_status add_nothing(struct nodes *n, attend_error *err)
{
    struct node node = {.data = attendi_nodes_memory(n, err)};

    if (!node.data)
        return ATTEND_ENOMEM;
    TRY(attendi_nodes_add(n, node, err));
    const attend_tensor raw = attendi_node_sums(n, &n->list[0], 0, n->rows);
    const attend_stats request = attendi_stats_sums(n->job, &raw, NULL);
    return attend_stats_reduce(n->job->ctx, &request, n->job->dv, NULL, 0, err);
}

attend_status attendi_nodes_end_stats(struct nodes *n, attend_error *err)
{
    if (n->job->sums == 0 || n->rows == 0)
        return ATTEND_OK;
    if (n->count == 0)
        TRY(add_nothing(n, err));
    TRY(sum_nodes(n, 0, n->count, err));
    const attend_tensor raw = attendi_node_sums(n, &n->list[0], 0, n->rows);
    const attend_stats_part part = {attend_view_of(&raw), 0};
    return attend_stats_merge(n->job->ctx, n->job->io.stats, n->job->dv, &part, 1, err);
}

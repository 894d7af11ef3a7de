/* SPDX-License-Identifier: MIT */
#include "mpi/nodes.h"

#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "mpi/comm/views.h"
#include "mpi/mpi_stats.h"

/* ---- bands ------------------------------------------------------------------- */

/* As many bands as a range needs, all about as long. */
static int64_t range_bands(const attend_mpi_range *range, int64_t band_rows)
{
    return ceil_div_i64(range->count, band_rows);
}

static void list_bands(struct nodes *n, const attend_mpi_range *range, int64_t band_rows)
{
    const int64_t bands = range_bands(range, band_rows);
    const int64_t rows = bands > 0 ? ceil_div_i64(range->count, bands) : 1;

    for (int64_t at = 0; at < range->count; at += rows) {
        const int64_t count = min_i64(rows, range->count - at);

        n->band[n->bands++] =
            (struct band){.query = range->first + at, .row = n->rows, .rows = count};
        n->rows += count;
    }
}

attend_status attendi_nodes_begin(struct nodes *n, struct job *job,
                                  const attend_mpi_range *range, int64_t ranges,
                                  int64_t band_rows, attend_error *err)
{
    int64_t bands = 0;

    *n = (struct nodes){.job = job};
    for (int64_t x = 0; x < ranges; x++)
        bands += range_bands(&range[x], band_rows);
    n->band = attendi_mpi_alloc(&job->comm, bands, sizeof *n->band, err);
    if (!n->band)
        return ATTEND_ENOMEM;
    for (int64_t x = 0; x < ranges; x++)
        list_bands(n, &range[x], band_rows);
    return ATTEND_OK;
}

void attendi_nodes_free(struct nodes *n)
{
    if (!n->job)
        return; /* it was not begun */
    for (int64_t x = 0; x < n->count; x++)
        attendi_mpi_free(&n->job->comm, n->list[x].data);
    for (int64_t x = 0; x < n->spare_count; x++)
        attendi_mpi_free(&n->job->comm, n->spare[x]);
    attendi_mpi_free(&n->job->comm, n->band);
    free(n->list);
    free(n->spare);
    *n = (struct nodes){.job = NULL};
}

/* ---- the memory of a node ------------------------------------------------------ */

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

bool attendi_node_alloc(struct nodes *n, struct node *node, attend_error *err)
{
    const int64_t bytes = attendi_node_bytes(n);

    node->data = n->spare_count > 0
                     ? n->spare[--n->spare_count]
                     : attendi_mpi_alloc(&n->job->comm, bytes + n->bands, 1, err);
    if (!node->data)
        return false;
    node->seen = (bool *)node->data + bytes;
    memset(node->seen, 0, (size_t)n->bands * sizeof *node->seen);
    return true;
}

void attendi_node_free(const struct nodes *n, struct node *node)
{
    attendi_mpi_free(&n->job->comm, node->data);
    node->data = NULL;
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
    part.data = attendi_tensor_slice(attend_tensor_dense(node->data, job->number, job->nb,
                                                         job->hq, n->rows, job->dv + 2),
                                     2, first, count);
    return part;
}

attend_tensor attendi_node_sums(const struct nodes *n, const struct node *node,
                                int64_t first, int64_t count)
{
    return attendi_tensor_slice(attend_tensor_dense((char *)node->data + record_bytes(n),
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

/* ---- halves -------------------------------------------------------------------- */

/* Room for one more node, and for the memory of all once it is spare. */
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

static bool are_halves(const struct node *a, const struct node *b)
{
    return a->splits == b->splits && a->split + a->splits == b->split &&
           a->split % (2 * a->splits) == 0;
}

/*
 * A subtree that grows, the nodes beside it, and the one that was its other half when it
 * last did.
 */
struct growth {
    struct node whole;
    int64_t left, right; /* in the list */
    int64_t half;
};

static struct growth growth_begin(const struct node *node, int64_t place)
{
    return (struct growth){.whole = *node, .left = place - 1, .right = place};
}

/* Takes the other half, if it is there. */
static bool grow(const struct nodes *n, struct growth *g)
{
    struct node *const whole = &g->whole;

    if (g->left >= 0 && are_halves(&n->list[g->left], whole)) {
        g->half = g->left--;
        whole->split = n->list[g->half].split;
        whole->first_key = n->list[g->half].first_key;
    } else if (g->right < n->count && are_halves(whole, &n->list[g->right])) {
        g->half = g->right++;
    } else {
        return false;
    }
    whole->splits *= 2;
    whole->keys += n->list[g->half].keys;
    return true;
}

attend_status attendi_nodes_plan(struct nodes *n, const struct node *node,
                                 struct join *join, attend_error *err)
{
    int64_t place = n->count;

    TRY(make_room(n, err));
    while (place > 0 && n->list[place - 1].split > node->split)
        place--;
    struct growth g = growth_begin(node, place);
    while (grow(n, &g))
        ;
    *join = (struct join){.place = place,
                          .first = g.left + 1,
                          .count = g.right - g.left - 1,
                          .whole = g.whole};
    if (join->count > 0) {
        join->whole.data = n->list[join->first].data;
        join->whole.seen = n->list[join->first].seen;
    }
    return ATTEND_OK;
}

/* Records of some heads of a band. */
static attend_partials band_records(const struct nodes *n, const struct node *node,
                                    int64_t band, int64_t head, int64_t heads)
{
    attend_partials part =
        attendi_node_partials(n, node, n->band[band].row, n->band[band].rows);

    part.data = attendi_tensor_slice(part.data, 1, head, heads);
    return part;
}

static attend_status join_records(const struct nodes *n, const struct join *join,
                                  int64_t band, int64_t head, int64_t heads,
                                  const attend_partials *records, attend_error *err)
{
    attend_partials parts[66]; /* a level of the tree each */
    const attend_partials to = band_records(n, &join->whole, band, head, heads);
    int64_t count = 0;

    for (int64_t x = join->first; x < join->first + join->count; x++)
        if (n->list[x].seen[band])
            parts[count++] = band_records(n, &n->list[x], band, head, heads);
    if (records)
        parts[count++] = *records;
    if (count == 0 || (count == 1 && parts[0].data.data == to.data.data))
        return ATTEND_OK;
    return attend_reduce(n->job->ctx, parts, count, &to, err);
}

/* Sums of `left`, whose keys come first, and `right` into `to`, which may be either. */
static attend_status add_sums(const struct job *job, const attend_tensor *left,
                              const attend_tensor *right, const attend_tensor *to,
                              attend_error *err)
{
    const attend_stats_part parts[2] = {{attend_view_of(left), 0},
                                        {attend_view_of(right), 0}};
    const attend_stats request = attendi_stats_sums(job, to, NULL);

    return attend_stats_reduce(job->ctx, &request, job->dv, parts, 2, err);
}

/* In the order of the tree; on the way, the sums of the new node have those so far. */
static attend_status join_sums(const struct nodes *n, const struct join *join,
                               const struct node *node, int64_t band, int64_t head,
                               int64_t heads, const attend_tensor *sums,
                               attend_error *err)
{
    const int64_t row = n->band[band].row, rows = n->band[band].rows;
    struct growth g = growth_begin(node, join->place);

    for (int64_t x = 1; x <= join->count && grow(n, &g); x++) {
        const struct node *const to = x == join->count ? &join->whole : NULL;
        const attend_tensor half = attendi_tensor_slice(
            attendi_node_sums(n, &n->list[g.half], row, rows), 1, head, heads);
        const attend_tensor result =
            to ? attendi_tensor_slice(attendi_node_sums(n, to, row, rows), 1, head, heads)
               : *sums;
        const bool comes_first = g.half < join->place;

        TRY(add_sums(n->job, comes_first ? &half : sums, comes_first ? sums : &half,
                     &result, err));
    }
    return ATTEND_OK;
}

attend_status attendi_nodes_join(const struct nodes *n, const struct join *join,
                                 const struct node *node, int64_t band, int64_t head,
                                 int64_t heads, const attend_partials *records,
                                 const attend_tensor *sums, attend_error *err)
{
    if (join->count == 0)
        return ATTEND_OK;
    TRY(join_records(n, join, band, head, heads, records, err));
    return n->job->sums == 0 ? ATTEND_OK
                             : join_sums(n, join, node, band, head, heads, sums, err);
}

void attendi_nodes_replace(struct nodes *n, const struct join *join,
                           const struct node *node)
{
    const int64_t end = join->first + join->count;

    if (join->count > 0)
        n->spare[n->spare_count++] = node->data;
    for (int64_t x = join->first + 1; x < end; x++)
        n->spare[n->spare_count++] = n->list[x].data;
    memmove(n->list + join->first + 1, n->list + end,
            (size_t)(n->count - end) * sizeof *n->list);
    n->list[join->first] = join->count > 0 ? join->whole : *node;
    n->count += 1 - join->count;
}

attend_status attendi_nodes_add(struct nodes *n, struct node node, attend_error *err)
{
    struct join join;
    attend_status status = attendi_nodes_plan(n, &node, &join, err);

    for (int64_t band = 0; band < n->bands && status == ATTEND_OK; band++) {
        const attend_partials records = band_records(n, &node, band, 0, n->job->hq);
        const attend_tensor sums =
            attendi_node_sums(n, &node, n->band[band].row, n->band[band].rows);

        status = attendi_nodes_join(n, &join, &node, band, 0, n->job->hq, &records, &sums,
                                    err);
        (join.count > 0 ? join.whole : node).seen[band] = true;
    }
    if (status == ATTEND_OK)
        attendi_nodes_replace(n, &join, &node);
    else
        attendi_node_free(n, &node);
    return status;
}

attend_status attendi_nodes_end(const struct nodes *n, int64_t band,
                                const attend_tensor *out, const attend_tensor *lse,
                                attend_error *err)
{
    attend_rule rule = n->job->rule;
    attend_partials none = attend_partials_default();
    attend_partials *parts;
    attend_status status;
    int64_t count = 0;

    rule.first_query = n->band[band].query;
    rule.mask.data = rule.bias.data = NULL;
    none.all_keys = n->job->keys.all;
    parts = malloc((size_t)(n->count + 1) * sizeof *parts);
    if (!parts)
        return attendi_mpi_fail(err, ATTEND_ENOMEM, "no memory for %lld nodes",
                                LL(n->count));
    for (int64_t x = 0; x < n->count; x++)
        if (n->list[x].seen[band])
            parts[count++] = band_records(n, &n->list[x], band, 0, n->job->hq);
    parts[count++] = none; /* what no rank sees has its length all the same */
    status = attend_combine(n->job->ctx, &rule, parts, count, out, lse, err);
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
    const attend_tensor left = attendi_node_sums(n, &n->list[first], 0, n->rows);
    const attend_tensor right = attendi_node_sums(n, &n->list[middle], 0, n->rows);
    return add_sums(n->job, &left, &right, &left, err);
}

/* A node of no keys, for rows that see none. */
static attend_status add_nothing(struct nodes *n, attend_error *err)
{
    struct node node = {.splits = 0};

    if (!attendi_node_alloc(n, &node, err))
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

/* SPDX-License-Identifier: MIT */
#include "inputs_ranks.h"

#include <stdlib.h>
#include <string.h>

void *inputs_slice_memory(struct inputs_slice *slice, const char *command, int64_t count,
                          size_t size)
{
    void *const memory = slice->count < SLICE_MEMORY ? tool_zeros(count, size) : NULL;

    if (memory)
        slice->memory[slice->count++] = memory;
    else
        tool_fail(command, TOOL_FAILED, "out of memory for %lld numbers",
                  (long long)count);
    return memory;
}

void inputs_slice_free(struct inputs_slice *slice)
{
    while (slice->count > 0)
        free(slice->memory[--slice->count]);
}

/* Where element (b, h, l, 0) lies. */
static char *place(const attend_view *view, int64_t b, int64_t h, int64_t l)
{
    return (char *)(uintptr_t)view->data +
           (int64_t)attend_dtype_size(view->dtype) *
               (b * view->stride[0] + h * view->stride[1] + l * view->stride[2]);
}

/* `count` rows; elements of a row may lie apart. */
static void copy_rows(const attend_view *from, int64_t from_row, const attend_view *to,
                      int64_t to_row, int64_t count)
{
    const size_t size = attend_dtype_size(from->dtype);
    const int is_dense = from->stride[3] == 1 && to->stride[3] == 1;

    for (int64_t b = 0; b < from->size[0]; b++)
        for (int64_t h = 0; h < from->size[1]; h++)
            for (int64_t l = 0; l < count; l++) {
                const char *const source = place(from, b, h, from_row + l);
                char *const target = place(to, b, h, to_row + l);

                if (is_dense)
                    memcpy(target, source, (size_t)from->size[3] * size);
                for (int64_t d = 0; !is_dense && d < from->size[3]; d++)
                    memcpy(target + d * to->stride[3] * (int64_t)size,
                           source + d * from->stride[3] * (int64_t)size, size);
            }
}

static attend_view part(attend_view view, const attend_mpi_range *range)
{
    if (view.data)
        view.data = place(&view, 0, 0, range->first);
    view.size[2] = range->count;
    return view;
}

/* This rank's rows of a view of all queries, or as it is if it is broadcast. */
static attend_view take_queries(struct inputs_slice *slice, const char *command,
                                const attend_view *all, int is_broadcast, int *failed)
{
    attend_view own = attend_view_dense(NULL, all->dtype, all->size[0], all->size[1],
                                        slice->rows, all->size[3]);
    int64_t row = 0;

    if (!all->data || is_broadcast)
        return *all;
    if (slice->query_ranges == 1)
        return part(*all, &slice->queries[0]);
    own.data = inputs_slice_memory(
        slice, command, all->size[0] * all->size[1] * slice->rows * all->size[3],
        attend_dtype_size(all->dtype));
    if (!own.data)
        *failed = TOOL_FAILED;
    for (int x = 0; own.data && x < slice->query_ranges; x++) {
        copy_rows(all, slice->queries[x].first, &own, row, slice->queries[x].count);
        row += slice->queries[x].count;
    }
    return own;
}

int inputs_slice_make(struct inputs_slice *slice, const struct inputs *inputs)
{
    const attend_rule *const rule = &inputs->rule;
    const int64_t nq = inputs->io.q.size[2];
    int failed = TOOL_OK;

    *slice = (struct inputs_slice){.query_ranges = rule->causal ? 2 : 1,
                                   .rule = *rule,
                                   .io = inputs->io,
                                   .dist = attend_mpi_dist_default()};
    if (rule->causal)
        ranks.mpi->zigzag(nq, ranks.rank, ranks.count, slice->queries);
    else
        slice->queries[0] = ranks.mpi->slice(nq, ranks.rank, ranks.count);
    for (int x = 0; x < slice->query_ranges; x++)
        slice->rows += slice->queries[x].count;
    slice->keys = ranks.mpi->slice(inputs->io.k.size[2], ranks.rank, ranks.count);
    slice->io.q = take_queries(slice, inputs->command, &inputs->io.q, 0, &failed);
    slice->io.k = part(inputs->io.k, &slice->keys);
    slice->io.v = part(inputs->io.v, &slice->keys);
    slice->rule.mask = take_queries(slice, inputs->command, &rule->mask,
                                    rule->mask.size[2] == 1, &failed);
    slice->rule.bias = take_queries(slice, inputs->command, &rule->bias,
                                    rule->bias.size[2] == 1, &failed);
    slice->dist.queries = slice->queries;
    slice->dist.query_ranges = slice->query_ranges;
    slice->dist.keys = &slice->keys;
    slice->dist.key_ranges = 1;
    return ranks_agree(failed);
}

attend_tensor inputs_slice_output(struct inputs_slice *slice, const char *command,
                                  const attend_tensor *all, int *failed)
{
    attend_tensor own = attend_tensor_dense(NULL, all->dtype, all->size[0], all->size[1],
                                            slice->rows, all->size[3]);

    if (!all->data)
        return *all;
    if (slice->query_ranges == 1) {
        const attend_view view = part(attend_view_of(all), &slice->queries[0]);

        own = *all;
        own.data = (void *)(uintptr_t)view.data;
        own.size[2] = slice->rows;
        return own;
    }
    own.data = inputs_slice_memory(
        slice, command, all->size[0] * all->size[1] * slice->rows * all->size[3],
        attend_dtype_size(all->dtype));
    if (!own.data)
        *failed = TOOL_FAILED;
    return own;
}

void inputs_slice_put(const struct inputs_slice *slice, const attend_tensor *rows,
                      const attend_tensor *all)
{
    const attend_view from = attend_view_of(rows), to = attend_view_of(all);
    int64_t row = 0;

    if (!all->data || slice->query_ranges == 1)
        return;
    for (int x = 0; x < slice->query_ranges; x++) {
        copy_rows(&from, row, &to, slice->queries[x].first, slice->queries[x].count);
        row += slice->queries[x].count;
    }
}

/* SPDX-License-Identifier: MIT */
#include "mpi/mpi_stats.h"

#include <string.h>

/* A tensor that gives only the shape of a requested output; never written. */
static attend_tensor shape_only(const attend_tensor *asked, const attend_tensor *raw)
{
    static double nothing;

    return attend_tensor_dense(asked->data ? &nothing : NULL, asked->dtype, raw->size[0],
                               raw->size[1], raw->size[2], asked->size[3]);
}

attend_stats attendi_stats_raw_request(const struct mpi_call *call,
                                       const attend_tensor *raw, const int32_t *classes)
{
    attend_stats sums = *call->io.stats;

    sums.rows = shape_only(&sums.rows, raw);
    sums.top_weights = shape_only(&sums.top_weights, raw);
    sums.distances = shape_only(&sums.distances, raw);
    sums.class_mass = shape_only(&sums.class_mass, raw);
    sums.top_keys = NULL;
    sums.classes = classes;
    sums.raw = *raw;
    return sums;
}

int32_t *attendi_stats_classes(struct mpi_call *call, int64_t first, int64_t count,
                               attend_error *err)
{
    const attend_stats *const asked = call->io.stats;
    int32_t *const classes =
        attendi_mpi_alloc(&call->comm, call->nb * count, sizeof *classes, err);

    for (int64_t b = 0; classes && asked->class_mass.data && b < call->nb; b++)
        memcpy(classes + b * count, asked->classes + b * call->keys.all + first,
               (size_t)count * sizeof *classes);
    return classes;
}

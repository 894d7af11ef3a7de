/* SPDX-License-Identifier: MIT */
#include "mpi/mpi_stats.h"

#include <string.h>

/* A tensor that says how many numbers of a row are wanted, and is never written. */
static attend_tensor name_only(const attend_tensor *asked, const attend_tensor *raw)
{
    static double nothing;

    return attend_tensor_dense(asked->data ? &nothing : NULL, asked->dtype, raw->size[0],
                               raw->size[1], raw->size[2], asked->size[3]);
}

attend_stats attendi_stats_sums(const struct job *job, const attend_tensor *raw,
                                const int32_t *classes)
{
    attend_stats sums = *job->io.stats;

    sums.rows = name_only(&sums.rows, raw);
    sums.top_weights = name_only(&sums.top_weights, raw);
    sums.distances = name_only(&sums.distances, raw);
    sums.class_mass = name_only(&sums.class_mass, raw);
    sums.top_keys = NULL;
    sums.classes = classes;
    sums.raw = *raw;
    return sums;
}

int32_t *attendi_stats_classes(struct job *job, int64_t first, int64_t count,
                               attend_error *err)
{
    const attend_stats *const asked = job->io.stats;
    int32_t *const classes =
        attendi_mpi_alloc(&job->comm, job->nb * count, sizeof *classes, err);

    for (int64_t b = 0; classes && asked->class_mass.data && b < job->nb; b++)
        memcpy(classes + b * count, asked->classes + b * job->keys.all + first,
               (size_t)count * sizeof *classes);
    return classes;
}

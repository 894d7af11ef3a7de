/* SPDX-License-Identifier: MIT */
/* The slice of a problem in files that one rank takes. */
#ifndef TOOLS_INPUTS_RANKS_H
#define TOOLS_INPUTS_RANKS_H

#include "inputs.h"
#include "ranks.h"

enum { SLICE_MEMORY = 16 };

/*
 * This rank's queries and keys.  Slices of the files are mapped memory as they are. Those
 * of a causal problem are two for each rank, for even work: copies, a row after the
 * other.
 */
struct inputs_slice {
    attend_mpi_range queries[2], keys;
    int64_t query_ranges, rows; /* rows of all ranges */
    attend_rule rule;
    attend_io io; /* without outputs */
    attend_mpi_dist dist;
    void *memory[SLICE_MEMORY];
    int count;
};

/* TOOL_OK on all ranks or on none; free in any case. */
int inputs_slice_make(struct inputs_slice *slice, const struct inputs *inputs);
void inputs_slice_free(struct inputs_slice *slice);

/* Memory that is freed with the slice; NULL after a message. */
void *inputs_slice_memory(struct inputs_slice *slice, const char *command, int64_t count,
                          size_t size);

/*
 * This rank's rows of an output of all queries: the output itself where they are one
 * range, else memory whose rows inputs_slice_put() writes to the output.  No data for an
 * output without, and after a failure, which sets *failed.
 */
attend_tensor inputs_slice_output(struct inputs_slice *slice, const char *command,
                                  const attend_tensor *all, int *failed);
void inputs_slice_put(const struct inputs_slice *slice, const attend_tensor *rows,
                      const attend_tensor *all);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * Partial results combined by O and LSE, row by row.  A row is sum_p w_p O_p in double, a
 * product and a sum for each part in the order given: every kernel set does just that, to
 * the same bits.  A half float is rounded from the f32 next to the sum.
 */
#ifndef ATTEND_CPU_MERGE_ROWS_H
#define ATTEND_CPU_MERGE_ROWS_H

#include <stdbool.h>

#include "core/merge.h"
#include "cpu/dispatch/kernels.h"

/* Bytes of a row that are read and written. */
int64_t attendi_merge_row_bytes(const struct merge *m);

/* Rows first .. end - 1 by a set that has merge and merge_exp. */
void attendi_merge_rows(const struct merge *m, const struct kernels *k, int64_t first,
                        int64_t end);

/* Rows and parts whose weights are kept, and columns whose sums wait for more parts. */
enum { MERGE_ROWS = 16, MERGE_PARTS = 64, MERGE_COLUMNS = 64 };

struct merge_part {
    const void *row;
    int64_t step; /* of a column, in elements */
    attend_dtype dtype;
    double weight;
};

/* Columns of one row and some of its parts. */
struct merge_run {
    struct merge_part part[MERGE_PARTS];
    int64_t count;
    bool in_order;      /* columns of all parts and of O follow each other in memory */
    int64_t first, end; /* columns */
    /* Unless `begins`, there are sums of parts before; unless `stores`, they grow. */
    bool begins, stores;
    void *out;
    int64_t out_step;
    attend_dtype out_dtype;
};

/* Columns c .. end - 1 of the run, any strides and dtypes; `sums` are of all columns. */
void attendi_merge_columns(const struct merge_run *run, double *sums, int64_t c,
                           int64_t end);

#endif

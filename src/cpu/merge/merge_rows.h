/* SPDX-License-Identifier: MIT */
/*
 * Merges results by O and LSE, row by row: sum_p w_p O_p in double, one product and one
 * sum for each part in the given order, to the same bits in every kernel set.  A half
 * float is rounded from the f32 nearest to the sum.
 */
#ifndef ATTEND_CPU_MERGE_ROWS_H
#define ATTEND_CPU_MERGE_ROWS_H

#include <stdbool.h>

#include "core/merge.h"
#include "cpu/dispatch/kernels.h"

/* Bytes read and written per row. */
int64_t attendi_merge_row_bytes(const struct merge *m);

/* Merges rows first .. end - 1, by kernels with merge and merge_exp. */
void attendi_merge_rows(const struct merge *m, const struct kernels *k, int64_t first,
                        int64_t end);

/* Rows and parts whose weights are loaded, and columns of partial sums. */
enum { MERGE_ROWS = 16, MERGE_PARTS = 64, MERGE_COLUMNS = 64 };

struct merge_part {
    const void *row;
    int64_t step; /* from one column to the next, in elements */
    attend_dtype dtype;
    double weight;
};

/* Columns of one row and its loaded parts. */
struct merge_run {
    struct merge_part part[MERGE_PARTS];
    int64_t count;
    bool in_order;      /* columns of all parts and of O are contiguous */
    int64_t first, end; /* columns */
    /*
     * Unless `begins`, sums of earlier parts are added; unless `stores`, the sums are
     * kept.
     */
    bool begins, stores;
    void *out;
    int64_t out_step;
    attend_dtype out_dtype;
};

/* Columns c .. end - 1 of the run, any strides and dtypes; `sums` has all columns. */
void attendi_merge_columns(const struct merge_run *run, double *sums, int64_t c,
                           int64_t end);

#endif

/* SPDX-License-Identifier: MIT */
#include "lab/setups/narrow_row.h"

#include <string.h>

#include "lab/measure/forward.h"

int lab_narrow_attend(struct lab_narrow_row *row, double gap)
{
    const double one = 1;

    memset(row->key, 0, sizeof(double) * (size_t)row->n);
    row->key[row->wanted] = 1;
    return lab_measure_as(row->session, row->ctx, row->dtype,
                          &LAB_PROBLEM(row->n, 1, &one, row->key, gap, .dv = 1,
                                       .v = row->key, .out = &row->out,
                                       .weights = row->weights));
}

static int is_taken(const struct lab_narrow_row *row, enum lab_narrow_step step)
{
    if (step == LAB_WEIGHT_IS_ONE)
        return row->weights[row->wanted] == 1;
    if (step == LAB_OUTPUT_IS_ONE)
        return row->out == 1;
    for (int64_t j = 0; j < row->n; j++)
        if (j != row->wanted && row->weights[j] != 0)
            return 0;
    return 1;
}

int lab_narrow_find(struct lab_narrow_row *row, enum lab_narrow_step step, double *gap)
{
    double low = 0, high = 128;

    while (high - low > 1e-7) {
        const double middle = (low + high) / 2;
        if (lab_narrow_attend(row, middle))
            return -1;
        *(is_taken(row, step) ? &high : &low) = middle;
    }
    *gap = low;
    return 0;
}

/* SPDX-License-Identifier: MIT */
/* Parts to be merged, and the definition of their merge. */
#ifndef TESTS_MERGING_H
#define TESTS_MERGING_H

#include "oracle.h"

enum { MERGE_PARTS_MAX = 8 };

typedef struct merge_case {
    problem p; /* out and lse; owns the memory */
    attend_part parts[MERGE_PARTS_MAX];
    int64_t count;
} merge_case;

/*
 * Parts of (nb, hq, nq, dv) with unit-normal O and an LSE spread over +-`spread`, outputs
 * poisoned.
 */
merge_case merge_make(shape n, int64_t count, attend_dtype part, attend_dtype lse,
                      attend_dtype out, double spread, uint64_t seed);
void merge_free(merge_case *m);
/*
 * Compares the outputs with the definition in long double.  The rounding of the
 * difference t of two LSE is a relative error |t| u of the weight; exp() is within 2 u,
 * and there are a quotient, a product and 2 count sums.
 */
int merge_is_close(const merge_case *m, attend_dtype arithmetic);

#endif

/* SPDX-License-Identifier: MIT */
/* The tensors of a problem with other strides, at page ends and far apart. */
#ifndef TESTS_STRIDES_H
#define TESTS_STRIDES_H

#include "problems.h"

typedef enum layout {
    LAYOUT_BLHD,        /* heads inside a position */
    LAYOUT_SLICED,      /* every second row of longer ones */
    LAYOUT_LAST_STEP_3, /* last stride 3 */
    LAYOUT_TRANSPOSED,  /* d runs slower than l */
    LAYOUT_REVERSED,    /* every stride negative */
    LAYOUT_REVERSED_D,  /* last stride -1 */
    LAYOUT_REVERSED_L,  /* rows from the last to the first */
    LAYOUT_COUNT
} layout;

/* The lowest and the highest element a view of these strides touches. */
void stride_reach(const int64_t *size, const int64_t *stride, int64_t *low,
                  int64_t *high);
void copy_elements(const attend_view *from, const attend_view *to);
/* A view of the same values in another layout; the gaps hold NaN. */
attend_view restride(problem *p, const attend_view *from, layout kind);
/* An output in another layout over memory filled with 0xff. */
attend_tensor restride_output(problem *p, const attend_tensor *from, layout kind);
/* Copies a strided output into a contiguous one; 0 if a gap was written to. */
int gather_output(const attend_tensor *from, const attend_tensor *contiguous);

/* Memory between two inaccessible pages. */
typedef struct guarded {
    char *map, *data;
    size_t map_size;
} guarded;

/* `size` bytes that end at the inaccessible page, or begin right after one. */
guarded guarded_make(size_t size, int at_end);
void guarded_free(guarded *g);

/*
 * A copy of a struct of `known` bytes with this size, cut or followed by zeros, that ends
 * at an unreadable page; for an impossible size only struct_size.
 */
guarded struct_at_end(const void *from, size_t known, size_t size);

#endif

/* SPDX-License-Identifier: MIT */
/* Slices, transposes and copies of strided tensors (b, h, l, d). */
#ifndef ATTEND_MPI_VIEWS_H
#define ATTEND_MPI_VIEWS_H

#include "attend/attend.h"

/* `count` indices of an axis, from `first` on. */
attend_view attendi_view_slice(attend_view view, int axis, int64_t first, int64_t count);
attend_tensor attendi_tensor_slice(attend_tensor tensor, int axis, int64_t first,
                                   int64_t count);
/*
 * The same for a mask or bias: an axis of size 1, which is broadcast, and a view without
 * data stay as they are.
 */
attend_view attendi_broadcast_slice(attend_view view, int axis, int64_t first,
                                    int64_t count);
/* Axes 2 and 3 swapped. */
attend_view attendi_view_transposed(attend_view view);
attend_tensor attendi_tensor_transposed(attend_tensor tensor);

/* Bytes of one sequence row: all batches and heads. */
int64_t attendi_row_bytes(const attend_view *view);

/* Copies `from` to `to`, of the same sizes and dtype. */
void attendi_copy_tensor(const attend_view *from, const attend_tensor *to);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * Tensor maps (TMA descriptors) of 16-bit tensors, which are packed first if necessary.
 */
#ifndef ATTEND_CUDA_TENSOR_MAPS_H
#define ATTEND_CUDA_TENSOR_MAPS_H

#include "cuda/host/device.h"
#include "cuda/sm90/sm90.h"

/*
 * Whether TMA can load it: strides are multiples of 16 bytes and not negative, columns
 * contiguous.
 */
bool attendi_tma_takes(const void *data, const int64_t size[4], const int64_t stride[4]);
/*
 * Whether TMA can store to it: rows end at multiples of 16 bytes too.  A store may end
 * there and not at the last column, and the padding of a row is not part of the tensor.
 */
bool attendi_tma_stores(const void *data, const int64_t size[4], const int64_t stride[4]);

struct sm90_tensor attendi_sm90_tensor(const void *data, const int64_t stride[4]);

/* Columns of a packed view, padded to 16 bytes, and its number of elements. */
int64_t attendi_padded_columns(const attend_view *view);
int64_t attendi_packed_count(const attend_view *view);

/* Sets *t to the view, or, if `packs`, queues a copy of it at `to` and sets *t to that.
 */
attend_status attendi_pack_input(struct cuda_device *d, const attend_view *view,
                                 bool packs, char *to, struct sm90_tensor *t,
                                 attend_error *err);

/* Boxes of `rows` by 64 columns, swizzled by 128 bytes. */
attend_status attendi_map_tensor(struct cuda_device *d, attend_dtype dtype,
                                 const struct sm90_tensor *t, const int64_t size[4],
                                 int rows, cu_tensor_map *map, attend_error *err);

#endif

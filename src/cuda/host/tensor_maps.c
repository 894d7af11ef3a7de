/* SPDX-License-Identifier: MIT */
#include "cuda/host/tensor_maps.h"

#include "base/error.h"

/* Constants of the driver for tensor maps. */
enum { MAP_F16 = 6, MAP_BF16 = 9, MAP_SWIZZLE_128 = 3 };
enum { MAP_COLUMNS = 64 };

bool attendi_tma_takes(const void *data, const int64_t size[4], const int64_t stride[4])
{
    if ((uintptr_t)data % 16 != 0 || (size[3] > 1 && stride[3] != 1))
        return false;
    for (int a = 0; a < 3; a++)
        if (size[a] > 1 &&
            (stride[a] <= 0 || stride[a] % 8 != 0 || stride[a] >= (int64_t)1 << 38))
            return false;
    return true;
}

bool attendi_tma_stores(const void *data, const int64_t size[4], const int64_t stride[4])
{
    return size[3] % 8 == 0 && attendi_tma_takes(data, size, stride);
}

int64_t attendi_padded_columns(const attend_view *view)
{
    return ceil_div_i64(view->size[3], 8) * 8;
}

int64_t attendi_packed_count(const attend_view *view)
{
    return view->size[0] * view->size[1] * view->size[2] * attendi_padded_columns(view);
}

/* The stride of an axis of size 1 has no effect, but has to be valid for the driver. */
attend_status attendi_map_tensor(struct cuda_device *d, attend_dtype dtype,
                                 const struct sm90_tensor *t, const int64_t size[4],
                                 int rows, cu_tensor_map *map, attend_error *err)
{
    const uint64_t extent[4] = {(uint64_t)size[3], (uint64_t)size[2], (uint64_t)size[1],
                                (uint64_t)size[0]};
    const uint32_t box[4] = {MAP_COLUMNS, (uint32_t)rows, 1, 1}, step[4] = {1, 1, 1, 1};
    uint64_t bytes[3];

    for (int a = 0; a < 3; a++)
        bytes[a] = size[2 - a] > 1 ? 2 * (uint64_t)t->stride[2 - a]
                                   : 16 * (((uint64_t)size[3] * 2 + 15) / 16);
    return attendi_driver_check(
        &d->driver,
        d->driver.encode_tiled(map, dtype == ATTEND_F16 ? MAP_F16 : MAP_BF16, 4, t->data,
                               extent, bytes, box, step, 0, MAP_SWIZZLE_128, 0, 0),
        "describing a tensor", err);
}

struct sm90_tensor attendi_sm90_tensor(const void *data, const int64_t stride[4])
{
    return (struct sm90_tensor){.data = (void *)(uintptr_t)data,
                                .stride = {stride[0], stride[1], stride[2], stride[3]}};
}

attend_status attendi_pack_input(struct cuda_device *d, const attend_view *view,
                                 bool packs, char *to, struct sm90_tensor *t,
                                 attend_error *err)
{
    *t = attendi_sm90_tensor(view->data, view->stride);
    if (!packs)
        return ATTEND_OK;
    struct sm90_pack pack = {.from = *t,
                             .padded = attendi_padded_columns(view),
                             .count = attendi_packed_count(view),
                             .to = (uint16_t *)(void *)to};
    for (int a = 0; a < 4; a++)
        pack.size[a] = view->size[a];
    void *parameters[] = {&pack};
    t->data = to;
    t->stride[3] = 1;
    t->stride[2] = pack.padded;
    t->stride[1] = t->stride[2] * view->size[2];
    t->stride[0] = t->stride[1] * view->size[1];
    return attendi_cuda_launch(d, KERNEL_sm90_pack,
                               min_i64(ceil_div_i64(pack.count, 256), 4 * 1024), 256, 0,
                               parameters, err);
}

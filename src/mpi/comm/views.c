/* SPDX-License-Identifier: MIT */
#include "mpi/comm/views.h"

#include <string.h>

static int64_t step(const attend_view *view, int axis, int64_t places)
{
    return places * view->stride[axis] * (int64_t)attend_dtype_size(view->dtype);
}

attend_view attendi_view_slice(attend_view view, int axis, int64_t first, int64_t count)
{
    if (view.data)
        view.data = (const char *)view.data + step(&view, axis, first);
    view.size[axis] = count;
    return view;
}

attend_tensor attendi_tensor_slice(attend_tensor tensor, int axis, int64_t first,
                                   int64_t count)
{
    const attend_view view = attend_view_of(&tensor);

    if (tensor.data)
        tensor.data = (char *)tensor.data + step(&view, axis, first);
    tensor.size[axis] = count;
    return tensor;
}

attend_view attendi_broadcast_slice(attend_view view, int axis, int64_t first,
                                    int64_t count)
{
    return !view.data || view.size[axis] == 1
               ? view
               : attendi_view_slice(view, axis, first, count);
}

attend_view attendi_view_transposed(attend_view view)
{
    const attend_view from = view;

    for (int axis = 2; axis < 4; axis++) {
        view.size[axis] = from.size[5 - axis];
        view.stride[axis] = from.stride[5 - axis];
    }
    return view;
}

attend_tensor attendi_tensor_transposed(attend_tensor tensor)
{
    const attend_view turned = attendi_view_transposed(attend_view_of(&tensor));

    memcpy(tensor.size, turned.size, sizeof tensor.size);
    memcpy(tensor.stride, turned.stride, sizeof tensor.stride);
    return tensor;
}

int64_t attendi_row_bytes(const attend_view *view)
{
    return view->size[0] * view->size[1] * view->size[3] *
           (int64_t)attend_dtype_size(view->dtype);
}

/* Copies `count` elements of `bytes` bytes; steps in bytes. */
static void copy_run(const char *from, int64_t from_step, char *to, int64_t to_step,
                     int64_t count, size_t bytes)
{
    if (from_step == (int64_t)bytes && to_step == (int64_t)bytes) {
        memcpy(to, from, (size_t)count * bytes);
        return;
    }
    for (int64_t x = 0; x < count; x++)
        memcpy(to + x * to_step, from + x * from_step, bytes);
}

void attendi_copy_tensor(const attend_view *from, const attend_tensor *to)
{
    const int64_t size = (int64_t)attend_dtype_size(from->dtype);
    const int64_t *const n = from->size;
    /* Rows that are contiguous in both tensors are copied as one run. */
    const int joined = from->stride[3] == 1 && to->stride[3] == 1 &&
                       from->stride[2] == n[3] && to->stride[2] == n[3];
    const int64_t rows = joined ? 1 : n[2], columns = joined ? n[2] * n[3] : n[3];

    if (n[0] * n[1] * n[2] * n[3] == 0)
        return;
    for (int64_t b = 0; b < n[0]; b++)
        for (int64_t h = 0; h < n[1]; h++)
            for (int64_t l = 0; l < rows; l++)
                copy_run((const char *)from->data +
                             size * (b * from->stride[0] + h * from->stride[1] +
                                     l * from->stride[2]),
                         size * from->stride[3],
                         (char *)to->data +
                             size * (b * to->stride[0] + h * to->stride[1] +
                                     l * to->stride[2]),
                         size * to->stride[3], columns, (size_t)size);
}

/* SPDX-License-Identifier: MIT */
#include "tensors.h"

void *test_memory(size_t size)
{
    void *const memory = malloc(size ? size : 1);

    if (memory == NULL) {
        fprintf(stderr, "out of memory for %zu bytes\n", size);
        exit(2);
    }
    return memory;
}

void context_free(attend_context *const *ctx) { attend_context_destroy(*ctx); }

int64_t view_at(const int64_t *stride, int64_t b, int64_t h, int64_t l, int64_t d)
{
    return b * stride[0] + h * stride[1] + l * stride[2] + d * stride[3];
}

double view_get(const attend_view *view, int64_t b, int64_t h, int64_t l, int64_t d)
{
    return check_load(view->data, view->dtype, view_at(view->stride, b, h, l, d));
}

void view_set(const attend_view *view, int64_t b, int64_t h, int64_t l, int64_t d,
              double value)
{
    check_store((void *)(uintptr_t)view->data, view->dtype,
                view_at(view->stride, b, h, l, d), value);
}

double tensor_get(const attend_tensor *tensor, int64_t b, int64_t h, int64_t l, int64_t d)
{
    return check_load(tensor->data, tensor->dtype, view_at(tensor->stride, b, h, l, d));
}

attend_view view_from(attend_view view, int64_t b, int64_t h, int64_t l)
{
    view.data = (const char *)view.data +
                view_at(view.stride, b, h, l, 0) * (int64_t)attend_dtype_size(view.dtype);
    return view;
}

double unit_of(attend_dtype dtype) { return dtype == ATTEND_F64 ? 0x1p-53 : 0x1p-24; }

attend_dtype dtype_of_lse(attend_dtype dtype)
{
    return dtype == ATTEND_F64 ? ATTEND_F64 : ATTEND_F32;
}

int64_t count_of(const int64_t *size) { return size[0] * size[1] * size[2] * size[3]; }

attend_tensor tensor_of_view(const attend_view *view)
{
    attend_tensor tensor = {.data = (void *)(uintptr_t)view->data, .dtype = view->dtype};

    memcpy(tensor.size, view->size, sizeof tensor.size);
    memcpy(tensor.stride, view->stride, sizeof tensor.stride);
    return tensor;
}

attend_view view_of_tensor(const attend_tensor *tensor)
{
    attend_view view = {.data = tensor->data, .dtype = tensor->dtype};

    memcpy(view.size, tensor->size, sizeof view.size);
    memcpy(view.stride, tensor->stride, sizeof view.stride);
    return view;
}

/* ---- random numbers ------------------------------------------------------ */

uint64_t random_bits(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;

    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

double random_unit(uint64_t *state)
{
    return (double)((random_bits(state) >> 11) + 1) * 0x1p-53;
}

double random_normal(uint64_t *state) { return check_normal(random_bits(state)); }

void fill_normal(const attend_view *view, uint64_t seed)
{
    uint64_t state = seed;

    for (int64_t at = 0; at < count_of(view->size); at++)
        check_store((void *)(uintptr_t)view->data, view->dtype, at,
                    random_normal(&state));
}

void fill_value(const attend_view *view, double value)
{
    for (int64_t at = 0; at < count_of(view->size); at++)
        check_store((void *)(uintptr_t)view->data, view->dtype, at, value);
}

size_t bytes_of(const int64_t *size, attend_dtype dtype)
{
    return (size_t)count_of(size) * attend_dtype_size(dtype);
}

void poison(const attend_tensor *tensor)
{
    if (tensor->data != NULL)
        memset(tensor->data, 0xff, bytes_of(tensor->size, tensor->dtype));
}

int is_poisoned(const attend_tensor *tensor)
{
    const unsigned char *const bytes = tensor->data;
    const size_t size = bytes == NULL ? 0 : bytes_of(tensor->size, tensor->dtype);

    for (size_t at = 0; at < size; at++)
        if (bytes[at] != 0xff)
            return 0;
    return 1;
}

void *copy_bits(const attend_tensor *tensor)
{
    if (tensor->data == NULL)
        return NULL;
    const size_t size = bytes_of(tensor->size, tensor->dtype);
    return memcpy(test_memory(size), tensor->data, size);
}

const attend_dtype float_dtypes[FLOAT_DTYPES] = {ATTEND_F64, ATTEND_F32, ATTEND_F16,
                                                 ATTEND_BF16};

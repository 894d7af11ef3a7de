/* SPDX-License-Identifier: MIT */
#include "io/formats.h"

static const struct io_dtype_info dtypes[IO_DTYPE_COUNT] = {
    [IO_F64] = {"float64", 64, 8, "f8", "F64"},
    [IO_F32] = {"float32", 32, 4, "f4", "F32"},
    [IO_F16] = {"float16", 16, 2, "f2", "F16"},
    [IO_BF16] = {"bfloat16", 16, 2, NULL, "BF16"},
    [IO_BOOL] = {"bool", 8, 1, "b1", "BOOL"},
    [IO_U8] = {"uint8", 8, 1, "u1", "U8"},
    [IO_I8] = {"int8", 8, 1, "i1", "I8"},
    [IO_U16] = {"uint16", 16, 2, "u2", "U16"},
    [IO_I16] = {"int16", 16, 2, "i2", "I16"},
    [IO_U32] = {"uint32", 32, 4, "u4", "U32"},
    [IO_I32] = {"int32", 32, 4, "i4", "I32"},
    [IO_U64] = {"uint64", 64, 8, "u8", "U64"},
    [IO_I64] = {"int64", 64, 8, "i8", "I64"},
    [IO_C64] = {"complex64", 64, 4, "c8", "C64"},
    [IO_C128] = {"complex128", 128, 8, "c16", NULL},
    [IO_F8_E5M2] = {"float8_e5m2", 8, 1, NULL, "F8_E5M2"},
    [IO_F8_E4M3] = {"float8_e4m3", 8, 1, NULL, "F8_E4M3"},
    [IO_F8_E8M0] = {"float8_e8m0", 8, 1, NULL, "F8_E8M0"},
    [IO_F8_E5M2FNUZ] = {"float8_e5m2fnuz", 8, 1, NULL, "F8_E5M2FNUZ"},
    [IO_F8_E4M3FNUZ] = {"float8_e4m3fnuz", 8, 1, NULL, "F8_E4M3FNUZ"},
    [IO_F6_E2M3] = {"float6_e2m3", 6, 1, NULL, "F6_E2M3"},
    [IO_F6_E3M2] = {"float6_e3m2", 6, 1, NULL, "F6_E3M2"},
    [IO_F4] = {"float4", 4, 1, NULL, "F4"},
};

const struct io_dtype_info *io_dtype_info(enum io_dtype dtype) { return &dtypes[dtype]; }

const char *io_dtype_name(enum io_dtype dtype) { return dtypes[dtype].name; }

size_t io_dtype_size(enum io_dtype dtype) { return (size_t)dtypes[dtype].bits / 8; }

const char *io_layout_fill(struct io_layout *layout, int is_fortran)
{
    int64_t stride = 1;
    int is_empty = 0;

    /*
     * A size of 0 counts as 1 here: strides must fit even without elements, and the
     * result must not depend on the order of the axes.
     */
    for (int i = 0; i < layout->ndim; i++) {
        const int axis = is_fortran ? i : layout->ndim - 1 - i;
        layout->stride[axis] = stride;
        if (layout->size[axis] == 0)
            is_empty = 1;
        else if (__builtin_mul_overflow(stride, layout->size[axis], &stride))
            return "the shape has more elements than 64 bits can count";
    }
    int64_t bits;
    if (__builtin_mul_overflow(stride, dtypes[layout->dtype].bits, &bits))
        return "the shape has more bits than 64 bits can count";
    if (!is_empty && bits % 8 != 0)
        return "the elements do not fill whole bytes";
    layout->bytes = is_empty ? 0 : bits / 8;
    return NULL;
}

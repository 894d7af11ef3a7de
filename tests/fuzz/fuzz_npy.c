/* SPDX-License-Identifier: MIT */
/*
 * Fuzz the .npy reader.  A parsed tensor must lie inside the file, cover its payload by
 * its strides, and be the same after writing and parsing again.
 */
#include "io/formats.h"

#include <string.h>

#include "demand.h"

static void check_again(const struct io_layout *layout)
{
    struct io_layout again;
    struct io_error err;
    size_t size;
    unsigned char *const header = io_npy_header(layout, &size);

    if (header == NULL)
        return;
    demand(size % 64 == 0, "a header is a multiple of 64");
    /* Only the header is there, so only an empty payload fits. */
    const int status = io_npy_parse(header, size, "again", 0, &again, &err);
    demand((status == 0) == (layout->bytes == 0), "the header is parsed again");
    demand(again.dtype == layout->dtype && again.ndim == layout->ndim,
           "same dtype, rank");
    demand(memcmp(again.size, layout->size, sizeof again.size) == 0, "same sizes");
    free(header);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    for (int v2_is_bf16 = 0; v2_is_bf16 < 2; v2_is_bf16++) {
        struct io_layout layout;
        struct io_error err = {""};
        if (io_npy_parse(data, size, "f.npy", v2_is_bf16, &layout, &err) != 0) {
            demand(strncmp(err.message, "f.npy: byte ", 12) == 0, "file and offset");
            demand(strchr(err.message, '\n') == NULL, "one line");
            continue;
        }
        demand(layout.offset >= 0 && layout.bytes >= 0, "signs");
        demand((uint64_t)layout.offset <= size, "offset inside");
        demand((uint64_t)layout.bytes <= size - (uint64_t)layout.offset, "data inside");
        int64_t last = 0;
        for (int i = 0; i < layout.ndim; i++)
            last += (layout.size[i] - 1) * layout.stride[i];
        if (layout.bytes > 0)
            demand((last + 1) * (int64_t)io_dtype_size(layout.dtype) == layout.bytes,
                   "strides reach the last element");
        if (layout.dtype != IO_BF16)
            check_again(&layout);
    }
    return 0;
}

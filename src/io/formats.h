/* SPDX-License-Identifier: MIT */
/*
 * Internal declarations of src/io.  The parsers validate all of their input and read
 * nothing outside it; `file` is for messages only.
 */
#ifndef IO_FORMATS_H
#define IO_FORMATS_H

#include "io/io.h"

#include <jansson.h>

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "src/io maps little-endian payloads in place"
#endif

/* Layout of a tensor in a file. */
struct io_layout {
    enum io_dtype dtype;
    int is_big_endian;
    int ndim;
    int64_t size[IO_MAX_RANK];
    int64_t stride[IO_MAX_RANK]; /* in elements */
    int64_t offset;              /* of the payload in the file */
    int64_t bytes;               /* of the payload */
};

/* Fills *err and returns -1.  An offset below 0 is not printed. */
__attribute__((format(printf, 4, 5))) int
io_fail(struct io_error *err, const char *file, int64_t offset, const char *format, ...);
/*
 * Copies `n` bytes from a file into printable text: other bytes than printable ASCII
 * become \xNN, and "..." ends a text that `size` cuts.
 */
void io_quote(char *text, size_t size, const void *bytes, size_t n);

struct io_dtype_info {
    const char *name;
    int bits;
    int word;                /* bytes of a unit of byte order and alignment */
    const char *npy;         /* kind and size in .npy; NULL: not representable */
    const char *safetensors; /* name in .safetensors; NULL: not representable */
};
const struct io_dtype_info *io_dtype_info(enum io_dtype dtype);

/*
 * Fills stride and bytes from dtype, ndim and size (each >= 0).  Returns NULL, or the
 * reason for refusing: sizes whose product without the zeros overflows, or a payload that
 * is not a whole number of bytes.
 */
const char *io_layout_fill(struct io_layout *layout, int is_fortran);

int io_npy_parse(const unsigned char *bytes, size_t size, const char *file,
                 int v2_is_bf16, struct io_layout *layout, struct io_error *err);
/*
 * The bytes before the payload, a multiple of 64; the caller frees them.  NULL: out of
 * memory.
 */
unsigned char *io_npy_header(const struct io_layout *layout, size_t *size);

/*
 * The validated header of a .safetensors file, which the caller releases with
 * json_decref(); NULL on failure, with the reason in *err.
 */
json_t *io_safetensors_load(const unsigned char *bytes, size_t size, const char *file,
                            struct io_error *err);
/* `header`: the result of io_safetensors_load() for these bytes. */
int io_safetensors_find(json_t *header, const unsigned char *bytes, const char *file,
                        const char *name, struct io_layout *layout, struct io_error *err);
/*
 * The bytes before the payload, a multiple of 64, which the caller frees; sets the offset
 * in the file of each layout.  NULL: out of memory, or a name that is not UTF-8.
 */
unsigned char *io_safetensors_header(struct io_layout *const *layouts,
                                     const char *const *names, int count, size_t *size);

/*
 * Splits a spec.  The caller frees *path; *name points into `spec`, or is NULL unless the
 * spec is FILE.safetensors:NAME.
 */
int io_spec_split(const char *spec, char **path, const char **name, struct io_error *err);

/*
 * Maps a whole regular file for reading; *map is NULL for an empty file, else the caller
 * unmaps it.  Sets errno on failure.
 */
int io_map_file(const char *path, void **map, size_t *size);

#endif

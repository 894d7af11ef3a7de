/* SPDX-License-Identifier: MIT */
/*
 * What the files of src/io share.  The parsers work on memory, trust nothing in
 * it, and read nothing outside it; `file` is for messages only.
 */
#ifndef IO_FORMATS_H
#define IO_FORMATS_H

#include "io/io.h"

#include <jansson.h>

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "src/io maps little-endian payloads in place"
#endif

/* Where in a file a tensor lies. */
struct io_layout {
    enum io_dtype dtype;
    int is_big_endian;
    int ndim;
    int64_t size[IO_MAX_RANK];
    int64_t stride[IO_MAX_RANK]; /* in elements */
    int64_t offset;              /* of the payload in the file */
    int64_t bytes;               /* of the payload */
};

/* -1, always.  An offset below 0 is not mentioned. */
__attribute__((format(printf, 4, 5))) int
io_fail(struct io_error *err, const char *file, int64_t offset, const char *format, ...);
/*
 * Copies `n` bytes from a file into text that is safe to print: printable ASCII
 * as it is, the rest as \xNN, ending in "..." if `size` does not hold it all.
 */
void io_quote(char *text, size_t size, const void *bytes, size_t n);

struct io_dtype_info {
    const char *name;
    int bits;
    int word;                /* bytes that byte order and alignment apply to */
    const char *npy;         /* kind and size in .npy, NULL: not there */
    const char *safetensors; /* name in .safetensors, NULL: not there */
};
const struct io_dtype_info *io_dtype_info(enum io_dtype dtype);

/*
 * Fills stride and bytes from dtype, ndim and size (each >= 0).  Refuses, by a
 * reason that is returned, sizes whose product without the zeros overflows and
 * payloads of broken bytes; returns NULL if all is well.
 */
const char *io_layout_fill(struct io_layout *layout, int is_fortran);

int io_npy_parse(const unsigned char *bytes, size_t size, const char *file,
                 int v2_is_bf16, struct io_layout *layout, struct io_error *err);
/* The bytes before the payload, a multiple of 64, to be freed; NULL: no memory. */
unsigned char *io_npy_header(const struct io_layout *layout, size_t *size);

/*
 * The header of a .safetensors file all of whose rules hold, to be json_decref'd;
 * NULL: *err says which does not.
 */
json_t *io_safetensors_load(const unsigned char *bytes, size_t size, const char *file,
                            struct io_error *err);
/* `header` is what io_safetensors_load() gave for these bytes. */
int io_safetensors_find(json_t *header, const unsigned char *bytes, const char *file,
                        const char *name, struct io_layout *layout, struct io_error *err);
/*
 * The bytes before the payload, a multiple of 64, to be freed; sets the offset in
 * the file of each layout.  NULL: no memory, or a name that is no UTF-8.
 */
unsigned char *io_safetensors_header(struct io_layout *const *layouts,
                                     const char *const *names, int count, size_t *size);

/*
 * Cuts a spec.  *path is to be freed; *name points into `spec`, or is NULL for a
 * spec that is not FILE.safetensors:NAME.
 */
int io_spec_split(const char *spec, char **path, const char **name, struct io_error *err);

/*
 * The whole of a regular file, mapped for reading; *map is NULL for an empty one
 * and to be unmapped otherwise.  On failure errno says why.
 */
int io_map_file(const char *path, void **map, size_t *size);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * Tensors in files: the interface for the tools.
 *
 * A tensor is named by a spec, FILE.npy or FILE.safetensors:NAME, which is split at its
 * last ".safetensors:": NAME may contain colons (but not that string), and FILE may be in
 * a directory of any name.
 *
 * Functions return 0, or -1 with err->message filled.
 */
#ifndef IO_IO_H
#define IO_IO_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

/*
 * One line without newline: the file, for a malformed file "byte N" with the position of
 * the fault, and the reason.
 */
struct io_error {
    char message[512];
};

/* Length of the path in a spec, without ":NAME". */
size_t io_path_length(const char *spec);
/* Whether two paths name one file, which need not exist. */
int io_is_same_path(const char *a, const char *b);
/* NULL, or the reason why rename() could not replace the path. */
const char *io_refusal(const char *path);

enum io_dtype {
    IO_F64,
    IO_F32,
    IO_F16,
    IO_BF16,
    IO_BOOL,
    IO_U8,
    IO_I8,
    IO_U16,
    IO_I16,
    IO_U32,
    IO_I32,
    IO_U64,
    IO_I64,
    IO_C64,
    IO_C128,
    IO_F8_E5M2,
    IO_F8_E4M3,
    IO_F8_E8M0,
    IO_F8_E5M2FNUZ,
    IO_F8_E4M3FNUZ,
    IO_F6_E2M3,
    IO_F6_E3M2,
    IO_F4,
    IO_DTYPE_COUNT
};

/* "float32", "bfloat16", "int32", ... for messages. */
const char *io_dtype_name(enum io_dtype dtype);
/* Bytes per element; 0 for the types below one byte. */
size_t io_dtype_size(enum io_dtype dtype);

enum { IO_MAX_RANK = 32 };

/*
 * A tensor to read.  Element (i0, i1, ...) is element i0*stride[0] + i1*stride[1] + ...
 * of `data`, which is little endian, aligned to its element, and never NULL, even without
 * elements.
 *
 * The file is mapped, not read, and must not shrink while the tensor is open.  Only a
 * payload that is big endian or misaligned is copied.
 */
struct io_tensor {
    const void *data;
    enum io_dtype dtype;
    int ndim; /* 0 .. IO_MAX_RANK */
    int64_t size[IO_MAX_RANK];
    int64_t stride[IO_MAX_RANK];
    char *name; /* the spec, for messages */
    void *map;  /* private from here on */
    size_t map_size;
    void *copy;
};

/*
 * The .npy format has no bfloat16: NumPy writes it as 'V2', two arbitrary bytes, which is
 * refused unless `v2_is_bf16`.  On success the tensor has to be closed; on failure it is
 * zeroed and may be closed.
 */
int io_tensor_open(struct io_tensor *tensor, const char *spec, int v2_is_bf16,
                   struct io_error *err);
void io_tensor_close(struct io_tensor *tensor);

/* A tensor to write, contiguous, last axis fastest. */
struct io_output {
    const char *spec;
    enum io_dtype dtype;
    int ndim;
    int64_t size[IO_MAX_RANK];
    void *data; /* set by io_outputs_prepare(): zeros, aligned to the element */
};

/* Maximum numbers of tensors and of files in a set. */
enum { IO_MAX_OUTPUTS = 32, IO_MAX_FILES = 8 };

/* A set of files being written; private.  A zeroed set is empty. */
struct io_outputs {
    struct io_outputs_file {
        char *path;
        char temp[4096];    /* not allocated: a signal handler reads it */
        atomic_int is_live; /* `temp` may exist */
        int fd;
        void *map;
        size_t map_size;
    } file[IO_MAX_FILES];
    int count;
};

/*
 * Writes a set of outputs: all files appear, or none.  prepare() makes each file under a
 * temporary name in its directory, with its space reserved, and sets `data` of every
 * output to memory that is the file; commit() renames them into place.  If either fails,
 * or by abort() instead of commit(), nothing is left behind.  After commit() and abort()
 * `data` is invalid and `set` has no files.  A commit() that fails half way has already
 * replaced older files of the same names.
 *
 * A .npy spec makes a .npy file, for which bfloat16 is an error.  All specs that name one
 * .safetensors file share it; an older file is replaced only if it has no other tensors,
 * so that no checkpoint is lost.  An output may replace a file that is open as an input.
 */
int io_outputs_prepare(struct io_outputs *set, struct io_output *outputs, int count,
                       struct io_error *err);
int io_outputs_commit(struct io_outputs *set, struct io_error *err);
void io_outputs_abort(struct io_outputs *set);
/*
 * For processes that write one set together: attach() maps the files that prepare()
 * created in another process; `owner` has their names, and its bytes may come from that
 * process.  detach() unmaps them; that process commits them.
 */
int io_outputs_attach(struct io_outputs *set, struct io_output *outputs, int count,
                      const struct io_outputs *owner, struct io_error *err);
int io_outputs_detach(struct io_outputs *set, struct io_error *err);
/*
 * Removes the temporary files of `set` before the program ends.  Callable at any time,
 * also in a signal handler.
 */
void io_outputs_unlink(struct io_outputs *set);

#endif

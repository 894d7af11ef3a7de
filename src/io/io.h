/* SPDX-License-Identifier: MIT */
/*
 * Tensors in files: the whole interface the tools see.
 *
 * A tensor is named by a spec: FILE.npy, or FILE.safetensors:NAME.  A spec is
 * cut at its last ".safetensors:", so NAME may hold colons (but not that
 * string) and FILE may lie in a directory of any name.
 *
 * Functions return 0, or -1 with err->message filled.
 */
#ifndef IO_IO_H
#define IO_IO_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

/*
 * One line without newline: the file, for a malformed file "byte N" where the
 * fault is, and the reason.
 */
struct io_error {
    char message[512];
};

/* The file of a spec: the length of what comes before ":NAME", if that is there. */
size_t io_path_length(const char *spec);
/* Whether two paths name one file, which need not exist. */
int io_is_same_path(const char *a, const char *b);
/* What rename() would refuse to replace after the work is done; NULL or a reason. */
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
 * A tensor to read.  Element (i0, i1, ...) is element i0*stride[0] +
 * i1*stride[1] + ... of `data`, which is little endian and aligned to its
 * element.  `data` is never NULL, not even for a tensor without elements.
 *
 * The file is mapped, not read, and must not shrink while the tensor is open.
 * Only a payload that is big endian or misaligned is copied.
 */
struct io_tensor {
    const void *data;
    enum io_dtype dtype;
    int ndim; /* 0 .. IO_MAX_RANK */
    int64_t size[IO_MAX_RANK];
    int64_t stride[IO_MAX_RANK];
    char *name; /* the spec, for messages */
    void *map;  /* the rest is io's own */
    size_t map_size;
    void *copy;
};

/*
 * A .npy file does not know bfloat16: NumPy writes it as 'V2', two bytes of
 * anything, which is refused unless `v2_is_bf16`.  A tensor that opened must be
 * closed; one that did not is left zeroed, and may be.
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

/* Of one set: tensors, and files that they go to. */
enum { IO_MAX_OUTPUTS = 32, IO_MAX_FILES = 8 };

/* Files under way; a zeroed one has none.  Its fields are io's own. */
struct io_outputs {
    struct io_outputs_file {
        char *path;
        char temp[4096];    /* not freed, for it is a signal handler's too */
        atomic_int is_live; /* `temp` may exist */
        int fd;
        void *map;
        size_t map_size;
    } file[IO_MAX_FILES];
    int count;
};

/*
 * Outputs appear together or not at all.  prepare() makes each file under a
 * temporary name in its directory, with its space reserved, and sets `data` of
 * every output to memory that is the file; commit() renames them into place.
 * If either fails, or by abort() instead of commit(), nothing is left behind.
 * After commit() and abort() `data` is invalid and `set` has no files.  A commit()
 * that fails half way has already replaced older files of the same names.
 *
 * A .npy spec makes a .npy file, for which bfloat16 is an error.  All specs
 * that name one .safetensors file share it; an older file is replaced only if
 * it holds no tensor besides theirs, lest a checkpoint be lost.  An output may
 * replace a file that is open as an input.
 */
int io_outputs_prepare(struct io_outputs *set, struct io_output *outputs, int count,
                       struct io_error *err);
int io_outputs_commit(struct io_outputs *set, struct io_error *err);
void io_outputs_abort(struct io_outputs *set);
/*
 * For processes that write one set together: attach() does in the others what prepare()
 * did in one, on the files that `owner` has made, whose bytes may come from another
 * process.  detach() leaves them to that process, written.
 */
int io_outputs_attach(struct io_outputs *set, struct io_output *outputs, int count,
                      const struct io_outputs *owner, struct io_error *err);
int io_outputs_detach(struct io_outputs *set, struct io_error *err);
/*
 * Removes the temporary files, at any moment of the life of `set`, from a signal
 * handler too; for a program that is about to end.
 */
void io_outputs_unlink(struct io_outputs *set);

#endif

/* SPDX-License-Identifier: MIT */
/* A scratch directory for tests of src/io, and files in it. */
#ifndef TESTS_FILES_H
#define TESTS_FILES_H

#include "io/io.h"
#include "support/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* main() of a program whose tests use the directory. */
int files_main(void);
/* The path of a file in the directory, valid for the next fifteen calls. */
const char *files_path(const char *name);
void files_write(const char *name, const void *bytes, size_t n);
/* Number of files in the directory; `removes`: also removes them. */
int files_count(int removes);
/*
 * NULL if `message` is one line that begins with the path of `name` and contains `reason`
 * and, unless negative, the offset `byte`; else the defect.
 */
const char *files_message_fault(const char *message, const char *name, long long byte,
                                const char *reason);

/* ---- reading ------------------------------------------------------------- */

/* Writes the file of a spec, FILE.npy or FILE.safetensors:NAME, and opens its tensor. */
int files_open(struct io_tensor *tensor, const char *spec, const void *bytes, size_t n,
               int v2_is_bf16, struct io_error *err);
/*
 * Expects a tensor of this dtype, shape and strides, "float32 (2,3) (3,1)", aligned,
 * whose first element has the bytes first, first + 1, ...; `first` -1: no elements.
 */
void files_expect_tensor(const char *spec, const void *bytes, size_t n, int v2_is_bf16,
                         const char *layout, int first);
/* Expects a refusal in one line with this offset and reason. */
void files_expect_refusal(const char *spec, const void *bytes, size_t n, long long byte,
                          const char *reason);
/*
 * Replaces each of the first `header` bytes by each of `others`: the file opens, or is
 * refused in one line.  Returns the number of refusals.
 */
int files_change_bytes(const char *spec, unsigned char *bytes, size_t n, size_t header,
                       const unsigned char *others, size_t count);
/*
 * A sparse file of 2.5e9 zero floats after these bytes opens at once, since its data is
 * not read; 0 after a failure or a skip.
 */
int files_open_huge(struct io_tensor *tensor, const char *spec, const void *bytes,
                    size_t n);

#endif

/* SPDX-License-Identifier: MIT */
/* A scratch directory for tests of src/io, and files in it. */
#ifndef TESTS_FILES_H
#define TESTS_FILES_H

#include "io/io.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int files_setup(void);
/* The path of a file in the directory, valid until the sixteenth call after. */
const char *files_path(const char *name);
void files_write(const char *name, const void *bytes, size_t n);
/* How many files the directory holds; removes them if told to. */
int files_count(int removes);
void files_cleanup(void);
/*
 * NULL if `message` is one line that begins with the path of `name` and holds
 * `reason`, else what is wrong with it.  `byte` >= 0 must be its offset.
 */
const char *files_message_fault(const char *message, const char *name, long long byte,
                                const char *reason);

#endif

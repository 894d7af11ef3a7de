/* SPDX-License-Identifier: MIT */
#ifndef TOOLS_READ_FILE_H
#define TOOLS_READ_FILE_H

#include <stddef.h>

/*
 * The whole of a file of at most `most` bytes, with a 0 behind it, to be freed; "-" is
 * standard input.  NULL with a message that names the file.  A pipe without a writer is
 * refused, not waited for.
 */
char *tool_read_file(const char *command, const char *path, size_t most, size_t *size);

#endif

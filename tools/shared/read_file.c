/* SPDX-License-Identifier: MIT */
#define _POSIX_C_SOURCE 200809L

#include "read_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tool.h"

/* NULL with a message. */
static FILE *open_plain(const char *command, const char *path)
{
    struct stat info;
    const int descriptor = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    FILE *file = NULL;

    if (descriptor < 0 || fstat(descriptor, &info))
        tool_fail(command, TOOL_USAGE, "%s: %s", path, strerror(errno));
    else if (!S_ISREG(info.st_mode))
        tool_fail(command, TOOL_USAGE, "%s: not a file", path);
    else if (!(file = fdopen(descriptor, "rb")))
        tool_fail(command, TOOL_FAILED, "%s: %s", path, strerror(errno));
    if (!file && descriptor >= 0)
        close(descriptor);
    return file;
}

char *tool_read_file(const char *command, const char *path, size_t most, size_t *size)
{
    const int is_input = !strcmp(path, "-");
    const char *const name = is_input ? "standard input" : path;
    FILE *const file = is_input ? stdin : open_plain(command, path);
    char *bytes = file ? malloc(most + 2) : NULL;
    int failed = !bytes;

    if (file && !bytes)
        tool_fail(command, TOOL_FAILED, "out of memory");
    if (bytes) {
        *size = fread(bytes, 1, most + 1, file);
        bytes[*size] = '\0';
        failed = ferror(file) || *size > most;
        if (ferror(file))
            tool_fail(command, TOOL_USAGE, "%s: %s", name, strerror(errno));
        else if (failed)
            tool_fail(command, TOOL_USAGE, "%s: more than %zu bytes", name, most);
    }
    if (file && !is_input)
        fclose(file);
    if (failed)
        free(bytes);
    return failed ? NULL : bytes;
}

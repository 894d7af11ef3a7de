/* SPDX-License-Identifier: MIT */
/* Text files that appear complete or not at all. */
#define _POSIX_C_SOURCE 200809L

#include "text_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "io/io.h"
#include "ranks.h"

/* Of several ranks one writes the file; the output of the others is discarded. */
static int open_nowhere(const char *command, tool_text *text)
{
    text->temporary[0] = '\0';
    text->stream = fopen("/dev/null", "w");
    return text->stream ? TOOL_OK
                        : tool_fail(command, TOOL_FAILED, "/dev/null cannot be opened");
}

static int open_temporary(const char *command, const char *flag, const char *path,
                          tool_text *text)
{
    const char *const slash = strrchr(path, '/');
    const size_t directory = slash ? (size_t)(slash - path) + 1 : 0;
    const char *reason = io_refusal(path);
    int fd = -1;

    if (!reason && directory >= sizeof text->temporary - 64)
        reason = strerror(ENAMETOOLONG);
    for (int number = 0; !reason && fd < 0 && number < 1000; number++) {
        memcpy(text->temporary, path, directory);
        snprintf(text->temporary + directory, sizeof text->temporary - directory,
                 ".attend-text-%ld-%d.tmp", (long)getpid(), number);
        fd = open(text->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (fd < 0 && errno != EEXIST)
            break;
    }
    if (!reason && fd < 0)
        reason = strerror(errno);
    if (!reason) {
        text->stream = fdopen(fd, "w");
        if (!text->stream) {
            reason = strerror(errno);
            close(fd);
            unlink(text->temporary);
        }
    }
    if (reason)
        return tool_fail(command, TOOL_USAGE,
                         "%s: '%s' cannot be written: %s; a file in a directory that "
                         "can be written is allowed",
                         flag, path, reason);
    return TOOL_OK;
}

int tool_text_open(const char *command, const char *flag, const char *path,
                   tool_text *text)
{
    *text = (tool_text){.path = path};
    return ranks_agree(ranks.rank > 0 ? open_nowhere(command, text)
                                      : open_temporary(command, flag, path, text));
}

int tool_text_commit(const char *command, tool_text *text)
{
    int failed = ferror(text->stream);

    failed |= fclose(text->stream);
    text->stream = NULL;
    if (!text->temporary[0])
        return TOOL_OK;
    if (!failed && rename(text->temporary, text->path) == 0)
        return TOOL_OK;
    const int reason = errno;
    unlink(text->temporary);
    return tool_fail(command, TOOL_FAILED, "'%s' could not be written: %s", text->path,
                     strerror(reason));
}

void tool_text_discard(tool_text *text)
{
    if (!text->stream)
        return;
    fclose(text->stream);
    if (text->temporary[0])
        unlink(text->temporary);
    text->stream = NULL;
}

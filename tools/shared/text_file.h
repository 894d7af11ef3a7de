/* SPDX-License-Identifier: MIT */
#ifndef TOOLS_TEXT_FILE_H
#define TOOLS_TEXT_FILE_H

#include <stdio.h>

#include "tool.h"

/* A text file that appears under its name when it is complete, or not at all. */
typedef struct tool_text {
    const char *path;
    char temporary[4096];
    FILE *stream; /* the stream for writing */
} tool_text;

/*
 * Opens a temporary file in the directory of `path`: a failure is reported before
 * the work.  Returns TOOL_OK or TOOL_USAGE.  `flag` is named in the message.
 */
int tool_text_open(const char *command, const char *flag, const char *path,
                   tool_text *text);
/* Gives the file its name; returns TOOL_OK, or TOOL_FAILED with nothing left behind. */
int tool_text_commit(const char *command, tool_text *text);
void tool_text_discard(tool_text *text);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * A line on standard error for work that takes longer than two seconds: a bar, the share
 * that is done, the time left.  Shown on a terminal only, and cleared at the end.
 */
#ifndef TOOLS_PROGRESS_LINE_H
#define TOOLS_PROGRESS_LINE_H

#include <stdint.h>

struct progress_line {
    const char *what;
    const char *unit;                   /* "trials", to show their rate; NULL: none */
    double began, started, last, shown; /* tool_seconds(); shown 0: nothing on screen */
    int64_t done, total;
    int is_enabled;
};

void progress_line_start(struct progress_line *line, const char *what, const char *unit);
/*
 * Fits attend_options.progress, with the line as its user pointer.  Less done than
 * before, or another total, is another measurement: the time left is of that one.
 */
void progress_line_update(void *line, int64_t done, int64_t total);
/* Takes it from the screen, before something is printed. */
void progress_line_clear(struct progress_line *line);

#endif

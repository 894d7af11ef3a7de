/* SPDX-License-Identifier: MIT */
#define _POSIX_C_SOURCE 200809L

#include "progress_line.h"

#include <stdio.h>
#include <unistd.h>

#include "tool.h"

/* Seconds before the line is shown, and between two of them. */
static const double patience = 2, interval = 0.2;
enum { BAR = 24 };

void progress_line_start(struct progress_line *line, const char *what, const char *unit)
{
    const double now = tool_seconds();

    *line = (struct progress_line){.what = what,
                                   .unit = unit,
                                   .began = now,
                                   .started = now,
                                   .last = now,
                                   .is_enabled = isatty(STDERR_FILENO)};
}

void progress_line_update(void *user, int64_t done, int64_t total)
{
    struct progress_line *const line = user;

    if (!line->is_enabled || total <= 0)
        return;
    const double now = tool_seconds();
    if (done < line->done || (line->total && total != line->total))
        line->started = line->last;
    line->done = done;
    line->total = total;
    line->last = now;
    if (now - line->began < patience || now - line->shown < interval)
        return;
    const double share = (double)done / (double)total, elapsed = now - line->started;
    char bar[BAR + 1] = "";
    for (int x = 0; x < BAR; x++)
        bar[x] = x < share * BAR ? '#' : '.';
    fprintf(stderr, "\r%s [%s] %3.0f%%", line->what, bar, 100 * share);
    if (elapsed > 0 && done > 0 && line->unit)
        fprintf(stderr, ", %.3g %s/s", (double)done / elapsed, line->unit);
    if (elapsed > 0 && done > 0)
        fprintf(stderr, ", about %.0f s left", elapsed * (1 - share) / share);
    fputs("\033[K", stderr);
    fflush(stderr);
    line->shown = now;
}

void progress_line_clear(struct progress_line *line)
{
    if (line->shown > 0) {
        fputs("\r\033[K", stderr);
        fflush(stderr);
    }
    line->shown = 0;
}

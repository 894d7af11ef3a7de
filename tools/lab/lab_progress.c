/* SPDX-License-Identifier: MIT */
/* The line that shows how far the trials of a measurement are. */
#define _POSIX_C_SOURCE 200809L

#include "lab_tool.h"

#include <string.h>
#include <unistd.h>

/* Seconds before the line is shown, and between two of them. */
static const double patience = 1, interval = 0.2;
enum { BAR = 24 };

void lab_progress_start(struct lab_progress *progress, const char *what)
{
    *progress = (struct lab_progress){.what = what,
                                      .began = tool_seconds(),
                                      .started = tool_seconds(),
                                      .enabled = isatty(STDERR_FILENO)};
}

void lab_progress_update(struct lab_progress *progress, int64_t done, int64_t total)
{
    if (!progress->enabled || total <= 0)
        return;
    const double now = tool_seconds();
    /* Another measurement has begun. */
    if (done < progress->done || total != progress->total)
        progress->started = progress->ended;
    progress->done = done;
    progress->total = total;
    progress->ended = now;
    if (now - progress->began < patience || now - progress->shown < interval)
        return;
    const double share = (double)done / (double)total;
    const double elapsed = now - progress->started;
    char bar[BAR + 1];
    for (int x = 0; x < BAR; x++)
        bar[x] = x < share * BAR ? '#' : '.';
    bar[BAR] = '\0';
    fprintf(stderr, "\r%s [%s] %3.0f%%", progress->what, bar, 100 * share);
    if (elapsed > 0 && done > 0)
        fprintf(stderr, ", %.3g trials/s, %.0f s left", (double)done / elapsed,
                elapsed * (1 - share) / share);
    fputs("\033[K", stderr);
    fflush(stderr);
    progress->shown = now;
}

void lab_progress_clear(struct lab_progress *progress)
{
    if (progress->shown > 0) {
        fputs("\r\033[K", stderr);
        fflush(stderr);
    }
    progress->shown = 0;
}

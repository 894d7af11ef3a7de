/* SPDX-License-Identifier: MIT */
/* Messages, JSON lines, time and progress of the subcommands. */
#define _POSIX_C_SOURCE 200809L

#include "commands.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

int tool_fail(const char *command, int status, const char *format, ...)
{
    /* Two paths of the longest length the system takes fit, with words around. */
    static char line[2 * 4096 + 1024];
    int used = snprintf(line, sizeof line, "attend%s%s: ", *command ? " " : "", command);
    va_list args;

    va_start(args, format);
    used += vsnprintf(line + used, sizeof line - (size_t)used - 1, format, args);
    va_end(args);

    size_t length = (size_t)used < sizeof line - 2 ? (size_t)used : sizeof line - 2;
    for (size_t i = 0; i < length; i++)
        if ((unsigned char)line[i] < 0x20 || line[i] == 0x7f)
            line[i] = '?';
    line[length] = '\n';
    fwrite(line, 1, length + 1, stderr);
    fflush(stderr);
    return status;
}

int tool_create_context(const char *command, const attend_options *options,
                        attend_context **ctx)
{
    attend_error err;
    const attend_status status = attend_context_create(ctx, options, &err);

    if (status == ATTEND_OK)
        return TOOL_OK;
    const char *const source = status == ATTEND_ENOMEM ? ""
                               : options->isa          ? "--isa: "
                               : getenv("ATTEND_ISA")  ? "ATTEND_ISA: "
                                                       : "";
    return tool_fail(command, tool_status(status), "%s%s", source, err.message);
}

int tool_status(attend_status status)
{
    return status == ATTEND_OK ? TOOL_OK
                               : (status == ATTEND_ENOMEM ? TOOL_FAILED : TOOL_USAGE);
}

int tool_finish_output(const char *command, int status)
{
    if (fflush(stdout) == 0 && !ferror(stdout))
        return status;
    const int reason = errno;
    /* A failure already reported keeps its one line. */
    if (status != TOOL_OK)
        return status;
    return tool_fail(command, TOOL_FAILED, "standard output: %s", strerror(reason));
}

json_t *tool_json_real(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

json_t *tool_json_string(const char *text)
{
    json_t *string = json_string(text);

    if (string)
        return string;
    char *ascii = strdup(text);
    if (!ascii)
        return NULL;
    for (char *c = ascii; *c; c++)
        if ((unsigned char)*c > 0x7f)
            *c = '?';
    string = json_string(ascii);
    free(ascii);
    return string;
}

int tool_put_json(const char *command, json_t *object)
{
    char *text = object ? json_dumps(object, JSON_REAL_PRECISION(12)) : NULL;

    json_decref(object);
    if (!text)
        return tool_fail(command, TOOL_FAILED, "out of memory for the JSON output");
    puts(text);
    free(text);
    return TOOL_OK;
}

int tool_print_json(const char *command, json_t *object)
{
    const int status = tool_put_json(command, object);

    return status ? status : tool_finish_output(command, TOOL_OK);
}

void *tool_zeros(int64_t count, size_t size)
{
    return (uint64_t)count < SIZE_MAX ? calloc((size_t)count + 1, size) : NULL;
}

double tool_seconds(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

void tool_progress_start(tool_progress *progress, const char *what)
{
    *progress = (tool_progress){
        .what = what, .started = tool_seconds(), .enabled = isatty(STDERR_FILENO)};
}

void tool_progress_update(void *user, int64_t done, int64_t total)
{
    tool_progress *const progress = user;
    const double now = progress->enabled ? tool_seconds() : 0;
    const double elapsed = now - progress->started;

    if (!progress->enabled || elapsed < 2.0 || now - progress->shown < 0.2 || total <= 0)
        return;
    const double share = (double)done / (double)total;
    fprintf(stderr, "\r%s: %3.0f%%, %.0f s", progress->what, 100 * share, elapsed);
    if (done > 0)
        fprintf(stderr, ", about %.0f s left", elapsed * (1 - share) / share);
    fputs("\033[K", stderr);
    fflush(stderr);
    progress->shown = now;
}

void tool_progress_finish(tool_progress *progress)
{
    if (progress->shown > 0) {
        fputs("\r\033[K", stderr);
        fflush(stderr);
    }
    progress->shown = 0;
    progress->enabled = 0;
}

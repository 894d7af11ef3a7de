/* SPDX-License-Identifier: MIT */
#define _POSIX_C_SOURCE 200809L

#include "tool.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void (*tool_failure_taker)(const char *line, size_t length);

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
    if (tool_failure_taker) {
        tool_failure_taker(line, length + 1);
        return status;
    }
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
                               : options->device       ? "--device: "
                               : options->isa          ? "--isa: "
                               : getenv("ATTEND_ISA")  ? "ATTEND_ISA: "
                                                       : "";
    return tool_fail(command, tool_status(status), "%s%s", source, err.message);
}

int tool_choose_threads(const char *command, int *threads)
{
    attend_options options = attend_options_default();
    attend_context *ctx;

    options.threads = *threads;
    const int status = tool_create_context(command, &options, &ctx);
    if (!status)
        *threads = attend_context_threads(ctx);
    attend_context_destroy(ctx);
    return status;
}

int tool_status(attend_status status)
{
    if (status == ATTEND_OK)
        return TOOL_OK;
    return status == ATTEND_ENOMEM || status == ATTEND_ECOMM ? TOOL_FAILED : TOOL_USAGE;
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

void tool_print_timing(double seconds, const attend_context *ctx)
{
    const int threads = attend_context_threads(ctx);

    printf("%.3g s, %s, %d thread%s\n", seconds, attend_context_isa(ctx), threads,
           threads == 1 ? "" : "s");
}

void tool_print_cell(double value)
{
    if (isfinite(value))
        printf(" %12.6g", value);
    else
        printf(" %12s", "-");
}

void tool_print_wrapped(const char *text, int indent)
{
    tool_write_wrapped(stdout, text, indent);
}

void tool_write_wrapped(FILE *out, const char *text, int indent)
{
    enum { WIDTH = 88 };
    int column = indent;

    while (*text) {
        const int word = (int)strcspn(text, " ");
        if (column > indent && column + 1 + word > WIDTH) {
            fprintf(out, "\n%*s", indent, "");
            column = indent;
        }
        column += fprintf(out, "%s%.*s", column > indent ? " " : "", word, text);
        text += word;
        text += strspn(text, " ");
    }
    fputc('\n', out);
}

void *tool_zeros(int64_t count, size_t size)
{
    return (uint64_t)count < SIZE_MAX ? calloc((size_t)count + 1, size) : NULL;
}

volatile sig_atomic_t tool_stop;

static void on_signal(int number)
{
    (void)number;
    tool_stop = 1;
}

void tool_catch_stop(void)
{
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = (int)SA_RESETHAND};

    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

/* SPDX-License-Identifier: MIT */
#include "lab/measure/session.h"

#include <stdarg.h>
#include <stdio.h>
#include <time.h>

int lab_fail(struct lab_session *session, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vsnprintf(session->error, sizeof session->error, format, args);
    va_end(args);
    return -1;
}

int lab_misuse(struct lab_session *session, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vsnprintf(session->error, sizeof session->error, format, args);
    va_end(args);
    session->refused = 1;
    return -1;
}

int lab_stopped(const struct lab_session *session)
{
    return session->stop && *session->stop;
}

void lab_report_progress(const struct lab_session *session, int64_t done, int64_t total)
{
    if (session->progress)
        session->progress(session->user, done < total ? done : total, total);
}

double lab_now(void)
{
    struct timespec now;

    timespec_get(&now, TIME_UTC);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

void lab_expect(struct lab_session *session, double seconds)
{
    void (*const slow)(void *user, double seconds) = session->slow;

    if (session->estimate)
        *session->estimate += seconds;
    if (!slow || !(seconds > LAB_LONG))
        return;
    session->slow = NULL;
    slow(session->user, seconds);
}

attend_context *lab_context(struct lab_session *session, int threads)
{
    attend_options options = attend_options_default();
    attend_context *ctx;
    attend_error err;

    options.threads = threads;
    if (attend_context_create(&ctx, &options, &err) != ATTEND_OK)
        lab_fail(session, "%s", err.message);
    return ctx;
}

/* SPDX-License-Identifier: MIT */
#include "lab/measure/session.h"

#include <stdarg.h>
#include <stdio.h>

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

attend_context *lab_context(struct lab_session *session)
{
    attend_options options = attend_options_default();
    attend_context *ctx;
    attend_error err;

    options.threads = session->threads;
    if (attend_context_create(&ctx, &options, &err) != ATTEND_OK)
        lab_fail(session, "%s", err.message);
    return ctx;
}

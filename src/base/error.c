/* SPDX-License-Identifier: MIT */
#include "base/error.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>

attend_status attendi_fail(attend_error *err, attend_status status, const char *format,
                           ...)
{
    if (err) {
        va_list args;

        err->status = status;
        va_start(args, format);
        vsnprintf(err->message, sizeof err->message, format, args);
        va_end(args);
        /* What a caller passed in may hold anything; the message stays one line. */
        for (char *c = err->message; *c; c++)
            if (iscntrl((unsigned char)*c))
                *c = '?';
    }
    return status;
}

const char *attend_status_name(attend_status status)
{
    switch (status) {
    case ATTEND_OK:
        return "ATTEND_OK";
    case ATTEND_EINVAL:
        return "ATTEND_EINVAL";
    case ATTEND_ENOMEM:
        return "ATTEND_ENOMEM";
    case ATTEND_EUNSUPPORTED:
        return "ATTEND_EUNSUPPORTED";
    case ATTEND_ETOOBIG:
        return "ATTEND_ETOOBIG";
    case ATTEND_ECOMM:
        return "ATTEND_ECOMM";
    case ATTEND_ECANCELLED:
        return "ATTEND_ECANCELLED";
    case ATTEND_EBUSY:
        return "ATTEND_EBUSY";
    }
    return "unknown status";
}

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

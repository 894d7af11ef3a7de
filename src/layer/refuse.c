/* SPDX-License-Identifier: MIT */
#include "layer/refuse.h"

#include <stdarg.h>
#include <stdio.h>

attend_status attendi_layer_refuse(attend_error *err, attend_status status,
                                   const char *format, ...)
{
    if (err != NULL) {
        va_list args;

        err->status = status;
        va_start(args, format);
        vsnprintf(err->message, sizeof err->message, format, args);
        va_end(args);
    }
    return status;
}

/* SPDX-License-Identifier: MIT */
/* The only way to fail: status and words leave together, so they cannot disagree. */
#ifndef ATTEND_BASE_ERROR_H
#define ATTEND_BASE_ERROR_H

#include "attend/attend.h"

/* Fills *err, if there is one, and returns `status`. */
__attribute__((format(printf, 3, 4))) attend_status
attendi_fail(attend_error *err, attend_status status, const char *format, ...);

/* For messages: an int64_t as printf's %lld takes it. */
#define LL(x) ((long long)(x))

/* Returns from the caller with the status of a call that failed. */
#define TRY(call)                                                                        \
    do {                                                                                 \
        const attend_status tried = (call);                                              \
        if (tried != ATTEND_OK)                                                          \
            return tried;                                                                \
    } while (0)

#endif

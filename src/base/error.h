/* SPDX-License-Identifier: MIT */
/* The only way to fail: sets status and message together, so that they agree. */
#ifndef ATTEND_BASE_ERROR_H
#define ATTEND_BASE_ERROR_H

#include "attend/attend.h"

/*
 * Fills *err, if not NULL, and returns `status`.  A message about an argument begins with
 * its path, as in "q.size[2] (5) ...", from which attend_error.field is set.
 */
__attribute__((format(printf, 3, 4))) attend_status
attendi_fail(attend_error *err, attend_status status, const char *format, ...);

/* Sets the field and the member at the start of `path`; none if it names no field. */
void attendi_set_field(attend_error *err, const char *path);
/* attend_field_name(). */
const char *attendi_field_name(attend_field field);

/* An int64_t for printf's %lld. */
#define LL(x) ((long long)(x))

/* Returns the status of `call` if it failed. */
#define TRY(call)                                                                        \
    do {                                                                                 \
        const attend_status tried = (call);                                              \
        if (tried != ATTEND_OK)                                                          \
            return tried;                                                                \
    } while (0)

#endif

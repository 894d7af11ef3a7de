/* SPDX-License-Identifier: MIT */
/* How public functions of the laboratory fail: status and words leave together. */
#ifndef ATTEND_LAYER_REFUSE_H
#define ATTEND_LAYER_REFUSE_H

#include "attend/attend.h"

/* Fills *err, if there is one, and returns `status`. */
__attribute__((format(printf, 3, 4))) attend_status
attendi_layer_refuse(attend_error *err, attend_status status, const char *format, ...);

/* Returns from the caller with the status of a call that failed. */
#define TRY(call)                                                                        \
    do {                                                                                 \
        const attend_status tried = (call);                                              \
        if (tried != ATTEND_OK)                                                          \
            return tried;                                                                \
    } while (0)

#endif

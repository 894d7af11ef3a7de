/* SPDX-License-Identifier: MIT */
/* How functions of libattend_mpi fail: the status and its message are set together. */
#ifndef ATTEND_MPI_FAIL_H
#define ATTEND_MPI_FAIL_H

#include "attend/mpi.h"

#define LL(x) ((long long)(x))

/* Fills *err, if there is one, and returns `status`. */
__attribute__((format(printf, 3, 4))) attend_status
attendi_mpi_fail(attend_error *err, attend_status status, const char *format, ...);

/* ATTEND_OK for MPI_SUCCESS, else ATTEND_ECOMM with MPI's error string. */
attend_status attendi_mpi_result(int result, attend_error *err);

/* Returns from the caller with the status of a call that failed. */
#define TRY(call)                                                                        \
    do {                                                                                 \
        const attend_status tried = (call);                                              \
        if (tried != ATTEND_OK)                                                          \
            return tried;                                                                \
    } while (0)
#define TRY_MPI(call) TRY(attendi_mpi_result((call), err))

#endif

/* SPDX-License-Identifier: MIT */
#include "mpi/comm/mpi_fail.h"

#include <stdarg.h>
#include <stdio.h>

attend_status attendi_mpi_fail(attend_error *err, attend_status status,
                               const char *format, ...)
{
    if (err) {
        va_list args;

        err->status = status;
        va_start(args, format);
        vsnprintf(err->message, sizeof err->message, format, args);
        va_end(args);
    }
    return status;
}

attend_status attendi_mpi_result(int result, attend_error *err)
{
    char text[MPI_MAX_ERROR_STRING] = "";
    int length;

    if (result == MPI_SUCCESS)
        return ATTEND_OK;
    MPI_Error_string(result, text, &length);
    return attendi_mpi_fail(err, ATTEND_ECOMM, "MPI: %.200s", text);
}

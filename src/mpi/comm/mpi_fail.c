/* SPDX-License-Identifier: MIT */
#include "mpi/comm/mpi_fail.h"

attend_status attendi_mpi_result(int result, attend_error *err)
{
    char text[MPI_MAX_ERROR_STRING] = "";
    int length;

    if (result == MPI_SUCCESS)
        return ATTEND_OK;
    MPI_Error_string(result, text, &length);
    return attendi_fail(err, ATTEND_ECOMM, "MPI: %.200s", text);
}

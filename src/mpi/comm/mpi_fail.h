/* SPDX-License-Identifier: MIT */
/* Errors of MPI as errors of the library; base/error.h. */
#ifndef ATTEND_MPI_FAIL_H
#define ATTEND_MPI_FAIL_H

#include "attend/mpi.h"
#include "base/error.h"

/* ATTEND_OK for MPI_SUCCESS, else ATTEND_ECOMM with MPI's error string. */
attend_status attendi_mpi_result(int result, attend_error *err);

#define TRY_MPI(call) TRY(attendi_mpi_result((call), err))

#endif

/* SPDX-License-Identifier: MIT */
/*
 * What a program needs that opens libattend_mpi at run time, without a type of MPI: the
 * ranks that a launcher started, and calls on all of them.  All but close and abort are
 * collective, and return ATTEND_OK or, the same on all ranks, another status.
 */
#ifndef ATTEND_MPI_SESSION_H
#define ATTEND_MPI_SESSION_H

#include "attend/mpi_dist.h"
#include "attend/stats.h"

/* Changes with this struct. */
#define ATTEND_MPI_SESSION_VERSION 1

struct mpi_session {
    int version;
    /* MPI_Init_thread() with MPI_THREAD_FUNNELED, and the world. */
    attend_status (*open)(int *rank, int *ranks, attend_error *err);
    void (*close)(void);
    /* Ends all ranks. */
    void (*abort)(int status);
    /*
     * The lowest rank whose status is not 0, -1 if none; *status and `text` of `size`
     * bytes become those of that rank.
     */
    int (*agree)(int *status, char *text, size_t size);
    /* `bytes` from rank 0 to all. */
    attend_status (*broadcast)(void *data, size_t bytes, attend_error *err);
    /* Of `count` items, rank r has set those with index % ranks == r: all get all. */
    attend_status (*share)(void *items, size_t size, int count, attend_error *err);
    attend_status (*forward)(attend_context *ctx, const attend_rule *rule,
                             const attend_io *io, const attend_mpi_dist *dist,
                             attend_error *err);
    attend_status (*inspect)(attend_context *ctx, const attend_rule *rule,
                             const attend_inspection *inspection,
                             const attend_mpi_dist *dist, attend_error *err);
    /*
     * Rows (b, h, own rows, d), as the ranges say, to rank 0, whose `to` has all of them;
     * elsewhere `to` is not looked at.
     */
    attend_status (*collect)(const attend_mpi_range *ranges, int64_t count,
                             const attend_view *from, const attend_tensor *to,
                             attend_error *err);
    /* attend_mpi_slice() and attend_mpi_zigzag(). */
    attend_mpi_range (*slice)(int64_t all, int rank, int ranks);
    void (*zigzag)(int64_t all, int rank, int ranks, attend_mpi_range ranges[2]);
    /* Seconds; and all ranks have come here. */
    double (*meet)(void);
};

/* The only symbol that has to be looked up. */
ATTEND_API const struct mpi_session *attend_mpi_session(void);

#endif

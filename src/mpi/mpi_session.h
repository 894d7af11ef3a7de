/* SPDX-License-Identifier: MIT */
/*
 * Function table for a program that opens libattend_mpi at run time and does not include
 * mpi.h: the ranks that a launcher started, and collective calls on them.  All functions
 * except close and abort are collective.  Those that return a status return the same on
 * all ranks.
 */
#ifndef ATTEND_MPI_SESSION_H
#define ATTEND_MPI_SESSION_H

#include "attend/mpi_dist.h"
#include "attend/stats.h"

/* To be increased whenever this struct changes. */
#define ATTEND_MPI_SESSION_VERSION 1

struct mpi_session {
    int version;
    /* MPI_Init_thread() with MPI_THREAD_FUNNELED; rank and size of MPI_COMM_WORLD. */
    attend_status (*open)(int *rank, int *ranks, attend_error *err);
    void (*close)(void);
    /* MPI_Abort(): ends all ranks. */
    void (*abort)(int status);
    /*
     * Returns the lowest rank whose status is not 0, or -1.  *status and `text`, of
     * `size` bytes, become those of that rank.
     */
    int (*agree)(int *status, char *text, size_t size);
    /* `bytes` bytes from rank 0 to all. */
    attend_status (*broadcast)(void *data, size_t bytes, attend_error *err);
    /*
     * Item x of `count` was set by rank x % ranks.  Afterwards every rank has all items.
     */
    attend_status (*allgather)(void *items, size_t size, int count, attend_error *err);
    attend_status (*forward)(attend_context *ctx, const attend_rule *rule,
                             const attend_io *io, const attend_mpi_dist *dist,
                             attend_error *err);
    attend_status (*inspect)(attend_context *ctx, const attend_rule *rule,
                             const attend_inspection *inspection,
                             const attend_mpi_dist *dist, attend_error *err);
    /*
     * Gathers rows (b, h, local rows, d) on rank 0, whose `to` has the whole sequence;
     * `to` of other ranks is not read.
     */
    attend_status (*gather_rows)(const attend_mpi_range *ranges, int64_t count,
                                 const attend_view *from, const attend_tensor *to,
                                 attend_error *err);
    /* attend_mpi_slice() and attend_mpi_zigzag(). */
    attend_mpi_range (*slice)(int64_t all, int rank, int ranks);
    void (*zigzag)(int64_t all, int rank, int ranks, attend_mpi_range ranges[2]);
    /* A barrier; returns MPI_Wtime(). */
    double (*barrier)(void);
};

/* The only symbol to look up. */
ATTEND_API const struct mpi_session *attend_mpi_session(void);

#endif

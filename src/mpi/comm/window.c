/* SPDX-License-Identifier: MIT */
#define _POSIX_C_SOURCE 200809L
#include "mpi/comm/window.h"

#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>

#include "mpi/comm/polite.h"

/* Where the memory comes from, by default, with both MPIs. */
#define SHARED_FOLDER "/dev/shm"

/* ATTEND_MPI_SHARED=0, of tests: ranks as if each were on a machine of its own. */
static bool is_forbidden(void)
{
    const char *const text = getenv("ATTEND_MPI_SHARED");

    return text && strcmp(text, "0") == 0;
}

int attendi_comm_is_local(MPI_Comm comm, bool *is_local)
{
    MPI_Comm node;
    int ranks, here, mine, all = 0;
    int result = MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);

    *is_local = false;
    if (result != MPI_SUCCESS)
        return result;
    MPI_Comm_size(comm, &ranks);
    MPI_Comm_size(node, &here);
    MPI_Comm_free(&node);
    mine = ranks == here && !is_forbidden();
    result = attendi_allreduce_min(&mine, &all, comm);
    *is_local = result == MPI_SUCCESS && all;
    return result;
}

bool attendi_window_fits(const struct window *window, int64_t bytes)
{
    struct statvfs space;

    /* A page that there is no room for would end the process when it is touched. */
    return bytes <= window->bytes ||
           (statvfs(SHARED_FOLDER, &space) == 0 &&
            (double)bytes * 1.05 + 1e6 < (double)space.f_bavail * (double)space.f_frsize);
}

int attendi_window_reserve(struct window *window, MPI_Comm comm, int64_t bytes)
{
    int rank, unit;

    if (bytes <= window->bytes)
        return MPI_SUCCESS;
    attendi_window_close(window);
    MPI_Comm_rank(comm, &rank);
    MPI_Aint size = rank == 0 ? (MPI_Aint)bytes : 0;
    int result = MPI_Win_allocate_shared(size, 1, MPI_INFO_NULL, comm, &window->memory,
                                         &window->win);
    if (result != MPI_SUCCESS)
        return result;
    window->bytes = bytes;
    MPI_Win_set_errhandler(window->win, MPI_ERRORS_RETURN);
    result = MPI_Win_shared_query(window->win, 0, &size, &unit, &window->memory);
    return result != MPI_SUCCESS ? result
                                 : MPI_Win_lock_all(MPI_MODE_NOCHECK, window->win);
}

void attendi_window_sync(const struct window *window) { MPI_Win_sync(window->win); }

void attendi_window_close(struct window *window)
{
    if (window->bytes == 0)
        return;
    MPI_Win_unlock_all(window->win);
    MPI_Win_free(&window->win);
    window->bytes = 0;
}

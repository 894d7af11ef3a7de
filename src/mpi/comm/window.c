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

bool attendi_window_fits(int64_t bytes)
{
    struct statvfs space;

    /* A page that there is no room for would end the process when it is touched. */
    return statvfs(SHARED_FOLDER, &space) == 0 &&
           (double)bytes * 1.05 + 1e6 < (double)space.f_bavail * (double)space.f_frsize;
}

static int open_window(struct window *window, const struct team *team, int64_t bytes)
{
    MPI_Aint size = team->rank == 0 ? (MPI_Aint)bytes : 0;
    int unit, result = MPI_Win_allocate_shared(size, 1, MPI_INFO_NULL, team->comm,
                                               &window->memory, &window->win);

    if (result != MPI_SUCCESS)
        return result;
    window->is_open = true;
    MPI_Win_set_errhandler(window->win, MPI_ERRORS_RETURN);
    result = MPI_Win_shared_query(window->win, 0, &size, &unit, &window->memory);
    return result != MPI_SUCCESS ? result
                                 : MPI_Win_lock_all(MPI_MODE_NOCHECK, window->win);
}

attend_status attendi_window_open(struct window *window, struct team *team, int64_t bytes,
                                  attend_error *err)
{
    *window = (struct window){.is_open = false};
    const attend_status status =
        attendi_mpi_result(open_window(window, team, bytes), err);
    return attendi_team_agree(team, status, err);
}

void attendi_window_sync(const struct window *window) { MPI_Win_sync(window->win); }

void attendi_window_close(struct window *window)
{
    if (!window->is_open)
        return;
    MPI_Win_unlock_all(window->win);
    MPI_Win_free(&window->win);
    window->is_open = false;
}

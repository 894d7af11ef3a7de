/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE /* memfd_create */
#include "mpi/comm/shared_memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/base.h"
#include "mpi/comm/communicator.h"
#include "mpi/comm/wait.h"

/*
 * A file without a name that rank 0 has open: its process, descriptor, device and inode.
 * descriptor < 0: there is none.
 */
struct handle {
    int64_t process, descriptor, device, inode;
};
enum { HANDLE_NUMBERS = sizeof(struct handle) / sizeof(int64_t) };

/* ATTEND_MPI_SHARED=0 makes ranks behave as if each were on its own machine. */
static bool is_forbidden(void)
{
    const char *const text = getenv("ATTEND_MPI_SHARED");

    return text && strcmp(text, "0") == 0;
}

int attendi_comm_shares_memory(MPI_Comm comm, bool *shares_memory)
{
    MPI_Comm node;
    int ranks, here, mine, all = 0;
    int result = MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);

    *shares_memory = false;
    if (result != MPI_SUCCESS)
        return result;
    MPI_Comm_size(comm, &ranks);
    MPI_Comm_size(node, &here);
    MPI_Comm_free(&node);
    mine = ranks == here && !is_forbidden();
    result = attendi_allreduce_min(&mine, &all, comm);
    *shares_memory = result == MPI_SUCCESS && all;
    return result;
}

static attend_status fail(attend_error *err, const char *what, int64_t bytes, int reason)
{
    return attendi_fail(err, ATTEND_ENOMEM, "shared memory of %lld bytes: %s: %s",
                        LL(bytes), what, strerror(reason));
}

/*
 * Whether RLIMIT_FSIZE allows a file of this size.  Exceeding it would kill the process.
 */
static bool is_allowed(int64_t bytes)
{
    struct rlimit most;

    return getrlimit(RLIMIT_FSIZE, &most) != 0 || most.rlim_cur == RLIM_INFINITY ||
           (rlim_t)bytes <= most.rlim_cur;
}

/* Whether `file` is the one of the handle. */
static bool is_same(int file, const struct handle *handle)
{
    struct stat found;

    return fstat(file, &found) == 0 && (int64_t)found.st_dev == handle->device &&
           (int64_t)found.st_ino == handle->inode;
}

/*
 * Creates memory that is reachable by descriptors only, so that it is freed when all
 * ranks have ended. -1: failure.
 */
static int create(struct handle *handle, int64_t bytes)
{
    struct stat made;

    if (!is_allowed(bytes)) {
        errno = EFBIG;
        return -1;
    }
#ifdef __linux__
    const int file = memfd_create("attend", MFD_CLOEXEC);
#else
    const int file = -1;
    errno = ENOSYS;
#endif
    if (file < 0)
        return -1;
    if (ftruncate(file, (off_t)bytes) != 0 || fstat(file, &made) != 0) {
        const int reason = errno;

        close(file);
        errno = reason;
        return -1;
    }
    *handle = (struct handle){.process = getpid(),
                              .descriptor = file,
                              .device = (int64_t)made.st_dev,
                              .inode = (int64_t)made.st_ino};
    return file;
}

/*
 * Opens the memory of rank 0. -1: not possible, for instance from a container with its
 * own process numbers.
 */
static int open_handle(const struct handle *handle)
{
    char path[64];

    snprintf(path, sizeof path, "/proc/%lld/fd/%lld", LL(handle->process),
             LL(handle->descriptor));
    const int file = open(path, O_RDWR | O_CLOEXEC);
    if (file >= 0 && !is_same(file, handle)) {
        close(file);
        errno = ENXIO;
        return -1;
    }
    return file;
}

/*
 * Allocates this rank's share of the pages, so that lack of memory is found before their
 * use.
 */
static int allocate_pages(int file, const struct communicator *comm, int64_t bytes)
{
    const int64_t part = ceil_div_i64(bytes, comm->size);
    const int64_t first = min_i64(part * comm->rank, bytes);
    const int64_t count = min_i64(part, bytes - first);

    return count > 0 ? posix_fallocate(file, (off_t)first, (off_t)count) : 0;
}

static attend_status map(struct shared_memory *shared, int file,
                         const struct communicator *comm, int64_t bytes,
                         attend_error *err)
{
    const int reason = is_allowed(bytes) ? allocate_pages(file, comm, bytes) : EFBIG;

    if (reason != 0)
        return fail(err, "no pages", bytes, reason);
    void *const memory =
        mmap(NULL, (size_t)bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (memory == MAP_FAILED)
        return fail(err, "mmap", bytes, errno);
    shared->memory = memory;
    shared->bytes = bytes;
    return ATTEND_OK;
}

attend_status attendi_shared_memory_reserve(struct shared_memory *shared,
                                            struct communicator *comm, int64_t bytes,
                                            attend_error *err)
{
    struct handle handle = {.descriptor = -1};
    int file = -1;

    if (bytes <= shared->bytes)
        return ATTEND_OK;
    attendi_shared_memory_close(shared);
    if (comm->rank == 0)
        file = create(&handle, bytes);
    int reason = errno;
    TRY_MPI(attendi_broadcast(&handle, HANDLE_NUMBERS, MPI_INT64_T, 0, comm->mpi));
    if (comm->rank > 0 && handle.descriptor >= 0) {
        file = open_handle(&handle);
        reason = errno;
    }
    attend_status status = file < 0 ? fail(err, "not opened", bytes, reason)
                                    : map(shared, file, comm, bytes, err);
    status = attendi_comm_agree(comm, status, err);
    if (file >= 0)
        close(file);
    if (status != ATTEND_OK)
        attendi_shared_memory_close(shared);
    return status;
}

void attendi_shared_memory_close(struct shared_memory *shared)
{
    if (shared->bytes > 0)
        munmap(shared->memory, (size_t)shared->bytes);
    shared->bytes = 0;
}

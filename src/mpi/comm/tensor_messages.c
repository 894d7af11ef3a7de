/* SPDX-License-Identifier: MIT */
#include "mpi/comm/tensor_messages.h"

#include "base/base.h"

/* Several heads are sent as one message up to this size. */
enum { SHORT_BYTES = 128 << 10 };

struct block {
    int64_t size[4];
};

/*
 * Number of indices of an axis that fit in `left` elements, with `each` elements per
 * index.
 */
static int64_t fit(int64_t left, int64_t each, int64_t places)
{
    return max_i64(1, min_i64(left / max_i64(each, 1), places));
}

/*
 * The largest block.  It spans several indices of an axis only if it spans the whole next
 * axis.
 */
static struct block block_of(const struct communicator *comm, const int64_t size[4],
                             attend_dtype dtype)
{
    const int64_t bytes = (int64_t)attend_dtype_size(dtype);
    const int64_t most = max_i64(1, comm->message_bytes / bytes);
    const int64_t few = min_i64(most, SHORT_BYTES / bytes);
    struct block block = {{1, 1, 1, fit(most, 1, size[3])}};

    if (block.size[3] == size[3])
        block.size[2] = fit(most, size[3], size[2]);
    if (block.size[2] == size[2] && block.size[3] == size[3])
        block.size[1] = fit(few, size[2] * size[3], size[1]);
    if (block.size[1] == size[1] && block.size[2] == size[2])
        block.size[0] = fit(few, size[1] * size[2] * size[3], size[0]);
    return block;
}

int64_t attendi_tensor_messages_count(const struct communicator *comm,
                                      const int64_t size[4], attend_dtype dtype)
{
    const struct block block = block_of(comm, size, dtype);
    int64_t count = 1;

    for (int a = 0; a < 4; a++)
        count *= ceil_div_i64(size[a], block.size[a]);
    return count;
}

static int64_t block_elements(const struct block *block)
{
    return block->size[0] * block->size[1] * block->size[2] * block->size[3];
}

/* Whether the elements of a block are contiguous. */
static bool is_dense(const attend_view *view, const struct block *block)
{
    int64_t step = 1;

    for (int a = 3; a >= 0; a--) {
        if (block->size[a] > 1 && view->stride[a] != step)
            return false;
        step *= block->size[a];
    }
    return true;
}

/* An MPI datatype for a block that is not contiguous. */
static int make_type(const attend_view *view, const struct block *block,
                     MPI_Datatype *type)
{
    const int bytes = (int)attend_dtype_size(view->dtype);
    int result = MPI_Type_contiguous(bytes, MPI_BYTE, type);

    for (int a = 3; a >= 0 && result == MPI_SUCCESS; a--) {
        MPI_Datatype inner = *type;

        if (block->size[a] == 1)
            continue;
        result = MPI_Type_create_hvector((int)block->size[a], 1,
                                         (MPI_Aint)view->stride[a] * bytes, inner, type);
        MPI_Type_free(&inner);
    }
    return result == MPI_SUCCESS ? MPI_Type_commit(type) : result;
}

static int send_block(const struct communicator *comm, const attend_view *view,
                      const struct block *block, const void *data, int peer,
                      MPI_Request *request)
{
    MPI_Datatype type;

    if (is_dense(view, block))
        return MPI_Isend(
            data, (int)(block_elements(block) * (int64_t)attend_dtype_size(view->dtype)),
            MPI_BYTE, peer, TAG_CHUNK, comm->mpi, request);
    int result = make_type(view, block, &type);
    if (result != MPI_SUCCESS)
        return result;
    result = MPI_Isend(data, 1, type, peer, TAG_CHUNK, comm->mpi, request);
    MPI_Type_free(&type);
    return result;
}

/* Posts the block at `at`, which is shorter at the end of the tensor. */
static int post_block(const struct communicator *comm, const attend_view *view,
                      struct block block, const int64_t at[4], int peer, bool sends,
                      MPI_Request *request)
{
    const int64_t bytes = (int64_t)attend_dtype_size(view->dtype);
    int64_t offset = 0;

    for (int a = 0; a < 4; a++) {
        block.size[a] = min_i64(block.size[a], view->size[a] - at[a]);
        offset += at[a] * view->stride[a];
    }
    char *const data = (char *)(uintptr_t)view->data + offset * bytes;
    return sends ? send_block(comm, view, &block, data, peer, request)
                 : MPI_Irecv(data, (int)(block_elements(&block) * bytes), MPI_BYTE, peer,
                             TAG_CHUNK, comm->mpi, request);
}

/* Moves `at` to the next block; false after the last. */
static bool step(int64_t at[4], const attend_view *view, const struct block *block)
{
    for (int a = 3; a >= 0; a--) {
        at[a] += block->size[a];
        if (at[a] < view->size[a])
            return true;
        at[a] = 0;
    }
    return false;
}

int attendi_tensor_messages_post(const struct communicator *comm, const attend_view *view,
                                 int peer, bool sends, MPI_Request *requests, int *count)
{
    const struct block block = block_of(comm, view->size, view->dtype);
    int64_t at[4] = {0, 0, 0, 0};

    for (int a = 0; a < 4; a++)
        if (view->size[a] == 0)
            return MPI_SUCCESS;
    do {
        const int result =
            post_block(comm, view, block, at, peer, sends, &requests[*count]);

        if (result != MPI_SUCCESS)
            return result;
        ++*count;
    } while (step(at, view, &block));
    return MPI_SUCCESS;
}

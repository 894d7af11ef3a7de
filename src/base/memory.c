/* SPDX-License-Identifier: MIT */
#include "base/memory.h"

#include <stdlib.h>

#include "base/base.h"

static void *libc_alloc(void *user, size_t alignment, size_t size)
{
    (void)user;
    if (size > SIZE_MAX - alignment)
        return NULL;
    /* aligned_alloc requires a size that is a multiple of the alignment. */
    return aligned_alloc(alignment, (size + alignment - 1) & ~(alignment - 1));
}

static void libc_free(void *user, void *memory)
{
    (void)user;
    free(memory);
}

struct allocator attendi_allocator_default(void)
{
    return (struct allocator){.alloc = libc_alloc, .free = libc_free};
}

void *attendi_allocate(const struct allocator *a, size_t size)
{
    return a->alloc(a->user, ATTENDI_ALIGN, size);
}

void attendi_release(const struct allocator *a, void *memory)
{
    if (memory)
        a->free(a->user, memory);
}

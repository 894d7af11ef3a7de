/* SPDX-License-Identifier: MIT */
/* Allocation by the host's hooks or the C library. */
#ifndef ATTEND_BASE_MEMORY_H
#define ATTEND_BASE_MEMORY_H

#include "attend/attend.h"

struct allocator {
    attend_alloc alloc;
    attend_free free;
    void *user;
};

/* The C library's aligned allocation. */
struct allocator attendi_allocator_default(void);

/* `size` > 0 bytes aligned to ATTENDI_ALIGN, or NULL. */
void *attendi_allocate(const struct allocator *a, size_t size);
/* NULL is allowed. */
void attendi_release(const struct allocator *a, void *memory);

#endif

/* SPDX-License-Identifier: MIT */
#include "counting.h"

#include "problems.h"

static void *counting_alloc(void *user, size_t alignment, size_t size)
{
    counting *const c = user;
    const int number = c->calls++;

    if (size == 0 || alignment == 0 || (alignment & (alignment - 1)) != 0)
        c->misused = 1;
    if (c->fail_at >= 0 && (number == c->fail_at || (c->sticky && number > c->fail_at))) {
        c->refused++;
        return NULL;
    }
    if (c->live == BLOCKS_MAX) {
        c->misused = 1;
        return NULL;
    }
    const size_t rounded = (size + alignment - 1) / alignment * alignment;
    void *const memory =
        aligned_alloc(alignment < sizeof(void *) ? sizeof(void *) : alignment, rounded);
    if (memory != NULL) {
        memset(memory, 0xff, rounded);
        c->block[c->live++] = memory;
    }
    return memory;
}

static void counting_free(void *user, void *memory)
{
    counting *const c = user;

    for (int at = 0; at < c->live; at++)
        if (c->block[at] == memory) {
            c->block[at] = c->block[--c->live];
            free(memory);
            return;
        }
    c->misused = 1;
}

attend_options counting_options(counting *c, const char *isa, int threads)
{
    attend_options options = options_for(isa, threads);

    options.alloc = counting_alloc;
    options.free = counting_free;
    options.alloc_user = c;
    return options;
}

/* SPDX-License-Identifier: MIT */
/* How much work there is, how many workers it deserves, and in which order they go. */
#ifndef ATTEND_CPU_SCHEDULE_H
#define ATTEND_CPU_SCHEDULE_H

#include <stdbool.h>

#include "cpu/dispatch/kernels.h"

struct schedule {
    struct tiling tiling;
    int workers;
    bool by_weight; /* items are so large that their weight alone decides their order */
};

/*
 * The cut for up to `threads` workers, fewer where waking them would cost more.
 * `split_always`: every split is an item of its own, even for one worker.
 */
struct schedule attendi_schedule(const struct problem *p, const struct kernels *k,
                                 int threads, bool split_always);

/* Fills order[0 .. count - 1] with the items: heads together, the heaviest first. */
void attendi_schedule_order(const struct schedule *s, const struct problem *p,
                            int32_t *order);

/* Workers for an inspection of so many items, probes included. */
int attendi_inspect_workers(const struct problem *p, int64_t items, int threads);

#endif

/* SPDX-License-Identifier: MIT */
/* Work estimate, number of workers, and order of items. */
#ifndef ATTEND_CPU_SCHEDULE_H
#define ATTEND_CPU_SCHEDULE_H

#include <stdbool.h>

#include "cpu/dispatch/kernels.h"

struct schedule {
    struct tiling tiling;
    int workers;
    bool by_weight; /* items are large: order by weight, regardless of heads */
};

/*
 * Tiling for up to `threads` workers; fewer if waking them would cost more.
 * `split_always`: every split is an item, even for one worker.
 */
struct schedule attendi_schedule(const struct problem *p, const struct kernels *k,
                                 int threads, bool split_always);

/* Fills order[0 .. count - 1] with the indices of the items. */
void attendi_schedule_order(const struct schedule *s, const struct problem *p,
                            int32_t *order);

/* Estimated work of a problem, in ns of one worker. */
double attendi_schedule_ns(const struct problem *p, const struct kernels *k);
/* Number of workers for `ns` of work in `items` items: at least one. */
int attendi_workers(double ns, int64_t items, int threads);
/* Number of workers for an inspection pass, with its probes. */
int attendi_inspect_workers(const struct problem *p, int64_t items, int threads);

#endif

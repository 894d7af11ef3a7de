/* SPDX-License-Identifier: MIT */
#include "core/schedule.h"

#include <stdbool.h>

#include "base/base.h"

/*
 * A worker's rough speed, from below: multiply-adds where arithmetic rules, elements of
 * K and V read where memory does.  Only the choice of workers rests on it.
 */
#define FLOPS_PER_NS 60.0
#define ELEMENTS_PER_NS 6.0
/* Waking a worker costs some microseconds: it should find this much to do. */
#define WORKER_NS 25e3

/* Items for each worker where rows allow: enough to even out, few enough to share. */
enum { ITEMS_PER_WORKER = 8, ITEMS_LEAST = 4 };

enum { BUCKETS = 64 };

static double item_ns(const struct problem *p, int64_t rows, int64_t keys)
{
    const double elements = (double)keys * (double)(p->d + p->dv);

    return 2 * (double)rows * elements / FLOPS_PER_NS + elements / ELEMENTS_PER_NS;
}

static double all_ns(const struct problem *p, const struct tiling *t)
{
    double ns = 0;

    for (int64_t x = 0; x < t->count; x++) {
        const struct tile tile = attendi_tile(t, x);
        ns += item_ns(p, tile.rows, attendi_tile_keys(p, &tile));
    }
    return ns;
}

static int workers_for(const struct problem *p, const struct tiling *t, int threads)
{
    /* With every key seen: cheap to know, and often answer enough. */
    const double most =
        (double)t->count * item_ns(p, t->item_rows, min_i64(t->split_keys, p->nk));

    if (threads == 1 || most < 2 * WORKER_NS)
        return 1;
    const double deserved = all_ns(p, t) / WORKER_NS;
    return deserved < 2 ? 1 : (int)min_i64(min_i64(threads, t->count),
                                           deserved < 4096 ? (int64_t)deserved : 4096);
}

struct schedule attendi_schedule(const struct problem *p, const struct kernels *k,
                                 int threads)
{
    const int64_t tile_rows = k->tile_rows(p->dtype);
    const int64_t tiles = attendi_tiling(p, tile_rows, 0).count;
    const int64_t wanted = tiles / (ITEMS_PER_WORKER * (int64_t)threads);
    const int64_t per_item =
        threads == 1 ? k->tiles_max : max_i64(1, min_i64(wanted, k->tiles_max));
    const bool split = threads > 1 && k->split_keys > 0 && !p->weights.data &&
                       tiles < ITEMS_LEAST * (int64_t)threads;
    struct schedule s = {
        .tiling = attendi_tiling(p, tile_rows * per_item, split ? k->split_keys : 0)};

    s.workers = s.tiling.count == 0 ? 0 : workers_for(p, &s.tiling, threads);
    if (s.workers == 1 && s.tiling.splits > 1)
        s.tiling = attendi_tiling(p, tile_rows * k->tiles_max, 0);
    return s;
}

/* Items fall into buckets by their keys, the fullest first, in order within each. */
void attendi_schedule_order(const struct schedule *s, const struct problem *p,
                            int32_t *order)
{
    int64_t start[BUCKETS + 1] = {0};
    const int64_t most = max_i64(1, p->nk);

    for (int pass = 0; pass < 2; pass++) {
        for (int64_t x = 0; x < s->tiling.count; x++) {
            const struct tile tile = attendi_tile(&s->tiling, x);
            const double keys = (double)attendi_tile_keys(p, &tile);
            const int bucket =
                (int)((1.0 - keys / (double)most) * (BUCKETS - 1) + 0.5);

            if (pass == 0)
                start[bucket + 1]++;
            else
                order[start[bucket]++] = (int32_t)x;
        }
        for (int b = 0; b < BUCKETS && pass == 0; b++)
            start[b + 1] += start[b];
    }
}

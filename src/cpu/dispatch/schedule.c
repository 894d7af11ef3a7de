/* SPDX-License-Identifier: MIT */
#include "cpu/dispatch/schedule.h"

#include <stdbool.h>

#include "base/base.h"
#include "core/shard.h"

/*
 * A worker's rough speed, from below: multiply-adds where arithmetic rules, elements of
 * K and V read where memory does.  Only the number of workers depends on it.
 */
#define FLOPS_PER_NS 60.0
#define ELEMENTS_PER_NS 6.0
/*
 * What a worker should find to do.  To give work to one that spins costs less than 1 us,
 * to wake one that sleeps 10 to 14: on two threads 15e3 took 25 us instead of 34 for 12
 * heads of 24 x 24 with d = 64 when they spun, and 24 instead of 11 for 8 rows over 192
 * keys when they slept.
 */
#define WORKER_NS 25e3

/*
 * Items for each worker where rows allow: enough to even out, few enough to share.  Where
 * every row sees the same keys there is less to even out: with 16 workers on tile
 * registers, d = 128, 4 measured 3.7 to 4.4 TFLOP/s and 8 measured 3.4 to 3.8.
 */
enum { ITEMS_PER_WORKER = 8, EVEN_ITEMS_PER_WORKER = 4, ITEMS_LEAST = 4 };
/*
 * Workers of unlike speed end together where items shrink, but smaller ones than this
 * many tiles share too little; where a worker has this many items, one more or less of
 * them is little.
 */
enum { SHRUNK_TILES = 4, MANY_ITEMS = 16 };

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
        const struct work_item item = attendi_work_item(t, x);
        ns += item_ns(p, item.rows, attendi_item_keys(p, &item));
    }
    return ns;
}

/* As many of `threads` as items of so much work deserve, at least one. */
static int workers_of(double ns, int64_t items, int threads)
{
    const double deserved = ns / WORKER_NS;

    return deserved < 2 ? 1
                        : (int)min_i64(min_i64(threads, items),
                                       deserved < 4096 ? (int64_t)deserved : 4096);
}

static int workers_for(const struct problem *p, const struct tiling *t, int threads)
{
    /* With every key seen: cheap to know, and often answer enough. */
    const double most =
        (double)t->count * item_ns(p, t->item_rows, min_i64(t->split_keys, p->nk));

    if (threads == 1 || most < 2 * WORKER_NS)
        return 1;
    return workers_of(all_ns(p, t), t->count, threads);
}

/* Whether every row of every batch sees as many keys as any other, mask aside. */
static bool rows_are_alike(const struct problem *p)
{
    return p->causal == ATTEND_CAUSAL_NONE && p->window_left < 0 && p->window_right < 0 &&
           !p->key_lengths;
}

/* Tiles of an item where each worker is to have so many items. */
static int64_t tiles_of_item(int64_t tiles, int64_t tiles_max, int threads, int64_t items)
{
    return threads == 1
               ? tiles_max
               : max_i64(1, min_i64(tiles / (items * (int64_t)threads), tiles_max));
}

/*
 * The tiles of the largest item where those of `per_item` tiles make room for items twice
 * as large and others of half their size and less; 0: they stay as they are.
 */
static int64_t shrinking_tiles(const struct problem *p, int64_t tiles, int64_t per_item,
                               int64_t tiles_max, int threads)
{
    int64_t largest = SHRUNK_TILES;

    if (tiles < 4 * per_item * p->nb * p->hkv)
        return 0;
    while (2 * largest <= min_i64(2 * per_item, tiles_max))
        largest *= 2;
    return tiles / largest < MANY_ITEMS * (int64_t)threads ? largest : 0;
}

/* Whether the splits of a problem are more than its records, or than one. */
static bool has_splits(const struct problem *p, const struct kernels *k)
{
    return k->split_keys > 0 && !p->weights.data && !p->stats.needs &&
           ceil_div_i64(p->nk, p->split_keys) > (p->shard ? p->shard->records : 1);
}

struct schedule attendi_schedule(const struct problem *p, const struct kernels *k,
                                 int threads, bool split_always)
{
    const int64_t tile_rows = k->tile_rows, tiles_max = k->tiles_max;
    const int64_t tiles = attendi_tiling(p, tile_rows, 0).count;
    const bool alike = rows_are_alike(p);
    const int64_t few = tiles_of_item(tiles, tiles_max, threads, EVEN_ITEMS_PER_WORKER);
    const bool large = threads > 1 && few > SHRUNK_TILES;
    const int64_t per_item =
        alike || large ? few : tiles_of_item(tiles, tiles_max, threads, ITEMS_PER_WORKER);
    /* Records are of unlike size. */
    const int64_t row_tiles = p->shard ? tiles / max_i64(1, p->shard->records) : tiles;
    const bool few_items = threads > 1 && row_tiles < ITEMS_LEAST * (int64_t)threads;
    const bool split = has_splits(p, k) && (few_items || split_always);
    const int64_t largest = alike && large && !split && !p->shard
                                ? shrinking_tiles(p, tiles, per_item, tiles_max, threads)
                                : 0;
    struct schedule s = {
        .tiling = attendi_tiling(p, tile_rows * (largest > 0 ? largest : per_item),
                                 split ? p->split_keys : 0),
        .by_weight = large && !alike};

    if (largest > 0)
        attendi_tiling_shrink(p, &s.tiling, tile_rows * SHRUNK_TILES);
    s.workers = s.tiling.count == 0 ? 0 : workers_for(p, &s.tiling, threads);
    if (s.workers == 1 && s.tiling.gathers && !split_always)
        s.tiling = attendi_tiling(p, tile_rows * tiles_max, 0);
    return s;
}

/* The bucket of `keys` of at most `most`: the fullest is 0. */
static int bucket_of(int64_t keys, int64_t most)
{
    return (int)((1.0 - (double)keys / (double)max_i64(1, most)) * (BUCKETS - 1) + 0.5);
}

/* Where each bucket begins, from how many fall into it. */
static void to_starts(int64_t counts[BUCKETS])
{
    int64_t start = 0;

    for (int b = 0; b < BUCKETS; b++) {
        const int64_t count = counts[b];
        counts[b] = start;
        start += count;
    }
}

static int64_t keys_of(const struct schedule *s, const struct problem *p, int64_t index)
{
    const struct work_item item = attendi_work_item(&s->tiling, index);

    return attendi_item_keys(p, &item);
}

/* The items first .. first + count - 1, the heaviest first. */
static void order_items(const struct schedule *s, const struct problem *p, int64_t first,
                        int64_t count, int32_t *order)
{
    int64_t start[BUCKETS] = {0};

    for (int64_t x = first; x < first + count; x++)
        start[bucket_of(keys_of(s, p, x), p->nk)]++;
    to_starts(start);
    for (int64_t x = first; x < first + count; x++)
        order[start[bucket_of(keys_of(s, p, x), p->nk)]++] = (int32_t)x;
}

/* The keys that the items of one head of batch b see: alike in all its heads. */
static int64_t batch_keys(const struct schedule *s, const struct problem *p, int64_t b)
{
    const int64_t count = s->tiling.items_per_head * s->tiling.splits;
    int64_t keys = 0;

    for (int64_t x = 0; x < count; x++)
        keys += keys_of(s, p, b * p->hkv * count + x);
    return keys;
}

/* Of items that shrink along the list: full ones head by head, then ever smaller ones. */
static void order_by_size(const struct tiling *t, int32_t *order)
{
    const int64_t heads = t->count / t->items_per_head, full = attendi_full_items(t);

    for (int64_t h = 0; h < heads; h++)
        for (int64_t x = 0; x < full; x++)
            *order++ = (int32_t)(h * t->items_per_head + x);
    for (int64_t x = full; x < t->items_per_head; x++)
        for (int64_t h = 0; h < heads; h++)
            *order++ = (int32_t)(h * t->items_per_head + x);
}

/*
 * Batches that see the most first, and within each head the items that do.  Heads stay
 * together, since their items share K and V in the cache; what comes last is light.
 */
void attendi_schedule_order(const struct schedule *s, const struct problem *p,
                            int32_t *order)
{
    const int64_t per_head = s->tiling.items_per_head * s->tiling.splits;
    const int64_t per_batch = per_head * p->hkv, most = s->tiling.items_per_head * p->nk;
    int64_t start[BUCKETS] = {0};

    if (s->tiling.least_rows < s->tiling.item_rows) {
        order_by_size(&s->tiling, order);
        return;
    }
    if (s->by_weight) {
        order_items(s, p, 0, s->tiling.count, order);
        return;
    }
    for (int64_t b = 0; b < p->nb; b++)
        start[bucket_of(batch_keys(s, p, b), most)]++;
    to_starts(start);
    for (int64_t b = 0; b < p->nb; b++) {
        const int64_t place = start[bucket_of(batch_keys(s, p, b), most)]++;

        for (int64_t h = 0; h < p->hkv; h++)
            order_items(s, p, b * per_batch + h * per_head, per_head,
                        order + place * per_batch + h * per_head);
    }
}

int attendi_inspect_workers(const struct problem *p, int64_t items, int threads)
{
    const struct inspection *s = p->inspection;
    const double ns = (double)(p->nb * p->hq) *
                      item_ns(p, s->queries_end - s->queries, s->keys.hi - s->keys.lo);

    return workers_of(ns + item_ns(p, 1, s->probe_count), items, threads);
}

/* SPDX-License-Identifier: MIT */
#include "cpu/dispatch/schedule.h"

#include <stdbool.h>

#include "base/base.h"
#include "core/shard.h"

/*
 * Lower estimates of a worker's speed: multiply-adds per ns if bound by arithmetic,
 * elements of K and V per ns if bound by memory.  Only the number of workers depends on
 * them.
 */
#define FLOPS_PER_NS 60.0
#define ELEMENTS_PER_NS 6.0
/*
 * Minimum work of a worker.  Assigning work to a spinning worker costs less than 1 us,
 * waking a sleeping one 10 to 14 us.  With 15e3, on two threads, 12 heads of 24 x 24 with
 * d = 64 took 25 us instead of 34 if workers were spinning, and 8 rows over 192 keys 24
 * instead of 11 if they slept.
 */
#define WORKER_NS 25e3

/*
 * Items per worker, if there are enough rows: enough to balance the load, few enough to
 * share packed keys.  If every row sees the same keys, fewer suffice: with 16 workers on
 * tile registers, d = 128, 4 gave 3.7 to 4.4 TFLOP/s and 8 gave 3.4 to 3.8.
 */
enum { ITEMS_PER_WORKER = 8, EVEN_ITEMS_PER_WORKER = 4, ITEMS_LEAST = 4 };
/*
 * Shrinking items balance workers of different speed.  Items below SHRUNK_TILES tiles
 * share too little; with MANY_ITEMS items per worker the load is balanced without it.
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

double attendi_schedule_ns(const struct problem *p, const struct kernels *k)
{
    const struct tiling t = attendi_tiling(p, k->tile_rows, 0);

    return all_ns(p, &t);
}

int attendi_workers(double ns, int64_t items, int threads)
{
    const double deserved = ns / WORKER_NS;

    return deserved < 2 ? 1
                        : (int)min_i64(min_i64(threads, items),
                                       deserved < 4096 ? (int64_t)deserved : 4096);
}

static int workers_for(const struct problem *p, const struct tiling *t, int threads)
{
    /* An upper bound, with every key visible: cheap, and often sufficient. */
    const double most =
        (double)t->count * item_ns(p, t->item_rows, min_i64(t->split_keys, p->nk));

    if (threads == 1 || most < 2 * WORKER_NS)
        return 1;
    return attendi_workers(all_ns(p, t), t->count, threads);
}

/* Whether all rows of all batches see the same number of keys, apart from the mask. */
static bool rows_are_alike(const struct problem *p)
{
    return p->causal == ATTEND_CAUSAL_NONE && p->window_left < 0 && p->window_right < 0 &&
           !p->key_lengths;
}

/* Tiles per item for `items` items per worker. */
static int64_t tiles_of_item(int64_t tiles, int64_t tiles_max, int threads, int64_t items)
{
    return threads == 1
               ? tiles_max
               : max_i64(1, min_i64(tiles / (items * (int64_t)threads), tiles_max));
}

/*
 * Tiles of the largest item of a list of shrinking items, up to twice `per_item`; 0:
 * items of equal size.
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

/* Whether a row has several splits, in a shard more splits than records. */
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
    /* Records differ in size. */
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

/* The bucket of `keys` <= `most`; bucket 0 has the most keys. */
static int bucket_of(int64_t keys, int64_t most)
{
    return (int)((1.0 - (double)keys / (double)max_i64(1, most)) * (BUCKETS - 1) + 0.5);
}

/* Replaces the count of each bucket by its start. */
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

/* Orders items first .. first + count - 1, the heaviest first. */
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

/* The keys that the items of one head of batch b see; all heads see the same. */
static int64_t batch_keys(const struct schedule *s, const struct problem *p, int64_t b)
{
    const int64_t count = s->tiling.items_per_head * s->tiling.splits;
    int64_t keys = 0;

    for (int64_t x = 0; x < count; x++)
        keys += keys_of(s, p, b * p->hkv * count + x);
    return keys;
}

/* Order of shrinking items: full ones head by head, then by descending size. */
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
 * Batches by descending number of keys, and so the items of each head, so that the last
 * items are short.  Items of a head stay together: they share K and V in the cache.
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

    return attendi_workers(ns + item_ns(p, 1, s->probe_count), items, threads);
}

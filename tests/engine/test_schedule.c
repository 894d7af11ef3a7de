/* SPDX-License-Identifier: MIT */
/*
 * Work items and their order, for the tile sizes of all kernel sets, including those of
 * tile registers.
 */
#include "cpu/dispatch/fold.h"
#include "cpu/dispatch/schedule.h"
#include "support/tensors.h"
#include "support/test.h"

enum { CORE = 400, DRAWN = 900 };

static int64_t below(uint64_t *random, int64_t n)
{
    return (int64_t)(random_unit(random) * (double)n);
}

static struct problem problem_of(uint64_t *random, const int64_t *key_lengths)
{
    static const int64_t queries[] = {1, 7, 64, 700, 3000, 12000};
    static const int64_t keys[] = {1, 70, 1024, 4096, 9000};
    struct problem p = {.nb = 1 + below(random, 4),
                        .hkv = 1 + below(random, 3),
                        .group = 1 + below(random, 3),
                        .nq = queries[below(random, 6)],
                        .nk = keys[below(random, 5)],
                        .d = 64,
                        .dv = 64,
                        .window_left = -1,
                        .window_right = -1,
                        .split_keys = ATTEND_SPLIT_KEYS};

    p.hq = p.hkv * p.group;
    p.all_keys = p.nk;
    if (random_unit(random) < 0.5)
        p.causal = ATTEND_CAUSAL_TOP_LEFT;
    if (random_unit(random) < 0.2)
        p.window_left = below(random, p.nk);
    if (random_unit(random) < 0.2)
        p.key_lengths = key_lengths;
    return p;
}

/* Every row of every list, with every key, is in one item. */
static int items_cover(const struct problem *p, const struct tiling *t)
{
    const int64_t lists = p->nb * p->hkv, rows = p->nq * p->group;
    auto_free int64_t *const keys = test_memory((size_t)(lists * rows) * sizeof *keys);
    int right = 1;

    memset(keys, 0, (size_t)(lists * rows) * sizeof *keys);
    for (int64_t x = 0; x < t->count; x++) {
        const struct work_item item = attendi_work_item(t, x);
        right &= item.rows > 0 && item.row + item.rows <= rows;
        right &= item.b * p->hkv + item.hk < lists;
        for (int64_t r = 0; right && r < item.rows; r++)
            keys[(item.b * p->hkv + item.hk) * rows + item.row + r] +=
                item.keys.hi - item.keys.lo;
    }
    for (int64_t x = 0; x < lists * rows; x++)
        right &= keys[x] == p->nk;
    return right;
}

/* The order is a permutation of the items; shrinking items are in order of size. */
static int order_is_whole(const struct problem *p, const struct schedule *s)
{
    const int64_t count = s->tiling.count;
    auto_free int32_t *const order = test_memory((size_t)(count + 1) * sizeof *order);
    auto_free unsigned char *const seen = test_memory((size_t)count);
    int64_t before = INT64_MAX;
    int right;

    memset(seen, 0, (size_t)count);
    order[count] = -1;
    attendi_schedule_order(s, p, order);
    right = order[count] == -1;
    for (int64_t x = 0; x < count && right; x++) {
        right = order[x] >= 0 && order[x] < count && !seen[order[x]];
        if (!right)
            break;
        seen[order[x]] = 1;
        const struct work_item item = attendi_work_item(&s->tiling, order[x]);
        if (s->tiling.least_rows < s->tiling.item_rows)
            right = item.rows <= before;
        before = item.rows;
    }
    return right;
}

TEST(items_cover_the_work_and_have_one_place_each)
{
    static const struct {
        int rows, most;
    } tiles[] = {{1, 1}, {4, 4}, {12, 4}, {32, 64}, {48, 4}};
    const int64_t key_lengths[] = {0, 3, 1, 1};
    struct {
        int shrunk, by_weight, split, one_worker, batches;
    } taken = {0};

    for (int64_t n = 0; n < CORE + test_count(DRAWN); n++) {
        uint64_t random = test_case_seed(n, CORE);
        const struct problem p = problem_of(&random, key_lengths);
        const int64_t tile = below(&random, 5);
        const struct kernels k = {.tile_rows = tiles[tile].rows,
                                  .tiles_max = tiles[tile].most,
                                  .split_keys = ATTEND_SPLIT_KEYS};
        const int threads = 1 + (int)below(&random, 9);
        const bool split_always = random_unit(&random) < 0.1;
        const struct schedule s = attendi_schedule(&p, &k, threads, split_always);
        const struct tiling *const t = &s.tiling;

        CHECK(s.workers >= 1 && s.workers <= threads && s.workers <= t->count,
              "case %lld: %d workers", (long long)n, s.workers);
        CHECK(t->item_rows <= k.tile_rows * k.tiles_max, "case %lld: items of %lld rows",
              (long long)n, (long long)t->item_rows);
        CHECK(!split_always || p.nk <= ATTEND_SPLIT_KEYS || t->gathers,
              "case %lld: not split", (long long)n);
        CHECK(items_cover(&p, t), "case %lld: rows or keys are missing", (long long)n);
        CHECK(order_is_whole(&p, &s), "case %lld: no order", (long long)n);
        taken.shrunk += t->least_rows < t->item_rows;
        taken.by_weight += s.by_weight && s.workers > 1;
        taken.split += t->gathers;
        taken.one_worker += s.workers == 1 && threads > 1;
        taken.batches += p.nb > 1 && p.key_lengths != NULL && s.workers > 1;
    }
    CHECK(taken.shrunk > 5 && taken.by_weight > 5 && taken.split > 5 &&
              taken.one_worker > 5 && taken.batches > 5,
          "shrunk %d, by weight %d, split %d, one worker %d, batches %d", taken.shrunk,
          taken.by_weight, taken.split, taken.one_worker, taken.batches);
}

/* ---- folded batches ------------------------------------------------------------- */

static int is_folded(struct problem p)
{
    attendi_fold_batches(&p);
    return p.nb == 1 && p.nq == 3 && p.q.size[2] == 3 && p.q.stride[2] == 8;
}

TEST(batches_that_share_keys_are_folded)
{
    static const double slopes[1] = {1};
    static const int64_t lengths[3] = {50, 50, 50};
    static double numbers[1];
    struct problem p = {
        .nb = 3,
        .hq = 1,
        .hkv = 1,
        .group = 1,
        .nq = 1,
        .nk = 50,
        .all_keys = 50,
        .d = 8,
        .dv = 8,
        .window_left = -1,
        .window_right = -1,
        .q = {.data = numbers, .size = {3, 1, 1, 8}, .stride = {8, 8, 8, 1}},
        .k = {.size = {3, 1, 50, 8}, .stride = {0, 400, 8, 1}},
        .v = {.size = {3, 1, 50, 8}, .stride = {0, 400, 8, 1}}};
    struct problem other = p;

    CHECK(is_folded(p), "one query each");
    other.k.stride[0] = 400;
    CHECK(!is_folded(other), "keys of their own");
    other = p;
    other.causal = ATTEND_CAUSAL_BOTTOM_RIGHT;
    CHECK(is_folded(other), "the last query sees all keys");
    other.window_left = 48;
    CHECK(!is_folded(other), "the window hides key 0");
    other.window_left = 49;
    CHECK(is_folded(other), "the window has all keys");
    other.causal = ATTEND_CAUSAL_TOP_LEFT;
    CHECK(!is_folded(other), "query 0 sees key 0 alone");
    other = p;
    other.alibi = slopes;
    CHECK(!is_folded(other), "distances depend on the position");
    other = p;
    other.key_lengths = lengths;
    CHECK(!is_folded(other), "lengths belong to batches");
    other = p;
    other.mask = (attend_view){.data = numbers, .stride = {0, 0, 0, 1}};
    CHECK(is_folded(other), "a mask of keys");
    other = p;
    other.nb = 1;
    other.q.size[0] = 1;
    CHECK(!is_folded(other), "one batch");
}

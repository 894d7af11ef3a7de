/* SPDX-License-Identifier: MIT */
#include "bench/bench_stats.h"

#include <stdlib.h>
#include <string.h>

/* The LSE first, where the inspection looks for it. */
static const attend_stat row_set[] = {
    ATTEND_STAT_LSE,   ATTEND_STAT_MAX,   ATTEND_STAT_ENTROPY, ATTEND_STAT_N_EFF,
    ATTEND_STAT_SINK1, ATTEND_STAT_SINK4, ATTEND_STAT_DISTANCE};
enum { ROW_SET = sizeof row_set / sizeof row_set[0], LSE_ALONE = 1, ROW_SET_TOP = 2 };

enum { DISTANCE_BINS = 18, CLASSES = 4 };
enum { MAP_BLOCK = 256 };

static void *take_host(void *of, size_t size)
{
    (void)of;
    return calloc(1, size);
}

static void free_host(void *of, void *block)
{
    (void)of;
    free(block);
}

static int copy_host(void *of, void *to, const void *from, size_t size)
{
    (void)of;
    memcpy(to, from, size);
    return 0;
}

const struct bench_memory bench_host_memory = {
    .take = take_host, .give_back = free_host, .copy_in = copy_host};

static void *take(struct bench_stats *stats, int64_t count, size_t size)
{
    void *const block = stats->memory.take(stats->memory.of, (size_t)count * size);

    stats->block[stats->blocks++] = block;
    stats->is_short |= !block;
    return block;
}

static attend_tensor floats(struct bench_stats *stats, int64_t nb, int64_t heads,
                            int64_t rows, int64_t columns)
{
    return attend_tensor_dense(take(stats, nb * heads * rows * columns, sizeof(float)),
                               ATTEND_F32, nb, heads, rows, columns);
}

static attend_tensor of_rows(const struct bench_case *shape, struct bench_stats *stats,
                             int64_t columns)
{
    return floats(stats, shape->nb, shape->hq, shape->nq, columns);
}

static void ask_columns(const struct bench_case *shape, const attend_stat *columns,
                        int count, struct bench_stats *stats)
{
    stats->request.columns = columns;
    stats->request.rows = of_rows(shape, stats, count);
}

static void ask_top(const struct bench_case *shape, int count, struct bench_stats *stats)
{
    stats->request.top_weights = of_rows(shape, stats, count);
    stats->request.top_keys =
        take(stats, shape->nb * shape->hq * shape->nq * count, sizeof(int64_t));
}

static void ask_classes(const struct bench_case *shape, struct bench_stats *stats)
{
    const int64_t count = shape->nb * shape->nk;
    int32_t *const classes = take(stats, count, sizeof *classes);
    int32_t *const values = malloc((size_t)count * sizeof *values);

    stats->request.class_mass = of_rows(shape, stats, CLASSES);
    stats->request.classes = classes;
    for (int64_t x = 0; values && x < count; x++)
        values[x] = (int32_t)(x % (CLASSES + 1)) - 1;
    stats->is_short |= !values || !classes ||
                       stats->memory.copy_in(stats->memory.of, classes, values,
                                             (size_t)count * sizeof *values);
    free(values);
}

static void ask(const struct bench_case *shape, struct bench_stats *stats)
{
    switch (shape->stats) {
    case BENCH_NONE:
    case BENCH_OFF:
        break;
    case BENCH_ROWS:
    case BENCH_MAP:
        ask_columns(shape, row_set, ROW_SET, stats);
        ask_top(shape, ROW_SET_TOP, stats);
        break;
    case BENCH_ALL:
        for (int c = 0; c < ATTEND_STAT_COUNT; c++)
            stats->all[c] = (attend_stat)c;
        ask_columns(shape, stats->all, ATTEND_STAT_COUNT, stats);
        ask_top(shape, ATTEND_TOP_MAX, stats);
        stats->request.distances = of_rows(shape, stats, DISTANCE_BINS);
        ask_classes(shape, stats);
        break;
    case BENCH_COLUMNS:
        ask_columns(shape, row_set, LSE_ALONE, stats);
        break;
    }
}

static void ask_inspection(const struct bench_case *shape, const attend_io *io,
                           struct bench_stats *stats)
{
    const attend_tensor *const rows = &stats->request.rows;
    const int64_t blocks = (shape->nq + MAP_BLOCK - 1) / MAP_BLOCK;
    const int64_t key_blocks = (shape->nk + MAP_BLOCK - 1) / MAP_BLOCK;

    stats->inspection.q = io->q;
    stats->inspection.k = io->k;
    stats->inspection.lse = attend_view_of(rows);
    stats->inspection.lse.size[3] = 1;
    if (shape->stats == BENCH_COLUMNS) {
        stats->inspection.column_mass = floats(stats, shape->nb, shape->hq, 1, shape->nk);
    } else if (shape->stats == BENCH_MAP) {
        stats->inspection.pooled =
            floats(stats, shape->nb, shape->hq, blocks, key_blocks);
        stats->inspection.pooled_block = MAP_BLOCK;
    }
}

int bench_stats_make(const struct bench_case *shape, const attend_io *io,
                     const struct bench_memory *memory, struct bench_stats *stats)
{
    *stats = (struct bench_stats){.memory = *memory,
                                  .request = attend_stats_default(),
                                  .inspection = attend_inspection_default()};
    ask(shape, stats);
    ask_inspection(shape, io, stats);
    return stats->is_short ? -1 : 0;
}

void bench_stats_free(struct bench_stats *stats)
{
    for (int x = 0; x < stats->blocks; x++)
        stats->memory.give_back(stats->memory.of, stats->block[x]);
    *stats = (struct bench_stats){.blocks = 0};
}

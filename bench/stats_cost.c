/* SPDX-License-Identifier: MIT */
/*
 * Cost of each statistic: percent over plain attention of the same f32 tensors,
 * non-causal, 2048 queries and keys, 16 heads of d = 64 and 8 of d = 128; for the
 * inspection pass, percent of a plain forward pass.  Calls alternate with plain
 * attention; the result is the median ratio of neighbouring calls. docs/STATISTICS.md
 * quotes the table.
 */
#include <attend/stats.h>

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { N = 2048, WIDTH = 1024, TURNS = 9, BINS = 18, CLASSES = 4, BLOCK = 256 };
enum { HEADS_MAX = 16, ROW_MAX = BINS };

/* Heads times d is WIDTH for both. */
static float q[N * WIDTH], k[N * WIDTH], v[N * WIDTH], out[N * WIDTH];
static float lse[HEADS_MAX * N], rows[HEADS_MAX * N * ROW_MAX];
static int64_t top_keys[HEADS_MAX * N * ATTEND_TOP_MAX];
static int32_t classes[N];
static attend_summary summaries[HEADS_MAX * ATTEND_SUMMARY_COUNT * ATTEND_SUMMARY_GROUPS];

static attend_context *ctx;
static attend_io io;

static void require(attend_status status, const attend_error *err)
{
    if (status != ATTEND_OK) {
        fprintf(stderr, "stats_cost: %s\n", err->message);
        exit(1);
    }
}

static double seconds(void)
{
    struct timespec now;

    timespec_get(&now, TIME_UTC);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static double time_forward(const attend_stats *stats)
{
    attend_error err = {.status = ATTEND_OK, .message = ""};
    const double start = seconds();

    io.stats = stats;
    require(attend_forward(ctx, NULL, &io, &err), &err);
    return seconds() - start;
}

static double time_second(const attend_inspection *second)
{
    attend_error err = {.status = ATTEND_OK, .message = ""};
    const double start = seconds();

    require(attend_inspect(ctx, NULL, second, &err), &err);
    return seconds() - start;
}

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/*
 * Percent over a plain forward pass; for an inspection pass (`stats` NULL), percent of
 * one.
 */
static double cost_of(const attend_stats *stats, const attend_inspection *second)
{
    double ratio[TURNS];

    for (int x = 0; x < TURNS; x++) {
        const double plain = time_forward(NULL);
        ratio[x] = (stats ? time_forward(stats) : time_second(second)) / plain;
    }
    qsort(ratio, TURNS, sizeof ratio[0], compare);
    return 100 * (ratio[TURNS / 2] - (stats ? 1 : 0));
}

static attend_tensor tensor(float *data, int64_t heads, int64_t length, int64_t width)
{
    return attend_tensor_dense(data, ATTEND_F32, 1, heads, length, width);
}

static attend_view view(const float *data, int64_t heads, int64_t length, int64_t width)
{
    return attend_view_dense(data, ATTEND_F32, 1, heads, length, width);
}

static void set_problem(int64_t heads)
{
    const int64_t d = WIDTH / heads;

    io = attend_io_default();
    io.q = view(q, heads, N, d);
    io.k = view(k, heads, N, d);
    io.v = view(v, heads, N, d);
    io.out = tensor(out, heads, N, d);
    io.lse = tensor(lse, heads, N, 1);
    time_forward(NULL);
    io.lse.data = NULL;
}

static double cost_of_stat(int what, int64_t heads)
{
    const attend_stat stat = (attend_stat)what;
    attend_stats stats = attend_stats_default();

    stats.columns = &stat;
    stats.rows = tensor(rows, heads, N, 1);
    return cost_of(&stats, NULL);
}

enum { TOP_2, TOP_8, DISTANCES, CLASS_MASS, SUMMARIES, OTHERS };
static const char *const other_names[OTHERS] = {"top 2", "top 8", "distances, 18 bins",
                                                "class mass, 4 classes", "summaries"};

static double cost_of_other(int what, int64_t heads)
{
    attend_stats stats = attend_stats_default();

    if (what == TOP_2 || what == TOP_8) {
        stats.top_weights = tensor(rows, heads, N, what == TOP_2 ? 2 : 8);
        stats.top_keys = top_keys;
    } else if (what == DISTANCES) {
        stats.distances = tensor(rows, heads, N, BINS);
    } else if (what == CLASS_MASS) {
        stats.class_mass = tensor(rows, heads, N, CLASSES);
        stats.classes = classes;
    } else {
        stats.summaries = summaries;
    }
    return cost_of(&stats, NULL);
}

enum { COLUMN_MASS, COLUMN_MAX, COLUMN_LAST, POOLED, SECONDS };
static const char *const second_names[SECONDS] = {"column mass", "column max",
                                                  "column mass of the last 64",
                                                  "pooled map, blocks of 256"};

static double cost_of_second(int what, int64_t heads)
{
    attend_inspection second = attend_inspection_default();
    const attend_tensor of_keys = tensor(rows, heads, 1, N);

    second.q = io.q;
    second.k = io.k;
    second.lse = view(lse, heads, N, 1);
    if (what == COLUMN_MASS)
        second.column_mass = of_keys;
    else if (what == COLUMN_MAX)
        second.column_max = of_keys;
    else if (what == COLUMN_LAST)
        second.column_last = of_keys;
    else
        second.pooled = tensor(rows, heads, N / BLOCK, N / BLOCK);
    second.last_queries = what == COLUMN_LAST ? 64 : 0;
    second.pooled_block = what == POOLED ? BLOCK : 0;
    return cost_of(NULL, &second);
}

static void print(const char *name, int what, double (*cost)(int what, int64_t heads))
{
    printf("| %s |", name);
    for (int64_t heads = 16; heads >= 8; heads /= 2) {
        set_problem(heads);
        printf(" %.1f %% |", cost(what, heads));
        fflush(stdout);
    }
    putchar('\n');
}

int main(void)
{
    attend_error err = {.status = ATTEND_OK, .message = ""};
    uint32_t state = 1;

    require(attend_context_create(&ctx, NULL, &err), &err);
    for (int x = 0; x < N * WIDTH; x++) {
        float *const to[] = {q, k, v};

        for (int t = 0; t < 3; t++) {
            state = state * 1664525u + 1013904223u;
            to[t][x] = ((float)(state >> 8) * 0x1p-23f - 1) * 1.7320508f;
        }
    }
    for (int j = 0; j < N; j++)
        classes[j] = j % (CLASSES + 1) - 1;
    printf("set %s, %d threads\n\n| | d64 | d128 |\n|---|--:|--:|\n",
           attend_context_isa(ctx), attend_context_threads(ctx));
    for (int stat = 0; stat < ATTEND_STAT_COUNT; stat++)
        print(attend_stat_name((attend_stat)stat), stat, cost_of_stat);
    for (int what = 0; what < OTHERS; what++)
        print(other_names[what], what, cost_of_other);
    for (int what = 0; what < SECONDS; what++)
        print(second_names[what], what, cost_of_second);
    attend_context_destroy(ctx);
    return 0;
}

/* SPDX-License-Identifier: MIT */
/*
 * attend_stats_merge: raw sums of parts of the keys, merged, are the statistics of all of
 * them.  Sums of one part give the very bits of the call that left them.
 */
#define _GNU_SOURCE
#include "support/problems.h"

enum { NB = 2, HQ = 4, HKV = 2, NQ = 5, NK = 300, D = 16, DV = 12, TOP = 4, BINS = 6 };
enum { CLASSES = 3, PARTS_MAX = 4, ROWS = NB * HQ * NQ };
enum { NUMBERS = ATTEND_STAT_COUNT + TOP + BINS + CLASSES };

static attend_stat all_columns[ATTEND_STAT_COUNT];
static int32_t classes[NB * NK];

/* Every statistic in double, and its raw sums. */
typedef struct wanted {
    attend_stats request;
    double rows[ROWS * ATTEND_STAT_COUNT], top[ROWS * TOP], bins[ROWS * BINS];
    double mass[ROWS * CLASSES];
    int64_t keys[ROWS * TOP];
    int32_t classes[NB * NK];
    attend_summary summaries[NB * HQ * ATTEND_SUMMARY_COUNT * ATTEND_SUMMARY_GROUPS];
    double *raw;
} wanted;

static attend_tensor doubles(double *data, int64_t columns)
{
    return attend_tensor_dense(data, ATTEND_F64, NB, HQ, NQ, columns);
}

static wanted *ask(void)
{
    wanted *const w = test_memory(sizeof *w);

    w->request = attend_stats_default();
    w->request.columns = all_columns;
    w->request.rows = doubles(w->rows, ATTEND_STAT_COUNT);
    w->request.top_weights = doubles(w->top, TOP);
    w->request.top_keys = w->keys;
    w->request.distances = doubles(w->bins, BINS);
    w->request.class_mass = doubles(w->mass, CLASSES);
    w->request.classes = w->classes;
    w->request.summaries = w->summaries;
    memcpy(w->classes, classes, sizeof classes);
    const int64_t size = attend_stats_raw_size(&w->request, DV);
    w->raw = test_memory((size_t)(ROWS * size) * sizeof *w->raw);
    w->request.raw = doubles(w->raw, size);
    return w;
}

static void release(wanted *w)
{
    free(w->raw);
    free(w);
}

/* Keys from .. to - 1 of the problem: every view cut, positions moved. */
static int run_part(attend_context *ctx, const problem *whole, int64_t from, int64_t to,
                    const int64_t *offset, wanted *w)
{
    const size_t size = attend_dtype_size(whole->dtype);
    attend_io io = whole->io;
    attend_rule rule = whole->rule;
    attend_error err = {.status = ATTEND_OK};
    int64_t moved[NB];

    for (int b = 0; b < NB; b++) {
        moved[b] = offset[b] - from;
        memcpy(w->classes + b * (to - from), classes + b * NK + from,
               (size_t)(to - from) * sizeof *classes);
    }
    rule.causal = ATTEND_CAUSAL_OFFSET;
    rule.causal_offset = moved;
    io.k.data = (const char *)io.k.data + (size_t)(from * D) * size;
    io.v.data = (const char *)io.v.data + (size_t)(from * DV) * size;
    io.k.size[2] = io.v.size[2] = to - from;
    io.stats = &w->request;
    if (attend_forward(ctx, &rule, &io, &err) == ATTEND_OK)
        return 1;
    test_fail(__FILE__, __LINE__, "attend_forward", "%s", err.message);
    return 0;
}

static attend_stats_part raw_of(const wanted *w, int64_t first_key)
{
    attend_stats_part part = {{w->raw, ATTEND_F64, {0}, {0}}, first_key};

    memcpy(part.raw.size, w->request.raw.size, sizeof part.raw.size);
    memcpy(part.raw.stride, w->request.raw.stride, sizeof part.raw.stride);
    return part;
}

static void compare_rows(const wanted *want, const wanted *got, double tolerance)
{
    for (int64_t r = 0; r < ROWS; r++)
        for (int x = 0; x < ATTEND_STAT_COUNT; x++) {
            const double a = want->rows[r * ATTEND_STAT_COUNT + x];
            const double b = got->rows[r * ATTEND_STAT_COUNT + x];

            if ((isnan(a) && isnan(b)) || a == b)
                continue;
            CHECK(fabs(a - b) <= tolerance * (1 + fabs(a)), "row %lld %s: %.9g and %.9g",
                  (long long)r, attend_stat_name((attend_stat)x), a, b);
        }
    for (int64_t at = 0; at < ROWS * TOP; at++) {
        CHECK(fabs(want->top[at] - got->top[at]) <= tolerance, "top %lld: %g and %g",
              (long long)at, want->top[at], got->top[at]);
        CHECK(want->keys[at] == got->keys[at], "top key %lld: %lld and %lld",
              (long long)at, (long long)want->keys[at], (long long)got->keys[at]);
    }
    for (int64_t at = 0; at < ROWS * BINS; at++)
        CHECK(fabs(want->bins[at] - got->bins[at]) <= tolerance, "bin %lld",
              (long long)at);
    for (int64_t at = 0; at < ROWS * CLASSES; at++)
        CHECK(fabs(want->mass[at] - got->mass[at]) <= tolerance, "class %lld",
              (long long)at);
}

static void parts_make_the_whole(attend_context *ctx)
{
    static const int64_t cuts[][PARTS_MAX + 1] = {
        {0, NK, -1}, {0, 128, NK, -1}, {0, 5, 131, 131, NK}, {0, 77, 150, 299, NK}};
    const int64_t offset[NB] = {NK - NQ - 3, 150};

    for (size_t c = 0; c < sizeof cuts / sizeof cuts[0]; c++)
        for (int type = 0; type < FLOAT_DTYPES; type++) {
            problem p =
                problem_make((shape){NB, HQ, HKV, NQ, NK, D, DV}, float_dtypes[type], 5);
            wanted *const want = ask(), *const got = ask(), *part[PARTS_MAX];
            attend_stats_part raw[PARTS_MAX];
            attend_error err = {.status = ATTEND_OK};
            int parts = 0;

            p.io.weights = (attend_tensor){0};
            if (!run_part(ctx, &p, 0, NK, offset, want))
                return;
            for (; parts < PARTS_MAX && cuts[c][parts] < NK; parts++) {
                part[parts] = ask();
                if (!run_part(ctx, &p, cuts[c][parts], cuts[c][parts + 1], offset,
                              part[parts]))
                    return;
                raw[parts] = raw_of(part[parts], cuts[c][parts]);
            }
            CHECK(attend_stats_merge(ctx, &got->request, DV, raw, parts, &err) ==
                      ATTEND_OK,
                  "%s", err.message);
            /* `ref` has its statistics from the formulas, and sums apart from them. */
            if (parts == 1 && strcmp(attend_context_isa(ctx), "ref") != 0) {
                CHECK(memcmp(want->rows, got->rows, sizeof want->rows) == 0,
                      "one part has other bits");
                CHECK(memcmp(want->summaries, got->summaries, sizeof want->summaries) ==
                          0,
                      "summaries of one part differ");
                CHECK(memcmp(want->keys, got->keys, sizeof want->keys) == 0, "top keys");
            }
            compare_rows(want, got, float_dtypes[type] == ATTEND_F64 ? 1e-10 : 2e-4);
            while (parts > 0)
                release(part[--parts]);
            release(want);
            release(got);
            problem_free(&p);
        }
}

TEST(parts_merge_to_the_whole) { for_each_set(parts_make_the_whole, 1); }
TEST(on_several_threads) { for_each_set(parts_make_the_whole, 3); }

TEST(wrong_parts_are_named)
{
    attend_context *const ctx = open_set("ref", 1);
    wanted *const w = ask();
    attend_stats_part part = raw_of(w, 0);
    attend_error err;

    CHECK(attend_stats_merge(ctx, &w->request, DV, &part, 0, &err) == ATTEND_EINVAL &&
              strstr(err.message, "count (0)"),
          "%s", err.message);
    part.first_key = 3;
    CHECK(attend_stats_merge(ctx, &w->request, DV, &part, 1, &err) == ATTEND_EINVAL &&
              strstr(err.message, "parts[0].first_key (3)"),
          "%s", err.message);
    part.first_key = 0;
    part.raw.size[3]--;
    CHECK(attend_stats_merge(ctx, &w->request, DV, &part, 1, &err) == ATTEND_EINVAL &&
              strstr(err.message, "parts[0].raw.size[3]"),
          "%s", err.message);
    part.raw.size[3]++;
    part.raw.dtype = ATTEND_F32;
    CHECK(attend_stats_merge(ctx, &w->request, DV, &part, 1, &err) == ATTEND_EINVAL &&
              strstr(err.message, "parts[0].raw.dtype (f32)"),
          "%s", err.message);
    CHECK(attend_stats_raw_size(NULL, DV) == 0, "no request");
    release(w);
    attend_context_destroy(ctx);
}

int main(void)
{
    for (int x = 0; x < ATTEND_STAT_COUNT; x++)
        all_columns[x] = (attend_stat)x;
    for (int x = 0; x < NB * NK; x++)
        classes[x] = x % 7 % 4 - 1;
    RUN(parts_merge_to_the_whole);
    RUN(on_several_threads);
    RUN(wrong_parts_are_named);
    return test_finish();
}

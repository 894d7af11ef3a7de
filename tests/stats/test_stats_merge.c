/* SPDX-License-Identifier: MIT */
/*
 * attend_stats_merge: merged raw sums of parts give the statistics of all keys; the sums
 * of one part give the bits of the call that made them.
 */
#include "stats_fixture.h"
#include "support/pools.h"

enum { NB = 2, HQ = 4, HKV = 2, NQ = 5, NK = 300, D = 16, DV = 12, TOP = 4, BINS = 6 };
enum {
    CLASSES = 3,
    PARTS_MAX = 4,
    SUMMARIES = ATTEND_SUMMARY_COUNT * ATTEND_SUMMARY_GROUPS
};
enum { SUMMARIES_SIZE = NB * HQ * SUMMARIES * sizeof(attend_summary) };

/* With summaries. */
static wanted ask(void)
{
    wanted w = wanted_make((shape){NB, HQ, HKV, NQ, NK, D, DV}, TOP, BINS, CLASSES);

    w.request.summaries = problem_own(&w.store, SUMMARIES_SIZE);
    return w;
}

/* Keys from .. to - 1 of the problem: sliced views, adjusted positions. */
static int run_part(attend_context *ctx, const problem *whole, int64_t from, int64_t to,
                    const int64_t *offset, wanted *w)
{
    attend_io io = whole->io;
    attend_rule rule = whole->rule;
    int64_t moved[NB];
    int32_t classes[NB * NK];

    for (int b = 0; b < NB; b++) {
        moved[b] = offset[b] - from;
        memcpy(classes + b * (to - from), w->request.classes + b * NK + from,
               (size_t)(to - from) * sizeof *classes);
    }
    rule.causal = ATTEND_CAUSAL_OFFSET;
    rule.causal_offset = moved;
    io.k = view_from(io.k, 0, 0, from);
    io.v = view_from(io.v, 0, 0, from);
    io.k.size[2] = io.v.size[2] = to - from;
    attend_stats request = w->request;
    request.classes = classes;
    io.stats = &request;
    return IS_OK(attend_forward, ctx, &rule, &io);
}

static attend_stats_part raw_of(const wanted *w, int64_t first_key)
{
    return (attend_stats_part){view_of_tensor(&w->request.raw), first_key};
}

static void compare_tensors(const attend_tensor *want, const attend_tensor *got,
                            double tolerance, int relative, const char *what)
{
    for (int64_t at = 0; at < count_of(want->size); at++) {
        const double a = check_load(want->data, ATTEND_F64, at);
        const double b = check_load(got->data, ATTEND_F64, at);
        const double scale = relative ? 1 + fabs(a) : 1;
        if ((isnan(a) && isnan(b)) || a == b)
            continue;
        CHECK(fabs(a - b) <= tolerance * scale, "row %lld %s %lld: %.9g and %.9g",
              (long long)(at / want->size[3]), what, (long long)(at % want->size[3]), a,
              b);
    }
}

static void compare(const wanted *w, const wanted *g, double tolerance)
{
    const attend_stats *const want = &w->request, *const got = &g->request;

    compare_tensors(&want->rows, &got->rows, tolerance, 1, "statistic");
    compare_tensors(&want->top_weights, &got->top_weights, tolerance, 0, "top");
    compare_tensors(&want->distances, &got->distances, tolerance, 0, "bin");
    compare_tensors(&want->class_mass, &got->class_mass, tolerance, 0, "class");
    for (int64_t at = 0; at < NB * HQ * NQ * TOP; at++)
        CHECK(want->top_keys[at] == got->top_keys[at], "top key %lld: %lld and %lld",
              (long long)at, (long long)want->top_keys[at], (long long)got->top_keys[at]);
}

static void parts_make_the_whole(attend_context *ctx)
{
    static const int64_t cuts[][PARTS_MAX + 1] = {
        {0, NK, -1}, {0, 128, NK, -1}, {0, 5, 131, 131, NK}, {0, 77, 150, 299, NK}};
    const int64_t offset[NB] = {NK - NQ - 3, 150};

    for (size_t c = 0; c < sizeof cuts / sizeof cuts[0]; c++)
        for (int type = 0; type < FLOAT_DTYPES; type++) {
            auto_problem p =
                problem_lean((shape){NB, HQ, HKV, NQ, NK, D, DV}, float_dtypes[type], 5);
            auto_wanted want = ask();
            auto_wanted got = ask();
            wanted part[PARTS_MAX];
            attend_stats_part raw[PARTS_MAX];
            int parts = 0;

            if (!run_part(ctx, &p, 0, NK, offset, &want))
                return;
            for (; parts < PARTS_MAX && cuts[c][parts] < NK; parts++) {
                part[parts] = ask();
                if (!run_part(ctx, &p, cuts[c][parts], cuts[c][parts + 1], offset,
                              &part[parts]))
                    return;
                raw[parts] = raw_of(&part[parts], cuts[c][parts]);
            }
            CHECK_OK(attend_stats_merge, ctx, &got.request, DV, raw, parts);
            /*
             * `ref` computes statistics by formulas, not from sums; a device has another
             * logarithm.
             */
            if (parts == 1 && strcmp(attend_context_isa(ctx), "ref") != 0 &&
                !on_device(ctx)) {
                CHECK(same_bits(&got.request.rows, want.request.rows.data, "rows"),
                      "one part has other bits");
                CHECK(memcmp(want.request.summaries, got.request.summaries,
                             SUMMARIES_SIZE) == 0,
                      "summaries of one part differ");
            }
            compare(&want, &got, float_dtypes[type] == ATTEND_F64 ? 1e-10 : 2e-4);
            while (parts > 0)
                wanted_free(&part[--parts]);
        }
}

TEST(parts_merge_to_the_whole) { for_each_set(parts_make_the_whole, 1); }
TEST(on_several_threads) { for_each_set(parts_make_the_whole, 3); }

TEST(progress_is_reported)
{
    auto_problem p = problem_lean((shape){NB, HQ, HKV, NQ, NK, D, DV}, ATTEND_F32, 5);
    const int64_t offset[NB] = {NK, NK};
    auto_wanted got = ask();
    auto_wanted part = ask();
    progress_log log = {.calls = 0};
    auto_context const lone = open_set(NULL, 1);
    auto_context const ctx = progress_context(NULL, 1, &log);

    CHECK(run_part(lone, &p, 0, NK, offset, &part), "no part");
    const attend_stats_part raw = raw_of(&part, 0);
    CHECK(IS_OK(attend_stats_merge, ctx, &got.request, DV, &raw, 1), "no");
    CHECK(progress_is_sound(&log, 1) && log.total == NB * HQ, "%d calls, %lld of %lld",
          log.calls, (long long)log.last, (long long)log.total);
}

/* The valid part after `wrong` is refused with field and value. */
#define REFUSES(field, value, count, wrong)                                              \
    do {                                                                                 \
        attend_stats_part r = part;                                                      \
        wrong;                                                                           \
        CHECK(is_refused(attend_stats_merge(ctx, &w.request, DV, &r, count, &err),       \
                         ATTEND_EINVAL, &err, field, value),                             \
              "%s", field);                                                              \
    } while (0)

TEST(wrong_parts_are_named)
{
    auto_context const ctx = open_set("ref", 1);
    auto_wanted w = ask();
    const attend_stats_part part = raw_of(&w, 0);
    attend_error err;

    REFUSES("count", "(0)", 0, (void)r);
    REFUSES("parts[0].first_key", "(3)", 1, r.first_key = 3);
    REFUSES("parts[0].raw.size[3]", "", 1, r.raw.size[3]--);
    REFUSES("parts[0].raw.dtype", "(f32)", 1, r.raw.dtype = ATTEND_F32);
    CHECK(attend_stats_raw_size(NULL, DV) == 0, "no request");
}

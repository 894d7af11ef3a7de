/* SPDX-License-Identifier: MIT */
/*
 * A program compiled with the header of 0.1 that runs on the current library.  Structs
 * end at an unreadable page, so that reads past struct_size fault.
 */
#define _GNU_SOURCE
#include "attend_0_1.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "support/test.h"

enum { HQ = 4, HKV = 2, NQ = 5, NK = 40, D = 8, DV = 6, SPLIT = 17 };

static float q[HQ][NQ][D], k[HKV][NK][D], v[HKV][NK][DV], bias[NQ][NK];
static unsigned char mask[NK];
static const double alibi[HQ] = {0.5, -0.25, 0.0, 0.125}, sinks[HQ] = {1, -2, 0.5, 3};
static const int64_t key_lengths[1] = {NK - 3}, causal_offset[1] = {30};

/* A copy of `size` bytes that ends at an unreadable page. */
static void *at_page_end(const void *from, size_t size)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char *const map =
        mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (map == MAP_FAILED || mprotect(map + page, page, PROT_NONE) != 0)
        exit(2);
    return memcpy(map + page - size, from, size);
}

static void fill(float *values, int count, int seed)
{
    for (int x = 0; x < count; x++)
        values[x] = (float)sin(1.7 * x + seed) * 1.5f;
}

static void fill_all(void)
{
    fill(&q[0][0][0], HQ * NQ * D, 1);
    fill(&k[0][0][0], HKV * NK * D, 2);
    fill(&v[0][0][0], HKV * NK * DV, 3);
    fill(&bias[0][0], NQ * NK, 4);
    for (int j = 0; j < NK; j++)
        mask[j] = j % 5 != 3;
}

/* Keys first .. first + n - 1 of all tensors. */
static attend_io io_of(int first, int n)
{
    attend_io io = attend_io_default();

    io.q = (attend_view){q, ATTEND_F32, {1, HQ, NQ, D}, {0, NQ * D, D, 1}};
    io.k = (attend_view){k[0][first], ATTEND_F32, {1, HKV, n, D}, {0, NK * D, D, 1}};
    io.v = (attend_view){v[0][first], ATTEND_F32, {1, HKV, n, DV}, {0, NK * DV, DV, 1}};
    return io;
}

static attend_tensor tensor(float *data, int columns)
{
    return (attend_tensor){data,
                           ATTEND_F32,
                           {1, HQ, NQ, columns},
                           {HQ * NQ * columns, NQ * columns, columns, 1}};
}

static attend_view view(const float *data, int columns)
{
    const attend_tensor t = tensor(NULL, columns);
    attend_view out = {data, ATTEND_F32, {0}, {0}};

    memcpy(out.size, t.size, sizeof out.size);
    memcpy(out.stride, t.stride, sizeof out.stride);
    return out;
}

/* Every field of the rule in use. */
static attend_rule full_rule(void)
{
    attend_rule rule = attend_rule_default();

    rule.scale_is_set = 1;
    rule.scale = 0.3;
    rule.softcap = 2.0;
    rule.causal = ATTEND_CAUSAL_OFFSET;
    rule.causal_offset = causal_offset;
    rule.window_left = 25;
    rule.window_right = 7;
    rule.key_lengths = key_lengths;
    rule.mask = (attend_view){mask, ATTEND_BOOL, {1, 1, 1, NK}, {0, 0, 0, 1}};
    rule.bias = (attend_view){bias, ATTEND_F32, {1, 1, NQ, NK}, {0, 0, NK, 1}};
    rule.alibi = alibi;
    rule.sinks = sinks;
    return rule;
}

/* Row (h, i) under full_rule(), or under no rule, in double. */
struct row {
    double p[NK], out[DV], lse, entropy; /* the entropy without the sink */
};

static struct row define(int ruled, int h, int i)
{
    const int g = h / (HQ / HKV), position = i + 30;
    struct row row = {.lse = -INFINITY};
    double s[NK], sum = 0, seen = 0;

    for (int j = 0; j < NK; j++) {
        double dot = 0;
        for (int c = 0; c < D; c++)
            dot += (double)q[h][i][c] * (double)k[g][j][c];
        s[j] = dot / sqrt(D);
        if (ruled)
            s[j] = 2.0 * tanh(0.3 * dot / 2.0) + (double)bias[i][j] +
                   alibi[h] * (j - position);
        if (ruled &&
            (j > position || j < position - 25 || j >= key_lengths[0] || !mask[j]))
            s[j] = -INFINITY;
        seen += exp(s[j]);
    }
    sum = seen + (ruled ? exp(sinks[h]) : 0);
    row.lse = log(sum);
    for (int j = 0; j < NK; j++) {
        row.p[j] = exp(s[j]) / sum;
        if (s[j] > -INFINITY)
            row.entropy -= exp(s[j]) / seen * (s[j] - log(seen));
        for (int c = 0; c < DV; c++)
            row.out[c] += row.p[j] * (double)v[g][j][c];
    }
    return row;
}

static int near(double got, double want) { return fabs(got - want) <= 2e-5; }

/* ---- hooks ---------------------------------------------------------------- */

struct calls {
    int allocs, frees, loops, reports;
};

static void *count_alloc(void *user, size_t alignment, size_t size)
{
    ((struct calls *)user)->allocs++;
    return aligned_alloc(alignment < sizeof(void *) ? sizeof(void *) : alignment,
                         (size + alignment - 1) / alignment * alignment);
}

static void count_free(void *user, void *memory)
{
    ((struct calls *)user)->frees++;
    free(memory);
}

static void count_loop(void *user, int n, void (*body)(void *arg, int w), void *arg)
{
    ((struct calls *)user)->loops++;
    for (int w = 0; w < n; w++)
        body(arg, w);
}

static void count_report(void *user, int64_t done, int64_t total)
{
    (void)done, (void)total;
    ((struct calls *)user)->reports++;
}

static attend_context *context_of(const attend_options *options)
{
    attend_context *ctx = NULL;
    attend_error err = {.message = ""};

    if (attend_context_create(&ctx, at_page_end(options, sizeof *options), &err) !=
        ATTEND_OK)
        test_fail(__FILE__, __LINE__, "a context of 0.1's options", "%s", err.message);
    return ctx;
}

/* ---- tests ---------------------------------------------------------------- */

TEST(options_are_understood)
{
    struct calls calls = {0, 0, 0, 0};
    attend_options options = attend_options_default();
    static float out[HQ][NQ][DV];
    attend_io io = io_of(0, NK);

    options.threads = 3;
    options.isa = "scalar";
    options.alloc = count_alloc;
    options.free = count_free;
    options.parallel_for = count_loop;
    options.progress = count_report;
    options.alloc_user = options.parallel_user = options.progress_user = &calls;
    attend_context *const ctx = context_of(&options);
    if (ctx == NULL)
        return;
    io.out = tensor(&out[0][0][0], DV);
    const attend_status status = attend_forward(ctx, NULL, &io, NULL);
    const int threads = attend_context_threads(ctx);
    const int scalar = strcmp(attend_context_isa(ctx), "scalar") == 0;
    attend_context_destroy(ctx);
    CHECK(status == ATTEND_OK && threads == 3 && scalar, "%d threads", threads);
    CHECK(calls.allocs > 0 && calls.allocs == calls.frees, "%d allocations, %d freed",
          calls.allocs, calls.frees);
    CHECK(calls.reports > 0, "no progress");
}

static void compare(int ruled, const float *out, const float *lse, const float *weights)
{
    for (int r = 0; r < HQ * NQ; r++) {
        const struct row want = define(ruled, r / NQ, r % NQ);
        for (int c = 0; c < DV; c++)
            CHECK(near((double)out[r * DV + c], want.out[c]), "row %d: %g, not %g", r,
                  (double)out[r * DV + c], want.out[c]);
        CHECK(near((double)lse[r], want.lse), "lse of row %d: %g, not %g", r,
              (double)lse[r], want.lse);
        for (int j = 0; weights != NULL && j < NK; j++)
            CHECK(near((double)weights[r * NK + j], want.p[j]),
                  "weight %d of row %d: %g, not %g", j, r, (double)weights[r * NK + j],
                  want.p[j]);
    }
}

TEST(forward_under_a_rule)
{
    static const attend_stat columns[] = {ATTEND_STAT_ENTROPY};
    static float out[HQ * NQ * DV], lse[HQ * NQ], weights[HQ * NQ * NK], entropy[HQ * NQ];
    const attend_options options = attend_options_default();
    const attend_rule rule = full_rule();
    attend_stats stats = attend_stats_default();
    attend_io io = io_of(0, NK);
    attend_error err = {.message = ""};

    attend_context *const ctx = context_of(&options);
    if (ctx == NULL)
        return;
    io.out = tensor(out, DV);
    io.lse = tensor(lse, 1);
    io.weights = tensor(weights, NK);
    stats.columns = columns;
    stats.rows = tensor(entropy, 1);
    io.stats = at_page_end(&stats, sizeof stats);
    const attend_status status = attend_forward(ctx, at_page_end(&rule, sizeof rule),
                                                at_page_end(&io, sizeof io), &err);
    attend_context_destroy(ctx);
    CHECK(status == ATTEND_OK, "%s", err.message);
    compare(1, out, lse, weights);
    for (int r = 0; r < HQ * NQ; r++) {
        const double want = define(1, r / NQ, r % NQ).entropy;
        CHECK(near((double)entropy[r], want), "entropy of row %d: %g, not %g", r,
              (double)entropy[r], want);
    }
}

TEST(merge_of_two_parts)
{
    static float out[3][HQ * NQ * DV], lse[3][HQ * NQ];
    const attend_options options = attend_options_default();
    attend_part parts[2];
    attend_error err = {.message = ""};
    attend_status status = ATTEND_OK;

    attend_context *const ctx = context_of(&options);
    if (ctx == NULL)
        return;
    for (int x = 0; x < 2 && status == ATTEND_OK; x++) {
        attend_io io = io_of(x * SPLIT, x ? NK - SPLIT : SPLIT);
        io.out = tensor(out[x], DV);
        io.lse = tensor(lse[x], 1);
        parts[x] = (attend_part){view(out[x], DV), view(lse[x], 1)};
        status = attend_forward(ctx, NULL, at_page_end(&io, sizeof io), &err);
    }
    attend_context_destroy(ctx);
    CHECK(status == ATTEND_OK, "%s", err.message);
    const attend_tensor whole = tensor(out[2], DV), whole_lse = tensor(lse[2], 1);
    status = attend_merge(at_page_end(parts, sizeof parts), 2, &whole, &whole_lse, &err);
    CHECK(status == ATTEND_OK, "%s", err.message);
    compare(0, out[2], lse[2], NULL);
}

/* Options with `size` as their size and `value` at offset `at`, of a later version. */
static attend_status create_sized(size_t size, size_t at, char value, attend_error *err)
{
    const attend_options options = attend_options_default();
    char bytes[1024] = {0};
    attend_context *ctx = NULL;

    memcpy(bytes, &options, sizeof options);
    memcpy(bytes, &size, sizeof size);
    bytes[at] = value;
    const attend_status status =
        attend_context_create(&ctx, at_page_end(bytes, size), err);
    attend_context_destroy(ctx);
    return status;
}

TEST(sizes_of_other_versions)
{
    attend_error err = {.message = ""};
    const size_t known = sizeof(attend_options);

    CHECK(create_sized(known, known, 0, &err) == ATTEND_OK, "0.1: %s", err.message);
    CHECK(create_sized(known - 8, known, 0, &err) == ATTEND_EINVAL, "less than 0.1");
    CHECK(create_sized(1000, known, 0, &err) == ATTEND_OK, "a tail of zeros: %s",
          err.message);
    CHECK(create_sized(1000, 992, 1, &err) == ATTEND_EUNSUPPORTED, "a tail in use");
    CHECK(strstr(err.message, "992") != NULL, "\"%s\" does not name the offset",
          err.message);
}

int main(void)
{
    fill_all();
    test_run_all();
    return test_finish();
}

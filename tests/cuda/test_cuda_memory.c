/* SPDX-License-Identifier: MIT */
/*
 * Features of GPUs: tensors in device memory, streams, CUDA graphs, workspaces; merging
 * of parts, records and raw sums in device memory.
 */
#include "support/device_memory.h"
#include "support/merging.h"

static void repeats(attend_order order, int64_t nq, int64_t nk, attend_causal causal)
{
    auto_context const ctx = device_context(order);
    auto_device_problem p = device_problem(2, 4, 2, nq, nk, 128);
    auto_free unsigned char *first = NULL;

    p.rule.causal = causal;
    const int count = repetitions(250);

    for (int x = 0; x < count; x++) {
        CHECK_OK(attend_forward, ctx, &p.rule, &p.io);
        if (x % 50 != 0 && x != count - 1)
            continue;
        CHECK_OK(attend_context_wait, ctx);
        unsigned char *const again = results(&p);
        if (first == NULL)
            first = again;
        else {
            CHECK(memcmp(first, again, p.out_size + p.lse_size) == 0,
                  "repeat %d has other bits", x);
            free(again);
        }
    }
    CHECK(guards_hold(p.out, p.out_size, 0xff) && guards_hold(p.lse, p.lse_size, 0xff),
          "a write beside a tensor");
}

DEVICE_TEST(every_repeat_has_the_same_bits)
{
    repeats(ATTEND_ORDER_SAME, 70, 3000, ATTEND_CAUSAL_BOTTOM_RIGHT);
    repeats(ATTEND_ORDER_FAST, 1000, 3000, ATTEND_CAUSAL_BOTTOM_RIGHT);
    repeats(ATTEND_ORDER_FAST, 1000, 1000, ATTEND_CAUSAL_NONE);
    repeats(ATTEND_ORDER_FAST, 1, 9000, ATTEND_CAUSAL_BOTTOM_RIGHT);
}

/* The reported workspace is enough, and a smaller one is refused. */
DEVICE_TEST(a_workspace_can_be_lent)
{
    auto_context const ctx = device_context(ATTEND_ORDER_SAME);
    auto_device_problem p = device_problem(1, 2, 2, 4, 20000, 64);
    attend_error err = {.message = ""};
    size_t bytes = 0;

    CHECK(device_run(ctx, &p.rule, &p.io), "forward");
    auto_free unsigned char *const want = results(&p);
    CHECK(attend_forward_workspace(ctx, &p.rule, &p.io, &bytes, &err) == ATTEND_OK &&
              bytes > 0,
          "%zu bytes: %s", bytes, err.message);
    const uintptr_t memory = device_block(bytes, 0x55);
    CHECK_OK(attend_context_set_workspace, ctx, (void *)memory, bytes - 1);
    CHECK(attend_forward(ctx, &p.rule, &p.io, &err) == ATTEND_ENOMEM, "too little");
    CHECK_OK(attend_context_set_workspace, ctx, (void *)memory, bytes);
    CHECK(device_run(ctx, &p.rule, &p.io), "forward");
    auto_free unsigned char *const got = results(&p);
    CHECK(memcmp(want, got, p.out_size + p.lse_size) == 0, "other bits");
    CHECK(guards_hold(memory, bytes, 0x55), "a write beside the workspace");
    device_free(memory);
}

/* Lengths and offsets in device memory are clamped. */
DEVICE_TEST(lengths_out_of_range_read_nothing_outside)
{
    for (int order = 0; order < 2; order++) {
        auto_context const ctx = device_context((attend_order)order);
        auto_device_problem p = device_problem(3, 2, 2, 40, 300, 64);
        const int64_t lengths[3] = {-5, 300, INT64_MAX};
        const int64_t offsets[3] = {INT64_MIN, 0, INT64_MAX};
        const uintptr_t on_device = device_block(2 * sizeof lengths, 0);

        CHECK(driver.copy_in(on_device, lengths, sizeof lengths) == 0 &&
                  driver.copy_in(on_device + sizeof lengths, offsets, sizeof offsets) ==
                      0,
              "no copy");
        p.rule.key_lengths = (const int64_t *)on_device;
        p.rule.causal = ATTEND_CAUSAL_OFFSET;
        p.rule.causal_offset = (const int64_t *)(on_device + sizeof lengths);
        CHECK(device_run(ctx, &p.rule, &p.io), "forward");
        auto_free unsigned char *const got = results(&p);
        int empty = 1;
        for (size_t x = 0; x < p.out_size / 3; x++)
            empty &= got[x] == 0;
        CHECK(empty, "rows that see nothing are not 0");
        driver.release(on_device - GUARD);
    }
}

DEVICE_TEST(a_graph_captures_a_repeated_call)
{
    static const int64_t rows[] = {300, 1};
    for (int x = 0; x < 4; x++) {
        auto_context const ctx =
            device_context(x / 2 ? ATTEND_ORDER_FAST : ATTEND_ORDER_SAME);
        auto_device_problem p = device_problem(1, 4, 2, rows[x % 2], 2500, 64);
        void *stream, *graph, *exec;

        p.rule.causal = ATTEND_CAUSAL_BOTTOM_RIGHT;
        CHECK(driver.stream_create(&stream, 1) == 0, "no stream");
        CHECK_OK(attend_context_set_stream, ctx, stream);
        CHECK(device_run(ctx, &p.rule, &p.io), "forward");
        auto_free unsigned char *const want = results(&p);
        CHECK(driver.capture_begin(stream, 2) == 0, "no capture");
        CHECK_OK(attend_forward, ctx, &p.rule, &p.io);
        CHECK(driver.capture_end(stream, &graph) == 0, "the capture broke");
        CHECK(driver.instantiate(&exec, graph, 0) == 0, "no graph");
        auto_free unsigned char *const nothing = calloc(1, p.out_size + p.lse_size);
        CHECK(driver.copy_in(p.out, nothing, p.out_size) == 0 &&
                  driver.copy_in(p.lse, nothing, p.lse_size) == 0,
              "not cleared");
        CHECK(driver.graph_launch(exec, stream) == 0 && driver.stream_wait(stream) == 0,
              "the graph does not run");
        auto_free unsigned char *const got = results(&p);
        CHECK(memcmp(want, got, p.out_size + p.lse_size) == 0,
              "the graph has other bits");
    }
}

/* Parts in device memory, merged there, against the definition. */
static void merges(shape n, int64_t count, attend_dtype part, attend_dtype lse,
                   attend_dtype out, double spread)
{
    auto_context const ctx = device_context(ATTEND_ORDER_FAST);
    auto_merge m = merge_make(n, count, part, lse, out, spread, 17);
    attend_part parts[MERGE_PARTS_MAX];
    attend_tensor to[] = {m.p.io.out, m.p.io.lse};
    uintptr_t blocks[2 * MERGE_PARTS_MAX + 2];
    int used = 0;

    for (int64_t x = 0; x < count; x++) {
        attend_view *const views[] = {&parts[x].out, &parts[x].lse};
        parts[x] = m.parts[x];
        for (int v = 0; v < 2; v++) {
            const size_t size = bytes_of(views[v]->size, views[v]->dtype);
            const uintptr_t block = blocks[used++] = device_block(size, 0);
            CHECK(driver.copy_in(block, views[v]->data, size) == 0, "no copy");
            views[v]->data = (void *)block;
        }
    }
    for (int t = 0; t < 2; t++)
        to[t].data = (void *)(blocks[used++] =
                                  device_block(bytes_of(to[t].size, to[t].dtype), 0xff));
    CHECK_OK(attend_merge_with, ctx, parts, count, &to[0], &to[1]);
    CHECK_OK(attend_context_wait, ctx);
    for (int t = 0; t < 2; t++) {
        const size_t size = bytes_of(to[t].size, to[t].dtype);
        CHECK(driver.copy_out((t ? m.p.io.lse : m.p.io.out).data, (uintptr_t)to[t].data,
                              size) == 0 &&
                  guards_hold((uintptr_t)to[t].data, size, 0xff),
              "a write beside a tensor");
    }
    while (used > 0)
        device_free(blocks[--used]);
    CHECK(merge_is_close(&m, part == ATTEND_F64 ? ATTEND_F64 : ATTEND_F32), "%s",
          attend_dtype_name(part));
}

DEVICE_TEST(parts_merge_on_the_device)
{
    merges((shape){.nb = 2, .hq = 4, .nq = 100, .dv = 64}, 3, ATTEND_BF16, ATTEND_F32,
           ATTEND_BF16, 3);
}

/* LSE that are up to 60 apart. */
DEVICE_TEST(f64_parts_merge_within_rounding)
{
    merges((shape){.nb = 1, .hq = 1, .nq = 64, .dv = 24}, 5, ATTEND_F64, ATTEND_F64,
           ATTEND_F64, 30);
}

/* Shards combined in device memory have the bits of one call. */
DEVICE_TEST(shards_combine_on_the_device)
{
    enum { SHARDS = 3, KEYS = 2048, REST = 500 };
    auto_context const ctx = device_context(ATTEND_ORDER_SAME);
    const int64_t all = (SHARDS - 1) * KEYS + REST;
    auto_device_problem p = device_problem(2, 4, 2, 20, all, 64);
    attend_partials parts[SHARDS];
    uintptr_t memory[SHARDS];
    attend_error err = {.message = ""};

    p.rule.causal = ATTEND_CAUSAL_BOTTOM_RIGHT;
    CHECK(device_run(ctx, &p.rule, &p.io), "forward");
    auto_free unsigned char *const want = results(&p);
    for (int x = 0; x < SHARDS; x++) { /* in any order */
        const int64_t shard = (x + 1) % SHARDS, keys = shard < SHARDS - 1 ? KEYS : REST;
        const int64_t records = attend_partials_records(shard * KEYS, keys, shard % 2);
        attend_io io = p.io;

        io.k.data = (char *)p.k + shard * KEYS * 64 * 2;
        io.v.data = (char *)p.v + shard * KEYS * 64 * 2;
        io.k.size[2] = io.v.size[2] = keys;
        io.out.data = io.lse.data = NULL;
        memory[x] = device_block((size_t)(2 * 4 * 20 * records * 66) * 4, 0x33);
        parts[x] = attend_partials_default();
        parts[x].first_key = shard * KEYS;
        parts[x].keys = keys;
        parts[x].all_keys = all;
        parts[x].reduce = shard % 2;
        parts[x].data =
            attend_tensor_dense((void *)memory[x], ATTEND_F32, 2, 4, 20, records * 66);
        CHECK_OK(attend_forward_partials, ctx, &p.rule, &io, &parts[x]);
    }
    CHECK_OK(attend_combine, ctx, &p.rule, parts, SHARDS, &p.io.out, &p.io.lse);
    CHECK_OK(attend_context_wait, ctx);
    auto_free unsigned char *const got = results(&p);
    CHECK(memcmp(want, got, p.out_size + p.lse_size) == 0, "other bits");
    const int64_t subtrees = attend_partials_records(0, all, 1);
    attend_partials whole = attend_partials_default();
    const uintptr_t reduced =
        device_block((size_t)(2 * 4 * 20 * subtrees * 66) * 4, 0x33);
    whole.keys = whole.all_keys = all;
    whole.reduce = 1;
    whole.data =
        attend_tensor_dense((void *)reduced, ATTEND_F32, 2, 4, 20, subtrees * 66);
    CHECK_OK(attend_reduce, ctx, parts, SHARDS, &whole);
    CHECK(attend_reduce(ctx, &whole, 1, &whole, &err) == ATTEND_OK, "in place: %s",
          err.message);
    CHECK_OK(attend_combine, ctx, &p.rule, &whole, 1, &p.io.out, &p.io.lse);
    CHECK_OK(attend_context_wait, ctx);
    auto_free unsigned char *const again = results(&p);
    CHECK(memcmp(want, again, p.out_size + p.lse_size) == 0, "other bits, reduced");
    CHECK(guards_hold(reduced, (size_t)(2 * 4 * 20 * subtrees * 66) * 4, 0x33),
          "a write beside records");
    device_free(reduced);
    for (int x = 0; x < SHARDS; x++)
        device_free(memory[x]);
}

/* ---- sums of statistics -------------------------------------------------------- */

enum { SUMS_PARTS = 3, SUMS_KEYS = 1024, SUMS_ROWS = 2 * 4 * 20, SUMS_TOP = 3, BINS = 4 };
static const attend_stat asked[] = {
    ATTEND_STAT_KEYS,  ATTEND_STAT_MAX,   ATTEND_STAT_LSE,      ATTEND_STAT_ENTROPY,
    ATTEND_STAT_N_EFF, ATTEND_STAT_SINK4, ATTEND_STAT_DISTANCE, ATTEND_STAT_RAW_VARIANCE};
enum { ASKED = sizeof asked / sizeof *asked };

/* Statistics in one block of device or host memory. */
struct answer {
    double rows[SUMS_ROWS][ASKED], weights[SUMS_ROWS][SUMS_TOP], bins[SUMS_ROWS][BINS];
    int64_t keys[SUMS_ROWS][SUMS_TOP];
    attend_summary summaries[2 * 4 * ATTEND_SUMMARY_COUNT * ATTEND_SUMMARY_GROUPS];
};

static attend_stats request_to(struct answer *to)
{
    attend_stats request = attend_stats_default();

    request.columns = asked;
    request.rows = attend_tensor_dense(to->rows, ATTEND_F64, 2, 4, 20, ASKED);
    request.top_weights =
        attend_tensor_dense(to->weights, ATTEND_F64, 2, 4, 20, SUMS_TOP);
    request.top_keys = to->keys[0];
    request.distances = attend_tensor_dense(to->bins, ATTEND_F64, 2, 4, 20, BINS);
    request.summaries = to->summaries;
    return request;
}

static double apart(const double *got, const double *want, size_t count)
{
    double worst = 0;

    for (size_t x = 0; x < count; x++)
        if (got[x] != want[x] && !(isnan(got[x]) && isnan(want[x])))
            worst = fmax(worst, fabs(got[x] - want[x]) / (1 + fabs(want[x])));
    return worst;
}

static void same_answers(const struct answer *got, const struct answer *want)
{
    double worst = apart(got->rows[0], want->rows[0], SUMS_ROWS * ASKED);

    worst = fmax(worst, apart(got->weights[0], want->weights[0], SUMS_ROWS * SUMS_TOP));
    worst = fmax(worst, apart(got->bins[0], want->bins[0], SUMS_ROWS * BINS));
    for (int x = 0; x < 2 * 4 * ATTEND_SUMMARY_COUNT * ATTEND_SUMMARY_GROUPS; x++)
        worst = fmax(worst, apart(&got->summaries[x].mean, &want->summaries[x].mean, 1));
    CHECK(worst < 1e-9, "%g apart", worst);
    CHECK(memcmp(got->keys, want->keys, sizeof got->keys) == 0, "other top keys");
}

/*
 * Raw sums of shards, merged in device memory, against the statistics of one call and
 * against the host's merge of the same sums; and the same after a reduction.
 */
static void sums_of_shards(attend_context *ctx, struct device_problem *p,
                           struct answer *host)
{
    auto_context const cpu = open_set("scalar", 1);
    const uintptr_t block = device_block(sizeof *host, 0);
    struct answer *const device = (struct answer *)block;
    attend_stats request = request_to(device);
    const int64_t length = attend_stats_raw_size(&request, 64);
    const size_t bytes = (size_t)(SUMS_ROWS * length) * sizeof(double);
    const uintptr_t raw = device_block((SUMS_PARTS + 1) * bytes, 0x33);
    const uintptr_t records = device_block((size_t)(SUMS_ROWS * 66) * 4, 0);
    auto_free double *const raw_host = malloc(SUMS_PARTS * bytes);
    attend_stats_part parts[SUMS_PARTS], host_parts[SUMS_PARTS];
    attend_error err = {.message = ""};

    p->io.stats = &request;
    CHECK(attend_forward(ctx, &p->rule, &p->io, &err) == ATTEND_OK &&
              attend_context_wait(ctx, &err) == ATTEND_OK &&
              driver.copy_out(&host[0], block, sizeof *host) == 0,
          "%s", err.message);
    for (int x = 0; x < SUMS_PARTS; x++) {
        attend_partials shard = attend_partials_default();
        attend_stats own = request;
        attend_io io = p->io;

        shard.first_key = x * SUMS_KEYS;
        shard.keys = SUMS_KEYS;
        shard.all_keys = p->nk;
        shard.data = attend_tensor_dense((void *)records, ATTEND_F32, 2, 4, 20, 66);
        io.k.data = (char *)p->k + x * SUMS_KEYS * 64 * 2;
        io.v.data = (char *)p->v + x * SUMS_KEYS * 64 * 2;
        io.k.size[2] = io.v.size[2] = SUMS_KEYS;
        io.out.data = io.lse.data = NULL;
        own.summaries = NULL;
        own.raw = attend_tensor_dense((void *)(raw + (size_t)x * bytes), ATTEND_F64, 2, 4,
                                      20, length);
        io.stats = &own;
        CHECK_OK(attend_forward_partials, ctx, &p->rule, &io, &shard);
        parts[x] = (attend_stats_part){attend_view_of(&own.raw), 0};
        host_parts[x] = (attend_stats_part){
            attend_view_dense(raw_host + (size_t)x * bytes / sizeof(double), ATTEND_F64,
                              2, 4, 20, length),
            0};
    }
    CHECK(attend_stats_merge(ctx, &request, 64, parts, SUMS_PARTS, &err) == ATTEND_OK &&
              attend_context_wait(ctx, &err) == ATTEND_OK &&
              driver.copy_out(&host[1], block, sizeof *host) == 0 &&
              driver.copy_out(raw_host, raw, SUMS_PARTS * bytes) == 0,
          "%s", err.message);
    const attend_stats on_host = request_to(&host[2]);
    CHECK_OK(attend_stats_merge, cpu, &on_host, 64, host_parts, SUMS_PARTS);
    attend_stats all = request;
    all.summaries = NULL;
    all.raw = attend_tensor_dense((void *)raw, ATTEND_F64, 2, 4, 20, length);
    CHECK_OK(attend_stats_reduce, ctx, &all, 64, parts, SUMS_PARTS);
    CHECK(attend_stats_merge(ctx, &request, 64, parts, 1, &err) == ATTEND_OK &&
              attend_context_wait(ctx, &err) == ATTEND_OK &&
              driver.copy_out(&host[3], block, sizeof *host) == 0,
          "%s", err.message);
    CHECK(guards_hold(block, sizeof *host, 0) &&
              guards_hold(raw, (SUMS_PARTS + 1) * bytes, 0x33),
          "a write beside a tensor");
    p->io.stats = NULL;
    device_free(block);
    device_free(raw);
    device_free(records);
}

DEVICE_TEST(sums_of_shards_merge_on_the_device)
{
    auto_free struct answer *const host = calloc(4, sizeof *host);

    for (int order = 0; order < 2; order++) {
        auto_context const ctx = device_context((attend_order)order);
        auto_device_problem p = device_problem(2, 4, 2, 20, SUMS_PARTS * SUMS_KEYS, 64);
        p.rule.causal = ATTEND_CAUSAL_BOTTOM_RIGHT;
        sums_of_shards(ctx, &p, host);
        for (int x = 1; x < 4; x++)
            same_answers(&host[x], &host[0]);
    }
}

/* ---- slices of the queries -------------------------------------------------------- */

/* The largest difference of two arrays. */
static double farthest(const void *got, const void *want, attend_dtype dtype, int64_t n)
{
    double worst = 0;

    for (int64_t x = 0; x < n; x++)
        worst = fmax(worst, fabs(check_load(got, dtype, x) - check_load(want, dtype, x)));
    return worst;
}

/* Slices of the queries with first_query, against one call with all queries. */
static void slice(attend_context *ctx, attend_causal causal, int64_t window)
{
    enum { NQ = 300, CUT = 129, D = 64 };
    auto_device_problem p = device_problem(1, 2, 1, NQ, 700, D);
    const int64_t offset = 700 - NQ;
    const uintptr_t offsets = device_block(sizeof offset, 0);

    CHECK(driver.copy_in(offsets, &offset, sizeof offset) == 0, "no copy");
    p.rule.causal = causal;
    p.rule.causal_offset = (const int64_t *)offsets;
    p.rule.window_left = window;
    CHECK(device_run(ctx, &p.rule, &p.io), "forward");
    auto_free unsigned char *const want = results(&p);
    for (int x = 0; x < 2; x++) {
        attend_io io = p.io;
        attend_rule rule = p.rule;

        rule.first_query = x * CUT;
        io.q.data = (char *)p.q + x * CUT * D * 2;
        io.out.data = (char *)p.out + x * CUT * D * 2;
        io.lse.data = (char *)p.lse + x * CUT * 4;
        io.q.size[2] = io.out.size[2] = io.lse.size[2] = x ? NQ - CUT : CUT;
        CHECK(device_run(ctx, &rule, &io), "forward");
    }
    auto_free unsigned char *const got = results(&p);
    const double lse = farthest(got + p.out_size, want + p.out_size, ATTEND_F32, 2 * NQ);
    const double out = farthest(got, want, ATTEND_BF16, 2 * NQ * D);
    CHECK(lse < 1e-5 && out < 0x1p-6, "causal %d, window %d: LSE %g and O %g apart",
          (int)causal, (int)window, lse, out);
    device_free(offsets);
}

DEVICE_TEST(slices_of_queries_have_their_positions)
{
    for (int order = 0; order < 2; order++) {
        auto_context const ctx = device_context((attend_order)order);
        slice(ctx, ATTEND_CAUSAL_TOP_LEFT, -1);
        slice(ctx, ATTEND_CAUSAL_NONE, 50);
        slice(ctx, ATTEND_CAUSAL_OFFSET, -1);
    }
}

BEFORE_ALL { open_driver(); }

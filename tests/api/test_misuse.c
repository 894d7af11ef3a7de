/* SPDX-License-Identifier: MIT */
/*
 * Invalid calls that are refused before anything is written (misaligned tensors,
 * overlapping outputs, a context in use, NULL), and similar valid calls that are
 * accepted.
 */
#include <stdatomic.h>

#include "support/pools.h"

enum { NB = 2, H = 3, NQ = 5, NK = 7, D = 8 };

/* A small problem with unused memory around every tensor. */
static struct {
    float q[4096], k[4096], v[4096], out[4096], lse[4096], weights[4096];
    unsigned char mask[4096];
    double rows[4096], alibi[64];
    int64_t lengths[64];
} memory;

static attend_context *ctx;
static attend_rule rule;
static attend_io io;
static attend_stats stats;

static attend_tensor tensor(void *data, int64_t columns)
{
    return attend_tensor_dense(data, ATTEND_F32, NB, H, NQ, columns);
}

static void set_good(void)
{
    static const attend_stat columns[] = {ATTEND_STAT_ENTROPY, ATTEND_STAT_MAX};

    memset(&memory, 0, sizeof memory);
    for (int b = 0; b < 64; b++)
        memory.lengths[b] = NK;
    memset(memory.mask, 1, sizeof memory.mask);
    rule = attend_rule_default();
    io = attend_io_default();
    stats = attend_stats_default();
    io.q = attend_view_dense(memory.q, ATTEND_F32, NB, H, NQ, D);
    io.k = attend_view_dense(memory.k, ATTEND_F32, NB, H, NK, D);
    io.v = attend_view_dense(memory.v, ATTEND_F32, NB, H, NK, D);
    io.out = tensor(memory.out, D);
    stats.columns = columns;
    stats.rows = attend_tensor_dense(memory.rows, ATTEND_F64, NB, H, NQ, 2);
}

static void expect_taken(const char *what)
{
    attend_error err = {0};
    const attend_status status = attend_forward(ctx, &rule, &io, &err);

    CHECK(status == ATTEND_OK, "%s: %s", what, err.message);
}

static void expect_refused(const char *what, const char *field, const char *value)
{
    attend_error err = {0};
    const attend_status status = attend_forward(ctx, &rule, &io, &err);

    CHECK(is_refused(status, ATTEND_EINVAL, &err, field, value), "%s", what);
}

/* A changed copy of the valid problem, refused with both words in the message. */
#define REFUSED(field, value, ...)                                                       \
    do {                                                                                 \
        set_good();                                                                      \
        __VA_ARGS__;                                                                     \
        expect_refused(#__VA_ARGS__, field, value);                                      \
    } while (0)
#define TAKEN(...)                                                                       \
    do {                                                                                 \
        set_good();                                                                      \
        __VA_ARGS__;                                                                     \
        expect_taken(#__VA_ARGS__);                                                      \
    } while (0)

static void *shifted(void *data, size_t bytes) { return (char *)data + bytes; }

TEST(misaligned_data_is_refused)
{
    REFUSED("q.data", "4 bytes", io.q.data = shifted(memory.q, 2));
    REFUSED("k.data", "aligned", io.k.data = shifted(memory.k, 1));
    REFUSED("v.data", "aligned", io.v.data = shifted(memory.v, 3));
    REFUSED("out.data", "aligned", io.out.data = shifted(memory.out, 2));
    REFUSED("lse.data", "aligned", io.lse = tensor(shifted(memory.lse, 1), 1));
    REFUSED("bias.data", "8 bytes",
            rule.bias =
                attend_view_dense(shifted(memory.rows, 4), ATTEND_F64, 1, 1, NQ, NK));
    REFUSED("alibi", "8 bytes", rule.alibi = shifted(memory.alibi, 4));
    REFUSED("sinks", "8 bytes", rule.sinks = shifted(memory.alibi, 2));
    REFUSED("key_lengths", "aligned", rule.key_lengths = shifted(memory.lengths, 4));
    REFUSED("stats.rows", "aligned", stats.rows.data = shifted(memory.rows, 4);
            io.stats = &stats);
    TAKEN(io.q.data = shifted(memory.q, 4));
    TAKEN(rule.mask = attend_view_dense(memory.mask + 1, ATTEND_BOOL, 1, 1, NQ, NK));
    TAKEN(io.q.data = shifted(memory.q, 2);
          io.q.dtype = io.k.dtype = io.v.dtype = ATTEND_BF16);
}

TEST(outputs_over_inputs_are_refused)
{
    REFUSED("out", "q", io.out.data = memory.q);
    REFUSED("out", "k", io.out.data = memory.k + 8);
    REFUSED("out", "v", io.out.data = memory.v + NB * H * NK * D - 1);
    REFUSED("out", "mask",
            rule.mask =
                attend_view_dense((char *)memory.out + 3, ATTEND_BOOL, 1, 1, NQ, NK));
    REFUSED("out", "key_lengths", memset(memory.out, 0, sizeof memory.out);
            rule.key_lengths = (int64_t *)(void *)memory.out);
    REFUSED("lse", "alibi", rule.alibi = memory.alibi; io.lse = tensor(memory.alibi, 1));
    REFUSED("weights", "bias",
            rule.bias = attend_view_dense(memory.weights, ATTEND_F32, NB, H, NQ, NK);
            io.weights = tensor(memory.weights, NK));
    /* One element of a cache with gaps between its rows. */
    REFUSED("out", "k", io.k.stride[2] = 2 * D; io.k.stride[1] = 2 * D * NK;
            io.k.stride[0] = 2 * D * NK * H; io.out.data = memory.k + 4 * D);
    REFUSED("out", "q", io.q.stride[2] = -D; io.q.data = memory.q + 100 * D;
            io.out.data = memory.q + 100 * D);
}

TEST(outputs_over_outputs_are_refused)
{
    REFUSED("out", "lse", io.lse = tensor(memory.out, 1));
    REFUSED("lse", "weights", io.lse = tensor(memory.weights + 5, 1);
            io.weights = tensor(memory.weights, NK));
    REFUSED("out", "stats.rows", stats.rows.data = memory.out; io.stats = &stats);
    REFUSED("stats.top_weights", "stats.top_keys",
            stats.top_weights = tensor(memory.lse, 2);
            stats.top_keys = (int64_t *)(void *)memory.lse; io.stats = &stats);
}

TEST(tensors_that_only_touch_or_interleave_are_taken)
{
    enum { ALL = NB * H * NQ };

    TAKEN(io.out.data = memory.q + ALL * D);
    TAKEN(io.lse = tensor(memory.out + ALL * D, 1));
    /* Q and O side by side in each row; O and LSE too. */
    TAKEN(io.q = attend_view_dense(memory.q, ATTEND_F32, NB, H, NQ, 2 * D);
          io.q.size[3] = D; io.out = tensor(memory.q + D, 2 * D); io.out.size[3] = D);
    TAKEN(io.out = tensor(memory.out, D + 1); io.out.size[3] = D;
          io.lse = tensor(memory.out + D, D + 1); io.lse.size[3] = 1);
    /* Heads side by side with those of Q, K and V, as a projection leaves them. */
    TAKEN(for (int x = 0; x < 4; x++) {
        const int64_t row = 4 * H * D;
        float *const at = memory.q + x * H * D;
        if (x == 3)
            io.out = attend_tensor_dense(at, ATTEND_F32, NB, H, NQ, D);
        attend_view *const view = x == 0 ? &io.q : x == 1 ? &io.k : &io.v;
        if (x < 3)
            *view = attend_view_dense(at, ATTEND_F32, NB, H, NQ, D);
        int64_t *const stride = x == 3 ? io.out.stride : view->stride;
        stride[0] = NQ * row;
        stride[1] = D;
        stride[2] = row;
    });
    /* K and V the same, of one batch broadcast to all. */
    TAKEN(io.v.data = memory.k; io.k.stride[0] = io.v.stride[0] = 0);
    /* Strides of two axes of the output that meet past their ends. */
    TAKEN(io.out.stride[0] = 1; io.out.stride[1] = 3; io.out.stride[2] = 9;
          io.out.stride[3] = 2 + 9 * NQ);
}

TEST(elements_that_share_an_address_are_refused)
{
    REFUSED("out.stride[2]", "7", io.out.stride[2] = D - 1);
    REFUSED("out.stride[2]", "(3)", io.out.stride[2] = 3; io.out.stride[3] = 2);
    REFUSED("out.stride[0]", "(0)", io.out.stride[0] = 0);
    REFUSED("out.stride[1]", "stride[2]", io.out.stride[1] = -io.out.stride[2]);
    /* No two axes meet, but there are more elements than addresses. */
    REFUSED("out.stride", "share", io.out.stride[3] = 5; io.out.stride[2] = 9;
            io.out.stride[1] = 41; io.out.stride[0] = 37);
}

/* ---- merging, combining, inspecting ----------------------------------------- */

static attend_part part_at(float *out, float *lse)
{
    const attend_part part = {attend_view_dense(out, ATTEND_F32, NB, H, NQ, D),
                              attend_view_dense(lse, ATTEND_F32, NB, H, NQ, 1)};

    return part;
}

static void expect_merge(attend_status want, const attend_part *parts, attend_tensor out,
                         attend_tensor lse, const char *what)
{
    attend_error err = {0};

    for (int with = 0; with < 2; with++) {
        const attend_status status =
            with ? attend_merge_with(ctx, parts, 2, &out, &lse, &err)
                 : attend_merge(parts, 2, &out, &lse, &err);
        CHECK(status == want, "%s: status %d, %s", what, (int)status, err.message);
    }
}

TEST(merging_in_place_is_taken_and_nothing_else)
{
    enum { ALL = NB * H * NQ };
    float *const second = memory.v;

    set_good();
    const attend_part parts[] = {part_at(memory.q, memory.lse),
                                 part_at(memory.k, memory.lse + ALL)};
    expect_merge(ATTEND_OK, parts, tensor(second, D), tensor(memory.weights, 1), "apart");
    expect_merge(ATTEND_OK, parts, tensor(memory.k, D), tensor(memory.lse, 1),
                 "in place");
    expect_merge(ATTEND_EINVAL, parts, tensor(memory.k + 1, D), tensor(memory.weights, 1),
                 "one element into a part");
    expect_merge(ATTEND_EINVAL, parts, tensor(memory.lse, D), tensor(memory.weights, 1),
                 "O over an LSE");
    expect_merge(ATTEND_EINVAL, parts, tensor(second, D), tensor(memory.lse + 1, 1),
                 "one element into an LSE");
    expect_merge(ATTEND_EINVAL, parts, tensor(second, D), tensor(second, 1), "LSE is O");
    attend_tensor turned = tensor(memory.q, D);
    turned.stride[2] = 1;
    turned.stride[3] = NQ;
    expect_merge(ATTEND_EINVAL, parts, turned, tensor(memory.weights, 1),
                 "a part's memory by other strides");
}

static attend_partials records_at(float *data)
{
    attend_partials partials = attend_partials_default();

    partials.keys = NK;
    partials.reduce = 1;
    partials.data = tensor(data, D + 2);
    return partials;
}

static void expect(attend_status want, attend_status status, const attend_error *err,
                   const char *what)
{
    CHECK(status == want, "%s: status %d, %s", what, (int)status, err->message);
}

TEST(records_and_outputs_are_apart)
{
    attend_error err = {0};

    set_good();
    attend_io inputs = io;
    inputs.out = (attend_tensor){.dtype = ATTEND_F32};
    const attend_partials own = records_at(memory.weights), over_q = records_at(memory.q);
    expect(ATTEND_EINVAL, attend_forward_partials(ctx, NULL, &inputs, &over_q, &err),
           &err, "records over q");
    expect(ATTEND_OK, attend_forward_partials(ctx, NULL, &inputs, &own, &err), &err,
           "records of their own");
    const attend_tensor out = tensor(memory.out, D), over = tensor(memory.weights + 3, D);
    expect(ATTEND_EINVAL, attend_combine(ctx, NULL, &own, 1, &over, NULL, &err), &err,
           "O over the records");
    expect(ATTEND_OK, attend_combine(ctx, NULL, &own, 1, &out, NULL, &err), &err,
           "O of its own");
    const attend_partials inside = records_at(memory.weights + 1);
    expect(ATTEND_OK, attend_reduce(ctx, &own, 1, &own, &err), &err, "in place");
    expect(ATTEND_EINVAL, attend_reduce(ctx, &own, 1, &inside, &err), &err,
           "one element into a part");
}

TEST(inspection_outputs_are_apart_and_probes_complete)
{
    attend_error err = {0};
    attend_inspection s = attend_inspection_default();
    attend_probe probes[2] = {{0, 0, 0, 0}, {1, 2, 4, 6}};
    double found[2];

    set_good();
    s.q = io.q;
    s.k = io.k;
    s.lse = attend_view_dense(memory.lse, ATTEND_F32, NB, H, NQ, 1);
    s.column_mass = attend_tensor_dense(memory.weights, ATTEND_F32, NB, H, 1, NK);
    expect(ATTEND_OK, attend_inspect(ctx, NULL, &s, &err), &err, "good");
    s.column_max = s.column_mass;
    expect(ATTEND_EINVAL, attend_inspect(ctx, NULL, &s, &err), &err,
           "two outputs in one");
    s.column_max.data = memory.lse;
    expect(ATTEND_EINVAL, attend_inspect(ctx, NULL, &s, &err), &err, "over lse");
    s.column_max.data = NULL;
    s.probe_count = 2;
    s.probe_weights = found;
    expect(ATTEND_EINVAL, attend_inspect(ctx, NULL, &s, &err), &err, "no probes");
    CHECK(strstr(err.message, "probes is NULL") && strstr(err.message, "2"), "%s",
          err.message);
    s.probes = probes;
    expect(ATTEND_OK, attend_inspect(ctx, NULL, &s, &err), &err, "two probes");
    s.probe_weights = (double *)(void *)probes;
    expect(ATTEND_EINVAL, attend_inspect(ctx, NULL, &s, &err), &err, "over the probes");
}

/* ---- a context in use --------------------------------------------------------- */

static int nested[8], nested_count;

/* Every call that takes the context, from a hook of a call that uses it. */
static void call_again(void *user, int64_t done, int64_t total)
{
    attend_context *const own = *(attend_context **)user;
    attend_error err = {0};
    size_t bytes;

    (void)done, (void)total;
    if (nested_count > 0)
        return;
    nested[nested_count++] = attend_forward(own, &rule, &io, &err);
    nested[nested_count++] = attend_forward_many(own, 0, NULL, NULL, &err);
    nested[nested_count++] = attend_forward_workspace(own, &rule, &io, &bytes, &err);
    nested[nested_count++] = attend_context_wait(own, &err);
    nested[nested_count++] = attend_merge_with(own, NULL, 0, &io.out, NULL, &err);
    nested[nested_count++] = attend_combine(own, NULL, NULL, 0, &io.out, NULL, &err);
    nested[nested_count++] = attend_stats_reduce(own, &stats, D, NULL, 0, &err);
}

TEST(a_context_in_use_is_busy)
{
    attend_options options = attend_options_default();
    auto_context own = NULL;
    attend_error err = {0};

    set_good();
    nested_count = 0;
    options.threads = 1;
    options.progress = call_again;
    options.progress_user = &own;
    CHECK_OK(attend_context_create, &own, &options);
    const attend_status outer = attend_forward(own, &rule, &io, &err);
    const attend_status after = attend_forward(own, &rule, &io, &err);
    CHECK(outer == ATTEND_OK && after == ATTEND_OK, "%d and %d: %s", (int)outer,
          (int)after, err.message);
    CHECK(nested_count == 7, "%d calls", nested_count);
    for (int x = 0; x < nested_count; x++)
        CHECK(nested[x] == ATTEND_EBUSY, "call %d: status %d", x, nested[x]);
    CHECK(strcmp(attend_status_name(ATTEND_EBUSY), "ATTEND_EBUSY") == 0, "%s",
          attend_status_name(ATTEND_EBUSY));
}

/* Several threads on one context: each call is correct or returns EBUSY. */
enum { CALLERS = 3, REPEATS = 200 };
static attend_context *shared;
static atomic_int right, busy, wrong;

static void use_shared(void *outputs, int caller)
{
    static const float want = 2;
    float *const out = ((float(*)[NB * H * NQ * D]) outputs)[caller];
    attend_io own = io;

    own.out.data = out;
    for (int x = 0; x < REPEATS; x++) {
        out[0] = 0;
        const attend_status status = attend_forward(shared, NULL, &own, NULL);
        if (status == ATTEND_EBUSY)
            atomic_fetch_add(&busy, 1);
        else
            atomic_fetch_add(status == ATTEND_OK && out[0] == want ? &right : &wrong, 1);
    }
}

TEST(a_context_that_threads_share_gives_right_results_or_busy)
{
    static float out[CALLERS][NB * H * NQ * D];
    pool_log log = {0, 0};

    set_good();
    for (int x = 0; x < NB * H * NK * D; x++)
        memory.v[x] = 2;
    shared = open_set(NULL, 2);
    CHECK(shared != NULL, "no context");
    pool_pthreads(&log, CALLERS, use_shared, out);
    attend_context_destroy(shared);
    CHECK(wrong == 0 && right > 0, "%d right, %d busy, %d wrong", right, busy, wrong);
}

/* ---- cancelling ----------------------------------------------------------------- */

struct cancel {
    atomic_int polls, inside, met;
    int after; /* polls that return 0 */
};

static int cancelled(void *user)
{
    struct cancel *const c = user;

    if (atomic_fetch_add(&c->inside, 1) > 0)
        atomic_store(&c->met, 1);
    const int stop = atomic_fetch_add(&c->polls, 1) >= c->after;
    atomic_fetch_sub(&c->inside, 1);
    return stop;
}

TEST(a_call_ends_when_it_is_cancelled)
{
    const shape big = {1, 4, 4, 600, 600, 32, 32};

    for (int threads = 1; threads <= 3; threads += 2) {
        struct cancel c = {.after = 2};
        attend_options options = attend_options_default();
        options.threads = threads;
        options.cancelled = cancelled;
        options.cancel_user = &c;
        auto_context const own = open_context(&options);
        CHECK(own != NULL, "no context");
        auto_problem p = problem_lean(big, ATTEND_F32, 3);
        attend_error err = {0};
        const attend_status first = attend_forward(own, &p.rule, &p.io, &err);
        const int polls = c.polls;
        c.polls = 0;
        c.after = INT32_MAX;
        auto_result whole = result_of(&p, own);
        const int same = problem_same_on(&p, own, ctx), met = c.met;
        CHECK(first == ATTEND_ECANCELLED, "%d threads: status %d", threads, (int)first);
        CHECK(strstr(err.message, "cancelled") != NULL, "%s", err.message);
        CHECK(polls >= 3 && polls < 3 + threads, "%d polls by %d threads", polls,
              threads);
        CHECK(same, "another call of the same context has other bits");
        CHECK(!met, "two polls at once");
    }
}

TEST(every_call_that_computes_can_be_cancelled)
{
    struct cancel c = {.after = 0};
    attend_options options = attend_options_default();
    attend_error err = {0};

    options.threads = 2;
    options.cancelled = cancelled;
    options.cancel_user = &c;
    auto_context const own = open_context(&options);
    CHECK(own != NULL, "no context");
    set_good();
    attend_io inputs = io;
    inputs.out = (attend_tensor){.dtype = ATTEND_F32};
    attend_inspection s = attend_inspection_default();
    s.q = io.q;
    s.k = io.k;
    s.lse = attend_view_dense(memory.lse, ATTEND_F32, NB, H, NQ, 1);
    s.column_mass = attend_tensor_dense(memory.weights, ATTEND_F32, NB, H, 1, NK);
    const attend_partials records = records_at(memory.weights);
    const attend_part part = part_at(memory.q, memory.lse);
    const attend_tensor out = tensor(memory.out, D);
    const attend_status status[] = {
        attend_forward(own, NULL, &io, &err),
        attend_inspect(own, NULL, &s, &err),
        attend_forward_partials(own, NULL, &inputs, &records, &err),
        attend_combine(own, NULL, &records, 1, &out, NULL, &err),
        attend_reduce(own, &records, 1, &records, &err),
        attend_merge_with(own, &part, 1, &out, NULL, &err)};
    for (size_t x = 0; x < sizeof status / sizeof status[0]; x++)
        CHECK(status[x] == ATTEND_ECANCELLED, "call %zu: status %d", x, (int)status[x]);
}

/* ---- NULL, and what is not set ----------------------------------------------------- */

TEST(null_is_answered)
{
    const attend_head head = attend_head_default();
    attend_error err = {0};
    char reason[64] = "";

    CHECK(strcmp(attend_context_isa(NULL), "unknown") == 0, "%s",
          attend_context_isa(NULL));
    CHECK(attend_context_threads(NULL) == 0, "%d", attend_context_threads(NULL));
    CHECK(attend_context_memory(NULL) == ATTEND_MEMORY_HOST, "memory");
    CHECK(attend_devices(NULL, 10) == attend_devices(NULL, 0), "devices");
    CHECK(attend_cpu_features(NULL, 10) == attend_cpu_features(NULL, 0), "features");
    CHECK(attend_head_character(NULL, 0.1, reason, sizeof reason) ==
                  ATTEND_CHARACTER_MIXED &&
              strstr(reason, "NULL"),
          "\"%s\"", reason);
    CHECK(attend_head_character(&head, 0.1, NULL, 64) < ATTEND_CHARACTER_COUNT, "reason");
    const attend_tensor out = tensor(memory.out, D);
    expect(ATTEND_EINVAL, attend_merge(NULL, 2, &out, NULL, &err), &err, "no parts");
    CHECK(strstr(err.message, "parts is NULL") != NULL, "%s", err.message);
    expect(ATTEND_EINVAL, attend_merge(NULL, -1, &out, NULL, &err), &err, "count -1");
    CHECK(strstr(err.message, "count (-1)") && !strstr(err.message, "NULL"), "%s",
          err.message);
    expect(ATTEND_EINVAL, attend_combine(ctx, NULL, NULL, 1, &out, NULL, &err), &err,
           "no parts");
    CHECK(strstr(err.message, "parts is NULL") != NULL, "%s", err.message);
}

TEST(an_io_that_was_never_set_is_refused)
{
    const attend_inspection inspection = attend_inspection_default();
    attend_error err = {0};

    set_good();
    io = attend_io_default();
    expect_refused("attend_io_default()", "q", "not set");
    expect(ATTEND_EINVAL, attend_inspect(ctx, NULL, &inspection, &err), &err,
           "inspection");
    /* A batch of 0 sequences is valid. */
    TAKEN(io.q.size[0] = io.k.size[0] = io.v.size[0] = io.out.size[0] = 0);
}

TEST(messages_name_the_range)
{
    REFUSED("first_query", "-1152921504606846976..1152921504606846976",
            rule.first_query = INT64_MAX);
    REFUSED("q.size[2]", "0..1099511627776", io.q.size[2] = -1);
}

BEFORE_ALL { ctx = open_set(NULL, 2); }
AFTER_ALL { attend_context_destroy(ctx); }

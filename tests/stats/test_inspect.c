/* SPDX-License-Identifier: MIT */
/* The second pass: columns, pooled maps, rectangles and probes of P, on every set. */
#include <float.h>

#include "support/counting.h"
#include "support/inspect_oracle.h"
#include "support/pools.h"
#include "support/strides.h"

static const shape shapes[] = {
    {1, 2, 1, 230, 300, 16, 1}, /* several tiles and work items */
    {2, 4, 2, 37, 65, 24, 1},   /* a batch with grouped heads */
    {1, 1, 1, 1, 700, 8, 1},    /* one query */
    {1, 1, 1, 1700, 40, 5, 1},  /* lanes are added up on the way */
    {1, 3, 3, 50, 3, 3, 1},     /* fewer keys than lanes */
};
enum { SHAPES = sizeof shapes / sizeof shapes[0] };

static const int64_t blocks[] = {64, 7, 1, 200, 100000, 48, 3};
enum { BLOCKS = sizeof blocks / sizeof blocks[0] };

TEST_ON_SETS(as_the_dense_evaluation, ctx, 2)
{
    for (int kind = 0; kind < RULE_KINDS; kind++)
        for (int at = 0; at < SHAPES; at++) {
            if (kind % SHAPES != at && !test_draws(0.4))
                continue;
            const attend_dtype dtype = float_dtypes[(kind + at) % FLOAT_DTYPES];
            auto_ask a =
                ask_make(shapes[at], dtype, (rule_kind)kind, (uint64_t)kind + 40);
            ask_everything(&a, blocks[(kind + 2 * at) % BLOCKS]);
            CHECK(ask_check(&a, ctx), "rule %d, shape %d, %s", kind, at,
                  attend_dtype_name(dtype));
        }
}

/* Every dtype and every way to cut a pooled map, on one problem. */
TEST_ON_SETS(pooled_blocks_of_any_size, ctx, 2)
{
    for (int type = 0; type < FLOAT_DTYPES; type++)
        for (int at = 0; at < BLOCKS; at++) {
            if (at % FLOAT_DTYPES != type && !test_draws(0.2))
                continue;
            auto_ask a = ask_make((shape){1, 2, 2, 301, 271, 8, 1}, float_dtypes[type],
                                  RULE_CAUSAL, (uint64_t)at);
            ask_pooled(&a, blocks[at]);
            CHECK(ask_check(&a, ctx), "%s, blocks of %lld",
                  attend_dtype_name(float_dtypes[type]), (long long)blocks[at]);
        }
}

/* Other outputs, which extend the range of queries and keys, change no bit. */
TEST_ON_SETS(alone_or_together, ctx, 2)
{
    for (int type = 0; type < FLOAT_DTYPES; type++) {
        auto_ask a = ask_make(shapes[0], float_dtypes[type], RULE_ALL, 3);
        ask_everything(&a, 50);
        CHECK(ask_run(&a, ctx), "all");
        auto_answers want = answers_copy(&a);
        const attend_inspection all = a.want;
        for (int at = 0; at <= ASK_OUTPUTS; at++) {
            for (int other = 0; other < ASK_OUTPUTS; other++)
                if (other != at)
                    ask_output(&a.want, other)->data = NULL;
            a.want.probe_count = at == ASK_OUTPUTS ? all.probe_count : 0;
            CHECK(ask_run(&a, ctx) && answers_are_same(&a, &want), "%s alone",
                  output_names[at]);
            a.want = all;
        }
    }
}

/* ---- threads -------------------------------------------------------------- */

TEST_ON_SETS(any_number_of_threads, lone, 1)
{
    static const attend_parallel_for pools[] = {NULL, pool_sequential, pool_reversed,
                                                pool_pthreads};
    static const int threads[] = {2, 3, 5};

    for (int type = 0; type < FLOAT_DTYPES; type++) {
        auto_ask a = ask_make((shape){1, 3, 1, 301, 650, 12, 1}, float_dtypes[type],
                              type % 2 ? RULE_CAUSAL : RULE_WINDOW, 8);
        ask_everything(&a, type < 2 ? 300 : 20);
        CHECK(ask_run(&a, lone), "one thread");
        auto_answers want = answers_copy(&a);
        for (int at = 0; at < 12; at++) {
            if (at % FLOAT_DTYPES != type && !test_draws(0.2))
                continue;
            pool_log log = {0, 0};
            auto_context const ctx = pool_context(attend_context_isa(lone),
                                                  threads[at % 3], pools[at / 3], &log);
            CHECK(ctx != NULL, "a context");
            CHECK(ask_run(&a, ctx) && answers_are_same(&a, &want), "%d threads, pool %d",
                  threads[at % 3], at / 3);
            CHECK(at < 3 || on_device(ctx) ||
                      (log.calls == 1 && log.n_max == threads[at % 3]),
                  "%d calls, up to %d of %d", log.calls, log.n_max, threads[at % 3]);
        }
    }
}

TEST(progress_is_reported)
{
    progress_log log = {.calls = 0};
    auto_context const ctx = progress_context(NULL, 1, &log);

    CHECK(ctx != NULL, "a context");
    auto_ask a = ask_make(shapes[0], ATTEND_F32, RULE_PLAIN, 1);
    ask_everything(&a, 32);
    CHECK(ask_run(&a, ctx), "runs");
    CHECK(progress_is_sound(&log, 1) && log.calls == log.total, "%d calls, %lld of %lld",
          log.calls, (long long)log.last, (long long)log.total);
}

/* ---- laws ----------------------------------------------------------------- */

/* P sums to 1 over the keys of a row with keys: masses add up to the number of rows. */
TEST_ON_SETS(masses_add_up_to_rows, ctx, 1)
{
    for (int kind = 0; kind < RULE_KINDS; kind++) {
        auto_ask a = ask_make(shapes[0], ATTEND_F32, (rule_kind)kind, 77);
        ask_lse(&a, 0);
        ask_everything(&a, 33);
        CHECK(ask_run(&a, ctx), "rule %d", kind);
        for (int64_t h = 0; h < a.p.n.hq; h++) {
            double rows = 0, mass = 0, pooled = 0;
            for (int64_t i = 0; i < a.p.n.nq; i++)
                rows += view_get(&a.want.lse, 0, h, i, 0) > -INFINITY;
            for (int64_t j = 0; j < a.p.n.nk; j++)
                mass += tensor_get(&a.want.column_mass, 0, h, 0, j);
            for (int64_t i = 0; i < a.want.pooled.size[2]; i++)
                for (int64_t j = 0; j < a.want.pooled.size[3]; j++)
                    pooled += tensor_get(&a.want.pooled, 0, h, i, j);
            CHECK(fabs(mass - rows) <= 1e-5 * rows, "rule %d: %g of %g rows", kind, mass,
                  rows);
            CHECK(fabs(pooled - rows) <= 1e-5 * rows, "rule %d: %g of %g rows pooled",
                  kind, pooled, rows);
        }
    }
}

/* Blocks of the map are sums of the rectangle that covers all of P. */
TEST_ON_SETS(pooled_is_the_sum_of_zoom, ctx, 1)
{
    const shape n = {1, 2, 1, 100, 130, 16, 1};
    auto_ask a = ask_make(n, ATTEND_F32, RULE_BOTTOM_RIGHT, 5);

    ask_pooled(&a, 32);
    ask_zoom(&a, 0, n.nq, 0, n.nk);
    CHECK(ask_run(&a, ctx), "runs");
    for (int64_t h = 0; h < n.hq; h++)
        for (int64_t y = 0; y < a.want.pooled.size[2]; y++)
            for (int64_t x = 0; x < a.want.pooled.size[3]; x++) {
                double sum = 0;
                for (int64_t i = y * 32; i < y * 32 + 32 && i < n.nq; i++)
                    for (int64_t j = x * 32; j < x * 32 + 32 && j < n.nk; j++)
                        sum += tensor_get(&a.want.zoom, 0, h, i, j);
                const double got = tensor_get(&a.want.pooled, 0, h, y, x);
                CHECK(fabs(got - sum) <= 40 * 0x1p-24 * sum, "%g, not %g", got, sum);
            }
}

/* All of P against the weights of the forward pass, by its own LSE. */
TEST_ON_SETS(zoom_is_the_weights, ctx, 1)
{
    const shape few = {1, 4, 2, 9, 300, 24, 1};

    for (int type = 0; type < FLOAT_DTYPES; type++)
        for (int kind = 0; kind < RULE_KINDS; kind++) {
            auto_ask a = ask_make((type + kind) % 2 ? few : shapes[1], float_dtypes[type],
                                  (rule_kind)kind, 21);
            const double u = unit_of(a.p.dtype);
            ask_zoom(&a, 0, a.p.n.nq, 0, a.p.n.nk);
            CHECK(problem_run(&a.p, ctx), "forward");
            a.want.lse = view_of_tensor(&a.p.io.lse);
            CHECK(ask_run(&a, ctx), "second");
            for (int64_t at = 0; at < count_of(a.want.zoom.size); at++) {
                const double p = check_load(a.p.io.weights.data, a.want.zoom.dtype, at);
                const double got = check_load(a.want.zoom.data, a.want.zoom.dtype, at);
                const double lse =
                    check_load(a.p.io.lse.data, a.want.zoom.dtype, at / a.p.n.nk);
                /*
                 * The sum of the row, the exponentials, half a unit of the LSE; and
                 * weights below the least normal number may be 0.
                 */
                const double flush = a.p.dtype == ATTEND_F64 ? 0x1p-1022 : 0x1p-126;
                const double error = flush + (p == 0 ? 0 : (200 + 4 * fabs(lse)) * u * p);
                CHECK(near_or_same(got, p, error), "rule %d, %s: %.9g, not %.9g", kind,
                      attend_dtype_name(a.p.dtype), got, p);
            }
        }
}

/* ---- layouts -------------------------------------------------------------- */

TEST_ON_SETS(any_strides, ctx, 1)
{
    for (int kind = 0; kind < LAYOUT_COUNT; kind++)
        for (int type = 0; type < FLOAT_DTYPES; type++) {
            auto_ask a = ask_make(shapes[1], float_dtypes[type], RULE_ALL, 6);
            ask_everything(&a, 10);
            CHECK(ask_run(&a, ctx), "contiguous");
            auto_answers want = answers_copy(&a);
            attend_view *const inputs[] = {&a.want.q, &a.want.k, &a.want.lse};
            for (int at = 0; at < 3; at++)
                *inputs[at] = restride(&a.p, inputs[at], (layout)kind);
            for (int at = 0; at < ASK_OUTPUTS; at++) {
                attend_tensor *const t = ask_output(&a.want, at);
                *t = restride_output(&a.p, t, (layout)kind);
            }
            CHECK(attend_inspect(ctx, &a.p.rule, &a.want, NULL) == ATTEND_OK, "runs");
            for (int at = 0; at < ASK_OUTPUTS; at++) {
                attend_tensor *const t = ask_output(&a.want, at);
                const attend_tensor flat = own_tensor(&a.p, t->dtype, t->size[0],
                                                      t->size[1], t->size[2], t->size[3]);
                CHECK(gather_output(t, &flat) &&
                          same_bits(&flat, want.bits[at], output_names[at]),
                      "layout %d: %s", kind, output_names[at]);
            }
        }
}

/* ---- numbers -------------------------------------------------------------- */

/*
 * Scores near 1e4 that f32 holds exactly: the error is that of the LSE, up to 5e-4 in f32
 * and none in f64.
 */
TEST_ON_SETS(scores_near_1e4, ctx, 1)
{
    const shape n = {1, 1, 1, 70, 90, 4, 1};
    auto_ask a = {.p = problem_make(n, ATTEND_F32, 1),
                  .want = attend_inspection_default()};
    uint64_t random = 3;

    for (int64_t at = 0; at < n.nq * n.d; at++)
        ((float *)(uintptr_t)a.p.io.q.data)[at] = (float)(random_bits(&random) % 9) / 4;
    for (int64_t at = 0; at < n.nk * n.d; at++)
        ((float *)(uintptr_t)a.p.io.k.data)[at] = (float)(random_bits(&random) % 9) / 4;
    a.p.rule.scale_is_set = 1;
    a.p.rule.scale = 0.5;
    problem_bias(&a.p, ATTEND_F32, 1, 1, 1, 1);
    fill_value(&a.p.rule.bias, 1e4);
    a.want.q = a.p.io.q;
    a.want.k = a.p.io.k;
    ask_lse(&a, 1);
    ask_columns(&a, 5);
    ask_zoom(&a, 0, n.nq, 0, n.nk);
    CHECK(ask_run(&a, ctx), "runs");
    auto_map map = map_make(&a);
    for (int64_t i = 0; i < n.nq; i++)
        for (int64_t j = 0; j < n.nk; j++) {
            const double p = map.p[i * n.nk + j];
            const double got = tensor_get(&a.want.zoom, 0, 0, i, j);
            CHECK(fabs(got - p) <= 2e-6 * p, "%.9g, not %.9g", got, p);
        }
}

/* Any LSE: P is exp(score - lse). */
TEST_ON_SETS(an_lse_of_any_kind, ctx, 1)
{
    static const double lses[] = {-INFINITY, NAN, INFINITY, -40, -300, -1e6, 60, 0};

    for (int type = 0; type < FLOAT_DTYPES; type++)
        for (int at = 0; at < 9; at++) { /* one kind per run, and all in the last */
            auto_ask a = ask_make((shape){1, 2, 1, 50, 60, 8, 1}, float_dtypes[type],
                                  RULE_CAUSAL, 9);
            for (int64_t i = 3; i < 50; i += 5)
                view_set(&a.want.lse, 0, 1, i, 0, lses[at < 8 ? at : i / 5 % 8]);
            if (at == 0) /* hides the row, also with NaN in q */
                view_set(&a.want.q, 0, 1, 3, 0, NAN);
            ask_everything(&a, 10);
            auto_map map = map_make(&a);
            CHECK(ask_run(&a, ctx) && probes_agree(&a, &map), "kind %d, probes", at);
            /* Except for probes, P above the range of the type is infinite. */
            const double largest = a.p.dtype == ATTEND_F64 ? DBL_MAX : FLT_MAX;
            for (int64_t x = 0; x < 2 * 50 * 60; x++)
                map.p[x] = map.p[x] > largest ? INFINITY : map.p[x];
            a.want.probes = NULL;
            CHECK(ask_agrees(&a, &map), "kind %d, %s", at, attend_dtype_name(a.p.dtype));
        }
}

/* Contents of hidden keys change no bit. */
TEST_ON_SETS(hidden_keys_do_not_count, ctx, 1)
{
    static const rule_kind kinds[] = {RULE_MASK, RULE_MASK_OF_KEYS};

    for (int type = 0; type < FLOAT_DTYPES; type++)
        for (int at = 0; at < 2; at++) {
            auto_ask a = ask_make(shapes[0], float_dtypes[type], kinds[at], 4);
            ask_everything(&a, 30);
            CHECK(ask_run(&a, ctx), "runs");
            auto_answers want = answers_copy(&a);
            for (int64_t c = 0; c < a.p.n.d; c++) /* random_mask() hides key 2 */
                view_set(&a.want.k, 0, 0, 2, c, c % 2 ? NAN : INFINITY);
            CHECK(ask_run(&a, ctx) && answers_are_same(&a, &want), "NaN in a hidden key");
        }
}

TEST_ON_SETS(nothing_to_do, ctx, 1)
{
    static const shape empty[] = {{0, 2, 1, 5, 6, 4, 1},
                                  {1, 0, 0, 5, 6, 4, 1},
                                  {1, 2, 1, 0, 6, 4, 1},
                                  {1, 2, 1, 5, 0, 4, 1},
                                  {1, 2, 1, 5, 6, 0, 1}};

    for (int at = 0; at < 5; at++) {
        const shape n = empty[at];
        auto_ask a = ask_make(n, ATTEND_F32, RULE_PLAIN, 2);
        ask_columns(&a, 1);
        if (n.nq == 0)
            a.want.column_last = (attend_tensor){0};
        a.want.pooled =
            own_tensor(&a.p, ATTEND_F32, n.nb, n.hq, (n.nq + 1) / 2, (n.nk + 1) / 2);
        a.want.pooled_block = 2;
        ask_zoom(&a, 0, n.nq, 0, n.nk);
        CHECK(ask_check(&a, ctx), "shape %d", at);
    }
    auto_ask a = ask_make(shapes[1], ATTEND_F32, RULE_PLAIN, 2);
    CHECK(ask_run(&a, ctx), "nothing wanted");
}

/* ---- memory --------------------------------------------------------------- */

TEST_ON_SETS(a_repeated_call_allocates_nothing, plain, 1)
{
    counting c = {.fail_at = -1, .sticky = 1};
    const attend_options options = counting_options(&c, attend_context_isa(plain), 2);
    attend_context *const ctx = open_context(&options);
    attend_error err = {.status = ATTEND_OK};

    CHECK(ctx != NULL, "context");
    auto_ask a = ask_make(shapes[0], ATTEND_F32, RULE_PLAIN, 1);
    ask_everything(&a, 200);
    c.fail_at = c.calls;
    ask_poison(&a);
    CHECK(on_device(ctx) ||
              (attend_inspect(ctx, &a.p.rule, &a.want, &err) == ATTEND_ENOMEM &&
               strstr(err.message, "scratch") != NULL),
          "%s", err.message);
    CHECK(answers_are_poisoned(&a), "outputs of a failed call");
    c.fail_at = -1;
    CHECK(ask_run(&a, ctx), "first");
    const int calls = c.calls;
    CHECK(ask_run(&a, ctx) && c.calls == calls, "%d allocations", c.calls - calls);
    attend_context_destroy(ctx);
    CHECK(c.live == 0 && !c.misused, "%d blocks left", c.live);
}

/* ---- errors --------------------------------------------------------------- */

/* Expects failure with this message and unchanged outputs. */
static int refused(ask *a, attend_context *ctx, const attend_rule *rule,
                   const attend_inspection *sound, const char *message)
{
    attend_error err = {.status = ATTEND_OK, .message = ""};
    const attend_status status = attend_inspect(ctx, rule, &a->want, &err);

    a->want = *sound;
    return is_refused(status, ATTEND_EINVAL, &err, message, "") &&
           strcmp(err.message, message) == 0 && answers_are_poisoned(a);
}

/* A valid request and the default rule, after the invalid case `wrong`. */
#define REFUSES(message, wrong)                                                          \
    do {                                                                                 \
        attend_rule rule = attend_rule_default();                                        \
        wrong;                                                                           \
        CHECK(refused(&a, ctx, &rule, &sound, message), message);                        \
    } while (0)

TEST(errors_name_the_field)
{
    auto_context const ctx = open_set("ref", 1);
    auto_ask a = ask_make(shapes[1], ATTEND_F32, RULE_PLAIN, 1);

    ask_everything(&a, 10);
    ask_poison(&a);
    const attend_inspection sound = a.want;
    REFUSES("q.size[2] (-3) is outside 0..1099511627776", a.want.q.size[2] = -3);
    REFUSES("q.dtype (bool) is not a floating dtype", a.want.q.dtype = ATTEND_BOOL);
    REFUSES("k.dtype (f64) differs from q.dtype (f32): f64 does not mix",
            a.want.k.dtype = ATTEND_F64);
    REFUSES("k.size[0] (nb, 3) differs from q's (2)", a.want.k.size[0] = 3);
    REFUSES("k.size[3] (d, 7) differs from q's (24)", a.want.k.size[3] = 7);
    REFUSES("hq (4) is not a multiple of hkv (3)", a.want.k.size[1] = 3);
    REFUSES("lse.size[1] (3) must be 4", a.want.lse.size[1] = 3);
    REFUSES("lse.size[3] (2) must be 1", a.want.lse.size[3] = 2);
    REFUSES("lse.dtype (bf16) must be f32 or f64", a.want.lse.dtype = ATTEND_BF16);
    REFUSES("column_mass.size[3] (64) must be 65", a.want.column_mass.size[3] = 64);
    REFUSES("column_mass.dtype (f16) must be f32", a.want.column_mass.dtype = ATTEND_F16);
    REFUSES("column_mass.stride[3] (0) makes 65 elements share an address",
            a.want.column_mass.stride[3] = 0);
    REFUSES("column_max.size[2] (37) must be 1", a.want.column_max.size[2] = 37);
    REFUSES("column_last.size[0] (1) must be 2", a.want.column_last.size[0] = 1);
    REFUSES("last_queries (0) is outside 1..37 (nq)", a.want.last_queries = 0);
    REFUSES("last_queries (38) is outside 1..37 (nq)", a.want.last_queries = 38);
    REFUSES("pooled_block (0) is below 1", a.want.pooled_block = 0);
    REFUSES("pooled.size[3] (7) must be 6", a.want.pooled_block = 11);
    REFUSES("pooled.size[2] (5) must be 4", a.want.pooled.size[2] = 5);
    REFUSES("zoom.size[1] (2) must be 4", a.want.zoom.size[1] = 2);
    REFUSES("zoom_query (-1) and zoom.size[2] (18) leave 0..37", a.want.zoom_query = -1);
    REFUSES("zoom_query (20) and zoom.size[2] (18) leave 0..37", a.want.zoom_query = 20);
    REFUSES("zoom_query (9223372036854775807) and zoom.size[2] (18) leave 0..37",
            a.want.zoom_query = INT64_MAX);
    REFUSES("zoom_key (34) and zoom.size[3] (32) leave 0..65", a.want.zoom_key = 34);
    REFUSES("probe_count (-1) is negative", a.want.probe_count = -1);
}

TEST(errors_of_pointers_and_probes)
{
    static const double slopes[] = {0, -INFINITY, 0, 0}, sinks[] = {1, -INFINITY, NAN, 0};
    auto_context const ctx = open_set("ref", 1);
    auto_ask a = ask_make(shapes[1], ATTEND_F32, RULE_PLAIN, 1);
    attend_probe probes[3] = {{0, 0, 0, 0}, {1, 3, 36, 64}, {0, 0, 0, 0}};
    attend_error err = {.status = ATTEND_OK, .message = ""};

    ask_everything(&a, 10);
    a.want.probes = probes;
    a.want.probe_count = 3;
    const attend_inspection sound = a.want;
    CHECK(ask_run(&a, ctx), "sound");
    ask_poison(&a);
    REFUSES("probes[2].b (2) is outside 0..1", probes[2].b = 2);
    probes[2].b = 0;
    REFUSES("probes[2].h (-1) is outside 0..3", probes[2].h = -1);
    probes[2].h = 0;
    REFUSES("probes[2].i (37) is outside 0..36", probes[2].i = 37);
    probes[2].i = 0;
    REFUSES("probes[2].j (65) is outside 0..64", probes[2].j = 65);
    probes[2].j = 0;
    REFUSES("probe_weights is NULL, but probe_count is 3", a.want.probe_weights = NULL);
    REFUSES("probes is NULL, but probe_count is 3", a.want.probes = NULL);
    REFUSES("lse.data is NULL", a.want.lse.data = NULL);
    REFUSES("k.data is NULL", a.want.k.data = NULL);
    REFUSES("window_left (-2) is below -1", rule.window_left = -2);
    REFUSES("alibi[1] (-inf) is not finite", rule.alibi = slopes);
    REFUSES("sinks[2] (nan) is neither finite nor -inf", rule.sinks = sinks);
    a.want.struct_size = 1;
    CHECK(is_refused(attend_inspect(ctx, NULL, &a.want, &err), ATTEND_EINVAL, &err,
                     "inspection.struct_size", "(1)"),
          "struct_size");
    CHECK(attend_inspect(ctx, NULL, NULL, &err) == ATTEND_EINVAL &&
              strcmp(err.message, "inspection is NULL") == 0,
          "%s", err.message);
    CHECK(attend_inspect(NULL, NULL, &sound, &err) == ATTEND_EINVAL &&
              strcmp(err.message, "ctx is NULL") == 0,
          "%s", err.message);
}

int main(void)
{
    if (splits_are_forced()) { /* outputs of a forward pass only */
        RUN(zoom_is_the_weights);
        return split_finish();
    }
    test_run_all();
    return test_finish();
}

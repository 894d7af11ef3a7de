/* SPDX-License-Identifier: MIT */
/* Rows of test_conformance.c on hidden keys, empty rows and non-finite values. */
#include "conformance_rows.h"

static int row_is_empty(const problem *p, int64_t b, int64_t h, int64_t i)
{
    for (int64_t c = 0; c < p->n.dv; c++)
        if (tensor_get(&p->io.out, b, h, i, c) != 0.0)
            return 0;
    for (int64_t j = 0; j < p->n.nk; j++)
        if (tensor_get(&p->io.weights, b, h, i, j) != 0.0)
            return 0;
    return tensor_get(&p->io.lse, b, h, i, 0) == -INFINITY;
}

static int row_is_nan(const problem *p, int64_t b, int64_t h, int64_t i)
{
    for (int64_t c = 0; c < p->n.dv; c++)
        if (!isnan(tensor_get(&p->io.out, b, h, i, c)))
            return 0;
    return isnan(tensor_get(&p->io.lse, b, h, i, 0));
}

/* Fills K and V of key j with `value`. */
static void overwrite_keys(const problem *p, int64_t b, int64_t g, int64_t j,
                           double value)
{
    for (int64_t c = 0; c < p->n.d; c++)
        view_set(&p->io.k, b, g, j, c, value);
    for (int64_t c = 0; c < p->n.dv; c++)
        view_set(&p->io.v, b, g, j, c, value);
}

/* Puts row (b, h, i) of a run back to that of another, so that the rest can be compared.
 */
static void put_back(const problem *p, const result *from, int64_t b, int64_t h,
                     int64_t i)
{
    const attend_tensor *const t[] = {&p->io.out, &p->io.lse};
    const void *const bits[] = {from->out, from->lse};

    for (int x = 0; x < 2; x++)
        for (int64_t c = 0; c < t[x]->size[3]; c++) {
            const int64_t at = view_at(t[x]->stride, b, h, i, c);
            check_store(t[x]->data, t[x]->dtype, at,
                        check_load(bits[x], t[x]->dtype, at));
        }
}

void row_1_all_false_row(attend_context *ctx, attend_dtype dtype)
{
    auto_problem p = problem_make((shape){2, 2, 1, 37, 53, 16, 8}, dtype, 1);

    problem_mask(&p, 2, 1, 37, 53);
    CHECK(problem_check(&p, ctx), "nothing hidden");
    auto_result all = result_copy(&p);
    hide_keys(&p, 1, 0, 5, 0, 53);
    CHECK(problem_check(&p, ctx), "row 5 of batch 1 hidden");
    for (int64_t h = 0; h < 2; h++) {
        CHECK(row_is_empty(&p, 1, h, 5), "head %lld", (long long)h);
        put_back(&p, &all, 1, h, 5);
    }
    CHECK(same_bits(&p.io.out, all.out, "out"),
          "a row changed with its neighbour's mask");
}

/* union_of_bands: j >= i or j <= i - 10; else only i - 10 <= j <= i. */
static void band_problem(attend_context *ctx, attend_dtype dtype, int union_of_bands,
                         int by_bias)
{
    enum { N = 600 };
    auto_problem p = problem_make((shape){1, 1, 1, N, N, 4, 2}, dtype, 2);

    if (by_bias)
        problem_bias(&p, ATTEND_F32, 1, 1, N, N);
    else
        problem_mask(&p, 1, 1, N, N);
    for (int64_t i = 0; i < N; i++)
        for (int64_t j = 0; j < N; j++) {
            const int seen =
                union_of_bands ? j >= i || j <= i - 10 : j <= i && j >= i - 10;
            if (!seen && by_bias)
                view_set(&p.rule.bias, 0, 0, i, j, -INFINITY);
            else if (!seen)
                view_set(&p.rule.mask, 0, 0, i, j, 0.0);
        }
    CHECK(problem_check(&p, ctx), "%s as a %s", union_of_bands ? "two bands" : "one band",
          by_bias ? "bias of -inf" : "mask");
}

void row_2_band(attend_context *ctx, attend_dtype dtype)
{
    const int turn = dtype == ATTEND_F32 || dtype == ATTEND_BF16;

    for (int variant = 0; variant < 4; variant++)
        if (variant == turn || variant == 3 - turn || test_draws(0.25))
            band_problem(ctx, dtype, variant & 1, variant >> 1);
}

void row_4_masked_head(attend_context *ctx, attend_dtype dtype)
{
    auto_problem p = problem_make((shape){1, 3, 3, 20, 45, 16, 16}, dtype, 4);

    problem_mask(&p, 1, 3, 1, 45);
    hide_keys(&p, 0, 1, 0, 0, 45);
    CHECK(problem_check(&p, ctx), "head 1 hidden");
    for (int64_t i = 0; i < 20; i++)
        CHECK(row_is_empty(&p, 0, 1, i), "row %lld of the hidden head", (long long)i);
}

/* Runs self-attention over `x` (1, 1, n, d) twice, the output being the next input. */
static int two_layers(problem *p, attend_context *ctx)
{
    for (int layer = 0; layer < 2; layer++) {
        if (layer == 1)
            memcpy((void *)(uintptr_t)p->io.q.data, p->io.out.data,
                   bytes_of(p->io.q.size, p->dtype));
        p->io.k = p->io.v = p->io.q;
        if (!problem_run(p, ctx) || (layer == 0 && !problem_is_close(p)))
            return 0;
    }
    return 1;
}

void row_5_left_padding(attend_context *ctx, attend_dtype dtype)
{
    enum { N = 40, PAD = 13, D = 16 };
    auto_problem padded = problem_make((shape){1, 1, 1, N, N, D, D}, dtype, 5);
    auto_problem bare = problem_make((shape){1, 1, 1, N - PAD, N - PAD, D, D}, dtype, 5);

    for (int64_t i = 0; i < N - PAD; i++)
        for (int64_t c = 0; c < D; c++)
            view_set(&bare.io.q, 0, 0, i, c, view_get(&padded.io.q, 0, 0, PAD + i, c));
    padded.rule.causal = bare.rule.causal = ATTEND_CAUSAL_TOP_LEFT;
    problem_mask(&padded, 1, 1, 1, N);
    hide_keys(&padded, 0, 0, 0, 0, PAD);
    CHECK(two_layers(&padded, ctx) && two_layers(&bare, ctx), "two layers");
    for (int64_t i = 0; i < PAD; i++)
        CHECK(row_is_empty(&padded, 0, 0, i), "padding row %lld", (long long)i);
    for (int64_t i = 0; i < N - PAD; i++)
        for (int64_t c = 0; c < D; c++) {
            const double got = tensor_get(&padded.io.out, 0, 0, PAD + i, c);
            const double want = tensor_get(&bare.io.out, 0, 0, i, c);
            /* Each layer errs by type_error() of max |V|, which is below 4 here. */
            CHECK(fabs(got - want) <= 8.0 * type_error(dtype),
                  "row %lld: got %g, want %g", (long long)i, got, want);
        }
}

void row_7_masked_rows_in_a_tile(attend_context *ctx, attend_dtype dtype)
{
    enum { N = 150 };
    static const int64_t first[] = {0, 0, 1, 60, 127, 136, 15};
    static const int64_t count[] = {14, 1, 3, 9, 2, 14, 100};

    for (size_t at = 0; at < sizeof first / sizeof first[0]; at++) {
        auto_problem p = problem_make((shape){1, 2, 1, N, 70, 8, 8}, dtype, 7);
        problem_mask(&p, 1, 1, N, 70);
        for (int64_t i = first[at]; i < first[at] + count[at]; i++)
            hide_keys(&p, 0, 0, i, 0, 70);
        CHECK(problem_check(&p, ctx), "%lld rows hidden from %lld on",
              (long long)count[at], (long long)first[at]);
        for (int64_t i = first[at]; i < first[at] + count[at]; i++)
            CHECK(row_is_empty(&p, 0, 1, i), "row %lld", (long long)i);
    }
}

void row_8_first_tile_masked(attend_context *ctx, attend_dtype dtype)
{
    static const int64_t hidden[] = {1, 16, 64, 128, 256, 299};

    for (size_t at = 0; at < sizeof hidden / sizeof hidden[0]; at++) {
        auto_problem p = problem_make((shape){1, 1, 1, 9, 300, 8, 8}, dtype, 8);
        problem_mask(&p, 1, 1, 1, 300);
        hide_keys(&p, 0, 0, 0, 0, hidden[at]);
        CHECK(problem_check(&p, ctx), "the first %lld keys hidden",
              (long long)hidden[at]);
    }
}

void row_11_empty_causal_rows(attend_context *ctx, attend_dtype dtype)
{
    auto_problem p = problem_make((shape){1, 2, 2, 50, 17, 8, 8}, dtype, 11);

    p.rule.causal = ATTEND_CAUSAL_BOTTOM_RIGHT;
    CHECK(problem_check(&p, ctx), "bottom-right");
    for (int64_t i = 0; i < 50; i++)
        CHECK(row_is_empty(&p, 0, 1, i) == (i < 50 - 17), "row %lld", (long long)i);
}

void row_13_lse_of_empty_rows(attend_context *ctx, attend_dtype dtype)
{
    static const double sinks[] = {-3.0, 0.5};
    static const int64_t offset[] = {-9};

    for (int why = 0; why < 6; why++) {
        const shape n = {1, 2, 1, 9, why == 5 ? 0 : 40, 8, 4};
        auto_problem p = problem_make(n, dtype, 13);
        if (why == 0) {
            problem_mask(&p, 1, 1, 1, 1);
            fill_value(&p.rule.mask, 0.0);
        } else if (why == 1) {
            problem_key_lengths(&p)[0] = 0;
        } else if (why == 2) {
            p.rule.causal = ATTEND_CAUSAL_OFFSET;
            p.rule.causal_offset = offset;
        } else if (why == 3) {
            /* The windows of the nine rows cover keys 0 .. 10, and the mask hides these.
             */
            p.rule.window_left = 0, p.rule.window_right = 2;
            problem_mask(&p, 1, 1, 1, 40);
            hide_keys(&p, 0, 0, 0, 0, 11);
        } else if (why == 4) {
            problem_bias(&p, ATTEND_F32, 1, 1, 1, 1);
            fill_value(&p.rule.bias, -INFINITY);
        }
        CHECK(problem_check(&p, ctx), "empty by way %d", why);
        for (int64_t i = 0; i < 9; i++)
            CHECK(row_is_empty(&p, 0, 1, i), "way %d, row %lld", why, (long long)i);
        p.rule.sinks = sinks;
        CHECK(problem_check(&p, ctx), "empty by way %d, with sinks", why);
        for (int64_t i = 0; i < 9; i++) {
            CHECK(tensor_get(&p.io.lse, 0, 1, i, 0) == sinks[1], "way %d: lse %g", why,
                  tensor_get(&p.io.lse, 0, 1, i, 0));
            CHECK(tensor_get(&p.io.out, 0, 1, i, 0) == 0.0, "way %d: out %g", why,
                  tensor_get(&p.io.out, 0, 1, i, 0));
        }
    }
}

static void row_19_nan_at_masked_keys(attend_context *ctx, attend_dtype dtype)
{
    static const double values[] = {NAN, INFINITY, -INFINITY};

    for (int way = 0; way < 4; way++) {
        auto_problem p = problem_make((shape){2, 4, 2, 21, 90, 16, 12}, dtype, 19);
        if (way == 0) {
            problem_mask(&p, 2, 1, 1, 90);
            for (int64_t j = 0; j < 90; j++)
                for (int64_t b = 0; b < 2; b++)
                    view_set(&p.rule.mask, b, 0, 0, j, (j * 7 + b) % 3 == 0);
        } else if (way == 1) {
            p.rule.causal = ATTEND_CAUSAL_TOP_LEFT;
        } else if (way == 2) {
            p.rule.causal = ATTEND_CAUSAL_BOTTOM_RIGHT;
            p.rule.window_left = 5;
        } else {
            p.rule.window_left = 3, p.rule.window_right = 4;
        }
        CHECK(problem_check(&p, ctx), "clean, way %d", way);
        auto_result clean = result_copy(&p);
        auto_check_problem dense = dense_problem(&p);
        for (size_t at = 0; at < sizeof values / sizeof values[0]; at++) {
            for (int64_t b = 0; b < 2; b++)
                for (int64_t j = 0; j < 90; j++) {
                    int seen = 0;
                    for (int64_t i = 0; i < 21; i++)
                        seen |= check_sees(&dense, b, 0, i, j);
                    if (!seen)
                        for (int64_t g = 0; g < 2; g++)
                            overwrite_keys(&p, b, g, j, values[at]);
                }
            CHECK(problem_gives(&p, ctx, &clean), "way %d: %g leaks", way, values[at]);
        }
    }
}

/* Keys visible to some rows of a tile only: the selecting path. */
static void row_19_nan_at_partly_masked_keys(attend_context *ctx, attend_dtype dtype)
{
    auto_problem p = problem_make((shape){1, 2, 2, 33, 33, 16, 12}, dtype, 119);

    p.rule.causal = ATTEND_CAUSAL_TOP_LEFT;
    CHECK(problem_check(&p, ctx), "clean");
    auto_result clean = result_copy(&p);
    for (int64_t g = 0; g < 2; g++)
        overwrite_keys(&p, 0, g, 20, NAN);
    CHECK(problem_run(&p, ctx), "poisoned");
    for (int64_t h = 0; h < 2; h++)
        for (int64_t i = 20; i < 33; i++) {
            CHECK(row_is_nan(&p, 0, h, i), "row %lld sees NaN", (long long)i);
            put_back(&p, &clean, 0, h, i);
        }
    CHECK(same_bits(&p.io.out, clean.out, "out"), "a row before key 20 changed");
    CHECK(same_bits(&p.io.lse, clean.lse, "lse"), "a row before key 20 changed");
}

void row_19_nan_in_masked_keys(attend_context *ctx, attend_dtype dtype)
{
    row_19_nan_at_masked_keys(ctx, dtype);
    row_19_nan_at_partly_masked_keys(ctx, dtype);
}

/*
 * +Inf in column 3 of V of one key that every row sees, with a score `fall` below the
 * others: by its bias, or because another key is larger, so that a sum with the Inf is
 * rescaled.  The column must be `want`, the others finite.
 */
static void expect_infinite_column(attend_context *ctx, attend_dtype dtype, shape n,
                                   double fall, int by_another, double want)
{
    for (int64_t at = 1; at < n.nk; at += 997) {
        auto_problem p = problem_lean(n, dtype, 20);
        const int64_t other = at > n.nk / 2 ? 0 : n.nk - 1;

        problem_bias(&p, ATTEND_F64, 1, 1, 1, n.nk);
        view_set(&p.rule.bias, 0, 0, 0, by_another ? other : at,
                 by_another ? fall : -fall);
        view_set(&p.io.v, 0, 0, at, 3, INFINITY);
        CHECK(problem_run(&p, ctx), "%g", fall);
        for (int64_t i = 0; i < n.nq; i++)
            for (int64_t c = 0; c < n.dv; c++) {
                const double got = tensor_get(&p.io.out, 0, 0, i, c);

                CHECK(c != 3        ? isfinite(got)
                      : isnan(want) ? isnan(got)
                                    : got == want,
                      "key %lld, %g below%s: column %lld is %g", (long long)at, fall,
                      by_another ? " another" : "", (long long)c, got);
            }
    }
}

/* Visible Inf has an effect with any weight: 0 * Inf is NaN. */
static void infinite_values(attend_context *ctx, attend_dtype dtype)
{
    static const int64_t queries[] = {1, 17};

    for (int x = 0; x < 2; x++) {
        const shape n = {1, 1, 1, queries[x], 2100, 8, 5};
        expect_infinite_column(ctx, dtype, n, 0, 0, INFINITY);
        expect_infinite_column(ctx, dtype, n, 70, 0, INFINITY);
        expect_infinite_column(ctx, dtype, n, 2000, 0, NAN);
        expect_infinite_column(ctx, dtype, n, 2000, 1, NAN);
        expect_infinite_column(ctx, dtype, n, INFINITY, 0, NAN);
    }
}

void row_20_nan_query(attend_context *ctx, attend_dtype dtype)
{
    auto_problem p = problem_make((shape){1, 2, 1, 19, 35, 16, 8}, dtype, 20);

    CHECK(problem_check(&p, ctx), "clean");
    auto_result clean = result_copy(&p);
    view_set(&p.io.q, 0, 1, 4, 9, NAN);
    CHECK(problem_check(&p, ctx), "one NaN in q");
    CHECK(row_is_nan(&p, 0, 1, 4), "the row of the NaN");
    put_back(&p, &clean, 0, 1, 4);
    CHECK(same_bits(&p.io.out, clean.out, "out"), "another row changed");
    infinite_values(ctx, dtype);
}

void row_21_nan_under_a_bias(attend_context *ctx, attend_dtype dtype)
{
    static const double low[] = {-INFINITY, -3.3895313892515355e38};

    for (size_t at = 0; at < 2; at++) {
        auto_problem p = problem_make((shape){1, 1, 1, 3, 40, 8, 8}, dtype, 21);
        problem_bias(&p, ATTEND_BF16, 1, 1, 1, 40);
        fill_value(&p.rule.bias, low[at]);
        view_set(&p.io.k, 0, 0, 17, 2, NAN);
        CHECK(problem_run(&p, ctx), "bias %g", low[at]);
        for (int64_t i = 0; i < 3; i++)
            CHECK(row_is_nan(&p, 0, 0, i), "bias %g: row %lld hides a NaN score", low[at],
                  (long long)i);
    }
}

void row_22_stale_cache(attend_context *ctx, attend_dtype dtype)
{
    static const int64_t lengths[] = {0, 1, 63, 64, 65, 130};
    static const double values[] = {NAN, INFINITY, 1e4, -1e4};
    enum { B = 6, NK = 130 };

    for (int64_t nq = 1; nq <= 5; nq += 4) {
        auto_problem p = problem_make((shape){B, 2, 1, nq, NK, 16, 16}, dtype, 22);
        memcpy(problem_key_lengths(&p), lengths, sizeof lengths);
        CHECK(problem_check(&p, ctx), "clean");
        auto_result clean = result_copy(&p);
        for (size_t at = 0; at < sizeof values / sizeof values[0]; at++) {
            for (int64_t b = 0; b < B; b++)
                for (int64_t j = lengths[b]; j < NK; j++)
                    overwrite_keys(&p, b, 0, j, values[at]);
            CHECK(problem_gives(&p, ctx, &clean), "%g past the length leaks", values[at]);
        }
    }
}

void row_24_empty_sequences(attend_context *ctx, attend_dtype dtype)
{
    static const int64_t lengths[] = {0, 7, 0, 0, 64, 0};

    for (int causal = 0; causal < 2; causal++) {
        auto_problem p = problem_make((shape){6, 2, 2, 5, 64, 8, 8}, dtype, 24);
        memcpy(problem_key_lengths(&p), lengths, sizeof lengths);
        p.rule.causal = causal ? ATTEND_CAUSAL_TOP_LEFT : ATTEND_CAUSAL_NONE;
        CHECK(problem_check(&p, ctx), "lengths 0 7 0 0 64 0");
        for (int64_t b = 0; b < 6; b++)
            CHECK(row_is_empty(&p, b, 1, 4) == (lengths[b] == 0), "batch %lld",
                  (long long)b);
    }
}

void row_33_more_queries_than_keys(attend_context *ctx, attend_dtype dtype)
{
    for (int local = 0; local < 2; local++) {
        auto_problem p = problem_make((shape){1, 1, 1, 140, 70, 8, 8}, dtype, 33);
        p.rule.causal = ATTEND_CAUSAL_BOTTOM_RIGHT;
        p.rule.window_left = local ? 6 : -1;
        CHECK(problem_check(&p, ctx), "window_left %lld", (long long)p.rule.window_left);
        for (int64_t i = 0; i < 140; i++)
            CHECK(row_is_empty(&p, 0, 0, i) == (i < 70), "row %lld", (long long)i);
    }
}

void row_34_softcap_before_mask(attend_context *ctx, attend_dtype dtype)
{
    auto_problem p = problem_make((shape){1, 2, 1, 12, 50, 16, 8}, dtype, 34);
    const double huge = dtype == ATTEND_F16 ? 6e4 : 1e30;

    p.rule.softcap = 2.0;
    problem_mask(&p, 1, 1, 12, 50);
    for (int64_t i = 0; i < 12; i++)
        hide_keys(&p, 0, 0, i, 30, 50);
    CHECK(problem_check(&p, ctx), "small V");
    auto_result small = result_copy(&p);
    for (int64_t j = 30; j < 50; j++)
        for (int64_t c = 0; c < 8; c++)
            view_set(&p.io.v, 0, 0, j, c, huge);
    CHECK(problem_gives(&p, ctx, &small), "a masked V of %g leaks", huge);
}

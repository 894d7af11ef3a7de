/* SPDX-License-Identifier: MIT */
/* Rows of test_conformance.c on large scores, extreme biases, LSE and merging. */
#include "conformance_rows.h"

#include "support/pools.h"

/* The lowest finite number of a dtype. */
static double lowest(attend_dtype dtype) { return -check_largest(dtype); }

/* Row i is the mean of the values of keys first, first + step, ... */
static int row_is_mean(const problem *p, int64_t i, int64_t first, int64_t step)
{
    for (int64_t c = 0; c < p->n.dv; c++) {
        const double got = tensor_get(&p->io.out, 0, 0, i, c);
        double sum = 0.0, count = 0.0;
        for (int64_t j = first; j < p->n.nk; j += step, count++)
            sum += view_get(&p->io.v, 0, 0, j, c);
        if (fabs(got - sum / count) <= 4.0 * type_error(p->dtype))
            continue;
        test_fail(__FILE__, __LINE__, "a mean", "row %lld is %g, the mean %g",
                  (long long)i, got, sum / count);
        return 0;
    }
    return 1;
}

/* Row i is the value of one key. */
static int row_is_value(const problem *p, int64_t i, int64_t key)
{
    for (int64_t c = 0; c < p->n.dv; c++)
        if (tensor_get(&p->io.out, 0, 0, i, c) != view_get(&p->io.v, 0, 0, key, c))
            return 0;
    return 1;
}

void row_3_lowest_bias(attend_context *ctx, attend_dtype dtype)
{
    for (size_t at = 0; at < FLOAT_DTYPES; at++) {
        const attend_dtype bias = float_dtypes[at];
        auto_problem p = problem_make((shape){1, 1, 1, 6, 70, 8, 4}, dtype, 3);
        p.close = CLOSE_DERIVED;
        problem_bias(&p, bias, 1, 1, 6, 70);
        for (int64_t i = 0; i < 6; i += 2)
            for (int64_t j = 0; j < 70; j++)
                view_set(&p.rule.bias, 0, 0, i, j, lowest(bias));
        CHECK(problem_run(&p, ctx), "bias %s", attend_dtype_name(bias));
        for (int64_t i = 0; i < 6; i++) {
            for (int64_t c = 0; c < 4; c++)
                CHECK(isfinite(tensor_get(&p.io.out, 0, 0, i, c)), "bias %s: row %lld",
                      attend_dtype_name(bias), (long long)i);
            /*
             * In f16, -65504 does not absorb the scores; the lowest numbers of other
             * types do.
             */
            CHECK(bias == ATTEND_F16 || i % 2 == 1 || row_is_mean(&p, i, 0, 1), "bias %s",
                  attend_dtype_name(bias));
        }
        if (bias == ATTEND_F16)
            CHECK(problem_is_close(&p), "bias f16");
    }
}

void row_6_lowest_twice(attend_context *ctx, attend_dtype dtype)
{
    const double low = lowest(ATTEND_F32), twice = (double)((float)low + (float)low);
    auto_problem p = problem_make((shape){1, 1, 1, 3, 64, 8, 4}, dtype, 6);

    CHECK(twice == -INFINITY, "%g", twice);
    problem_bias(&p, ATTEND_F32, 1, 1, 3, 64);
    for (int64_t j = 0; j < 64; j++) {
        view_set(&p.rule.bias, 0, 0, 0, j, twice);
        view_set(&p.rule.bias, 0, 0, 1, j, j % 2 == 0 ? low : twice);
    }
    CHECK(problem_run(&p, ctx), "min + min");
    CHECK(tensor_get(&p.io.lse, 0, 0, 0, 0) == -INFINITY, "lse %g",
          tensor_get(&p.io.lse, 0, 0, 0, 0));
    CHECK(row_is_mean(&p, 1, 0, 2), "the row of half min");
    for (int64_t c = 0; c < 4; c++) {
        const double empty = tensor_get(&p.io.out, 0, 0, 0, c);
        CHECK(empty == 0.0, "the row of -inf is %g", empty);
        CHECK(isfinite(tensor_get(&p.io.out, 0, 0, 2, c)), "the plain row");
    }
}

void row_9_scores_below_any_sentinel(attend_context *ctx, attend_dtype dtype)
{
    auto_problem p = problem_make((shape){1, 1, 1, 2, 40, 1, 4}, dtype, 9);

    p.rule.scale_is_set = 1;
    p.rule.scale = 1.0;
    fill_value(&p.io.q, 496.0);
    fill_value(&p.io.k, -494.0);
    CHECK(problem_run(&p, ctx) && row_is_mean(&p, 1, 0, 1), "all scores -245024");
    const double lse = tensor_get(&p.io.lse, 0, 0, 0, 0), want = -245024.0 + log(40.0);
    CHECK(fabs(lse - want) <= 2e-6 * fabs(want), "lse %.9g, want %.9g", lse, want);
    /* One key 496 above the rest takes all the weight. */
    view_set(&p.io.k, 0, 0, 23, 0, -493.0);
    CHECK(problem_run(&p, ctx) && row_is_value(&p, 0, 23), "one larger score");
}

void row_10_mask_below_sentinel(attend_context *ctx, attend_dtype dtype)
{
    auto_problem p = problem_make((shape){1, 1, 1, 1, 2, 2, 1}, dtype, 10);

    fill_value(&p.io.q, 0.0);
    fill_value(&p.io.k, 0.0);
    view_set(&p.io.q, 0, 0, 0, 0, -20000.0);
    view_set(&p.io.k, 0, 0, 0, 0, 1.0);
    view_set(&p.io.v, 0, 0, 0, 0, 1.0);
    view_set(&p.io.v, 0, 0, 1, 0, 100.0);
    problem_mask(&p, 1, 1, 1, 2);
    view_set(&p.rule.mask, 0, 0, 0, 1, 0.0);
    p.rule.scale_is_set = 1;
    p.rule.scale = 1.0;
    CHECK(problem_run(&p, ctx), "a seen score of -20000");
    CHECK(tensor_get(&p.io.out, 0, 0, 0, 0) == 1.0, "got %g",
          tensor_get(&p.io.out, 0, 0, 0, 0));
    CHECK(tensor_get(&p.io.weights, 0, 0, 0, 1) == 0.0, "the hidden key has weight");
}

/* All elements of q, k and v are `value`; so is the output. */
static void constant_problem(attend_context *ctx, attend_dtype dtype, shape n,
                             double value)
{
    auto_problem p = problem_make(n, dtype, 14);

    fill_value(&p.io.q, value);
    fill_value(&p.io.k, value);
    fill_value(&p.io.v, value);
    const double stored = view_get(&p.io.v, 0, 0, 0, 0);
    CHECK(problem_run(&p, ctx), "full(%g)", value);
    for (int64_t at = 0; at < count_of(p.io.out.size); at++) {
        const double got = check_load(p.io.out.data, dtype, at);
        CHECK(fabs(got - stored) <= type_error(dtype) * stored, "at %lld: %g, want %g",
              (long long)at, got, stored);
    }
    const double want = stored * stored * sqrt((double)n.d) + log((double)n.nk);
    const double lse = tensor_get(&p.io.lse, 0, 0, 0, 0);
    CHECK(fabs(lse - want) <= 1e-5 * want, "lse %g, want %g", lse, want);
}

void row_14_huge_inputs(attend_context *ctx, attend_dtype dtype)
{
    if (dtype != ATTEND_F16) /* 133120 exceeds f16 */
        constant_problem(ctx, dtype, (shape){1, 2, 2, 33, 70, 64, 64}, 133120.0);
}

void row_15_scores_above_half(attend_context *ctx, attend_dtype dtype)
{
    constant_problem(ctx, dtype, (shape){1, 32, 32, 23, 23, 80, 80}, 256.0);
}

void row_16_softcap_of_huge_scores(attend_context *ctx, attend_dtype dtype)
{
    auto_problem p = problem_make((shape){1, 1, 1, 2, 24, 1, 4}, dtype, 16);

    p.close = CLOSE_DERIVED;
    p.rule.softcap = 50.0;
    p.rule.scale_is_set = 1;
    p.rule.scale = 1e4;
    view_set(&p.io.q, 0, 0, 0, 0, 1.0);
    view_set(&p.io.q, 0, 0, 1, 0, -1.0);
    for (int64_t j = 0; j < 24; j++)
        view_set(&p.io.k, 0, 0, j, 0, j % 3 == 0 ? 1.0 : -1.0);
    CHECK(problem_run(&p, ctx) && row_is_mean(&p, 0, 0, 3), "scores of 1e4 and -1e4");
    const double lse = tensor_get(&p.io.lse, 0, 0, 1, 0);
    CHECK(fabs(lse - (50.0 + log(16.0))) <= 1e-4, "lse %g, want %g", lse,
          50.0 + log(16.0));
    fill_value(&p.io.k, -1.0);
    CHECK(problem_check(&p, ctx), "every score -1e4");
}

void row_17_all_scores_near_minus_120(attend_context *ctx, attend_dtype dtype)
{
    static const int64_t lengths[] = {64, 192, 704, 65};

    for (size_t at = 0; at < sizeof lengths / sizeof lengths[0]; at++) {
        auto_problem p = problem_make((shape){1, 2, 1, 5, lengths[at], 9, 8}, dtype, 17);
        p.close = CLOSE_DERIVED;
        /* Channel 0 alone gives 15 * -24 / sqrt(9) = -120, the rest a little noise. */
        for (int64_t h = 0; h < 2; h++)
            for (int64_t i = 0; i < 5; i++)
                view_set(&p.io.q, 0, h, i, 0, 15.0);
        for (int64_t j = 0; j < lengths[at]; j++)
            view_set(&p.io.k, 0, 0, j, 0, -24.0);
        CHECK(problem_check(&p, ctx), "%lld keys", (long long)lengths[at]);
        CHECK(tensor_get(&p.io.lse, 0, 0, 0, 0) < -88.7, "lse %g",
              tensor_get(&p.io.lse, 0, 0, 0, 0));
    }
}

void row_18_negative_scale(attend_context *ctx, attend_dtype dtype)
{
    auto_problem p = problem_make((shape){1, 1, 1, 3, 50, 4, 4}, dtype, 18);

    p.close = CLOSE_DERIVED;
    p.rule.scale_is_set = 1;
    p.rule.scale = -0.75;
    CHECK(problem_check(&p, ctx), "scale -0.75");
    p.rule.scale = 0.0;
    CHECK(problem_check(&p, ctx), "scale 0");
    p.rule.scale = -1e4;
    fill_value(&p.io.q, 1.0);
    for (int64_t j = 0; j < 50; j++)
        for (int64_t c = 0; c < 4; c++)
            view_set(&p.io.k, 0, 0, j, c, (double)((j * 7) % 50));
    CHECK(problem_run(&p, ctx) && row_is_value(&p, 2, 0), "the smallest q.k takes all");
}

/* New threads each time, so that their order varies. */
void row_40_repeats(attend_context *ctx, attend_dtype dtype)
{
    auto_problem p = problem_make((shape){2, 4, 2, 40, 200, 16, 16}, dtype, 40);
    const int repeats = 6 + (int)test_count(dtype == ATTEND_F32 ? 30 : 6);
    pool_log log = {0, 0};

    p.rule.causal = ATTEND_CAUSAL_BOTTOM_RIGHT;
    CHECK(problem_check(&p, ctx), "first run");
    auto_result first = result_copy(&p);
    auto_context const threaded =
        pool_context(attend_context_isa(ctx), 3, pool_pthreads, &log);
    CHECK(threaded != NULL, "three threads");
    for (int repeat = 0; repeat < repeats; repeat++)
        CHECK(problem_gives(&p, threaded, &first), "repeat %d", repeat);
    CHECK(on_device(ctx) || log.calls == repeats, "the pool was called %d times",
          log.calls);
}

/* Merges parts and expects the O and LSE of a run. */
static void merges_to(const attend_part *parts, int64_t count, const problem *want,
                      const char *what)
{
    auto_problem merged = problem_make(want->n, want->dtype, 0);
    const attend_part bits = part_of(want);

    problem_poison(&merged);
    CHECK(attend_merge(parts, count, &merged.io.out, &merged.io.lse, NULL) == ATTEND_OK,
          "%s", what);
    CHECK(same_bits(&merged.io.out, bits.out.data, "out") &&
              same_bits(&merged.io.lse, bits.lse.data, "lse"),
          "%s", what);
}

void row_12_merge_of_empty_parts(attend_context *ctx, attend_dtype dtype)
{
    const shape n = {1, 1, 1, 4, 30, 8, 4};
    auto_problem empty = problem_make(n, dtype, 12), whole = problem_make(n, dtype, 12);
    const attend_part nothing = part_of(&empty), something = part_of(&whole);

    problem_key_lengths(&empty)[0] = 0;
    CHECK(problem_run(&empty, ctx) && problem_run(&whole, ctx), "parts");
    merges_to((attend_part[]){nothing, nothing}, 2, &empty, "two empty parts");
    merges_to((attend_part[]){nothing, something, nothing}, 3, &whole, "one full part");
    problem_free(&whole);
}

void row_42_merge_far_apart(attend_context *ctx, attend_dtype dtype)
{
    static const double shifts[] = {1e3, -1e3, 9e4, -9e4};

    for (size_t at = 0; at < sizeof shifts / sizeof shifts[0]; at++) {
        auto_problem a = problem_make((shape){1, 1, 1, 3, 20, 8, 4}, dtype, 42);
        auto_problem b = problem_make((shape){1, 1, 1, 3, 20, 8, 4}, dtype, 43);
        problem_bias(&b, ATTEND_F32, 1, 1, 1, 1);
        fill_value(&b.rule.bias, shifts[at]);
        CHECK(problem_run(&a, ctx) && problem_run(&b, ctx), "parts");
        merges_to((attend_part[]){part_of(&a), part_of(&b)}, 2,
                  shifts[at] > 0.0 ? &b : &a, "far apart");
    }
}

/* Cuts the keys into `ring` parts with f32 outputs and merges them. */
static int ring_merge(const problem *p, attend_context *ctx, int64_t ring)
{
    enum { RING_MAX = 8 };
    const attend_dtype wide = dtype_of_lse(p->dtype);
    auto_problem store = {.n = p->n, .dtype = p->dtype};
    attend_part parts[RING_MAX];
    int ok = 1;

    for (int64_t r = 0; r < ring && ok; r++) {
        const int64_t first = p->n.nk * r / ring, next = p->n.nk * (r + 1) / ring;
        problem part = *p;
        part.n.nk = part.io.k.size[2] = part.io.v.size[2] = next - first;
        part.io.k.data = view_from(p->io.k, 0, 0, first).data;
        part.io.v.data = view_from(p->io.v, 0, 0, first).data;
        part.io.out = own_tensor(&store, wide, p->n.nb, p->n.hq, p->n.nq, p->n.dv);
        part.io.lse = own_tensor(&store, wide, p->n.nb, p->n.hq, p->n.nq, 1);
        part.io.weights.data = NULL;
        ok = problem_run(&part, ctx);
        parts[r] = part_of(&part);
    }
    poison(&p->io.out);
    poison(&p->io.lse);
    ok = ok && attend_merge(parts, ring, &p->io.out, &p->io.lse, NULL) == ATTEND_OK;
    return ok;
}

void row_43_ring_of_parts(attend_context *ctx, attend_dtype dtype)
{
    auto_problem p = problem_lean((shape){1, 1, 1, 7, 200, 16, 8}, dtype, 44);

    for (int64_t ring = 1; ring <= 8; ring++) {
        CHECK(ring_merge(&p, ctx, ring), "ring of %lld", (long long)ring);
        CHECK(problem_is_close(&p), "ring of %lld", (long long)ring);
    }
}

void row_44_lse_is_natural(attend_context *ctx, attend_dtype dtype)
{
    auto_problem p = problem_make((shape){1, 1, 1, 1, 8, 1, 1}, dtype, 45);

    fill_value(&p.io.q, 0.0);
    CHECK(problem_run(&p, ctx), "eight scores of 0");
    CHECK(fabs(tensor_get(&p.io.lse, 0, 0, 0, 0) - 2.0794415416798357) <= 2e-6 * 3.1,
          "lse of eight zeros is %g, want ln 8", tensor_get(&p.io.lse, 0, 0, 0, 0));
    fill_value(&p.io.q, 3.0);
    fill_value(&p.io.k, 1.0);
    problem_key_lengths(&p)[0] = 1;
    CHECK(problem_run(&p, ctx), "one score of 3");
    CHECK(fabs(tensor_get(&p.io.lse, 0, 0, 0, 0) - 3.0) <= 2e-6 * 4.0,
          "lse of one score of 3 is %g", tensor_get(&p.io.lse, 0, 0, 0, 0));
}

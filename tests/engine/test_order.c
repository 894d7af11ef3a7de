/* SPDX-License-Identifier: MIT */
/*
 * attend_options.order.  SAME: a row has the same bits alone and among others, on every
 * set; FAST: the same call has the same bits for any number of threads, and both agree
 * with the definition.
 */
#include "context_errors.h"
#include "support/oracle.h"

static const shape shapes[] = {
    {1, 4, 2, 1, 3000, 32, 32},  /* grouped decode, several splits */
    {2, 2, 2, 3, 700, 40, 24},   /* a few rows, odd columns */
    {1, 2, 2, 33, 200, 80, 40},  /* a prefill with one row past whole vectors */
    {1, 1, 1, 50, 1100, 32, 16}, /* a long sequence */
};
enum { SHAPES = sizeof shapes / sizeof shapes[0] };

static attend_context *open_order(const char *isa, int threads, attend_order order)
{
    attend_options options = options_for(isa, threads);

    options.order = order;
    return open_context(&options);
}

static problem problem_at(int at, attend_dtype dtype)
{
    problem p = problem_lean(shapes[at], dtype, (uint64_t)at + 31);

    p.rule.causal = at % 2 ? ATTEND_CAUSAL_BOTTOM_RIGHT : ATTEND_CAUSAL_NONE;
    p.rule.window_left = at == 0 ? 1501 : -1;
    return p;
}

static void any_threads(attend_context *ctx, attend_order order)
{
    const char *const isa = attend_context_isa(ctx);
    auto_context const one = open_order(isa, 1, order);
    auto_context const many = open_order(isa, 3, order);

    for (int at = 0; at < SHAPES && one && many; at++)
        for (int type = 0; type < FLOAT_DTYPES; type++) {
            auto_problem p = problem_at(at, float_dtypes[type]);
            CHECK(problem_same_on(&p, one, many), "shape %d, %s: threads change bits", at,
                  attend_dtype_name(p.dtype));
            CHECK(problem_is_close(&p), "shape %d", at);
        }
}

static void fast(attend_context *ctx) { any_threads(ctx, ATTEND_ORDER_FAST); }
static void same(attend_context *ctx) { any_threads(ctx, ATTEND_ORDER_SAME); }

TEST(fast_has_the_same_bits_for_any_threads) { for_each_set(fast, 1); }
TEST(same_has_the_same_bits_for_any_threads) { for_each_set(same, 1); }

/*
 * The last query of every head, computed alone, has the bits of its row in the full call.
 */
TEST_ON_SETS(a_row_alone_is_the_row_among_others, ctx, 2)
{
    for (int type = 0; type < FLOAT_DTYPES; type++)
        for (int64_t rows = 2; rows <= 70; rows = rows * 3 + 1) {
            auto_problem p = problem_lean((shape){1, 4, 2, rows, 1100, 40, 24},
                                          float_dtypes[type], 77);
            const size_t row = (size_t)p.n.dv * attend_dtype_size(p.dtype);
            unsigned char alone[24 * 8];

            p.rule.causal = ATTEND_CAUSAL_BOTTOM_RIGHT;
            CHECK(problem_run(&p, ctx), "all rows");
            for (int64_t h = 0; h < p.n.hq; h++) {
                attend_io io = attend_io_default();
                io.q = view_from(p.io.q, 0, h, rows - 1);
                io.k = view_from(p.io.k, 0, h / 2, 0);
                io.v = view_from(p.io.v, 0, h / 2, 0);
                io.q.size[1] = io.q.size[2] = io.k.size[1] = io.v.size[1] = 1;
                io.out = p.io.out;
                io.out.data = alone;
                io.out.size[1] = io.out.size[2] = 1;
                CHECK(attend_forward(ctx, &p.rule, &io, NULL) == ATTEND_OK, "one row");
                const attend_view among =
                    view_from(view_of_tensor(&p.io.out), 0, h, rows - 1);
                CHECK(memcmp(alone, among.data, row) == 0, "%lld rows, head %lld, %s",
                      (long long)rows, (long long)h, attend_dtype_name(p.dtype));
            }
        }
}

TEST(other_orders_are_refused)
{
    attend_options options = attend_options_default();

    options.order = 2;
    expect_no_context(&options, ATTEND_EINVAL, "options.order", "(2)");
}

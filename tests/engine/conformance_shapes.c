/* SPDX-License-Identifier: MIT */
/* Rows of test_conformance.c on sizes, strides, alignments, heads and batches. */
#include "conformance_rows.h"

#include <sys/mman.h>

#include "support/strides.h"

void row_23_zero_sizes(attend_context *ctx, attend_dtype dtype)
{
    for (int zero = 0; zero < 64; zero++) {
        const int heads = zero & 2 ? 0 : 4;
        const shape n = {zero & 1 ? 0 : 2,  heads,
                         heads / 2,         zero & 4 ? 0 : 5,
                         zero & 8 ? 0 : 33, zero & 16 ? 0 : 16,
                         zero & 32 ? 0 : 8};
        auto_problem p = problem_make(n, dtype, 23);
        CHECK(problem_check(&p, ctx), "zero sizes %d", zero);
        p.rule.causal = ATTEND_CAUSAL_BOTTOM_RIGHT;
        problem_mask(&p, 1, 1, 1, 1);
        problem_key_lengths(&p);
        CHECK(problem_check(&p, ctx), "zero sizes %d, causal", zero);
    }
}

/*
 * Runs `p` with another layout of every input and output; results go to `p`, contiguous.
 */
static void check_layout(problem *p, attend_context *ctx, layout kind)
{
    auto_problem other = *p;
    attend_view *const views[] = {&other.io.q, &other.io.k, &other.io.v, &other.rule.mask,
                                  &other.rule.bias};
    attend_tensor *const outputs[] = {&other.io.out, &other.io.lse, &other.io.weights};
    const attend_tensor *const flat[] = {&p->io.out, &p->io.lse, &p->io.weights};

    other.owned_count = 0;
    problem_poison(p);
    for (size_t at = 0; at < sizeof views / sizeof views[0]; at++)
        *views[at] = restride(&other, views[at], kind);
    for (size_t at = 0; at < 3; at++)
        *outputs[at] = restride_output(&other, outputs[at], kind);
    attend_error err = {.status = ATTEND_OK};
    CHECK(attend_forward(ctx, &other.rule, &other.io, &err) == ATTEND_OK, "layout %d: %s",
          (int)kind, err.message);
    for (size_t at = 0; at < 3; at++)
        CHECK(gather_output(outputs[at], flat[at]),
              "layout %d: output %zu: a gap was written", (int)kind, at);
}

void row_25_any_strides(attend_context *ctx, attend_dtype dtype)
{
    auto_problem p = problem_make((shape){2, 4, 2, 21, 37, 19, 13}, dtype, 25);

    problem_mask(&p, 2, 1, 21, 37);
    for (int64_t i = 0; i < 21; i++)
        for (int64_t j = 0; j < 37; j++)
            view_set(&p.rule.mask, 1, 0, i, j, (i * j) % 4 != 1);
    problem_bias(&p, ATTEND_F16, 1, 4, 21, 37);
    fill_normal(&p.rule.bias, 25);
    p.close = CLOSE_DERIVED;
    CHECK(problem_check(&p, ctx), "contiguous");
    auto_result want = result_copy(&p);
    for (int kind = 0; kind < LAYOUT_COUNT; kind++) {
        check_layout(&p, ctx, (layout)kind);
        CHECK(result_is_same(&p, &want), "layout %d", kind);
    }
}

void row_26_broadcast_keys(attend_context *ctx, attend_dtype dtype)
{
    static const int64_t lengths[] = {1, 9, 17, 33, 65, 129, 257, 97};

    for (size_t at = 0; at < sizeof lengths / sizeof lengths[0]; at++) {
        const int64_t nk = lengths[at];
        /* One key for all, then one set of keys for all heads and batches. */
        for (int axes = 1; axes < 8; axes++) {
            auto_problem p = problem_make((shape){2, 2, 2, 3, nk, 8, 8}, dtype, 26);
            for (int axis = 0; axis < 3; axis++)
                if (axes >> axis & 1)
                    p.io.k.stride[axis] = p.io.v.stride[axis] = 0;
            CHECK(problem_check(&p, ctx), "%lld keys, stride 0 on axes %d", (long long)nk,
                  axes);
        }
    }
}

void row_27_around_65536(attend_context *ctx, attend_dtype dtype)
{
    for (int64_t n = 65535; n <= 65537; n++)
        for (int long_queries = 0; long_queries < 2; long_queries++) {
            if (n < 65537 && !test_draws(0.25))
                continue;
            const int64_t nq = long_queries ? n : 2, nk = long_queries ? 3 : n;
            auto_problem p = problem_make((shape){1, 1, 1, nq, nk, 2, 2}, dtype, 27);
            problem_mask(&p, 1, 1, long_queries ? n : 1, long_queries ? 1 : n);
            for (int64_t at = 0; at < n; at++)
                view_set(&p.rule.mask, 0, 0, long_queries ? at : 0, long_queries ? 0 : at,
                         at >= 65530 || at % 5 == 0);
            CHECK(problem_check(&p, ctx), "nq %lld nk %lld", (long long)nq,
                  (long long)nk);
        }
}

/* Moves a tensor's axis so far apart that 32-bit offsets overflow. */
typedef struct sparse {
    void *map;
    size_t size;
} sparse;

static sparse sparse_view(attend_view *view, int axis, int64_t stride)
{
    const attend_view from = *view;
    const size_t width = attend_dtype_size(view->dtype);
    int64_t low, high;

    view->stride[axis] = stride;
    stride_reach(view->size, view->stride, &low, &high);
    sparse s = {.map = MAP_FAILED};
    if (high - low >= PTRDIFF_MAX / (int64_t)width)
        return s;
    s.size = (size_t)(high - low + 1) * width;
    s.map = mmap(NULL, s.size, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (s.map == MAP_FAILED)
        return s;
    view->data = (const char *)s.map - low * (int64_t)width;
    copy_elements(&from, view);
    return s;
}

void row_28_far_offsets(attend_context *ctx, attend_dtype dtype)
{
    const int64_t far = ((int64_t)1 << 31) + 1003;
    if (on_device(ctx)) { /* host tensors are copied to it with the bytes in between */
        test_skip("tensors of many GB would be copied to the device");
        return;
    }
    auto_problem p = problem_make((shape){2, 2, 2, 3, 9, 8, 8}, dtype, 28);

    problem_mask(&p, 1, 2, 3, 9);
    view_set(&p.rule.mask, 0, 1, 2, 4, 0.0);
    CHECK(problem_check(&p, ctx), "near");
    auto_result want = result_copy(&p);
    problem wide = p;
    attend_view out = view_of_tensor(&p.io.out);
    sparse maps[] = {sparse_view(&wide.io.q, 2, far), sparse_view(&wide.io.k, 1, far),
                     sparse_view(&wide.io.v, 0, -far),
                     sparse_view(&wide.rule.mask, 2, far), sparse_view(&out, 1, far)};
    int mapped = 1;
    for (size_t at = 0; at < sizeof maps / sizeof maps[0]; at++)
        mapped &= maps[at].map != MAP_FAILED;
    if (mapped) {
        wide.io.out.data = (void *)(uintptr_t)out.data;
        memcpy(wide.io.out.stride, out.stride, sizeof out.stride);
        CHECK_OK(attend_forward, ctx, &wide.rule, &wide.io);
        const attend_view flat = view_of_tensor(&p.io.out);
        copy_elements(&out, &flat);
        CHECK(result_is_same(&p, &want), "offsets above 2^31");
    } else {
        test_skip("no address space for a sparse mapping");
    }
    for (size_t at = 0; at < sizeof maps / sizeof maps[0]; at++)
        if (maps[at].map != MAP_FAILED)
            munmap(maps[at].map, maps[at].size);
}

/* Every tensor ends at, or begins after, a page that faults. */
static void check_guarded(attend_context *ctx, attend_dtype dtype, shape n, int at_end)
{
    enum { TENSORS = 8 };
    auto_problem p = problem_make(n, dtype, 29);
    guarded pages[TENSORS];

    problem_mask(&p, 1, 1, n.nq, n.nk);
    problem_bias(&p, ATTEND_BF16, 1, 1, 1, n.nk);
    attend_view *const views[] = {&p.io.q, &p.io.k, &p.io.v, &p.rule.mask, &p.rule.bias};
    attend_tensor *const outputs[] = {&p.io.out, &p.io.lse, &p.io.weights};
    for (size_t at = 0; at < TENSORS; at++) {
        const size_t size = at < 5
                                ? bytes_of(views[at]->size, views[at]->dtype)
                                : bytes_of(outputs[at - 5]->size, outputs[at - 5]->dtype);
        pages[at] = guarded_make(size, at_end);
        if (at < 5)
            views[at]->data = memcpy(pages[at].data, views[at]->data, size);
        else
            outputs[at - 5]->data = pages[at].data;
    }
    CHECK(problem_check(&p, ctx), "guarded, nk %lld d %lld", (long long)n.nk,
          (long long)n.d);
    for (size_t at = 0; at < TENSORS; at++)
        guarded_free(&pages[at]);
}

void row_29_guard_pages(attend_context *ctx, attend_dtype dtype)
{
    static const int64_t keys[] = {1, 17, 33, 65, 129, 257, 513};
    static const int64_t dims[] = {1, 7, 16, 33};

    for (size_t at = 0; at < sizeof keys / sizeof keys[0]; at++)
        for (size_t dim = 0; dim < sizeof dims / sizeof dims[0]; dim++)
            for (int variant = 0; variant < 4; variant++)
                check_guarded(ctx, dtype,
                              (shape){1, 1, 1, variant & 2 ? 1 : 5, keys[at], dims[dim],
                                      dims[dim] + (variant & 1)},
                              variant & 1);
}

void row_30_tails_mostly_masked(attend_context *ctx, attend_dtype dtype)
{
    uint64_t state = 30;

    for (int64_t nk = 985; nk <= 1000; nk += 5) {
        auto_problem p = problem_make((shape){1, 2, 1, 7, nk, 32, 16}, dtype, 30);
        problem_mask(&p, 1, 1, 7, nk);
        for (int64_t i = 0; i < 7; i++)
            for (int64_t j = 0; j < nk; j++)
                view_set(&p.rule.mask, 0, 0, i, j, random_unit(&state) > 0.58);
        CHECK(problem_check(&p, ctx), "58%% of %lld keys hidden", (long long)nk);
    }
    for (int64_t nk = 1; nk <= 70; nk++) {
        auto_problem p = problem_make((shape){1, 1, 1, 3, nk, 8, 8}, dtype, 31);
        CHECK(problem_check(&p, ctx), "%lld keys", (long long)nk);
    }
}

void row_31_value_width(attend_context *ctx, attend_dtype dtype)
{
    static const int64_t dims[][2] = {{64, 1},  {1, 64},   {40, 59},
                                      {59, 40}, {16, 130}, {111, 3}};

    for (size_t at = 0; at < sizeof dims / sizeof dims[0]; at++) {
        auto_problem p =
            problem_make((shape){1, 2, 1, 9, 35, dims[at][0], dims[at][1]}, dtype, 31);
        CHECK(problem_check(&p, ctx), "d %lld dv %lld", (long long)dims[at][0],
              (long long)dims[at][1]);
    }
}

void row_32_alignments(attend_context *ctx, attend_dtype dtype)
{
    static const int64_t sizes[][2] = {{20, 50}, {50, 50}, {50, 20}, {1, 50}, {50, 1}};
    static const int64_t offsets[] = {7, -3};

    for (size_t at = 0; at < sizeof sizes / sizeof sizes[0]; at++)
        for (int causal = ATTEND_CAUSAL_NONE; causal <= ATTEND_CAUSAL_OFFSET; causal++)
            for (int window = 0; window < 4; window++) {
                auto_problem p = problem_make(
                    (shape){2, 1, 1, sizes[at][0], sizes[at][1], 8, 4}, dtype, 32);
                p.rule.causal = (attend_causal)causal;
                p.rule.causal_offset = causal == ATTEND_CAUSAL_OFFSET ? offsets : NULL;
                p.rule.window_left = window & 1 ? 4 : -1;
                p.rule.window_right = window & 2 ? 2 : -1;
                CHECK(problem_check(&p, ctx), "nq %lld nk %lld causal %d window %d",
                      (long long)sizes[at][0], (long long)sizes[at][1], causal, window);
            }
}

void row_35_head_groups(attend_context *ctx, attend_dtype dtype)
{
    static const int64_t heads[][2] = {{28, 4}, {9, 3}, {48, 2}, {6, 1}, {5, 5}};

    for (size_t at = 0; at < sizeof heads / sizeof heads[0]; at++) {
        auto_problem p =
            problem_make((shape){2, heads[at][0], heads[at][1], 3, 19, 8, 8}, dtype, 35);
        CHECK(problem_check(&p, ctx), "%lld heads on %lld", (long long)heads[at][0],
              (long long)heads[at][1]);
    }
}

/* Expects EINVAL with `field` in the message, and unchanged outputs. */
static void check_refused(const problem *p, attend_context *ctx, const char *field)
{
    attend_error err = {.status = ATTEND_OK};

    problem_poison(p);
    const attend_status status = attend_forward(ctx, &p->rule, &p->io, &err);
    CHECK(is_refused(status, ATTEND_EINVAL, &err, field, ""), "%s", field);
    CHECK(is_poisoned(&p->io.out), "%s: an output was written", field);
}

void row_36_heads_do_not_divide(attend_context *ctx, attend_dtype dtype)
{
    static const int64_t heads[][2] = {{7, 2}, {3, 4}, {1, 2}, {5, 0}};

    for (size_t at = 0; at < sizeof heads / sizeof heads[0]; at++) {
        auto_problem p =
            problem_make((shape){1, heads[at][0], heads[at][1], 3, 5, 8, 8}, dtype, 36);
        check_refused(&p, ctx, "hkv");
    }
}

void row_37_optional_outputs(attend_context *ctx, attend_dtype dtype)
{
    auto_problem p = problem_make((shape){1, 2, 1, 9, 40, 16, 8}, dtype, 37);
    const attend_tensor lse = p.io.lse, weights = p.io.weights;

    CHECK(problem_check(&p, ctx), "every output");
    auto_result all = result_copy(&p);
    for (int wanted = 0; wanted < 4; wanted++) {
        p.io.lse.data = wanted & 1 ? lse.data : NULL;
        p.io.weights.data = wanted & 2 ? weights.data : NULL;
        CHECK(problem_gives(&p, ctx, &all), "outputs %d", wanted);
    }
}

void row_38_packed_qkv(attend_context *ctx, attend_dtype dtype)
{
    enum { B = 2, H = 3, N = 20, D = 16 };
    /* One buffer (b, l, 3, h, d); each of q, k, v is a view of it. */
    auto_problem p = problem_make((shape){B, H, H, N, N, D, D}, dtype, 38);
    attend_view packed = own_view(&p, dtype, B, N, 3, (int64_t)H * D);
    attend_view *const views[] = {&p.io.q, &p.io.k, &p.io.v};

    fill_normal(&packed, 38);
    for (int64_t which = 0; which < 3; which++) {
        views[which]->data = (const char *)packed.data +
                             (size_t)(which * H * D) * attend_dtype_size(dtype);
        memcpy(views[which]->stride, (int64_t[4]){N * 3 * H * D, D, 3 * H * D, 1},
               sizeof views[which]->stride);
    }
    CHECK(problem_check(&p, ctx), "packed");
    auto_result want = result_copy(&p);
    p.rule.scale_is_set = 1;
    p.rule.scale = 1.0 / sqrt((double)D);
    CHECK(problem_gives(&p, ctx, &want), "the default scale is not 1/sqrt(d)");
}

void row_39_lengths_out_of_range(attend_context *ctx, attend_dtype dtype)
{
    static const int64_t bad[] = {-1, 8, INT64_MAX, INT64_MIN, (int64_t)1 << 32};

    for (size_t at = 0; at < sizeof bad / sizeof bad[0]; at++) {
        auto_problem p = problem_make((shape){2, 1, 1, 3, 7, 8, 8}, dtype, 39);
        problem_key_lengths(&p)[1] = bad[at];
        check_refused(&p, ctx, "key_lengths[1]");
    }
}

/* Runs batch b and key/value head g of `p` alone. */
static void check_alone(const problem *p, attend_context *ctx, int64_t b, int64_t g)
{
    const int64_t group = p->n.hq / p->n.hkv;
    auto_problem one = problem_make(
        (shape){1, group, 1, p->n.nq, p->n.nk, p->n.d, p->n.dv}, p->dtype, 0);
    const attend_tensor *const outputs[] = {&one.io.out, &one.io.lse, &one.io.weights};
    const attend_tensor *const whole[] = {&p->io.out, &p->io.lse, &p->io.weights};

    one.rule = p->rule;
    one.io.q.data = view_from(p->io.q, b, g * group, 0).data;
    one.io.k.data = view_from(p->io.k, b, g, 0).data;
    one.io.v.data = view_from(p->io.v, b, g, 0).data;
    CHECK(problem_run(&one, ctx), "alone");
    for (size_t at = 0; at < 3; at++) {
        const attend_view want = view_from(view_of_tensor(whole[at]), b, g * group, 0);
        CHECK(same_bits(outputs[at], want.data, "alone"),
              "batch %lld, head %lld, nq %lld", (long long)b, (long long)g,
              (long long)p->n.nq);
    }
}

void row_41_batch_invariance(attend_context *ctx, attend_dtype dtype)
{
    static const int64_t queries[] = {1, 5, 40};

    for (size_t at = 0; at < sizeof queries / sizeof queries[0]; at++) {
        auto_problem p =
            problem_make((shape){3, 4, 2, queries[at], 150, 16, 12}, dtype, 41);
        p.rule.causal = ATTEND_CAUSAL_BOTTOM_RIGHT;
        CHECK(problem_check(&p, ctx), "batch of 3");
        for (int64_t b = 0; b < 3; b++)
            for (int64_t g = 0; g < 2; g++)
                check_alone(&p, ctx, b, g);
        auto_context const three = open_set(attend_context_isa(ctx), 3);
        CHECK(three != NULL && problem_same_on(&p, ctx, three), "three threads");
    }
}

/* SPDX-License-Identifier: MIT */
/* attend_merge and attend_merge_with: weights, empty parts, dtypes, strides, errors. */
#define _GNU_SOURCE
#include "support/oracle.h"
#include "support/strides.h"

enum { B = 2, H = 3, N = 5, DV = 7, PARTS_MAX = 8 };

/* Parts with unit-normal O and an LSE spread over +-`spread`, outputs poisoned. */
typedef struct merge_case {
    problem store; /* owns the memory */
    attend_part parts[PARTS_MAX];
    int64_t count;
    attend_tensor out, lse;
} merge_case;

static merge_case merge_make(int64_t count, attend_dtype part, attend_dtype lse,
                             attend_dtype out, double spread, uint64_t seed)
{
    merge_case m = {.count = count};
    uint64_t state = seed;

    for (int64_t p = 0; p < count; p++) {
        m.parts[p].out = own_view(&m.store, part, B, H, N, DV);
        m.parts[p].lse = own_view(&m.store, lse, B, H, N, 1);
        fill_normal(&m.parts[p].out, random_bits(&state));
        for (int64_t at = 0; at < B * H * N; at++)
            check_store((void *)(uintptr_t)m.parts[p].lse.data, lse, at,
                        spread * (2.0 * random_unit(&state) - 1.0));
    }
    m.out = own_tensor(&m.store, out, B, H, N, DV);
    m.lse = own_tensor(&m.store, lse, B, H, N, 1);
    poison(&m.out);
    poison(&m.lse);
    return m;
}

static int merge_run(const merge_case *m)
{
    attend_error err = {.status = ATTEND_OK};
    const attend_status status = attend_merge(m->parts, m->count, &m->out, &m->lse, &err);

    if (status != ATTEND_OK)
        test_fail(__FILE__, __LINE__, "status == ATTEND_OK", "%s: %s",
                  attend_status_name(status), err.message);
    return status == ATTEND_OK;
}

/* The formula of the header, in long double; parts with lse = -inf left out. */
static long double dense_merge(const merge_case *m, int64_t b, int64_t h, int64_t i,
                               long double *out, long double *absolute)
{
    long double largest = -INFINITY, sum = 0.0L;

    for (int64_t p = 0; p < m->count; p++)
        largest = fmaxl(largest, view_get(&m->parts[p].lse, b, h, i, 0));
    for (int64_t c = 0; c < DV; c++)
        out[c] = absolute[c] = 0.0L;
    if (largest == -INFINITY)
        return -INFINITY;
    for (int64_t p = 0; p < m->count; p++) {
        const long double lse = view_get(&m->parts[p].lse, b, h, i, 0);
        if (lse == -INFINITY)
            continue;
        sum += expl(lse - largest);
        for (int64_t c = 0; c < DV; c++) {
            const long double o = view_get(&m->parts[p].out, b, h, i, c);
            out[c] += expl(lse - largest) * o;
            absolute[c] += expl(lse - largest) * fabsl(o);
        }
    }
    for (int64_t c = 0; c < DV; c++)
        out[c] /= sum, absolute[c] /= sum;
    return largest + logl(sum);
}

/* Rounding of the result, and (4 + count) more of the arithmetic's own unit. */
static int merge_is_close(const merge_case *m, attend_dtype arithmetic)
{
    static const double rounding[] = {[ATTEND_F64] = 0x1p-53,
                                      [ATTEND_F32] = 0x1p-24,
                                      [ATTEND_F16] = 0x1p-11,
                                      [ATTEND_BF16] = 0x1p-8};
    const double u = unit_of(arithmetic);

    for (int64_t b = 0; b < B; b++)
        for (int64_t h = 0; h < H; h++)
            for (int64_t i = 0; i < N; i++) {
                long double out[DV], absolute[DV];
                const double lse = (double)dense_merge(m, b, h, i, out, absolute);
                const double weight = (4.0 + (double)m->count) * u;
                const double got_lse = tensor_get(&m->lse, b, h, i, 0);
                const double tolerance =
                    rounding[m->lse.dtype] * fabs(lse) + (double)m->count * 4.0 * u;
                if (!near_or_same(got_lse, lse, tolerance)) {
                    test_fail(__FILE__, __LINE__, "lse", "got %.17g, want %.17g", got_lse,
                              lse);
                    return 0;
                }
                for (int64_t c = 0; c < DV; c++) {
                    const double got = tensor_get(&m->out, b, h, i, c);
                    const double want = (double)out[c];
                    if (near_or_same(got, want,
                                     rounding[m->out.dtype] * fabs(want) +
                                         2.0 * weight * (double)absolute[c] + 0x1p-25))
                        continue;
                    test_fail(__FILE__, __LINE__, "out", "got %.17g, want %.17g", got,
                              want);
                    return 0;
                }
            }
    return 1;
}

TEST(every_dtype_and_count)
{
    for (int part = 0; part < FLOAT_DTYPES; part++)
        for (int out = 0; out < FLOAT_DTYPES; out++)
            for (int wide = 0; wide < 2; wide++)
                for (int64_t count = 1; count <= PARTS_MAX; count++) {
                    const attend_dtype lse = wide ? ATTEND_F64 : ATTEND_F32;
                    merge_case m = merge_make(count, float_dtypes[part], lse,
                                              float_dtypes[out], 3.0, 1);
                    CHECK(merge_run(&m) && merge_is_close(&m, ATTEND_F32),
                          "%lld parts of %s and %s into %s", (long long)count,
                          attend_dtype_name(float_dtypes[part]), attend_dtype_name(lse),
                          attend_dtype_name(float_dtypes[out]));
                    problem_free(&m.store);
                }
}

TEST(f64_parts_join_in_f64)
{
    for (int64_t count = 1; count <= PARTS_MAX; count++) {
        merge_case m = merge_make(count, ATTEND_F64, ATTEND_F64, ATTEND_F64, 5.0, 2);
        CHECK(merge_run(&m) && merge_is_close(&m, ATTEND_F64), "%lld parts",
              (long long)count);
        problem_free(&m.store);
    }
}

TEST(one_part_is_copied)
{
    for (int at = 0; at < FLOAT_DTYPES; at++) {
        const attend_dtype dtype = float_dtypes[at];
        merge_case m = merge_make(1, dtype, ATTEND_F32, dtype, 80.0, 3);
        CHECK(merge_run(&m), "one part");
        CHECK(same_bits(&m.out, m.parts[0].out.data, "out"), "%s",
              attend_dtype_name(dtype));
        CHECK(same_bits(&m.lse, m.parts[0].lse.data, "lse"), "%s",
              attend_dtype_name(dtype));
        problem_free(&m.store);
    }
}

TEST(no_part_is_an_empty_row)
{
    merge_case m = merge_make(0, ATTEND_F32, ATTEND_F32, ATTEND_F32, 0.0, 4);

    CHECK(attend_merge(NULL, 0, &m.out, &m.lse, NULL) == ATTEND_OK, "no parts");
    for (int64_t at = 0; at < B * H * N * DV; at++)
        CHECK(check_load(m.out.data, ATTEND_F32, at) == 0.0, "out at %lld",
              (long long)at);
    for (int64_t at = 0; at < B * H * N; at++)
        CHECK(check_load(m.lse.data, ATTEND_F32, at) == -INFINITY, "lse at %lld",
              (long long)at);
    problem_free(&m.store);
}

TEST(known_weights)
{
    merge_case m = merge_make(2, ATTEND_F64, ATTEND_F64, ATTEND_F64, 0.0, 5);

    fill_value(&m.parts[0].out, 8.0);
    fill_value(&m.parts[1].out, -4.0);
    fill_value(&m.parts[0].lse, 0.0);
    fill_value(&m.parts[1].lse, log(3.0));
    CHECK(merge_run(&m), "1 to 3");
    const double out = tensor_get(&m.out, 1, 2, 4, 6),
                 lse = tensor_get(&m.lse, 1, 2, 4, 0);
    CHECK(fabs(out - -1.0) <= 1e-15, "(8 - 3 * 4) / 4 is %.17g", out);
    CHECK(fabs(lse - log(4.0)) <= 1e-15, "ln 4 is %.17g", lse);
    problem_free(&m.store);
}

/* Whatever an empty part holds, and wherever it stands, it is as if it were not there. */
TEST(empty_parts_have_no_influence)
{
    static const double contents[] = {NAN, INFINITY, -INFINITY, 0.0, 3.0};

    for (int out = 0; out < FLOAT_DTYPES; out++) {
        merge_case m =
            merge_make(3, float_dtypes[out], ATTEND_F32, float_dtypes[out], 2, 6);
        CHECK(merge_run(&m), "three parts");
        void *const want_out = copy_bits(&m.out), *const want_lse = copy_bits(&m.lse);
        for (size_t at = 0; at < sizeof contents / sizeof contents[0]; at++)
            for (int64_t place = 0; place <= 3; place++) {
                merge_case e = m;
                const attend_view o = own_view(&m.store, float_dtypes[out], B, H, N, DV);
                const attend_view l = own_view(&m.store, ATTEND_F32, B, H, N, 1);
                fill_value(&o, contents[at]);
                fill_value(&l, -INFINITY);
                e.count = 4;
                for (int64_t p = 0; p < 4; p++)
                    e.parts[p] =
                        p == place ? (attend_part){o, l} : m.parts[p - (p > place)];
                poison(&e.out);
                CHECK(merge_run(&e), "with an empty part");
                CHECK(same_bits(&e.out, want_out, "out"), "O = %g at place %lld",
                      contents[at], (long long)place);
                CHECK(same_bits(&e.lse, want_lse, "lse"), "O = %g at place %lld",
                      contents[at], (long long)place);
                free(m.store.owned[--m.store.owned_count]);
                free(m.store.owned[--m.store.owned_count]);
            }
        free(want_out);
        free(want_lse);
        problem_free(&m.store);
    }
}

TEST(only_empty_parts)
{
    for (int64_t count = 1; count <= PARTS_MAX; count++) {
        merge_case m = merge_make(count, ATTEND_F32, ATTEND_F32, ATTEND_BF16, 1.0, 7);
        for (int64_t p = 0; p < count; p++) {
            fill_value(&m.parts[p].out, NAN);
            fill_value(&m.parts[p].lse, -INFINITY);
        }
        CHECK(merge_run(&m), "%lld empty parts", (long long)count);
        for (int64_t i = 0; i < N; i++) {
            CHECK(tensor_get(&m.out, 1, 1, i, 3) == 0.0, "out %g",
                  tensor_get(&m.out, 1, 1, i, 3));
            CHECK(tensor_get(&m.lse, 1, 1, i, 0) == -INFINITY, "lse %g",
                  tensor_get(&m.lse, 1, 1, i, 0));
        }
        problem_free(&m.store);
    }
}

TEST(far_apart_and_far_out)
{
    static const double base[] = {0.0, 1e3, -1e3, 1e30, -1e30};
    static const double step[] = {0.0, 1e3, -1e3, 3e38};

    for (size_t at = 0; at < sizeof base / sizeof base[0]; at++)
        for (size_t by = 0; by < sizeof step / sizeof step[0]; by++) {
            merge_case m = merge_make(2, ATTEND_F32, ATTEND_F32, ATTEND_F32, 0.0, 8);
            fill_value(&m.parts[0].lse, base[at]);
            fill_value(&m.parts[1].lse, base[at] + step[by]);
            CHECK(merge_run(&m), "lse %g and %g", base[at], base[at] + step[by]);
            const double a = view_get(&m.parts[0].lse, 0, 0, 0, 0);
            const double b = view_get(&m.parts[1].lse, 0, 0, 0, 0);
            for (int64_t c = 0; c < DV; c++) {
                const double x = view_get(&m.parts[0].out, 1, 0, 2, c);
                const double y = view_get(&m.parts[1].out, 1, 0, 2, c);
                const double want = a == b ? (x + y) / 2.0 : a > b ? x : y;
                const double got = tensor_get(&m.out, 1, 0, 2, c);
                CHECK(fabs(got - want) <= 4e-7 * (fabs(x) + fabs(y)),
                      "lse %g and %g: got %g, want %g", a, b, got, want);
            }
            const double lse = tensor_get(&m.lse, 1, 0, 2, 0);
            const double want = fmax(a, b) + (a == b ? log(2.0) : 0.0);
            CHECK(fabs(lse - want) <= 4e-7 * (1.0 + fabs(want)), "lse %g, want %g", lse,
                  want);
            problem_free(&m.store);
        }
}

TEST(nan_stays_in_its_row)
{
    merge_case m = merge_make(2, ATTEND_F32, ATTEND_F32, ATTEND_F32, 1.0, 9);

    CHECK(merge_run(&m), "clean");
    void *const want = copy_bits(&m.out);
    view_set(&m.parts[1].lse, 1, 2, 3, 0, NAN);
    CHECK(merge_run(&m), "NaN in one lse");
    CHECK(isnan(tensor_get(&m.lse, 1, 2, 3, 0)), "lse");
    for (int64_t c = 0; c < DV; c++) {
        const int64_t at = view_at(m.out.stride, 1, 2, 3, c);
        CHECK(isnan(tensor_get(&m.out, 1, 2, 3, c)), "out");
        check_store(m.out.data, ATTEND_F32, at, check_load(want, ATTEND_F32, at));
    }
    CHECK(same_bits(&m.out, want, "out"), "another row changed");
    free(want);
    problem_free(&m.store);
}

TEST(any_strides_give_the_same_bits)
{
    merge_case m = merge_make(3, ATTEND_F16, ATTEND_F32, ATTEND_F32, 2.0, 10);

    CHECK(merge_run(&m), "contiguous");
    void *const want_out = copy_bits(&m.out), *const want_lse = copy_bits(&m.lse);
    for (int kind = 0; kind < LAYOUT_COUNT; kind++) {
        merge_case s = m;
        int64_t stride[4];
        s.store.owned_count = 0;
        for (int64_t p = 0; p < 3; p++) {
            layout_strides((layout)kind, s.parts[p].out.size, stride);
            s.parts[p].out = restride(&s.store, &s.parts[p].out, stride);
            layout_strides((layout)kind, s.parts[p].lse.size, stride);
            s.parts[p].lse = restride(&s.store, &s.parts[p].lse, stride);
        }
        poison(&m.out);
        poison(&m.lse);
        layout_strides((layout)kind, s.out.size, stride);
        s.out = restride_output(&s.store, &m.out, stride);
        layout_strides((layout)kind, s.lse.size, stride);
        s.lse = restride_output(&s.store, &m.lse, stride);
        CHECK(merge_run(&s), "layout %d", kind);
        CHECK(gather_output(&s.out, &m.out) && gather_output(&s.lse, &m.lse),
              "layout %d: a gap was written", kind);
        CHECK(same_bits(&m.out, want_out, "out"), "layout %d", kind);
        CHECK(same_bits(&m.lse, want_lse, "lse"), "layout %d", kind);
        problem_free(&s.store);
    }
    free(want_out);
    free(want_lse);
    problem_free(&m.store);
}

/* Parts of a split and of a split's parts merge to the same thing. */
TEST(joining_in_steps)
{
    merge_case all = merge_make(4, ATTEND_F64, ATTEND_F64, ATTEND_F64, 4.0, 11);
    merge_case left = merge_make(2, ATTEND_F64, ATTEND_F64, ATTEND_F64, 4.0, 0);
    merge_case both = merge_make(3, ATTEND_F64, ATTEND_F64, ATTEND_F64, 4.0, 0);

    for (int64_t p = 0; p < 2; p++)
        left.parts[p] = all.parts[p], both.parts[p + 1] = all.parts[p + 2];
    CHECK(merge_run(&all) && merge_run(&left), "steps");
    both.parts[0] = (attend_part){view_of_tensor(&left.out), view_of_tensor(&left.lse)};
    CHECK(merge_run(&both), "steps");
    for (int64_t at = 0; at < B * H * N * DV; at++) {
        const double got = check_load(both.out.data, ATTEND_F64, at);
        const double want = check_load(all.out.data, ATTEND_F64, at);
        CHECK(fabs(got - want) <= 1e-13, "got %.17g, want %.17g", got, want);
    }
    problem_free(&all.store);
    problem_free(&left.store);
    problem_free(&both.store);
}

TEST(lse_is_optional_and_sizes_may_be_zero)
{
    merge_case m = merge_make(2, ATTEND_F32, ATTEND_F32, ATTEND_F32, 1.0, 12);
    const attend_tensor none = {.data = NULL};

    CHECK(merge_run(&m), "with lse");
    void *const want = copy_bits(&m.out);
    poison(&m.out);
    CHECK(attend_merge(m.parts, 2, &m.out, NULL, NULL) == ATTEND_OK, "lse NULL");
    CHECK(same_bits(&m.out, want, "out"), "lse NULL");
    poison(&m.out);
    CHECK(attend_merge(m.parts, 2, &m.out, &none, NULL) == ATTEND_OK, "lse.data NULL");
    CHECK(same_bits(&m.out, want, "out"), "lse.data NULL");
    free(want);
    for (int axis = 0; axis < 4; axis++) {
        merge_case z = m;
        z.out.size[axis] = z.parts[0].out.size[axis] = z.parts[1].out.size[axis] = 0;
        if (axis < 3)
            z.lse.size[axis] = z.parts[0].lse.size[axis] = z.parts[1].lse.size[axis] = 0;
        poison(&m.out);
        void *const before = copy_bits(&m.out);
        CHECK(merge_run(&z), "size[%d] 0", axis);
        CHECK(same_bits(&m.out, before, "out"), "size[%d] 0 writes", axis);
        free(before);
    }
    problem_free(&m.store);
}

/* Every dtype and count, parts at random places empty: a case for bits. */
static merge_case bits_make(int64_t count, int dtype, uint64_t seed)
{
    merge_case m =
        merge_make(count, float_dtypes[dtype], ATTEND_F32,
                   float_dtypes[(dtype + (int)seed) % FLOAT_DTYPES], 6.0, seed);

    for (int64_t p = 0; p < count; p += 3)
        view_set(&m.parts[p].lse, 1, (p + 1) % H, p % N, 0, -INFINITY);
    return m;
}

/* Merges by the context must give the bits in m->out and m->lse. */
static void check_with(attend_context *ctx, const merge_case *m, const char *what)
{
    void *const out = copy_bits(&m->out), *const lse = copy_bits(&m->lse);
    attend_error err = {.status = ATTEND_OK};

    poison(&m->out);
    poison(&m->lse);
    const attend_status status =
        attend_merge_with(ctx, m->parts, m->count, &m->out, &m->lse, &err);
    if (status != ATTEND_OK)
        test_fail(__FILE__, __LINE__, "status == ATTEND_OK", "%s: %s", what, err.message);
    else if (!same_bits(&m->out, out, "out") || !same_bits(&m->lse, lse, "lse"))
        test_fail(__FILE__, __LINE__, "the same bits", "%s", what);
    free(out);
    free(lse);
}

static void merge_with_set(attend_context *ctx)
{
    for (int dtype = 0; dtype < FLOAT_DTYPES; dtype++)
        for (int64_t count = 0; count <= PARTS_MAX; count++)
            for (uint64_t seed = 0; seed < FLOAT_DTYPES; seed++) {
                merge_case m = bits_make(count, dtype, seed);
                if (merge_run(&m))
                    check_with(ctx, &m, attend_dtype_name(float_dtypes[dtype]));
                problem_free(&m.store);
            }
}

TEST(a_context_gives_the_same_bits)
{
    for (int threads = 1; threads <= 3; threads++)
        for_each_set(merge_with_set, threads);
}

/* Rows enough for several workers and for the vectors of the machine, any width. */
static void merge_large(attend_context *ctx)
{
    static const int64_t widths[] = {1, 3, 15, 16, 17, 64, 80, 131};

    for (size_t w = 0; w < sizeof widths / sizeof widths[0]; w++) {
        const int64_t rows = (1 << 18) / widths[w] + 7;
        problem store = {.owned_count = 0};
        merge_case m = {.count = 2};
        for (int64_t p = 0; p < m.count; p++) {
            m.parts[p].out = own_view(&store, ATTEND_F32, 1, 1, rows, widths[w]);
            m.parts[p].lse = own_view(&store, ATTEND_F32, 1, 1, rows, 1);
            fill_normal(&m.parts[p].out, (uint64_t)p + 1);
            fill_normal(&m.parts[p].lse, (uint64_t)p + 3);
        }
        m.out = own_tensor(&store, ATTEND_F32, 1, 1, rows, widths[w]);
        m.lse = own_tensor(&store, ATTEND_F32, 1, 1, rows, 1);
        if (merge_run(&m))
            check_with(ctx, &m, "large");
        problem_free(&store);
    }
}

TEST(workers_give_the_same_bits)
{
    for (int threads = 1; threads <= 3; threads++)
        for_each_set(merge_large, threads);
}

/* More parts than are weighed at once; each part stands in several times. */
TEST(very_many_parts)
{
    enum { MANY = 200 };
    merge_case m = merge_make(PARTS_MAX, ATTEND_F32, ATTEND_F64, ATTEND_F64, 2.0, 14);
    attend_part *const parts = test_memory(MANY * sizeof *parts);
    const int64_t each = MANY / PARTS_MAX;

    CHECK(merge_run(&m), "once");
    for (int64_t p = 0; p < MANY; p++)
        parts[p] = m.parts[p % PARTS_MAX];
    void *const once = copy_bits(&m.out), *const lse = copy_bits(&m.lse);
    CHECK(attend_merge(parts, MANY, &m.out, &m.lse, NULL) == ATTEND_OK, "many");
    for (int64_t at = 0; at < B * H * N * DV; at++)
        CHECK(fabs(check_load(m.out.data, ATTEND_F64, at) -
                   check_load(once, ATTEND_F64, at)) <= 1e-14,
              "out at %lld", (long long)at);
    for (int64_t at = 0; at < B * H * N; at++)
        CHECK(fabs(check_load(m.lse.data, ATTEND_F64, at) -
                   check_load(lse, ATTEND_F64, at) - log((double)each)) <= 1e-14,
              "lse at %lld", (long long)at);
    free(once);
    free(lse);
    free(parts);
    problem_free(&m.store);
}

TEST(in_place_of_a_part)
{
    for (int dtype = 0; dtype < FLOAT_DTYPES; dtype++)
        for (int64_t count = 1; count <= PARTS_MAX; count++)
            for (int64_t place = 0; place < count; place++) {
                merge_case m = merge_make(count, float_dtypes[dtype], ATTEND_F32,
                                          float_dtypes[dtype], 3.0, 15);
                CHECK(merge_run(&m), "apart");
                const attend_tensor out = tensor_of_view(&m.parts[place].out);
                const attend_tensor lse = tensor_of_view(&m.parts[place].lse);
                CHECK(attend_merge(m.parts, count, &out, &lse, NULL) == ATTEND_OK, "in");
                CHECK(same_bits(&out, m.out.data, "out") &&
                          same_bits(&lse, m.lse.data, "lse"),
                      "%s, part %lld of %lld", attend_dtype_name(float_dtypes[dtype]),
                      (long long)place, (long long)count);
                problem_free(&m.store);
            }
}

/* One wrong thing each, and what the message must name. */
enum {
    WRONG_COUNT,
    WRONG_PARTS,
    WRONG_OUT,
    WRONG_PART_SIZE,
    WRONG_PART_HEADS,
    WRONG_LSE_SIZE,
    WRONG_PART_LSE_DTYPE,
    WRONG_PART_DTYPE,
    WRONG_OUT_DTYPE,
    WRONG_LSE_DTYPE,
    WRONG_OUT_STRIDE,
    WRONG_PART_DATA,
    WRONG_OUT_DATA,
    WRONG_NEGATIVE,
    WRONG_KINDS
};

static const char *const named[WRONG_KINDS][2] = {
    [WRONG_COUNT] = {"count", "-1"},
    [WRONG_PARTS] = {"parts", "NULL"},
    [WRONG_OUT] = {"out", "NULL"},
    [WRONG_PART_SIZE] = {"parts[1].out.size[3]", "6"},
    [WRONG_PART_HEADS] = {"parts[1].lse.size[1]", "9"},
    [WRONG_LSE_SIZE] = {"lse.size[3]", "2"},
    [WRONG_PART_LSE_DTYPE] = {"parts[1].lse.dtype", "bf16"},
    [WRONG_PART_DTYPE] = {"parts[1].out.dtype", "bool"},
    [WRONG_OUT_DTYPE] = {"out.dtype", "bool"},
    [WRONG_LSE_DTYPE] = {"lse.dtype", "f16"},
    [WRONG_OUT_STRIDE] = {"out.stride[2]", "0"},
    [WRONG_PART_DATA] = {"parts[1].out.data", "NULL"},
    [WRONG_OUT_DATA] = {"out.data", "NULL"},
    [WRONG_NEGATIVE] = {"out.size[0]", "-2"},
};

static void make_wrong(merge_case *m, int kind)
{
    switch (kind) {
    case WRONG_COUNT:
        m->count = -1;
        break;
    case WRONG_PART_SIZE:
        m->parts[1].out.size[3] = 6;
        break;
    case WRONG_PART_HEADS:
        m->parts[1].lse.size[1] = 9;
        break;
    case WRONG_LSE_SIZE:
        m->lse.size[3] = 2;
        break;
    case WRONG_PART_LSE_DTYPE:
        m->parts[1].lse.dtype = ATTEND_BF16;
        break;
    case WRONG_PART_DTYPE:
        m->parts[1].out.dtype = ATTEND_BOOL;
        break;
    case WRONG_OUT_DTYPE:
        m->out.dtype = ATTEND_BOOL;
        break;
    case WRONG_LSE_DTYPE:
        m->lse.dtype = ATTEND_F16;
        break;
    case WRONG_OUT_STRIDE:
        m->out.stride[2] = 0;
        break;
    case WRONG_PART_DATA:
        m->parts[1].out.data = NULL;
        break;
    case WRONG_OUT_DATA:
        m->out.data = NULL;
        break;
    case WRONG_NEGATIVE:
        m->out.size[0] = -2;
        break;
    default:
        break;
    }
}

TEST(errors_name_field_and_value)
{
    for (int kind = 0; kind < WRONG_KINDS; kind++) {
        merge_case m = merge_make(2, ATTEND_F32, ATTEND_F32, ATTEND_F32, 1.0, 13);
        const attend_tensor out = m.out, lse = m.lse;
        attend_error err = {.status = ATTEND_OK};
        make_wrong(&m, kind);
        const attend_status status =
            attend_merge(kind == WRONG_PARTS ? NULL : m.parts, m.count,
                         kind == WRONG_OUT ? NULL : &m.out, &m.lse, &err);
        CHECK(status == ATTEND_EINVAL && err.status == status, "%s: %s", named[kind][0],
              attend_status_name(status));
        attend_context *const ctx = open_set("scalar", 1);
        attend_error with = {.status = ATTEND_OK};
        attend_merge_with(ctx, kind == WRONG_PARTS ? NULL : m.parts, m.count,
                          kind == WRONG_OUT ? NULL : &m.out, &m.lse, &with);
        attend_context_destroy(ctx);
        CHECK(strcmp(with.message, err.message) == 0, "\"%s\" and \"%s\"", with.message,
              err.message);
        CHECK(strstr(err.message, named[kind][0]) && strstr(err.message, named[kind][1]),
              "\"%s\" does not name %s and %s", err.message, named[kind][0],
              named[kind][1]);
        for (int64_t at = 0; at < count_of(out.size); at++)
            CHECK(isnan(check_load(out.data, out.dtype, at)), "%s: out was written",
                  named[kind][0]);
        for (int64_t at = 0; at < count_of(lse.size); at++)
            CHECK(isnan(check_load(lse.data, lse.dtype, at)), "%s: lse was written",
                  named[kind][0]);
        problem_free(&m.store);
    }
}

int main(void)
{
    RUN(every_dtype_and_count);
    RUN(f64_parts_join_in_f64);
    RUN(one_part_is_copied);
    RUN(no_part_is_an_empty_row);
    RUN(known_weights);
    RUN(empty_parts_have_no_influence);
    RUN(only_empty_parts);
    RUN(far_apart_and_far_out);
    RUN(nan_stays_in_its_row);
    RUN(any_strides_give_the_same_bits);
    RUN(joining_in_steps);
    RUN(a_context_gives_the_same_bits);
    RUN(workers_give_the_same_bits);
    RUN(very_many_parts);
    RUN(in_place_of_a_part);
    RUN(lse_is_optional_and_sizes_may_be_zero);
    RUN(errors_name_field_and_value);
    return test_finish();
}

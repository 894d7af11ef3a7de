/* SPDX-License-Identifier: MIT */
/* attend_merge and attend_merge_with: weights, empty parts, dtypes, strides, errors. */
#include "support/merging.h"
#include "support/strides.h"

enum { B = 2, H = 3, N = 5, DV = 7 };
static const shape small = {.nb = B, .hq = H, .nq = N, .dv = DV};

static int merge_run(const merge_case *m)
{
    return IS_OK(attend_merge, m->parts, m->count, &m->p.io.out, &m->p.io.lse);
}

TEST(every_dtype_and_count)
{
    for (int part = 0; part < FLOAT_DTYPES; part++)
        for (int out = 0; out < FLOAT_DTYPES; out++)
            for (int wide = 0; wide < 2; wide++)
                for (int64_t count = 1; count <= MERGE_PARTS_MAX; count++) {
                    const attend_dtype lse = wide ? ATTEND_F64 : ATTEND_F32;
                    auto_merge m = merge_make(small, count, float_dtypes[part], lse,
                                              float_dtypes[out], 3.0, 1);
                    CHECK(merge_run(&m) && merge_is_close(&m, ATTEND_F32),
                          "%lld parts of %s and %s into %s", (long long)count,
                          attend_dtype_name(float_dtypes[part]), attend_dtype_name(lse),
                          attend_dtype_name(float_dtypes[out]));
                }
}

TEST(f64_parts_join_in_f64)
{
    for (int64_t count = 1; count <= MERGE_PARTS_MAX; count++) {
        auto_merge m =
            merge_make(small, count, ATTEND_F64, ATTEND_F64, ATTEND_F64, 5.0, 2);
        CHECK(merge_run(&m) && merge_is_close(&m, ATTEND_F64), "%lld parts",
              (long long)count);
    }
}

TEST(one_part_is_copied)
{
    for (int at = 0; at < FLOAT_DTYPES; at++) {
        const attend_dtype dtype = float_dtypes[at];
        auto_merge m = merge_make(small, 1, dtype, ATTEND_F32, dtype, 80.0, 3);
        CHECK(merge_run(&m), "one part");
        CHECK(same_bits(&m.p.io.out, m.parts[0].out.data, "out") &&
                  same_bits(&m.p.io.lse, m.parts[0].lse.data, "lse"),
              "%s", attend_dtype_name(dtype));
    }
}

TEST(no_part_is_an_empty_row)
{
    auto_merge m = merge_make(small, 0, ATTEND_F32, ATTEND_F32, ATTEND_F32, 0.0, 4);

    CHECK(attend_merge(NULL, 0, &m.p.io.out, &m.p.io.lse, NULL) == ATTEND_OK, "no parts");
    for (int64_t at = 0; at < B * H * N * DV; at++)
        CHECK(check_load(m.p.io.out.data, ATTEND_F32, at) == 0.0, "out at %lld",
              (long long)at);
    for (int64_t at = 0; at < B * H * N; at++)
        CHECK(check_load(m.p.io.lse.data, ATTEND_F32, at) == -INFINITY, "lse at %lld",
              (long long)at);
}

TEST(known_weights)
{
    auto_merge m = merge_make(small, 2, ATTEND_F64, ATTEND_F64, ATTEND_F64, 0.0, 5);

    fill_value(&m.parts[0].out, 8.0);
    fill_value(&m.parts[1].out, -4.0);
    fill_value(&m.parts[0].lse, 0.0);
    fill_value(&m.parts[1].lse, log(3.0));
    CHECK(merge_run(&m), "1 to 3");
    const double out = tensor_get(&m.p.io.out, 1, 2, 4, 6),
                 lse = tensor_get(&m.p.io.lse, 1, 2, 4, 0);
    CHECK(fabs(out - -1.0) <= 1e-15, "(8 - 3 * 4) / 4 is %.17g", out);
    CHECK(fabs(lse - log(4.0)) <= 1e-15, "ln 4 is %.17g", lse);
}

/* An empty part has no influence, with any contents and at any place. */
TEST(empty_parts_have_no_influence)
{
    static const double contents[] = {NAN, INFINITY, -INFINITY, 0.0, 3.0};

    for (int out = 0; out < FLOAT_DTYPES; out++) {
        auto_merge m =
            merge_make(small, 3, float_dtypes[out], ATTEND_F32, float_dtypes[out], 2, 6);
        CHECK(merge_run(&m), "three parts");
        auto_result want = result_copy(&m.p);
        for (size_t at = 0; at < sizeof contents / sizeof contents[0]; at++)
            for (int64_t place = 0; place <= 3; place++) {
                merge_case e = m;
                const attend_view o = own_view(&m.p, float_dtypes[out], B, H, N, DV);
                const attend_view l = own_view(&m.p, ATTEND_F32, B, H, N, 1);
                fill_value(&o, contents[at]);
                fill_value(&l, -INFINITY);
                e.count = 4;
                for (int64_t p = 0; p < 4; p++)
                    e.parts[p] =
                        p == place ? (attend_part){o, l} : m.parts[p - (p > place)];
                problem_poison(&e.p);
                CHECK(merge_run(&e) && result_is_same(&e.p, &want),
                      "O = %g at place %lld", contents[at], (long long)place);
                free(m.p.owned[--m.p.owned_count]);
                free(m.p.owned[--m.p.owned_count]);
            }
    }
}

TEST(only_empty_parts)
{
    for (int64_t count = 1; count <= MERGE_PARTS_MAX; count++) {
        auto_merge m =
            merge_make(small, count, ATTEND_F32, ATTEND_F32, ATTEND_BF16, 1.0, 7);
        for (int64_t p = 0; p < count; p++) {
            fill_value(&m.parts[p].out, NAN);
            fill_value(&m.parts[p].lse, -INFINITY);
        }
        CHECK(merge_run(&m), "%lld empty parts", (long long)count);
        for (int64_t i = 0; i < N; i++) {
            CHECK(tensor_get(&m.p.io.out, 1, 1, i, 3) == 0.0, "out %g",
                  tensor_get(&m.p.io.out, 1, 1, i, 3));
            CHECK(tensor_get(&m.p.io.lse, 1, 1, i, 0) == -INFINITY, "lse %g",
                  tensor_get(&m.p.io.lse, 1, 1, i, 0));
        }
    }
}

TEST(far_apart_and_far_out)
{
    static const double base[] = {0.0, 1e3, -1e3, 1e30, -1e30};
    static const double step[] = {0.0, 1e3, -1e3, 3e38};

    for (size_t at = 0; at < sizeof base / sizeof base[0]; at++)
        for (size_t by = 0; by < sizeof step / sizeof step[0]; by++) {
            auto_merge m =
                merge_make(small, 2, ATTEND_F32, ATTEND_F32, ATTEND_F32, 0.0, 8);
            fill_value(&m.parts[0].lse, base[at]);
            fill_value(&m.parts[1].lse, base[at] + step[by]);
            CHECK(merge_run(&m), "lse %g and %g", base[at], base[at] + step[by]);
            const double a = view_get(&m.parts[0].lse, 0, 0, 0, 0);
            const double b = view_get(&m.parts[1].lse, 0, 0, 0, 0);
            for (int64_t c = 0; c < DV; c++) {
                const double x = view_get(&m.parts[0].out, 1, 0, 2, c);
                const double y = view_get(&m.parts[1].out, 1, 0, 2, c);
                const double want = a == b ? (x + y) / 2.0 : a > b ? x : y;
                const double got = tensor_get(&m.p.io.out, 1, 0, 2, c);
                CHECK(fabs(got - want) <= 4e-7 * (fabs(x) + fabs(y)),
                      "lse %g and %g: got %g, want %g", a, b, got, want);
            }
            const double lse = tensor_get(&m.p.io.lse, 1, 0, 2, 0);
            const double want = fmax(a, b) + (a == b ? log(2.0) : 0.0);
            CHECK(fabs(lse - want) <= 4e-7 * (1.0 + fabs(want)), "lse %g, want %g", lse,
                  want);
        }
}

TEST(nan_stays_in_its_row)
{
    auto_merge m = merge_make(small, 2, ATTEND_F32, ATTEND_F32, ATTEND_F32, 1.0, 9);

    CHECK(merge_run(&m), "clean");
    auto_free void *const want = copy_bits(&m.p.io.out);
    view_set(&m.parts[1].lse, 1, 2, 3, 0, NAN);
    CHECK(merge_run(&m), "NaN in one lse");
    CHECK(isnan(tensor_get(&m.p.io.lse, 1, 2, 3, 0)), "lse");
    for (int64_t c = 0; c < DV; c++) {
        const int64_t at = view_at(m.p.io.out.stride, 1, 2, 3, c);
        CHECK(isnan(tensor_get(&m.p.io.out, 1, 2, 3, c)), "out");
        check_store(m.p.io.out.data, ATTEND_F32, at, check_load(want, ATTEND_F32, at));
    }
    CHECK(same_bits(&m.p.io.out, want, "out"), "another row changed");
}

TEST(any_strides_give_the_same_bits)
{
    auto_merge m = merge_make(small, 3, ATTEND_F16, ATTEND_F32, ATTEND_F32, 2.0, 10);

    CHECK(merge_run(&m), "contiguous");
    auto_result want = result_copy(&m.p);
    for (int kind = 0; kind < LAYOUT_COUNT; kind++) {
        auto_merge s = m;
        s.p.owned_count = 0;
        for (int64_t p = 0; p < 3; p++) {
            s.parts[p].out = restride(&s.p, &m.parts[p].out, (layout)kind);
            s.parts[p].lse = restride(&s.p, &m.parts[p].lse, (layout)kind);
        }
        problem_poison(&m.p);
        s.p.io.out = restride_output(&s.p, &m.p.io.out, (layout)kind);
        s.p.io.lse = restride_output(&s.p, &m.p.io.lse, (layout)kind);
        CHECK(merge_run(&s), "layout %d", kind);
        CHECK(gather_output(&s.p.io.out, &m.p.io.out) &&
                  gather_output(&s.p.io.lse, &m.p.io.lse),
              "layout %d: a gap was written", kind);
        CHECK(result_is_same(&m.p, &want), "layout %d", kind);
    }
}

/* Merging in steps gives the same result. */
TEST(joining_in_steps)
{
    auto_merge all = merge_make(small, 4, ATTEND_F64, ATTEND_F64, ATTEND_F64, 4.0, 11);
    auto_merge left = merge_make(small, 2, ATTEND_F64, ATTEND_F64, ATTEND_F64, 4.0, 0);
    auto_merge both = merge_make(small, 3, ATTEND_F64, ATTEND_F64, ATTEND_F64, 4.0, 0);

    for (int64_t p = 0; p < 2; p++)
        left.parts[p] = all.parts[p], both.parts[p + 1] = all.parts[p + 2];
    CHECK(merge_run(&all) && merge_run(&left), "steps");
    both.parts[0] = part_of(&left.p);
    CHECK(merge_run(&both), "steps");
    for (int64_t at = 0; at < B * H * N * DV; at++) {
        const double got = check_load(both.p.io.out.data, ATTEND_F64, at);
        const double want = check_load(all.p.io.out.data, ATTEND_F64, at);
        CHECK(fabs(got - want) <= 1e-13, "got %.17g, want %.17g", got, want);
    }
}

TEST(lse_is_optional_and_sizes_may_be_zero)
{
    auto_merge m = merge_make(small, 2, ATTEND_F32, ATTEND_F32, ATTEND_F32, 1.0, 12);
    const attend_tensor none = {.data = NULL};

    CHECK(merge_run(&m), "with lse");
    auto_free void *const want = copy_bits(&m.p.io.out);
    poison(&m.p.io.out);
    CHECK(attend_merge(m.parts, 2, &m.p.io.out, NULL, NULL) == ATTEND_OK, "lse NULL");
    CHECK(same_bits(&m.p.io.out, want, "out"), "lse NULL");
    poison(&m.p.io.out);
    CHECK(attend_merge(m.parts, 2, &m.p.io.out, &none, NULL) == ATTEND_OK,
          "lse.data NULL");
    CHECK(same_bits(&m.p.io.out, want, "out"), "lse.data NULL");
    for (int axis = 0; axis < 4; axis++) {
        merge_case z = m;
        z.p.io.out.size[axis] = z.parts[0].out.size[axis] = z.parts[1].out.size[axis] = 0;
        for (int a = 0; a < 4; a++) /* without effect */
            z.p.io.out.stride[a] = z.parts[0].out.stride[a] = z.parts[1].out.stride[a] =
                INT64_MAX;
        if (axis < 3)
            z.p.io.lse.size[axis] = z.parts[0].lse.size[axis] =
                z.parts[1].lse.size[axis] = 0;
        poison(&m.p.io.out);
        auto_free void *const before = copy_bits(&m.p.io.out);
        CHECK(merge_run(&z), "size[%d] 0", axis);
        CHECK(same_bits(&m.p.io.out, before, "out"), "size[%d] 0 writes", axis);
    }
}

/* A case for comparing bits: any dtype and count, with empty parts at random places. */
static merge_case bits_make(int64_t count, int dtype, uint64_t seed)
{
    merge_case m =
        merge_make(small, count, float_dtypes[dtype], ATTEND_F32,
                   float_dtypes[(dtype + (int)seed) % FLOAT_DTYPES], 6.0, seed);

    for (int64_t p = 0; p < count; p += 3)
        view_set(&m.parts[p].lse, 1, (p + 1) % H, p % N, 0, -INFINITY);
    return m;
}

/* Merges by the context must give the bits in m->p.io.out and m->p.io.lse. */
static void check_with(attend_context *ctx, const merge_case *m, const char *what)
{
    auto_result want = result_copy(&m->p);
    attend_error err = {.status = ATTEND_OK};

    problem_poison(&m->p);
    const attend_status status =
        attend_merge_with(ctx, m->parts, m->count, &m->p.io.out, &m->p.io.lse, &err);
    if (status != ATTEND_OK || !result_is_same(&m->p, &want))
        test_fail(__FILE__, __LINE__, "the same bits", "%s: %s", what, err.message);
}

static void merge_with_set(attend_context *ctx)
{
    for (int dtype = 0; dtype < FLOAT_DTYPES; dtype++)
        for (int64_t count = 0; count <= MERGE_PARTS_MAX; count++)
            for (uint64_t seed = 0; seed < FLOAT_DTYPES; seed++) {
                auto_merge m = bits_make(count, dtype, seed);
                if (merge_run(&m))
                    check_with(ctx, &m, attend_dtype_name(float_dtypes[dtype]));
            }
}

TEST(a_context_gives_the_same_bits)
{
    for (int threads = 1; threads <= 3; threads++)
        for_each_set(merge_with_set, threads);
}

/* Enough rows for several workers and for full vectors, with any width. */
static void merge_large(attend_context *ctx)
{
    static const int64_t widths[] = {1, 3, 15, 16, 17, 64, 80, 131};

    for (int w = 0; w < 8; w++) {
        if (w % 3 + 1 != attend_context_threads(ctx) && !test_draws(0.25))
            continue;
        const int64_t rows = (1 << 18) / widths[w] + 7;
        auto_merge m =
            merge_make((shape){.nb = 1, .hq = 1, .nq = rows, .dv = widths[w]}, 2,
                       ATTEND_F32, ATTEND_F32, ATTEND_F32, 1.0, (uint64_t)w + 1);
        if (merge_run(&m))
            check_with(ctx, &m, "large");
    }
}

TEST(workers_give_the_same_bits)
{
    for (int threads = 1; threads <= 3; threads++)
        for_each_set(merge_large, threads);
}

/* More parts than MERGE_PARTS; each part is listed several times. */
TEST(very_many_parts)
{
    enum { MANY = 200 };
    auto_merge m =
        merge_make(small, MERGE_PARTS_MAX, ATTEND_F32, ATTEND_F64, ATTEND_F64, 2.0, 14);
    auto_free attend_part *const parts = test_memory(MANY * sizeof *parts);
    const int64_t each = MANY / MERGE_PARTS_MAX;

    CHECK(merge_run(&m), "once");
    for (int64_t p = 0; p < MANY; p++)
        parts[p] = m.parts[p % MERGE_PARTS_MAX];
    auto_result once = result_copy(&m.p);
    CHECK(attend_merge(parts, MANY, &m.p.io.out, &m.p.io.lse, NULL) == ATTEND_OK, "many");
    for (int64_t at = 0; at < B * H * N * DV; at++)
        CHECK(fabs(check_load(m.p.io.out.data, ATTEND_F64, at) -
                   check_load(once.out, ATTEND_F64, at)) <= 1e-14,
              "out at %lld", (long long)at);
    for (int64_t at = 0; at < B * H * N; at++)
        CHECK(fabs(check_load(m.p.io.lse.data, ATTEND_F64, at) -
                   check_load(once.lse, ATTEND_F64, at) - log((double)each)) <= 1e-14,
              "lse at %lld", (long long)at);
}

TEST(in_place_of_a_part)
{
    for (int dtype = 0; dtype < FLOAT_DTYPES; dtype++)
        for (int64_t count = 1; count <= MERGE_PARTS_MAX; count++)
            for (int64_t place = 0; place < count; place++) {
                auto_merge m = merge_make(small, count, float_dtypes[dtype], ATTEND_F32,
                                          float_dtypes[dtype], 3.0, 15);
                CHECK(merge_run(&m), "apart");
                const attend_tensor out = tensor_of_view(&m.parts[place].out);
                const attend_tensor lse = tensor_of_view(&m.parts[place].lse);
                CHECK(attend_merge(m.parts, count, &out, &lse, NULL) == ATTEND_OK, "in");
                CHECK(same_bits(&out, m.p.io.out.data, "out") &&
                          same_bits(&lse, m.p.io.lse.data, "lse"),
                      "%s, part %lld of %lld", attend_dtype_name(float_dtypes[dtype]),
                      (long long)place, (long long)count);
            }
}

/* The arguments of a call. */
typedef struct request {
    merge_case m;
    const attend_part *parts;
    const attend_tensor *out;
} request;

static void expect_refusal(attend_context *ctx, const request *r, const problem *sound,
                           const char *field, const char *value)
{
    const merge_case *const m = &r->m;
    attend_error err = {.status = ATTEND_OK}, with = {.status = ATTEND_OK};
    const attend_status status =
        attend_merge(r->parts, m->count, r->out, &m->p.io.lse, &err);

    CHECK(is_refused(status, ATTEND_EINVAL, &err, field, value), "attend_merge");
    attend_merge_with(ctx, r->parts, m->count, r->out, &m->p.io.lse, &with);
    CHECK(strcmp(with.message, err.message) == 0, "\"%s\" and \"%s\"", with.message,
          err.message);
    CHECK(is_poisoned(&sound->io.out) && is_poisoned(&sound->io.lse), "%s: written",
          field);
}

/* The valid request after `wrong` is refused with these words. */
#define REFUSES(field, value, wrong)                                                     \
    do {                                                                                 \
        request r = {.m = sound, .parts = r.m.parts, .out = &r.m.p.io.out};              \
        wrong;                                                                           \
        expect_refusal(ctx, &r, &sound.p, field, value);                                 \
    } while (0)

TEST(errors_name_field_and_value)
{
    auto_merge sound = merge_make(small, 2, ATTEND_F32, ATTEND_F32, ATTEND_F32, 1.0, 13);
    auto_context const ctx = open_set("scalar", 1);

    REFUSES("count", "-1", r.m.count = -1);
    REFUSES("parts", "NULL", r.parts = NULL);
    REFUSES("out", "NULL", r.out = NULL);
    REFUSES("parts[1].out.size[3]", "6", r.m.parts[1].out.size[3] = 6);
    REFUSES("parts[1].lse.size[1]", "9", r.m.parts[1].lse.size[1] = 9);
    REFUSES("lse.size[3]", "2", r.m.p.io.lse.size[3] = 2);
    REFUSES("parts[1].lse.dtype", "bf16", r.m.parts[1].lse.dtype = ATTEND_BF16);
    REFUSES("parts[1].out.dtype", "bool", r.m.parts[1].out.dtype = ATTEND_BOOL);
    REFUSES("out.dtype", "bool", r.m.p.io.out.dtype = ATTEND_BOOL);
    REFUSES("lse.dtype", "f16", r.m.p.io.lse.dtype = ATTEND_F16);
    REFUSES("out.stride[2]", "0", r.m.p.io.out.stride[2] = 0);
    REFUSES("parts[1].out.data", "NULL", r.m.parts[1].out.data = NULL);
    REFUSES("out.data", "NULL", r.m.p.io.out.data = NULL);
    REFUSES("out.size[0]", "-2", r.m.p.io.out.size[0] = -2);
}

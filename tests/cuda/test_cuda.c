/* SPDX-License-Identifier: MIT */
/*
 * Contexts on a GPU, and the kernels of order FAST.  The laws, the dense comparisons and
 * the conformance rows run on a GPU as the kernel set `cuda`; test_cuda_memory.c tests
 * tensors in device memory.
 */
#define _GNU_SOURCE
#include "support/device_memory.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "check/check.h"
#include "check/sample.h"

/* ---- without a GPU --------------------------------------------------------------- */

TEST(names_of_devices)
{
    attend_options options = attend_options_default();
    attend_context *ctx = NULL;
    attend_error err = {.message = ""};

    options.device = "gpu";
    const attend_status status = attend_context_create(&ctx, &options, &err);
    CHECK(status == ATTEND_EINVAL || (status == ATTEND_EUNSUPPORTED && !device_runs()),
          "%s", err.message);
    CHECK(strstr(err.message, "gpu") != NULL && ctx == NULL, "%s", err.message);
    options.device = "cuda:97";
    CHECK(attend_context_create(&ctx, &options, &err) == ATTEND_EUNSUPPORTED, "%s",
          err.message);
    options.device = NULL;
    options.host_tensors = 1;
    CHECK(attend_context_create(&ctx, &options, &err) == ATTEND_EINVAL, "%s",
          err.message);
}

TEST(calls_for_devices_on_the_cpu)
{
    attend_context *ctx = NULL;
    attend_error err = {.message = ""};
    size_t bytes = 1;
    char words[8];

    CHECK(attend_context_create(&ctx, NULL, &err) == ATTEND_OK, "%s", err.message);
    CHECK(attend_context_wait(ctx, &err) == ATTEND_OK, "%s", err.message);
    CHECK(attend_context_set_stream(ctx, NULL, &err) == ATTEND_EINVAL, "a stream");
    CHECK(attend_context_set_workspace(ctx, NULL, 0, &err) == ATTEND_EINVAL, "memory");
    CHECK(attend_forward_workspace(ctx, NULL, NULL, &bytes, &err) == ATTEND_EINVAL,
          "no io");
    CHECK(attend_devices(words, sizeof words) > sizeof words - 1 &&
              strlen(words) == sizeof words - 1,
          "%s", words);
    attend_context_destroy(ctx);
}

/* ---- order FAST ----------------------------------------------------------------- */

static attend_context *fast;
static struct check_run blocks;

/* Error over bound.  f16 weights add 2^-11 P, and 2^-27 per key for underflow. */
static double ratio_of(const struct check_problem *p, struct check_worst *worst)
{
    struct check_expect expect = check_dense(p);
    struct check_outputs got;
    char reason[384];
    double largest = 0;

    for (int64_t x = 0; x < p->nb * p->hkv * p->nk * p->dv; x++)
        largest = fmax(largest, fabs(p->v[x]));
    for (int64_t x = 0; p->dtype == ATTEND_F16 && x < p->nb * p->hq * p->nq * p->dv; x++)
        if (expect.out.bound[CHECK_KERNELS][x] > 0)
            expect.out.bound[CHECK_KERNELS][x] +=
                largest * (0x1p-11 + (double)p->nk * 0x1p-27);
    if (!check_call(&blocks.blocks, fast, p, &got, reason, sizeof reason)) {
        printf("  %s\n", reason);
        check_expect_free(&expect);
        return INFINITY;
    }
    check_compare(p, &expect, CHECK_KERNELS, &got, worst);
    check_outputs_free(&got);
    check_expect_free(&expect);
    return worst->ratio;
}

static const int64_t widths[] = {64, 128, 96, 256, 40, 8, 192, 33};

/* A problem that the kernels of order FAST support; `n` selects shape and rule. */
static struct check_problem problem_of_width(int n, int64_t d, int64_t dv)
{
    struct check_random random = {.seed = 78 + (uint64_t)n};
    const attend_dtype dtype = n % 2 ? ATTEND_F16 : ATTEND_BF16;
    const int64_t group = check_random_int(&random, 1, 4);
    const int64_t hkv = check_random_int(&random, 1, 2);
    const int64_t nb = check_random_int(&random, 1, 2);
    const int64_t nq = n % 4 == 3 ? 1 : check_random_int(&random, 2, 420);
    const int64_t nk = check_random_int(&random, 1, n % 4 == 3 ? 2600 : 700);
    struct check_problem p =
        check_sample_shape((uint64_t)n, dtype, nb, hkv * group, hkv, nq, nk, d, dv);

    p.wants_lse = 1;
    p.causal = (attend_causal)check_random_int(&random, 0, 2);
    if (check_random_chance(&random, 0.3))
        p.window_left = check_random_int(&random, 0, 300);
    if (check_random_chance(&random, 0.2))
        p.window_right = check_random_int(&random, 0, 300);
    if (check_random_chance(&random, 0.3)) {
        p.key_lengths = check_memory((size_t)nb, sizeof *p.key_lengths);
        for (int64_t b = 0; b < nb; b++)
            p.key_lengths[b] = check_random_int(&random, 0, nk);
    }
    if (check_random_chance(&random, 0.3)) {
        p.sinks = check_memory((size_t)(hkv * group), sizeof *p.sinks);
        for (int64_t h = 0; h < hkv * group; h++)
            p.sinks[h] = check_random_normal(&random);
    }
    if (check_random_chance(&random, 0.3)) {
        p.scale_is_set = 1;
        p.scale = exp2((double)check_random_int(&random, -4, 5));
    }
    if (check_random_chance(&random, 0.3))
        p.out_dtype = ATTEND_F32;
    return p;
}

static struct check_problem fast_problem(int n)
{
    struct check_random random = {.seed = 77 + (uint64_t)n};
    const int64_t d = widths[check_random_int(&random, 0, 7)];

    return problem_of_width(n, d, n % 3 ? d : widths[check_random_int(&random, 0, 7)]);
}

/* Keys wider than their values, for the kernels of d = 192 and dv = 128. */
static struct check_problem wide_keys(int n)
{
    struct check_random random = {.seed = 600 + (uint64_t)n};

    return problem_of_width(n, n % 2 ? 192 : check_random_int(&random, 129, 192),
                            n % 3 ? 128 : check_random_int(&random, 1, 128));
}

/* `n` selects a random mask, documents, or blocks; one row sees no key. */
static void add_mask(struct check_problem *p, struct check_random *random, int n)
{
    const int64_t heads = check_random_chance(random, 0.5) ? p->hq : 1;
    const int64_t batches = check_random_chance(random, 0.5) ? p->nb : 1;
    const int64_t size[4] = {batches, heads, p->nq, p->nk};
    const int64_t document = check_random_int(random, 20, 300);
    const int64_t row = check_random_int(random, 0, p->nq - 1);
    const int64_t empty = p->nq > 1 ? row : -1;

    p->mask = check_memory((size_t)check_count(size), sizeof *p->mask);
    memcpy(p->mask_size, size, sizeof size);
    for (int64_t x = 0; x < check_count(size); x++) {
        const int64_t i = x / p->nk % p->nq, j = x % p->nk;
        const int seen = n % 3 == 0   ? check_random_chance(random, 0.5)
                         : n % 3 == 1 ? i / document == j / document
                                      : j / 128 % 2 == (i / 128 + n) % 2;
        p->mask[x] = seen && i != empty;
    }
}

/* The same with a mask, bias, ALiBi or softcap. */
static struct check_problem rule_problem(int n)
{
    struct check_problem p = fast_problem(5000 + n);
    struct check_random random = {.seed = 400 + (uint64_t)n};

    if (n % 4 != 3 || n % 8 == 7) /* every fourth problem has one query */
        add_mask(&p, &random, n);
    if (n % 2 == 1 && check_random_chance(&random, 0.6)) {
        const int64_t size[4] = {1, check_random_chance(&random, 0.5) ? p.hq : 1, p.nq,
                                 p.nk};
        p.bias = check_memory((size_t)check_count(size), sizeof *p.bias);
        p.bias_dtype = ATTEND_F32;
        memcpy(p.bias_size, size, sizeof size);
        /* The lowest finite number, with which models hide keys; some rows have no other.
         */
        for (int64_t x = 0; x < check_count(size); x++)
            p.bias[x] =
                n % 4 == 1 && (x / p.nk % 7 == 3 || check_random_chance(&random, 0.3))
                    ? -FLT_MAX
                    : (float)check_random_normal(&random);
    }
    if (n % 2 == 1 && check_random_chance(&random, 0.5)) {
        p.alibi = check_memory((size_t)p.hq, sizeof *p.alibi);
        for (int64_t h = 0; h < p.hq; h++)
            p.alibi[h] = exp2(-(double)check_random_int(&random, 1, 8)) *
                         (check_random_chance(&random, 0.3) ? -1 : 1);
    }
    if (n % 2 == 1 && check_random_chance(&random, 0.4))
        p.softcap = check_random_chance(&random, 0.2) ? 1e4 : 20;
    return p;
}

static void under_the_bound(struct check_problem (*sample)(int), int count)
{
    double worst = 0;
    int failed = 0;

    for (int n = 0; n < count; n++) {
        struct check_problem p = sample(n);
        struct check_worst one = {0};
        const double ratio = ratio_of(&p, &one);
        if (!(ratio < 1)) {
            char text[512];
            check_describe(&p, text, sizeof text);
            if (failed++ < 8)
                printf("  problem %d: %g of the bound: %s; %s\n", n, ratio, one.where,
                       text);
        }
        worst = fmax(worst, ratio);
        check_problem_free(&p);
    }
    printf("  %d problems, worst %.3f of the bound\n", count, worst);
    CHECK(failed == 0, "%d of %d problems", failed, count);
}

TEST(fast_kernels_are_under_the_bound)
{
    NEEDS_DEVICE;
    under_the_bound(fast_problem, problems(240));
}

TEST(fast_wide_keys_are_under_the_bound)
{
    NEEDS_DEVICE;
    under_the_bound(wide_keys, problems(80));
}

/* More tiles than SMs: every CTA computes several. */
static struct check_problem many_tiles(int n)
{
    static const int64_t d[] = {64, 128, 256, 192}, dv[] = {64, 128, 256, 128};
    struct check_problem p =
        check_sample_shape((uint64_t)n, n % 2 ? ATTEND_F16 : ATTEND_BF16, 2, 12, 12, 1200,
                           90, d[n % 4], dv[n % 4]);

    p.wants_lse = 1;
    p.causal = n < 4 ? ATTEND_CAUSAL_NONE : ATTEND_CAUSAL_BOTTOM_RIGHT;
    return p;
}

TEST(fast_kernels_take_many_tiles)
{
    NEEDS_DEVICE;
    under_the_bound(many_tiles, 8);
}

TEST(fast_rules_are_under_the_bound)
{
    NEEDS_DEVICE;
    under_the_bound(rule_problem, problems(240));
}

/* Any bf16 or f16 problem of the dense comparisons, also those for the general kernels.
 */
TEST(fast_takes_any_problem)
{
    NEEDS_DEVICE;
    int taken = 0;

    for (int n = 0; n < problems(1200); n++) {
        const struct check_sample_options options = {
            .max_length = 300, .max_width = 300, .max_heads = 3, .tame = n % 4 != 0};
        struct check_problem p = check_sample(900000 + (uint64_t)n, &options);
        struct check_worst worst = {0};
        const int narrow = p.dtype == ATTEND_BF16 || p.dtype == ATTEND_F16;
        const double ratio = narrow ? ratio_of(&p, &worst) : 0;
        char text[512];

        check_describe(&p, text, sizeof text);
        check_problem_free(&p);
        taken += narrow;
        CHECK(ratio < 1, "problem %d: %g of the bound: %s; %s", n, ratio, worst.where,
              text);
    }
    CHECK(taken > problems(200), "only %d", taken);
}

static int same_outputs(const struct check_problem *a, const struct check_problem *b,
                        const unsigned char *skip)
{
    struct check_outputs x, y;
    struct check_worst worst = {0};
    char reason[384];

    if (!check_call(&blocks.blocks, fast, a, &x, reason, sizeof reason) ||
        !check_call(&blocks.blocks, fast, b, &y, reason, sizeof reason)) {
        printf("  %s\n", reason);
        return 0;
    }
    check_same_outputs(a, &x, b, &y, skip, &worst);
    if (worst.ratio > 0)
        printf("  %s\n", worst.where);
    check_outputs_free(&x);
    check_outputs_free(&y);
    return worst.ratio == 0;
}

TEST(fast_kernels_keep_bits_for_any_strides)
{
    NEEDS_DEVICE;
    for (int n = 0; n < problems(80); n++) {
        struct check_problem p = n % 2        ? rule_problem(1000 + n)
                                 : n % 8 == 4 ? wide_keys(1000 + n)
                                              : fast_problem(1000 + n);
        struct check_problem other = check_problem_copy(&p);
        struct check_random random = {.seed = 5 + (uint64_t)n};
        check_sample_layouts(&other, &random, 0);
        const int same = same_outputs(&p, &other, NULL);
        check_problem_free(&other);
        check_problem_free(&p);
        CHECK(same, "problem %d", n);
    }
}

TEST(fast_kernels_do_not_see_hidden_values)
{
    NEEDS_DEVICE;
    int changed_keys = 0;

    for (int n = 0; n < problems(120); n++) {
        static const double bad[] = {NAN, INFINITY, -INFINITY, 32768};
        struct check_problem p = n % 2        ? rule_problem(2000 + n)
                                 : n % 8 == 4 ? wide_keys(2000 + n)
                                              : fast_problem(2000 + n);
        if (p.causal == ATTEND_CAUSAL_NONE)
            p.causal = ATTEND_CAUSAL_BOTTOM_RIGHT;
        struct check_problem other = check_problem_copy(&p);
        struct check_random random = {.seed = 9 + (uint64_t)n};
        const int64_t group = p.hq / p.hkv;
        unsigned char *const skip = check_memory((size_t)(p.nb * p.hq * p.nq), 1);
        /* Inf, NaN and large values in keys that some rows see and others do not. */
        for (int64_t x = 0; x < p.nb * p.hkv * p.nk; x++) {
            if (!check_random_chance(&random, 0.02))
                continue;
            const int64_t b = x / p.nk / p.hkv, g = x / p.nk % p.hkv, j = x % p.nk;
            for (int64_t c = 0; c < p.dv; c++)
                other.v[x * p.dv + c] = bad[check_random_int(&random, 0, 3)];
            if (check_random_chance(&random, 0.5))
                other.k[x * p.d] = bad[check_random_int(&random, 0, 2)];
            for (int64_t h = g * group; h < (g + 1) * group; h++)
                for (int64_t i = 0; i < p.nq; i++)
                    if (check_sees(&p, b, h, i, j))
                        skip[(b * p.hq + h) * p.nq + i] = 1;
            changed_keys++;
        }
        const int same = same_outputs(&p, &other, skip);
        struct check_worst worst = {0};
        const double ratio = ratio_of(&other, &worst);
        if (!(ratio < 1))
            printf("  problem %d: %s\n", n, worst.where);
        free(skip);
        check_problem_free(&other);
        check_problem_free(&p);
        CHECK(same, "problem %d", n);
        CHECK(ratio < 1, "problem %d: rows that see them", n);
    }
    CHECK(changed_keys > 20, "only %d", changed_keys);
}

TEST(fast_kernels_take_any_logits)
{
    NEEDS_DEVICE;
    static const double scales[] = {1, 4, 16, 64, 256, 1024};

    for (int n = 0; n < 18; n++) {
        const int64_t d = n < 12 ? 128 : 192;
        struct check_problem p = check_sample_shape(
            (uint64_t)n, n % 2 ? ATTEND_F16 : ATTEND_BF16, 1, 1, 1, 200, 3000, d, 128);
        struct check_worst worst = {0};
        p.scale_is_set = 1;
        p.scale = scales[n % 12 / 2] / sqrt((double)d);
        p.wants_lse = 1;
        p.causal = n % 3 ? ATTEND_CAUSAL_NONE : ATTEND_CAUSAL_BOTTOM_RIGHT;
        /* Scores far above those of the block computed first, which has the last keys. */
        for (int64_t x = 0; n >= 4 && x < 64 * d; x++)
            p.k[x] *= 8;
        const double ratio = ratio_of(&p, &worst);
        check_problem_free(&p);
        CHECK(ratio < 1, "scale %g: %s", scales[n % 12 / 2], worst.where);
    }
}

/* Batch and heads around a row change no bit of it. */
TEST(fast_rows_depend_on_nothing_else)
{
    NEEDS_DEVICE;
    struct check_problem p =
        check_sample_shape(3, ATTEND_BF16, 2, 4, 2, 300, 500, 128, 128);
    p.causal = ATTEND_CAUSAL_OFFSET;
    p.causal_offset = check_memory(2, sizeof *p.causal_offset);
    p.causal_offset[0] = p.causal_offset[1] = 200;
    p.wants_lse = 1;
    struct check_problem alone = check_problem_heads(&p, 1, 2, 2);
    struct check_outputs all, own;
    char reason[384];
    CHECK(check_call(&blocks.blocks, fast, &p, &all, reason, sizeof reason), "%s",
          reason);
    CHECK(check_call(&blocks.blocks, fast, &alone, &own, reason, sizeof reason), "%s",
          reason);
    const int64_t from = (1 * 4 + 2) * 300;
    int same = 1;
    for (int64_t x = 0; x < 2 * 300 * 128; x++)
        same &= check_same_bits(all.out[from * 128 + x], own.out[x]);
    CHECK(same, "a head alone has other bits");
    check_outputs_free(&all);
    check_outputs_free(&own);
    check_problem_free(&alone);
    check_problem_free(&p);
}

/* Column mass and maximum of order FAST against `ref`. */
TEST(fast_columns_are_those_of_the_definition)
{
    NEEDS_DEVICE;
    attend_context *const ref = open_set("ref", 1);

    for (int n = 0; n < problems(40); n++) {
        struct check_problem p = fast_problem(3000 + n);
        if (p.d > 128)
            goto next;
        check_place(&blocks.blocks, &p);
        const attend_io *const io = &blocks.blocks.io;
        const size_t columns = (size_t)(p.nb * p.hq * p.nk),
                     rows = (size_t)(p.nb * p.hq * p.nq);
        float *const numbers = check_memory(4 * columns + rows, sizeof *numbers);
        void *const out = check_memory(rows * (size_t)p.dv, 8);
        attend_io forward = *io;
        attend_inspection request = attend_inspection_default();
        attend_error err = {.message = ""};

        forward.out = attend_tensor_dense(out, ATTEND_F32, p.nb, p.hq, p.nq, p.dv);
        forward.lse =
            attend_tensor_dense(numbers + 4 * columns, ATTEND_F32, p.nb, p.hq, p.nq, 1);
        CHECK(attend_forward(ref, &blocks.blocks.rule, &forward, &err) == ATTEND_OK, "%s",
              err.message);
        request.q = io->q;
        request.k = io->k;
        request.lse = attend_view_of(&forward.lse);
        for (int x = 0; x < 2; x++) {
            request.column_mass = attend_tensor_dense(numbers + (size_t)x * columns,
                                                      ATTEND_F32, p.nb, p.hq, 1, p.nk);
            request.column_max = attend_tensor_dense(numbers + (size_t)(2 + x) * columns,
                                                     ATTEND_F32, p.nb, p.hq, 1, p.nk);
            CHECK(attend_inspect(x ? fast : ref, &blocks.blocks.rule, &request, &err) ==
                      ATTEND_OK,
                  "%s", err.message);
        }
        /* Rounding errors of scores of up to 32 |q||k| are errors of the weights. */
        double worst = 0;
        for (size_t x = 0; x < 2 * columns; x++) {
            const size_t at = x < columns ? x : x + columns;
            const double want = numbers[at], got = numbers[at + columns];
            worst = fmax(worst, fabs(got - want) / (1e-3 * want + 1e-6));
        }
        free(out);
        free(numbers);
        CHECK(worst < 1, "problem %d: %g of what is allowed", n, worst);
    next:
        check_problem_free(&p);
    }
    attend_context_destroy(ref);
}

static const attend_stat asked[] = {
    ATTEND_STAT_KEYS,  ATTEND_STAT_MAX,     ATTEND_STAT_LSE,      ATTEND_STAT_TOP_WEIGHT,
    ATTEND_STAT_N_EFF, ATTEND_STAT_ENTROPY, ATTEND_STAT_KEYS_EFF, ATTEND_STAT_MARGIN,
    ATTEND_STAT_SINK1, ATTEND_STAT_SINK4,   ATTEND_STAT_DISTANCE};
enum { ASKED = sizeof asked / sizeof *asked, TOP = 2 };

/* Requests row statistics: ASKED + TOP numbers per row. */
static void ask_rows(attend_context *ctx, int64_t rows, attend_io *io, double *numbers,
                     int64_t *keys)
{
    const int64_t *const size = io->out.size;
    attend_stats request = attend_stats_default();
    attend_error err = {.message = ""};

    request.columns = asked;
    request.rows =
        attend_tensor_dense(numbers, ATTEND_F64, size[0], size[1], size[2], ASKED);
    request.top_weights = attend_tensor_dense(numbers + rows * ASKED, ATTEND_F64, size[0],
                                              size[1], size[2], TOP);
    request.top_keys = keys;
    io->stats = &request;
    CHECK(attend_forward(ctx, &blocks.blocks.rule, io, &err) == ATTEND_OK, "%s",
          err.message);
    io->stats = NULL;
}

/*
 * Fused row statistics against `ref`.  Where all keys are equal, all scores are, and the
 * top keys are the earliest.  Statistics change no bit of O.
 */
TEST(fast_statistics_are_those_of_the_definition)
{
    NEEDS_DEVICE;
    attend_context *const ref = open_set("ref", 1);

    for (int n = 0; n < problems(60); n++) {
        struct check_problem p = n == 1  ? many_tiles(1)
                                 : n % 2 ? fast_problem(6000 + n)
                                         : rule_problem(6000 + n);
        p.scale_is_set = 0;
        for (int64_t x = 0; n % 5 == 0 && x < p.nb * p.hkv * p.nk * p.d; x++)
            p.k[x] = p.k[x % p.d];
        check_place(&blocks.blocks, &p);
        const int64_t rows = p.nb * p.hq * p.nq, each = ASKED + TOP;
        double *const numbers = check_memory((size_t)(2 * rows * each), sizeof *numbers);
        int64_t *const keys = check_memory((size_t)(2 * rows * TOP), sizeof *keys);
        float *const out = check_memory((size_t)(3 * rows * p.dv), sizeof *out);
        const attend_dtype out_type = n == 1 ? p.dtype : ATTEND_F32;
        attend_io io = blocks.blocks.io;
        attend_error err = {.message = ""};

        io.lse.data = NULL;
        for (int x = 0; x < 3; x++) {
            io.out = attend_tensor_dense(out + x * rows * p.dv, out_type, p.nb, p.hq,
                                         p.nq, p.dv);
            if (x == 2)
                CHECK(attend_forward(fast, &blocks.blocks.rule, &io, &err) == ATTEND_OK,
                      "%s", err.message);
            else
                ask_rows(x ? fast : ref, rows, &io, numbers + x * rows * each,
                         keys + x * rows * TOP);
        }
        double worst = 0;
        int64_t at = 0;
        for (int64_t x = 0; x < rows * each; x++) {
            const double want = numbers[x], got = numbers[rows * each + x];
            const double off = want == got || (isnan(want) && isnan(got))
                                   ? 0
                                   : fabs(got - want) / (2e-4 * fabs(want) + 2e-5);
            if (!(off <= worst)) {
                worst = off;
                at = x;
            }
        }
        CHECK(worst < 1, "problem %d: %g of what is allowed: %s of row %d: %g, not %g", n,
              worst, at < rows * ASKED ? attend_stat_name(asked[at % ASKED]) : "top",
              (int)(at / ASKED), numbers[rows * each + at], numbers[at]);
        int named = 1;
        for (int64_t x = 0; x < rows; x++)
            if (n % 5 == 0 || numbers[x * ASKED + 7] > 1e-3)
                named &= keys[x * TOP] == keys[(rows + x) * TOP] &&
                         (n % 5 != 0 || keys[x * TOP + 1] == keys[(rows + x) * TOP + 1]);
        CHECK(named, "problem %d: other keys", n);
        CHECK(memcmp(out + rows * p.dv, out + 2 * rows * p.dv,
                     (size_t)(rows * p.dv) * attend_dtype_size(out_type)) == 0,
              "problem %d: statistics change O", n);
        free(numbers);
        free(keys);
        free(out);
        check_problem_free(&p);
    }
    attend_context_destroy(ref);
}

/* With an argument, runs only the tests whose names contain it, for memory checkers. */
int main(int argc, char **argv)
{
#define RUN_ONE(name)                                                                    \
    if (argc < 2 || strstr(#name, argv[1]) != NULL)                                      \
    RUN(name)
    RUN_ONE(names_of_devices);
    RUN_ONE(calls_for_devices_on_the_cpu);
    if (device_runs()) {
        if (!open_driver())
            return 2;
        fast = open_set("cuda-fast", 1);
    }
    RUN_ONE(fast_kernels_are_under_the_bound);
    RUN_ONE(fast_wide_keys_are_under_the_bound);
    RUN_ONE(fast_kernels_take_many_tiles);
    RUN_ONE(fast_rules_are_under_the_bound);
    RUN_ONE(fast_takes_any_problem);
    RUN_ONE(fast_kernels_keep_bits_for_any_strides);
    RUN_ONE(fast_kernels_do_not_see_hidden_values);
    RUN_ONE(fast_kernels_take_any_logits);
    RUN_ONE(fast_rows_depend_on_nothing_else);
    RUN_ONE(fast_columns_are_those_of_the_definition);
    RUN_ONE(fast_statistics_are_those_of_the_definition);
    attend_context_destroy(fast);
    return test_finish();
}

/* SPDX-License-Identifier: MIT */
/*
 * Contexts on a GPU, and the kernels of order FAST.  The laws, the dense comparisons and
 * the conformance rows run on a GPU as the kernel set `cuda`; test_cuda_stats.c tests
 * their statistics, test_cuda_memory.c tensors in device memory.
 */
#include "support/device_memory.h"
#include "support/device_problems.h"

#include <dlfcn.h>

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
    auto_context ctx = NULL;
    attend_error err = {.message = ""};
    size_t bytes = 1;
    char words[8];

    CHECK_OK(attend_context_create, &ctx, NULL);
    CHECK_OK(attend_context_wait, ctx);
    CHECK(attend_context_set_stream(ctx, NULL, &err) == ATTEND_EINVAL, "a stream");
    CHECK(attend_forward_workspace(ctx, NULL, NULL, &bytes, &err) == ATTEND_EINVAL,
          "no io");
    CHECK(attend_devices(words, sizeof words) > sizeof words - 1 &&
              strlen(words) == sizeof words - 1,
          "%s", words);
}

/* ---- order SAME ----------------------------------------------------------------- */

DEVICE_TEST(many_problems_are_as_alone)
{
    auto_context const ctx = open_set("cuda", 1);
    auto_problem a = problem_make((shape){1, 2, 1, 9, 40, 16, 8}, ATTEND_F32, 1);
    auto_problem b = problem_make((shape){2, 1, 1, 1, 70, 8, 8}, ATTEND_BF16, 2);
    const attend_io *const ios[] = {&a.io, &b.io};
    attend_error err;

    a.io.weights.data = b.io.weights.data = NULL;
    auto_result alone_a = result_of(&a, ctx);
    auto_result alone_b = result_of(&b, ctx);
    problem_poison(&a);
    problem_poison(&b);
    CHECK(is_ok(attend_forward_many(ctx, 2, NULL, ios, &err), &err), "together");
    CHECK(result_is_same(&a, &alone_a) && result_is_same(&b, &alone_b), "bits");
    b.io.k.dtype = ATTEND_F16;
    problem_poison(&a);
    CHECK(attend_forward_many(ctx, 2, NULL, ios, &err) == ATTEND_EUNSUPPORTED &&
              is_poisoned(&a.io.out),
          "%s", err.message);
}

/* ---- order FAST ----------------------------------------------------------------- */

static attend_context *fast;
static struct check_run blocks;

static double ratio_of(const struct check_problem *p, struct check_worst *worst)
{
    return device_ratio(&blocks.blocks, fast, p, worst);
}

static void under_the_bound(struct check_problem (*sample)(int), int count)
{
    double worst = 0;
    int failed = 0;

    for (int n = 0; n < count; n++) {
        auto_check_problem p = sample(n);
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
    }
    printf("  %d problems, worst %.3f of the bound\n", count, worst);
    CHECK(failed == 0, "%d of %d problems", failed, count);
}

DEVICE_TEST(fast_kernels_are_under_the_bound)
{
    under_the_bound(fast_problem, problems(240));
}

DEVICE_TEST(fast_wide_keys_are_under_the_bound)
{
    under_the_bound(wide_keys, problems(80));
}

DEVICE_TEST(fast_every_kernel_is_under_the_bound)
{
    static const int64_t d[] = {64, 128, 256, 192}, dv[] = {64, 128, 256, 128};

    for (int n = 0; n < 2 * 2 * 4 * PURPOSES; n++) {
        const int width = n / 4 % 4;
        auto_check_problem p =
            kernel_problem((enum purpose)(n / 16), n % 2 ? ATTEND_F16 : ATTEND_BF16,
                           d[width], dv[width], n / 2 % 2);
        struct check_worst worst = {0};
        const double ratio = ratio_of(&p, &worst);
        CHECK(ratio < 1, "problem %d: %s", n, worst.where);
    }
}

DEVICE_TEST(fast_kernels_take_many_tiles) { under_the_bound(many_tiles, 8); }

DEVICE_TEST(fast_rules_are_under_the_bound)
{
    under_the_bound(rule_problem, problems(240));
}

/*
 * All bf16 and f16 problems of the dense comparisons, including those for the general
 * kernels.
 */
DEVICE_TEST(fast_takes_any_problem)
{
    int taken = 0;

    for (int n = 0; n < problems(1200); n++) {
        const struct check_sample_options options = {
            .max_length = 300, .max_width = 300, .max_heads = 3, .tame = n % 4 != 0};
        auto_check_problem p = check_sample(900000 + (uint64_t)n, &options);
        struct check_worst worst = {0};
        const int narrow = p.dtype == ATTEND_BF16 || p.dtype == ATTEND_F16;
        const double ratio = narrow ? ratio_of(&p, &worst) : 0;
        char text[512];

        check_describe(&p, text, sizeof text);
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

DEVICE_TEST(fast_kernels_keep_bits_for_any_strides)
{
    for (int n = 0; n < problems(80); n++) {
        auto_check_problem p = n % 2        ? rule_problem(1000 + n)
                               : n % 8 == 4 ? wide_keys(1000 + n)
                                            : fast_problem(1000 + n);
        auto_check_problem other = check_problem_copy(&p);
        struct check_random random = {.seed = 5 + (uint64_t)n};
        check_sample_layouts(&other, &random, 0);
        const int same = same_outputs(&p, &other, NULL);
        CHECK(same, "problem %d", n);
    }
}

DEVICE_TEST(fast_kernels_do_not_see_hidden_values)
{
    int changed_keys = 0;

    for (int n = 0; n < 2 + problems(120); n++) {
        static const double bad[] = {NAN, INFINITY, -INFINITY, 32768};
        auto_check_problem p = n % 2        ? rule_problem(2000 + n)
                               : n % 8 == 4 ? wide_keys(2000 + n)
                                            : fast_problem(2000 + n);
        if (p.causal == ATTEND_CAUSAL_NONE)
            p.causal = ATTEND_CAUSAL_BOTTOM_RIGHT;
        auto_check_problem other = check_problem_copy(&p);
        struct check_random random = {.seed = 9 + (uint64_t)n};
        const int64_t group = p.hq / p.hkv;
        auto_free unsigned char *const skip =
            check_memory((size_t)(p.nb * p.hq * p.nq), 1);
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
        CHECK(same, "problem %d", n);
        CHECK(ratio < 1, "problem %d: rows that see them", n);
    }
    CHECK(changed_keys > 20, "only %d", changed_keys);
}

DEVICE_TEST(fast_kernels_take_any_logits)
{
    static const double scales[] = {1, 4, 16, 64, 256, 1024};

    for (int n = 0; n < 18; n++) {
        const int64_t d = n < 12 ? 128 : 192;
        auto_check_problem p = check_sample_shape(
            (uint64_t)n, n % 2 ? ATTEND_F16 : ATTEND_BF16, 1, 1, 1, 200, 3000, d, 128);
        struct check_worst worst = {0};
        p.scale_is_set = 1;
        p.scale = scales[n % 12 / 2] / sqrt((double)d);
        p.wants_lse = 1;
        p.causal = n % 3 ? ATTEND_CAUSAL_NONE : ATTEND_CAUSAL_BOTTOM_RIGHT;
        /* Scores far above those of the first computed block, which has the last keys. */
        for (int64_t x = 0; n >= 4 && x < 64 * d; x++)
            p.k[x] *= 8;
        const double ratio = ratio_of(&p, &worst);
        CHECK(ratio < 1, "scale %g: %s", scales[n % 12 / 2], worst.where);
    }
}

/*
 * Number of warps, counted by the emulator, that requested recomputation of their tile;
 * -1 on a GPU, and for kernels without recomputation.
 */
static long replays(void)
{
    void *const library = dlopen("libcuda.so.1", RTLD_NOW);
    void *const found = dlsym(library, "attend_emulated_replays");
    long (*count)(void);

    memcpy(&count, &found, sizeof found);
    dlclose(library);
    return found && !getenv("ATTEND_CUDA_KERNELS") ? count() : -1;
}

/*
 * Rows that see few keys of the diagonal block choose their reference by a later block,
 * so that weights do not overflow.
 */
DEVICE_TEST(fast_causal_tiles_are_computed_once)
{
    static const int64_t widths[] = {64, 128, 192, 256};

    for (int n = 0; n < 32; n++) {
        const int64_t d = widths[n % 4], more = n / 4 % 2 ? 77 : 0;
        auto_check_problem p = check_sample_shape(
            (uint64_t)n, (n / 4 + n / 8) % 2 ? ATTEND_F16 : ATTEND_BF16, 1, 1, 1, 400,
            400 + more, d, d == 192 ? 128 : d);
        p.scale_is_set = 1;
        p.scale = (n < 24 ? 16 << 2 * (n / 8) : 4) / sqrt((double)d);
        p.causal = ATTEND_CAUSAL_BOTTOM_RIGHT;
        p.wants_lse = 1;
        /*
         * Forced recomputation: scores of the first keys are far above those of the
         * deciding blocks.
         */
        for (int64_t x = 0; n >= 24 && x < 16 * d; x++)
            p.k[x] *= 64;
        const long before = replays();
        struct check_worst worst = {0};
        const double ratio = ratio_of(&p, &worst);
        const long again = replays() - before;
        CHECK(ratio < 1, "problem %d: %s", n, worst.where);
        CHECK(before < 0 || (n < 24 ? again == 0 : again > 0), "problem %d: %ld warps", n,
              again);
    }
}

/*
 * A NaN row, by its query or by a key visible to this row only, changes no bit of other
 * rows; with these large logits, lazy rescaling would.
 */
DEVICE_TEST(fast_rows_that_are_nan_are_alone)
{
    for (int n = 0; n < 12; n++) {
        const int64_t d = n / 2 % 3 == 0 ? 64 : n / 2 % 3 == 1 ? 128 : 256;
        auto_check_problem p =
            check_sample_shape((uint64_t)n, ATTEND_BF16, 1, 1, 1, 200, 400, d, d);
        p.wants_lse = 1;
        for (int64_t x = 0; x < p.nq * d; x++)
            p.q[x] *= 4;
        if (n >= 6)
            p.causal = ATTEND_CAUSAL_BOTTOM_RIGHT;
        auto_check_problem other = check_problem_copy(&p);
        auto_free unsigned char *const skip = check_memory((size_t)p.nq, 1);
        if (n % 2) /* visible to the last row only, or to all */
            other.k[(p.nk - 1) * d] = NAN;
        else
            other.q[(p.nq - 1) * d] = NAN;
        for (int64_t i = 0; i < p.nq; i++)
            skip[i] = i == p.nq - 1 || (n % 2 && check_sees(&p, 0, 0, i, p.nk - 1));
        const int same = same_outputs(&p, &other, skip);
        CHECK(same, "problem %d", n);
    }
}

/* Batch and heads around a row change no bit of it. */
DEVICE_TEST(fast_rows_depend_on_nothing_else)
{
    auto_check_problem p =
        check_sample_shape(3, ATTEND_BF16, 2, 4, 2, 300, 500, 128, 128);
    p.causal = ATTEND_CAUSAL_OFFSET;
    p.causal_offset = check_memory(2, sizeof *p.causal_offset);
    p.causal_offset[0] = p.causal_offset[1] = 200;
    p.wants_lse = 1;
    auto_check_problem alone = check_problem_heads(&p, 1, 2, 2);
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
}

/*
 * Splits of decoding, of which tiles are computed again too; lengths that hide nothing
 * change no bit.
 */
DEVICE_TEST(fast_decoding_takes_many_splits)
{
    static const int64_t keys[] = {1025, 2500, 4100}, widths[] = {64, 128, 256, 71};

    for (int n = 0; n < 16; n++) {
        const int64_t nk = keys[n % 3], d = widths[n % 4];
        auto_check_problem p = check_sample_shape(
            (uint64_t)n, n % 2 ? ATTEND_F16 : ATTEND_BF16, 2, 20, 1, 1, nk, d, d);
        p.wants_lse = 1;
        p.scale_is_set = 1;
        p.scale = (n < 8 ? 1 : 4) / sqrt((double)d);
        /* Forced: the first keys of a split are far above those that it sees first. */
        for (int64_t x = 0; n >= 8 && x < 2 * nk * d; x++)
            p.k[x] *= x / d % nk % 1024 < 8 ? 64 : 1;
        auto_check_problem with = check_problem_copy(&p);
        with.key_lengths = check_memory(2, sizeof *with.key_lengths);
        with.key_lengths[0] = with.key_lengths[1] = nk;
        struct check_worst worst = {0};
        const long before = replays();
        const double ratio = ratio_of(&p, &worst);
        const long again = replays() - before;
        CHECK(ratio < 1, "problem %d: %s", n, worst.where);
        CHECK(before < 0 || getenv("ATTEND_CUDA_SPLIT") ||
                  (n < 8 ? again == 0 : again > 0),
              "problem %d: %ld warps", n, again);
        CHECK(same_outputs(&p, &with, NULL), "problem %d", n);
    }
}

BEFORE_ALL { fast = open_driver() ? open_set("cuda-fast", 1) : NULL; }
AFTER_ALL { attend_context_destroy(fast); }

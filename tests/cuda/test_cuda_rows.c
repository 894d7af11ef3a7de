/* SPDX-License-Identifier: MIT */
/*
 * Rows of outputs in device memory: nothing is written between them, and their bits do
 * not depend on their addresses.  Widths are odd, rows are padded, and tensors begin at
 * any element.  Memory between elements is NaN before the call.
 */
#include "support/device_memory.h"
#include "support/device_problems.h"

#include <time.h>

#include "check/check.h"

static attend_context *dense, *device[2]; /* device[order] */
static struct check_run blocks;
static struct check_blocks copies = {.forward = device_forward};

/* ---- every kernel of order FAST -------------------------------------------------- */

enum kind { KIND_STATS = PURPOSES, KIND_STATS_MASKED, KINDS };
enum { WIDTHS = 4, LAYOUTS = 5 };
/* For each kernel an odd width, and an even one for layouts with TMA stores. */
static const int64_t key_width[WIDTHS] = {57, 121, 201, 185};
static const int64_t value_width[2][WIDTHS] = {{51, 103, 233, 119}, {48, 104, 232, 112}};

/* Statistics of the fused kernels. */
static const attend_stat fused[] = {ATTEND_STAT_MAX, ATTEND_STAT_ENTROPY,
                                    ATTEND_STAT_SINK4, ATTEND_STAT_DISTANCE};

/*
 * A problem for one kernel; `spoilt`: with non-finite values, for the non-finite kernel.
 */
static struct check_problem problem_of(enum kind kind, attend_dtype dtype, int width,
                                       int even, int spoilt)
{
    const enum purpose purpose = kind == KIND_STATS          ? PLAIN
                                 : kind == KIND_STATS_MASKED ? MASKED
                                                             : (enum purpose)kind;
    struct check_problem p = kernel_problem(purpose, dtype, key_width[width],
                                            value_width[even][width], spoilt);

    if (kind < KIND_STATS)
        return p;
    p.stats.dtype = even ? ATTEND_F64 : ATTEND_F32;
    p.stats.columns = sizeof fused / sizeof *fused;
    memcpy(p.stats.column, fused, sizeof fused);
    p.stats.top = 2;
    return p;
}

/* The smallest padding with which rows of `columns` begin at multiples of 16 bytes. */
static unsigned char pad_of(int64_t columns, size_t number)
{
    const int64_t step = 16 / (int64_t)number;

    return (unsigned char)(step - columns % step);
}

/*
 * 0: rows begin at 16 bytes; 1: rows are 16 bytes apart and begin elsewhere, at an odd
 * element if the width is odd; 2: rows are an odd number of elements apart; 3: as 0, with
 * heads side by side; 4: columns are two elements apart.
 */
static void lay_out(struct check_problem *p, int layout)
{
    for (int t = 0; t < CHECK_TENSORS; t++) {
        struct check_layout *const to = &p->layout[t];
        int64_t size[4];

        if (t != CHECK_MASK && t != CHECK_BIAS && !check_wants(p, t) && t >= CHECK_OUT)
            continue;
        check_tensor_shape(p, t, size);
        to->pad = pad_of(size[3], attend_dtype_size(check_tensor_dtype(p, t)));
        to->at_start = layout != 1;
        if (layout == 2)
            to->pad = size[3] % 2 ? 2 : 1;
        to->order = layout == 3;
        if (layout == 4)
            to->skip[3] = 1;
    }
}

/* Whether the problem has these outputs with a layout, and writes nothing else. */
static int keeps_bits(const struct check_problem *p, const struct check_outputs *want,
                      int layout)
{
    auto_check_problem other = check_problem_copy(p);
    struct check_outputs got;
    struct check_worst worst = {0};
    char reason[384] = "";

    lay_out(&other, layout);
    const int runs = check_call(&copies, device[1], &other, &got, reason, sizeof reason);
    if (runs) {
        check_same_outputs(p, want, &other, &got, NULL, &worst);
        check_outputs_free(&got);
    }
    if (!runs || worst.ratio > 0)
        printf("  layout %d: %s\n", layout, runs ? worst.where : reason);
    return runs && worst.ratio == 0;
}

/*
 * Every kernel with layout 0 and odd widths; a full run has all widths and layouts, a
 * shortened one some.
 */
DEVICE_TEST(every_kernel_writes_rows_and_nothing_else)
{
    const int all = problems(10) == 10;
    int count = 0;

    for (int n = 0; n < KINDS * WIDTHS * 8; n++) {
        const enum kind kind = (enum kind)(n / 8 / WIDTHS);
        const int width = n / 8 % WIDTHS, even = n / 4 % 2, spoilt = n / 2 % 2;

        if (even && (int)kind != PLAIN && !all)
            continue;
        auto_check_problem p =
            problem_of(kind, n % 2 ? ATTEND_F16 : ATTEND_BF16, width, even, spoilt);
        const int other = count++ % 3 == 0 ? 1 + count / 3 % (LAYOUTS - 1) : 0;
        struct check_outputs want;
        char reason[384];
        int same = 1;

        CHECK(check_call(&blocks.blocks, dense, &p, &want, reason, sizeof reason),
              "problem %d: %s", n, reason);
        for (int layout = 0; layout < LAYOUTS; layout++)
            if (layout == 0 || layout == other || all)
                same &= keeps_bits(&p, &want, layout);
        check_outputs_free(&want);
        CHECK(same, "problem %d", n);
    }
}

/* ---- column mass and maximum ------------------------------------------------------- */

enum { PAD = 5 };

/* Column mass and maximum at `to`, in rows of nk + PAD numbers from number `first` on. */
static int columns_at(attend_context *ctx, const struct device_problem *p, uintptr_t to,
                      int64_t first, attend_error *err)
{
    const int64_t row = p->nk + PAD, count = first + p->nb * p->hq * row;
    attend_inspection request = attend_inspection_default();

    request.q = p->io.q;
    request.k = p->io.k;
    request.lse = attend_view_of(&p->io.lse);
    request.column_mass = attend_tensor_dense((void *)(to + (uintptr_t)first * 4),
                                              ATTEND_F32, p->nb, p->hq, 1, p->nk);
    for (int a = 0; a < 3; a++)
        request.column_mass.stride[a] = a ? row : row * p->hq;
    request.column_max = request.column_mass;
    request.column_max.data = (void *)(to + (uintptr_t)(first + count) * 4);
    return attend_inspect(ctx, &p->rule, &request, err) == ATTEND_OK &&
           attend_context_wait(ctx, err) == ATTEND_OK;
}

/* Kernels of 64 and of 128 columns, the second with a number of keys that is odd. */
DEVICE_TEST(columns_are_written_and_nothing_else)
{
    for (int n = 0; n < 4; n++) {
        auto_device_problem p =
            device_problem(1, 2, 1, 40, n % 2 ? 301 : 128, n / 2 ? 104 : 40);
        const int64_t row = p.nk + PAD, rows = 2 * p.nb * p.hq, most = 3;
        const size_t numbers = (size_t)(rows * row + 2 * most);
        auto_free float *const got = malloc((size_t)(most + 1) * numbers * sizeof *got);
        attend_error err = {.message = ""};
        int intact = 1, same = 1;

        p.rule.causal = ATTEND_CAUSAL_BOTTOM_RIGHT;
        CHECK_OK(attend_forward, device[1], &p.rule, &p.io);
        for (int64_t first = 0; first <= most; first++) {
            const uintptr_t to = device_block(numbers * sizeof *got, 0xff);
            float *const at = got + (size_t)first * numbers;

            CHECK(columns_at(device[1], &p, to, first, &err), "%s", err.message);
            CHECK(driver.copy_out(at, to, numbers * sizeof *got) == 0, "no copy");
            intact &= guards_hold(to, numbers * sizeof *got, 0xff);
            device_free(to);
            for (int64_t x = 0; x < (int64_t)numbers; x++) {
                const int64_t half = first + rows / 2 * row;
                const int64_t of = x < half ? x - first : x - half - first;
                const int is_there =
                    of >= 0 && of % row < p.nk && of < rows / 2 * row && x >= first;
                intact &= is_there != (isnan(at[x]) != 0);
                if (is_there)
                    same &= at[x] == got[of + (x < half ? 0 : rows / 2 * row)];
            }
        }
        CHECK(intact, "problem %d: written between rows", n);
        CHECK(same, "problem %d: other bits elsewhere", n);
    }
}

/* ---- random problems ------------------------------------------------------------- */

static double number_of(const char *variable, double otherwise)
{
    const char *const text = getenv(variable);

    return text ? strtod(text, NULL) : otherwise;
}

static struct check_problem random_problem_of(int n)
{
    const struct check_sample_options options = {
        .max_length = 300, .max_width = 260, .max_heads = 3, .tame = n % 8 != 0};
    struct check_random random = {.seed = 40 + (uint64_t)n};
    struct check_problem p = n % 4 == 0   ? check_sample((uint64_t)n, &options)
                             : n % 4 == 1 ? fast_problem(n)
                             : n % 4 == 2 ? rule_problem(n)
                                          : wide_keys(n);

    if (n % 4 && check_random_chance(&random, 0.5))
        check_sample_layouts(&p, &random, 0);
    else if (n % 4)
        lay_out(&p, (int)check_random_int(&random, 0, LAYOUTS - 1));
    return p;
}

/* Fused statistics have float sums, which exceed the bound of double sums. */
static int may_be_fused(const struct check_problem *p)
{
    return p->stats.bins == 0 && p->stats.class_count == 0 && p->stats.top <= 2;
}

/*
 * Random problems in either order, tensors in device memory or in host memory.
 * ATTEND_TEST_SECONDS: duration.  ATTEND_TEST_SEED: first seed.
 */
DEVICE_TEST(random_problems_are_under_the_bound)
{
    const double seconds = number_of("ATTEND_TEST_SECONDS", 0);
    /* 100000 problems of each seed have numbers that fit an int. */
    const int seed = (int)fmod(number_of("ATTEND_TEST_SEED", 1), 20000);
    const time_t begin = time(NULL);
    auto_context const same = open_set("cuda", 1);
    double worst = 0;
    int count = 0, failed = 0;

    while (seconds > 0 ? difftime(time(NULL), begin) < seconds : count < problems(100)) {
        const int n = seed * 100000 + count++, order = n % 8 != 4, host = n / 8 % 2;
        auto_check_problem p = random_problem_of(n);
        struct check_worst one = {0};
        if (order && may_be_fused(&p))
            check_drop_stats(&p);
        const double ratio =
            device_ratio(host ? &blocks.blocks : &copies,
                         host ? (order ? dense : same) : device[order], &p, &one);
        if (!(ratio < 1) && failed++ < 8) {
            char text[512];
            check_describe(&p, text, sizeof text);
            printf("  problem %d, order %d, host %d: %g of the bound: %s; %s\n", n, order,
                   host, ratio, one.where, text);
        }
        worst = fmax(worst, ratio);
    }
    printf("  seed %d: %d problems, worst %.3f of the bound\n", seed, count, worst);
    CHECK(failed == 0, "%d of %d problems", failed, count);
}

BEFORE_ALL
{
    if (!open_driver())
        return;
    dense = open_set("cuda-fast", 1);
    for (int order = 0; order < 2; order++)
        device[order] = device_context((attend_order)order);
}

AFTER_ALL
{
    for (int order = 0; order < 2; order++)
        attend_context_destroy(device[order]);
    attend_context_destroy(dense);
    check_blocks_free(&copies);
    check_blocks_free(&blocks.blocks);
}

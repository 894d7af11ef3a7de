/* SPDX-License-Identifier: MIT */
/* Statistics of rows and columns on a GPU, against `ref`. */
#include "support/device_memory.h"
#include "support/device_problems.h"
#include "support/inspect_oracle.h"

static attend_context *fast;
static struct check_run blocks;

static struct check_problem column_problem(int n)
{
    const int64_t d = n / 2 % 2 ? 128 : 64;

    return n < 4 ? kernel_problem(PLAIN, n % 2 ? ATTEND_F16 : ATTEND_BF16, d, d, 0)
                 : fast_problem(3000 + n);
}

/* Column mass and maximum of order FAST against `ref`. */
DEVICE_TEST(fast_columns_are_those_of_the_definition)
{
    auto_context const ref = open_set("ref", 1);

    for (int n = 0; n < problems(40); n++) {
        auto_check_problem p = column_problem(n);
        if (p.d > 128)
            continue;
        check_place(&blocks.blocks, &p);
        const attend_io *const io = &blocks.blocks.io;
        const size_t columns = (size_t)(p.nb * p.hq * p.nk),
                     rows = (size_t)(p.nb * p.hq * p.nq);
        auto_free float *const numbers =
            check_memory(4 * columns + rows, sizeof *numbers);
        auto_free void *const out = check_memory(rows * (size_t)p.dv, 8);
        attend_io forward = *io;
        attend_inspection request = attend_inspection_default();

        forward.out = attend_tensor_dense(out, ATTEND_F32, p.nb, p.hq, p.nq, p.dv);
        forward.lse =
            attend_tensor_dense(numbers + 4 * columns, ATTEND_F32, p.nb, p.hq, p.nq, 1);
        CHECK_OK(attend_forward, ref, &blocks.blocks.rule, &forward);
        request.q = io->q;
        request.k = io->k;
        request.lse = attend_view_of(&forward.lse);
        for (int x = 0; x < 2; x++) {
            request.column_mass = attend_tensor_dense(numbers + (size_t)x * columns,
                                                      ATTEND_F32, p.nb, p.hq, 1, p.nk);
            request.column_max = attend_tensor_dense(numbers + (size_t)(2 + x) * columns,
                                                     ATTEND_F32, p.nb, p.hq, 1, p.nk);
            CHECK_OK(attend_inspect, x ? fast : ref, &blocks.blocks.rule, &request);
        }
        /* Rounding errors of scores of up to 32 |q||k| are errors of the weights. */
        double worst = 0;
        for (size_t x = 0; x < 2 * columns; x++) {
            const size_t at = x < columns ? x : x + columns;
            const double want = numbers[at], got = numbers[at + columns];
            worst = fmax(worst, fabs(got - want) / (1e-3 * want + 1e-6));
        }
        CHECK(worst < 1, "problem %d: %g of what is allowed", n, worst);
    }
}

/* Order SAME, in every dtype: columns, map, zoom and probes. */
DEVICE_TEST(inspections_are_those_of_the_definition)
{
    auto_context const same = open_set("cuda", 1);

    for (int type = 0; type < FLOAT_DTYPES; type++) {
        auto_ask a = ask_make((shape){1, 2, 1, 150, 200, 40, 24}, float_dtypes[type],
                              RULE_LENGTHS, 31);
        ask_everything(&a, 64);
        CHECK(ask_check(&a, same), "%s", attend_dtype_name(float_dtypes[type]));
    }
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

    request.columns = asked;
    request.rows =
        attend_tensor_dense(numbers, ATTEND_F64, size[0], size[1], size[2], ASKED);
    request.top_weights = attend_tensor_dense(numbers + rows * ASKED, ATTEND_F64, size[0],
                                              size[1], size[2], TOP);
    request.top_keys = keys;
    io->stats = &request;
    CHECK_OK(attend_forward, ctx, &blocks.blocks.rule, io);
    io->stats = NULL;
}

/*
 * Fused row statistics against `ref`.  With equal keys all scores are equal, and the top
 * keys are the earliest.  Statistics change no bit of O.
 */
DEVICE_TEST(fast_statistics_are_those_of_the_definition)
{
    auto_context const ref = open_set("ref", 1);

    for (int n = 0; n < 8 + problems(60); n++) {
        const int64_t d = n / 2 % 2 ? 128 : 64;
        auto_check_problem p =
            n < 8 ? kernel_problem(n / 4 ? MASKED : PLAIN,
                                   n % 2 ? ATTEND_F16 : ATTEND_BF16, d, d, 0)
            : n == 9 ? many_tiles(1)
            : n % 2  ? fast_problem(6000 + n)
                     : rule_problem(6000 + n);
        p.scale_is_set = 0;
        for (int64_t x = 0; n % 5 == 0 && x < p.nb * p.hkv * p.nk * p.d; x++)
            p.k[x] = p.k[x % p.d];
        check_place(&blocks.blocks, &p);
        const int64_t rows = p.nb * p.hq * p.nq, each = ASKED + TOP;
        auto_free double *const numbers =
            check_memory((size_t)(2 * rows * each), sizeof *numbers);
        auto_free int64_t *const keys =
            check_memory((size_t)(2 * rows * TOP), sizeof *keys);
        auto_free float *const out = check_memory((size_t)(3 * rows * p.dv), sizeof *out);
        const attend_dtype out_type = n == 9 ? p.dtype : ATTEND_F32;
        attend_io io = blocks.blocks.io;

        io.lse.data = NULL;
        for (int x = 0; x < 3; x++) {
            io.out = attend_tensor_dense(out + x * rows * p.dv, out_type, p.nb, p.hq,
                                         p.nq, p.dv);
            if (x == 2)
                CHECK_OK(attend_forward, fast, &blocks.blocks.rule, &io);
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
    }
}

/* Row statistics of a problem; to be freed. */
static double *rows_of(attend_context *ctx, const struct check_problem *p)
{
    const int64_t rows = p->nb * p->hq * p->nq;
    double *const numbers = check_memory((size_t)(rows * (ASKED + TOP)), sizeof *numbers);
    auto_free int64_t *const keys = check_memory((size_t)(rows * TOP), sizeof *keys);
    auto_free float *const out = check_memory((size_t)(rows * p->dv), sizeof *out);

    check_place(&blocks.blocks, p);
    attend_io io = blocks.blocks.io;
    io.lse.data = NULL;
    io.out = attend_tensor_dense(out, ATTEND_F32, p->nb, p->hq, p->nq, p->dv);
    ask_rows(ctx, rows, &io, numbers, keys);
    return numbers;
}

/* A single query, with groups up to more heads than decoding has rows. */
DEVICE_TEST(fast_statistics_of_a_head_do_not_depend_on_its_group)
{
    const int64_t heads = 65, nk = 64, d = 8, head = 40;
    auto_check_problem p = check_sample_shape(1, ATTEND_BF16, 1, heads, 1, 1, nk, d, d);
    auto_check_problem alone = check_sample_shape(1, ATTEND_BF16, 1, 1, 1, 1, nk, d, d);

    memcpy(alone.q, p.q + head * d, (size_t)d * sizeof *p.q);
    memcpy(alone.k, p.k, (size_t)(nk * d) * sizeof *p.k);
    memcpy(alone.v, p.v, (size_t)(nk * d) * sizeof *p.v);
    auto_free double *const all = rows_of(fast, &p);
    auto_free double *const own = rows_of(fast, &alone);
    CHECK(memcmp(all + head * ASKED, own, ASKED * sizeof *own) == 0,
          "entropy %.17g, %.17g", all[head * ASKED + 5], own[5]);
}

DEVICE_TEST(fast_entropy_of_one_key_is_0)
{
    auto_check_problem p = check_sample_shape(2, ATTEND_BF16, 1, 4, 4, 64, 64, 64, 64);

    p.causal = ATTEND_CAUSAL_TOP_LEFT;
    auto_free double *const numbers = rows_of(fast, &p);
    for (int64_t h = 0; h < p.hq; h++)
        CHECK(numbers[h * p.nq * ASKED] == 1 && numbers[h * p.nq * ASKED + 5] == 0,
              "head %d: %g", (int)h, numbers[h * p.nq * ASKED + 5]);
}

/*
 * Two keys have scores 70, 100 and 124 bits above those of the first block of the kernel:
 * the squares of their weights overflow.
 */
DEVICE_TEST(fast_statistics_of_weights_whose_squares_overflow)
{
    const double above[3] = {1, 1.4375, 1.796875}; /* times 384 / 8 nats */
    auto_check_problem p = check_sample_shape(3, ATTEND_BF16, 1, 2, 2, 64, 256, 64, 64);
    auto_context const ref = open_set("ref", 1);

    for (int64_t x = 0; x < p.hq * p.nq * p.d; x++)
        p.q[x] = x % p.d == 0 ? above[x / p.d % 3] : 0;
    for (int64_t x = 0; x < p.hkv * p.nk * p.d; x++)
        p.k[x] = x % p.d == 0 && x / p.d % p.nk / 2 == 50 ? 384 : 0;
    auto_free double *const want = rows_of(ref, &p);
    auto_free double *const got = rows_of(fast, &p);
    for (int64_t x = 0; x < p.hq * p.nq * ASKED; x++)
        CHECK(fabs(got[x] - want[x]) <= 2e-4 * fabs(want[x]) + 2e-5,
              "%s of row %d: %g, not %g", attend_stat_name(asked[x % ASKED]),
              (int)(x / ASKED), got[x], want[x]);
}

BEFORE_ALL { fast = open_driver() ? open_set("cuda-fast", 1) : NULL; }
AFTER_ALL { attend_context_destroy(fast); }

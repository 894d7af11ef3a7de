/* SPDX-License-Identifier: MIT */
/* Inputs of different dtypes: the bits of their widened values in f32. */
#include "support/random_problem.h"
#include "support/test.h"

enum { CORE = 6, DRAWN = 10 };

static const attend_dtype mixed[] = {ATTEND_F32, ATTEND_BF16, ATTEND_F16};
enum { MIXED = sizeof mixed / sizeof mixed[0] };

static attend_stat every_stat[ATTEND_STAT_COUNT];

/* Rounds an f32 view to a dtype in place, and returns it in that dtype. */
static attend_view rounded(problem *p, const attend_view *wide, attend_dtype dtype)
{
    const attend_view narrow =
        own_view(p, dtype, wide->size[0], wide->size[1], wide->size[2], wide->size[3]);
    void *const to = (void *)(uintptr_t)narrow.data;
    float *const from = (void *)(uintptr_t)wide->data;

    for (int64_t x = 0; x < count_of(wide->size); x++) {
        check_store(to, dtype, x, from[x]);
        from[x] = (float)check_load(to, dtype, x);
    }
    return narrow;
}

/* Statistics of rows and columns beside O and LSE. */
struct requests {
    attend_stats stats;
    attend_inspection inspection;
};

static void request(problem *p, struct requests *r)
{
    for (int x = 0; x < ATTEND_STAT_COUNT; x++)
        every_stat[x] = (attend_stat)x;
    r->stats = attend_stats_default();
    r->stats.columns = every_stat;
    r->stats.rows =
        own_tensor(p, ATTEND_F64, p->n.nb, p->n.hq, p->n.nq, ATTEND_STAT_COUNT);
    r->inspection = attend_inspection_default();
    r->inspection.column_mass = own_tensor(p, ATTEND_F32, p->n.nb, p->n.hq, 1, p->n.nk);
    p->io.stats = &r->stats;
}

/* Runs the forward pass and the inspection; 0 on a failure. */
static int run(problem *p, struct requests *r, attend_context *ctx)
{
    attend_error err;

    poison(&r->stats.rows);
    poison(&r->inspection.column_mass);
    r->inspection.q = p->io.q;
    r->inspection.k = p->io.k;
    r->inspection.lse = view_of_tensor(&p->io.lse);
    return problem_run(p, ctx) &&
           is_ok(attend_inspect(ctx, &p->rule, &r->inspection, &err), &err);
}

static void law(attend_context *ctx, int64_t x, int with_stats)
{
    uint64_t random = test_case_seed(x, CORE);
    /* float_dtypes[1] is f32. */
    auto_problem p = random_problem(1, &random);
    struct requests r;
    attend_view *const input[] = {&p.io.q, &p.io.k, &p.io.v};
    attend_view wide[3];

    request(&p, &r);
    if (!with_stats)
        p.io.stats = NULL;
    for (int t = 0; t < 3; t++)
        wide[t] = *input[t];
    const attend_dtype first = mixed[x % MIXED];
    for (int t = 0; t < 3; t++) {
        const attend_dtype dtype = t == 0   ? first
                                   : t == 1 ? mixed[(x / MIXED + 1) % MIXED]
                                            : mixed[random_bits(&random) % MIXED];
        if (dtype != ATTEND_F32)
            *input[t] = rounded(&p, &wide[t], dtype);
    }
    const attend_view narrow[] = {p.io.q, p.io.k, p.io.v};

    for (int t = 0; t < 3; t++)
        *input[t] = wide[t];
    CHECK(run(&p, &r, ctx), "case %d in f32", (int)x);
    auto_result want = result_copy(&p);
    auto_free void *const rows = copy_bits(&r.stats.rows);
    auto_free void *const columns = copy_bits(&r.inspection.column_mass);
    /* All of one dtype may use kernels of that dtype. */
    if (narrow[0].dtype == narrow[1].dtype && narrow[1].dtype == narrow[2].dtype)
        p.io.v = wide[2];
    else
        p.io.v = narrow[2];
    p.io.q = narrow[0];
    p.io.k = narrow[1];
    CHECK(run(&p, &r, ctx), "case %d mixed", (int)x);
    /* The inspection reads q and k alone; of one dtype, they have kernels of their own.
     */
    const int differ = p.io.q.dtype != p.io.k.dtype;
    CHECK(result_is_same(&p, &want) && same_bits(&r.stats.rows, rows, "rows") &&
              (!differ || same_bits(&r.inspection.column_mass, columns, "column_mass")),
          "case %d: q %s, k %s, v %s", (int)x, attend_dtype_name(p.io.q.dtype),
          attend_dtype_name(p.io.k.dtype), attend_dtype_name(p.io.v.dtype));
}

static void mixed_inputs_have_the_bits_of_f32_on(attend_context *ctx)
{
    if (on_device(ctx))
        return;
    for (int64_t x = 0; x < CORE + test_count(DRAWN); x++)
        law(ctx, x, x % 2 == 1);
}

TEST(mixed_inputs_have_the_bits_of_f32)
{
    for_each_set(mixed_inputs_have_the_bits_of_f32_on, 2);
}

TEST(f64_does_not_mix)
{
    auto_context const ctx = open_set("ref", 1);
    auto_problem p = problem_make((shape){1, 1, 1, 2, 3, 4, 4}, ATTEND_F64, 1);
    attend_error err;

    p.io.k.dtype = ATTEND_F32;
    CHECK(is_refused(attend_forward(ctx, &p.rule, &p.io, &err), ATTEND_EINVAL, &err,
                     "k.dtype", "f32"),
          "%s", err.message);
}

/* q, or f32, is the dtype of O. */
TEST(the_output_has_the_dtype_of_the_query)
{
    auto_context const ctx = open_set("ref", 1);
    auto_problem p = problem_make((shape){1, 1, 1, 2, 3, 4, 4}, ATTEND_BF16, 1);
    attend_error err;

    p.io.k = own_view(&p, ATTEND_F32, 1, 1, 3, 4);
    fill_normal(&p.io.k, 2);
    CHECK(problem_run(&p, ctx), "O in bf16");
    p.io.out = own_tensor(&p, ATTEND_F32, 1, 1, 2, 4);
    CHECK(problem_run(&p, ctx), "O in f32");
    p.io.out = own_tensor(&p, ATTEND_F16, 1, 1, 2, 4);
    CHECK(is_refused(attend_forward(ctx, &p.rule, &p.io, &err), ATTEND_EINVAL, &err,
                     "out.dtype", "f16"),
          "%s", err.message);
}

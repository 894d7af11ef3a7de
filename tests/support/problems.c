/* SPDX-License-Identifier: MIT */
#include "problems.h"

void *problem_own(problem *p, size_t size)
{
    if (p->owned_count == (int)(sizeof p->owned / sizeof p->owned[0])) {
        fprintf(stderr, "a problem owns too many blocks\n");
        exit(2);
    }
    return p->owned[p->owned_count++] = test_memory(size);
}

void problem_free(problem *p)
{
    while (p->owned_count > 0)
        free(p->owned[--p->owned_count]);
}

/* ---- making a problem ---------------------------------------------------- */

attend_view own_view(problem *p, attend_dtype dtype, int64_t s0, int64_t s1, int64_t s2,
                     int64_t s3)
{
    attend_view view = attend_view_dense(NULL, dtype, s0, s1, s2, s3);

    view.data = problem_own(p, bytes_of(view.size, dtype));
    return view;
}

attend_tensor own_tensor(problem *p, attend_dtype dtype, int64_t s0, int64_t s1,
                         int64_t s2, int64_t s3)
{
    attend_tensor tensor = attend_tensor_dense(NULL, dtype, s0, s1, s2, s3);

    tensor.data = problem_own(p, bytes_of(tensor.size, dtype));
    return tensor;
}

problem problem_make(shape n, attend_dtype dtype, uint64_t seed)
{
    problem p = {.n = n,
                 .dtype = dtype,
                 .rule = attend_rule_default(),
                 .io = attend_io_default(),
                 .close = CLOSE_NORMAL};
    const attend_dtype wide = dtype_of_lse(dtype);

    p.io.q = own_view(&p, dtype, n.nb, n.hq, n.nq, n.d);
    p.io.k = own_view(&p, dtype, n.nb, n.hkv, n.nk, n.d);
    p.io.v = own_view(&p, dtype, n.nb, n.hkv, n.nk, n.dv);
    fill_normal(&p.io.q, seed * 3 + 1);
    fill_normal(&p.io.k, seed * 3 + 2);
    fill_normal(&p.io.v, seed * 3 + 3);
    p.io.out = own_tensor(&p, dtype, n.nb, n.hq, n.nq, n.dv);
    p.io.lse = own_tensor(&p, wide, n.nb, n.hq, n.nq, 1);
    p.io.weights = own_tensor(&p, wide, n.nb, n.hq, n.nq, n.nk);
    return p;
}

problem problem_lean(shape n, attend_dtype dtype, uint64_t seed)
{
    problem p = problem_make(n, dtype, seed);

    p.io.weights = (attend_tensor){0};
    return p;
}

void problem_mask(problem *p, int64_t s0, int64_t s1, int64_t s2, int64_t s3)
{
    p->rule.mask = own_view(p, ATTEND_BOOL, s0, s1, s2, s3);
    fill_value(&p->rule.mask, 1.0);
}

void problem_bias(problem *p, attend_dtype dtype, int64_t s0, int64_t s1, int64_t s2,
                  int64_t s3)
{
    p->rule.bias = own_view(p, dtype, s0, s1, s2, s3);
    fill_value(&p->rule.bias, 0.0);
}

int64_t *problem_key_lengths(problem *p)
{
    int64_t *const lengths = problem_own(p, (size_t)p->n.nb * sizeof *lengths);

    for (int64_t b = 0; b < p->n.nb; b++)
        lengths[b] = p->n.nk;
    p->rule.key_lengths = lengths;
    return lengths;
}

void hide_keys(problem *p, int64_t b, int64_t h, int64_t i, int64_t first, int64_t end)
{
    for (int64_t j = first; j < end; j++)
        view_set(&p->rule.mask, b, h, i, j, 0.0);
}

int splits_are_forced(void)
{
    const char *const keys = getenv("ATTEND_SPLIT");

    return keys != NULL && *keys != '\0';
}

/* The largest split with ATTEND_SPLIT=128, and the number of problems with more keys. */
enum { FORCED_SPLIT = 256 };
static int64_t problems_of_splits;

void problem_poison(const problem *p)
{
    poison(&p->io.out);
    poison(&p->io.lse);
    poison(&p->io.weights);
}

int problem_run(const problem *p, attend_context *ctx)
{
    problems_of_splits += p->n.nk > FORCED_SPLIT;
    problem_poison(p);
    return IS_OK(attend_forward, ctx, &p->rule, &p->io);
}

/* ---- the same bits ------------------------------------------------------- */

attend_part part_of(const problem *p)
{
    return (attend_part){view_of_tensor(&p->io.out), view_of_tensor(&p->io.lse)};
}

result result_copy(const problem *p)
{
    return (result){copy_bits(&p->io.out), copy_bits(&p->io.lse),
                    copy_bits(&p->io.weights)};
}

result result_of(const problem *p, attend_context *ctx)
{
    problem_run(p, ctx);
    return result_copy(p);
}

void result_free(result *r)
{
    free(r->out);
    free(r->lse);
    free(r->weights);
}

int same_bits(const attend_tensor *tensor, const void *bits, const char *what)
{
    const size_t width = attend_dtype_size(tensor->dtype);
    const char *const got = tensor->data, *const want = bits;

    for (int64_t at = 0; got != NULL && want != NULL && at < count_of(tensor->size);
         at++) {
        if (memcmp(got + (size_t)at * width, want + (size_t)at * width, width) == 0)
            continue;
        test_fail(__FILE__, __LINE__, "the same bits",
                  "%s at %lld: got %.17g, want %.17g", what, (long long)at,
                  check_load(got, tensor->dtype, at),
                  check_load(want, tensor->dtype, at));
        return 0;
    }
    return 1;
}

int result_is_same(const problem *p, const result *r)
{
    return same_bits(&p->io.out, r->out, "out") && same_bits(&p->io.lse, r->lse, "lse") &&
           same_bits(&p->io.weights, r->weights, "weights");
}

int problem_gives(const problem *p, attend_context *ctx, const result *r)
{
    return problem_run(p, ctx) && result_is_same(p, r);
}

int problem_same_on(const problem *p, attend_context *one, attend_context *other)
{
    if (!problem_run(p, one))
        return 0;
    auto_result want = result_copy(p);
    const int same = problem_gives(p, other, &want);
    return same;
}

_Thread_local attend_error call_error;

int is_ok(attend_status status, const attend_error *err)
{
    if (status != ATTEND_OK)
        test_fail(__FILE__, __LINE__, "status == ATTEND_OK", "%s: %s",
                  attend_status_name(status), err->message);
    return status == ATTEND_OK;
}

int names_field(const attend_error *err)
{
    const char *const name = attend_field_name(err->field);
    const char *message = err->message;

    if (strncmp(message, "rank ", 5) == 0 && strchr(message, ':'))
        message = strchr(message, ':') + 2;
    return *name && strncmp(message, name, strlen(name)) == 0;
}

int is_refused(attend_status status, attend_status want, const attend_error *err,
               const char *field, const char *value)
{
    const int is_argument = (want == ATTEND_EINVAL || want == ATTEND_ETOOBIG) &&
                            strncmp(field, "ATTEND_", 7) != 0;

    if (status == want && err->status == want && strstr(err->message, field) != NULL &&
        strstr(err->message, value) != NULL && strchr(err->message, '\n') == NULL &&
        (!is_argument || names_field(err)))
        return 1;
    test_fail(__FILE__, __LINE__, "refused", "%s, not %s: \"%s\" must name %s and %s",
              attend_status_name(status), attend_status_name(want), err->message, field,
              value);
    return 0;
}

/* ---- every kernel set ---------------------------------------------------- */

attend_options options_for(const char *set, int threads)
{
    attend_options options = attend_options_default();

    if (set != NULL && strncmp(set, "cuda", 4) == 0) {
        options.device = "cuda";
        options.host_tensors = 1;
        options.order = strcmp(set, "cuda") == 0 ? ATTEND_ORDER_SAME : ATTEND_ORDER_FAST;
    } else {
        options.isa = set;
    }
    options.threads = threads;
    return options;
}

attend_context *open_context(const attend_options *options)
{
    attend_context *ctx = NULL;

    IS_OK(attend_context_create, &ctx, options);
    return ctx;
}

attend_context *open_set(const char *name, int threads)
{
    const attend_options options = options_for(name, threads);

    return open_context(&options);
}

int on_device(const attend_context *ctx)
{
    return strcmp(attend_context_isa(ctx), "cuda") == 0;
}

int device_runs(void)
{
    static int known = -1;
    const attend_options options = options_for("cuda", 0);
    attend_context *ctx = NULL;

    if (known < 0) {
        known = attend_context_create(&ctx, &options, NULL) == ATTEND_OK;
        attend_context_destroy(ctx);
    }
    return known;
}

/* ATTEND_TEST_SET names the only one; else all of the CPU do. */
static int is_named(const char *name)
{
    const char *const only = getenv("ATTEND_TEST_SET");

    return only != NULL && strcmp(only, name) == 0;
}

static int is_wanted(const char *name)
{
    const char *const only = getenv("ATTEND_TEST_SET");

    return only == NULL || *only == '\0' || is_named(name);
}

const char *next_set(int *index)
{
    attend_isa isa = attend_isa_default();

    while (*index <= attend_isa_count()) {
        const int at = (*index)++;
        if (at == attend_isa_count())
            return !device_runs()          ? NULL
                   : is_named("cuda")      ? "cuda"
                   : is_named("cuda-fast") ? "cuda-fast"
                                           : NULL;
        if (attend_isa_get(at, &isa) == ATTEND_OK && isa.runs && is_wanted(isa.name))
            return isa.name;
    }
    return NULL;
}

void for_each_set(void (*body)(attend_context *ctx), int threads)
{
    const char *name;

    for (int index = 0; (name = next_set(&index)) != NULL;) {
        const int failed_before = test_state.failed_now;
        auto_context const ctx = open_set(name, threads);
        if (ctx == NULL)
            continue;
        test_state.failed_now = 0;
        body(ctx);
        if (test_state.failed_now)
            printf("  ^ on the kernel set %s\n", name);
        test_state.failed_now |= failed_before;
    }
}

/* ---- forced splits ------------------------------------------------------- */

static void some_problems_have_splits(void)
{
    CHECK(problems_of_splits > 0, "none has more than %d keys", FORCED_SPLIT);
}

int split_finish(void)
{
    if (splits_are_forced())
        RUN(some_problems_have_splits);
    return test_finish();
}

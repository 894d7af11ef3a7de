/* SPDX-License-Identifier: MIT */
/*
 * Floating-point environments of the caller and of the host's threads: calls have the
 * bits of the default environment, raise no signal, and restore it.
 */
#include <fenv.h>
#include <pthread.h>

#include "support/pools.h"

#if defined __x86_64__
#include <immintrin.h>
#endif

/* ---- environments -------------------------------------------------------- */

/* Each sets an environment, or returns 0 if this machine lacks it. */
static int round_upward(void) { return fesetround(FE_UPWARD) == 0; }

static int round_to_zero(void) { return fesetround(FE_TOWARDZERO) == 0; }

static int flush_denormals(void)
{
#if defined __x86_64__
    _mm_setcsr(_mm_getcsr() | 0x8040);
    return 1;
#elif defined __aarch64__
    uint64_t mode;

    __asm__ volatile("mrs %0, fpcr" : "=r"(mode));
    __asm__ volatile("msr fpcr, %0" : : "r"(mode | (uint64_t)1 << 24));
    return 1;
#else
    return 0;
#endif
}

static int trap_everything(void)
{
#if defined __GLIBC__
    return feenableexcept(FE_ALL_EXCEPT) != -1;
#else
    return 0;
#endif
}

/* The control word, which a call must not change, without exception flags. */
static uint64_t control_word(void)
{
#if defined __x86_64__
    return _mm_getcsr() & ~(uint64_t)0x3f;
#elif defined __aarch64__
    uint64_t mode;

    __asm__ volatile("mrs %0, fpcr" : "=r"(mode));
    return mode;
#else
    return (uint64_t)fegetround();
#endif
}

static const struct {
    const char *name;
    int (*set)(void);
} environments[] = {{"rounding upward", round_upward},
                    {"rounding to zero", round_to_zero},
                    {"denormals flushed", flush_denormals},
                    {"traps", trap_everything}};
enum { ENVIRONMENTS = sizeof environments / sizeof environments[0] };

/* ---- one of each call ----------------------------------------------------- */

enum { H = 2, NQ = 9, NK = 2100, D = 16, SPLIT = 1024, RAW_MOST = 64, TOP = 3 };

static float q[H][NQ][D], k[H][NK][D], v[H][NK][D];
static const double alibi[H] = {0.01, -0.02}, sinks[H] = {0.3, -INFINITY};

/* Every output, and the status of every call: compared as bytes. */
struct results {
    attend_status status[16];
    int calls;
    float out[H][NQ][D], lse[H][NQ], weights[H][NQ][NK];
    double rows[H][NQ][ATTEND_HEAD_STATS_COUNT], raw[H][NQ][RAW_MOST];
    attend_summary summaries[H][ATTEND_SUMMARY_COUNT][ATTEND_SUMMARY_GROUPS];
    double again[H][NQ][ATTEND_HEAD_STATS_COUNT];
    float column_mass[H][NK], pooled[H][1][17];
    double probe_weight;
    float records[2][H][NQ][2 * (D + 2)], reduced[H][NQ][2 * (D + 2)];
    float combined[H][NQ][D], combined_lse[H][NQ];
    float merged[H][NQ][D], merged_lse[H][NQ], merged_with[H][NQ][D];
    attend_head head;
    attend_character character;
};

static void fill(void)
{
    for (int h = 0; h < H; h++)
        for (int j = 0; j < NK; j++)
            for (int c = 0; c < D; c++) {
                if (j < NQ)
                    q[h][j][c] = sinf((float)(1 + 5 * j + 3 * c + h));
                k[h][j][c] = cosf((float)(2 + 7 * j + 2 * c + h));
                /* Some columns are sums of denormals. */
                v[h][j][c] = (c < 4 ? 1e-40F : 1.0F) * sinf((float)(11 * j + c + h));
            }
}

static attend_tensor tensor(void *data, attend_dtype dtype, int64_t l, int64_t d)
{
    return attend_tensor_dense(data, dtype, 1, H, l, d);
}

static void add(struct results *r, attend_status status)
{
    r->status[r->calls++] = status;
}

static attend_view keys(const void *data, int64_t first, int64_t count)
{
    const attend_view all = attend_view_dense(data, ATTEND_F32, 1, H, NK, D);
    attend_view some = view_from(all, 0, 0, first);

    some.size[2] = count;
    return some;
}

static attend_io inputs(int64_t first, int64_t count)
{
    attend_io io = attend_io_default();

    io.q = attend_view_dense(q, ATTEND_F32, 1, H, NQ, D);
    io.k = keys(k, first, count);
    io.v = keys(v, first, count);
    return io;
}

static void call_forward(attend_context *ctx, const attend_rule *rule, struct results *r)
{
    static const attend_stat columns[] = ATTEND_HEAD_STATS;
    attend_stats stats = attend_stats_default();
    attend_io io = inputs(0, NK);
    char reason[128];

    stats.columns = columns;
    stats.rows = tensor(r->rows, ATTEND_F64, NQ, ATTEND_HEAD_STATS_COUNT);
    stats.summaries = &r->summaries[0][0][0];
    const int64_t width = attend_stats_raw_size(&stats, D);
    stats.raw = tensor(r->raw, ATTEND_F64, NQ, width);
    io.out = tensor(r->out, ATTEND_F32, NQ, D);
    io.lse = tensor(r->lse, ATTEND_F32, NQ, 1);
    io.weights = tensor(r->weights, ATTEND_F32, NQ, NK);
    io.stats = &stats;
    add(r, attend_forward(ctx, rule, &io, NULL));
    add(r, attend_head_read(&stats, 0, 1, &r->head, NULL));
    /* Without the text: printf() rounds decimals by another control word. */
    r->character = attend_head_character(&r->head, 0.1, reason, sizeof reason);

    const attend_stats_part part = {attend_view_of(&stats.raw), 0};
    stats.rows = tensor(r->again, ATTEND_F64, NQ, ATTEND_HEAD_STATS_COUNT);
    stats.summaries = NULL;
    stats.raw.data = NULL;
    add(r, attend_stats_merge(ctx, &stats, D, &part, 1, NULL));
}

static void call_inspect(attend_context *ctx, const attend_rule *rule, struct results *r)
{
    const attend_probe probe = {0, 1, 3, 44};
    attend_inspection inspection = attend_inspection_default();
    const attend_tensor lse = tensor(r->lse, ATTEND_F32, NQ, 1);

    inspection.q = attend_view_dense(q, ATTEND_F32, 1, H, NQ, D);
    inspection.k = keys(k, 0, NK);
    inspection.lse = attend_view_of(&lse);
    inspection.column_mass = tensor(r->column_mass, ATTEND_F32, 1, NK);
    inspection.pooled = tensor(r->pooled, ATTEND_F32, 1, 17);
    inspection.pooled_block = 128;
    inspection.probes = &probe;
    inspection.probe_count = 1;
    inspection.probe_weights = &r->probe_weight;
    add(r, attend_inspect(ctx, rule, &inspection, NULL));
}

static void call_partials(attend_context *ctx, const attend_rule *rule, struct results *r)
{
    attend_partials parts[2], whole = attend_partials_default();
    const attend_tensor out = tensor(r->combined, ATTEND_F32, NQ, D);
    const attend_tensor lse = tensor(r->combined_lse, ATTEND_F32, NQ, 1);

    for (int x = 0; x < 2; x++) {
        const int64_t first = x * SPLIT, count = x == 0 ? SPLIT : NK - SPLIT;
        const attend_io io = inputs(first, count);

        parts[x] = attend_partials_default();
        parts[x].first_key = first;
        parts[x].keys = count;
        parts[x].all_keys = NK;
        parts[x].data = tensor(r->records[x], ATTEND_F32, NQ,
                               attend_partials_records(first, count, 0) * (D + 2));
        add(r, attend_forward_partials(ctx, rule, &io, &parts[x], NULL));
    }
    whole.keys = NK;
    whole.reduce = 1;
    whole.data =
        tensor(r->reduced, ATTEND_F32, NQ, attend_partials_records(0, NK, 1) * (D + 2));
    add(r, attend_reduce(ctx, parts, 2, &whole, NULL));
    add(r, attend_combine(ctx, rule, parts, 2, &out, &lse, NULL));
}

static void call_merge(attend_context *ctx, struct results *r)
{
    const attend_tensor o[2] = {tensor(r->out, ATTEND_F32, NQ, D),
                                tensor(r->combined, ATTEND_F32, NQ, D)};
    const attend_tensor l[2] = {tensor(r->lse, ATTEND_F32, NQ, 1),
                                tensor(r->combined_lse, ATTEND_F32, NQ, 1)};
    const attend_part parts[2] = {{attend_view_of(&o[0]), attend_view_of(&l[0])},
                                  {attend_view_of(&o[1]), attend_view_of(&l[1])}};
    const attend_tensor out = tensor(r->merged, ATTEND_F32, NQ, D);
    const attend_tensor with = tensor(r->merged_with, ATTEND_F32, NQ, D);
    const attend_tensor lse = tensor(r->merged_lse, ATTEND_F32, NQ, 1);

    add(r, attend_merge(parts, 2, &out, &lse, NULL));
    add(r, attend_merge_with(ctx, parts, 2, &with, NULL, NULL));
}

static void call_all(attend_context *ctx, struct results *r)
{
    attend_rule rule = attend_rule_default();

    rule.causal = ATTEND_CAUSAL_BOTTOM_RIGHT;
    rule.alibi = alibi;
    rule.sinks = sinks;
    rule.softcap = 20;
    memset(r, 0, sizeof *r);
    r->head = attend_head_default();
    call_forward(ctx, &rule, r);
    call_inspect(ctx, &rule, r);
    call_partials(ctx, &rule, r);
    call_merge(ctx, r);
}

/* ---- the tests ------------------------------------------------------------- */

/* Creates and uses a context in an environment, and compares the results. */
static void check_environment(const attend_options *options, int environment,
                              const struct results *want)
{
    static struct results got;
    fenv_t before;
    attend_context *ctx = NULL;

    fegetenv(&before);
    if (!environments[environment].set()) {
        fesetenv(&before);
        return;
    }
    const uint64_t control = control_word();
    const attend_status status = attend_context_create(&ctx, options, NULL);
    if (status == ATTEND_OK)
        call_all(ctx, &got);
    attend_context_destroy(ctx);
    const uint64_t after = control_word();
    fesetenv(&before);
    CHECK(status == ATTEND_OK, "%s: no context", environments[environment].name);
    CHECK(control == after, "%s, %s: control word %llx became %llx", options->isa,
          environments[environment].name, (unsigned long long)control,
          (unsigned long long)after);
    CHECK(memcmp(&got, want, sizeof got) == 0,
          "%s, %d threads, %s: other bits (%s in O, %s in weights, %s in statistics)",
          options->isa, options->threads, environments[environment].name,
          memcmp(got.out, want->out, sizeof got.out) ? "differ" : "same",
          memcmp(got.weights, want->weights, sizeof got.weights) ? "differ" : "same",
          memcmp(got.rows, want->rows, sizeof got.rows) ? "differ" : "same");
}

/* Results of one thread in the default environment; every call succeeds there. */
static const struct results *expected(const char *isa)
{
    static struct results want;
    attend_options options = attend_options_default();

    options.isa = isa;
    options.threads = 1;
    auto_context const ctx = open_context(&options);
    if (!ctx)
        return NULL;
    call_all(ctx, &want);
    for (int x = 0; x < want.calls; x++)
        if (want.status[x] != ATTEND_OK) {
            test_fail(__FILE__, __LINE__, isa, "call %d: status %d", x,
                      (int)want.status[x]);
            return NULL;
        }
    return &want;
}

static void for_each_cpu_set(void (*body)(const char *isa, const struct results *want))
{
    attend_isa isa = attend_isa_default();

    for (int x = 0; x < attend_isa_count(); x++) {
        if (attend_isa_get(x, &isa) != ATTEND_OK || !isa.runs)
            continue;
        const struct results *const want = expected(isa.name);
        if (want)
            body(isa.name, want);
    }
}

static void set_in_callers_environment(const char *isa, const struct results *want)
{
    attend_options options = attend_options_default();

    options.isa = isa;
    for (int environment = 0; environment < ENVIRONMENTS; environment++)
        for (options.threads = 1; options.threads <= 3; options.threads++)
            check_environment(&options, environment, want);
}

TEST(same_bits_in_any_environment_of_the_caller)
{
    for_each_cpu_set(set_in_callers_environment);
}

/* Threads of a host's pool, each with a different environment. */
struct lent_job {
    void (*body)(void *arg, int w);
    void *arg;
    int w, keeps;
};

static void *lent_thread(void *given)
{
    struct lent_job *const job = given;

    environments[job->w % ENVIRONMENTS].set();
    const uint64_t before = control_word();
    job->body(job->arg, job->w);
    job->keeps = control_word() == before;
    return NULL;
}

static void lent_pool(void *user, int n, void (*body)(void *arg, int w), void *arg)
{
    int *const keeps = user;
    pthread_t threads[8];
    struct lent_job jobs[8];

    for (int w = 0; w < n; w++) {
        jobs[w] = (struct lent_job){body, arg, w, 0};
        if (pthread_create(&threads[w], NULL, lent_thread, &jobs[w]) != 0)
            abort();
    }
    for (int w = 0; w < n; w++) {
        pthread_join(threads[w], NULL);
        *keeps = *keeps && jobs[w].keeps;
    }
}

static void set_on_lent_threads(const char *isa, const struct results *want)
{
    static struct results got;
    attend_options options = attend_options_default();
    int keeps = 1;

    options.isa = isa;
    options.threads = 4;
    options.parallel_for = lent_pool;
    options.parallel_user = &keeps;
    auto_context const ctx = open_context(&options);
    CHECK(ctx != NULL, "%s: no context", isa);
    call_all(ctx, &got);
    CHECK(keeps, "%s: a thread of the pool has another environment", isa);
    CHECK(memcmp(&got, want, sizeof got) == 0, "%s: other bits", isa);
}

TEST(same_bits_on_lent_threads_of_any_environment)
{
    for_each_cpu_set(set_on_lent_threads);
}

BEFORE_ALL { fill(); }

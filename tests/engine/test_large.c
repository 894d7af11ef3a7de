/* SPDX-License-Identifier: MIT */
/*
 * Random problems of up to 16384 keys and 64 rows that read them, of every rule: most
 * have several real splits, and many have splits that no row sees.  Every kernel set,
 * on one thread and on 2, 3 or 7 in turn: equal bits, and some rows of each problem
 * within the bound of the dense evaluation.
 * The first CORE problems are always the same.
 */
#include "support/pools.h"

#include "check/check.h"
#include "check/sample.h"

enum {
    CORE = 16,
    PROBLEMS = 184, /* drawn, at scale 1 */
    KEYS_MAX = 16384,
    SPLIT = 1024, /* keys of a split by default */
    ROWS_MAX = 6, /* rows of a problem that are evaluated densely */
    FAILURES_MAX = 5,
    PROGRESS = 1000
};

static const attend_dtype dtypes[] = {ATTEND_F32, ATTEND_F16, ATTEND_BF16, ATTEND_F64};

/* A random number in low .. high, uniform in its logarithm. */
static int64_t log_uniform(struct check_random *random, int64_t low, int64_t high)
{
    const double u = check_random_unit(random);

    return (int64_t)((double)low * pow((double)(high + 1) / (double)low, u));
}

/* nq times the heads of a group is at most 64. */
static void sample_sizes(struct check_problem *p, struct check_random *random)
{
    const int64_t rows = log_uniform(random, 1, 64),
                  group = 1 << check_random_int(random, 0, 3);

    p->nb = check_random_chance(random, 0.1) ? 2 : 1;
    p->hkv = check_random_int(random, 1, 2);
    p->hq = p->hkv * (group < rows ? group : rows);
    p->nq = rows / (p->hq / p->hkv);
    p->nk = check_random_chance(random, 0.1) ? log_uniform(random, 1, 999)
                                             : log_uniform(random, 1000, KEYS_MAX);
    p->d = check_random_chance(random, 0.05) ? check_random_int(random, 0, 7)
                                             : check_random_int(random, 8, 128);
    p->dv = check_random_chance(random, 0.6) ? p->d : check_random_int(random, 8, 128);
}

/* Small windows, and windows with enough work for several workers. */
static int64_t sample_window(const struct check_problem *p, struct check_random *random)
{
    return check_random_chance(random, 0.4) ? log_uniform(random, 1, p->nk) - 1
                                            : check_random_int(random, 0, p->nk);
}

/* Positions across the sequence, and windows much smaller than it. */
static void sample_positions(struct check_problem *p, struct check_random *random)
{
    const double u = check_random_unit(random);

    p->causal = u < 0.25   ? ATTEND_CAUSAL_NONE
                : u < 0.3  ? ATTEND_CAUSAL_TOP_LEFT
                : u < 0.65 ? ATTEND_CAUSAL_BOTTOM_RIGHT
                           : ATTEND_CAUSAL_OFFSET;
    if (p->causal == ATTEND_CAUSAL_OFFSET) {
        p->causal_offset = check_memory((size_t)p->nb, sizeof *p->causal_offset);
        for (int64_t b = 0; b < p->nb; b++)
            p->causal_offset[b] = check_random_int(random, -p->nq, p->nk + 2);
    }
    p->window_left = p->window_right = -1;
    if (p->causal != ATTEND_CAUSAL_NONE && check_random_chance(random, 0.6))
        p->window_left = sample_window(p, random);
    if (check_random_chance(random, 0.1))
        p->window_right = sample_window(p, random);
    if (check_random_chance(random, 0.2)) {
        p->key_lengths = check_memory((size_t)p->nb, sizeof *p->key_lengths);
        for (int64_t b = 0; b < p->nb; b++)
            p->key_lengths[b] = check_random_int(random, 0, p->nk);
    }
}

static void plane_size(const struct check_problem *p, struct check_random *random,
                       int64_t size[4])
{
    const int64_t full[4] = {p->nb, p->hq, p->nq, p->nk};

    for (int a = 0; a < 4; a++)
        size[a] = check_random_chance(random, a == 3 ? 0.9 : 0.4) ? full[a] : 1;
}

/* Runs of seen and hidden keys, so that whole splits are hidden at times. */
static void sample_mask(struct check_problem *p, struct check_random *random)
{
    plane_size(p, random, p->mask_size);
    const int64_t count = check_count(p->mask_size),
                  longest = log_uniform(random, 1, 4000);

    p->mask = check_memory((size_t)count, sizeof *p->mask);
    for (int64_t at = 0, seen = 1; at < count; seen = !seen)
        for (int64_t run = log_uniform(random, 1, longest); run > 0 && at < count; run--)
            p->mask[at++] = (double)seen;
}

static struct check_problem sample_large(uint64_t seed)
{
    struct check_random random = {.seed = seed};
    struct check_problem p = {.seed = seed, .bias_dtype = ATTEND_F32};

    p.dtype = dtypes[check_random_int(&random, 0, 3)];
    p.out_dtype =
        p.dtype != ATTEND_F64 && check_random_chance(&random, 0.3) ? ATTEND_F32 : p.dtype;
    sample_sizes(&p, &random);
    sample_positions(&p, &random);
    if (check_random_chance(&random, 0.25))
        sample_mask(&p, &random);
    if (check_random_chance(&random, 0.2))
        check_sample_bias(&p, &random, 0);
    check_sample_scores(&p, &random, 0);
    p.wants_lse = check_random_chance(&random, 0.7);
    p.wants_weights = check_random_chance(&random, 0.03);
    if (check_random_chance(&random, 0.25))
        check_sample_layouts(&p, &random, 0);
    if (check_random_chance(&random, 0.1))
        check_sample_stats(&p, &random);
    check_sample_inputs(&p, &random, 0.0);
    return p;
}

/* ---- the run ------------------------------------------------------------------- */

/* Counts the calls of the host's pool. */
enum { THREADS = 3, LENT = 1 };
static const int threads[THREADS] = {2, 3, 7};

static struct check_run run; /* of the library, with one thread each */
static attend_context *shared[THREADS][CHECK_SETS_MAX];
static pool_log lent;
static int64_t lent_calls; /* of the library, on contexts with the host's pool */
static int failures;

/*
 * Problems, those in which a row sees more than one split, and those with a split in
 * which no row sees a key.
 */
static int64_t problems, split, with_empty;

static void fail(const struct check_problem *p, const struct check_set *set, int count,
                 const char *where)
{
    char text[512];

    check_describe(p, text, sizeof text);
    test_fail(__FILE__, __LINE__, "right", "seed %llu: %s, %d threads: %s; %s",
              (unsigned long long)p->seed, set->name, count, where, text);
    fflush(stdout);
    failures++;
}

/* A subset of the rows; fewer if a row is expensive. */
static struct check_expect expect_rows(const struct check_problem *p,
                                       struct check_random *random)
{
    const int64_t rows = p->nb * p->hq * p->nq, dear = p->nk * (p->d + p->dv) + 1;
    auto_free unsigned char *const wanted = check_memory((size_t)rows, 1);

    for (int64_t n = 0; n < ROWS_MAX && (n == 0 || (n + 1) * dear <= 3000000); n++)
        wanted[check_random_int(random, 0, rows - 1)] = 1;
    struct check_expect expect = check_dense_rows(p, wanted);
    return expect;
}

/* One set on one thread, under the bound, and on more. */
static void examine_set(const struct check_problem *p, const struct check_expect *expect,
                        int s, int t)
{
    const struct check_set *const set = &run.sets[s];
    struct check_outputs one, many;
    struct check_worst bound = {0}, bits = {0};
    char where[384] = "";

    if (!check_call_placed(&run.blocks, set->ctx, p, &one, where, sizeof where)) {
        fail(p, set, 1, where);
        return;
    }
    check_compare(p, expect, set->model, &one, &bound);
    if (!(bound.ratio < 1.0))
        fail(p, set, 1, bound.where);
    lent_calls += t == LENT;
    if (!check_call_placed(&run.blocks, shared[t][s], p, &many, where, sizeof where)) {
        fail(p, set, threads[t], where);
    } else {
        check_same_outputs(p, &one, p, &many, NULL, &bits);
        if (bits.ratio != 0.0)
            fail(p, set, threads[t], bits.where);
        check_outputs_free(&many);
    }
    check_outputs_free(&one);
}

/* Whether a split has no visible key for any row, apart from the mask. */
static int has_empty_split(const struct check_problem *p)
{
    unsigned seen = 0;
    int64_t first, end;

    for (int64_t b = 0; b < p->nb; b++)
        for (int64_t i = 0; i < p->nq; i++)
            if (check_key_range(p, b, i, &first, &end))
                for (int64_t x = first / SPLIT; x <= (end - 1) / SPLIT; x++)
                    seen |= 1u << x;
    return seen + 1 != 1u << ((p->nk - 1) / SPLIT + 1);
}

/* The seed determines everything, so that a single problem can be repeated. */
static void examine(uint64_t seed)
{
    auto_check_problem p = sample_large(seed);
    struct check_random random = {.seed = seed, .next = 1u << 30};
    auto_check_expect expect = expect_rows(&p, &random);

    problems++;
    split += check_spans(&p, SPLIT);
    with_empty += has_empty_split(&p);
    check_place(&run.blocks, &p);
    for (int s = 0; s < run.count; s++) {
        /* `ref` is slow and has no splits. */
        if (run.sets[s].model == CHECK_REF && seed % 8 != 0)
            continue;
        examine_set(&p, &expect, s, (int)((seed + (uint64_t)s) % THREADS));
    }
}

TEST(random_large_problems)
{
    const uint64_t core = 9000000, drawn = test_seed() * 10000000;
    const int64_t count = CORE + test_count(PROBLEMS);

    for (int64_t n = 0; n < count && failures < FAILURES_MAX; n++) {
        examine((n < CORE ? core : drawn) + (uint64_t)n);
        if ((n + 1) % PROGRESS == 0) {
            printf("  %lld of %lld\n", (long long)n + 1, (long long)count);
            fflush(stdout);
        }
    }
    printf("  %lld problems, %lld of several splits, %lld with an empty one; %d calls "
           "of the lent pool in %lld\n",
           (long long)problems, (long long)split, (long long)with_empty, lent.calls,
           (long long)lent_calls);
    CHECK(failures == 0, "%d failures", failures);
    CHECK(2 * split > CORE && 4 * with_empty > CORE && 2 * lent.calls > CORE,
          "too few of them take the path");
}

static int open_contexts(void)
{
    attend_error error = {.message = ""};

    if (check_open(&run, NULL, CHECK_PLAIN, 1, &error) != ATTEND_OK) {
        fprintf(stderr, "test_large: %s\n", error.message);
        return 0;
    }
    for (int t = 0; t < THREADS; t++)
        for (int s = 0; s < run.count; s++) {
            shared[t][s] = pool_context(run.sets[s].name, threads[t],
                                        t == LENT ? pool_pthreads : NULL, &lent);
            if (shared[t][s] == NULL)
                return 0;
        }
    return 1;
}

int main(void)
{
    unsetenv("ATTEND_SPLIT"); /* real splits */
    if (!open_contexts())
        return 1;
    test_run_all();
    for (int t = 0; t < THREADS; t++)
        for (int s = 0; s < run.count; s++)
            attend_context_destroy(shared[t][s]);
    check_close(&run);
    return test_finish();
}

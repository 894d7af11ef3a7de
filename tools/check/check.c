/* SPDX-License-Identifier: MIT */
#define _DEFAULT_SOURCE

#include "check/check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK_TEST(name_, perform_, runs_, what_)                                        \
    {.name = (name_), .what = (what_), .runs = (runs_), .perform = (perform_)},
#define CHECK_LAW(name_, one_, runs_, cases_, salt_, length_, every_fourth_, what_)      \
    {.name = (name_),                                                                    \
     .what = (what_),                                                                    \
     .runs = (runs_),                                                                    \
     .one = (one_),                                                                      \
     .cases = (cases_),                                                                  \
     .salt = (salt_),                                                                    \
     .length = (length_),                                                                \
     .every_fourth = (every_fourth_)},
const check_test check_tests[] = {
#include "check/check_tests.inc"
};
#undef CHECK_TEST
#undef CHECK_LAW
const int check_test_count = (int)(sizeof check_tests / sizeof check_tests[0]);

static int default_threads(void)
{
    attend_options options = attend_options_default();
    attend_context *ctx;

    options.isa = "ref"; /* independent of ATTEND_ISA */
    if (attend_context_create(&ctx, &options, NULL) != ATTEND_OK)
        return 1;
    const int threads = attend_context_threads(ctx);
    attend_context_destroy(ctx);
    return threads;
}

attend_status check_context(const struct check_set *set, int threads,
                            attend_context **ctx, attend_error *error)
{
    const char *const found = getenv("ATTEND_SPLIT");
    char *const kept = found != NULL ? check_memory(strlen(found) + 1, 1) : NULL;
    attend_options options = attend_options_default();
    char keys[16];

    if (kept != NULL)
        memcpy(kept, found, strlen(found) + 1);
    snprintf(keys, sizeof keys, "%d", CHECK_SPLIT_KEYS);
    if (set->split)
        setenv("ATTEND_SPLIT", keys, 1);
    else
        unsetenv("ATTEND_SPLIT");
    if (set->device) {
        options.device = set->name;
        options.host_tensors = 1;
    } else
        options.isa = set->name;
    options.threads = threads;
    const attend_status status = attend_context_create(ctx, &options, error);
    if (kept != NULL)
        setenv("ATTEND_SPLIT", kept, 1);
    else
        unsetenv("ATTEND_SPLIT");
    free(kept);
    return status;
}

static attend_status open_set(struct check_run *run, const attend_isa *isa, int split,
                              int threads, attend_error *error)
{
    struct check_set *const set = &run->sets[run->count];

    *set = (struct check_set){.name = isa->name,
                              .needs = isa->needs,
                              .split = split,
                              .device = strncmp(isa->name, "cuda", 4) == 0,
                              .model = strcmp(isa->name, "ref") == 0 ? CHECK_REF
                                                                     : CHECK_KERNELS};
    if (split && set->model == CHECK_REF)
        return ATTEND_OK;
    snprintf(set->label, sizeof set->label, "%s%s", isa->name, split ? "/split" : "");
    const attend_status status = check_context(set, threads, &set->ctx, error);
    if (status == ATTEND_OK) {
        run->count++;
        run->plain += !split;
    }
    return status;
}

/* Opens the device as a set, if requested; *error: the reason for a failure. */
static attend_status open_device(struct check_run *run, const char *isa, int split,
                                 int threads, attend_error *error)
{
    const attend_isa device = {.name = isa, .needs = "a GPU", .runs = 1};

    if (isa == NULL || strncmp(isa, "cuda", 4) != 0)
        return ATTEND_OK;
    return open_set(run, &device, split, threads, error);
}

attend_status check_open(struct check_run *run, const char *isa, int runs, int threads,
                         attend_error *error)
{
    attend_isa found = attend_isa_default();

    *run = (struct check_run){.all = isa == NULL,
                              .seed = 1,
                              .effort = 1.0,
                              .exp2_step = 1,
                              .exp2_threads = threads > 0 ? threads : default_threads()};
    for (int split = 0; split < 2; split++) {
        for (int index = 0; attend_isa_get(index, &found) == ATTEND_OK; index++) {
            if (isa != NULL ? strcmp(isa, found.name) != 0 : !found.runs)
                continue;
            if (!(runs & (split ? CHECK_SPLIT : CHECK_PLAIN)) ||
                run->count == CHECK_SETS_MAX)
                continue;
            const attend_status status =
                open_set(run, &found, split, threads > 0 ? threads : 1, error);
            if (status != ATTEND_OK) {
                check_close(run);
                return status;
            }
        }
        const attend_status status =
            runs & (split ? CHECK_SPLIT : CHECK_PLAIN)
                ? open_device(run, isa, split, threads > 0 ? threads : 1, error)
                : ATTEND_OK;
        if (status != ATTEND_OK) {
            check_close(run);
            return status;
        }
    }
    if (run->count == 0) {
        /* Not in this build: the library has the message. */
        attend_options options = attend_options_default();
        attend_context *ctx = NULL;
        options.isa = isa;
        const attend_status status = attend_context_create(&ctx, &options, error);
        attend_context_destroy(ctx);
        return status != ATTEND_OK ? status : ATTEND_EUNSUPPORTED;
    }
    return ATTEND_OK;
}

void check_close(struct check_run *run)
{
    for (int s = 0; s < run->count; s++)
        attend_context_destroy(run->sets[s].ctx);
    check_blocks_free(&run->blocks);
    run->count = run->plain = 0;
}

int check_set_count(const struct check_run *run, const check_test *test)
{
    /* A device has no probe of 2^x, and is the only set. */
    if (run->count > 0 && run->sets[0].device && test->perform == check_test_exp2)
        return 0;
    return test->runs == CHECK_PLAIN ? run->plain : run->count;
}

static void perform_cases(struct check_run *run, const check_test *test)
{
    for (int64_t n = 0; n < check_cases(run, test->cases); n++) {
        struct check_case c = {
            .n = n,
            .p = check_law_sample(run, test->salt, n,
                                  n % 4 ? test->length : test->every_fourth)};

        c.random = (struct check_random){.seed = c.p.seed, .next = 1u << 30};
        test->one(run, &c);
        check_problem_free(&c.p);
    }
}

void check_perform(struct check_run *run, const check_test *test)
{
    const int count = run->count;

    for (int s = 0; s < count; s++)
        run->sets[s].tally = (struct check_tally){.ok = 1};
    run->count = check_set_count(run, test);
    if (run->count == 0) {
        run->count = count;
        return;
    }
    if (test->perform != NULL)
        test->perform(run);
    else
        perform_cases(run, test);
    /* A test without cases, or with forced splits but no split row, fails. */
    for (int s = 0; s < run->count; s++) {
        struct check_set *const set = &run->sets[s];
        if (set->tally.cases == 0)
            check_note(set, INFINITY, NULL, "no case ran");
        else if (set->split && set->tally.split == 0)
            check_note(set, INFINITY, NULL, "no case had more than one split");
    }
    run->count = count;
}

int64_t check_cases(const struct check_run *run, int64_t base)
{
    const int64_t cases = (int64_t)((double)base * run->effort);

    return cases > CHECK_CORE ? cases : CHECK_CORE;
}

uint64_t check_case_seed(const struct check_run *run, uint64_t salt, int64_t n)
{
    const uint64_t seed = n < CHECK_CORE ? 1 : run->seed;

    return (seed * 1000 + salt) * 100000 + (uint64_t)n;
}

void check_note(struct check_set *set, double ratio, const struct check_problem *p,
                const char *where)
{
    struct check_tally *const tally = &set->tally;

    tally->cases++;
    if (!(ratio <= tally->worst))
        tally->worst = isnan(ratio) ? INFINITY : ratio;
    if (ratio < 1.0 || !tally->ok)
        return;
    char problem[512] = "";
    if (p != NULL)
        check_describe(p, problem, sizeof problem);
    tally->ok = 0;
    snprintf(tally->detail, sizeof tally->detail, "%.480s%s%s", where,
             p != NULL ? "; " : "", problem);
}

/* Splits are whole blocks, which have 256 keys in `amx`. */
static int64_t split_keys(const struct check_set *set)
{
    return strcmp(set->name, "amx") == 0 ? 2 * CHECK_SPLIT_KEYS : CHECK_SPLIT_KEYS;
}

int check_try(struct check_run *run, struct check_set *set, attend_context *ctx,
              const struct check_problem *p, struct check_outputs *outputs)
{
    char reason[384];

    check_tick(run);
    set->tally.split += set->split && check_spans(p, split_keys(set));
    if (check_call(&run->blocks, ctx, p, outputs, reason, sizeof reason))
        return 1;
    check_note(set, INFINITY, p, reason);
    return 0;
}

void check_against(struct check_run *run, const struct check_problem *p,
                   const struct check_expect *expect)
{
    for (int s = 0; s < run->count; s++) {
        struct check_set *const set = &run->sets[s];
        struct check_outputs got;
        struct check_worst worst = {0};
        if (!check_try(run, set, set->ctx, p, &got))
            continue;
        check_compare(p, expect, set->model, &got, &worst);
        check_note(set, worst.ratio, p, worst.where);
        check_outputs_free(&got);
    }
}

void check_all(struct check_run *run, const struct check_problem *p)
{
    struct check_expect expect = check_dense(p);

    check_against(run, p, &expect);
    check_expect_free(&expect);
}

void check_tick(const struct check_run *run)
{
    if (run->progress != NULL)
        run->progress(run->progress_user);
}

/* Sizes around tiles of 8, 16, 24, 32, 48 and 128, zero, and primes. */
static const int64_t hostile[] = {0,  1,  2,  3,   5,   7,   8,   9,   11,  13,  15, 16,
                                  17, 23, 24, 25,  31,  32,  33,  47,  48,  49,  61, 63,
                                  64, 65, 97, 127, 128, 129, 131, 255, 257, 385, 521};
enum { HOSTILE = sizeof hostile / sizeof hostile[0] };

/* Of nk, nq, d and dv in turn one takes every size in turn, the largest first; the others
 * any. */
static void hostile_sizes(struct check_random *random, int64_t n, int64_t size[4])
{
    static const int64_t limit[4] = {521, 257, 131, 131};

    for (int a = 0; a < 4; a++)
        do
            size[a] = hostile[check_random_int(random, 0, HOSTILE - 1)];
        while (size[a] > limit[a]);
    const int64_t taken = hostile[HOSTILE - 1 - n / 4 % HOSTILE];
    if (taken <= limit[n % 4])
        size[n % 4] = taken;
    if (n == 0) /* rows that see several splits, at every scale */
        size[1] = 17;
}

void check_test_bound(struct check_run *run)
{
    static const attend_dtype dtypes[] = {ATTEND_F32, ATTEND_BF16, ATTEND_F16,
                                          ATTEND_F64};

    for (int64_t n = 0; n < check_cases(run, 320); n++) {
        const uint64_t seed = check_case_seed(run, 1, n);
        struct check_random random = {.seed = seed};
        int64_t size[4];
        hostile_sizes(&random, n, size);
        const int64_t group = check_random_chance(&random, 0.3) ? 3 : 1;
        struct check_problem p =
            check_sample_shape(seed, dtypes[(n + n / 4) % 4], 1, group, 1, size[1],
                               size[0], size[2], size[3]);
        p.causal = n % 3 == 1 ? ATTEND_CAUSAL_BOTTOM_RIGHT : ATTEND_CAUSAL_NONE;
        p.wants_weights = n % 9 < 2;
        if (n % 3 == 2) { /* peaked: nearly all weight on one key */
            p.scale_is_set = 1;
            p.scale = n % 2 == 0 ? 3.0 : -3.0;
        }
        check_all(run, &p);
        check_problem_free(&p);
    }
}

void check_test_random(struct check_run *run)
{
    const struct check_sample_options options[] = {
        {.max_length = 160, .max_width = 96, .max_heads = 3},
        {.min_keys = CHECK_SPLIT_KEYS + 1,
         .max_length = 4 * CHECK_SPLIT_KEYS + 8,
         .max_rows = 24,
         .max_width = 96,
         .max_heads = 2}};

    for (int64_t n = 0; n < check_cases(run, 320); n++) {
        struct check_problem p =
            check_sample(check_case_seed(run, 2, n), &options[n % 5 % 2]);
        check_all(run, &p);
        check_problem_free(&p);
    }
}

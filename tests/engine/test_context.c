/* SPDX-License-Identifier: MIT */
/* Contexts: options, kernel sets, pools, hooks, and the errors of attend_forward. */
#include "context_errors.h"
#include "support/oracle.h"
#include "support/pools.h"

static const char *best_set(void)
{
    attend_isa isa = attend_isa_default();

    for (int index = 0; index < attend_isa_count(); index++)
        if (attend_isa_get(index, &isa) == ATTEND_OK && isa.runs)
            break;
    return isa.name;
}

TEST(names_and_sizes)
{
    char version[32];

    snprintf(version, sizeof version, "%d.%d.%d", ATTEND_VERSION_MAJOR,
             ATTEND_VERSION_MINOR, ATTEND_VERSION_PATCH);
    CHECK(strcmp(attend_version(), version) == 0, "%s", attend_version());
    CHECK(attend_dtype_size(ATTEND_F64) == 8 && attend_dtype_size(ATTEND_F32) == 4 &&
              attend_dtype_size(ATTEND_F16) == 2 && attend_dtype_size(ATTEND_BF16) == 2 &&
              attend_dtype_size(ATTEND_BOOL) == 1,
          "a dtype's size");
    CHECK(attend_dtype_size((attend_dtype)0) == 0 &&
              attend_dtype_size((attend_dtype)6) == 0,
          "no dtype has a size");
    CHECK(strcmp(attend_dtype_name(ATTEND_BF16), "bf16") == 0, "%s",
          attend_dtype_name(ATTEND_BF16));
    CHECK(strcmp(attend_dtype_name((attend_dtype)77), "unknown") == 0, "%s",
          attend_dtype_name((attend_dtype)77));
    CHECK(strcmp(attend_status_name(ATTEND_ETOOBIG), "ATTEND_ETOOBIG") == 0, "%s",
          attend_status_name(ATTEND_ETOOBIG));
    CHECK(strcmp(attend_status_name((attend_status)9), "unknown status") == 0, "%s",
          attend_status_name((attend_status)9));
}

TEST(kernel_sets_are_listed)
{
    const int count = attend_isa_count();
    attend_isa isa = attend_isa_default();

    CHECK(count >= 1, "%d sets", count);
    CHECK(attend_isa_get(-1, &isa) == ATTEND_EINVAL, "index -1");
    CHECK(attend_isa_get(count, &isa) == ATTEND_EINVAL, "index %d", count);
    for (int index = 0; index < count; index++) {
        CHECK(attend_isa_get(index, &isa) == ATTEND_OK, "index %d", index);
        CHECK(isa.name[0] != '\0' && isa.needs != NULL, "set %d has no name", index);
        CHECK(isa.needs[0] != '\0' || isa.runs, "%s needs nothing and does not run",
              isa.name);
    }
    CHECK(strcmp(isa.name, "ref") == 0 && isa.runs, "the last set is %s", isa.name);
}

TEST(cpu_features_are_cut_to_fit)
{
    char whole[1024], part[1024];
    const size_t length = attend_cpu_features(whole, sizeof whole);

    CHECK(length == strlen(whole), "%zu of \"%s\"", length, whole);
    CHECK(attend_cpu_features(NULL, 0) == length, "without room");
    for (size_t size = 1; size <= length + 1; size++) {
        memset(part, 'x', sizeof part);
        CHECK(attend_cpu_features(part, size) == length, "size %zu", size);
        CHECK(strlen(part) == size - 1 && strncmp(part, whole, size - 1) == 0 &&
                  part[size] == 'x',
              "size %zu gave \"%.40s\"", size, part);
    }
}

/* Expects the kernel set `name` for these options. */
static void expect_isa(const attend_options *options, const char *name)
{
    auto_context const ctx = open_context(options);

    CHECK(ctx != NULL && strcmp(attend_context_isa(ctx), name) == 0, "not %s", name);
}

TEST(isa_by_option)
{
    attend_options options = attend_options_default();
    attend_isa isa = attend_isa_default();

    for (int index = 0; index < attend_isa_count(); index++) {
        CHECK(attend_isa_get(index, &isa) == ATTEND_OK, "index %d", index);
        options.isa = isa.name;
        if (isa.runs)
            expect_isa(&options, isa.name);
        else
            expect_no_context(&options, ATTEND_EUNSUPPORTED, "isa", isa.name);
    }
    options.isa = "avx9000";
    expect_no_context(&options, ATTEND_EINVAL, "isa", "avx9000");
    options.isa = "";
    expect_no_context(&options, ATTEND_EINVAL, "isa", "\"\"");
    options.isa = "REF";
    expect_no_context(&options, ATTEND_EINVAL, "isa", "REF");
}

TEST(isa_by_environment)
{
    attend_options options = attend_options_default();

    unsetenv("ATTEND_ISA");
    expect_isa(NULL, best_set());
    setenv("ATTEND_ISA", "ref", 1);
    expect_isa(&options, "ref");
    options.isa = best_set();
    expect_isa(&options, options.isa);
    options.isa = NULL;
    setenv("ATTEND_ISA", "avx9000", 1);
    expect_no_context(&options, ATTEND_EINVAL, "ATTEND_ISA", "avx9000");
    expect_no_context(NULL, ATTEND_EINVAL, "ATTEND_ISA", "avx9000");
    unsetenv("ATTEND_ISA");
}

TEST(thread_counts)
{
    attend_options options = attend_options_default();

    for (int threads = 0; threads <= 9; threads += threads == 0 ? 1 : 4) {
        options.threads = threads;
        auto_context const ctx = open_context(&options);
        CHECK(ctx != NULL, "%d threads", threads);
        const int got = attend_context_threads(ctx);
        CHECK(threads == 0 ? got >= 1 : got == threads, "asked for %d, got %d", threads,
              got);
    }
    options.threads = -1;
    expect_no_context(&options, ATTEND_EINVAL, "threads", "-1");
    options.threads = INT32_MAX;
    expect_no_context(&options, ATTEND_EINVAL, "threads", "2147483647");
}

/* The path of this program, which starts itself as a child. */
static const char *own_path;

TEST(threads_by_environment)
{
    char command[512], line[64] = "";

    snprintf(command, sizeof command, "OMP_NUM_THREADS=3 '%s' threads", own_path);
    FILE *const pipe = popen(command, "r");
    CHECK(pipe != NULL, "popen");
    CHECK(fgets(line, sizeof line, pipe) != NULL, "no answer");
    pclose(pipe);
    CHECK(atoi(line) == 3, "OMP_NUM_THREADS=3 gives %s", line);
}

static int print_threads(void)
{
    auto_context ctx = NULL;

    if (attend_context_create(&ctx, NULL, NULL) != ATTEND_OK)
        return 1;
    printf("%d\n", attend_context_threads(ctx));
    return 0;
}

static void *refuse_to_allocate(void *user, size_t alignment, size_t size)
{
    (void)user, (void)alignment, (void)size;
    return NULL;
}

static void nothing_to_free(void *user, void *memory) { (void)user, (void)memory; }

TEST(hooks_come_in_pairs)
{
    attend_options options = attend_options_default();

    options.alloc = refuse_to_allocate;
    expect_no_context(&options, ATTEND_EINVAL, "free", "NULL");
    options.free = nothing_to_free;
    expect_no_context(&options, ATTEND_ENOMEM, "", "");
    options.alloc = NULL;
    expect_no_context(&options, ATTEND_EINVAL, "alloc", "NULL");
    attend_context_destroy(NULL);
}

TEST_ON_SETS(lent_pools, lone, 1)
{
    static const attend_parallel_for pools[3] = {pool_sequential, pool_reversed,
                                                 pool_pthreads};
    auto_problem p = problem_make((shape){2, 2, 2, 150, 400, 8, 8}, ATTEND_F32, 5);

    CHECK(problem_check(&p, lone), "one thread");
    auto_result want = result_copy(&p);
    for (int at = 0; at < 3; at++)
        for (int threads = 1; threads <= 5; threads += 2) {
            pool_log log = {0, 0};
            auto_context const ctx =
                pool_context(attend_context_isa(lone), threads, pools[at], &log);
            CHECK(ctx != NULL && problem_gives(&p, ctx, &want), "pool %d of %d", at,
                  threads);
            CHECK(log.n_max <= threads, "asked for %d of %d", log.n_max, threads);
            CHECK(log.calls > 0 || threads == 1, "the pool of %d was not used", threads);
        }
}

/* A window that reaches every key from the farthest position hides none. */
TEST_ON_SETS(widest_window, ctx, 1)
{
    auto_problem p = problem_make((shape){1, 1, 1, 3, 9, 8, 4}, ATTEND_F32, 7);
    const int64_t offset = (int64_t)1 << 60;

    p.rule.causal = ATTEND_CAUSAL_OFFSET;
    p.rule.causal_offset = &offset;
    auto_result want = result_of(&p, ctx);
    p.rule.window_left = INT64_MAX;
    p.rule.window_right = INT64_MAX;
    CHECK(problem_gives(&p, ctx, &want), "the widest window hides keys");
}

TEST(messages_are_one_line)
{
    attend_options options = attend_options_default();

    options.isa = "two\nlines";
    expect_no_context(&options, ATTEND_EINVAL, "isa", "two?lines");
}

TEST_ON_SETS(progress_is_reported, lone, 1)
{
    auto_problem p = problem_make((shape){2, 3, 3, 150, 30, 8, 8}, ATTEND_F32, 6);

    for (int threads = 1; threads <= 3; threads++) {
        progress_log log = {.calls = 0};
        auto_context const ctx =
            progress_context(attend_context_isa(lone), threads, &log);
        CHECK(ctx != NULL && problem_check(&p, ctx), "%d threads", threads);
        CHECK(progress_is_sound(&log, threads), "%d threads: %d calls, %lld of %lld",
              threads, log.calls, (long long)log.last, (long long)log.total);
    }
}

TEST_ON_SETS(null_arguments, ctx, 1)
{
    auto_problem p = problem_make((shape){1, 2, 1, 3, 9, 8, 4}, ATTEND_F32, 8);
    attend_error err = {.status = ATTEND_OK};

    CHECK(attend_forward(NULL, &p.rule, &p.io, &err) == ATTEND_EINVAL &&
              err.field == ATTEND_FIELD_CTX,
          "ctx NULL: \"%s\"", err.message);
    CHECK(attend_forward(ctx, &p.rule, NULL, &err) == ATTEND_EINVAL &&
              err.field == ATTEND_FIELD_IO,
          "io NULL: \"%s\"", err.message);
    CHECK(attend_context_create(NULL, NULL, &err) == ATTEND_EINVAL,
          "no place for a context");
    CHECK(problem_check(&p, ctx), "default rule");
    auto_result want = result_copy(&p);
    poison(&p.io.out);
    memset(&err, 0x5a, sizeof err);
    const attend_error before = err;
    CHECK(attend_forward(ctx, NULL, &p.io, &err) == ATTEND_OK, "rule NULL");
    CHECK(memcmp(&err, &before, sizeof err) == 0, "a call that succeeds wrote the error");
    CHECK(result_is_same(&p, &want), "rule NULL");
}

/*
 * No output elements, with any number of rows: success or refusal, without computation.
 */
TEST_ON_SETS(endless_rows_without_output, ctx, 1)
{
    for (int power = 20; power <= 40; power += 10) {
        const int64_t n = (int64_t)1 << power;
        auto_problem p = problem_make((shape){1, 1, 1, 1, 1, 1, 0}, ATTEND_F32, 9);
        attend_view *const views[] = {&p.io.q, &p.io.k, &p.io.v};
        for (int at = 0; at < 3; at++) {
            for (int axis = 0; axis < 3; axis++)
                views[at]->size[axis] = n, views[at]->stride[axis] = 0;
        }
        for (int axis = 0; axis < 3; axis++)
            p.io.out.size[axis] = n;
        p.io.lse.data = p.io.weights.data = NULL;
        const attend_status status = attend_forward(ctx, &p.rule, &p.io, NULL);
        CHECK(status == ATTEND_OK || status == ATTEND_EINVAL, "2^%d: %s", power,
              attend_status_name(status));
    }
}

TEST(wrong_fields_are_named) { for_each_set(check_wrong_fields, 2); }
TEST(wrong_combinations_are_named) { for_each_set(check_wrong_combinations, 2); }

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "threads") == 0)
        return print_threads();
    own_path = argv[0];
    test_run_all();
    return test_finish();
}

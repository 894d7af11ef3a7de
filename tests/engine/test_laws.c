/* SPDX-License-Identifier: MIT */
/*
 * The tests of `attend check` but exp2, on other problems and more of them.
 * ATTEND_TEST_SEED chooses the problems, ATTEND_TEST_QUICK=1 takes a tenth of them.
 */
#include "support/test.h"

#include <stdlib.h>
#include <string.h>

#include "check/check.h"

static struct check_run run;

static void perform(const char *name)
{
    const check_test *test = NULL;
    const struct check_set *broken = NULL;

    for (int t = 0; t < check_test_count; t++)
        if (strcmp(check_tests[t].name, name) == 0)
            test = &check_tests[t];
    CHECK(test != NULL, "no test is named %s", name);
    check_perform(&run, test);
    for (int s = check_set_count(&run, test) - 1; s >= 0; s--) {
        const struct check_set *const set = &run.sets[s];
        printf("  %-16s %6lld cases, %lld calls with splits, %.3g of the bound\n",
               set->label, (long long)set->tally.cases, (long long)set->tally.split,
               set->tally.worst);
        if (!set->tally.ok)
            broken = set;
    }
    CHECK(broken == NULL, "%s: %s", broken->label, broken->tally.detail);
}

TEST(bound) { perform("bound"); }
TEST(random_problems) { perform("random"); }
TEST(rms) { perform("rms"); }
TEST(masked) { perform("masked"); }
TEST(suffix) { perform("suffix"); }
TEST(batch) { perform("batch"); }
TEST(alone) { perform("alone"); }
TEST(threads) { perform("threads"); }
TEST(strides) { perform("strides"); }
TEST(delete) { perform("delete"); }
TEST(permute) { perform("permute"); }
TEST(duplicate) { perform("duplicate"); }
TEST(shift) { perform("shift"); }
TEST(merge) { perform("merge"); }
TEST(shards) { perform("shards"); }
TEST(constant) { perform("constant"); }
TEST(nonfinite) { perform("nonfinite"); }
TEST(stats) { perform("stats"); }
TEST(unmoved) { perform("unmoved"); }
TEST(stats_merge) { perform("stats-merge"); }
TEST(inspect) { perform("inspect"); }
TEST(nothing_is_left_out)
{
    CHECK(check_test_count == 22, "%d tests: list the new one here", check_test_count);
}

int main(void)
{
    const char *const seed = getenv("ATTEND_TEST_SEED");
    const char *const quick = getenv("ATTEND_TEST_QUICK");
    attend_error error = {.message = ""};

    if (check_open(&run, NULL, CHECK_BOTH, 0, &error) != ATTEND_OK) {
        fprintf(stderr, "test_laws: %s\n", error.message);
        return 1;
    }
    run.seed = seed != NULL ? strtoull(seed, NULL, 10) : 2;
    run.effort = quick != NULL && strcmp(quick, "1") == 0 ? 0.3 : 2.0;
    RUN(bound);
    RUN(random_problems);
    RUN(rms);
    RUN(masked);
    RUN(suffix);
    RUN(batch);
    RUN(alone);
    RUN(threads);
    RUN(strides);
    RUN(delete);
    RUN(permute);
    RUN(duplicate);
    RUN(shift);
    RUN(merge);
    RUN(shards);
    RUN(constant);
    RUN(nonfinite);
    RUN(stats);
    RUN(unmoved);
    RUN(stats_merge);
    RUN(inspect);
    RUN(nothing_is_left_out);
    check_close(&run);
    return test_finish();
}

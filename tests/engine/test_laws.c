/* SPDX-License-Identifier: MIT */
/*
 * The tests of `attend check` but exp2, on other problems and more of them.
 * ATTEND_TEST_SEED chooses the problems, ATTEND_TEST_QUICK=1 takes a seventh of them.
 */
#include "support/test.h"

#include <stdlib.h>
#include <string.h>

#include "check/check.h"

static struct check_run run;

static const check_test *test;

static void perform(void)
{
    const struct check_set *broken = NULL;

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

TEST(only_exp2_is_left_out)
{
    CHECK(test_state.passed + test_state.failed == check_test_count - 1, "of %d tests",
          check_test_count);
}

int main(void)
{
    const char *const seed = getenv("ATTEND_TEST_SEED");
    attend_error error = {.message = ""};

    if (check_open(&run, NULL, CHECK_BOTH, 0, &error) != ATTEND_OK) {
        fprintf(stderr, "test_laws: %s\n", error.message);
        return 1;
    }
    run.seed = seed != NULL ? strtoull(seed, NULL, 10) : 2;
    run.effort = test_is_quick() ? 0.3 : 2.0;
    for (test = check_tests; test < check_tests + check_test_count; test++)
        if (strcmp(test->name, "exp2") != 0)
            test_run(test->name, perform);
    RUN(only_exp2_is_left_out);
    check_close(&run);
    return test_finish();
}

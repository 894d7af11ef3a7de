/* SPDX-License-Identifier: MIT */
/*
 * The tests of `attend check` except exp2.  `attend check --seed` repeats a failure at
 * scale 1 or less.  ATTEND_TEST_HALF=1 takes every second of them, 2 the others, so that
 * two programs share the work.
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

static int half; /* 0: all */

TEST(only_exp2_is_left_out)
{
    const int laws = check_test_count - 1, odd = (laws + 1) / 2;

    CHECK(test_state.passed + test_state.failed == (half == 0   ? laws
                                                    : half == 1 ? odd
                                                                : laws - odd),
          "of %d tests, half %d", check_test_count, half);
}

int main(void)
{
    attend_error error = {.message = ""};
    const char *const text = getenv("ATTEND_TEST_HALF");
    int number = 0; /* of the law */

    half = text != NULL ? atoi(text) : 0;
    if (check_open(&run, getenv("ATTEND_TEST_SET"), CHECK_BOTH, 0, &error) != ATTEND_OK) {
        fprintf(stderr, "test_laws: %s\n", error.message);
        return 1;
    }
    run.seed = test_seed();
    run.effort = test_scale();
    for (test = check_tests; test < check_tests + check_test_count; test++)
        if (strcmp(test->name, "exp2") != 0 && (++number % 2 == half % 2 || half == 0))
            test_run(test->name, perform);
    test_run_all();
    check_close(&run);
    return test_finish();
}

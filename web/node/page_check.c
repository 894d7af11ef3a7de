/* SPDX-License-Identifier: MIT */
/*
 * page_check [EFFORT [SEED]]: `attend check` for node, without its flags: every kernel
 * set of the module.  EFFORT is a share of the cases, 1 if none is given.  The last line
 * is the count of the lines before, one for each set and check.
 */
#include <stdio.h>
#include <stdlib.h>

#include "check/call.h"
#include "check/check.h"

/* The check `exp2` takes one float in this many. */
enum { EXP2_STEP = 50 };

struct count {
    int passed, failed;
};

static void perform(struct check_run *run, const check_test *test, struct count *count)
{
    check_perform(run, test);
    for (int s = 0; s < check_set_count(run, test); s++) {
        const struct check_set *const set = &run->sets[s];

        printf("%-16s %-11s %9lld  %9.3g  %s\n", set->label, test->name,
               (long long)set->tally.cases, set->tally.worst,
               set->tally.ok ? "ok" : "FAILED");
        if (!set->tally.ok)
            printf("    %s: %s\n    %s\n", test->name, test->what, set->tally.detail);
        count->passed += set->tally.ok;
        count->failed += !set->tally.ok;
    }
}

int main(int argc, char **argv)
{
    struct check_run run;
    struct count count = {0, 0};
    attend_error error;

    if (check_open(&run, NULL, CHECK_BOTH, 1, &error) != ATTEND_OK) {
        fprintf(stderr, "page_check: %s\n", error.message);
        return 1;
    }
    run.seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
    run.exp2_step = EXP2_STEP;
    run.effort = argc > 1 ? atof(argv[1]) : 1;
    if (!check_has_guards())
        puts("SKIPPED: unreadable pages around tensors: this machine has none; what lies "
             "around them is examined");
    for (int t = 0; t < check_test_count; t++)
        perform(&run, &check_tests[t], &count);
    check_close(&run);
    printf("%d passed, %d failed, %d skipped\n", count.passed, count.failed,
           !check_has_guards());
    return count.failed != 0;
}

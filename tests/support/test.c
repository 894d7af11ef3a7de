/* SPDX-License-Identifier: MIT */
#include "test.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

struct test_state test_state;

void test_fail(const char *file, int line, const char *condition, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    printf("  %s:%d: not so: %s: ", file, line, condition);
    vprintf(format, args);
    printf("\n");
    va_end(args);
    test_state.failed_now = 1;
}

void test_skip(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    printf("  SKIPPED: ");
    vprintf(format, args);
    printf("\n");
    va_end(args);
    test_state.skipped_now = 1;
}

void test_run(const char *name, void (*test)(void))
{
    test_state.failed_now = test_state.skipped_now = 0;
    test();
    if (test_state.failed_now)
        test_state.failed++;
    else if (test_state.skipped_now)
        test_state.skipped++;
    else
        test_state.passed++;
    printf("%s %s\n",
           test_state.failed_now    ? "FAIL"
           : test_state.skipped_now ? "skip"
                                    : "ok  ",
           name);
    fflush(stdout);
}

int test_finish(void)
{
    printf("%d passed, %d failed, %d skipped\n", test_state.passed, test_state.failed,
           test_state.skipped);
    return test_state.failed != 0;
}

int test_is_quick(void)
{
    const char *const quick = getenv("ATTEND_TEST_QUICK");

    return quick != NULL && strcmp(quick, "1") == 0;
}

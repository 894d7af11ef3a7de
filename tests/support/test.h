/* SPDX-License-Identifier: MIT */
/*
 * The whole test framework.  A test program lists its tests in main():
 *
 *     TEST(adds_up) { CHECK(1 + 1 == 2, "got %d", 1 + 1); }
 *     int main(void) { RUN(adds_up); return test_finish(); }
 *
 * and ends with the line "N passed, N failed, N skipped" that tests/run_all.sh
 * adds up.  A failed CHECK is reported and ends its test.
 */
#ifndef TESTS_TEST_H
#define TESTS_TEST_H

#include <stdarg.h>
#include <stdio.h>

#define TEST(name) static void name(void)

#define RUN(name) test_run(#name, name)

#define CHECK(condition, ...)                                                            \
    do {                                                                                 \
        if (!(condition)) {                                                              \
            test_fail(__FILE__, __LINE__, #condition, __VA_ARGS__);                      \
            return;                                                                      \
        }                                                                                \
    } while (0)

/* Says loudly why this test cannot run here, and ends it. */
#define SKIP(...)                                                                        \
    do {                                                                                 \
        test_skip(__VA_ARGS__);                                                          \
        return;                                                                          \
    } while (0)

static struct {
    int passed, failed, skipped;
    int failed_now, skipped_now;
} test_state;

__attribute__((format(printf, 4, 5), unused)) static void
test_fail(const char *file, int line, const char *condition, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    printf("  %s:%d: not so: %s: ", file, line, condition);
    vprintf(format, args);
    printf("\n");
    va_end(args);
    test_state.failed_now = 1;
}

__attribute__((format(printf, 1, 2), unused)) static void test_skip(const char *format,
                                                                    ...)
{
    va_list args;

    va_start(args, format);
    printf("  SKIPPED: ");
    vprintf(format, args);
    printf("\n");
    va_end(args);
    test_state.skipped_now = 1;
}

__attribute__((unused)) static void test_run(const char *name, void (*test)(void))
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

__attribute__((unused)) static int test_finish(void)
{
    printf("%d passed, %d failed, %d skipped\n", test_state.passed, test_state.failed,
           test_state.skipped);
    return test_state.failed != 0;
}

#endif

/* SPDX-License-Identifier: MIT */
#include "test.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

struct test_state test_state;

void memory_free(const void *at) { free(*(void *const *)at); }

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

static struct test_case *tests;

void test_add(struct test_case *test)
{
    struct test_case **at = &tests;

    while (*at != NULL && (*at)->line < test->line)
        at = &(*at)->next;
    test->next = *at;
    *at = test;
}

void test_each(void (*run)(const char *name, void (*test)(void)), const char *part)
{
    for (const struct test_case *test = tests; test != NULL; test = test->next)
        if (strstr(test->name, part) != NULL)
            run(test->name, test->run);
}

void test_run_all(void) { test_each(test_run, ""); }

int test_finish(void)
{
    printf("%d passed, %d failed, %d skipped\n", test_state.passed, test_state.failed,
           test_state.skipped);
    return test_state.failed != 0;
}

/* The variable as a positive number, or `otherwise` where it is not set. */
static double setting(const char *name, double otherwise)
{
    const char *const text = getenv(name);
    char *end;

    if (text == NULL || *text == '\0')
        return otherwise;
    const double value = strtod(text, &end);
    if (*end != '\0' || !(value > 0)) {
        fprintf(stderr, "%s: not a positive number: %s\n", name, text);
        exit(2);
    }
    return value;
}

double test_scale(void) { return setting("ATTEND_TEST_SCALE", 1.0); }

uint64_t test_seed(void)
{
    const double seed = setting("ATTEND_TEST_SEED", 1.0);

    if (seed != floor(seed) || seed >= 0x1p53) {
        fprintf(stderr, "ATTEND_TEST_SEED: not a whole number below 2^53: %g\n", seed);
        exit(2);
    }
    return (uint64_t)seed;
}

int64_t test_count(int64_t count)
{
    const double scaled = (double)count * test_scale();

    return scaled > 1 ? (int64_t)scaled : 1;
}

/* SplitMix64 of the seed and the number of the draw. */
int test_draws(double share)
{
    static uint64_t drawn;
    uint64_t x = (test_seed() << 32) + ++drawn * 0x9e3779b97f4a7c15;

    if (test_scale() >= TEST_WHOLE)
        return 1;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
    x = (x ^ x >> 27) * 0x94d049bb133111eb;
    return (double)((x ^ x >> 31) >> 11) * 0x1p-53 < share * test_scale();
}

uint64_t test_case_seed(int64_t n, int64_t core)
{
    return n < core ? (uint64_t)n : test_seed() * 1000003 + (uint64_t)n;
}

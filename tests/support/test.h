/* SPDX-License-Identifier: MIT */
/*
 * The whole test framework.  A test program lists its tests in main():
 *
 *     TEST(adds_up) { CHECK(1 + 1 == 2, "got %d", 1 + 1); }
 *     int main(void) { RUN(adds_up); return test_finish(); }
 *
 * and ends with the line "N passed, N failed, N skipped" that tests/run.sh
 * adds up.  A failed CHECK is reported and ends its test.
 */
#ifndef TESTS_TEST_H
#define TESTS_TEST_H

#include <stdint.h>
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

struct test_state {
    int passed, failed, skipped;
    int failed_now, skipped_now;
};

extern struct test_state test_state;

__attribute__((format(printf, 4, 5))) void
test_fail(const char *file, int line, const char *condition, const char *format, ...);
__attribute__((format(printf, 1, 2))) void test_skip(const char *format, ...);
void test_run(const char *name, void (*test)(void));
int test_finish(void);

/*
 * How much a test does.  A test has a fixed core, which always runs, and cases that are
 * drawn: random problems, or points of a grid.  ATTEND_TEST_SCALE multiplies the number
 * of drawn cases: 1, the default, is `make test`; sanitizers and emulators take less;
 * from TEST_WHOLE on, every grid is walked whole.  ATTEND_TEST_SEED (1) chooses the
 * cases.  Both are read here only; a value that is not a positive number, or for a seed
 * not a whole one below 2^53, ends the program.
 */
#define TEST_WHOLE 10.0

double test_scale(void);
uint64_t test_seed(void);
/* count times the scale, at least 1. */
int64_t test_count(int64_t count);
/*
 * Whether the next point of a grid is taken, of which `share` are at scale 1.  Draws
 * depend on the seed and on the number of draws before, so a program repeats itself.
 */
int test_draws(double share);

/* The seed of random case n: the first `core` are the same for every ATTEND_TEST_SEED. */
uint64_t test_case_seed(int64_t n, int64_t core);

#endif

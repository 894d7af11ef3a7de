/* SPDX-License-Identifier: MIT */
/*
 * The whole test framework.  A program is its tests,
 *
 *     TEST(adds_up) { CHECK(1 + 1 == 2, "got %d", 1 + 1); }
 *
 * which run in the order of the file.  It ends with the line "N passed, N failed,
 * N skipped" that tests/run.sh adds up.  A failed CHECK is reported and ends its test.
 * With an argument, tests run whose names contain it.  A program with tests that are not
 * functions of its own has a main(), which calls test_run_all() and test_finish(), and
 * runs all.
 */
#ifndef TESTS_TEST_H
#define TESTS_TEST_H

#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* Before main() a constructor adds the test to those of the program. */
#define TEST(name)                                                                       \
    static void name(void);                                                              \
    __attribute__((constructor)) static void add_##name(void)                            \
    {                                                                                    \
        static struct test_case self = {#name, name, __LINE__, NULL};                    \
        test_add(&self);                                                                 \
    }                                                                                    \
    static void name(void)

/* What a program does before its first test, and after its last. */
#define BEFORE_ALL                                                                       \
    static void before_all(void);                                                        \
    __attribute__((constructor)) static void add_before(void)                            \
    {                                                                                    \
        test_state.before = before_all;                                                  \
    }                                                                                    \
    static void before_all(void)
#define AFTER_ALL                                                                        \
    static void after_all(void);                                                         \
    __attribute__((constructor)) static void add_after(void)                             \
    {                                                                                    \
        test_state.after = after_all;                                                    \
    }                                                                                    \
    static void after_all(void)

#define RUN(name) test_run(#name, name)

#define CHECK(condition, ...)                                                            \
    do {                                                                                 \
        if (!(condition)) {                                                              \
            test_fail(__FILE__, __LINE__, #condition, __VA_ARGS__);                      \
            return;                                                                      \
        }                                                                                \
    } while (0)

/* CHECK() that a function of the library succeeds, given without its last argument,
 * `err`. */
#define CHECK_OK(function, ...)                                                          \
    do {                                                                                 \
        attend_error error_ = {.message = ""};                                           \
        CHECK(function(__VA_ARGS__, &error_) == ATTEND_OK, "%s", error_.message);        \
    } while (0)

/* CHECK() that it returns this status, with these words in the message. */
#define CHECK_FAILS(status, words, function, ...)                                        \
    do {                                                                                 \
        attend_error error_ = {.message = ""};                                           \
        CHECK(function(__VA_ARGS__, &error_) == (status) &&                              \
                  strstr(error_.message, words) != NULL,                                 \
              "%s", error_.message);                                                     \
    } while (0)

/* Skips the test and prints the reason. */
#define SKIP(...)                                                                        \
    do {                                                                                 \
        test_skip(__VA_ARGS__);                                                          \
        return;                                                                          \
    } while (0)

/*
 * Variables that are freed at the end of their block, also after a failed CHECK, which
 * returns.
 */
#define FREED(free) __attribute__((cleanup(free)))
#define auto_free FREED(memory_free)
#define auto_problem FREED(problem_free) problem
#define auto_context FREED(context_free) attend_context *
#define auto_result FREED(result_free) result
#define auto_sharding FREED(sharding_free) sharding
#define auto_ask FREED(ask_free) ask
#define auto_merge FREED(merge_free) merge_case
#define auto_wanted FREED(wanted_free) wanted
#define auto_answers FREED(answers_free) answers
#define auto_map FREED(map_free) dense_map
#define auto_guarded FREED(guarded_free) guarded
#define auto_request FREED(request_free) request
#define auto_device_problem FREED(free_problem) struct device_problem
#define auto_layer FREED(layer_free) struct layer
#define auto_check_problem FREED(check_problem_free) struct check_problem
#define auto_check_expect FREED(check_expect_free) struct check_expect
#define auto_check_row FREED(check_row_free) struct check_row
#define auto_figures FREED(lab_figures_free) struct lab_figures

/* The destructor of auto_free: frees the pointer stored at `at`. */
void memory_free(const void *at);

struct test_state {
    int passed, failed, skipped;
    int failed_now, skipped_now;
    void (*before)(void), (*after)(void); /* NULL: nothing */
};

extern struct test_state test_state;

struct test_case {
    const char *name;
    void (*run)(void);
    int line;
    struct test_case *next;
};

void test_add(struct test_case *test);
/* Calls `run`, such as test_run(), for every test whose name contains `part`. */
void test_each(void (*run)(const char *name, void (*test)(void)), const char *part);
void test_run_all(void);

__attribute__((format(printf, 4, 5))) void
test_fail(const char *file, int line, const char *condition, const char *format, ...);
__attribute__((format(printf, 1, 2))) void test_skip(const char *format, ...);
void test_run(const char *name, void (*test)(void));
int test_finish(void);

/*
 * The amount of work of a test.  A test has a fixed core, which always runs, and cases
 * that are drawn: random problems, or points of a grid.  ATTEND_TEST_SCALE multiplies the
 * number of drawn cases: 1, the default, is `make test`; sanitizers and emulators take
 * less; from TEST_WHOLE on, every grid is walked whole.  ATTEND_TEST_SEED (1) chooses the
 * cases.  Both are read here only; a value that is not a positive number, or for a seed
 * not a whole one below 2^53, ends the program.
 */
#define TEST_WHOLE 10.0

double test_scale(void);
uint64_t test_seed(void);
/* count times the scale, at least 1. */
int64_t test_count(int64_t count);
/*
 * Whether to run the next point of a grid; at scale 1 the fraction `share` of the points
 * run.  Depends on the seed and the number of earlier draws, so a program repeats itself.
 */
int test_draws(double share);

/* The seed of random case n: the first `core` are the same for every ATTEND_TEST_SEED. */
uint64_t test_case_seed(int64_t n, int64_t core);

#endif

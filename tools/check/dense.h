/* SPDX-License-Identifier: MIT */
/*
 * Expected results: a dense evaluation in double with all scores of a row, written from
 * the contract only, and the bound of every element for kernel sets and for `ref`.
 */
#ifndef CHECK_DENSE_H
#define CHECK_DENSE_H

#include "check/call.h"
#include "check/check_problem.h"

/* Which bound: a kernel set's, or that of `ref`. */
enum { CHECK_KERNELS, CHECK_REF, CHECK_MODELS };

/*
 * Contiguous, shaped as the outputs.  For an expected NaN the result must be NaN or
 * infinite; for -inf or a bound of 0 it must be equal; with a negative bound it is not
 * checked.
 */
struct check_values {
    double *value, *bound[CHECK_MODELS];
};

/* Value and bound of elements first .. first + n - 1, alike. */
void check_values_fill(struct check_values *values, int64_t first, int64_t n,
                       double value, double bound);

struct check_expect {
    /* In the order of the outputs; all but out and lse only if requested. */
    union {
        struct {
            struct check_values out, lse, weights, rows, top_weights, distances;
            struct check_values class_mass, top_keys;
        };
        struct check_values of[CHECK_OUTPUTS];
    };
    unsigned char *empty; /* [nb hq nq]: the row sees nothing */
};

struct check_expect check_dense(const struct check_problem *p);
/*
 * The same for rows with wanted[row] set, or for all if it is NULL; other rows are not
 * checked.
 */
struct check_expect check_dense_rows(const struct check_problem *p,
                                     const unsigned char *wanted);
void check_expect_free(struct check_expect *expect);

/*
 * |got - want| / bound by the rules above, 0 where nothing is claimed, infinite
 * where the rule is broken outright.
 */
double check_ratio(double got, double want, double bound);

/* The largest ratio of a comparison, with its element.  Start from zero. */
struct check_worst {
    double ratio;
    char where[320];
};
/*
 * Whether a ratio is larger, or NaN: then stores it, and the caller describes the
 * element.
 */
int check_is_worse(struct check_worst *worst, double ratio);
__attribute__((format(printf, 2, 3))) void check_say(struct check_worst *worst,
                                                     const char *format, ...);
/* An element of an output: "NAME row R column C: ", a statistic by its name. */
void check_say_element(struct check_worst *worst, const struct check_problem *p,
                       int output, int64_t row, int64_t column);

/* Over all outputs. */
void check_compare(const struct check_problem *p, const struct check_expect *expect,
                   int model, const struct check_outputs *got, struct check_worst *worst);

#endif

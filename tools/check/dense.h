/* SPDX-License-Identifier: MIT */
/*
 * What a problem must give: a dense evaluation in double that materialises the
 * scores of a row, written from the contract alone, and the bound of every element
 * of the results for kernel sets and for `ref`.
 */
#ifndef CHECK_DENSE_H
#define CHECK_DENSE_H

#include "check/call.h"
#include "check/check_problem.h"

/* Which bound: a kernel set's, or that of `ref`. */
enum { CHECK_KERNELS, CHECK_REF, CHECK_MODELS };

/*
 * Contiguous, shaped as the outputs.  A value that is NaN must come out NaN or
 * infinite; one that is -inf, or whose bound is 0, must come out as it is; one
 * whose bound is negative may be anything.
 */
struct check_values {
    double *value, *bound[CHECK_MODELS];
};

/* Value and bound of elements first .. first + n - 1, alike. */
void check_values_fill(struct check_values *values, int64_t first, int64_t n,
                       double value, double bound);

struct check_expect {
    /* In the order of the outputs; all but out and lse only where the problem asks. */
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
 * The same of the rows where wanted[row] is set, of all if it is NULL; of the others
 * nothing is claimed.
 */
struct check_expect check_dense_rows(const struct check_problem *p,
                                     const unsigned char *wanted);
void check_expect_free(struct check_expect *expect);

/*
 * |got - want| / bound by the rules above, 0 where nothing is claimed, infinite
 * where the rule is broken outright.
 */
double check_ratio(double got, double want, double bound);

/* What a message calls column `column` of a tensor: a statistic by its name. */
void check_name_column(const struct check_problem *p, int which, int64_t column,
                       char *text, size_t size);

/*
 * The largest ratio over all outputs.  `where` receives the element it is found at
 * with what was got and wanted.
 */
double check_compare(const struct check_problem *p, const struct check_expect *expect,
                     int model, const struct check_outputs *got, char *where,
                     size_t where_size);

#endif

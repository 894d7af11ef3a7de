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

struct check_expect {
    struct check_values out, lse; /* the others only where the problem asks */
    struct check_values weights, rows, top_weights, distances, class_mass, top_keys;
    unsigned char *empty; /* [nb hq nq]: the row sees nothing */
};

struct check_expect check_dense(const struct check_problem *p);
/*
 * The same of the rows where wanted[row] is set, of all if it is NULL; of the others
 * nothing is claimed.
 */
struct check_expect check_dense_rows(const struct check_problem *p,
                                     const unsigned char *wanted);
/* The values of an output, in the order of check_output(). */
struct check_values *check_expected(struct check_expect *expect, int which);
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

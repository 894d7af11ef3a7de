/* SPDX-License-Identifier: MIT */
/* What the tests of the theory share: printed digits, relative errors, NaN. */
#ifndef TESTS_THEORY_CHECKS_H
#define TESTS_THEORY_CHECKS_H

#include <math.h>

#include "attend/theory.h"
#include "support/test.h"

/* Whether x, rounded to so many digits after the point, is what was printed. */
static inline int prints_as(double x, double printed, int digits)
{
    return fabs(x - printed) <= 0.5000001 * pow(10.0, -digits);
}

#define PRINTS(x, printed, digits)                                                       \
    CHECK(prints_as(x, printed, digits), "%.12g instead of %.*f", (double)(x), digits,   \
          (double)(printed))
#define NEAR(x, y, relative)                                                             \
    CHECK(fabs((x) - (y)) <= (relative)*fmax(fabs(x), fabs(y)),                          \
          "%.17g and %.17g differ by %.3g", (double)(x), (double)(y),                    \
          fabs((double)(x) - (double)(y)))
#define IS_NAN(x) CHECK(isnan(x), "got %g", (double)(x))

/* The law of logistic(Y), Y ~ N(0, T^2). */
static inline attend_theory_law centred(double T)
{
    return (attend_theory_law){0.0, T, -INFINITY};
}

#endif

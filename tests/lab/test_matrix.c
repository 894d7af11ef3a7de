/* SPDX-License-Identifier: MIT */
/* Loops and CBLAS, where the build has it: the same numbers, to rounding. */
#include "support/test.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "layer/matrix.h"

/* matrix_loops.c under other names. */
void loops_product(attend_dtype dtype, int64_t rows, int64_t inner, int64_t outer,
                   const void *x, const void *w, int adds, void *y, int64_t stride);
double loops_dot(const double *x, const double *y, int64_t count);
void loops_gram(const double *x, int64_t n, int64_t d, double *a);
void loops_apply(const double *x, int64_t n, int64_t d, double factor, const double *v,
                 double *y);
void loops_apply_transposed(const double *x, int64_t n, int64_t d, double factor,
                            const double *y, double *v);
void loops_solve(const double *l, int64_t n, double *v);
void loops_solve_transposed(const double *l, int64_t n, double *v);

enum { N = 37, D = 53, STRIDE = 41 };

/* Numbers in (-1, 1), different for each seed. */
static void fill(double *x, int count, unsigned seed)
{
    for (int i = 0; i < count; i++)
        x[i] = sin(1.0 + i * 1.7 + seed * 0.37 + i * (double)i * 0.013);
}

/* Whether y equals x within this many roundings of sums of `terms` numbers of size 1. */
static void same(const char *what, const double *x, const double *y, int count, int terms,
                 double epsilon)
{
    double worst = 0;

    for (int i = 0; i < count; i++)
        worst = fmax(worst, isfinite(x[i]) ? fabs(x[i] - y[i]) : INFINITY);
    CHECK(worst <= 2 * terms * epsilon, "%s: off by %g", what, worst);
}

TEST(products_of_f64)
{
    static double x[N * D], w[D * N], want[N * STRIDE], got[N * STRIDE];

    fill(x, N * D, 1);
    fill(w, D * N, 2);
    for (int adds = 0; adds < 2; adds++) {
        fill(want, N * STRIDE, 3);
        memcpy(got, want, sizeof got);
        attendi_matrix_product(ATTEND_F64, N, D, N, x, w, adds, want, STRIDE);
        loops_product(ATTEND_F64, N, D, N, x, w, adds, got, STRIDE);
        same(adds ? "added" : "set", want, got, N * STRIDE, D, DBL_EPSILON);
    }
    loops_product(ATTEND_F64, 0, D, N, x, w, 0, got, STRIDE);
    attendi_matrix_product(ATTEND_F64, 0, D, N, x, w, 0, want, STRIDE);
    same("no rows", want, got, N * STRIDE, D, DBL_EPSILON);
}

TEST(products_of_f32)
{
    static double x[N * D], w[D * N], want[N * N], got[N * N];
    static float x32[N * D], w32[D * N], want32[N * N], got32[N * N];

    fill(x, N * D, 4);
    fill(w, D * N, 5);
    for (int i = 0; i < N * D; i++) {
        x32[i] = (float)x[i];
        w32[i] = (float)w[i];
    }
    attendi_matrix_product(ATTEND_F32, N, D, N, x32, w32, 0, want32, N);
    loops_product(ATTEND_F32, N, D, N, x32, w32, 0, got32, N);
    for (int i = 0; i < N * N; i++) {
        want[i] = want32[i];
        got[i] = got32[i];
    }
    same("f32", want, got, N * N, D, FLT_EPSILON);
}

TEST(vectors)
{
    static double x[N * D], v[D], y[N], want[D], got[D];

    fill(x, N * D, 6);
    for (int count = 0; count <= D; count++) {
        const double a = attendi_matrix_dot(x, x + D, count),
                     b = loops_dot(x, x + D, count);
        same("dot", &a, &b, 1, D, DBL_EPSILON);
    }
    fill(v, D, 7);
    fill(want, N, 8);
    memcpy(got, want, sizeof got);
    attendi_matrix_apply(x, N, D, -0.7, v, want);
    loops_apply(x, N, D, -0.7, v, got);
    same("x v", want, got, N, D, DBL_EPSILON);
    fill(y, N, 9);
    fill(want, D, 10);
    memcpy(got, want, sizeof got);
    attendi_matrix_apply_transposed(x, N, D, 0.3, y, want);
    loops_apply_transposed(x, N, D, 0.3, y, got);
    same("x^T y", want, got, D, N, DBL_EPSILON);
}

TEST(triangles)
{
    static double x[N * D], a[N * N], b[N * N], want[N], got[N];

    fill(x, N * D, 11);
    attendi_matrix_gram(x, N, D, a);
    loops_gram(x, N, D, b);
    same("x x^T", a, b, N * N, D, DBL_EPSILON);
    for (int i = 0; i < N; i++) /* a well conditioned triangle; above it, NaN */
        for (int j = 0; j < N; j++)
            a[i * N + j] = i == j ? 2 : i > j ? b[i * N + j] / (40.0 * D) : (double)NAN;
    for (int transposed = 0; transposed < 2; transposed++) {
        fill(want, N, 12);
        memcpy(got, want, sizeof got);
        (transposed ? attendi_matrix_solve_transposed : attendi_matrix_solve)(a, N, want);
        (transposed ? loops_solve_transposed : loops_solve)(a, N, got);
        same(transposed ? "L^-T v" : "L^-1 v", want, got, N, N, DBL_EPSILON);
    }
}

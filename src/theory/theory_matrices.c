/* SPDX-License-Identifier: MIT */
/* Extraction by matrices, and the query for given scores: T3, T5. */
#include <math.h>
#include <stdlib.h>

#include "attend/theory.h"

static double *matrix(int64_t rows, int64_t columns)
{
    return malloc((size_t)rows * (size_t)columns * sizeof(double));
}

/*
 * An orthonormal basis Q (d x m) of the columns of A by Gram-Schmidt with two passes per
 * column.  Returns 0, or -1 if a column is, within rounding, a combination of earlier
 * ones.
 */
static int orthonormal(const double *A, int64_t d, int64_t m, double *Q)
{
    for (int64_t j = 0; j < m; j++) {
        double before = 0.0, after = 0.0;

        for (int64_t r = 0; r < d; r++) {
            Q[r * m + j] = A[r * m + j];
            before += A[r * m + j] * A[r * m + j];
        }
        for (int pass = 0; pass < 2; pass++)
            for (int64_t i = 0; i < j; i++) {
                double dot = 0.0;

                for (int64_t r = 0; r < d; r++)
                    dot += Q[r * m + i] * Q[r * m + j];
                for (int64_t r = 0; r < d; r++)
                    Q[r * m + j] -= dot * Q[r * m + i];
            }
        for (int64_t r = 0; r < d; r++)
            after += Q[r * m + j] * Q[r * m + j];
        if (!(after > 1e-24 * before && isfinite(after)))
            return -1;
        for (int64_t r = 0; r < d; r++)
            Q[r * m + j] /= sqrt(after);
    }
    return 0;
}

/* Elements from one row, and from one column, of a matrix to the next. */
struct steps {
    int64_t row, column;
};

/* C = A B, rows x inner times inner x columns, C contiguous. */
static void multiply(int64_t rows, int64_t inner, int64_t columns, const double *A,
                     struct steps a, const double *B, struct steps b, double *C)
{
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < columns; j++) {
            double sum = 0.0;

            for (int64_t k = 0; k < inner; k++)
                sum += A[i * a.row + k * a.column] * B[k * b.row + j * b.column];
            C[i * columns + j] = sum;
        }
}

/* A A^T */
static void times_transpose(const double *A, int64_t d, int64_t m, double *M)
{
    multiply(d, m, d, A, (struct steps){m, 1}, A, (struct steps){1, m}, M);
}

int attend_theory_extract_orthonormal(const double *A, int64_t d, int64_t m, double *M)
{
    if (d < 1 || m < 1)
        return -1;
    times_transpose(A, d, m, M);
    return 0;
}

int attend_theory_extract_projector(const double *A, int64_t d, int64_t m, double *M)
{
    double *Q;
    int status = -1;

    if (d < 1 || m < 1 || m > d)
        return -1;
    Q = matrix(d, m);
    if (Q != NULL && orthonormal(A, d, m, Q) == 0) {
        times_transpose(Q, d, m, M);
        status = 0;
    }
    free(Q);
    return status;
}

static void swap_rows(double *a, double *b, int64_t count)
{
    for (int64_t j = 0; j < count; j++) {
        const double swap = a[j];

        a[j] = b[j];
        b[j] = swap;
    }
}

/*
 * Solves G X = Y in place of Y, G m x m and Y m x c, by elimination with row pivots; G is
 * destroyed.  Returns 0, or -1 if G is singular within rounding.
 */
static int solve(double *G, int64_t m, double *Y, int64_t c)
{
    double largest = 0.0;

    for (int64_t i = 0; i < m * m; i++)
        largest = fmax(largest, fabs(G[i]));
    for (int64_t k = 0; k < m; k++) {
        int64_t pivot = k;

        for (int64_t i = k + 1; i < m; i++)
            if (fabs(G[i * m + k]) > fabs(G[pivot * m + k]))
                pivot = i;
        if (!(fabs(G[pivot * m + k]) > 1e-14 * largest))
            return -1;
        swap_rows(G + k * m, G + pivot * m, m);
        swap_rows(Y + k * c, Y + pivot * c, c);
        for (int64_t i = 0; i < m; i++) {
            const double factor = G[i * m + k] / G[k * m + k];

            if (i == k || factor == 0.0)
                continue;
            for (int64_t j = k; j < m; j++)
                G[i * m + j] -= factor * G[k * m + j];
            for (int64_t j = 0; j < c; j++)
                Y[i * c + j] -= factor * Y[k * c + j];
        }
    }
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < c; j++)
            Y[i * c + j] /= G[i * m + i];
    return 0;
}

/*
 * With an orthonormal basis W of span [A B] orthogonal to B, M = A (W^T A)^-1 W^T: M A =
 * A, and W^T B = 0.  It is the last m columns of a basis of [B A].  `joined` and `basis`
 * d x (p + m), G m x m, R m x d are work space.
 */
static int oblique(const double *A, int64_t m, const double *B, int64_t p, int64_t d,
                   double *joined, double *basis, double *G, double *R, double *M)
{
    const int64_t all = p + m;

    for (int64_t r = 0; r < d; r++)
        for (int64_t j = 0; j < all; j++)
            joined[r * all + j] = j < p ? B[r * p + j] : A[r * m + j - p];
    if (orthonormal(joined, d, all, basis) != 0)
        return -1;
    for (int64_t i = 0; i < m; i++)
        for (int64_t r = 0; r < d; r++)
            R[i * d + r] = basis[r * all + p + i];
    multiply(m, d, m, R, (struct steps){d, 1}, A, (struct steps){m, 1}, G);
    if (solve(G, m, R, d) != 0)
        return -1;
    multiply(d, m, d, A, (struct steps){m, 1}, R, (struct steps){d, 1}, M);
    return 0;
}

int attend_theory_extract_oblique(const double *A, int64_t m, const double *B, int64_t p,
                                  int64_t d, double *M)
{
    const int64_t all = p + m;
    double *work;
    int status = -1;

    if (d < 1 || m < 1 || p < 1 || all > d)
        return -1;
    work = matrix(1, 2 * d * all + m * m + m * d);
    if (work != NULL) {
        double *basis = work + d * all, *G = basis + d * all, *R = G + m * m;

        status = oblique(A, m, B, p, d, work, basis, G, R, M);
    }
    free(work);
    return status;
}

/*
 * With an orthonormal basis W of the keys, q = W x and K W x = score: no Gram matrix,
 * whose condition would be the square of the keys'.
 */
static int keys_query(const double *K, int64_t n, int64_t d, const double *score,
                      double *columns, double *basis, double *G, double *x, double *q)
{
    for (int64_t i = 0; i < n; i++) {
        x[i] = score[i];
        for (int64_t c = 0; c < d; c++)
            columns[c * n + i] = K[i * d + c];
    }
    if (orthonormal(columns, d, n, basis) != 0)
        return -1;
    multiply(n, d, n, K, (struct steps){d, 1}, basis, (struct steps){n, 1}, G);
    if (solve(G, n, x, 1) != 0)
        return -1;
    multiply(d, n, 1, basis, (struct steps){n, 1}, x, (struct steps){1, 1}, q);
    return 0;
}

int attend_theory_query_for_scores(const double *K, int64_t n, int64_t d,
                                   const double *score, double *q)
{
    double *work;
    int status = -1;

    if (n < 1 || d < n)
        return -1;
    work = matrix(1, 2 * d * n + n * n + n);
    if (work != NULL) {
        double *basis = work + d * n, *G = basis + d * n, *x = G + n * n;

        status = keys_query(K, n, d, score, work, basis, G, x, q);
    }
    free(work);
    return status;
}

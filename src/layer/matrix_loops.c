/* SPDX-License-Identifier: MIT */
/* Loops that compilers vectorise: along rows, or with independent accumulators. */
#include "layer/matrix.h"

#include <string.h>

static void add_row(int64_t count, double factor, const double *x, double *y)
{
    for (int64_t i = 0; i < count; i++)
        y[i] += factor * x[i];
}

static void add_row_f32(int64_t count, float factor, const float *x, float *y)
{
    for (int64_t i = 0; i < count; i++)
        y[i] += factor * x[i];
}

void attendi_matrix_product(attend_dtype dtype, int64_t rows, int64_t inner,
                            int64_t outer, const void *x, const void *w, int adds,
                            void *y, int64_t stride)
{
    const size_t size = attend_dtype_size(dtype);

    for (int64_t r = 0; r < rows; r++) {
        void *const row = (char *)y + (size_t)(r * stride) * size;
        if (!adds)
            memset(row, 0, (size_t)outer * size);
        for (int64_t k = 0; k < inner; k++)
            if (dtype == ATTEND_F64)
                add_row(outer, ((const double *)x)[r * inner + k],
                        (const double *)w + k * outer, row);
            else
                add_row_f32(outer, ((const float *)x)[r * inner + k],
                            (const float *)w + k * outer, row);
    }
}

double attendi_matrix_dot(const double *x, const double *y, int64_t count)
{
    enum { LANES = 8 };
    double sum[LANES] = {0}, total = 0;
    int64_t i = 0;

    for (; i + LANES <= count; i += LANES)
        for (int lane = 0; lane < LANES; lane++)
            sum[lane] += x[i + lane] * y[i + lane];
    for (; i < count; i++)
        total += x[i] * y[i];
    for (int lane = 0; lane < LANES; lane++)
        total += sum[lane];
    return total;
}

void attendi_matrix_gram(const double *x, int64_t n, int64_t d, double *a)
{
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j <= i; j++)
            a[i * n + j] = attendi_matrix_dot(x + i * d, x + j * d, d);
}

void attendi_matrix_apply(const double *x, int64_t n, int64_t d, double factor,
                          const double *v, double *y)
{
    for (int64_t i = 0; i < n; i++)
        y[i] += factor * attendi_matrix_dot(x + i * d, v, d);
}

void attendi_matrix_apply_transposed(const double *x, int64_t n, int64_t d, double factor,
                                     const double *y, double *v)
{
    for (int64_t i = 0; i < n; i++)
        add_row(d, factor * y[i], x + i * d, v);
}

void attendi_matrix_solve(const double *l, int64_t n, double *v)
{
    for (int64_t i = 0; i < n; i++)
        v[i] = (v[i] - attendi_matrix_dot(l + i * n, v, i)) / l[i * n + i];
}

void attendi_matrix_solve_transposed(const double *l, int64_t n, double *v)
{
    for (int64_t i = n - 1; i >= 0; i--) {
        v[i] /= l[i * n + i];
        add_row(i, -v[i], l + i * n, v);
    }
}

/* SPDX-License-Identifier: MIT */
#include "layer/matrix.h"

#include <cblas.h>

void attendi_matrix_product(attend_dtype dtype, int64_t rows, int64_t inner,
                            int64_t outer, const void *x, const void *w, int adds,
                            void *y, int64_t stride)
{
    const int m = (int)rows, n = (int)outer, k = (int)inner, ldy = (int)stride;

    if (m == 0)
        return;
    if (dtype == ATTEND_F64)
        cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, m, n, k, 1.0, x, k, w, n,
                    adds ? 1.0 : 0.0, y, ldy);
    else
        cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, m, n, k, 1.0F, x, k, w, n,
                    adds ? 1.0F : 0.0F, y, ldy);
}

double attendi_matrix_dot(const double *x, const double *y, int64_t count)
{
    return cblas_ddot((int)count, x, 1, y, 1);
}

void attendi_matrix_gram(const double *x, int64_t n, int64_t d, double *a)
{
    cblas_dsyrk(CblasRowMajor, CblasLower, CblasNoTrans, (int)n, (int)d, 1, x, (int)d, 0,
                a, (int)n);
}

void attendi_matrix_apply(const double *x, int64_t n, int64_t d, double factor,
                          const double *v, double *y)
{
    cblas_dgemv(CblasRowMajor, CblasNoTrans, (int)n, (int)d, factor, x, (int)d, v, 1, 1,
                y, 1);
}

void attendi_matrix_apply_transposed(const double *x, int64_t n, int64_t d, double factor,
                                     const double *y, double *v)
{
    cblas_dgemv(CblasRowMajor, CblasTrans, (int)n, (int)d, factor, x, (int)d, y, 1, 1, v,
                1);
}

void attendi_matrix_solve(const double *l, int64_t n, double *v)
{
    cblas_dtrsv(CblasRowMajor, CblasLower, CblasNoTrans, CblasNonUnit, (int)n, l, (int)n,
                v, 1);
}

void attendi_matrix_solve_transposed(const double *l, int64_t n, double *v)
{
    cblas_dtrsv(CblasRowMajor, CblasLower, CblasTrans, CblasNonUnit, (int)n, l, (int)n, v,
                1);
}

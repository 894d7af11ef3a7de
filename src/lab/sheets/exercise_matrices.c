/* SPDX-License-Identifier: MIT */
/* Bases to extract from, and tokens to permute. */
#include "lab/sheets/exercise.h"

#include <math.h>
#include <string.h>

#include "lab/measure/forward.h"
#include "lab/measure/random.h"

enum { D = LAB_EXERCISE_D, T = LAB_EXERCISE_TOKENS };
enum { BASIS_STREAM = 911, TOKEN_STREAM = 912 };

static double dot(const double *x, const double *y, int count)
{
    double sum = 0;
    for (int i = 0; i < count; i++)
        sum += x[i] * y[i];
    return sum;
}

double lab_distance(const double *x, const double *y, int count)
{
    double sum = 0;
    for (int i = 0; i < count; i++)
        sum += (x[i] - y[i]) * (x[i] - y[i]);
    return sqrt(sum);
}

/* D orthonormal rows from random ones (Gram-Schmidt, twice for accuracy). */
static void orthonormal(const struct lab_exercise *exercise, double row[D][D])
{
    float normal[D * D];
    lab_random_normals(exercise->seed, BASIS_STREAM, 0, normal, D * D);
    for (int r = 0; r < D; r++) {
        for (int c = 0; c < D; c++)
            row[r][c] = (double)normal[D * r + c];
        for (int pass = 0; pass < 2; pass++)
            for (int s = 0; s < r; s++) {
                const double along = dot(row[r], row[s], D);
                for (int c = 0; c < D; c++)
                    row[r][c] -= along * row[s][c];
            }
        const double length = sqrt(dot(row[r], row[r], D));
        for (int c = 0; c < D; c++)
            row[r][c] /= length;
    }
}

void lab_basis_coordinates(const struct lab_basis *basis, const double *x, double *y)
{
    for (int i = 0; i < basis->m; i++)
        y[i] = dot(basis->a[i], x, D);
}

static void combine(const struct lab_basis *basis, const double *y, double *x)
{
    for (int c = 0; c < D; c++) {
        x[c] = 0;
        for (int i = 0; i < basis->m; i++)
            x[c] += y[i] * basis->a[i][c];
    }
}

void lab_exercise_basis(const struct lab_exercise *exercise, int m,
                        struct lab_basis *basis)
{
    double row[D][D];
    orthonormal(exercise, row);
    memset(basis, 0, sizeof *basis);
    basis->m = m;
    basis->p = m < D ? LAB_EXERCISE_P : 0;
    memcpy(basis->a, row, (size_t)m * sizeof row[0]);
    memcpy(basis->b, row + m, (size_t)basis->p * sizeof row[0]);
    for (int c = 0; c < D; c++) /* a_2 leans on a_1 and keeps its length */
        basis->a[1][c] = exercise->shear * row[0][c] +
                         sqrt(1 - exercise->shear * exercise->shear) * row[1][c];
    for (int i = 0; i < m; i++)
        basis->c[i] = 1.5 - 0.75 * i;
    combine(basis, basis->c, basis->va);
    for (int j = 0; j < basis->p; j++) {
        basis->e[j] = 2.0 + j;
        for (int c = 0; c < D; c++)
            basis->vb[c] += basis->e[j] * basis->b[j][c];
    }
    for (int c = 0; c < D; c++)
        basis->s[c] = basis->va[c] + basis->vb[c];
}

void lab_exercise_sequence(const struct lab_exercise *exercise,
                           struct lab_sequence *sequence)
{
    static const int order[T] = {2, 0, 5, 1, 3, 4};
    float normal[4 * T * T];
    lab_square *const square[4] = {&sequence->x, &sequence->wq, &sequence->wk,
                                   &sequence->wv};
    lab_random_normals(exercise->seed, TOKEN_STREAM, 0, normal, 4 * T * T);
    for (int s = 0; s < 4; s++)
        for (int r = 0; r < T; r++)
            for (int c = 0; c < T; c++)
                (*square[s])[r][c] = (double)normal[(s * T + r) * T + c];
    memcpy(sequence->order, order, sizeof order);
}

void lab_permute(const int *order, int side, lab_square in, lab_square out)
{
    for (int r = 0; r < T; r++)
        for (int c = 0; c < T; c++)
            out[r][c] = side == 0 ? in[order[r]][c] : in[r][order[c]];
}

static void multiply(lab_square x, lab_square y, lab_square out)
{
    for (int r = 0; r < T; r++)
        for (int c = 0; c < T; c++) {
            out[r][c] = 0;
            for (int k = 0; k < T; k++)
                out[r][c] += x[r][k] * y[k][c];
        }
}

int lab_exercise_self(const struct lab_exercise *exercise,
                      const struct lab_sequence *sequence, lab_square x,
                      lab_square scores, lab_square weights, lab_square out)
{
    struct lab_sequence own = *sequence;
    lab_square q, k, v, p, o;
    const double scale = exercise->tau / sqrt(T);
    multiply(x, own.wq, q);
    multiply(x, own.wk, k);
    multiply(x, own.wv, v);
    for (int r = 0; scores && r < T; r++)
        for (int c = 0; c < T; c++)
            scores[r][c] = scale * dot(q[r], k[c], T);
    const struct lab_problem problem = {
        .nq = T,
        .nk = T,
        .d = T,
        .dv = T,
        .q = &q[0][0],
        .k = &k[0][0],
        .v = &v[0][0],
        .sink = isfinite(exercise->sink) ? &exercise->sink : NULL,
        .scale = scale,
        .out = &o[0][0],
        .weights = &p[0][0],
    };
    if (lab_forward(exercise->ctx, &problem, NULL) != ATTEND_OK)
        return -1;
    if (weights)
        memcpy(weights, p, sizeof p);
    if (out)
        memcpy(out, o, sizeof o);
    return 0;
}

double lab_square_distance(lab_square x, lab_square y)
{
    return lab_distance(&x[0][0], &y[0][0], T * T);
}

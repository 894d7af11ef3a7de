/* SPDX-License-Identifier: MIT */
/* Bases to extract from, and tokens to permute. */
#include <math.h>
#include <string.h>

#include "lab/exercise/world.h"
#include "lab/measure/frames.h"

enum { D = LAB_WORLD_D, M = LAB_WORLD_M, P = LAB_WORLD_P };
enum { T = LAB_WORLD_TOKENS, F = LAB_WORLD_FEATURES };
enum { BASIS_STREAM = 911, TOKEN_STREAM = 912 };

void lab_world_basis(const struct lab_exercise *exercise, struct lab_world_basis *basis)
{
    const double shear = exercise->shear;
    double row[D][D];

    lab_random_frame(exercise->seed, BASIS_STREAM, &row[0][0], D, D);
    for (int i = 0; i < M; i++)
        basis->c[i] = 1.5 - 0.75 * i;
    for (int j = 0; j < P; j++)
        basis->e[j] = 2.0 + j;
    for (int r = 0; r < D; r++) {
        for (int i = 0; i < M; i++)
            basis->a[r][i] = row[i][r];
        /* <a_1, a_2> is set, and a_2 keeps its length */
        basis->a[r][1] = shear * row[0][r] + sqrt(1 - shear * shear) * row[1][r];
        for (int j = 0; j < P; j++)
            basis->b[r][j] = row[M + j][r];
        basis->va[r] =
            lab_dot(basis->a[r], basis->c, M) + exercise->stray * row[M + P][r];
        basis->vb[r] = lab_dot(basis->b[r], basis->e, P);
    }
}

/* Transposes a rows x columns matrix. */
static void transpose(const double *x, int rows, int columns, double *y)
{
    for (int r = 0; r < rows; r++)
        for (int c = 0; c < columns; c++)
            y[c * rows + r] = x[r * columns + c];
}

void lab_world_tokens(const struct lab_exercise *exercise,
                      struct lab_world_tokens *sequence)
{
    static const int order[T] = {2, 0, 5, 1, 3, 4};
    double x[T * F + 3 * F * F];

    lab_normals(exercise->seed, TOKEN_STREAM, 0, x, T * F + 3 * F * F);
    memcpy(sequence->w, x + T * F, sizeof sequence->w);
    memcpy(sequence->x, x, sizeof sequence->x);
    if (exercise->columns)
        transpose(x, T, F, sequence->x);
    memset(sequence->permutation, 0, sizeof sequence->permutation);
    for (int t = 0; t < T; t++)
        sequence->permutation[t * T + order[t]] = 1;
}

/* x (T x F) times w (F x F). */
static void project(const double *x, const double *w, double *y)
{
    for (int t = 0; t < T; t++)
        for (int c = 0; c < F; c++) {
            y[t * F + c] = 0;
            for (int k = 0; k < F; k++)
                y[t * F + c] += x[t * F + k] * w[k * F + c];
        }
}

/* Scores of all pairs. */
static int self_scores(const struct lab_exercise *exercise, const double *q,
                       const double *k, double scale, double *scores)
{
    double rows[T * T * F], keys[T * T * F];
    for (int r = 0; r < T; r++)
        for (int c = 0; c < T; c++) {
            memcpy(rows + (r * T + c) * F, q + r * F, F * sizeof *q);
            memcpy(keys + (r * T + c) * F, k + c * F, F * sizeof *k);
        }
    return lab_exercise_scores(exercise, T * T, F, rows, keys, scale, scores);
}

int lab_world_self(const struct lab_exercise *exercise,
                   const struct lab_world_tokens *sequence, const double *x,
                   struct lab_world_self *self)
{
    const double scale = exercise->tau / sqrt(F);
    double rows[T * F], projected[3][T * F], out[T * F];

    memcpy(rows, x, sizeof rows);
    if (exercise->columns)
        transpose(x, F, T, rows);
    for (int w = 0; w < 3; w++)
        project(rows, sequence->w[w], projected[w]);
    const struct lab_problem problem =
        LAB_PROBLEM(T, F, projected[0], projected[1], scale, .nq = T, .dv = F,
                    .v = projected[2], .out = out, .weights = self->weights);
    if (lab_exercise_forward(exercise, problem) ||
        self_scores(exercise, projected[0], projected[1], scale, self->scores))
        return -1;
    memcpy(self->out, out, sizeof out);
    if (exercise->columns)
        transpose(out, T, F, self->out);
    return 0;
}

/* SPDX-License-Identifier: MIT */
/*
 * The bound of a student's result: that of docs/NUMERICS.md for sums in any order, and
 * what other arithmetic and rotation add to the error of a score.
 *
 * Where every operation is rounded to a format of 16 bits, of unit u',
 *
 *     u' (4 (|s_j| + |m|) + (2 + r) a_j + 6 + r')
 *
 * is added to e_j: the product, the scale, the mask and s_j - m; the inputs; the
 * exponential, the sum, the division and the result.  r = sqrt(d) and r' = sqrt(nk) where
 * sums are rounded too: n roundings of independent signs add up like sqrt(n).
 *
 * Rotation of the pairs of columns, of lengths |q_p| and |k_p| and frequency w_p, adds
 *
 *     |scale| sum_p |q_p| |k_p| (u (5 + 3 ln base) w_p (|i| + |j|) + 16 max(u, u'))
 *
 * for positions i and j: ln base and a power of it in the frequency, an angle that is as
 * inexact as its frequency, and a rotation of eight roundings on either side.
 */
#include <math.h>
#include <stdlib.h>

#include "tensors/tensors_tool.h"

const struct tensors_level tensors_levels[TENSORS_LEVELS] = {
    {.name = "float64",
     .dtype = ATTEND_F64,
     .u = 0x1p-53,
     .flush = 0x1p-1022,
     .largest = 709.78,
     .lowest = -745.13},
    {.name = "float32",
     .dtype = ATTEND_F32,
     .u = 0x1p-24,
     .flush = 0x1p-126,
     .largest = 88.72,
     .lowest = -103.97},
    {.name = "float16",
     .dtype = ATTEND_F16,
     .u = 0x1p-24,
     .flush = 0x1p-24,
     .step = 0x1p-11,
     .is_rooted = 1,
     .largest = 11.09,
     .lowest = -17.32},
    {.name = "bfloat16",
     .dtype = ATTEND_BF16,
     .u = 0x1p-24,
     .flush = 0x1p-126,
     .step = 0x1p-8,
     .largest = 88.72,
     .lowest = -92.2},
};

/* Lengths of the pairs of columns that rotate together: (rows, d / 2). */
static double *pair_norms(const double *x, int64_t rows, int64_t d, int is_halves)
{
    double *const norms = check_memory((size_t)(rows * d / 2), sizeof *norms);

    for (int64_t r = 0; r < rows; r++)
        for (int64_t c = 0; c < d / 2; c++) {
            const double *const row = x + r * d;
            norms[r * (d / 2) + c] = is_halves ? hypot(row[c], row[c + d / 2])
                                               : hypot(row[2 * c], row[2 * c + 1]);
        }
    return norms;
}

struct tensors_errors tensors_errors_of(const struct tensors_variant *variant,
                                        const struct tensors_level *level,
                                        attend_dtype out)
{
    const struct check_problem *const p = &variant->p;
    const int is_double = level->dtype == ATTEND_F64;
    const double nk = (double)p->nk;
    struct tensors_errors errors = {
        .variant = variant,
        .level = level,
        .model = {.u = level->u,
                  .c = fmax(128.0 + 8.0 * ceil(nk / 128.0), nk) + 16.0,
                  .flush = level->flush,
                  .product = is_double ? 0x1p-1074 : fmin(level->flush, 0x1p-25),
                  .slack = is_double ? 2.0 : 1.0,
                  .d = (double)p->d,
                  .out_dtype = out,
                  .lse_dtype = ATTEND_F64}};

    if (variant->rotary == ATTEND_LAYER_ROTARY_NONE)
        return errors;
    const int is_halves = variant->rotary == ATTEND_LAYER_ROTARY_HALVES;
    errors.q_norm = pair_norms(p->q, p->nb * p->hq * p->nq, p->d, is_halves);
    errors.k_norm = pair_norms(p->k, p->nb * p->hkv * p->nk, p->d, is_halves);
    errors.frequency = check_memory((size_t)(p->d / 2), sizeof *errors.frequency);
    for (int64_t c = 0; c < p->d / 2; c++)
        errors.frequency[c] =
            variant->is_whole ? 1.0 : pow(variant->base, -2.0 * (double)c / (double)p->d);
    return errors;
}

void tensors_errors_free(struct tensors_errors *errors)
{
    free(errors->q_norm);
    free(errors->k_norm);
    free(errors->frequency);
}

static double rotation_error(const struct tensors_errors *errors, const int64_t at[4])
{
    const struct tensors_variant *const v = errors->variant;
    const struct check_problem *const p = &v->p;
    const int64_t pairs = p->d / 2, g = at[1] / (p->hq / p->hkv);
    const double *const q =
        errors->q_norm + ((at[0] * p->hq + at[1]) * p->nq + at[2]) * pairs;
    const double *const k =
        errors->k_norm + ((at[0] * p->hkv + g) * p->nk + at[3]) * pairs;
    const double u = errors->level->u, angle = u * (5.0 + 3.0 * log(v->base));
    const double far = fabs((double)(v->first_query + at[2])) + (double)at[3];
    const double rounding = 16.0 * fmax(u, errors->level->step);
    double sum = 0.0;

    for (int64_t c = 0; c < pairs; c++)
        sum += q[c] * k[c] * (angle * errors->frequency[c] * far + rounding);
    return fabs(p->scale) * sum;
}

double tensors_error(const struct tensors_errors *errors, const int64_t at[4], double s,
                     double size, double top, double tiny)
{
    const struct tensors_level *const level = errors->level;
    const struct check_problem *const p = &errors->variant->p;
    const double rooted = level->is_rooted ? 1.0 : 0.0;
    double e = check_bound_score(&errors->model, size, top, tiny);

    if (level->step > 0.0)
        e += level->step *
             (4.0 * (fabs(s) + fabs(top)) + (2.0 + rooted * sqrt((double)p->d)) * size +
              6.0 + rooted * sqrt((double)p->nk));
    if (errors->q_norm != NULL)
        e += rotation_error(errors, at);
    return e;
}

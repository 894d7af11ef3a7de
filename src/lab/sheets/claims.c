/* SPDX-License-Identifier: MIT */
#include "lab/sheets/claims.h"

#include <math.h>
#include <stdlib.h>

#include "lab/measure/random.h"

void lab_reading_equal(struct lab_found *reading, double measured, double expected)
{
    reading->above = 0;
    reading->measured = measured;
    reading->expected = expected;
    reading->error = fabs(measured - expected);
}

void lab_reading_above(struct lab_found *reading, double measured, double bound)
{
    reading->measured = measured;
    reading->expected = bound;
    reading->above = 1;
    /* Not above by rounding is as far off as can be told: by one. */
    reading->error = measured > bound + LAB_TOLERANCE ? 0 : 1;
}

void lab_reading_below(struct lab_found *reading, double measured, double bound)
{
    reading->measured = measured;
    reading->expected = bound;
    reading->above = -1;
    reading->error = measured < bound - LAB_TOLERANCE ? 0 : 1;
}

/* ---- weights ----------------------------------------------------------- */

/* Scores and their weights, `n` of each, to be freed at once through `scores`. */
static int some_weights(const struct lab_point *point, double **scores, double **weights)
{
    enum { STREAM = 921 };
    const size_t n = (size_t)point->n;
    *scores = malloc(2 * n * sizeof **scores + n * sizeof(float));
    if (!*scores)
        return -1;
    *weights = *scores + n;
    float *const normal = (float *)(*weights + n);
    lab_random_normals(point->exercise->seed, STREAM, 0, normal, point->n);
    for (size_t i = 0; i < n; i++)
        (*scores)[i] = point->scale * (double)normal[i];
    return lab_exercise_softmax_scores(point->exercise, point->n, *scores, *weights);
}

LAB_CLAIM(distribution)
{
    double *scores = NULL, *weights = NULL, sum = 0, outside = 0;
    const int status = some_weights(point, &scores, &weights);
    for (int64_t i = 0; !status && i < point->n; i++) {
        sum += weights[i];
        outside = fmax(outside, fmax(-weights[i], weights[i] - 1));
    }
    free(scores);
    lab_reading_equal(reading, sum, 1);
    reading->error = fmax(reading->error, outside);
    return status;
}

LAB_CLAIM(definition)
{
    double *scores = NULL, *weights = NULL, sum = 0, top = -INFINITY;
    const int status = some_weights(point, &scores, &weights);
    for (int64_t i = 0; !status && i < point->n; i++)
        top = fmax(top, scores[i]);
    for (int64_t i = 0; !status && i < point->n; i++)
        sum += exp(scores[i] - top);
    for (int64_t i = 0; !status && i < point->n; i++) {
        const double defined = exp(scores[i] - top) / sum;
        if (!(fabs(weights[i] - defined) <= reading->error) || i == 0)
            lab_reading_equal(reading, weights[i], defined);
    }
    free(scores);
    return status;
}

/* The claim that the output is v_a. */
static int copies(const struct lab_exercise *exercise, int64_t n,
                  struct lab_pair_query query, struct lab_found *reading)
{
    struct lab_pair_weights p;
    if (lab_exercise_pair(exercise, n, query, &p))
        return -1;
    lab_reading_equal(reading, p.a, 1);
    reading->error = lab_pair_distance(&p, 1, 0);
    return 0;
}

LAB_CLAIM(copy)
{
    return copies(point->exercise, point->n, (struct lab_pair_query){point->scale, 0},
                  reading);
}

LAB_CLAIM(copy_ratio)
{
    const double gap = log(point->scale * (double)(point->n - 1));
    return copies(point->exercise, point->n, (struct lab_pair_query){gap, 0}, reading);
}

LAB_CLAIM(copy_aligned)
{
    const double angle = 0.1;
    const struct lab_pair_query query = {point->scale * cos(angle),
                                         point->scale * sin(angle)};
    return copies(point->exercise, point->n, query, reading);
}

/* ---- the pair ------------------------------------------------------------ */

LAB_CLAIM(pair)
{
    const struct lab_pair_query query = {point->scale, point->scale};
    struct lab_pair_weights p;
    struct lab_drawn drawn;
    if (point->alpha > 0) {
        if (lab_exercise_draw(point, 0, 1, &query, &drawn))
            return -1;
        lab_reading_equal(reading, drawn.weight_mean, 0.5);
        reading->error = drawn.to_average;
        return 0;
    }
    if (lab_exercise_pair(point->exercise, point->n, query, &p))
        return -1;
    lab_reading_equal(reading, p.a, 0.5);
    reading->error = lab_pair_distance(&p, 0.5, 0.5);
    return 0;
}

LAB_CLAIM(pair_formula)
{
    const struct lab_pair_query query = {point->scale, point->scale};
    const double formula = 1 / ((double)(point->n - 2) * exp(-point->scale) + 2);
    struct lab_pair_weights p;
    if (lab_exercise_pair(point->exercise, point->n, query, &p))
        return -1;
    lab_reading_equal(reading, p.a, formula);
    reading->error = fmax(reading->error, fabs(p.b - formula));
    return 0;
}

LAB_CLAIM(pair_half)
{
    if (lab_claim_pair_formula(point, reading))
        return -1;
    const double formula = reading->error;
    lab_reading_equal(reading, reading->measured, 0.5);
    reading->error = fmax(reading->error, formula);
    return 0;
}

LAB_CLAIM(pair_scores)
{
    const struct lab_pair_query query = {point->scale, point->scale};
    struct lab_drawn drawn;
    if (lab_exercise_draw(point, 0, 1, &query, &drawn))
        return -1;
    lab_reading_equal(reading, drawn.score_error, 0);
    return 0;
}

/* ---- two heads ----------------------------------------------------------- */

LAB_CLAIM(two_heads)
{
    const struct lab_pair_query query[2] = {{point->scale, 0}, {0, point->scale}};
    struct lab_pair_weights p[2];
    if (lab_exercise_pair(point->exercise, point->n, query[0], &p[0]) ||
        lab_exercise_pair(point->exercise, point->n, query[1], &p[1]))
        return -1;
    const struct lab_pair_weights mean = {(p[0].a + p[1].a) / 2, (p[0].b + p[1].b) / 2,
                                          (p[0].others + p[1].others) / 2,
                                          (p[0].squares + p[1].squares) / 2};
    lab_reading_equal(reading, mean.a, 0.5);
    reading->error = lab_pair_distance(&mean, 0.5, 0.5);
    return 0;
}

LAB_CLAIM(two_unscaled)
{
    struct lab_pair_weights p[2];
    if (lab_exercise_pair(point->exercise, point->n,
                          (struct lab_pair_query){point->exercise->unit, 0}, &p[0]) ||
        lab_exercise_pair(point->exercise, point->n,
                          (struct lab_pair_query){0, point->exercise->unit}, &p[1]))
        return -1;
    lab_reading_equal(reading, p[0].a, 1);
    reading->error = fmax(lab_pair_distance(&p[0], 1, 0), lab_pair_distance(&p[1], 0, 1));
    return 0;
}

/* ---- extraction ---------------------------------------------------------- */

enum { M = 3 };

LAB_CLAIM(projector)
{
    struct lab_basis basis;
    double y[LAB_EXERCISE_D], x[LAB_EXERCISE_D], off = 0;
    lab_exercise_basis(point->exercise, M, &basis);
    lab_basis_coordinates(&basis, basis.s, y);
    lab_basis_combine(&basis, y, x);
    for (int i = 0; i < M; i++) {
        double column[LAB_EXERCISE_D];
        lab_basis_coordinates(&basis, basis.a[i], column);
        for (int j = 0; j < M; j++)
            off = fmax(off, fabs(column[j] - (i == j)));
    }
    for (int j = 0; j < basis.p; j++) {
        double column[LAB_EXERCISE_D];
        lab_basis_coordinates(&basis, basis.b[j], column);
        for (int i = 0; i < M; i++)
            off = fmax(off, fabs(column[i]));
    }
    lab_reading_equal(reading, lab_distance(x, basis.va, LAB_EXERCISE_D), 0);
    reading->error = fmax(reading->error, off);
    return 0;
}

LAB_CLAIM(coordinates)
{
    struct lab_basis basis;
    double y[LAB_EXERCISE_D], x[LAB_EXERCISE_D];
    lab_exercise_basis(point->exercise, M, &basis);
    lab_basis_coordinates(&basis, basis.va, y);
    lab_basis_combine(&basis, y, x);
    lab_reading_equal(reading, lab_distance(x, basis.va, LAB_EXERCISE_D), 0);
    return 0;
}

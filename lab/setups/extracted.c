/* SPDX-License-Identifier: MIT */
#include "lab/setups/extracted.h"

#include <math.h>
#include <string.h>

#include "attend/theory.h"
#include "lab/measure/forward.h"
#include "lab/measure/frames.h"

enum { FRAME_STREAM = 1, COORDINATE_STREAM, MIX_STREAM, OTHER_STREAM, KEY_STREAM };

static const double pi = 3.14159265358979323846;

double lab_cosine(double degrees) { return degrees == 90 ? 0 : cos(degrees * pi / 180); }

/* Columns of A are the frame's first m, those of B leave them by the angle. */
static void fill_bases(const struct lab_session *session, struct lab_extraction *setup)
{
    const int64_t d = setup->d, m = setup->m, p = setup->p;
    const double along = lab_cosine(setup->angle), across = sin(setup->angle * pi / 180);
    double *const frame = setup->value; /* [m + p][d], before the values are there */
    double mix[128];

    lab_random_frame(session->seed, FRAME_STREAM, frame, m + p, d);
    for (int64_t c = 0; c < d; c++) {
        for (int64_t i = 0; i < m; i++)
            setup->a[c * m + i] = frame[i * d + c];
        for (int64_t i = 0; i < p; i++)
            setup->b[c * p + i] =
                i < m ? along * frame[i * d + c] + across * frame[(m + i) * d + c]
                      : frame[(m + i) * d + c];
    }
    for (int64_t i = 0; i < m; i++) {
        lab_normals(session->seed, MIX_STREAM, (uint64_t)(i * m), mix, m);
        mix[i] += 3; /* well-conditioned */
        for (int64_t c = 0; c < d; c++)
            setup->skewed[c * m + i] = lab_dot(setup->a + c * m, mix, m);
    }
}

static void fill_values(const struct lab_session *session, struct lab_extraction *setup)
{
    const int64_t d = setup->d, m = setup->m, p = setup->p;
    double x[128], y[128];

    lab_normals(session->seed, COORDINATE_STREAM, 0, x, m);
    lab_normals(session->seed, COORDINATE_STREAM, 128, y, p);
    lab_unit(x, m);
    lab_unit(y, p);
    setup->shared = lab_norm(y, m < p ? m : p);
    for (int64_t c = 0; c < d; c++) {
        setup->value[c] = lab_dot(setup->a + c * m, x, m);
        setup->value[d + c] = lab_dot(setup->b + c * p, y, p);
    }
    lab_normals(session->seed, OTHER_STREAM, 0, setup->value + 2 * d, (setup->n - 2) * d);
    for (int64_t i = 2; i < setup->n; i++)
        lab_unit(setup->value + i * d, d);
}

/* Removes from every unwanted value its part in A. */
static void clear_others(struct lab_extraction *setup)
{
    const int64_t d = setup->d, m = setup->m;

    for (int64_t i = 2; i < setup->n; i++) {
        double *const v = setup->value + i * d;
        for (int64_t k = 0; k < m; k++) {
            double along = 0;
            for (int64_t c = 0; c < d; c++)
                along += setup->a[c * m + k] * v[c];
            for (int64_t c = 0; c < d; c++)
                v[c] -= along * setup->a[c * m + k];
        }
    }
}

int64_t lab_extraction_scratch(const struct lab_extraction *e)
{
    const int64_t rows = e->n > e->m + e->p ? e->n : e->m + e->p;

    return e->d * (2 * e->m + e->p + rows + e->d + 2) + (e->n + 1) * e->n;
}

static int average(struct lab_session *session, attend_context *ctx,
                   struct lab_extraction *setup)
{
    const int64_t n = setup->n, d = setup->d;
    const double wanted = attend_theory_average_weight((double)n, 2, setup->beta);
    const double leak = attend_theory_average_leak((double)n, 2, setup->beta);
    double *const key = setup->key, *const query = key + n * n;
    const struct lab_problem problem =
        LAB_PROBLEM(n, n, query, key, 1, .dv = d, .v = setup->value, .out = setup->found);

    for (int64_t c = 0; c < d; c++) {
        setup->ideal[c] = 0;
        for (int64_t i = 0; i < n; i++)
            setup->ideal[c] +=
                (i < 2 ? wanted : leak / (double)(n - 2)) * setup->value[i * d + c];
    }
    lab_random_frame(session->seed, KEY_STREAM, key, n, n);
    for (int64_t c = 0; c < n; c++)
        query[c] = setup->beta * (key[c] + key[n + c]);
    return lab_measure(session, ctx, &problem);
}

int lab_extraction_open(struct lab_session *session, attend_context *ctx, double *scratch,
                        struct lab_extraction *e)
{
    const int64_t d = e->d, m = e->m, p = e->p, rows = e->n > m + p ? e->n : m + p;

    e->a = scratch;
    e->b = e->a + d * m;
    e->skewed = e->b + d * p;
    e->value = e->skewed + d * m;
    e->matrix = e->value + d * rows;
    e->ideal = e->matrix + d * d;
    e->found = e->ideal + d;
    e->key = e->found + d;
    fill_bases(session, e);
    fill_values(session, e);
    if (e->clear)
        clear_others(e);
    return average(session, ctx, e);
}

/* A^T has m rows, not d: its result is in the first m of d entries. */
static void fill_transpose(struct lab_extraction *setup)
{
    const int64_t d = setup->d, m = setup->m;

    memset(setup->matrix, 0, sizeof(double) * (size_t)(d * d));
    for (int64_t i = 0; i < m; i++)
        for (int64_t c = 0; c < d; c++)
            setup->matrix[i * d + c] = setup->a[c * m + i];
}

static int fill_matrix(struct lab_extraction *setup, enum lab_extraction_method method)
{
    const int64_t d = setup->d, m = setup->m;

    switch (method) {
    case LAB_TRANSPOSE:
        fill_transpose(setup);
        return 0;
    case LAB_PRODUCT:
        return attend_theory_extract_orthonormal(setup->a, d, m, setup->matrix);
    case LAB_SKEWED_PRODUCT:
        return attend_theory_extract_orthonormal(setup->skewed, d, m, setup->matrix);
    case LAB_PROJECTOR:
        return attend_theory_extract_projector(setup->skewed, d, m, setup->matrix);
    case LAB_OBLIQUE:
    case LAB_EXTRACTION_METHODS:
        break;
    }
    return attend_theory_extract_oblique(setup->skewed, m, setup->b, setup->p, d,
                                         setup->matrix);
}

/* |2 M c - v_a|. */
static double error_at(const struct lab_extraction *setup, const double *c)
{
    double sum = 0;

    for (int64_t r = 0; r < setup->d; r++) {
        const double off =
            2 * lab_dot(setup->matrix + r * setup->d, c, setup->d) - setup->value[r];
        sum += off * off;
    }
    return sqrt(sum);
}

int lab_extraction_measure(struct lab_session *session, struct lab_extraction *e,
                           enum lab_extraction_method method, double *theory,
                           double *measured)
{
    if (fill_matrix(e, method))
        return lab_fail(session, "A and B are dependent");
    *theory = error_at(e, e->ideal);
    *measured = error_at(e, e->found);
    return 0;
}

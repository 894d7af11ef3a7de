/* SPDX-License-Identifier: MIT */
/* The exercise with noise: keys are drawn, every draw goes through the engine. */
#include "lab/sheets/exercise.h"

#include <math.h>
#include <stdlib.h>

#include "lab/measure/forward.h"
#include "lab/measure/moments.h"
#include "lab/measure/random.h"

enum { GAMMA_STREAM = 901, ALPHA_STREAM = 902 };

/* The draws of one point.  Rows: the keys, or a, b and one for all the others. */
struct draws {
    int64_t count, rows;
    double *gamma, *gamma_b, *keys, *values, *queries, *bias, *out, *weights;
    float *normal;
    void *memory;
};

/* Normals 2 x and 2 x + 1 of the stream belong to draw x: of key a and of key b. */
static void magnitudes(const struct lab_exercise *exercise, float *normal, double *gamma,
                       double *gamma_b)
{
    lab_random_normals(exercise->seed, GAMMA_STREAM, 0, normal, 2 * LAB_EXERCISE_DRAWS);
    for (int x = 0; x < LAB_EXERCISE_DRAWS; x++) {
        gamma[x] = 1 + sqrt(exercise->sigma2) * (double)normal[2 * x];
        gamma_b[x] = 1 + sqrt(exercise->sigma2_b) * (double)normal[2 * x + 1];
    }
}

int lab_exercise_gammas(const struct lab_exercise *exercise, double *gamma)
{
    double *const other = malloc(LAB_EXERCISE_DRAWS * sizeof *other);
    float *const normal = malloc(2 * LAB_EXERCISE_DRAWS * sizeof *normal);
    const int failed = !other || !normal;
    if (!failed)
        magnitudes(exercise, normal, gamma, other);
    free(other);
    free(normal);
    return failed ? -1 : 0;
}

static int open_draws(struct draws *draws, const struct lab_point *point, int heads)
{
    const int64_t most = LAB_EXERCISE_DRAWS;
    /* Without isotropic noise the unwanted keys are equal in score: one with a bias. */
    draws->rows = point->alpha > 0 ? point->n : point->n > 2 ? 3 : 2;
    draws->count = point->alpha > 0 ? LAB_EXERCISE_NOISY_DRAWS : most;
    const int64_t cells = draws->count * draws->rows;
    const int64_t rows = draws->count * heads;
    const int64_t numbers = 2 * most + 6 * cells + draws->rows + 6 * rows + heads * cells;
    const int64_t normals = 2 * (cells > most ? cells : most);
    double *const memory = malloc((size_t)numbers * sizeof *memory +
                                  (size_t)normals * sizeof *draws->normal);
    draws->memory = memory;
    if (!memory)
        return -1;
    draws->gamma = memory;
    draws->gamma_b = draws->gamma + most;
    draws->keys = draws->gamma_b + most;
    draws->values = draws->keys + 3 * cells;
    draws->bias = draws->values + 3 * cells;
    draws->queries = draws->bias + draws->rows;
    draws->out = draws->queries + 3 * rows;
    draws->weights = draws->out + 3 * rows;
    draws->normal = (float *)(draws->weights + heads * cells);
    return 0;
}

/* The kept draws come first; returns how many. */
static int64_t keep(struct draws *draws, int given_positive)
{
    int64_t kept = 0;
    for (int64_t x = 0; x < LAB_EXERCISE_DRAWS && kept < draws->count; x++) {
        if (given_positive && draws->gamma[x] <= 0)
            continue;
        draws->gamma[kept] = draws->gamma[x];
        draws->gamma_b[kept++] = draws->gamma_b[x];
    }
    return kept;
}

static void set_keys(const struct lab_exercise *exercise, struct draws *draws,
                     double alpha)
{
    const double mu_b[2] = {exercise->overlap,
                            sqrt(1 - exercise->overlap * exercise->overlap)};
    const double spread = sqrt(alpha);
    if (alpha > 0)
        lab_random_normals(exercise->seed, ALPHA_STREAM, 0, draws->normal,
                           2 * draws->count * draws->rows);
    for (int64_t x = 0; x < draws->count; x++)
        for (int64_t i = 0; i < draws->rows; i++) {
            const int64_t cell = x * draws->rows + i;
            double *const key = draws->keys + 3 * cell;
            double *const value = draws->values + 3 * cell;
            key[0] = i == 0 ? draws->gamma[x] : i == 1 ? draws->gamma_b[x] * mu_b[0] : 0;
            key[1] = i == 1 ? draws->gamma_b[x] * mu_b[1] : 0;
            key[2] = i > 1 ? 1 : 0;
            /* No query leaves the plane of mu_a and mu_b: noise elsewhere is not felt. */
            for (int c = 0; alpha > 0 && c < 2; c++)
                key[c] += spread * (double)draws->normal[2 * cell + c];
            value[0] = i == 0;
            value[1] = i == 1;
            value[2] = i > 1;
        }
}

static int forward(const struct lab_exercise *exercise, struct draws *draws,
                   const struct lab_point *point, int heads,
                   const struct lab_pair_query *queries)
{
    const double mu_b[2] = {exercise->overlap,
                            sqrt(1 - exercise->overlap * exercise->overlap)};
    for (int64_t x = 0; x < draws->count; x++)
        for (int h = 0; h < heads; h++) {
            double *const q = draws->queries + 3 * (x * heads + h);
            q[0] = queries[h].a + queries[h].b * mu_b[0];
            q[1] = queries[h].b * mu_b[1];
            q[2] = 0;
        }
    for (int64_t i = 0; i < draws->rows; i++)
        draws->bias[i] = i > 1 && point->alpha <= 0 ? log((double)(point->n - 2)) : 0;
    const struct lab_problem problem = {
        .nb = draws->count,
        .nq = heads,
        .nk = draws->rows,
        .d = 3,
        .dv = 3,
        .q = draws->queries,
        .k = draws->keys,
        .v = draws->values,
        .bias = draws->bias,
        .sink = isfinite(exercise->sink) ? &exercise->sink : NULL,
        .scale = exercise->tau,
        .out = draws->out,
        .weights = point->alpha > 0 ? draws->weights : NULL,
    };
    return lab_forward(exercise->ctx, &problem, NULL) == ATTEND_OK ? 0 : -1;
}

static struct lab_pair_weights weights_of(const struct draws *draws,
                                          const struct lab_point *point, int heads,
                                          int64_t x, int h)
{
    const int64_t row = x * heads + h;
    const double *const out = draws->out + 3 * row;
    struct lab_pair_weights p = {out[0], out[1], out[2], 0};
    if (point->alpha <= 0) {
        p.squares = point->n > 2 ? p.others * p.others / (double)(point->n - 2) : 0;
        return p;
    }
    for (int64_t i = 2; i < draws->rows; i++) {
        const double weight = draws->weights[row * draws->rows + i];
        p.squares += weight * weight;
    }
    return p;
}

static double mean_square(double sum, int64_t count) { return sqrt(sum / (double)count); }

static double score(const struct lab_exercise *exercise, const struct draws *draws,
                    int64_t x, int heads, int h, int64_t i)
{
    const double *const q = draws->queries + 3 * (x * heads + h);
    const double *const k = draws->keys + 3 * (x * draws->rows + i);
    return exercise->tau * (q[0] * k[0] + q[1] * k[1] + q[2] * k[2]);
}

/* Distance from the nearest point of the segment between v_a and v_b. */
static double off_segment(const struct lab_pair_weights *p)
{
    const double along = fmin(1, fmax(0, (p->a - p->b + 1) / 2));
    return lab_pair_distance(p, along, 1 - along);
}

/* Sums over draws of what one head's weights say. */
static void add_head(struct lab_drawn *drawn, const struct lab_pair_weights *p, int h)
{
    const double average = lab_pair_distance(p, 0.5, 0.5);
    drawn->head_to_average[h] += average * average;
    if (h == 1) {
        const double to_b = lab_pair_distance(p, 0, 1);
        drawn->head_2_to_b += to_b * to_b;
        return;
    }
    const double to_a = lab_pair_distance(p, 1, 0), off = off_segment(p);
    drawn->head_1_to_a += to_a * to_a;
    drawn->off_segment += off * off;
    drawn->leak_most = fmax(drawn->leak_most, p->others);
    drawn->closer_a += p->a > p->b ? 1 : p->a == p->b ? 0.5 : 0;
}

static void add_scores(const struct lab_exercise *exercise, const struct draws *draws,
                       struct lab_drawn *drawn, const struct lab_pair_weights *p,
                       int64_t x, int heads, double scale)
{
    const double s_a = score(exercise, draws, x, heads, 0, 0);
    const double s_b = score(exercise, draws, x, heads, 0, 1);
    const double two_term = 1 / (1 + exp(s_b - s_a));
    drawn->two_term = fmax(drawn->two_term, fabs(p->a - two_term));
    for (int64_t i = 0; i < draws->rows; i++) {
        const double off = score(exercise, draws, x, heads, 0, i) - (i < 2 ? scale : 0);
        drawn->score_error += off * off / (double)draws->rows;
    }
    /* Scores decide who is nearer also where both weights round to 0 or 1. */
    const int longer_a = fabs(draws->gamma[x]) > fabs(draws->gamma_b[x]);
    drawn->longer_loses += longer_a != (s_a > s_b);
}

enum { COEFFICIENTS = 3 };

/* Traces of the heads' covariances from moments of their three kinds of coefficient. */
static void set_traces(struct lab_drawn *drawn, struct lab_moments of[3][COEFFICIENTS],
                       const double *cross, int64_t n, int heads)
{
    for (int i = 0; i < COEFFICIENTS; i++) {
        if (i == 2 && n <= 2)
            continue;
        const double share = i == 2 ? 1 / (double)(n - 2) : 1;
        for (int h = 0; h < heads; h++)
            drawn->trace[h] += share * lab_moments_variance(&of[h][i]);
        drawn->trace_mean += share * lab_moments_variance(&of[2][i]);
        if (heads == 2)
            drawn->trace_cross +=
                share * (cross[i] / (double)drawn->count - of[0][i].mean * of[1][i].mean);
    }
}

static void summarise(const struct lab_exercise *exercise, const struct draws *draws,
                      const struct lab_point *point, int heads, double scale,
                      struct lab_drawn *drawn)
{
    struct lab_moments of[3][COEFFICIENTS] = {{{0}}}, gamma = {0};
    double cross[COEFFICIENTS] = {0};

    *drawn = (struct lab_drawn){.count = draws->count};
    for (int64_t x = 0; x < draws->count; x++) {
        double mean[COEFFICIENTS] = {0}, product[COEFFICIENTS] = {1, 1, 1};
        struct lab_pair_weights joint = {0};
        for (int h = 0; h < heads; h++) {
            const struct lab_pair_weights p = weights_of(draws, point, heads, x, h);
            const double part[COEFFICIENTS] = {p.a, p.b, p.others};
            for (int i = 0; i < COEFFICIENTS; i++) {
                lab_moments_add(&of[h][i], part[i]);
                mean[i] += part[i] / heads;
                product[i] *= part[i];
            }
            joint.squares += p.squares / (heads * heads);
            add_head(drawn, &p, h);
            if (h == 0)
                add_scores(exercise, draws, drawn, &p, x, heads, scale);
        }
        for (int i = 0; i < COEFFICIENTS; i++) {
            lab_moments_add(&of[2][i], mean[i]);
            cross[i] += product[i];
        }
        joint.a = mean[0];
        joint.b = mean[1];
        /* Unwanted values weigh the same in both heads where alpha is 0. */
        if (point->alpha <= 0 && point->n > 2)
            joint.squares = mean[2] * mean[2] / (double)(point->n - 2);
        const double off = lab_pair_distance(&joint, 0.5, 0.5);
        drawn->to_average += off * off;
        lab_moments_add(&gamma, draws->gamma[x]);
        drawn->inside += draws->gamma[x] >= 0.5 && draws->gamma[x] <= 1.5;
    }
    set_traces(drawn, of, cross, point->n, heads);
    drawn->gamma_mean = gamma.mean;
    drawn->gamma_variance = lab_moments_variance(&gamma);
    drawn->gamma_mean_se = lab_moments_mean_se(&gamma);
    drawn->gamma_variance_se = lab_moments_variance_se(&gamma);
    drawn->weight_mean = of[0][0].mean;
    drawn->weight_variance = lab_moments_variance(&of[0][0]);
    drawn->weight_mean_2 = of[1][1].mean;
}

int lab_exercise_draw(const struct lab_exercise *exercise, const struct lab_point *point,
                      int magnitude, int heads, const struct lab_pair_query *queries,
                      struct lab_drawn *drawn)
{
    struct draws draws;
    int status = open_draws(&draws, point, heads);
    if (status)
        return status;
    magnitudes(exercise, draws.normal, draws.gamma, draws.gamma_b);
    for (int64_t x = 0; !magnitude && x < LAB_EXERCISE_DRAWS; x++)
        draws.gamma[x] = draws.gamma_b[x] = 1;
    draws.count = keep(&draws, point->given_positive);
    set_keys(exercise, &draws, point->alpha);
    status = forward(exercise, &draws, point, heads, queries);
    if (!status) {
        summarise(exercise, &draws, point, heads, queries[0].a, drawn);
        const int64_t count = drawn->count;
        drawn->to_average = mean_square(drawn->to_average, count);
        drawn->head_1_to_a = mean_square(drawn->head_1_to_a, count);
        drawn->head_2_to_b = mean_square(drawn->head_2_to_b, count);
        for (int h = 0; h < 2; h++)
            drawn->head_to_average[h] = mean_square(drawn->head_to_average[h], count);
        drawn->off_segment = mean_square(drawn->off_segment, count);
        drawn->score_error = mean_square(drawn->score_error, count);
        drawn->closer_a /= (double)count;
        drawn->longer_loses /= (double)count;
        drawn->inside /= (double)count;
    }
    free(draws.memory);
    return status;
}

/* SPDX-License-Identifier: MIT */
/* The exercise without noise: softmax through the engine, and the pair of wanted keys. */
#include "lab/sheets/exercise.h"

#include <math.h>
#include <stdlib.h>

#include "lab/measure/forward.h"

struct lab_exercise lab_exercise_sound(attend_context *ctx)
{
    return (struct lab_exercise){.ctx = ctx,
                                 .tau = 1,
                                 .sigma2 = 0.5,
                                 .isotropic = 1,
                                 .unit = 1,
                                 .sink = -INFINITY,
                                 .seed = 1};
}

int lab_exercise_open(struct lab_exercise *exercise)
{
    attend_options options = attend_options_default();
    options.threads = 1;
    *exercise = lab_exercise_sound(NULL);
    return attend_context_create(&exercise->ctx, &options, NULL) == ATTEND_OK ? 0 : -1;
}

void lab_exercise_close(struct lab_exercise *exercise)
{
    attend_context_destroy(exercise->ctx);
    exercise->ctx = NULL;
}

double lab_point_tau(const struct lab_point *point)
{
    const struct lab_exercise *const exercise = point->exercise;
    return exercise->tau / (exercise->root_d ? sqrt((double)point->n) : 1);
}

double lab_point_alpha(const struct lab_point *point)
{
    const struct lab_exercise *const exercise = point->exercise;
    const double alpha = exercise->isotropic * point->alpha;
    return exercise->floor + (exercise->deviation ? alpha * alpha : alpha);
}

int lab_exercise_softmax(const struct lab_exercise *exercise, int64_t n, int64_t d,
                         const double *keys, const double *query, double *weights)
{
    const struct lab_problem problem = {
        .nq = 1,
        .nk = n,
        .d = d,
        .q = query,
        .k = keys,
        .sink = isfinite(exercise->sink) ? &exercise->sink : NULL,
        .scale = exercise->tau,
        .weights = weights,
    };
    return lab_forward(exercise->ctx, &problem, NULL) == ATTEND_OK ? 0 : -1;
}

int lab_exercise_softmax_scores(const struct lab_exercise *exercise, int64_t n,
                                const double *scores, double *weights)
{
    const double zero = 0;
    double *const keys = calloc((size_t)n, sizeof *keys);
    const struct lab_problem problem = {
        .nq = 1,
        .nk = n,
        .d = 1,
        .q = &zero,
        .k = keys,
        .bias = scores,
        .sink = isfinite(exercise->sink) ? &exercise->sink : NULL,
        .scale = exercise->tau,
        .weights = weights,
    };
    const int failed = !keys || lab_forward(exercise->ctx, &problem, NULL) != ATTEND_OK;
    free(keys);
    return failed ? -1 : 0;
}

double lab_exercise_score_covariance(const struct lab_exercise *exercise, double alpha,
                                     int key, struct lab_pair_query q1,
                                     struct lab_pair_query q2)
{
    const double overlap = exercise->overlap;
    const double along_1 = key == 0 ? q1.a + q1.b * overlap : q1.b + q1.a * overlap;
    const double along_2 = key == 0 ? q2.a + q2.b * overlap : q2.b + q2.a * overlap;
    const double dot = q1.a * q2.a + q1.b * q2.b + overlap * (q1.a * q2.b + q1.b * q2.a);
    const double sigma2 = key == 0 ? exercise->sigma2 : exercise->sigma2_b;
    return exercise->tau * exercise->tau * (alpha * dot + sigma2 * along_1 * along_2);
}

/* SPDX-License-Identifier: MIT */
/* Softmax and scores through the engine. */
#include <math.h>
#include <stdlib.h>

#include "lab/exercise/exercise.h"

struct lab_exercise lab_exercise_default(attend_context *ctx)
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
    *exercise = lab_exercise_default(NULL);
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

int lab_exercise_forward(const struct lab_exercise *exercise, struct lab_problem problem)
{
    problem.sink = isfinite(exercise->sink) ? &exercise->sink : NULL;
    return lab_forward(exercise->ctx, &problem, NULL) == ATTEND_OK ? 0 : -1;
}

int lab_exercise_softmax(const struct lab_exercise *exercise, int64_t n, int64_t d,
                         const double *keys, const double *query, double *weights)
{
    return lab_exercise_forward(
        exercise, LAB_PROBLEM(n, d, query, keys, exercise->tau, .weights = weights));
}

int lab_exercise_softmax_scores(const struct lab_exercise *exercise, int64_t n,
                                const double *scores, double *weights)
{
    const double zero = 0;
    double *const keys = calloc((size_t)n, sizeof *keys);
    const int status =
        keys ? lab_exercise_forward(exercise,
                                    LAB_PROBLEM(n, 1, &zero, keys, exercise->tau,
                                                .bias = scores, .weights = weights))
             : -1;
    free(keys);
    return status;
}

int lab_exercise_scores(const struct lab_exercise *exercise, int64_t count, int64_t d,
                        const double *queries, const double *keys, double scale,
                        double *scores)
{
    const struct lab_problem problem =
        LAB_PROBLEM(1, d, queries, keys, scale, .nb = count, .lse = scores);
    return lab_forward(exercise->ctx, &problem, NULL) == ATTEND_OK ? 0 : -1;
}

/* SPDX-License-Identifier: MIT */
/* Softmax through the engine, scores, and what draws of the keys come to. */
#include <math.h>
#include <stdlib.h>

#include "lab/exercise/world.h"
#include "lab/setups/pair.h"

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

int lab_exercise_forward(const struct lab_exercise *exercise, struct lab_problem problem)
{
    problem.sink = isfinite(exercise->sink) ? &exercise->sink : NULL;
    return lab_forward(exercise->ctx, &problem, NULL) == ATTEND_OK ? 0 : -1;
}

int lab_exercise_softmax(const struct lab_exercise *exercise, int64_t n, int64_t d,
                         const double *keys, const double *query, double *weights)
{
    return lab_exercise_forward(exercise, (struct lab_problem){.nk = n,
                                                               .d = d,
                                                               .q = query,
                                                               .k = keys,
                                                               .scale = exercise->tau,
                                                               .weights = weights});
}

int lab_exercise_softmax_scores(const struct lab_exercise *exercise, int64_t n,
                                const double *scores, double *weights)
{
    const double zero = 0;
    double *const keys = calloc((size_t)n, sizeof *keys);
    const int status =
        keys ? lab_exercise_forward(exercise, (struct lab_problem){.nk = n,
                                                                   .d = 1,
                                                                   .q = &zero,
                                                                   .k = keys,
                                                                   .bias = scores,
                                                                   .scale = exercise->tau,
                                                                   .weights = weights})
             : -1;
    free(keys);
    return status;
}

int lab_exercise_scores(const struct lab_exercise *exercise, int64_t count, int64_t d,
                        const double *queries, const double *keys, double scale,
                        double *scores)
{
    const struct lab_problem problem = {.nb = count,
                                        .nk = 1,
                                        .d = d,
                                        .q = queries,
                                        .k = keys,
                                        .scale = scale,
                                        .lse = scores};
    return lab_forward(exercise->ctx, &problem, NULL) == ATTEND_OK ? 0 : -1;
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

/* ---- heads with queries in the plane of mu_a and mu_b -------------------------------
 */

int lab_exercise_pair(const struct lab_exercise *exercise, int64_t n, double gamma,
                      struct lab_pair_query query, struct lab_pair_weights *weights)
{
    const struct lab_point point = {.n = n, .scale = 1, .exercise = exercise};
    struct lab_draws draws = {0};
    double q[LAB_SPACE];

    lab_pair_set_query(q, query.a, query.b, query.rest, exercise->overlap);
    const int status = lab_world_heads_at(&point, gamma, 1, q, &draws);
    if (!status) {
        const struct lab_head *const head = &draws.draw->head[0];
        *weights = (struct lab_pair_weights){
            .a = head->output[0],
            .b = head->output[1],
            .others = head->rest,
            .squares = head->output[2] * head->output[2],
        };
    }
    free(draws.draw);
    return status;
}

double lab_pair_distance(const struct lab_pair_weights *weights, double x, double y)
{
    const double a = weights->a - x, b = weights->b - y;
    return sqrt(a * a + b * b + weights->squares);
}

static void summarise(const struct lab_draws *draws, int heads, struct lab_drawn *drawn)
{
    *drawn = (struct lab_drawn){.count = draws->count,
                                .spread = lab_draws_spread(draws, heads)};
    for (int64_t x = 0; x < draws->count; x++) {
        const struct lab_draw *const draw = &draws->draw[x];
        double c[LAB_SPACE] = {-0.5, -0.5, 0};
        for (int i = 0; i < LAB_SPACE; i++)
            for (int h = 0; h < heads; h++)
                c[i] += draw->head[h].output[i] / heads;
        drawn->to_average += draw->weight * (c[0] * c[0] + c[1] * c[1] + c[2] * c[2]);
        drawn->weight_mean += draw->weight * draw->head[0].output[0];
    }
    drawn->to_average = sqrt(drawn->to_average);
}

int lab_exercise_draw(const struct lab_point *point, int magnitude, int heads,
                      const struct lab_pair_query *queries, struct lab_drawn *drawn)
{
    struct lab_draws draws = {0};
    double query[LAB_HEADS * LAB_SPACE];

    for (int h = 0; h < heads; h++)
        lab_pair_set_query(query + LAB_SPACE * h, queries[h].a, queries[h].b,
                           queries[h].rest, point->exercise->overlap);
    const int status = lab_world_heads(point, magnitude, heads, query, &draws);
    if (!status)
        summarise(&draws, heads, drawn);
    free(draws.draw);
    return status;
}

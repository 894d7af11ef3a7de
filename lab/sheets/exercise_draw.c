/* SPDX-License-Identifier: MIT */
/* Heads with queries in the plane of mu_a and mu_b, and what their draws come to. */
#include <math.h>
#include <stdlib.h>

#include "lab/setups/pair.h"
#include "lab/sheets/world.h"

int lab_exercise_pair_at(const struct lab_exercise *exercise, int64_t n, double gamma,
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

int lab_exercise_pair(const struct lab_exercise *exercise, int64_t n,
                      struct lab_pair_query query, struct lab_pair_weights *weights)
{
    return lab_exercise_pair_at(exercise, n, 1, query, weights);
}

double lab_pair_distance(const struct lab_pair_weights *weights, double x, double y)
{
    const double a = weights->a - x, b = weights->b - y;
    return sqrt(a * a + b * b + weights->squares);
}

static void summarise(const struct lab_draws *draws, int heads, struct lab_drawn *drawn)
{
    *drawn = (struct lab_drawn){.count = draws->count};
    for (int64_t x = 0; x < draws->count; x++) {
        const struct lab_draw *const draw = &draws->draw[x];
        double c[LAB_SPACE] = {-0.5, -0.5, 0};
        for (int i = 0; i < LAB_SPACE; i++)
            for (int h = 0; h < heads; h++)
                c[i] += draw->head[h].output[i] / heads;
        drawn->to_average += draw->weight * (c[0] * c[0] + c[1] * c[1] + c[2] * c[2]);
        drawn->weight_mean += draw->weight * draw->head[0].output[0];
        /* Scores decide who is nearer also where both weights round to 0 or 1. */
        if (draw->head[0].score[0] > draw->head[0].score[1])
            drawn->closer_a += draw->weight;
    }
    drawn->to_average = sqrt(drawn->to_average);
    for (size_t h = 0; h < (size_t)heads; h++)
        drawn->trace[h] = lab_draws_trace(draws, h, h);
    drawn->trace_cross = heads == 2 ? lab_draws_trace(draws, 0, 1) : 0;
    drawn->trace_mean =
        heads == 2 ? (drawn->trace[0] + drawn->trace[1] + 2 * drawn->trace_cross) / 4
                   : drawn->trace[0];
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

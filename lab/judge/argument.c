/* SPDX-License-Identifier: MIT */
/* Cases of an argument, in a world of their own. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lab/judge/scope.h"

enum { N = LAB_SPACE };

static int value_of(struct lab_scope *scope, const char *text, struct lab_value *value)
{
    struct lab_expression formula;
    struct lab_expression_error error;
    return lab_expression_parse(text, &formula, &error) ||
                   lab_scope_value(scope, text, &formula, value)
               ? -1
               : 0;
}

/* Weights of the argument's keys, through the engine. */
static int weigh(const struct lab_argument *argument, struct lab_scope *scope,
                 struct lab_value *weights)
{
    double keys[N][N];
    struct lab_value value;
    for (int i = 0; i < N; i++) {
        if (value_of(scope, argument->key[i], &value))
            return -1;
        memcpy(keys[i], value.x, sizeof keys[i]);
    }
    if (value_of(scope, argument->query, &value))
        return -1;
    weights->rows = N;
    weights->columns = 1;
    return lab_exercise_softmax(scope->point->exercise, N, N, &keys[0][0], value.x,
                                weights->x);
}

/* Correlation of the outputs of two heads over the magnitudes of k_a, n = 10. */
static int correlate(const struct lab_argument *argument, struct lab_scope *scope,
                     struct lab_value *correlation)
{
    const struct lab_point point = {
        .n = 10, .scale = 1, .exercise = scope->point->exercise};
    struct lab_draws draws = {0};
    double query[LAB_HEADS * N];
    struct lab_value value;

    for (int h = 0; h < LAB_HEADS; h++) {
        if (value_of(scope, argument->head[h], &value))
            return -1;
        memcpy(query + N * h, value.x, N * sizeof *query);
    }
    const int status = lab_world_heads(&point, 1, LAB_HEADS, query, &draws);
    if (!status) {
        const double both = lab_draws_trace(&draws, 0, 0) * lab_draws_trace(&draws, 1, 1);
        const double cross = lab_draws_trace(&draws, 0, 1);
        correlation->rows = correlation->columns = 1;
        correlation->x[0] = both > LAB_ROUNDING * LAB_ROUNDING ? cross / sqrt(both) : 0;
    }
    free(draws.draw);
    return status;
}

static int try_case(const struct lab_argument *argument, struct lab_scope *scope,
                    struct lab_case *found)
{
    struct lab_value letter, weights, correlation, premise, conclusion;

    if (value_of(scope, found->of, &letter))
        return -1;
    lab_scope_put(scope, argument->letter, &letter);
    if (argument->query && weigh(argument, scope, &weights))
        return -1;
    if (argument->query)
        lab_scope_put(scope, "p", &weights);
    if (argument->head[0] && correlate(argument, scope, &correlation))
        return -1;
    if (argument->head[0])
        lab_scope_put(scope, "r", &correlation);
    if (value_of(scope, argument->premise, &premise) ||
        value_of(scope, argument->conclusion, &conclusion))
        return -1;
    found->premise = premise.x[0];
    found->conclusion = conclusion.x[0];
    return 0;
}

int lab_argument_try(const struct lab_parsed *parsed, attend_context *ctx, int x,
                     struct lab_case *found)
{
    const struct lab_argument *const argument = &parsed->claim->argument;
    const struct lab_exercise sound = lab_exercise_default(ctx);
    const struct lab_point point = {
        .n = N, .scale = 50, .alpha = 1e-4, .exercise = &sound};
    struct lab_scope scope;

    if (x >= LAB_CASES || !argument->of[x])
        return 1;
    *found = (struct lab_case){.of = argument->of[x]};
    int status = lab_scope_open(&scope, parsed, &point, NULL);
    if (!status)
        status = try_case(argument, &scope, found);
    lab_scope_close(&scope);
    return status;
}

/* SPDX-License-Identifier: MIT */
/* Cases of an argument, in a world of their own. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "lab/sheets/scope.h"

enum { N = LAB_SPACE };

/* Binds one more letter, before all others. */
static void bind(struct lab_scope *scope, const char *name, const struct lab_value *value)
{
    memmove(scope->letter + 1, scope->letter,
            (size_t)scope->count * sizeof *scope->letter);
    scope->letter[0] = (struct lab_letter){
        .name = name, .rows = value->rows, .columns = value->columns, .x = value->x};
    scope->count++;
}

/* Weights of the argument's keys, through the engine. */
static int weigh(const struct lab_argument *argument, const struct lab_scope *scope,
                 struct lab_value *weights, char *why, size_t size)
{
    double keys[N][N];
    struct lab_value value;
    for (int i = 0; i < N; i++) {
        if (lab_scope_value(scope, argument->key[i], &value, why, size))
            return -1;
        memcpy(keys[i], value.x, sizeof keys[i]);
    }
    if (lab_scope_value(scope, argument->query, &value, why, size))
        return -1;
    weights->rows = N;
    weights->columns = 1;
    return lab_exercise_softmax(scope->point->exercise, N, N, &keys[0][0], value.x,
                                weights->x);
}

static int try_case(const struct lab_argument *argument, struct lab_scope *scope,
                    const char *of, struct lab_case *found)
{
    struct lab_value letter, weights, premise, conclusion;
    char *const why = found->text;
    const size_t size = sizeof found->text;

    if (lab_scope_value(scope, of, &letter, why, size))
        return -1;
    bind(scope, argument->letter, &letter);
    if (argument->query && weigh(argument, scope, &weights, why, size))
        return -1;
    if (argument->query)
        bind(scope, "p", &weights);
    if (lab_scope_value(scope, argument->premise, &premise, why, size) ||
        lab_scope_value(scope, argument->conclusion, &conclusion, why, size))
        return -1;
    found->premise = premise.x[0];
    found->conclusion = conclusion.x[0];
    snprintf(found->text, size, "%s; with %s = %s, %s = %.4g", argument->given,
             argument->letter, of, argument->conclusion, conclusion.x[0]);
    return 0;
}

int lab_argument_try(const struct lab_claim *claim, attend_context *ctx, int x,
                     struct lab_case *found)
{
    const struct lab_argument *const argument = &claim->argument;
    const struct lab_exercise sound = lab_exercise_sound(ctx);
    const struct lab_point point = {
        .n = N, .scale = 50, .alpha = 1e-4, .exercise = &sound};
    struct lab_scope scope;

    if (x >= LAB_CASES || !argument->of[x])
        return 1;
    int status = lab_scope_open(&scope, claim, &point);
    if (!status)
        status = try_case(argument, &scope, argument->of[x], found);
    lab_scope_close(&scope);
    return status;
}

/* SPDX-License-Identifier: MIT */
/* Queries that copy the value of a key, or average those of several. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shared/tool.h"
#include "tensors/tensors_tool.h"

struct query {
    struct tensors_engine *engine;
    struct check_problem p; /* one row */
    const struct tensors_task *task;
    double *weights; /* [nk] */
    double shared;   /* what a wanted key should have */
};

/*
 * Half the sum of |weight - wanted weight|, at `factor` times the query: the output is
 * as far from the wanted one as this share of the values' distances.  Negative: failed.
 */
static double miss(struct query *x, const double *q, double factor)
{
    struct check_outputs outputs = {0};
    char reason[300];
    double sum = 0.0;

    for (int64_t c = 0; c < x->p.d; c++)
        x->p.q[c] = factor * q[c];
    if (!check_call(&x->engine->blocks, x->engine->ctx, &x->p, &outputs, reason,
                    sizeof reason)) {
        tool_fail("grade", TOOL_FAILED, "%s", reason);
        return -1.0;
    }
    memcpy(x->weights, outputs.weights, (size_t)x->p.nk * sizeof *x->weights);
    check_outputs_free(&outputs);
    for (int64_t j = 0; j < x->p.nk; j++) {
        double wanted = 0.0;
        for (int w = 0; w < x->task->wanted_count; w++)
            if (x->task->wanted[w] == j)
                wanted = x->shared;
        sum += fabs(x->weights[j] - wanted) / 2.0;
    }
    return sum;
}

static void set_slip(struct tensors_verdict *verdict, const char *name)
{
    verdict->mark = TENSORS_SLIP;
    verdict->slips = 1;
    verdict->slip[0] = name;
}

/* "weight 0.2 of key 3, wanted 1": the wanted key that is furthest from its weight. */
static size_t say_weights(const struct query *x, char *text, size_t size)
{
    int worst = 0;

    for (int w = 1; w < x->task->wanted_count; w++)
        if (fabs(x->weights[x->task->wanted[w]] - x->shared) >
            fabs(x->weights[x->task->wanted[worst]] - x->shared))
            worst = w;
    return (size_t)snprintf(
        text, size, "key %" PRId64 " has the weight %.3g, wanted %.3g",
        x->task->wanted[worst], x->weights[x->task->wanted[worst]], x->shared);
}

/* Names what is wrong with a query whose weights are in x->weights. */
static int name_fault(struct query *x, const double *q, struct tensors_verdict *verdict)
{
    char *const to = verdict->message;
    const size_t size = sizeof verdict->message;
    size_t used = say_weights(x, to, size);
    int64_t copied = -1;

    for (int64_t j = 0; j < x->p.nk; j++)
        if (x->weights[j] >= 1.0 - x->task->tolerance)
            copied = j;
    if (copied >= 0) {
        set_slip(verdict, "other-key");
        snprintf(to + used, size - used, "; your query copies the value of key %" PRId64,
                 copied);
        return TOOL_OK;
    }
    for (int sign = 1; sign >= -1; sign -= 2)
        for (double factor = sign > 0 ? 2.0 : 1.0; factor <= 0x1p20; factor *= 2.0) {
            const double missed = miss(x, q, sign * factor);
            if (missed < 0.0)
                return TOOL_FAILED;
            if (missed > x->task->tolerance)
                continue;
            set_slip(verdict, sign > 0 ? "too-short" : "wrong-sign");
            if (sign > 0)
                snprintf(to + used, size - used,
                         "; your query points the right way and is too short: %g times "
                         "as long gives it",
                         factor);
            else
                snprintf(to + used, size - used,
                         "; your query has the wrong sign: %g times it gives it",
                         -factor);
            return TOOL_OK;
        }
    verdict->mark = TENSORS_WRONG;
    snprintf(to + used, size - used, "; no multiple of your query gives it");
    return TOOL_OK;
}

/* The problem of k alone, with q and v of its shape. */
static int open_keys(const char *inputs, const struct tensors_task *task,
                     struct tensors_problem *problem)
{
    struct tensors_task of_keys = *task;

    of_keys.q = of_keys.v = task->k;
    int status = tensors_problem_open(inputs, &of_keys, problem);
    if (!status && (problem->p.nb > 1 || problem->p.hq > 1))
        status = tool_fail("grade", TOOL_USAGE, "%s: %s: keys of one head are needed",
                           task->name, task->k);
    for (int w = 0; !status && w < task->wanted_count; w++)
        if (task->wanted[w] >= problem->p.nk)
            status = tool_fail("grade", TOOL_USAGE,
                               "%s: wanted: key %" PRId64 ", but %s has %" PRId64 " keys",
                               task->name, task->wanted[w], task->k, problem->p.nk);
    return status;
}

static int judge_query(struct query *x, const struct tensors_given *given,
                       struct tensors_verdict *verdict)
{
    const double missed = miss(x, given->value, 1.0);

    if (missed < 0.0)
        return TOOL_FAILED;
    verdict->difference = missed;
    verdict->bound = x->task->tolerance;
    if (missed > x->task->tolerance)
        return name_fault(x, given->value, verdict);
    verdict->mark = TENSORS_RIGHT;
    verdict->points = x->task->points;
    const size_t used = say_weights(x, verdict->message, sizeof verdict->message);
    snprintf(verdict->message + used, sizeof verdict->message - used, ", within %g",
             x->task->tolerance);
    return TOOL_OK;
}

int tensors_judge_query(struct tensors_engine *engine, const char *inputs,
                        const char *folder, const struct tensors_task *task,
                        struct tensors_verdict *verdict)
{
    struct tensors_problem problem;
    struct tensors_given given = {0};
    char *const why = verdict->message;

    *verdict = (struct tensors_verdict){
        .difference = NAN, .bound = NAN, .slip_difference = NAN, .mark = TENSORS_UNREAD};
    int status = open_keys(inputs, task, &problem);
    if (!status && !tensors_given_open(folder, task->out, &given, why)) {
        struct check_problem *const p = &problem.p;
        struct query x = {.engine = engine,
                          .task = task,
                          .weights = check_memory((size_t)p->nk, sizeof(double)),
                          .shared = 1.0 / task->wanted_count};
        double sum = 0.0;
        for (int64_t c = 0; given.count == p->d && c < p->d; c++)
            sum += fabs(given.value[c]);
        if (given.count != p->d)
            snprintf(why, TENSORS_WHY,
                     "%s: %" PRId64 " numbers where a query has %" PRId64, task->out,
                     given.count, p->d);
        else if (!(sum <= 0x1p100))
            snprintf(why, TENSORS_WHY, "%s: the query is not finite", task->out);
        else {
            p->nq = 1;
            p->wants_weights = 1;
            x.p = *p;
            status = judge_query(&x, &given, verdict);
        }
        free(x.weights);
    }
    free(given.value);
    tensors_problem_free(&problem);
    return status;
}

/* SPDX-License-Identifier: MIT */
/* A student's result beside the right one and those of the usual slips. */
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shared/inputs.h"
#include "tensors/tensors_tool.h"

const char *tensors_mark_name(enum tensors_mark mark)
{
    static const char *const names[] = {"right", "loose", "slip", "wrong", "unread"};
    return names[mark];
}

const char *tensors_mark_words(enum tensors_mark mark)
{
    static const char *const words[] = {"right", "right, low precision", "slip", "wrong",
                                        "not read"};
    return words[mark];
}

/* ---- comparisons ------------------------------------------------------------------ */

/* Of two results: largest difference, and the largest ratio to the bound. */
struct distance {
    double difference, ratio, bound;
    double largest;         /* number of the result that is wanted */
    int64_t compared, nans; /* numbers; those that are not finite where they should be */
    int64_t first_nan;
};

static struct distance compare(const double *got, const struct tensors_result *want)
{
    struct distance distance = {.bound = NAN, .first_nan = -1};

    for (int64_t at = 0; at < want->count; at++) {
        if (want->bound[at] < 0.0)
            continue;
        const double ratio =
            isnan(want->value[at])
                ? (isfinite(got[at]) ? INFINITY : 0.0)
                : (isfinite(got[at]) ? fabs(got[at] - want->value[at]) / want->bound[at]
                                     : INFINITY);
        distance.compared++;
        if (isfinite(want->value[at]))
            distance.largest = fmax(distance.largest, fabs(want->value[at]));
        if (isfinite(want->value[at]) && !isfinite(got[at]) && !distance.nans++)
            distance.first_nan = at;
        if (isfinite(want->value[at]) && isfinite(got[at]))
            distance.difference =
                fmax(distance.difference, fabs(got[at] - want->value[at]));
        if (distance.compared == 1 || ratio > distance.ratio) {
            distance.ratio = ratio;
            distance.bound = want->bound[at];
        }
    }
    return distance;
}

/*
 * Whether a result is one that is wanted.  Bounds of 16 bits may be as large as small
 * results: differences have to be below an eighth of the largest number as well.
 */
static int is_within(const struct distance *distance, const struct tensors_level *level)
{
    return distance->ratio <= 1.0 &&
           (level->step == 0.0 || distance->difference <= distance->largest / 8.0);
}

/* Sizes without axes of 1. */
static int narrow(const struct tensors_result *result, int64_t size[4])
{
    int ndim = 0;

    for (int a = 0; a < 4; a++)
        if (result->size[a] != 1)
            size[ndim++] = result->size[a];
    return ndim;
}

static int is_shaped(const struct tensors_given *given,
                     const struct tensors_result *result)
{
    int64_t size[4];
    const int ndim = narrow(result, size);

    return given->value && ndim == given->ndim &&
           !memcmp(size, given->size, (size_t)ndim * sizeof *size);
}

static int is_same_shape(const struct tensors_result *a, const struct tensors_result *b)
{
    return !memcmp(a->size, b->size, sizeof a->size);
}

/* The shape of the right result, as its file has it. */
static struct shape_text shape_of(const struct tensors_result *result)
{
    return shape_text(result->size + 4 - result->ndim, result->ndim);
}

/* ---- one task --------------------------------------------------------------------- */

struct comparison {
    struct tensors_engine *engine;
    const struct tensors_problem *problem;
    const struct tensors_given *given;
    struct tensors_result right; /* at the level of the file */
    const struct tensors_level *level;
    attend_dtype out;
    struct tensors_verdict *verdict;
};

/* A slip whose result the student's may be. */
struct match {
    const struct tensors_slip *slip;
    struct distance distance;
};

__attribute__((format(printf, 2, 3))) static void say(struct tensors_verdict *verdict,
                                                      const char *format, ...)
{
    const size_t used = strlen(verdict->message);
    va_list args;

    va_start(args, format);
    vsnprintf(verdict->message + used, sizeof verdict->message - used, format, args);
    va_end(args);
}

/*
 * Compares one slip at a level, and with the right result, to which it may be equal on
 * these inputs.
 */
static int try_slip(struct comparison *x, int s, const struct tensors_level *level,
                    struct match *match)
{
    struct tensors_result result;

    *match = (struct match){.slip = &tensors_slips[s], .distance.ratio = INFINITY};
    /* Another arithmetic overflows elsewhere. */
    if (level != x->level && match->slip->softmax != NO_SUBTRACT
            ? x->verdict->effect[s] != TENSORS_DISTINCT
            : !tensors_slip_applies(x->problem, match->slip))
        return TOOL_OK;
    const int status =
        tensors_evaluate(x->engine, x->problem, match->slip, level, x->out, &result);
    const int is_equal = !status && is_same_shape(&result, &x->right) &&
                         compare(result.value, &x->right).ratio <= 1.0;
    if (!status && level == x->level)
        x->verdict->effect[s] = is_equal ? TENSORS_EQUAL : TENSORS_DISTINCT;
    /* Rows that see no key are not compared: most of them are to be. */
    if (!status && !is_equal && is_shaped(x->given, &result)) {
        match->distance = compare(x->given->value, &result);
        if (2 * match->distance.compared < x->given->count)
            match->distance.ratio = INFINITY;
    }
    tensors_result_free(&result);
    return status;
}

/*
 * Slips within their bound at a level, the nearest first; beyond the level of the file
 * only those as near as twice the first.
 */
static int find_slips(struct comparison *x, const struct tensors_level *level,
                      struct match *matches, int *count)
{
    int found = 0;

    for (int s = 0; s < tensors_slip_count; s++) {
        struct match match;
        int at = 0;
        const int status = try_slip(x, s, level, &match);
        if (status)
            return status;
        if (!is_within(&match.distance, level))
            continue;
        while (at < found && matches[at].distance.difference <= match.distance.difference)
            at++;
        memmove(matches + at + 1, matches + at, (size_t)(found - at) * sizeof *matches);
        matches[at] = match;
        found++;
    }
    *count = 0;
    while (*count < found && *count < TENSORS_NAMED &&
           (level == x->level ||
            matches[*count].distance.difference <= 2.0 * matches[0].distance.difference))
        ++*count;
    return TOOL_OK;
}

static void name_slips(struct comparison *x, const struct tensors_level *level,
                       const struct match *matches, int count,
                       const struct distance *right)
{
    struct tensors_verdict *const verdict = x->verdict;

    verdict->mark = TENSORS_SLIP;
    verdict->level = level->name;
    verdict->slips = count;
    verdict->slip_difference = matches[0].distance.difference;
    say(verdict, "your result is that of ");
    for (int m = 0; m < count; m++) {
        verdict->slip[m] = matches[m].slip->name;
        say(verdict, "%s%s", m ? ", or of " : "", matches[m].slip->words);
    }
    say(verdict, " (largest difference %.1g", verdict->slip_difference);
    if (level != x->level)
        say(verdict, ", within the bound of %s", level->name);
    if (!right)
        say(verdict, "); the right one has the shape %s", shape_of(&x->right).text);
    else if (right->nans)
        say(verdict, "); %" PRId64 " of %" PRId64 " numbers are not finite", right->nans,
            right->compared);
    else
        say(verdict, "); the right one differs by %.2g", right->difference);
}

static void call_right(struct comparison *x, const struct tensors_level *level,
                       const struct distance *right)
{
    struct tensors_verdict *const verdict = x->verdict;

    verdict->mark = level == x->level ? TENSORS_RIGHT : TENSORS_LOOSE;
    verdict->level = level->name;
    verdict->bound = right->bound;
    say(verdict, "largest difference %.1g, within the bound of %s (%.1g)",
        right->difference, level->name, right->bound);
    if (level != x->level)
        say(verdict, "; it is beyond that of %s", x->level->name);
}

/* Whether a result that is wrong would be right if its arithmetic were float16's. */
static int is_near(struct comparison *x, int *near)
{
    struct tensors_result right;
    const int status = tensors_evaluate(x->engine, x->problem, &(struct tensors_slip){0},
                                        &tensors_levels[2], x->out, &right);

    if (!status) {
        const struct distance distance = compare(x->given->value, &right);
        *near = is_within(&distance, &tensors_levels[2]);
    }
    tensors_result_free(&right);
    return status;
}

static int call_wrong(struct comparison *x, const struct distance *right)
{
    struct tensors_verdict *const verdict = x->verdict;
    int near = 0;

    verdict->mark = TENSORS_WRONG;
    if (!right)
        say(verdict, "shape %s: %s is needed; ",
            shape_text(x->given->size, x->given->ndim).text, shape_of(&x->right).text);
    else if (right->nans)
        say(verdict,
            "%" PRId64 " of %" PRId64 " numbers are not finite, the first is number "
            "%" PRId64 "; ",
            right->nans, right->compared, right->first_nan);
    else {
        verdict->bound = right->bound;
        say(verdict, "largest difference %.2g, bound of %s %.1g; ", right->difference,
            x->level->name, right->bound);
    }
    say(verdict, "it is the result of none of the usual slips");
    const int status = right ? is_near(x, &near) : TOOL_OK;
    if (near)
        say(verdict, ", and near enough for a step in float16");
    return status;
}

/* Whether all numbers are numbers of a format of 16 bits. */
static int is_of_format(const struct tensors_given *given, attend_dtype dtype)
{
    for (int64_t at = 0; at < given->count; at++)
        if (isfinite(given->value[at]) &&
            check_round(dtype, given->value[at]) != given->value[at])
            return 0;
    return 1;
}

/* Compares at one level: `done` if it decides. */
static int judge_at(struct comparison *x, const struct tensors_level *level,
                    struct match *matches, int *done)
{
    struct tensors_result right;
    struct distance distance = {.ratio = INFINITY};
    int count = 0;
    int status = tensors_evaluate(x->engine, x->problem, &(struct tensors_slip){0}, level,
                                  x->out, &right);
    const int fits = is_shaped(x->given, &right);

    if (!status && fits)
        distance = compare(x->given->value, &right);
    tensors_result_free(&right);
    if (!status)
        status = find_slips(x, level, matches, &count);
    *done = 1;
    if (status)
        return status;
    if (is_within(&distance, level) &&
        (!count || distance.difference <= matches[0].distance.difference))
        call_right(x, level, &distance);
    else if (count)
        name_slips(x, level, matches, count, fits ? &distance : NULL);
    else
        *done = 0;
    return TOOL_OK;
}

static int judge_given(struct comparison *x)
{
    struct tensors_verdict *const verdict = x->verdict;
    struct match *const matches =
        check_memory((size_t)tensors_slip_count + 1, sizeof *matches);
    const int fits = is_shaped(x->given, &x->right);
    const struct distance right =
        fits ? compare(x->given->value, &x->right) : (struct distance){0};
    int status = TOOL_OK, done = 0;

    if (fits)
        verdict->difference = right.nans ? INFINITY : right.difference;
    for (const struct tensors_level *level = x->level;
         !status && !done && level < tensors_levels + TENSORS_LEVELS; level++)
        if (level->step == 0.0 || is_of_format(x->given, level->dtype))
            status = judge_at(x, level, matches, &done);
    if (!status && !done)
        status = call_wrong(x, fits ? &right : NULL);
    free(matches);
    return status;
}

/* Which slips the inputs distinguish, where there is no result. */
static int judge_inputs(struct comparison *x)
{
    int status = TOOL_OK;

    for (int s = 0; !status && s < tensors_slip_count; s++) {
        struct match match;
        status = try_slip(x, s, x->level, &match);
    }
    return status;
}

int tensors_judge(struct tensors_engine *engine, const char *inputs, const char *folder,
                  const struct tensors_task *task, struct tensors_verdict *verdict)
{
    struct tensors_problem problem;
    struct tensors_given given = {0};
    struct comparison x = {
        .engine = engine, .problem = &problem, .given = &given, .verdict = verdict};
    char why[TENSORS_WHY];

    *verdict =
        (struct tensors_verdict){.difference = NAN, .bound = NAN, .slip_difference = NAN};
    int status = tensors_problem_open(inputs, task, &problem);
    const int is_read = !status && !tensors_given_open(folder, task->out, &given, why);
    if (!status) {
        x.out = is_read ? given.dtype : problem.dtype;
        /* Inputs in float32 may be computed with in float32, and results of 16 bits come
         * from sums in it. */
        x.level = &tensors_levels[x.out != ATTEND_F64 || problem.dtype != ATTEND_F64];
        status = tensors_evaluate(engine, &problem, &(struct tensors_slip){0}, x.level,
                                  x.out, &x.right);
    }
    if (!status && compare(x.right.value, &x.right).compared == 0)
        status = tool_fail("grade", TOOL_USAGE, "%s: no query sees a key", task->name);
    if (!status && is_read)
        status = judge_given(&x);
    else if (!status) {
        status = judge_inputs(&x);
        verdict->mark = TENSORS_UNREAD;
        say(verdict, "%s", why);
    }
    if (verdict->mark == TENSORS_RIGHT || verdict->mark == TENSORS_LOOSE)
        verdict->points = task->points;
    tensors_result_free(&x.right);
    free(given.value);
    tensors_problem_free(&problem);
    return status;
}

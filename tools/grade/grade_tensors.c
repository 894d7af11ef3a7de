/* SPDX-License-Identifier: MIT */
/* `attend grade --tensors`: reads an exercise, judges its tasks, prints the verdicts. */
#define _POSIX_C_SOURCE 200809L

#include "grade/grade_tensors.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "grade/grade_tool.h"
#include "shared/json_line.h"
#include "tensors/tensors_tool.h"

struct graded_tensors {
    const struct tensors_options *options;
    struct tensors_exercise exercise;
    char inputs[4096]; /* the folder of the inputs */
    struct tensors_verdict *verdicts;
    double points, of;
};

/* ---- slips that no task distinguishes --------------------------------------------- */

/* Whether a slip can be made, and is equal to the right result in every such task. */
static int is_equal(const struct graded_tensors *g, int slip)
{
    int equal = 0;

    for (int t = 0; t < g->exercise.count; t++) {
        if (g->verdicts[t].effect[slip] == TENSORS_DISTINCT)
            return 0;
        equal |= g->verdicts[t].effect[slip] == TENSORS_EQUAL;
    }
    return equal;
}

static void put_equal(struct lab_json *json, const struct graded_tensors *g)
{
    lab_json_put(json, "equal_slips:[");
    for (int s = 0; s < tensors_slip_count; s++)
        if (is_equal(g, s))
            lab_json_text(json, tensors_slips[s].name);
    lab_json_end(json, ']');
}

/* ---- output ----------------------------------------------------------------------- */

static void print_text(const struct graded_tensors *g)
{
    int equal = 0;

    printf("%s: %g of %g points\n", g->options->folder, g->points, g->of);
    for (int t = 0; t < g->exercise.count; t++) {
        const struct tensors_verdict *const verdict = &g->verdicts[t];
        char points[40];
        snprintf(points, sizeof points, "%g/%g", verdict->points,
                 g->exercise.task[t].points);
        printf("  %-20s%-21s%6s\n%10s", g->exercise.task[t].name,
               tensors_mark_words(verdict->mark), points, "");
        tool_print_wrapped(verdict->message, 10);
    }
    for (int s = 0; s < tensors_slip_count; s++)
        if (is_equal(g, s)) {
            if (!equal++)
                puts("  equal to the right result on these inputs:");
            printf("%10s", "");
            tool_print_wrapped(tensors_slips[s].words, 10);
        }
}

static void put_task(struct lab_json *json, const struct graded_tensors *g, int t)
{
    const struct tensors_verdict *const verdict = &g->verdicts[t];

    lab_json_begin(json, '{');
    lab_json_put(json,
                 "task:s verdict:s points:r of:r difference:r bound:r arithmetic:s "
                 "slip_difference:r message:s slips:[",
                 g->exercise.task[t].name, tensors_mark_name(verdict->mark),
                 verdict->points, g->exercise.task[t].points, verdict->difference,
                 verdict->bound, verdict->level, verdict->slip_difference,
                 verdict->message);
    for (int s = 0; s < verdict->slips; s++)
        lab_json_text(json, verdict->slip[s]);
    lab_json_end(json, ']');
    lab_json_put(json, "equal_slips:[");
    for (int s = 0; s < tensors_slip_count; s++)
        if (verdict->effect[s] == TENSORS_EQUAL)
            lab_json_text(json, tensors_slips[s].name);
    lab_json_end(json, ']');
    lab_json_end(json, '}');
}

static int print_json(const struct graded_tensors *g)
{
    struct lab_json json;

    tool_open_json(&json);
    lab_json_put(&json, "folder:s points:r of:r tasks:[", g->options->folder, g->points,
                 g->of);
    for (int t = 0; t < g->exercise.count; t++)
        put_task(&json, g, t);
    lab_json_end(&json, ']');
    put_equal(&json, g);
    return tool_put_json("grade", &json);
}

/* results.json of Gradescope. */
static int print_results(const struct graded_tensors *g)
{
    struct lab_json json;

    tool_open_json(&json);
    lab_json_put(&json, "tests:[");
    for (int t = 0; t < g->exercise.count; t++) {
        const struct tensors_verdict *const verdict = &g->verdicts[t];
        char text[1100], number[12];
        snprintf(text, sizeof text, "%s\n%s", tensors_mark_words(verdict->mark),
                 verdict->message);
        snprintf(number, sizeof number, "%d", t + 1);
        lab_json_begin(&json, '{');
        lab_json_put(&json, "name:s number:s score:r max_score:r visibility:s output:s",
                     g->exercise.task[t].name, number, verdict->points,
                     g->exercise.task[t].points, "visible", text);
        lab_json_end(&json, '}');
    }
    lab_json_end(&json, ']');
    lab_json_put(&json, "extra_data:{");
    put_equal(&json, g);
    lab_json_end(&json, '}');
    return tool_put_json("grade", &json);
}

/* ---- grading ---------------------------------------------------------------------- */

static int exists(const char *folder, const char *name)
{
    char path[4096 + 64];
    struct stat info;

    snprintf(path, sizeof path, "%s/%s", folder, name);
    return !stat(path, &info);
}

/* The folder that a file lies in. */
static void set_folder(const char *path, char *folder, size_t size)
{
    const char *const slash = strrchr(path, '/');

    if (slash)
        snprintf(folder, size, "%.*s", slash == path ? 1 : (int)(slash - path), path);
    else
        snprintf(folder, size, ".");
}

static int open_exercise(struct graded_tensors *g)
{
    const struct tensors_options *const o = g->options;
    char path[4096 + 64], why[TENSORS_WHY];
    struct stat info;
    size_t size;

    if (stat(o->folder, &info) || !S_ISDIR(info.st_mode) ||
        strlen(o->folder) >= sizeof g->inputs)
        return tool_fail("grade", TOOL_USAGE, "--tensors: %.1000s: not a folder",
                         o->folder);
    snprintf(g->inputs, sizeof g->inputs, "%s", o->folder);
    if (!o->exercise && !exists(o->folder, "exercise.json")) {
        tensors_exercise_default(exists(o->folder, "causal.npy"), &g->exercise);
        return TOOL_OK;
    }
    if (!o->exercise)
        snprintf(path, sizeof path, "%s/exercise.json", o->folder);
    else if ((size_t)snprintf(path, sizeof path, "%s", o->exercise) >= sizeof g->inputs)
        return tool_fail("grade", TOOL_USAGE, "--exercise: the name is too long");
    set_folder(path, g->inputs, sizeof g->inputs);
    char *const bytes = graded_read(path, &size);
    if (!bytes)
        return TOOL_USAGE;
    const int failed = tensors_exercise_read(bytes, size, &g->exercise, why);
    free(bytes);
    return failed ? tool_fail("grade", TOOL_USAGE, "%s: %s", path, why) : TOOL_OK;
}

static int judge_all(struct graded_tensors *g)
{
    attend_options options = attend_options_default();
    struct tensors_engine engine = {0};
    int status;

    options.threads = g->options->threads ? g->options->threads : 1;
    if (!(g->verdicts = tool_zeros(g->exercise.count, sizeof *g->verdicts)))
        return tool_fail("grade", TOOL_FAILED, "out of memory");
    if ((status = tool_create_context("grade", &options, &engine.ctx)))
        return status;
    for (int t = 0; !status && t < g->exercise.count; t++) {
        const struct tensors_task *const task = &g->exercise.task[t];
        status = (task->kind == TENSORS_ATTENTION ? tensors_judge : tensors_judge_query)(
            &engine, g->inputs, g->options->folder, task, &g->verdicts[t]);
        g->points += g->verdicts[t].points;
        g->of += task->points;
    }
    check_blocks_free(&engine.blocks);
    attend_context_destroy(engine.ctx);
    return status;
}

int grade_tensors(const struct tensors_options *options)
{
    struct graded_tensors g = {.options = options};
    int status;

    if (options->make)
        return options->folder || options->exercise || options->as_json ||
                       options->as_results
                   ? tool_fail("grade", TOOL_USAGE, "--make-tensors takes --seed alone")
                   : tensors_make(options->make, options->seed);
    if (!options->folder)
        return tool_fail("grade", TOOL_USAGE, "--exercise needs --tensors");
    status = open_exercise(&g);
    if (!status)
        status = judge_all(&g);
    if (!status && options->as_json)
        status = print_json(&g);
    else if (!status && options->as_results)
        status = print_results(&g);
    else if (!status)
        print_text(&g);
    free(g.verdicts);
    tensors_exercise_free(&g.exercise);
    return status;
}

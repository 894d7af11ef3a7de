/* SPDX-License-Identifier: MIT */
/* `attend grade`: answers to the exercise, judged by evaluation. */
#include "shared/commands.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "grade/grade_tensors.h"
#include "grade/grade_tool.h"
#include "lab/grade/courses.h"
#include "lab/measure/parallel.h"
#include "shared/flags.h"
#include "shared/json_line.h"

static const char help_text[] =
    "usage: attend grade FILE... [--csv | --json | --gradescope | --summary] [--hints]\n"
    "                    [--course NAME] [--rubric FILE] [--seed N]\n"
    "                    [--roster FILE] [--anonymous] [--report FILE] [--feedback "
    "FOLDER]\n"
    "       attend grade --template [--course NAME]\n"
    "       attend grade --autograder FILE [--course NAME] [--rubric FILE] [--hints]\n"
    "       attend grade --tensors DIR [--exercise FILE] [--json | --gradescope]\n"
    "       attend grade --make-tensors DIR [--seed N]\n"
    "\n"
    "Grades answers to the exercise on attention.  FILE is a form in JSON, or a folder:\n"
    "a class, all of its *.json in the order of their names.  Queries, matrices, "
    "weights,\n"
    "limits and variances are formulas in the letters of the exercise.  They are not\n"
    "compared with a solution: each is evaluated beside what the engine computes, in\n"
    "fourteen worlds that differ in n, scale and noise.  Verdicts:\n"
    "  right                in every world\n"
    "  right in the limit   the error vanishes as C grows, or alpha falls, or where\n"
    "                       gamma > 0\n"
    "  partly right         some texts of a list are right, each judged alone\n"
    "  slip                 right once a letter or a side is repaired\n"
    "  wrong                there is a counterexample, which is shown; common errors "
    "are\n"
    "                       named\n"
    "  not read             a part that cannot be read costs its own points alone\n"
    "\n"
    "options:\n"
    "@18 template course rubric csv json summary hints seed threads help\n"
    "\n"
    "for a class:\n"
    "@21 roster report feedback anonymous gradescope autograder\n"
    "\n"
    "exercises in code: results of attention in .npy and .safetensors files are "
    "compared\n"
    "with the engine, and with the usual slips, which are computed:\n"
    "@22 tensors exercise make-tensors\n"
    "\n"
    "A file that is not JSON, and what a form has beside its questions, is named on\n"
    "standard error with place and reason; the rest is graded, and the exit status is "
    "2.\n"
    "\n"
    "example: an answer, with hints; a class\n"
    "  attend grade examples/answers/sheet-001.json --hints\n"
    "  attend grade answers --course w26 --roster roster.csv --csv --report class.html\n";

/* ---- grading -------------------------------------------------------------------- */

struct session {
    struct graded *graded;
    int count;
    const struct lab_scheme *scheme;
    const struct lab_rubric *rubric;
    uint64_t seed;
    atomic_int next;
};

/* One grader of several: takes the next answer until none is left. */
static void grade_in_turn(void *arg, int w)
{
    struct session *const s = arg;
    int g;
    (void)w;
    while ((g = atomic_fetch_add(&s->next, 1)) < s->count)
        graded_grade(&s->graded[g], s->scheme, s->rubric, s->seed);
}

struct options {
    int wants_template, as_csv, as_json, as_results, as_summary, hints, is_anonymous,
        threads, course;
    const char *rubric, *roster, *report, *feedback, *autograder;
    int64_t seed;
    struct tensors_options tensors;
};

/* What a run holds: the rules, the roster, the files, and the answers. */
struct run {
    struct lab_scheme scheme;
    struct lab_rubric rubric;
    struct roster roster;
    struct graded_list list;
    struct graded_class all;
};

static int write_all(const struct graded_class *all, const struct options *o)
{
    int status = TOOL_OK;

    if (o->feedback)
        status = grade_write_feedback(all, o->feedback);
    if (!status && o->report)
        status = grade_write_report(all, o->report);
    if (status)
        return status;
    if (o->as_results)
        return grade_print_results(all, NULL);
    if (o->as_csv || o->as_json || o->as_summary)
        return grade_print(all, o->as_csv    ? GRADE_CSV
                                : o->as_json ? GRADE_JSON
                                             : GRADE_SUMMARY);
    /* A page or a folder is output enough. */
    return o->report || o->feedback ? TOOL_OK : grade_print(all, GRADE_TEXT);
}

static int grade_all(struct run *run, const struct options *o)
{
    struct graded_class *const all = &run->all;
    struct session session = {.graded = all->graded,
                              .count = all->count,
                              .scheme = &run->scheme,
                              .rubric = &run->rubric,
                              .seed = (uint64_t)o->seed};
    lab_parallel(o->threads < all->count ? o->threads : all->count, grade_in_turn,
                 &session);
    for (int g = 0; g < all->count; g++)
        if (all->graded[g].failed)
            return tool_fail("grade", TOOL_FAILED, "%s: out of memory",
                             all->graded[g].path);
    return write_all(all, o);
}

/* Opens every file; those that are not forms are reported, and have no grade. */
static int grade_list(struct run *run, struct options *o)
{
    struct graded_class *const all = &run->all;
    int status = TOOL_OK;

    all->graded = calloc((size_t)run->list.count + 1, sizeof *all->graded);
    if (!all->graded)
        return tool_fail("grade", TOOL_FAILED, "out of memory");
    for (int i = 0; i < run->list.count; i++)
        if (graded_open(run->list.path[i], &all->graded[all->count++]))
            status = TOOL_USAGE;
    if (o->roster) {
        const int ordered = roster_order(&run->roster, &all->graded, &all->count);
        if (ordered == TOOL_FAILED)
            return ordered;
        status = ordered ? ordered : status;
    }
    const int done = grade_all(run, o);
    return done ? done : status;
}

/* ---- words ----------------------------------------------------------------------- */

static int print_template(const struct lab_scheme *scheme)
{
    struct lab_json json;

    lab_json_open(&json, LAB_JSON_SHORT);
    json.indent = 2;
    lab_form_put_empty(&json, scheme);
    return tool_put_text("grade", lab_json_close(&json));
}

/* Options that do not go together: TOOL_OK, or TOOL_USAGE with a message. */
static int check_options(const struct run *run, const struct options *o)
{
    const int formats = o->as_csv + o->as_json + o->as_results + o->as_summary;
    const int has_class = o->roster || o->report || o->feedback || o->is_anonymous;

    if ((o->wants_template || o->autograder) &&
        (run->list.count || formats || has_class || (o->wants_template && o->rubric)))
        return tool_fail("grade", TOOL_USAGE, "--%s stands alone%s",
                         o->wants_template ? "template" : "autograder",
                         o->wants_template ? ", or with --course"
                                           : ", or with --course, --rubric, --hints");
    if (formats > 1)
        return tool_fail("grade", TOOL_USAGE,
                         "--csv, --json, --gradescope and --summary exclude each other");
    if (!run->list.count && !o->wants_template && !o->autograder)
        return tool_fail("grade", TOOL_USAGE,
                         "no file: see 'attend grade --help', or --template");
    if (o->as_results && (run->list.count > 1 || has_class))
        return tool_fail("grade", TOOL_USAGE, "--gradescope is of one file, not of %s",
                         has_class ? "a class" : "several");
    return TOOL_OK;
}

/* Exercises in code take no forms. */
static int perform_tensors(const struct run *run, struct options *o)
{
    if (run->list.count || o->wants_template || o->as_csv || o->as_summary || o->hints ||
        o->rubric || o->course >= 0 || o->roster || o->report || o->feedback ||
        o->is_anonymous || o->autograder || (o->as_json && o->as_results))
        return tool_fail("grade", TOOL_USAGE,
                         "--tensors takes --exercise, and --json or --gradescope alone");
    o->tensors.as_json = o->as_json;
    o->tensors.as_results = o->as_results;
    o->tensors.seed = (uint64_t)o->seed;
    o->tensors.threads = o->threads;
    return grade_tensors(&o->tensors);
}

static int perform(struct run *run, struct options *o)
{
    if (o->tensors.folder || o->tensors.exercise || o->tensors.make)
        return perform_tensors(run, o);
    int status = check_options(run, o);
    if (!status)
        status = graded_rules(o->course, o->rubric, &run->scheme, &run->rubric);
    if (status)
        return status;
    run->all.scheme = &run->scheme;
    run->all.hints = o->hints;
    run->all.is_anonymous = o->is_anonymous;
    run->all.has_ids = o->roster != NULL;
    if (o->wants_template)
        return print_template(&run->scheme);
    if (o->autograder)
        return grade_write_autograder(o->autograder, o->course, o->rubric, o->hints,
                                      o->seed);
    if (o->roster)
        status = roster_read(o->roster, &run->roster);
    if (!status)
        status = tool_choose_threads("grade", &o->threads);
    return status ? status : grade_list(run, o);
}

static void close_run(struct run *run)
{
    for (int g = 0; g < run->all.count; g++)
        lab_form_free(&run->all.graded[g].form);
    free(run->all.graded);
    roster_free(&run->roster);
    graded_list_free(&run->list);
}

int cmd_grade(int argc, char **argv)
{
    struct options o = {.course = -1, .seed = 1};
    const struct tool_flag flags[] = {
        FLAG_SWITCH("template", &o.wants_template,
                    "print a form that is empty and has help; _help is ignored"),
        FLAG_SWITCH("csv", &o.as_csv,
                    "a line for each student: points of each question, and all"),
        FLAG_SWITCH("json", &o.as_json,
                    "a JSON object for each student, with every part"),
        FLAG_SWITCH("gradescope", &o.as_results,
                    "results.json of one file for Gradescope: a test for each part"),
        FLAG_CHOICE("course", &o.course, lab_course_names, "NAME",
                    "questions and points of a course's handout: w21, w22, w26"),
        FLAG_TEXT("roster", &o.roster, "FILE",
                  "a CSV with columns id and name: every student of it is graded, or\n"
                  "has no answer; the CSV begins with the id"),
        FLAG_TEXT("report", &o.report, "FILE",
                  "write a page of the class: points, errors, equal wrong formulas,\n"
                  "and what a person has to read"),
        FLAG_TEXT("feedback", &o.feedback, "FOLDER",
                  "write a text of each student into the folder"),
        FLAG_SWITCH("anonymous", &o.is_anonymous,
                    "numbers in place of names, ids and files"),
        FLAG_TEXT("autograder", &o.autograder, "FILE",
                  "write a zip for Gradescope, with a static command in it"),
        FLAG_SWITCH("summary", &o.as_summary,
                    "the class as a table: right answers and points of each part, and\n"
                    "errors with counts"),
        FLAG_SWITCH("hints", &o.hints, "a hint in place of the solution"),
        FLAG_TEXT("rubric", &o.rubric, "FILE",
                  "other points: {\"points\": {\"1b-i\": {\"M\": 5}, \"1e\": 3},\n"
                  "\"credit\": {\"limit\": 0.5, \"slip\": 0.5}}"),
        FLAG_INT64("seed", &o.seed, 0, INFINITY, "N",
                   "worlds derive from N (1) and the name of the file alone"),
        FLAG_THREADS(&o.threads, "threads (all)"),
        FLAG_TEXT("tensors", &o.tensors.folder, "DIR",
                  "judge the results in this folder: out.npy of q.npy, k.npy and\n"
                  "v.npy, or those of its exercise.json"),
        FLAG_TEXT("exercise", &o.tensors.exercise, "FILE",
                  "the tasks; their inputs lie beside this file"),
        FLAG_TEXT("make-tensors", &o.tensors.make, "DIR",
                  "write an exercise to start from to a new folder; its inputs are\n"
                  "drawn from --seed"),
    };
    struct run run = {.all.count = 0};

    argc = tool_take_words(argc, argv, FLAG_TABLE(flags), graded_list_take, &run.list);
    int status = argc < 0
                     ? TOOL_USAGE
                     : tool_read_flags("grade", argc, argv, FLAG_TABLE(flags), help_text);
    if (!status)
        status = tool_finish_output("grade", perform(&run, &o));
    close_run(&run);
    return status;
}

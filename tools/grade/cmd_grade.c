/* SPDX-License-Identifier: MIT */
/* `attend grade`: answers to the exercise, judged by evaluation. */
#define _POSIX_C_SOURCE 200809L

#include "shared/commands.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "grade/grade_tensors.h"
#include "grade/grade_tool.h"
#include "lab/measure/parallel.h"
#include "shared/flags.h"
#include "shared/json_line.h"

static const char help_text[] =
    "usage: attend grade FILE... [--csv | --json | --gradescope | --summary] [--hints]\n"
    "                    [--rubric FILE] [--seed N]\n"
    "       attend grade --template\n"
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
    "  slip                 wrong or ill formed as written, true once one symbol is\n"
    "                       repaired: a letter, a sign, an index, a norm, a factor or\n"
    "                       a side\n"
    "  wrong                there is a counterexample, which is shown; common errors "
    "are\n"
    "                       named\n"
    "  not read             a part that cannot be read costs its own points alone\n"
    "\n"
    "options:\n"
    "@18 template csv json gradescope summary hints rubric seed threads help\n"
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
    "example: an answer, with hints\n"
    "  attend grade examples/answers/sheet-001.json --hints\n";

/* ---- files --------------------------------------------------------------------- */

struct list {
    char **path;
    int count;
};

static int add_path(struct list *list, const char *folder, const char *name)
{
    const size_t size = strlen(folder) + strlen(name) + 2;
    char **const grown = realloc(list->path, sizeof *grown * (size_t)(list->count + 1));
    char *const path = malloc(size);
    if (grown)
        list->path = grown;
    if (!grown || !path) {
        free(path);
        return tool_fail("grade", TOOL_FAILED, "out of memory");
    }
    snprintf(path, size, "%s%s%s", folder, *folder ? "/" : "", name);
    list->path[list->count++] = path;
    return TOOL_OK;
}

static void free_list(struct list *list)
{
    for (int i = 0; i < list->count; i++)
        free(list->path[i]);
    free(list->path);
}

static int is_form(const struct dirent *entry)
{
    const size_t length = strlen(entry->d_name);
    return entry->d_name[0] != '.' && length > 5 &&
           !strcmp(entry->d_name + length - 5, ".json");
}

/* The order of bytes, whatever the locale. */
static int by_name(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

static int add_folder(struct list *list, const char *folder)
{
    struct dirent **entry = NULL;
    const int found = scandir(folder, &entry, is_form, by_name);
    int status = TOOL_OK;
    if (found < 0)
        return tool_fail("grade", TOOL_USAGE, "%s: %s", folder, strerror(errno));
    for (int i = 0; i < found; i++) {
        if (!status)
            status = add_path(list, folder, entry[i]->d_name);
        free(entry[i]);
    }
    free(entry);
    if (found == 0)
        return tool_fail("grade", TOOL_USAGE, "%s: no *.json in this folder", folder);
    return status;
}

/* NULL with a message.  A pipe without a writer is refused, not waited for. */
static FILE *open_plain(const char *path)
{
    struct stat info;
    const int descriptor = open(path, O_RDONLY | O_NONBLOCK);
    FILE *file = NULL;
    if (descriptor < 0 || fstat(descriptor, &info))
        tool_fail("grade", TOOL_USAGE, "%s: %s", path, strerror(errno));
    else if (!S_ISREG(info.st_mode))
        tool_fail("grade", TOOL_USAGE, "%s: not a file", path);
    else if (info.st_size > LAB_FORM_BYTES)
        tool_fail("grade", TOOL_USAGE, "%s: %lld bytes: more than %d", path,
                  (long long)info.st_size, LAB_FORM_BYTES);
    else if (!(file = fdopen(descriptor, "rb")))
        tool_fail("grade", TOOL_FAILED, "%s: %s", path, strerror(errno));
    if (!file && descriptor >= 0)
        close(descriptor);
    return file;
}

/* The whole of a file of at most LAB_FORM_BYTES and one byte more; NULL with a message.
 */
char *graded_read(const char *path, size_t *size)
{
    FILE *const file = open_plain(path);
    char *bytes = NULL;
    if (!file)
        return NULL;
    if (!(bytes = malloc(LAB_FORM_BYTES + 1)))
        tool_fail("grade", TOOL_FAILED, "out of memory");
    else {
        *size = fread(bytes, 1, LAB_FORM_BYTES + 1, file);
        if (ferror(file)) {
            tool_fail("grade", TOOL_USAGE, "%s: %s", path, strerror(errno));
            free(bytes);
            bytes = NULL;
        }
    }
    fclose(file);
    return bytes;
}

/* Entries of a form that are not questions are ignored, with a message. */
static int report_remarks(const struct graded *graded)
{
    const struct lab_texts *const remarks = &graded->form.remarks;
    int status = TOOL_OK;

    for (int x = 0; x < remarks->count; x++)
        status = tool_fail("grade", TOOL_USAGE, "%s: %s: left out", graded->path,
                           remarks->list[x]);
    return status;
}

static int open_form(const char *path, struct graded *graded)
{
    const char *const slash = strrchr(path, '/');
    size_t size;
    char *const bytes = graded_read(path, &size);

    *graded = (struct graded){.path = path,
                              .name = slash ? slash + 1 : path,
                              .form.student = "",
                              .unread = 1,
                              .why = "the file cannot be read"};
    if (!bytes)
        return TOOL_USAGE;
    graded->unread = lab_form_read(bytes, size, &graded->form, graded->why) != 0;
    free(bytes);
    return graded->unread ? tool_fail("grade", TOOL_USAGE, "%s: %s", path, graded->why)
                          : report_remarks(graded);
}

static int read_rubric(const char *path, struct lab_rubric *rubric)
{
    char why[LAB_FORM_WHY];
    size_t size;
    lab_rubric_default(rubric);
    if (!path)
        return TOOL_OK;
    char *const bytes = graded_read(path, &size);
    if (!bytes)
        return TOOL_USAGE;
    int status = TOOL_OK;
    if (lab_rubric_read(bytes, size, rubric, why))
        status = tool_fail("grade", TOOL_USAGE, "%s: %s", path, why);
    free(bytes);
    return status;
}

/* ---- grading -------------------------------------------------------------------- */

struct session {
    struct graded *graded;
    int count;
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
    while ((g = atomic_fetch_add(&s->next, 1)) < s->count) {
        struct graded *const graded = &s->graded[g];
        for (int p = 0; graded->unread && p < LAB_GRADE_PARTS; p++)
            graded->grade.most += s->rubric->points[p];
        graded->failed = !graded->unread &&
                         lab_grade(&graded->form.answer, s->rubric,
                                   lab_grade_seed(s->seed, graded->name), &graded->grade);
    }
}

static int grade_all(struct session *session, int threads, enum grade_format format,
                     int hints)
{
    lab_parallel(threads < session->count ? threads : session->count, grade_in_turn,
                 session);
    for (int g = 0; g < session->count; g++)
        if (session->graded[g].failed)
            return tool_fail("grade", TOOL_FAILED, "%s: out of memory",
                             session->graded[g].path);
    return grade_print(session->graded, session->count, format, hints);
}

/* Opens every file; those that are not forms are reported, and have no grade. */
static int grade_list(const struct list *list, const struct lab_rubric *rubric,
                      uint64_t seed, int threads, enum grade_format format, int hints)
{
    struct session session = {.rubric = rubric, .seed = seed};
    int status = TOOL_OK;
    session.graded = calloc((size_t)list->count + 1, sizeof *session.graded);
    if (!session.graded)
        return tool_fail("grade", TOOL_FAILED, "out of memory");
    for (int i = 0; i < list->count; i++)
        if (open_form(list->path[i], &session.graded[session.count++]))
            status = TOOL_USAGE;
    const int done = session.count ? grade_all(&session, threads, format, hints) : 0;
    for (int g = 0; g < session.count; g++)
        lab_form_free(&session.graded[g].form);
    free(session.graded);
    return done ? done : status;
}

/* ---- words ----------------------------------------------------------------------- */

static int take_file(void *list, const char *word)
{
    struct stat info;

    return !stat(word, &info) && S_ISDIR(info.st_mode) ? add_folder(list, word)
                                                       : add_path(list, "", word);
}

static int print_template(void)
{
    struct lab_json json;

    lab_json_open(&json, LAB_JSON_SHORT);
    json.indent = 2;
    lab_form_put_empty(&json);
    return tool_put_text("grade", lab_json_close(&json));
}

struct options {
    int wants_template, as_csv, as_json, as_results, as_summary, hints, threads;
    const char *rubric;
    int64_t seed;
    struct tensors_options tensors;
};

/* Exercises in code take no forms. */
static int perform_tensors(const struct list *list, struct options *o)
{
    if (list->count || o->wants_template || o->as_csv || o->as_summary || o->hints ||
        o->rubric || (o->as_json && o->as_results))
        return tool_fail("grade", TOOL_USAGE,
                         "--tensors takes --exercise, and --json or --gradescope alone");
    o->tensors.as_json = o->as_json;
    o->tensors.as_results = o->as_results;
    o->tensors.seed = (uint64_t)o->seed;
    o->tensors.threads = o->threads;
    return grade_tensors(&o->tensors);
}

static int perform(const struct list *list, struct options *o)
{
    const int formats = o->as_csv + o->as_json + o->as_results + o->as_summary;
    struct lab_rubric rubric;
    if (o->tensors.folder || o->tensors.exercise || o->tensors.make)
        return perform_tensors(list, o);
    if (o->wants_template && (list->count || formats || o->rubric))
        return tool_fail("grade", TOOL_USAGE, "--template stands alone");
    if (o->wants_template)
        return print_template();
    if (formats > 1)
        return tool_fail("grade", TOOL_USAGE,
                         "--csv, --json, --gradescope and --summary exclude each other");
    if (!list->count)
        return tool_fail("grade", TOOL_USAGE,
                         "no file: see 'attend grade --help', or --template");
    if (o->as_results && list->count > 1)
        return tool_fail("grade", TOOL_USAGE, "--gradescope is of one file, not of %d",
                         list->count);
    int status = read_rubric(o->rubric, &rubric);
    if (!status)
        status = tool_choose_threads("grade", &o->threads);
    if (status)
        return status;
    return grade_list(list, &rubric, (uint64_t)o->seed, o->threads,
                      o->as_csv       ? GRADE_CSV
                      : o->as_json    ? GRADE_JSON
                      : o->as_results ? GRADE_RESULTS
                      : o->as_summary ? GRADE_SUMMARY
                                      : GRADE_TEXT,
                      o->hints);
}

int cmd_grade(int argc, char **argv)
{
    struct options o = {.seed = 1};
    const struct tool_flag flags[] = {
        FLAG_SWITCH("template", &o.wants_template,
                    "print a form that is empty and has help; _help is ignored"),
        FLAG_SWITCH("csv", &o.as_csv,
                    "a line for each student: points of each question, and all"),
        FLAG_SWITCH("json", &o.as_json,
                    "a JSON object for each student, with every part"),
        FLAG_SWITCH("gradescope", &o.as_results,
                    "results.json of one file for Gradescope: a test for each part"),
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
    struct list list = {0};

    argc = tool_take_words(argc, argv, FLAG_TABLE(flags), take_file, &list);
    int status = argc < 0
                     ? TOOL_USAGE
                     : tool_read_flags("grade", argc, argv, FLAG_TABLE(flags), help_text);
    if (!status)
        status = tool_finish_output("grade", perform(&list, &o));
    free_list(&list);
    return status;
}

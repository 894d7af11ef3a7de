/* SPDX-License-Identifier: MIT */
/* `attend judge`: solutions as they were written, given back marked. */
#include "shared/commands.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "judge/judge_tool.h"
#include "lab/door/objects_reading.h"
#include "shared/flags.h"
#include "shared/json_line.h"
#include "shared/read_file.h"
#include "shared/text_file.h"

static const char help_text[] =
    "usage: attend judge FILE... [--explain] [--all] [--json] [--html OUT]\n"
    "\n"
    "Reads solutions of the exercise on attention as their authors wrote them, in\n"
    "Markdown, LaTeX or plain text, and gives each back with marks in the margin.  FILE\n"
    "may be - for standard input.  Every claim in a formula or a sentence is judged by\n"
    "computing it:\n"
    "  true               on the whole grid of n and scales\n"
    "  true in the limit  the error vanishes as the scale grows, or the noise vanishes\n"
    "  slip               right once a symbol is repaired, which is shown\n"
    "  false              there is a counterexample, which is shown\n"
    "  not read           the passage could not be read; it is never guessed\n"
    "  not judged         read, but a definition or beyond the exercise\n"
    "Below the sheet: the letters with the meanings that they were read with,\n"
    "contradictions, points for each question, and how much was read.\n"
    "\n"
    "options:\n"
    "@14 explain all json html help\n"
    "\n"
    "A file that cannot be read is named on standard error; others are judged all the\n"
    "same, and the exit status is 2.  No verdict changes the status.\n"
    "\n"
    "example: a solution, and a page with the same marks\n"
    "  attend judge examples/solutions/ada.md --html marked.html\n";

struct list {
    const char **path;
    int count;
};

static int take_file(void *user, const char *word)
{
    struct list *const list = user;
    const char **const grown =
        realloc(list->path, sizeof *grown * (size_t)(list->count + 1));

    if (!grown)
        return tool_fail("judge", TOOL_FAILED, "out of memory");
    list->path = grown;
    list->path[list->count++] = word;
    return TOOL_OK;
}

/* ---- one file -------------------------------------------------------------- */

/* The first byte that is no UTF-8, or a zero; `size` if there is none. */
static size_t first_fault(const char *bytes, size_t size)
{
    size_t at = 0, length;

    while (at < size && bytes[at] && (length = lab_json_character(bytes + at)) > 0)
        at += length;
    return at < size ? at : size;
}

static int open_solution(const char *path, struct lab_marked *marked)
{
    const char *const name = strcmp(path, "-") ? path : "standard input";
    size_t size = 0;
    char *const bytes = tool_read_file("judge", path, LAB_READING_BYTES, &size);

    *marked = (struct lab_marked){.name = name, .source = bytes, .size = size};
    if (!bytes)
        return TOOL_USAGE;
    const size_t fault = first_fault(bytes, size);
    if (fault < size)
        return tool_fail("judge", TOOL_USAGE, "%s: byte %zu: this is not UTF-8", name,
                         fault + 1);
    if (lab_reading_open(&marked->reading, bytes, size))
        return tool_fail("judge", TOOL_FAILED, "%s: out of memory", name);
    return TOOL_OK;
}

static void close_solution(struct lab_marked *marked)
{
    lab_reading_close(&marked->reading);
    free((char *)(uintptr_t)marked->source);
}

static int print_json(const struct lab_marked *marked)
{
    const struct lab_reading *const reading = &marked->reading;
    struct lab_json json;
    int status = TOOL_OK;

    for (int c = 0; c < reading->claims && !status; c++) {
        tool_open_json(&json);
        lab_json_put(&json, "file:s", marked->name);
        lab_json_claim(&json, &reading->claim[c]);
        status = tool_put_json("judge", &json);
    }
    if (status)
        return status;
    tool_open_json(&json);
    lab_json_put(&json, "file:s", marked->name);
    lab_json_reading(&json, reading);
    return tool_put_json("judge", &json);
}

/* ---- all files ------------------------------------------------------------- */

struct options {
    int as_json;
    const char *html;
    struct judge_look look;
};

/* The file's part of standard output. */
static int print_solution(const struct lab_marked *marked, const struct options *o,
                          int is_first)
{
    if (o->as_json)
        return print_json(marked);
    if (o->html) {
        printf("%s: ", marked->name);
        if (marked->reading.questions > 0)
            printf("%.4g of %.4g points; ", marked->reading.points, marked->reading.of);
        judge_print_coverage(&marked->reading);
        return TOOL_OK;
    }
    if (!is_first)
        putchar('\n');
    judge_print(marked, &o->look);
    return TOOL_OK;
}

/* Judges each file and prints it; the solutions that could be read are left in `marked`.
 */
static int judge_files(const struct list *list, const struct options *o,
                       struct lab_marked *marked, int *count)
{
    int worst = TOOL_OK;

    for (int i = 0; i < list->count; i++) {
        int status = open_solution(list->path[i], &marked[*count]);

        if (status) {
            close_solution(&marked[*count]);
            worst = status;
            continue;
        }
        status = print_solution(&marked[*count], o, *count == 0);
        ++*count;
        if (status)
            return status;
    }
    return worst;
}

static int write_page(const struct lab_marked *marked, int count, tool_text *page)
{
    if (lab_marks_page(marked, count, page->stream)) {
        tool_text_discard(page);
        return tool_fail("judge", TOOL_FAILED, "out of memory");
    }
    return tool_text_commit("judge", page);
}

static int judge_list(const struct list *list, const struct options *o)
{
    struct lab_marked *const marked = calloc((size_t)list->count, sizeof *marked);
    tool_text page = {0};
    int count = 0;

    if (!marked)
        return tool_fail("judge", TOOL_FAILED, "out of memory");
    int status = o->html ? tool_text_open("judge", "--html", o->html, &page) : TOOL_OK;
    if (!status) {
        status = judge_files(list, o, marked, &count);
        if (o->html && count > 0 && status != TOOL_FAILED) {
            const int written = write_page(marked, count, &page);
            status = written ? written : status;
        }
        tool_text_discard(&page);
    }
    for (int m = 0; m < count; m++)
        close_solution(&marked[m]);
    free(marked);
    return status;
}

int cmd_judge(int argc, char **argv)
{
    struct options o = {0};
    const struct tool_flag flags[] = {
        FLAG_SWITCH("explain", &o.look.explain,
                    "evidence and reading of every claim, also of true ones"),
        FLAG_SWITCH("all", &o.look.all, "marks for what is not judged as well"),
        FLAG_SWITCH(
            "json", &o.as_json,
            "an object a line for each claim: file, line, quote, question,\n"
            "verdict (true, limit, slip, false, not_read, not_judged), evidence\n"
            "and more; then one of the file: letters, conflicts, points, coverage"),
        FLAG_TEXT("html", &o.html, "OUT",
                  "write a self-contained page; a line for each file is printed"),
    };
    struct list list = {0};

    argc = tool_take_words(argc, argv, FLAG_TABLE(flags), take_file, &list);
    int status = argc < 0
                     ? TOOL_USAGE
                     : tool_read_flags("judge", argc, argv, FLAG_TABLE(flags), help_text);
    if (!status && list.count == 0)
        status = tool_fail("judge", TOOL_USAGE, "no file: see 'attend judge --help'");
    if (!status) {
        judge_look_of_output(&o.look);
        status = tool_finish_output("judge", judge_list(&list, &o));
    }
    free(list.path);
    return status;
}

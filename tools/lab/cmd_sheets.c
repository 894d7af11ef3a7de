/* SPDX-License-Identifier: MIT */
/* `attend sheets`: the statements of the five sheets, judged by computing. */
#include "shared/commands.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lab/door/objects.h"
#include "lab/figures/text.h"
#include "lab/sheets/sheets.h"
#include "shared/flags.h"
#include "shared/json_line.h"

static const char help_text[] =
    "usage: attend sheets [SHEET] [--reading charity|letter] [--explain] [--json]\n"
    "\n"
    "Judges the statements of five solution sheets, 000 to 004, or those of one SHEET.\n"
    "The sheets are scans, most of handwriting; a fault of the scan is named as one.  "
    "The\n"
    "passages are shown in the order of their lines.  Nothing is looked up: the sheet's\n"
    "own queries, matrices and formulas are evaluated on n = 2, 3, 10, 1000 and scales\n"
    "0.5, 2, 10, 50, weights through the engine, and the numbers decide.  The verdicts,\n"
    "with their ids in --json:\n"
    "  true               holds  exact on the whole grid, to 1e-9\n"
    "  true in the limit  limit  the error vanishes as a quantity grows or vanishes "
    "that\n"
    "                            the sheet leaves free, for n > 2, or where gamma > 0\n"
    "  false              fails  there is a counterexample\n"
    "  slip               slip   wrong or ill formed as written, and true once one "
    "symbol\n"
    "                            is repaired: a letter, a sign, an index, a norm, a\n"
    "                            factor or a side\n"
    "A variance is high, and an output unstable, from a standard deviation of a weight "
    "of\n"
    "0.1 on.  Two quantities that both vanish are compared by their ratio.\n"
    "docs/JUDGING.md has the rules and the letters.\n"
    "\n"
    "options:\n"
    "@15 reading explain json help\n"
    "\n"
    "example: what is wrong on sheet 002, and why\n"
    "  attend sheets 002 --explain\n";

enum { VERDICTS = LAB_SLIP + 1 };

static const char *const sheet_names[] = {"000", "001", "002", "003", "004"};
enum { SHEETS = sizeof sheet_names / sizeof sheet_names[0] };

static int take_sheet(void *user, const char *word)
{
    const char **const sheet = user;

    for (int s = 0; s < SHEETS && !*sheet; s++)
        if (!strcmp(word, sheet_names[s])) {
            *sheet = sheet_names[s];
            return TOOL_OK;
        }
    return *sheet ? -1
                  : tool_fail("sheets", TOOL_USAGE,
                              "no sheet '%s': 000, 001, 002, 003 or 004", word);
}

static int print_json(const struct lab_judgement *judgement)
{
    struct lab_json json;

    tool_open_json(&json);
    lab_json_judgement(&json, judgement, judgement->quote);
    return tool_print_json("sheets", &json);
}

static void print_indented(const char *text, int indent)
{
    printf("%*s", indent, "");
    tool_print_wrapped(text, indent);
}

static void print_judgement(const struct lab_judgement *judgement, int explain)
{
    enum { INDENT = 6 };
    char quote[400], line[560];

    printf("%4d  %-7s %s", judgement->quoted, judgement->id,
           lab_verdict_word(judgement->verdict));
    if (!judgement->readings_agree)
        printf("; %s: %s",
               judgement->reading == LAB_LETTER ? "by charity" : "by the letter",
               lab_verdict_word(judgement->otherwise));
    puts(judgement->invariant ? "; whatever the numbers of the exercise" : "");
    lab_text_plain(judgement->quote, quote, sizeof quote);
    snprintf(line, sizeof line, "\"%s\"", quote);
    print_indented(line, INDENT);
    print_indented(judgement->says, INDENT);
    if (explain) {
        snprintf(line, sizeof line, "exactly: %s", judgement->holds_when);
        print_indented(line, INDENT);
        print_indented(judgement->evidence, INDENT);
    }
    putchar('\n');
}

static void print_counts(const struct lab_judgement *judgements, const char *sheet)
{
    printf("%-7s", "sheet");
    for (int v = 0; v < VERDICTS; v++)
        printf("%19s", lab_verdict_word((enum lab_verdict)v));
    putchar('\n');
    for (int s = 0; s <= SHEETS; s++) {
        const char *const name = s < SHEETS ? sheet_names[s] : NULL;
        int count[VERDICTS] = {0};
        if (sheet && (!name || strcmp(name, sheet) != 0))
            continue;
        for (int i = 0; i < LAB_STATEMENTS; i++)
            if (*judgements[i].id && (!name || !strcmp(judgements[i].sheet, name)))
                count[judgements[i].verdict]++;
        printf("%-7s", name ? name : "all");
        for (int v = 0; v < VERDICTS; v++)
            printf("%19d", count[v]);
        putchar('\n');
    }
}

static void print_reading(const struct lab_judgement *judgements, const char *sheet)
{
    int differ = 0;
    for (int i = 0; i < LAB_STATEMENTS; i++)
        if (!sheet || !strcmp(judgements[i].sheet, sheet))
            differ += !judgements[i].readings_agree;
    printf("read by %s; the other reading differs on %d\n",
           judgements[0].reading == LAB_LETTER ? "the letter" : "charity", differ);
}

static int print_disputes(const struct lab_judgement *judgements, const char *sheet)
{
    puts("\nWhere the sheets contradict each other, and who is right:");
    for (int d = 0; d < LAB_DISPUTES; d++) {
        struct lab_dispute dispute;
        if (sheet && !lab_sheets_dispute_has(d, sheet))
            continue;
        if (lab_sheets_dispute(d, judgements, &dispute))
            return tool_fail("sheets", TOOL_FAILED, "out of memory");
        printf("\n%s\n", dispute.question);
        print_indented(dispute.sides, 4);
        printf("  right:\n");
        print_indented(dispute.right, 4);
    }
    return TOOL_OK;
}

static int print_all(const struct lab_judgement *judgements, const char *sheet,
                     int explain, int as_json)
{
    int status = TOOL_OK;

    for (int i = 0; i < LAB_STATEMENTS && !status; i++) {
        if (sheet && strcmp(judgements[i].sheet, sheet) != 0)
            continue;
        if (as_json) {
            status = print_json(&judgements[i]);
            continue;
        }
        if (i == 0 || strcmp(judgements[i].sheet, judgements[i - 1].sheet) != 0)
            printf("Sheet %s, a scan: its passages by line\n\n", judgements[i].sheet);
        print_judgement(&judgements[i], explain);
    }
    if (as_json)
        return status;
    print_counts(judgements, sheet);
    print_reading(judgements, sheet);
    status = print_disputes(judgements, sheet);
    puts("\ntrue: exact. true in the limit: as C grows, say. slip: true with one symbol "
         "repaired. false: counterexample.");
    return status;
}

int cmd_sheets(int argc, char **argv)
{
    int explain = 0, as_json = 0, threads = 0, reading = LAB_CHARITY;
    const struct tool_flag flags[] = {
        FLAG_CHOICE(
            "reading", &reading, "charity, letter", "R",
            "charity (default): what the sheet leaves free may grow, and = may\n"
            "mean ~ where it does; letter: = is equality, only what the sheet\n"
            "itself calls large or vanishing may grow, and a reason is judged with\n"
            "its conclusion.  Contradictions are settled by charity in both"),
        FLAG_SWITCH(
            "explain", &explain,
            "also the exact statement with its condition, and the deciding numbers"),
        FLAG_SWITCH(
            "json", &as_json,
            "one JSON object for each statement: id, sheet, line, says, quote,\n"
            "quoted_line, verdict, reading, readings_agree, invariant (the same\n"
            "verdict whatever the numbers of the exercise), holds_when, measured,\n"
            "expected (null where no number applies), evidence"),
    };
    const char *sheet = NULL;

    argc = tool_take_words(argc, argv, FLAG_TABLE(flags), take_sheet, &sheet);
    if (argc < 0)
        return TOOL_USAGE;
    int status = tool_read_flags("sheets", argc, argv, FLAG_TABLE(flags), help_text);
    if (!status)
        status = tool_choose_threads("sheets", &threads);
    if (status)
        return status;
    struct lab_judgement *const judgements = calloc(LAB_STATEMENTS, sizeof *judgements);
    /* The disputes of one sheet need the judgements of all sheets. */
    const char *const judged = as_json ? sheet : NULL;
    if (!judgements ||
        lab_sheets_judge_all(judged, (enum lab_strictness)reading, threads, judgements))
        status = tool_fail("sheets", TOOL_FAILED, "out of memory");
    else
        status = print_all(judgements, sheet, explain, as_json);
    free(judgements);
    return tool_finish_output("sheets", status);
}

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
    "Judges the ninety-nine statements of the five solution sheets, 000 to 004, or "
    "those\n"
    "of one SHEET.  Nothing is looked up: the sheet's own queries, matrices and "
    "formulas\n"
    "are evaluated on n = 2, 3, 10, 1000 and scales 0.5, 2, 10, 50, weights through the\n"
    "engine, and the numbers decide:\n"
    "  holds   exact on the whole grid, to 1e-9\n"
    "  limit   the error vanishes as what the sheet leaves free grows, for n > 2, or on\n"
    "          the event gamma > 0\n"
    "  fails   neither; there is a counterexample\n"
    "  slip    ill formed as printed, and right once a symbol, index or side is "
    "repaired\n"
    "A variance is high, and an output unstable, from a standard deviation of 0.1 on.\n"
    "Two quantities that both vanish are compared by their ratio.  docs/JUDGING.md has "
    "the\n"
    "rules and the letters.\n"
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
    char quote[400], line[480];

    lab_text_plain(judgement->quote, quote, sizeof quote);
    snprintf(line, sizeof line, "%d: \"%s\"", judgement->quoted, quote);
    printf("%-7s %4d  %-6s %s%s%s\n", judgement->id, judgement->line,
           lab_verdict_name(judgement->verdict), judgement->says,
           judgement->readings_agree ? "" : "  [readings differ]",
           judgement->invariant ? "  [in every world]" : "");
    print_indented(line, 22);
    if (!explain)
        return;
    print_indented(judgement->holds_when, 22);
    print_indented(judgement->evidence, 22);
    putchar('\n');
}

static void print_counts(const struct lab_judgement *judgements, const char *sheet)
{
    printf("\n%-9s", "sheet");
    for (int v = 0; v < VERDICTS; v++)
        printf("%7s", lab_verdict_name((enum lab_verdict)v));
    putchar('\n');
    for (int s = 0; s <= SHEETS; s++) {
        const char *const name = s < SHEETS ? sheet_names[s] : NULL;
        int count[VERDICTS] = {0};
        if (sheet && (!name || strcmp(name, sheet) != 0))
            continue;
        for (int i = 0; i < LAB_STATEMENTS; i++)
            if (*judgements[i].id && (!name || !strcmp(judgements[i].sheet, name)))
                count[judgements[i].verdict]++;
        printf("%-9s", name ? name : "all");
        for (int v = 0; v < VERDICTS; v++)
            printf("%7d", count[v]);
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
        if (as_json)
            status = print_json(&judgements[i]);
        else
            print_judgement(&judgements[i], explain);
    }
    if (as_json)
        return status;
    print_counts(judgements, sheet);
    print_reading(judgements, sheet);
    return print_disputes(judgements, sheet);
}

int cmd_sheets(int argc, char **argv)
{
    int explain = 0, as_json = 0, threads = 0, reading = LAB_CHARITY;
    const struct tool_flag flags[] = {
        FLAG_CHOICE(
            "reading", &reading, "charity, letter", "R",
            "charity (default): what the sheet leaves free may grow, and = may\n"
            "mean ~ where it does; letter: = is equality, and only what the sheet\n"
            "itself calls large or vanishing may grow.  Contradictions are settled\n"
            "by charity in both"),
        FLAG_SWITCH(
            "explain", &explain,
            "also the exact statement with its condition, and the deciding numbers"),
        FLAG_SWITCH(
            "json", &as_json,
            "one JSON object for each statement: id, sheet, line, says, quote,\n"
            "quoted_line, verdict, reading, readings_agree, invariant (true or\n"
            "false in every world), holds_when, measured, expected (null where no\n"
            "number applies), evidence"),
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

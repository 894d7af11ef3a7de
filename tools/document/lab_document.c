/* SPDX-License-Identifier: MIT */
/*
 * lab_document THEORY.md <LAB.md: the tour with the laboratory's own words filled in, on
 * standard output.  The heading "## 1a-i" of a question becomes its title, the question,
 * the answer and its formulas; the lines <!-- lab: exercise -->, questions, things,
 * glossary and quantities become the named contents.  Lines from "<!-- lab: source" to
 * "-->" are left out, and everything else is copied.  Each question and each of the names
 * must occur exactly once.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lab/experiments/experiment.h"
#include "lab/report/teaching.h"

enum { LINE = 4096, QUESTIONS_MOST = 64 };

/* ---- headings and links ---------------------------------------------------------- */

static void print_title(const struct lab_question *question)
{
    if (isdigit((unsigned char)*question->id))
        printf("%s. ", question->id);
    fputs(question->title, stdout);
}

/* The anchor of a heading on GitHub. */
static void print_anchor(const char *heading)
{
    for (; *heading && *heading != '\n'; heading++)
        if (isalnum((unsigned char)*heading) || strchr("-_", *heading))
            putchar(tolower((unsigned char)*heading));
        else if (*heading == ' ')
            putchar('-');
}

static void print_title_anchor(const struct lab_question *question)
{
    char title[300];

    snprintf(title, sizeof title, "%s%s%s", question->id, ". ", question->title);
    print_anchor(isdigit((unsigned char)*question->id) ? title : question->title);
}

/* "[T1](THEORY.md#t1-copying-one-value)" for the result of this name, with its length. */
static int print_result(FILE *theory, const char *name, int length)
{
    char line[LINE];

    rewind(theory);
    while (fgets(line, sizeof line, theory)) {
        const char *const heading = line + strspn(line, "#") + 1;

        if (*line == '#' && !strncmp(heading, name, (size_t)length) &&
            heading[length] == ' ') {
            printf("[%.*s](THEORY.md#", length, name);
            print_anchor(heading);
            putchar(')');
            return 0;
        }
    }
    fprintf(stderr, "lab_document: THEORY.md has no heading of %.*s\n", length, name);
    return -1;
}

static int print_results(FILE *theory, const char *results)
{
    for (const char *at = results; *at;) {
        const int length = (int)strcspn(at, ",");

        if (print_result(theory, at, length))
            return -1;
        at += length;
        at += strspn(at, ", ");
        fputs(*at ? ", " : ". ", stdout);
    }
    return 0;
}

/* ---- parts of the tour ----------------------------------------------------------- */

static void print_formula(const char *tex) { printf("\n```math\n%s\n```\n", tex); }

static int print_question(const struct lab_question *question, FILE *theory)
{
    printf("## ");
    print_title(question);
    printf("\n\n> %s\n\n%s\n", question->asks, question->answer);
    for (int f = 0; f < LAB_FORMULAS_MAX && question->formula[f]; f++)
        print_formula(question->formula[f]);
    if (!*question->results && !question->figure[0].name)
        return 0;
    printf(*question->results ? "\n*Derivation:* " : "\n");
    if (print_results(theory, question->results))
        return -1;
    for (int f = 0; f < LAB_SHOWN_MAX && question->figure[f].name; f++) {
        const char *const name = question->figure[f].experiment;

        if (f > 0 && !strcmp(name, question->figure[f - 1].experiment))
            continue;
        printf("%s`attend lab %s --svg %s.svg`", f > 0 ? ", " : "*Plot:* ", name, name);
    }
    putchar('\n');
    return 0;
}

static int print_exercise(void)
{
    puts(lab_exercise_text[0]);
    for (int f = 0; lab_exercise_formula[f]; f++)
        print_formula(lab_exercise_formula[f]);
    for (int t = 1; lab_exercise_text[t]; t++)
        printf("\n%s\n", lab_exercise_text[t]);
    return 0;
}

static int print_questions(void)
{
    printf("| question | |\n|---|---|\n");
    for (const struct lab_question *question = lab_questions; question->id; question++) {
        printf("| [%s](#",
               isdigit((unsigned char)*question->id) ? question->id : "beyond");
        print_title_anchor(question);
        printf(") | %s |\n", question->title);
    }
    return 0;
}

static int print_things(void)
{
    for (int x = 0; x < LAB_THINGS; x++)
        printf("%d. **%s** %s\n", x + 1, lab_things[x].what, lab_things[x].why);
    return 0;
}

static int print_glossary(void)
{
    printf("| | |\n|---|---|\n");
    for (const struct lab_term *term = lab_glossary; term->term; term++)
        printf("| %s | %s |\n", term->term, term->meaning);
    return 0;
}

/* Plain text in a cell of a table. */
static void print_cell(const char *text)
{
    for (; *text; text++)
        if (*text == '<' || *text == '>')
            fputs(*text == '<' ? "&lt;" : "&gt;", stdout);
        else
            printf(strchr("_*|", *text) ? "\\%c" : "%c", *text);
}

static int print_quantities(void)
{
    for (int x = 0; lab_experiments[x]; x++) {
        const struct lab_quantity *known = lab_quantities(lab_experiments[x]->name);

        printf("%s### `attend lab %s`\n\n| quantity | meaning |\n|---|---|\n",
               x > 0 ? "\n" : "", lab_experiments[x]->name);
        for (; known->name; known++) {
            printf("| `%s` | ", known->name);
            print_cell(known->meaning);
            printf(" |\n");
        }
    }
    return 0;
}

static const struct {
    const char *name;
    int (*print)(void);
} parts[] = {
    {"exercise", print_exercise},     {"questions", print_questions},
    {"things", print_things},         {"glossary", print_glossary},
    {"quantities", print_quantities},
};

enum { PARTS = sizeof parts / sizeof parts[0] };

/* ---- the tour -------------------------------------------------------------------- */

/* Whether the line is `before`, `name`, `after` and a newline. */
static int is_line(const char *line, const char *before, const char *name,
                   const char *after)
{
    char whole[200];

    snprintf(whole, sizeof whole, "%s%s%s\n", before, name, after);
    return !strcmp(line, whole);
}

static int seen_parts[PARTS], seen_questions[QUESTIONS_MOST], is_left_out;

static int print_line(const char *line, FILE *theory)
{
    if (is_line(line, "<!-- lab: ", "source", " -->"))
        is_left_out = 1;
    if (is_left_out) {
        is_left_out = !is_line(line, "<!-- lab: ", "end", " -->");
        return 0;
    }
    for (int x = 0; x < PARTS; x++)
        if (is_line(line, "<!-- lab: ", parts[x].name, " -->")) {
            seen_parts[x]++;
            return parts[x].print();
        }
    for (int x = 0; lab_questions[x].id; x++)
        if (is_line(line, "## ", lab_questions[x].id, "")) {
            seen_questions[x]++;
            return print_question(&lab_questions[x], theory);
        }
    fputs(line, stdout);
    return 0;
}

static int check_seen(void)
{
    int status = 0;

    for (int x = 0; x < PARTS; x++)
        if (seen_parts[x] != 1)
            status = fprintf(stderr, "lab_document: %s: %d times\n", parts[x].name,
                             seen_parts[x]);
    for (int x = 0; lab_questions[x].id; x++)
        if (seen_questions[x] != 1)
            status = fprintf(stderr, "lab_document: question %s: %d times\n",
                             lab_questions[x].id, seen_questions[x]);
    return status;
}

int main(int argc, char **argv)
{
    char line[LINE];
    FILE *const theory = argc == 2 ? fopen(argv[1], "r") : NULL;
    int status = 0;

    if (!theory) {
        fprintf(stderr, "usage: lab_document THEORY.md <LAB.md\n");
        return EXIT_FAILURE;
    }
    while (!status && fgets(line, sizeof line, stdin))
        status = print_line(line, theory);
    fclose(theory);
    if (status || check_seen() || fflush(stdout) || ferror(stdout))
        return EXIT_FAILURE;
    return EXIT_SUCCESS;
}

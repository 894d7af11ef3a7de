/* SPDX-License-Identifier: MIT */
/* The questions of the exercise in the report. */
#include "lab/report/report_parts.h"

#include <ctype.h>
#include <string.h>

#include "lab/figures/text.h"

static const struct lab_result *find_result(const struct lab_findings *findings,
                                            const char *experiment)
{
    for (int e = 0; e < findings->count; e++)
        if (!strcmp(findings->result[e].experiment->name, experiment))
            return &findings->result[e];
    return NULL;
}

static const struct lab_figure *find_figure(const struct lab_findings *findings,
                                            const struct lab_shown *shown)
{
    const struct lab_result *const result = find_result(findings, shown->experiment);
    for (int f = 0; result && f < result->figures.count; f++)
        if (!strcmp(result->figures.figure[f]->title, shown->name))
            return result->figures.figure[f];
    return NULL;
}

/* The row of the experiment's own parameters. */
static const struct lab_row *find_row(const struct lab_result *result,
                                      const char *quantity)
{
    for (int r = 0; result && r < result->count; r++)
        if (result->row[r].is_own && !strcmp(result->row[r].quantity, quantity))
            return &result->row[r];
    return NULL;
}

const struct lab_question *lab_report_shown_in(const char *experiment, const char *title)
{
    for (const struct lab_question *question = lab_questions; question->id; question++)
        for (int f = 0; f < LAB_SHOWN_MAX && question->figure[f].name; f++)
            if (!strcmp(question->figure[f].experiment, experiment) &&
                !strcmp(question->figure[f].name, title))
                return question;
    return NULL;
}

static int is_of_exercise(const struct lab_question *question)
{
    return isdigit((unsigned char)question->id[0]);
}

void lab_report_question_link(const struct lab_question *question, FILE *out)
{
    fprintf(out, "<a href=\"#q-%s\">", question->id);
    lab_text_markdown(out, is_of_exercise(question) ? question->id : question->title);
    fputs("</a>", out);
}

static void write_formulas(const struct lab_question *question, FILE *out)
{
    for (int i = 0; i < LAB_FORMULAS_MAX && question->formula[i]; i++) {
        fputs("<div class=\"formula\">", out);
        lab_text_formula(out, question->formula[i]);
        fputs("</div>\n", out);
    }
}

static void write_figures(const struct lab_findings *findings,
                          const struct lab_question *question, FILE *out)
{
    for (int f = 0; f < LAB_SHOWN_MAX && question->figure[f].name; f++) {
        const struct lab_figure *const figure =
            find_figure(findings, &question->figure[f]);
        if (figure)
            lab_report_figure(figure, out);
    }
}

static void write_number(const struct lab_result *result, const struct lab_row *row,
                         FILE *out)
{
    fputs("<tr><td>", out);
    lab_report_quantity(result, row, 1, out);
    lab_report_row_numbers(row, out);
}

/* Numbers first .. end - 1, which are of one experiment. */
static void write_table(const struct lab_findings *findings,
                        const struct lab_shown *shown, int count, FILE *out)
{
    const struct lab_result *const result = find_result(findings, shown->experiment);
    const struct lab_row *const first = find_row(result, shown->name);
    if (!first)
        return;
    fputs("<div class=\"box\"><table class=\"numbers\"><caption>", out);
    lab_report_params(first, 0, out);
    fprintf(out,
            " (experiment <a href=\"#%s\">%s</a>)</caption><thead><tr>"
            "<th>quantity</th><th class=\"n\">theory</th><th class=\"n\">measured</th>"
            "</tr></thead><tbody>\n",
            shown->experiment, shown->experiment);
    for (int i = 0; i < count; i++) {
        const struct lab_row *const row = find_row(result, shown[i].name);
        if (row)
            write_number(result, row, out);
    }
    fputs("</tbody></table></div>\n", out);
}

static void write_numbers(const struct lab_findings *findings,
                          const struct lab_question *question, FILE *out)
{
    const struct lab_shown *const number = question->number;
    for (int first = 0, end; first < LAB_NUMBERS_MAX && number[first].name; first = end) {
        end = first + 1;
        while (end < LAB_NUMBERS_MAX && number[end].name &&
               !strcmp(number[end].experiment, number[first].experiment))
            end++;
        write_table(findings, &number[first], end - first, out);
    }
}

static void write_sources(const struct lab_findings *findings,
                          const struct lab_question *question, FILE *out)
{
    if (*question->results)
        fprintf(out, "<p class=\"small soft\">Derivation: %s in docs/THEORY.md.</p>\n",
                question->results);
    if (!*question->statements || findings->judged == 0)
        return;
    fputs("<p class=\"small voices\">Statements of the sheets:", out);
    for (int i = 0; i < findings->judged; i++) {
        const struct lab_judgement *const judgement = &findings->judgement[i];
        if (lab_question_of(judgement->id) != question)
            continue;
        const char *const name = lab_verdict_name(judgement->verdict);
        fprintf(out, " <a class=\"%s\" href=\"#s%s\">%s&nbsp;%s</a>", name, judgement->id,
                judgement->id, name);
    }
    fputs("</p>\n", out);
}

static void write_question(const struct lab_findings *findings,
                           const struct lab_question *question, FILE *out)
{
    fprintf(out, "<section class=\"question\" id=\"q-%s\">\n<h2>", question->id);
    if (is_of_exercise(question))
        fprintf(out, "<span class=\"soft\">%s</span> ", question->id);
    lab_text_markdown(out, question->title);
    fputs("</h2>\n<p class=\"asks\">", out);
    lab_text_markdown(out, question->asks);
    fputs("</p>\n<p class=\"answer\">", out);
    lab_text_markdown(out, question->answer);
    fputs("</p>\n", out);
    write_formulas(question, out);
    if (question->figure[0].name) {
        /* A single plot leaves room for a few numbers beside it. */
        fprintf(out, "<div class=\"figures%s\">\n",
                question->figure[1].name || question->number[4].name ? "" : " single");
        write_figures(findings, question, out);
        write_numbers(findings, question, out);
        fputs("</div>\n", out);
    }
    write_sources(findings, question, out);
    fputs("</section>\n", out);
}

void lab_report_questions(const struct lab_findings *findings, FILE *out)
{
    for (const struct lab_question *question = lab_questions; question->id; question++)
        write_question(findings, question, out);
}

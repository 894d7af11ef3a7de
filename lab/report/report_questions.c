/* SPDX-License-Identifier: MIT */
/* The opening of the report, and the questions of the exercise. */
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
        if (!strcmp(result->figures.figure[f]->id, shown->name))
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

const struct lab_question *lab_report_shown_in(const char *experiment, const char *id)
{
    for (const struct lab_question *question = lab_questions; question->id; question++)
        for (int f = 0; f < LAB_SHOWN_MAX && question->figure[f].name; f++)
            if (!strcmp(question->figure[f].experiment, experiment) &&
                !strcmp(question->figure[f].name, id))
                return question;
    return NULL;
}

int lab_report_is_numbered(const struct lab_question *question)
{
    return isdigit((unsigned char)question->id[0]);
}

void lab_report_question_link(const struct lab_question *question, FILE *out)
{
    lab_html(out, "<a href=\"#q-{s}\">{m}</a>", question->id,
             lab_report_is_numbered(question) ? question->id : question->title);
}

/* ---- the opening ------------------------------------------------------------ */

static void write_formulas(const char *const *formula, int most, FILE *out)
{
    for (int i = 0; i < most && formula[i]; i++)
        lab_html(out, "<div class=\"formula\">{f}</div>\n", formula[i]);
}

void lab_report_primer(FILE *out)
{
    lab_html(out,
             "<section id=\"exercise\">\n<h2>The exercise in one screen</h2>\n"
             "<p>{m}</p>\n",
             lab_exercise_text[0]);
    write_formulas(lab_exercise_formula, LAB_FORMULAS_MAX, out);
    for (int i = 1; lab_exercise_text[i]; i++)
        lab_html(out, "<p>{m}</p>\n", lab_exercise_text[i]);
    lab_html(out, "<ul class=\"asked\">\n");
    for (const struct lab_question *q = lab_questions; q->id; q++) {
        lab_html(out, "<li><a href=\"#q-{s}\">", q->id);
        if (lab_report_is_numbered(q))
            lab_html(out, "<b>{s}</b> ", q->id);
        lab_html(out, "{m}</a></li>\n", q->title);
    }
    lab_html(out, "</ul>\n</section>\n<section id=\"remember\">\n"
                  "<h2>Five things to remember</h2>\n<ol class=\"things\">\n");
    for (int i = 0; i < LAB_THINGS; i++)
        lab_html(out, "<li><b>{m}</b> <span>{m}</span></li>\n", lab_things[i].what,
                 lab_things[i].why);
    lab_html(out, "</ol>\n</section>\n<section id=\"glossary\">\n<h2>Glossary</h2>\n"
                  "<dl class=\"glossary\">\n");
    for (const struct lab_term *term = lab_glossary; term->term; term++)
        lab_html(out, "<div><dt>{m}</dt><dd>{m}</dd></div>\n", term->term, term->meaning);
    lab_html(out, "</dl>\n</section>\n");
}

/* ---- questions -------------------------------------------------------------- */

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

/* Numbers first .. end - 1, which are of one experiment. */
static void write_table(const struct lab_findings *findings,
                        const struct lab_shown *shown, int count, FILE *out)
{
    const struct lab_result *const result = find_result(findings, shown->experiment);
    const struct lab_row *const first = find_row(result, shown->name);
    if (!first)
        return;
    lab_html(out, "<div class=\"box\"><table class=\"numbers\"><caption>");
    lab_report_params(first, 0, out);
    lab_html(
        out,
        " (experiment <a href=\"#{s}\">{s}</a>)</caption><thead><tr><th>quantity</th><th "
        "class=\"n\">theory</th><th class=\"n\">measured</th></tr></thead><tbody>\n",
        shown->experiment, shown->experiment);
    for (int i = 0; i < count; i++) {
        const struct lab_row *const row = find_row(result, shown[i].name);
        if (!row)
            continue;
        lab_html(out, "<tr><td>");
        lab_report_quantity(result, row, 1, out);
        lab_report_row_numbers(row, out);
    }
    lab_html(out, "</tbody></table></div>\n");
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
        lab_html(out, "<p class=\"small soft\">Derivation: {s} in docs/THEORY.md.</p>\n",
                 question->results);
    if (!*question->statements || findings->judged == 0)
        return;
    lab_html(out, "<p class=\"small voices\">Statements of the five solution sheets:");
    for (int i = 0; i < findings->judged; i++) {
        const struct lab_judgement *const judgement = &findings->judgement[i];
        if (lab_question_of(judgement->id) == question)
            lab_html(out, " <a class=\"{s}\" href=\"#s{s}\">{s}&nbsp;{s}</a>",
                     lab_verdict_name(judgement->verdict), judgement->id, judgement->id,
                     lab_verdict_word(judgement->verdict));
    }
    lab_html(out, "</p>\n");
}

static void write_question(const struct lab_findings *findings,
                           const struct lab_question *question, FILE *out)
{
    lab_html(out, "<section class=\"question\" id=\"q-{s}\">\n<h2>", question->id);
    if (lab_report_is_numbered(question))
        lab_html(out, "<span class=\"soft\">{s}</span> ", question->id);
    lab_html(out, "{m}</h2>\n<p class=\"asks\">{m}</p>\n<p class=\"answer\">{m}</p>\n",
             question->title, question->asks, question->answer);
    write_formulas(question->formula, LAB_FORMULAS_MAX, out);
    if (question->figure[0].name) {
        /* A single plot leaves room for a few numbers beside it. */
        lab_html(out, "<div class=\"figures{s}\">\n",
                 question->figure[1].name || question->number[4].name ? "" : " single");
        write_figures(findings, question, out);
        write_numbers(findings, question, out);
        lab_html(out, "</div>\n");
    }
    write_sources(findings, question, out);
    lab_html(out, "</section>\n");
}

void lab_report_questions(const struct lab_findings *findings, FILE *out)
{
    for (const struct lab_question *question = lab_questions; question->id; question++)
        write_question(findings, question, out);
}

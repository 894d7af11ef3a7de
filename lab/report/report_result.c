/* SPDX-License-Identifier: MIT */
/* One experiment in the report. */
#include "lab/report/report_parts.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "lab/figures/text.h"

/* Names of flags as people write the symbols. */
static const char *symbol(const char *name)
{
    static const char *const symbols[][2] = {{"sigma2", "\u03c3\u00b2"},
                                             {"alpha", "\u03b1"},
                                             {"beta", "\u03b2"},
                                             {"eps", "\u03b5"},
                                             {"tau", "\u03c4"}};
    for (size_t i = 0; i < sizeof symbols / sizeof symbols[0]; i++)
        if (!strcmp(name, symbols[i][0]))
            return symbols[i][1];
    return name;
}

static void write_param(const struct lab_param *param, FILE *out)
{
    lab_text_html(out, symbol(param->name));
    fputs("\u00a0=\u00a0", out);
    if (param->text)
        lab_text_html(out, param->text);
    else
        lab_text_number(out, param->number, 6);
}

void lab_report_params(const struct lab_row *row, int sweep, FILE *out)
{
    const char *comma = "";
    for (int i = 0; i < row->param_count; i++) {
        const struct lab_param *const param = &row->params[i];
        if ((param->text ? !*param->text : isnan(param->number)) ||
            (sweep && !param->differs))
            continue;
        fputs(comma, out);
        write_param(param, out);
        comma = ", ";
    }
}

static void write_kind(const struct lab_row *row, FILE *out)
{
    switch (row->kind) {
    case LAB_EXACT:
        fputs("exact", out);
        break;
    case LAB_BOUND:
        fputs("bound", out);
        break;
    case LAB_FIRST_ORDER:
    case LAB_ASYMPTOTIC:
        fputs(row->kind == LAB_FIRST_ORDER ? "first order" : "limit", out);
        break;
    case LAB_MODEL:
        fputs("model", out);
        break;
    }
}

static void write_standing(const struct lab_row *row, FILE *out)
{
    switch (lab_row_standing(row)) {
    case LAB_WITHIN:
        fputs("<span class=\"holds\">agrees</span>", out);
        break;
    case LAB_HELD:
        fputs("<span class=\"holds\">held</span>", out);
        break;
    case LAB_OUTSIDE:
    case LAB_BROKEN:
        fputs("<span class=\"fails\">differs</span>", out);
        break;
    case LAB_SHOWN:
        fprintf(out, "%.2g\u202f%% away", 100 * lab_row_distance(row));
        break;
    case LAB_UNJUDGED:
        break;
    }
    if (row->rare)
        fprintf(out, " rare: %.3g to %.3g", row->low, row->high);
}

void lab_report_row_numbers(const struct lab_row *row, FILE *out)
{
    fputs("</td><td class=\"n\">", out);
    lab_text_number(out, row->theory, 5);
    fputs("</td><td class=\"n\">", out);
    lab_text_number(out, row->measured, 5);
    if (row->se > 0) {
        fputs("\u00a0\u00b1\u00a0", out);
        lab_text_number(out, row->se, 1);
    }
    fputs("</td></tr>\n", out);
}

void lab_report_quantity(const struct lab_result *result, const struct lab_row *row,
                         int explained, FILE *out)
{
    const char *const meaning =
        lab_quantity_meaning(result->experiment->name, row->quantity);
    fputs("<code>", out);
    lab_text_html(out, row->quantity);
    fputs("</code>", out);
    if (!explained || !meaning)
        return;
    fputs("<span class=\"meaning\">", out);
    lab_text_prose(out, meaning);
    fputs("</span>", out);
}

static void write_row(const struct lab_result *result, const struct lab_row *row,
                      int sweep, int chance, FILE *out)
{
    const double z = lab_row_z(row);
    fputs("<tr>", out);
    if (sweep) {
        fputs("<td>", out);
        lab_report_params(row, sweep, out);
        fputs("</td>", out);
    }
    fputs("<td>", out);
    lab_report_quantity(result, row, !sweep, out);
    fputs("</td><td class=\"n\">", out);
    lab_text_number(out, row->theory, 6);
    fputs("</td><td class=\"n\">", out);
    lab_text_number(out, row->measured, 6);
    fputs(chance ? "</td><td class=\"n\">" : "", out);
    if (row->se > 0)
        lab_text_number(out, row->se, 2);
    fputs(chance ? "</td><td class=\"n\">" : "", out);
    if (isfinite(z))
        fprintf(out, "%s%.2f", z < 0 ? "\u2212" : "", fabs(z));
    fputs("</td><td>", out);
    if (!isnan(row->theory))
        write_kind(row, out);
    fputs("</td><td>", out);
    write_standing(row, out);
    fputs("</td></tr>\n", out);
}

/*
 * Rows first .. end - 1; in a sweep with a column of what differs from the run, and with
 * those of chance where there is any.
 */
static void write_rows(const struct lab_result *result, int first, int end, int sweep,
                       FILE *out)
{
    int chance = 0;
    for (int i = first; i < end; i++)
        chance |= result->row[i].se > 0;
    fputs("<div class=\"box\"><table class=\"numbers\"><thead><tr>", out);
    if (sweep)
        fputs("<th>at</th>", out);
    fprintf(out,
            "<th>quantity</th><th class=\"n\">theory</th><th class=\"n\">measured</th>%s"
            "<th>theory is</th><th></th></tr></thead><tbody>\n",
            chance ? "<th class=\"n\">se</th><th class=\"n\">z</th>" : "");
    for (int i = first; i < end; i++)
        write_row(result, &result->row[i], sweep, chance, out);
    fputs("</tbody></table></div>\n", out);
}

static void write_tables(const struct lab_result *result, FILE *out)
{
    if (result->count == 0)
        return;
    fputs("<p class=\"small soft\">", out);
    lab_report_params(&result->row[0], 0, out);
    if (result->experiment->trials > 0)
        fprintf(out, "; at most %" PRId64 " trials for each measurement", result->trials);
    fputs("</p>\n", out);
    if (result->own > 0)
        write_rows(result, 0, result->own, 0, out);
    if (result->count > result->own) {
        fprintf(out, "<details><summary>%d rows of the sweeps</summary>\n",
                result->count - result->own);
        write_rows(result, result->own, result->count, 1, out);
        fputs("</details>\n", out);
    }
}

void lab_report_figure(const struct lab_figure *figure, FILE *out)
{
    fputs("<figure>\n", out);
    lab_figure_svg_inline(figure, out);
    if (*figure->caption) {
        fputs("<figcaption>", out);
        lab_text_prose(out, figure->caption);
        fputs("</figcaption>\n", out);
    }
    fputs("</figure>\n", out);
}

/* The figures that no question shows, and links to the others. */
static void write_figures(const struct lab_result *result, FILE *out)
{
    const char *const name = result->experiment->name;
    const struct lab_figures *const figures = &result->figures;
    const char *before = "<p class=\"small soft\">Shown above: ";
    for (int i = 0; i < figures->count; i++) {
        const char *const title = figures->figure[i]->title;
        const struct lab_question *const question = lab_report_shown_in(name, title);
        if (!question)
            continue;
        fprintf(out, "%s<a href=\"#q-%s\">", before, question->id);
        lab_text_prose(out, title);
        fputs("</a>", out);
        before = "; ";
    }
    if (*before == ';')
        fputs(".</p>\n", out);
    before = "<div class=\"figures\">\n";
    for (int i = 0; i < figures->count; i++)
        if (!lab_report_shown_in(name, figures->figure[i]->title)) {
            fputs(before, out);
            lab_report_figure(figures->figure[i], out);
            before = "";
        }
    if (!*before)
        fputs("</div>\n", out);
}

/* Whether a question shows a figure or a number of the experiment. */
static int shows(const struct lab_question *question, const char *experiment)
{
    for (int f = 0; f < LAB_SHOWN_MAX && question->figure[f].name; f++)
        if (!strcmp(question->figure[f].experiment, experiment))
            return 1;
    for (int i = 0; i < LAB_NUMBERS_MAX && question->number[i].name; i++)
        if (!strcmp(question->number[i].experiment, experiment))
            return 1;
    return 0;
}

static void write_origin(const struct lab_findings *findings,
                         const struct lab_result *result, FILE *out)
{
    const struct lab_experiment *const experiment = result->experiment;
    struct lab_tally tally = {0};
    char text[160];
    const char *before = "Questions: ";
    lab_tally_result(&tally, result);
    lab_count_text(&tally.rows, text, sizeof text);
    fputs("<p class=\"small soft\">", out);
    for (const struct lab_question *question = lab_questions; question->id; question++) {
        if (!shows(question, experiment->name))
            continue;
        fputs(before, out);
        lab_report_question_link(question, out);
        before = ", ";
    }
    fprintf(out, "%sRows: %s. Again: <code>attend lab %s <span>--seed %" PRIu64 "</span>",
            *before == ',' ? ". " : "", text, experiment->name, findings->seed);
    if (experiment->trials > 0)
        fprintf(out, " <span>--trials %" PRId64 "</span>", result->trials);
    fputs("</code></p>\n", out);
}

void lab_report_result(const struct lab_findings *findings,
                       const struct lab_result *result, FILE *out)
{
    const struct lab_experiment *const experiment = result->experiment;
    fprintf(out, "<section id=\"%s\">\n<h2>", experiment->name);
    lab_text_prose(out, experiment->title);
    fputs("</h2>\n<p>", out);
    lab_text_prose(out, experiment->shows);
    fputs("</p>\n", out);
    write_origin(findings, result, out);
    if (*result->error) {
        fputs("<p class=\"fails\">It could not be performed: ", out);
        lab_text_html(out, result->error);
        fputs("</p>\n", out);
    }
    if (result->figures.count > 0)
        write_figures(result, out);
    write_tables(result, out);
    fputs("</section>\n", out);
}

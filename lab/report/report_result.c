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

void lab_report_params(const struct lab_row *row, int sweep, FILE *out)
{
    const char *comma = "";
    for (int i = 0; i < row->param_count; i++) {
        const struct lab_param *const param = &row->params[i];
        if ((param->text ? !*param->text : isnan(param->number)) ||
            (sweep && !param->differs))
            continue;
        lab_html(out, "{s}{h}\u00a0=\u00a0", comma, symbol(param->name));
        if (param->text)
            lab_text_html(out, param->text);
        else
            lab_text_number(out, param->number, 6);
        comma = ", ";
    }
}

/* The kind of theory; a limit and a form of first order by other names. */
static const char *kind_name(enum lab_kind kind)
{
    return kind == LAB_FIRST_ORDER  ? "first order"
           : kind == LAB_ASYMPTOTIC ? "limit"
                                    : lab_kind_name(kind);
}

static void write_standing(const struct lab_row *row, FILE *out)
{
    static const struct {
        const char *class, *word;
    } words[] = {[LAB_WITHIN] = {"holds", "agrees"},
                 [LAB_HELD] = {"holds", "held"},
                 [LAB_OUTSIDE] = {"fails", "differs"},
                 [LAB_BROKEN] = {"fails", "differs"},
                 [LAB_SHOWN] = {NULL, NULL}};
    const enum lab_standing standing = lab_row_standing(row);
    if (words[standing].class)
        lab_html(out, "<span class=\"{s}\">{s}</span>", words[standing].class,
                 words[standing].word);
    else if (standing == LAB_SHOWN)
        lab_html(out, "{.2g}\u202f% away", 100 * lab_row_distance(row));
    if (row->rare)
        lab_html(out, " rare: {.3g} to {.3g}", row->low, row->high);
}

void lab_report_row_numbers(const struct lab_row *row, FILE *out)
{
    lab_html(out, "</td><td class=\"n\">{n5}</td><td class=\"n\">{n5}", row->theory,
             row->measured);
    if (row->se > 0)
        lab_html(out, "\u00a0\u00b1\u00a0{n1}", row->se);
    lab_html(out, "</td></tr>\n");
}

void lab_report_quantity(const struct lab_result *result, const struct lab_row *row,
                         int explained, FILE *out)
{
    const char *const meaning =
        lab_quantity_meaning(result->experiment->name, row->quantity);
    lab_html(out, "<code>{h}</code>", row->quantity);
    if (explained && meaning)
        lab_html(out, "<span class=\"meaning\">{p}</span>", meaning);
}

static void write_row(const struct lab_result *result, const struct lab_row *row,
                      int sweep, int chance, FILE *out)
{
    const char *const cell = chance ? "</td><td class=\"n\">" : "";
    const double z = lab_row_z(row);
    lab_html(out, "<tr><td>");
    if (sweep) {
        lab_report_params(row, sweep, out);
        lab_html(out, "</td><td>");
    }
    lab_report_quantity(result, row, !sweep, out);
    lab_html(out, "</td><td class=\"n\">{n6}</td><td class=\"n\">{n6}{s}", row->theory,
             row->measured, cell);
    if (row->se > 0)
        lab_text_number(out, row->se, 2);
    lab_html(out, "{s}", cell);
    if (isfinite(z))
        lab_html(out, "{s}{.2f}", z < 0 ? "\u2212" : "", fabs(z));
    lab_html(out, "</td><td>{s}</td><td>",
             isnan(row->theory) ? "" : kind_name(row->kind));
    write_standing(row, out);
    lab_html(out, "</td></tr>\n");
}

/*
 * Rows first .. end - 1; in a sweep with a column of the parameters that differ from the
 * run, and with columns of se and z for random quantities.
 */
static void write_rows(const struct lab_result *result, int first, int end, int sweep,
                       FILE *out)
{
    int chance = 0;
    for (int i = first; i < end; i++)
        chance |= result->row[i].se > 0;
    lab_html(
        out,
        "<div class=\"box\"><table class=\"numbers\"><thead><tr>{s}<th>quantity</th><th "
        "class=\"n\">theory</th><th class=\"n\">measured</th>{s}<th>theory "
        "is</th><th></th></tr></thead><tbody>\n",
        sweep ? "<th>at</th>" : "",
        chance ? "<th class=\"n\">se</th><th class=\"n\">z</th>" : "");
    for (int i = first; i < end; i++)
        write_row(result, &result->row[i], sweep, chance, out);
    lab_html(out, "</tbody></table></div>\n");
}

static void write_tables(const struct lab_result *result, FILE *out)
{
    if (result->count == 0)
        return;
    lab_html(out, "<p class=\"small soft\">");
    lab_report_params(&result->row[0], 0, out);
    if (result->experiment->trials > 0)
        lab_html(out, "; at most {l} trials for each measurement", result->trials);
    lab_html(out, "</p>\n");
    if (result->own > 0)
        write_rows(result, 0, result->own, 0, out);
    if (result->count > result->own) {
        lab_html(out, "<details><summary>{d} rows of the sweeps</summary>\n",
                 result->count - result->own);
        write_rows(result, result->own, result->count, 1, out);
        lab_html(out, "</details>\n");
    }
}

void lab_report_figure(const struct lab_figure *figure, FILE *out)
{
    lab_html(out, "<figure>\n");
    lab_figure_svg_inline(figure, out);
    if (*figure->caption)
        lab_html(out, "<figcaption>{p}</figcaption>\n", figure->caption);
    lab_html(out, "</figure>\n");
}

/* The figures that no question shows, and links to the others. */
static void write_figures(const struct lab_result *result, FILE *out)
{
    const char *const name = result->experiment->name;
    const struct lab_figures *const figures = &result->figures;
    const char *before = "<p class=\"small soft\">Shown above: ";
    for (int i = 0; i < figures->count; i++) {
        const struct lab_figure *const figure = figures->figure[i];
        const struct lab_question *const question = lab_report_shown_in(name, figure->id);
        if (!question)
            continue;
        lab_html(out, "{s}<a href=\"#q-{s}\">{p}</a>", before, question->id,
                 figure->title);
        before = "; ";
    }
    if (*before == ';')
        lab_html(out, ".</p>\n");
    before = "<div class=\"figures\">\n";
    for (int i = 0; i < figures->count; i++)
        if (!lab_report_shown_in(name, figures->figure[i]->id)) {
            lab_html(out, "{s}", before);
            lab_report_figure(figures->figure[i], out);
            before = "";
        }
    if (!*before)
        lab_html(out, "</div>\n");
}

/* Nonzero if a question shows a figure or a number of the experiment. */
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
    struct lab_totals totals = {0};
    char text[160];
    const char *before = "Questions: ";
    lab_totals_add(&totals, result);
    lab_count_text(&totals.rows, text, sizeof text);
    lab_html(out, "<p class=\"small soft\">");
    for (const struct lab_question *question = lab_questions; question->id; question++) {
        if (!shows(question, experiment->name))
            continue;
        lab_html(out, "{s}", before);
        lab_report_question_link(question, out);
        before = ", ";
    }
    fprintf(out, "%sRows: %s. Again: <code>attend lab %s <span>--seed %" PRIu64 "</span>",
            *before == ',' ? ". " : "", text, experiment->name, findings->seed);
    if (experiment->trials > 0)
        lab_html(out, " <span>--trials {l}</span>", result->trials);
    lab_html(out, "</code></p>\n");
}

void lab_report_result(const struct lab_findings *findings,
                       const struct lab_result *result, FILE *out)
{
    const struct lab_experiment *const experiment = result->experiment;
    lab_html(out, "<section id=\"{s}\">\n<h2>{p}</h2>\n<p>{p}</p>\n", experiment->name,
             experiment->title, experiment->shows);
    write_origin(findings, result, out);
    if (*result->error)
        lab_html(out, "<p class=\"fails\">It could not be performed: {h}</p>\n",
                 result->error);
    if (result->figures.count > 0)
        write_figures(result, out);
    write_tables(result, out);
    lab_html(out, "</section>\n");
}

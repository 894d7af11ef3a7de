/* SPDX-License-Identifier: MIT */
/* The findings as one self-contained page. */
#include "lab/report/report_parts.h"

#include <ctype.h>
#include <inttypes.h>

#include "lab/figures/text.h"

static void write_head(FILE *out)
{
    fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
          "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
          "<meta name=\"color-scheme\" content=\"light dark\">\n"
          "<title>attend: report of the laboratory</title>\n<style>\n",
          out);
    fprintf(out, "%s\n%s\n%s", lab_shared_style, lab_report_style, lab_figure_style);
    fputs("\n</style>\n</head>\n<body>\n<div class=\"page\">\n", out);
}

static void write_contents(const struct lab_findings *findings, FILE *out)
{
    fputs("<nav aria-label=\"Contents\">\n<h2>Start</h2>\n<ol>\n"
          "<li><a href=\"#exercise\">The exercise in one screen</a></li>\n"
          "<li><a href=\"#remember\">Five things to remember</a></li>\n"
          "<li><a href=\"#glossary\">Glossary</a></li>\n</ol>\n"
          "<div class=\"asked-again\">\n<h2>Questions</h2>\n<ol>\n",
          out);
    for (const struct lab_question *q = lab_questions; q->id; q++) {
        fprintf(out, "<li><a href=\"#q-%s\">", q->id);
        if (isdigit((unsigned char)q->id[0]))
            fprintf(out, "%s ", q->id);
        lab_text_markdown(out, q->title);
        fputs("</a></li>\n", out);
    }
    fputs("</ol>\n</div>\n<h2>Measurements</h2>\n<ol>\n"
          "<li><a href=\"#summary\">Summary</a></li>\n",
          out);
    for (int e = 0; e < findings->count; e++) {
        fprintf(out, "<li><a href=\"#%s\">", findings->result[e].experiment->name);
        lab_text_prose(out, findings->result[e].experiment->title);
        fputs("</a></li>\n", out);
    }
    fputs("</ol>\n<h2>Sheets</h2>\n<ol>\n"
          "<li><a href=\"#disputes\">Where the sheets disagree</a></li>\n"
          "<li><a href=\"#sheets\">Statement by statement</a></li>\n"
          "<li><a href=\"#machine\">Machine and seed</a></li>\n</ol>\n</nav>\n",
          out);
}

static void write_tile(FILE *out, int number, int of, const char *what)
{
    fprintf(out, "<li><b>%d", number);
    if (of >= 0)
        fprintf(out, "\u202f/\u202f%d", of);
    fprintf(out, "</b><span>%s</span></li>\n", what);
}

static void write_overview_row(const struct lab_result *result, FILE *out)
{
    const struct lab_row *const row = lab_result_headline(result);
    struct lab_tally tally = {0};
    lab_tally_result(&tally, result);
    const struct lab_count *const rows = &tally.rows;
    fprintf(out, "<tr><td><a href=\"#%s\">", result->experiment->name);
    lab_text_prose(out, result->experiment->title);
    fputs("</a></td><td>", out);
    lab_text_html(out, result->experiment->answers);
    fprintf(out,
            "</td><td class=\"n\"><span class=\"%s\">%d\u202f/\u202f%d</span></td><td>",
            rows->within == rows->exact && rows->held == rows->bounds && !tally.failures
                ? "holds"
                : "fails",
            rows->within + rows->held, rows->exact + rows->bounds);
    if (row) {
        fputs("<code>", out);
        lab_text_html(out, row->quantity);
        fputs("</code>", out);
        lab_report_row_numbers(row, out);
    } else {
        fputs("</td><td></td><td></td></tr>\n", out);
    }
}

static void write_header(FILE *out)
{
    fputs("<header>\n<h1>Softmax attention in the laboratory</h1>\n"
          "<p>Copying, averaging, noisy keys, one head and several: each construction of "
          "a classic exercise runs on the engine, and what the engine does is set beside "
          "what theory says. In the plots lines are theory and points are measurements, "
          "with bars of one standard error where chance plays a part.</p>\n</header>\n",
          out);
}

static void write_summary(const struct lab_findings *findings, FILE *out)
{
    const struct lab_tally tally = lab_tally_all(findings);
    fputs("<section id=\"summary\">\n<h2>What was measured</h2>\n"
          "<p>Every experiment, with one of its numbers. Below, each experiment has its "
          "other plots and all of its rows.</p>\n"
          "<ul class=\"tiles\">\n",
          out);
    write_tile(out, tally.rows.within, tally.rows.exact, "exact laws within 4 se");
    write_tile(out, tally.rows.held, tally.rows.bounds, "bounds held");
    write_tile(out, tally.rows.shown, -1, "limits shown, not judged");
    write_tile(out, findings->count, -1, "experiments");
    write_tile(out, tally.figures, -1, "plots");
    fputs("</ul>\n", out);
    fputs("<div class=\"box\"><table class=\"overview\"><thead><tr>"
          "<th>experiment</th><th>exercise</th>"
          "<th class=\"n\">holding</th><th>for example</th><th class=\"n\">theory"
          "</th><th class=\"n\">measured</th></tr></thead><tbody>\n",
          out);
    for (int e = 0; e < findings->count; e++)
        write_overview_row(&findings->result[e], out);
    fputs(
        "</tbody></table></div>\n"
        "<p class=\"small soft\">z = (measured \u2212 theory) / se. An exact law agrees "
        "when "
        "|z|\u00a0\u2264\u00a04; where nothing is left to chance, when both are equal to "
        "rounding; where the sample holds few events (rare), when theory lies in an "
        "interval "
        "that covers as often. A bound is held or not. Of limits and first-order forms "
        "the "
        "distance is shown, and nothing is claimed.</p>\n</section>\n",
        out);
}

static void write_machine(const struct lab_findings *findings, FILE *out)
{
    char features[512];
    attend_cpu_features(features, sizeof features);
    fputs(
        "<section id=\"machine\">\n<h2>Machine and seed</h2>\n<dl>\n<dt>attend</dt><dd>",
        out);
    lab_text_html(out, attend_version());
    fputs("</dd>\n<dt>kernel set</dt><dd>", out);
    const attend_options options = attend_options_default();
    attend_context *ctx;
    attend_error err;
    if (attend_context_create(&ctx, &options, &err) == ATTEND_OK) {
        lab_text_html(out, attend_context_isa(ctx));
        attend_context_destroy(ctx);
    } else {
        lab_text_html(out, err.message);
    }
    fputs("</dd>\n<dt>CPU features</dt><dd>", out);
    lab_text_html(out, *features ? features : "none that matter");
    fprintf(
        out,
        "</dd>\n<dt>threads</dt><dd>%d</dd>\n<dt>seed</dt><dd>%" PRIu64 "</dd>\n"
        "<dt>trials</dt><dd>at most %" PRId64 " for each measurement</dd>\n</dl>\n"
        "<p class=\"small soft\">The same seed gives the same numbers for any number of "
        "threads.</p>\n</section>\n",
        findings->threads, findings->seed, findings->trials);
}

int lab_report_write(const struct lab_findings *findings, FILE *out)
{
    write_head(out);
    write_header(out);
    write_contents(findings, out);
    fputs("<main>\n", out);
    lab_report_primer(out);
    lab_report_questions(findings, out);
    write_summary(findings, out);
    for (int e = 0; e < findings->count; e++)
        lab_report_result(findings, &findings->result[e], out);
    lab_report_disputes(findings, out);
    lab_report_sheets(findings, out);
    write_machine(findings, out);
    fputs("</main>\n</div>\n</body>\n</html>\n", out);
    return ferror(out) ? -1 : 0;
}

/* SPDX-License-Identifier: MIT */
/* The findings as one self-contained page. */
#include "lab/report/report_parts.h"

#include <inttypes.h>

#include "lab/figures/text.h"

static void write_head(FILE *out)
{
    lab_html(out,
             "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
             "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
             "<meta name=\"color-scheme\" content=\"light dark\">\n"
             "<title>attend: report of the laboratory</title>\n<style>\n"
             "{s}\n{s}\n{s}\n</style>\n</head>\n<body>\n<div class=\"page\">\n",
             lab_shared_style, lab_report_style, lab_figure_style);
}

static void write_contents(const struct lab_findings *findings, FILE *out)
{
    lab_html(out, "<nav aria-label=\"Contents\">\n<h2>Start</h2>\n<ol>\n"
                  "<li><a href=\"#exercise\">The exercise in one screen</a></li>\n"
                  "<li><a href=\"#remember\">Five things to remember</a></li>\n"
                  "<li><a href=\"#glossary\">Glossary</a></li>\n</ol>\n"
                  "<div class=\"asked-again\">\n<h2>Questions</h2>\n<ol>\n");
    for (const struct lab_question *q = lab_questions; q->id; q++) {
        const int is_numbered = lab_report_is_numbered(q);
        lab_html(out, "<li><a href=\"#q-{s}\">{s}{s}{m}</a></li>\n", q->id,
                 is_numbered ? q->id : "", is_numbered ? " " : "", q->title);
    }
    lab_html(out, "</ol>\n</div>\n<h2>Measurements</h2>\n<ol>\n"
                  "<li><a href=\"#summary\">Summary</a></li>\n");
    for (int e = 0; e < findings->count; e++)
        lab_html(out, "<li><a href=\"#{s}\">{p}</a></li>\n",
                 findings->result[e].experiment->name,
                 findings->result[e].experiment->title);
    lab_html(out, "</ol>\n<h2>Sheets</h2>\n<ol>\n"
                  "<li><a href=\"#disputes\">Where the sheets disagree</a></li>\n"
                  "<li><a href=\"#sheets\">Statement by statement</a></li>\n"
                  "<li><a href=\"#machine\">Machine and seed</a></li>\n</ol>\n</nav>\n");
}

static void write_overview_row(const struct lab_result *result, FILE *out)
{
    const struct lab_row *const row = lab_result_headline(result);
    struct lab_totals totals = {0};
    lab_totals_add(&totals, result);
    const struct lab_count *const rows = &totals.rows;
    const int holds =
        rows->within == rows->exact && rows->held == rows->bounds && !totals.failures;
    lab_html(out,
             "<tr><td><a href=\"#{s}\">{p}</a></td><td>{h}</td><td class=\"n\"><span "
             "class=\"{s}\">{d}\u202f/\u202f{d}</span></td><td>",
             result->experiment->name, result->experiment->title,
             result->experiment->answers, holds ? "holds" : "fails",
             rows->within + rows->held, rows->exact + rows->bounds);
    if (row) {
        lab_html(out, "<code>{h}</code>", row->quantity);
        lab_report_row_numbers(row, out);
    } else {
        lab_html(out, "</td><td></td><td></td></tr>\n");
    }
}

static void write_summary(const struct lab_findings *findings, FILE *out)
{
    const struct lab_totals totals = lab_totals_of(findings);
    lab_html(out,
             "<section id=\"summary\">\n<h2>What was measured</h2>\n"
             "<p>Every experiment, with one of its numbers. Below, each experiment has "
             "its other plots and all of its rows.</p>\n"
             "<ul class=\"tiles\">\n"
             "<li><b>{d}\u202f/\u202f{d}</b><span>exact laws within 4 se</span></li>\n"
             "<li><b>{d}\u202f/\u202f{d}</b><span>bounds held</span></li>\n"
             "<li><b>{d}</b><span>limits shown, not judged</span></li>\n"
             "<li><b>{d}</b><span>experiments</span></li>\n"
             "<li><b>{d}</b><span>plots</span></li>\n</ul>\n"
             "<div class=\"box\"><table "
             "class=\"overview\"><thead><tr><th>experiment</th><th>exercise</th><th "
             "class=\"n\">holding</th><th>for example</th><th class=\"n\">theory</th><th "
             "class=\"n\">measured</th></tr></thead><tbody>\n",
             totals.rows.within, totals.rows.exact, totals.rows.held, totals.rows.bounds,
             totals.rows.shown, findings->count, totals.figures);
    for (int e = 0; e < findings->count; e++)
        write_overview_row(&findings->result[e], out);
    lab_html(out, "</tbody></table></div>\n"
                  "<p class=\"small soft\">z = (measured \u2212 theory) / se. An exact "
                  "law agrees when |z|\u00a0\u2264\u00a04; where nothing is left to "
                  "chance, when both are equal to rounding; where the sample holds few "
                  "events (rare), when theory lies in an interval that covers as often. "
                  "A bound is held or not. Of limits and first-order forms the distance "
                  "is shown, and nothing is claimed.</p>\n</section>\n");
}

static void write_machine(const struct lab_findings *findings, FILE *out)
{
    const attend_options options = attend_options_default();
    attend_context *ctx = NULL;
    attend_error err;
    char features[512];
    attend_cpu_features(features, sizeof features);
    const int failed = attend_context_create(&ctx, &options, &err) != ATTEND_OK;
    lab_html(out,
             "<section id=\"machine\">\n<h2>Machine and seed</h2>\n<dl>\n"
             "<dt>attend</dt><dd>{h}</dd>\n<dt>kernel set</dt><dd>{h}</dd>\n"
             "<dt>CPU features</dt><dd>{h}</dd>\n<dt>threads</dt><dd>{d}</dd>\n",
             attend_version(), failed ? err.message : attend_context_isa(ctx),
             *features ? features : "none that matter", findings->threads);
    attend_context_destroy(ctx);
    fprintf(out,
            "<dt>seed</dt><dd>%" PRIu64 "</dd>\n"
            "<dt>trials</dt><dd>at most %" PRId64 " for each measurement</dd>\n</dl>\n"
            "<p class=\"small soft\">The same seed gives the same numbers for any number "
            "of threads.</p>\n</section>\n",
            findings->seed, findings->trials);
}

int lab_report_write(const struct lab_findings *findings, FILE *out)
{
    write_head(out);
    lab_html(
        out,
        "<header>\n<h1>Softmax attention in the laboratory</h1>\n"
        "<p>Copying, averaging, noisy keys, one head and several: each construction of a "
        "classic exercise runs on the engine, and what the engine does is set beside "
        "what theory says. In the plots lines are theory and points are measurements, "
        "with bars of one standard error where chance plays a part.</p>\n</header>\n");
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

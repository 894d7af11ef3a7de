/* SPDX-License-Identifier: MIT */
/* The sheets in the report. */
#include "lab/report/report_parts.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

#include "lab/figures/text.h"

/* The length of an id such as "004-12" at the start of a text; 0: there is none. */
static size_t id_length(const char *text)
{
    size_t digits = 0;
    for (int i = 0; i < 3; i++)
        if (!isdigit((unsigned char)text[i]))
            return 0;
    if (text[3] != '-')
        return 0;
    while (isdigit((unsigned char)text[4 + digits]))
        digits++;
    return digits > 0 && digits <= 2 ? 4 + digits : 0;
}

/* Prose in which every id of a statement is a link to it. */
static void write_linked(const char *text, FILE *out)
{
    const char *from = text;
    for (const char *at = text; *at; at++) {
        const size_t id = at > text && isalnum((unsigned char)at[-1]) ? 0 : id_length(at);
        if (id == 0)
            continue;
        lab_text_math(out, from, (size_t)(at - from), LAB_HTML);
        fprintf(out, "<a href=\"#s%.*s\">%.*s</a>", (int)id, at, (int)id, at);
        from = at + id;
        at = from - 1;
    }
    lab_text_prose(out, from);
}

/* Nonzero if a text has the id of a statement; "001-1" is not in "001-10". */
static int names(const char *text, const char *id)
{
    for (const char *at = text; (at = strstr(at, id)); at++)
        if (id_length(at) == strlen(id))
            return 1;
    return 0;
}

/* Links from a statement to its question and to its disputes. */
static void write_places(const struct lab_findings *findings,
                         const struct lab_judgement *judgement, FILE *out)
{
    const struct lab_question *const question = lab_question_of(judgement->id);
    if (question) {
        lab_html(out, "<br><span class=\"small\">on ");
        lab_report_question_link(question, out);
        lab_html(out, "</span>");
    }
    for (int i = 1; i <= LAB_DISPUTES; i++)
        if (names(findings->dispute[i - 1].sides, judgement->id))
            lab_html(out,
                     "<br><span class=\"small\"><a href=\"#dispute-{d}\">dispute "
                     "{d}</a></span>",
                     i, i);
}

static void write_evidence(const struct lab_judgement *judgement, FILE *out)
{
    lab_html(out,
             "<p class=\"small\"><span class=\"soft\">Exactly:</span> {p}</p><p "
             "class=\"small soft\">{p}",
             judgement->holds_when, judgement->evidence);
    if (!isnan(judgement->measured) && !strstr(judgement->evidence, "computed")) {
        lab_html(out, " Computed: {n5}", judgement->measured);
        if (!isnan(judgement->expected))
            lab_html(out, "; claimed: {n5}", judgement->expected);
        lab_html(out, ".");
    }
    lab_html(out, "</p>");
    if (!judgement->readings_agree || judgement->invariant)
        lab_html(out, "<p class=\"small soft\">{s}{s}{s}{s}</p>",
                 judgement->readings_agree ? "" : "Read by the letter: ",
                 judgement->readings_agree ? "" : lab_verdict_word(judgement->otherwise),
                 judgement->readings_agree ? "" : ". ",
                 judgement->invariant
                     ? "The verdict is the same whatever the numbers of the exercise."
                     : "");
}

static void write_statement(const struct lab_findings *findings,
                            const struct lab_judgement *judgement, FILE *out)
{
    const char *const verdict = lab_verdict_name(judgement->verdict);
    lab_html(out, "<tr id=\"s{s}\"><td class=\"id\"><b>{s}</b>", judgement->id,
             judgement->id);
    write_places(findings, judgement, out);
    lab_html(out,
             "</td><td><span class=\"verdict {s}\">{s}</span></td><td class=\"text\">",
             verdict, lab_verdict_word(judgement->verdict));
    if (judgement->quote && *judgement->quote) {
        char quote[400];
        lab_text_plain(judgement->quote, quote, sizeof quote);
        lab_html(
            out,
            "<q class=\"quote\">{p}</q> <span class=\"soft small\">line {d}</span><br>",
            quote, judgement->quoted);
    }
    lab_text_prose(out, judgement->says);
    write_evidence(judgement, out);
    lab_html(out, "</td></tr>\n");
}

/* The statements of one sheet, which follow one another; returns the next one. */
static int write_sheet(const struct lab_findings *findings, int first, FILE *out)
{
    const char *const sheet = findings->judgement[first].sheet;
    int count[4] = {0}, end = first;
    while (end < findings->judged && !strcmp(findings->judgement[end].sheet, sheet))
        count[findings->judgement[end++].verdict]++;
    lab_html(out,
             "<h3 id=\"sheet-{s}\">Sheet {s}</h3>\n"
             "<p class=\"small soft\">{d} statements:",
             sheet, sheet, end - first);
    for (int verdict = LAB_HOLDS; verdict <= LAB_SLIP; verdict++)
        lab_html(out, "{s} {d} {s}", verdict ? "," : "", count[verdict],
                 lab_verdict_word((enum lab_verdict)verdict));
    lab_html(out,
             "</p>\n<div class=\"box\"><table "
             "class=\"statements\"><thead><tr><th>statement</th><th>verdict</th><th>the "
             "sheet, in other words, and what is so</th></tr></thead><tbody>\n");
    for (int i = first; i < end; i++)
        write_statement(findings, &findings->judgement[i], out);
    lab_html(out, "</tbody></table></div>\n");
    return end;
}

void lab_report_disputes(const struct lab_findings *findings, FILE *out)
{
    lab_html(
        out,
        "<section id=\"disputes\">\n<h2>Where the sheets contradict each other</h2>\n"
        "<div class=\"box\"><table class=\"statements\"><tbody>\n");
    for (int i = 0; i < LAB_DISPUTES; i++) {
        const struct lab_dispute *const dispute = &findings->dispute[i];
        lab_html(out,
                 "<tr id=\"dispute-{d}\"><td class=\"id\">{d}</td><td "
                 "class=\"text\"><b>{p}</b><p class=\"small soft\">",
                 i + 1, i + 1, dispute->question);
        write_linked(dispute->sides, out);
        lab_html(out, "</p><p class=\"small\"><span class=\"holds\">Right:</span> ");
        write_linked(dispute->right, out);
        lab_html(out, "</p></td></tr>\n");
    }
    lab_html(out, "</tbody></table></div>\n</section>\n");
}

/* The verdicts as a bar and in numbers, and their meanings. */
static void write_verdicts(const struct lab_findings *findings, FILE *out)
{
    const struct lab_totals totals = lab_totals_of(findings);
    lab_html(
        out,
        "<div class=\"tally\">{d} statements of the five sheets, judged by computing\n"
        "<div class=\"split\" aria-hidden=\"true\">",
        findings->judged);
    for (int verdict = LAB_HOLDS; verdict <= LAB_SLIP; verdict++)
        if (totals.verdicts[verdict])
            lab_html(out, "<i class=\"{s}\" style=\"flex:{d}\"></i>",
                     lab_verdict_name((enum lab_verdict)verdict),
                     totals.verdicts[verdict]);
    lab_html(out, "</div>\n<ul>");
    for (int verdict = LAB_HOLDS; verdict <= LAB_SLIP; verdict++) {
        const char *const name = lab_verdict_name((enum lab_verdict)verdict);
        lab_html(out, "<li><b>{d}</b> <span class=\"verdict {s}\">{s}</span></li>",
                 totals.verdicts[verdict], name,
                 lab_verdict_word((enum lab_verdict)verdict));
    }
    lab_html(out, "</ul></div>\n<ul class=\"legend\">\n");
    for (int verdict = LAB_HOLDS; verdict <= LAB_SLIP; verdict++) {
        const char *const name = lab_verdict_name((enum lab_verdict)verdict);
        lab_html(out, "<li><span class=\"verdict {s}\">{s}</span> {p}</li>\n", name,
                 lab_verdict_word((enum lab_verdict)verdict),
                 lab_verdict_meaning((enum lab_verdict)verdict));
    }
    lab_html(
        out,
        "</ul>\n<p class=\"small soft\">Statements are read with charity: what a "
        "sheet calls equal may be so in a limit. Where a reading by the letter gives "
        "another verdict, it stands below the statement.</p>\n<p "
        "class=\"small soft\">{m}</p>\n",
        "The sheets have letters of their own. There $\\alpha_i$ is a weight (here "
        "$p_i$) and $\\alpha$ the noise; `k.q` is the score $k^\\top q$; $m_i$ and "
        "$\\mu_i$ are means of keys, $c$ or $\\beta$ without an index is the scale "
        "of a query, and `A^T` is $A^\\top$. In the computations `sg(x)` is $1 / (1 "
        "+ e^{-x})$. A number such as 002-12 is sheet 002, statement 12.");
}

void lab_report_sheets(const struct lab_findings *findings, FILE *out)
{
    lab_html(
        out,
        "<section id=\"sheets\">\n<h2>The five sheets, statement by statement</h2>\n"
        "<p>Five solution sheets answer the exercise. Each of their statements was "
        "put to the test by computing, with the sheet\u2019s own queries; the "
        "passage judged is quoted first, with its line. The sheets are scans, most "
        "of handwriting: where the scan may be at fault, the evidence says so.</p>\n");
    write_verdicts(findings, out);
    for (int i = 0; i < findings->judged;)
        i = write_sheet(findings, i, out);
    lab_html(out, "</section>\n");
}

/* SPDX-License-Identifier: MIT */
/* The sheets in the report. */
#include "lab/report/report_parts.h"

#include <math.h>
#include <string.h>

#include "lab/figures/text.h"

void lab_report_verdict(enum lab_verdict verdict, FILE *out)
{
    const char *const name = lab_verdict_name(verdict);
    fprintf(out, "<span class=\"verdict %s\">%s</span>", name, name);
}

static void write_statement(const struct lab_judgement *judgement, FILE *out)
{
    fprintf(out,
            "<tr id=\"s%s\"><td class=\"id\">%s<br><span class=\"soft small\">line %d"
            "</span></td><td>",
            judgement->id, judgement->id, judgement->line);
    lab_report_verdict(judgement->verdict, out);
    fputs("</td><td class=\"text\">", out);
    lab_text_prose(out, judgement->says);
    fputs("<p class=\"small\"><span class=\"soft\">Exactly:</span> ", out);
    lab_text_prose(out, judgement->holds_when);
    fputs("</p><p class=\"small soft\">", out);
    lab_text_prose(out, judgement->evidence);
    if (!isnan(judgement->measured) && !strstr(judgement->evidence, "computed")) {
        fputs(" Computed: ", out);
        lab_text_number(out, judgement->measured, 5);
        if (!isnan(judgement->expected)) {
            fputs("; claimed: ", out);
            lab_text_number(out, judgement->expected, 5);
        }
        fputs(".", out);
    }
    fputs("</p></td></tr>\n", out);
}

/* The statements of one sheet, which follow one another; returns the next one. */
static int write_sheet(const struct lab_findings *findings, int first, FILE *out)
{
    const char *const sheet = findings->judgement[first].sheet;
    int count[4] = {0}, end = first;
    while (end < findings->judged && !strcmp(findings->judgement[end].sheet, sheet))
        count[findings->judgement[end++].verdict]++;
    fprintf(out,
            "<h3 id=\"sheet-%s\">Sheet %s</h3>\n<p class=\"small soft\">%d statements:",
            sheet, sheet, end - first);
    for (int verdict = LAB_HOLDS; verdict <= LAB_SLIP; verdict++)
        fprintf(out, "%s %d %s", verdict ? "," : "", count[verdict],
                lab_verdict_name((enum lab_verdict)verdict));
    fputs("</p>\n<div class=\"box\"><table "
          "class=\"statements\"><thead><tr><th>statement</th>"
          "<th>verdict</th><th>the sheet says, and what is so</th></tr></thead><tbody>\n",
          out);
    for (int i = first; i < end; i++)
        write_statement(&findings->judgement[i], out);
    fputs("</tbody></table></div>\n", out);
    return end;
}

void lab_report_disputes(const struct lab_findings *findings, FILE *out)
{
    fputs("<section id=\"disputes\">\n<h2>Where the sheets contradict each other</h2>\n"
          "<div class=\"box\"><table class=\"statements\"><tbody>\n",
          out);
    for (int i = 0; i < LAB_DISPUTES; i++) {
        const struct lab_dispute *const dispute = &findings->dispute[i];
        fputs("<tr><td class=\"text\"><b>", out);
        lab_text_prose(out, dispute->question);
        fputs("</b><p class=\"small soft\">", out);
        lab_text_prose(out, dispute->sides);
        fputs("</p><p class=\"small\"><span class=\"holds\">Right:</span> ", out);
        lab_text_prose(out, dispute->right);
        fputs("</p></td></tr>\n", out);
    }
    fputs("</tbody></table></div>\n</section>\n", out);
}

void lab_report_sheets(const struct lab_findings *findings, FILE *out)
{
    fputs("<section id=\"sheets\">\n<h2>The five sheets, statement by statement</h2>\n"
          "<p>Each statement was put to the test by computing, with the sheet\u2019s own "
          "queries. ",
          out);
    lab_report_verdict(LAB_HOLDS, out);
    fputs(" error below 10<sup>\u22129</sup> on the whole grid; ", out);
    lab_report_verdict(LAB_LIMIT, out);
    fputs(" true as something that the sheet leaves free grows; ", out);
    lab_report_verdict(LAB_FAILS, out);
    fputs(" there is a counterexample; ", out);
    lab_report_verdict(LAB_SLIP, out);
    fputs(" ill-formed as printed, right when one symbol is repaired.</p>\n", out);
    for (int i = 0; i < findings->judged;)
        i = write_sheet(findings, i, out);
    fputs("</section>\n", out);
}

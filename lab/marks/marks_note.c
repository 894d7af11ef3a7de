/* SPDX-License-Identifier: MIT */
/* The margin: a note for every claim, and one for several that are true. */
#include "lab/marks/marks_parts.h"

#include <math.h>
#include <string.h>

#include "lab/figures/tex.h"
#include "lab/figures/text.h"

enum { WIDEST = 60 }; /* of a formula in the margin, in bytes */

/* The passage as printed, or a part of a long one as it was read. */
static void write_quote(const struct marks_sheet *sheet,
                        const struct lab_read_claim *claim, FILE *out)
{
    const int f = marks_formula_at(sheet, claim->begin);
    char plain[sizeof claim->quote];
    if (*claim->claim && (strlen(claim->quote) > WIDEST ||
                          lab_marks_is_part(&sheet->marked->reading, claim))) {
        lab_text_prose(out, claim->claim);
        return;
    }
    if (f >= 0 && sheet->formula[f].is_tex &&
        lab_tex_is_known(claim->quote, strlen(claim->quote))) {
        lab_text_tex(out, claim->quote, strlen(claim->quote), 0);
        return;
    }
    if (f >= 0 && !sheet->formula[f].is_tex) {
        lab_text_prose(out, claim->quote);
        return;
    }
    lab_text_plain(claim->quote, plain, sizeof plain);
    lab_text_html(out, plain);
}

static void write_part(const char *name, const char *text, FILE *out)
{
    if (*text)
        lab_html(out, "<p><b>{h}</b> {p}</p>", name, text);
}

static void write_numbers(const struct lab_read_claim *claim, FILE *out)
{
    if (isnan(claim->computed) || strstr(claim->evidence, "computed"))
        return;
    lab_html(out, "<p><b>computed</b> {n5}", claim->computed);
    if (!isnan(claim->expected))
        lab_html(out, ", <b>claimed</b> {n5}", claim->expected);
    lab_html(out, "</p>");
}

/* Everything about a claim but its verdict; the quote where the line has others. */
static void write_body(const struct marks_sheet *sheet,
                       const struct lab_read_claim *claim, int quoted, FILE *out)
{
    if (quoted) {
        lab_html(out, "<p class=\"quote\">");
        write_quote(sheet, claim, out);
        lab_html(out, "</p>");
    }
    if (*claim->evidence)
        lab_html(out, "<p>{p}</p>", claim->evidence);
    write_part("slip:", claim->repair, out);
    write_part("right is:", claim->exact, out);
    write_numbers(claim, out);
    if (!*claim->claim && !*claim->letters && !*claim->query)
        return;
    lab_html(out, "<details class=\"read\"><summary>as it was read</summary>");
    write_part("", claim->claim, out);
    write_part("with", claim->query, out);
    write_part("letters:", claim->letters, out);
    lab_html(out, "</details>");
}

static void write_note(const struct marks_sheet *sheet, int number, int c, int quoted,
                       FILE *out)
{
    const struct lab_read_claim *const claim = &sheet->marked->reading.claim[c];
    const char *const kind = lab_read_verdict_name(claim->verdict);
    const int quiet = marks_is_quiet(claim->verdict);
    lab_html(out,
             "<details class=\"remark {s}\" id=\"s{d}-c{d}\"{s}><summary><span "
             "class=\"word\">{s}</span>",
             kind, number, c + 1, quiet ? "" : " open",
             lab_read_verdict_words(claim->verdict));
    lab_html(out, " <span class=\"soft\">line {d}{s}{h}</span></summary>", claim->line,
             *claim->question ? ", " : "", claim->question);
    write_body(sheet, claim, quoted, out);
    lab_html(out, "</details>");
}

/* Several claims of a quiet verdict in one note. */
static void write_group(const struct marks_sheet *sheet, int number, int from, int to,
                        enum lab_read_verdict verdict, int count, FILE *out)
{
    const struct lab_read_claim *const claim = sheet->marked->reading.claim;
    lab_html(out,
             "<details class=\"remark {s}\"><summary><span class=\"word\">{s}</span> "
             "\u00d7\u2009{d} <span class=\"soft\">line {d}</span></summary>",
             lab_read_verdict_name(verdict), lab_read_verdict_words(verdict), count,
             claim[from].line);
    for (int c = from; c < to; c++)
        if (claim[c].verdict == verdict) {
            lab_html(out, "<div class=\"one\" id=\"s{d}-c{d}\">", number, c + 1);
            write_body(sheet, &claim[c], 1, out);
            lab_html(out, "</div>");
        }
    lab_html(out, "</details>");
}

void marks_write_notes(const struct marks_sheet *sheet, int number, int from, int to,
                       FILE *out)
{
    static const enum lab_read_verdict quiet[] = {LAB_READ_TRUE, LAB_READ_LIMIT,
                                                  LAB_READ_NOT_READ, LAB_READ_NOT_JUDGED};
    enum { QUIET = sizeof quiet / sizeof quiet[0] };
    const struct lab_read_claim *const claim = sheet->marked->reading.claim;
    int count[QUIET] = {0}, last[QUIET] = {0};
    for (int c = from; c < to; c++) {
        if (!marks_is_quiet(claim[c].verdict))
            write_note(sheet, number, c, to - from > 1, out);
        for (int q = 0; q < QUIET; q++)
            if (claim[c].verdict == quiet[q]) {
                count[q]++;
                last[q] = c;
            }
    }
    for (int q = 0; q < QUIET; q++) {
        if (count[q] == 1)
            write_note(sheet, number, last[q], to - from > 1, out);
        if (count[q] > 1)
            write_group(sheet, number, from, to, quiet[q], count[q], out);
    }
}

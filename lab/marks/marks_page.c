/* SPDX-License-Identifier: MIT */
/* A marked solution as a page: the lines, and the margin beside them. */
#include <ctype.h>
#include <string.h>

#include "lab/figures/tex.h"
#include "lab/figures/text.h"
#include "lab/marks/marks_parts.h"
#include "lab/report/styles.h"

int marks_is_quiet(enum lab_read_verdict verdict)
{
    return verdict != LAB_READ_FALSE && verdict != LAB_READ_SLIP;
}

int lab_marks_last_line(const struct lab_marked *marked,
                        const struct lab_read_claim *claim)
{
    int line = claim->line;
    for (size_t at = claim->begin; at + 1 < claim->end; at++)
        line += marked->source[at] == '\n';
    return line;
}

static int is_same(const struct lab_read_claim *a, const struct lab_read_claim *b)
{
    return a->begin == b->begin && a->end == b->end;
}

int lab_marks_is_part(const struct lab_reading *reading,
                      const struct lab_read_claim *claim)
{
    const struct lab_read_claim *const last = reading->claim + reading->claims - 1;
    return (claim > reading->claim && is_same(claim, claim - 1)) ||
           (claim < last && is_same(claim, claim + 1));
}

/* ---- lines ------------------------------------------------------------------------- */

static void write_formula(const struct marks_sheet *sheet, const struct marks_run *run,
                          FILE *out)
{
    const struct marks_formula *const formula = &sheet->formula[run->formula];
    const char *const source = sheet->marked->source;
    const size_t length = formula->outer - formula->inner;
    if (formula->is_tex && run->begin == formula->begin &&
        lab_tex_is_known(source + formula->inner, length)) {
        lab_text_tex(out, source + formula->inner, length, formula->display);
        return;
    }
    lab_html(out, "<code>");
    lab_text_escape(out, source + run->begin, run->end - run->begin);
    lab_html(out, "</code>");
}

/* A formula of its own, or one that may not fit into a line of words. */
static int is_wide(const struct marks_formula *formula)
{
    enum { LONG = 120 };
    return formula->is_tex &&
           (formula->display || formula->outer - formula->inner > LONG);
}

static void write_run(const struct marks_sheet *sheet, const struct marks_run *run,
                      FILE *out)
{
    const struct lab_read_claim *const claim =
        run->claim >= 0 ? &sheet->marked->reading.claim[run->claim] : NULL;
    const int is_tex = run->formula >= 0 && sheet->formula[run->formula].is_tex;
    const int display = run->formula >= 0 && is_wide(&sheet->formula[run->formula]);
    /* A formula of its own may be scrolled, also by keys. */
    lab_html(out, "<span class=\"{s}{s}{s}{s}{s}{s}{s}\"{s}>", claim ? "claim " : "",
             claim ? lab_read_verdict_name(claim->verdict) : "",
             run->bold ? " strong" : "", run->italic ? " slanted" : "",
             run->struck ? " struck" : "", display ? " display" : "",
             is_tex ? " set" : "", display ? " tabindex=\"0\"" : "");
    if (run->formula >= 0)
        write_formula(sheet, run, out);
    else
        lab_text_escape(out, sheet->marked->source + run->begin, run->end - run->begin);
    lab_html(out, "</span>");
}

/* What a block is by the markup at its begin, which is not shown. */
struct shape {
    size_t begin, end; /* of what is shown */
    int heading;
    int faint;   /* markup alone */
    int is_item; /* of a list in LaTeX */
};

/* Bytes of the command of LaTeX at `at`; 0: another one. */
static size_t command(const char *source, size_t at, size_t end, const char *name)
{
    const size_t size = strlen(name);
    return at + size <= end && !memcmp(source + at, name, size) &&
                   !(at + size < end && isalpha((unsigned char)source[at + size]))
               ? size
               : 0;
}

/* "## Title". */
static void shape_markdown(const char *source, struct shape *shape)
{
    size_t at = shape->begin;
    while (at < shape->end && source[at] == '#')
        at++;
    if (at == shape->begin || at > shape->begin + 6 || at == shape->end ||
        source[at] != ' ')
        return;
    shape->heading = 1;
    shape->begin = at + strspn(source + at, " ");
}

/* "\section{Title}", "\item", and lines such as "\begin{enumerate}". */
static void shape_latex(const char *source, struct shape *shape)
{
    static const char *const titles[] = {
        "\\section",     "\\subsection", "\\subsubsection",  "\\section*",
        "\\subsection*", "\\title",      "\\subsubsection*", "\\paragraph"};
    static const char *const alone[] = {"\\documentclass", "\\usepackage", "\\begin",
                                        "\\end",           "\\maketitle",  "\\newcommand",
                                        "\\author",        "\\date"};
    const size_t end = shape->end;
    const size_t at = shape->begin + strspn(source + shape->begin, " \t");
    for (size_t i = 0; i < sizeof titles / sizeof titles[0]; i++) {
        const size_t size = command(source, at, end, titles[i]);
        if (size && at + size < end && source[at + size] == '{' && source[end - 1] == '}')
            *shape = (struct shape){.begin = at + size + 1, .end = end - 1, .heading = 1};
    }
    for (size_t i = 0; i < sizeof alone / sizeof alone[0]; i++)
        shape->faint |= command(source, at, end, alone[i]) > 0;
    const size_t item = command(source, at, end, "\\item");
    if (item) {
        shape->is_item = 1;
        shape->begin = at + item;
    }
}

static struct shape shape_of(const struct marks_sheet *sheet,
                             const struct marks_block *block)
{
    struct shape shape = {.begin = block->begin, .end = block->end};
    const int f = marks_formula_at(sheet, block->begin);
    if (f >= 0 && sheet->formula[f].is_tex)
        return shape;
    shape_markdown(sheet->marked->source, &shape);
    if (!shape.heading)
        shape_latex(sheet->marked->source, &shape);
    return shape;
}

static int is_blank(const struct marks_sheet *sheet, const struct marks_block *block)
{
    for (size_t at = block->begin; at < block->end; at++)
        if (!isspace((unsigned char)sheet->marked->source[at]))
            return 0;
    return 1;
}

/* The place in a page: its number, the first claim to come, the blank line before. */
struct place {
    int number, claim, after_blank;
};

/* A block and the notes of the claims that begin in it. */
static void write_block(const struct marks_sheet *sheet, const struct marks_block *block,
                        struct place *place, FILE *out)
{
    const struct lab_reading *const reading = &sheet->marked->reading;
    const struct shape shape = shape_of(sheet, block);
    const int first = place->claim;
    struct marks_block words = *block;
    struct marks_run run = {0};
    words.begin = shape.begin;
    words.end = shape.end;
    lab_html(out,
             "<div class=\"line{s}\"><div class=\"words{s}\" id=\"s{d}-L{d}\"{s}><span "
             "class=\"no\">{d} ",
             place->after_blank ? " gap" : "", shape.faint ? " faint" : "", place->number,
             block->line, shape.heading ? " role=\"heading\" aria-level=\"3\"" : "",
             block->line);
    for (int l = 1; l < block->lines; l++)
        lab_html(out, "<i id=\"s{d}-L{d}\"></i>", place->number, block->line + l);
    lab_html(out, "</span>{s}", shape.is_item ? "\u2022 " : "");
    while (marks_next_run(sheet, &words, &run))
        write_run(sheet, &run, out);
    lab_html(out, "</div>");
    while (place->claim < reading->claims &&
           reading->claim[place->claim].begin <= block->end)
        place->claim++;
    if (place->claim > first) {
        lab_html(out, "<div class=\"notes\">");
        marks_write_notes(sheet, place->number, first, place->claim, out);
        lab_html(out, "</div>");
    }
    lab_html(out, "</div>\n");
}

static void write_paper(const struct marks_sheet *sheet, int number, FILE *out)
{
    struct marks_block block = {0};
    struct place place = {.number = number};
    lab_html(out, "<div class=\"paper\">\n");
    while (marks_next_block(sheet, &block)) {
        const int blank = is_blank(sheet, &block);
        if (!blank)
            write_block(sheet, &block, &place, out);
        place.after_blank = blank;
    }
    lab_html(out, "</div>\n");
}

/* Without the folder. */
static const char *short_name(const struct lab_marked *marked)
{
    const char *const slash = strrchr(marked->name, '/');
    return slash ? slash + 1 : marked->name;
}

int lab_marks_section(const struct lab_marked *marked, int number, FILE *out)
{
    struct marks_sheet sheet;
    const int failed = marks_sheet_open(&sheet, marked);
    if (!failed) {
        lab_html(out, "<section class=\"solution\" id=\"s{d}\">\n<h2>{h}</h2>\n", number,
                 short_name(marked));
        marks_write_summary(marked, number, out);
        write_paper(&sheet, number, out);
        lab_html(out, "</section>\n");
    }
    marks_sheet_close(&sheet);
    return failed;
}

/* ---- the page ------------------------------------------------------------------------
 */

static void write_legend(FILE *out)
{
    lab_html(
        out,
        "<p class=\"soft small legend\">Every claim is judged by computing it. <span "
        "class=\"claim true\">true</span>: on the whole grid; <span class=\"claim "
        "limit\">true in the limit</span>: as the scale grows or the noise vanishes; "
        "<span class=\"claim slip\">slip</span>: right once a symbol is repaired; <span "
        "class=\"claim false\">false</span>: with a counterexample; <span class=\"claim "
        "not_read\">not read</span>: the passage could not be read; <span class=\"claim "
        "not_judged\">not judged</span>: a definition, or beyond the exercise. A mark "
        "opens its note.</p>\n");
}

int lab_marks_page(const struct lab_marked *marked, int count, FILE *out)
{
    int failed = 0;
    lab_html(out,
             "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
             "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
             "<meta name=\"color-scheme\" content=\"light dark\">\n"
             "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
             "style-src 'unsafe-inline'\">\n<title>{h}{s}</title>\n<style>\n{s}\n{s}\n"
             "</style>\n</head>\n<body>\n<main class=\"marks-page\">\n<h1>{s}</h1>\n",
             short_name(marked), count > 1 ? " and others, marked" : ", marked",
             lab_shared_style, lab_marks_style,
             count > 1 ? "Solutions, marked" : "A solution, marked");
    write_legend(out);
    if (count > 1) {
        lab_html(out, "<nav aria-label=\"Solutions\"><ol>\n");
        for (int m = 0; m < count; m++)
            lab_html(out, "<li><a href=\"#s{d}\">{h}</a></li>\n", m + 1,
                     short_name(&marked[m]));
        lab_html(out, "</ol></nav>\n");
    }
    for (int m = 0; m < count && !failed; m++)
        failed = lab_marks_section(&marked[m], m + 1, out);
    lab_html(out, "</main>\n</body>\n</html>\n");
    return failed;
}

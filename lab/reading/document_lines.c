/* SPDX-License-Identifier: MIT */
/* What a line begins with: headings, labels, items and environments of LaTeX. */
#include <stdio.h>
#include <string.h>

#include "lab/reading/document_parts.h"

static int is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }
static int is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

/* A heading of LaTeX: its title's place, or 0. */
static size_t latex_heading(const struct lab_scan *scan, size_t at)
{
    static const char *const commands[] = {"\\section",       "\\subsection",
                                           "\\subsubsection", "\\paragraph",
                                           "\\subparagraph",  "\\chapter"};
    for (size_t c = 0; c < sizeof commands / sizeof *commands; c++)
        if (lab_scan_sees(scan, at, commands[c])) {
            size_t open = at + strlen(commands[c]);
            open += open < scan->size && scan->source[open] == '*';
            if (open < scan->size && scan->source[open] == '{')
                return open + 1;
        }
    return 0;
}

static void push_heading(struct lab_scan *scan, size_t begin, size_t end)
{
    while (begin < end && strchr(" \t#*{", scan->source[begin]))
        begin++;
    while (end > begin && strchr(" \t\r#*}:", scan->source[end - 1]))
        end--;
    const size_t label =
        lab_label_read(scan->source + begin, end - begin, 2, &scan->numbering);
    lab_label_title(scan->source + begin + label, end - begin - label, &scan->numbering);
    lab_scan_push(scan, LAB_PASSAGE_HEADING, begin, end);
}

/* The beginning and the end of \begin{enumerate}, and \item. */
static int read_list(struct lab_scan *scan, size_t at)
{
    const int room = sizeof scan->list / sizeof scan->list[0];
    char label[16] = "";

    if (lab_scan_sees(scan, at, "\\begin{enumerate}") ||
        lab_scan_sees(scan, at, "\\begin{itemize}")) {
        const size_t end = lab_scan_line_end(scan, at);
        char style = lab_scan_sees(scan, at, "\\begin{itemize}") ? 0 : '?';
        for (size_t i = at + 15; style && i < end; i++)
            if (lab_scan_sees(scan, i, "alph*") || lab_scan_sees(scan, i, "[a") ||
                lab_scan_sees(scan, i, "(a"))
                style = 'a';
            else if (lab_scan_sees(scan, i, "roman*") || lab_scan_sees(scan, i, "[i") ||
                     lab_scan_sees(scan, i, "(i"))
                style = 'i';
        if (scan->lists < room) {
            scan->list[scan->lists].count = 0;
            scan->list[scan->lists].style = style == '?' ? '1' : style;
        }
        scan->lists += scan->lists < 1000;
        lab_scan_close_sentence(scan, scan->at);
        lab_scan_advance(scan, end);
        scan->text = scan->at;
        return 1;
    }
    if (lab_scan_sees(scan, at, "\\end{enumerate}") ||
        lab_scan_sees(scan, at, "\\end{itemize}")) {
        lab_scan_close_sentence(scan, scan->at);
        scan->lists -= scan->lists > 0;
        lab_scan_advance(scan, lab_scan_line_end(scan, at));
        return 1;
    }
    if (!lab_scan_sees(scan, at, "\\item") || at + 5 >= scan->size ||
        is_letter(scan->source[at + 5]))
        return 0;
    lab_scan_close_sentence(scan, scan->at);
    lab_scan_advance(scan, at + 5);
    if (scan->at < scan->size && scan->source[scan->at] == '[') {
        lab_scan_advance(scan, scan->at + 1);
        const size_t end = lab_scan_line_end(scan, scan->at);
        lab_scan_advance(scan,
                         scan->at + lab_label_read(scan->source + scan->at,
                                                   end - scan->at, 1, &scan->numbering));
        if (scan->at < scan->size && scan->source[scan->at] == ']')
            lab_scan_advance(scan, scan->at + 1);
        scan->text = scan->at;
        return 1;
    }
    if (scan->lists && scan->lists <= room && scan->list[scan->lists - 1].style) {
        static const char *const roman[] = {"i", "ii", "iii", "iv", "v", "vi"};
        const int count = ++scan->list[scan->lists - 1].count;
        const char style = scan->list[scan->lists - 1].style;
        if (style == 'a' && count <= 8)
            snprintf(label, sizeof label, "(%c)", 'a' + count - 1);
        else if (style == 'i' && count <= 6)
            snprintf(label, sizeof label, "%s.", roman[count - 1]);
        else if (style == '1')
            snprintf(label, sizeof label, "%d.", count);
        lab_label_read(label, strlen(label), 1, &scan->numbering);
    }
    scan->text = scan->at;
    return 1;
}

static size_t trimmed(const struct lab_scan *scan, size_t begin, size_t end)
{
    while (end > begin &&
           (is_blank(scan->source[end - 1]) || scan->source[end - 1] == '*'))
        end--;
    return end;
}

/*
 * "1.2 Title", "c) Title": a short line of words without a formula or a full stop, most
 * of them with a capital, or none but the label.
 */
static int is_title(const struct lab_scan *scan, size_t begin, size_t end, size_t label)
{
    int words = 0, capitals = 0;

    end = trimmed(scan, begin, end);
    if (begin + label >= end || end - begin > 90 || strchr(".,;", scan->source[end - 1]))
        return 0;
    for (size_t i = begin + label; i < end; i++) {
        const char c = scan->source[i];
        if (strchr("$=\\", c))
            return 0;
        if (i > begin + label && scan->source[i - 1] != ' ' && scan->source[i - 1] != '-')
            continue;
        const size_t rest = end - i;
        const int small = (rest > 3 && !memcmp(scan->source + i, "of ", 3)) ||
                          (rest > 3 && !memcmp(scan->source + i, "in ", 3)) ||
                          (rest > 4 && !memcmp(scan->source + i, "and ", 4)) ||
                          (rest > 4 && !memcmp(scan->source + i, "the ", 4)) ||
                          (rest > 4 && !memcmp(scan->source + i, "for ", 4));
        words += is_letter(c) && !small;
        capitals += c >= 'A' && c <= 'Z';
    }
    return words > 0 && 2 * capitals >= words && scan->source[begin + label] >= 'A' &&
           scan->source[begin + label] <= 'Z';
}

/* \begin{center} and the like, which are no part of a sentence. */
static int skip_environment(struct lab_scan *scan, size_t at)
{
    size_t end = at;
    if (!scan->latex ||
        (!lab_scan_sees(scan, at, "\\begin{") && !lab_scan_sees(scan, at, "\\end{")))
        return 0;
    if (lab_scan_starts_delimited(scan, at))
        return 0;
    while (end < scan->size && scan->source[end] != '}' && scan->source[end] != '\n')
        end++;
    lab_scan_close_sentence(scan, scan->at);
    lab_scan_advance(scan, end < scan->size ? end + 1 : end);
    scan->text = scan->at;
    return 1;
}

/* A line with a number and a title is a heading: "2 Multi-Headed Attention". */
static size_t read_label(const struct lab_scan *scan, size_t begin, size_t end,
                         int marked, struct lab_numbering *numbering)
{
    struct lab_numbering heading = *numbering;
    const char *const text = scan->source + begin;

    if (!marked && text[0] >= '0' && text[0] <= '9') {
        const size_t label = lab_label_read(text, end - begin, 2, &heading);
        if (label && is_title(scan, begin, end, label)) {
            *numbering = heading;
            return label;
        }
    }
    return lab_label_read(text, end - begin, marked, numbering);
}

/* "3." of a list that numbers no questions. */
static void skip_number(struct lab_scan *scan, size_t begin, size_t end)
{
    size_t at = begin;
    while (at < end && at < begin + 3 && scan->source[at] >= '0' &&
           scan->source[at] <= '9')
        at++;
    if (at == begin || at + 1 >= end || !strchr(".)", scan->source[at]) ||
        !is_blank(scan->source[at + 1]))
        return;
    lab_scan_close_sentence(scan, scan->at);
    lab_scan_advance(scan, at + 1);
    scan->text = scan->at;
}

/* What a line begins with; 1 if the line is done. */
/* A line of "====" or "----". */
static int is_rule(const struct lab_scan *scan, size_t begin, size_t end)
{
    size_t at = begin;
    while (at < end && scan->source[at] == scan->source[begin])
        at++;
    while (at < end && is_blank(scan->source[at]))
        at++;
    return at == end && end - begin > 2 && strchr("=-*_", scan->source[begin]);
}

int lab_scan_read_line_start(struct lab_scan *scan)
{
    const size_t end = lab_scan_line_end(scan, scan->at);
    size_t begin = scan->at, label, title = 0;
    int marked = 0;

    while (begin < end && is_blank(scan->source[begin]))
        begin++;
    if (begin == end || is_rule(scan, begin, end)) {
        lab_scan_close_sentence(scan, scan->at);
        lab_scan_advance(scan, end < scan->size ? end + 1 : end);
        scan->text = scan->at;
        return 1;
    }
    if ((title = latex_heading(scan, begin)) != 0) {
        size_t close = lab_scan_find_close(scan, title, "}", 0);
        close = close < end ? close : end;
        lab_scan_close_sentence(scan, scan->at);
        push_heading(scan, title, close);
        lab_scan_advance(scan, close < end ? close + 1 : close);
        scan->text = scan->at;
        return 0;
    }
    if (scan->source[begin] == '#') {
        lab_scan_close_sentence(scan, scan->at);
        push_heading(scan, begin, end);
        lab_scan_advance(scan, end < scan->size ? end + 1 : end);
        scan->text = scan->at;
        return 1;
    }
    if (read_list(scan, begin))
        return 0;
    if (skip_environment(scan, begin))
        return 0;
    const size_t bullet = begin;
    while (begin < end &&
           (strchr("-*+>", scan->source[begin]) || lab_scan_sees(scan, begin, "•") ||
            lab_scan_sees(scan, begin, "\\textbf{"))) {
        begin += lab_scan_sees(scan, begin, "•") ? strlen("•")
                 : scan->source[begin] == '\\'   ? strlen("\\textbf{")
                                                 : 1;
        while (begin < end && is_blank(scan->source[begin]))
            begin++;
    }
    marked = begin > bullet;
    struct lab_numbering numbering = scan->numbering;
    label = read_label(scan, begin, end, marked, &numbering);
    if (!label) {
        if (marked && is_blank(scan->source[begin - 1])) {
            lab_scan_close_sentence(scan, scan->at);
            lab_scan_advance(scan, begin);
        }
        skip_number(scan, begin, end);
        return 0;
    }
    lab_scan_close_sentence(scan, scan->at);
    scan->numbering = numbering;
    const int titled = is_title(scan, begin, end, label);
    if (titled)
        lab_label_title(scan->source + begin + label, end - begin - label,
                        &scan->numbering);
    if (begin + label >= end || titled) {
        lab_scan_push(scan, LAB_PASSAGE_HEADING, begin, trimmed(scan, begin, end));
        lab_scan_advance(scan, end < scan->size ? end + 1 : end);
        scan->text = scan->at;
        return 1;
    }
    lab_scan_advance(scan, begin + label);
    scan->text = scan->at;
    return 0;
}

int lab_scan_skip_fence(struct lab_scan *scan)
{
    size_t begin = scan->at;
    while (begin < scan->size && scan->source[begin] == ' ')
        begin++;
    if (!lab_scan_sees(scan, begin, "```"))
        return 0;
    lab_scan_close_sentence(scan, scan->at);
    const size_t first = lab_scan_line_end(scan, begin);
    const size_t close = lab_scan_find_close(scan, first, "\n```", 1);
    lab_scan_advance(scan,
                     close < scan->size ? lab_scan_line_end(scan, close + 1) : close);
    scan->text = scan->at;
    return 1;
}

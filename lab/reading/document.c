/* SPDX-License-Identifier: MIT */
/* Passages of a document: headings, sentences, and the formulas in them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lab/reading/document_parts.h"

static int is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }
static int is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

int lab_scan_sees(const struct lab_scan *scan, size_t at, const char *text)
{
    const size_t length = strlen(text);
    return at <= scan->size && length <= scan->size - at &&
           !memcmp(scan->source + at, text, length);
}

size_t lab_scan_line_end(const struct lab_scan *scan, size_t at)
{
    const char *const end = memchr(scan->source + at, '\n', scan->size - at);
    return end ? (size_t)(end - scan->source) : scan->size;
}

int lab_scan_push(struct lab_scan *scan, enum lab_passage_kind kind, size_t begin,
                  size_t end)
{
    struct lab_document *const document = scan->document;

    if (document->count == document->room) {
        const int room = document->room ? 2 * document->room : 64;
        struct lab_passage *const more =
            realloc(document->passage, (size_t)room * sizeof *more);
        if (!more) {
            scan->failed = 1;
            return -1;
        }
        document->passage = more;
        document->room = room;
    }
    struct lab_passage *const passage = &document->passage[document->count];
    *passage = (struct lab_passage){.kind = kind,
                                    .begin = begin,
                                    .end = end,
                                    .line = scan->line,
                                    .last_line = scan->line,
                                    .sentence = -1};
    memcpy(passage->question, scan->numbering.question, sizeof passage->question);
    memcpy(passage->label, scan->numbering.label, sizeof passage->label);
    return document->count++;
}

void lab_scan_advance(struct lab_scan *scan, size_t to)
{
    for (; scan->at < to; scan->at++)
        scan->line += scan->source[scan->at] == '\n';
}

static void push_formula(struct lab_scan *scan, size_t begin, size_t end, int display)
{
    const int line = scan->line;
    while (begin < end && is_blank(scan->source[begin]))
        scan->line += scan->source[begin++] == '\n';
    while (end > begin && is_blank(scan->source[end - 1]))
        end--;
    if (begin < end) {
        if (display)
            lab_label_words(scan->source + begin, end - begin, &scan->numbering);
        const int formula = lab_scan_push(scan, LAB_PASSAGE_FORMULA, begin, end);
        if (formula >= 0) {
            struct lab_passage *const passage = &scan->document->passage[formula];
            passage->display = display;
            passage->sentence = display ? -1 : scan->sentence;
            for (size_t i = begin; i < end; i++)
                passage->last_line += scan->source[i] == '\n';
        }
    }
    scan->line = line;
}

/* Formulas without delimiters up to here. */
static void flush_text(struct lab_scan *scan)
{
    size_t begin, end, from = scan->text;
    if (scan->sentence >= 0)
        while (from < scan->at &&
               lab_plain_formula(scan->source, from, scan->at, &begin, &end)) {
            push_formula(scan, begin, end, 0);
            from = end;
        }
    scan->text = scan->at;
}

static void open_sentence(struct lab_scan *scan)
{
    if (scan->sentence < 0) {
        scan->text = scan->at;
        scan->brackets = 0;
        scan->sentence = lab_scan_push(scan, LAB_PASSAGE_SENTENCE, scan->at, scan->at);
    }
}

/* The question of a sentence that its words decide holds for its formulas too. */
void lab_scan_close_sentence(struct lab_scan *scan, size_t end)
{
    flush_text(scan);
    if (scan->sentence < 0)
        return;
    struct lab_passage *const passage = scan->document->passage;
    struct lab_passage *const sentence = &passage[scan->sentence];
    while (end > sentence->begin &&
           (is_blank(scan->source[end - 1]) ||
            (scan->source[end - 1] == '}' &&
             !memchr(scan->source + sentence->begin, '{', end - sentence->begin))))
        end--;
    sentence->end = end;
    for (size_t i = sentence->begin; i < end; i++)
        sentence->last_line += scan->source[i] == '\n';
    lab_label_words(scan->source + sentence->begin, end - sentence->begin,
                    &scan->numbering);
    for (int p = scan->sentence; p < scan->document->count; p++)
        memcpy(passage[p].question, scan->numbering.question, sizeof passage[p].question);
    scan->sentence = -1;
}

size_t lab_scan_find_close(const struct lab_scan *scan, size_t from, const char *close,
                           int across)
{
    size_t i = from;
    for (; i < scan->size; i++) {
        if (lab_scan_sees(scan, i, close))
            return i;
        if (scan->source[i] == '\\' && i + 1 < scan->size)
            i++;
        else if (!across && scan->source[i] == '\n') {
            size_t next = i + 1;
            while (next < scan->size &&
                   (scan->source[next] == ' ' || scan->source[next] == '\t' ||
                    scan->source[next] == '\r'))
                next++;
            if (next >= scan->size || scan->source[next] == '\n')
                break;
            i = next - 1;
        }
    }
    return scan->size;
}

static size_t paragraph_end(const struct lab_scan *scan, size_t from)
{
    for (; from < scan->size; from++)
        if (scan->source[from] == '\n') {
            size_t next = from + 1;
            while (next < scan->size && is_blank(scan->source[next]) &&
                   scan->source[next] != '\n')
                next++;
            if (next >= scan->size || scan->source[next] == '\n')
                return from;
            from = next - 1;
        }
    return scan->size;
}

/*
 * $a (b$ and $+ c)$ on the next line are one formula: its end.  The dollars inside are
 * blanks of the formula.
 */
static size_t join_open(const struct lab_scan *scan, size_t begin, size_t end)
{
    for (int more = 0, depth = 0; more < 8; more++) {
        size_t next = end + 1;
        for (size_t i = begin; i < end; i++)
            depth += (scan->source[i] == '(') - (scan->source[i] == ')');
        while (next < scan->size && is_blank(scan->source[next]))
            next++;
        if (depth <= 0 || next >= scan->size || scan->source[next] != '$' ||
            lab_scan_sees(scan, next, "$$"))
            return end;
        const size_t close = lab_scan_find_close(scan, next + 1, "$", 0);
        if (close == scan->size)
            return end;
        begin = end;
        end = close;
    }
    return end;
}

/* Delimiters of formulas; a closed one stands before a longer one. */
static const struct delimiter {
    const char *open, *close;
    int display;
} delimiters[] = {
    {"$$", "$$", 1},
    {"$", "$", 0},
    {"\\[", "\\]", 1},
    {"\\(", "\\)", 0},
    {"\\begin{equation}", "\\end{equation}", 1},
    {"\\begin{equation*}", "\\end{equation*}", 1},
    {"\\begin{align}", "\\end{align}", 1},
    {"\\begin{align*}", "\\end{align*}", 1},
    {"\\begin{alignat}", "\\end{alignat}", 1},
    {"\\begin{alignat*}", "\\end{alignat*}", 1},
    {"\\begin{gather}", "\\end{gather}", 1},
    {"\\begin{gather*}", "\\end{gather*}", 1},
    {"\\begin{multline}", "\\end{multline}", 1},
    {"\\begin{multline*}", "\\end{multline*}", 1},
    {"\\begin{flalign}", "\\end{flalign}", 1},
    {"\\begin{flalign*}", "\\end{flalign*}", 1},
    {"\\begin{eqnarray}", "\\end{eqnarray}", 1},
    {"\\begin{eqnarray*}", "\\end{eqnarray*}", 1},
    {"\\begin{displaymath}", "\\end{displaymath}", 1},
    {"\\begin{math}", "\\end{math}", 0},
};

int lab_scan_starts_delimited(const struct lab_scan *scan, size_t at)
{
    for (size_t d = 0; d < LAB_DELIMITERS; d++)
        if (lab_scan_sees(scan, at, delimiters[d].open))
            return 1;
    return 0;
}

/* A formula that begins here, with delimiters: 1, and the scan stands after it. */
static int read_delimited(struct lab_scan *scan)
{
    size_t begin, end, d = 0;

    while (d < LAB_DELIMITERS && !lab_scan_sees(scan, scan->at, delimiters[d].open))
        d++;
    if (d == LAB_DELIMITERS || scan->at < scan->unclosed[d])
        return 0;
    const int display = delimiters[d].display;
    begin = scan->at + strlen(delimiters[d].open);
    end = lab_scan_find_close(scan, begin, delimiters[d].close, display);
    if (end == scan->size) { /* nor is one that opens before the next blank line */
        scan->unclosed[d] = display ? end : paragraph_end(scan, begin);
        return 0;
    }
    if (!strcmp(delimiters[d].close, "$"))
        end = join_open(scan, begin, end);
    if (display)
        lab_scan_close_sentence(scan, scan->at);
    else {
        open_sentence(scan);
        flush_text(scan);
    }
    lab_scan_advance(scan, begin);
    push_formula(scan, begin, end, display);
    lab_scan_advance(scan, end + strlen(delimiters[d].close));
    scan->text = scan->at;
    return 1;
}

static int ends_sentence(const struct lab_scan *scan)
{
    const size_t at = scan->at;
    const char c = scan->source[at];
    const char next = at + 1 < scan->size ? scan->source[at + 1] : '\n';

    if (!strchr(scan->brackets > 0 ? ".!?" : ".;:!?", c) ||
        !(is_blank(next) || next == '$'))
        return 0;
    if (c != '.' || at < 2)
        return 1;
    /* e.g., i.e., s.t., and initials */
    const char before = scan->source[at - 1], far = scan->source[at - 2];
    if (is_letter(before) && (far == '.' || far == '('))
        return 0;
    return !(at >= 3 &&
             (lab_scan_sees(scan, at - 2, "cf") || lab_scan_sees(scan, at - 2, "vs")));
}

/* Commands of LaTeX in text, with what follows them in brackets. */
static int skip_command(struct lab_scan *scan)
{
    size_t end = scan->at + 1;
    if (!scan->latex || scan->source[scan->at] != '\\')
        return 0;
    while (end < scan->size && is_letter(scan->source[end]))
        end++;
    if (lab_scan_sees(scan, scan->at, "\\begin{") ||
        lab_scan_sees(scan, scan->at, "\\end{") ||
        lab_scan_sees(scan, scan->at, "\\label{") ||
        lab_scan_sees(scan, scan->at, "\\ref{"))
        while (end < scan->size && scan->source[end] != '\n' &&
               scan->source[end - 1] != '}')
            end++;
    lab_scan_advance(scan, end);
    return 1;
}

/* Text up to the end of the line, or beyond it if a formula goes on. */
static void read_text(struct lab_scan *scan)
{
    while (scan->at < scan->size && scan->source[scan->at] != '\n') {
        const char c = scan->source[scan->at];
        if ((c == '$' || c == '\\') && read_delimited(scan))
            continue;
        if (scan->latex && c == '%') {
            lab_scan_close_sentence(scan, scan->at);
            lab_scan_advance(scan, lab_scan_line_end(scan, scan->at));
            scan->text = scan->at;
            return;
        }
        if (scan->sentence < 0) {
            if (skip_command(scan))
                continue;
            if (!is_blank(c) && !strchr(".,;:{}*_", c))
                open_sentence(scan);
        }
        scan->brackets += (c == '(') - (c == ')');
        if (c == '\\' && scan->at + 1 < scan->size && scan->source[scan->at + 1] != '\n')
            lab_scan_advance(scan, scan->at + 2);
        else if (c == '.' && scan->sentence < 0)
            lab_scan_advance(scan, scan->at + 1);
        else if (ends_sentence(scan)) {
            lab_scan_close_sentence(scan, scan->at);
            lab_scan_advance(scan, scan->at + 1);
            scan->text = scan->at;
        } else
            lab_scan_advance(scan, scan->at + 1);
    }
    flush_text(scan);
    if (scan->at < scan->size)
        lab_scan_advance(scan, scan->at + 1);
    scan->text = scan->at;
}

int lab_document_open(struct lab_document *document, const char *source, size_t size)
{
    static const char begin[] = "\\begin{document}", end[] = "\\end{document}";
    struct lab_scan scan = {
        .document = document, .source = source, .size = size, .line = 1, .sentence = -1};

    *document = (struct lab_document){.source = source, .size = size};
    for (size_t i = 0; i + sizeof begin <= size && !scan.latex; i++)
        if (lab_scan_sees(&scan, i, begin)) {
            scan.latex = 1;
            lab_scan_advance(&scan, i + sizeof begin - 1);
        }
    for (size_t i = scan.at; scan.at && i + sizeof end <= scan.size + 1; i++)
        if (lab_scan_sees(&scan, i, end))
            scan.size = i;
    for (size_t i = 0; i + 8 < size && !scan.latex; i++)
        scan.latex =
            lab_scan_sees(&scan, i, "\\section") || lab_scan_sees(&scan, i, "\\begin{e");
    while (scan.at < scan.size && !scan.failed)
        if (!lab_scan_skip_fence(&scan) && !lab_scan_read_line_start(&scan))
            read_text(&scan);
    lab_scan_close_sentence(&scan, scan.size);
    return scan.failed ? -1 : 0;
}

void lab_document_close(struct lab_document *document)
{
    free(document->passage);
    *document = (struct lab_document){0};
}

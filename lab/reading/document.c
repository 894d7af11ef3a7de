/* SPDX-License-Identifier: MIT */
/* Passages of a document: headings, sentences, and the formulas in them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lab/reading/document_parts.h"

enum { DELIMITERS = 20 };

struct scan {
    struct lab_document *document;
    const char *source;
    size_t at, size;
    int line;
    int latex;                   /* a file of LaTeX */
    int sentence;                /* the passage that is open; -1: none */
    size_t text;                 /* where text without delimiters goes on from */
    size_t unclosed[DELIMITERS]; /* none of this kind closes that opens before this */
    int brackets;                /* open in the sentence */
    int failed;
    struct lab_numbering numbering;
    struct {
        char style; /* 'a', 'i', '1', 0 for a list without numbers */
        int count;
    } list[6];
    int lists;
};

static int is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }
static int is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

static int sees(const struct scan *scan, size_t at, const char *text)
{
    const size_t length = strlen(text);
    return length <= scan->size - at && !memcmp(scan->source + at, text, length);
}

static size_t line_end(const struct scan *scan, size_t at)
{
    const char *const end = memchr(scan->source + at, '\n', scan->size - at);
    return end ? (size_t)(end - scan->source) : scan->size;
}

static int push(struct scan *scan, enum lab_passage_kind kind, size_t begin, size_t end)
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

/* Lines from `from` to `to`, counted once: the scan only moves on. */
static void advance(struct scan *scan, size_t to)
{
    for (; scan->at < to; scan->at++)
        scan->line += scan->source[scan->at] == '\n';
}

static void push_formula(struct scan *scan, size_t begin, size_t end, int display)
{
    const int line = scan->line;
    while (begin < end && is_blank(scan->source[begin]))
        scan->line += scan->source[begin++] == '\n';
    while (end > begin && is_blank(scan->source[end - 1]))
        end--;
    if (begin < end) {
        if (display)
            lab_label_words(scan->source + begin, end - begin, &scan->numbering);
        const int formula = push(scan, LAB_PASSAGE_FORMULA, begin, end);
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
static void flush_text(struct scan *scan)
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

static void open_sentence(struct scan *scan)
{
    if (scan->sentence < 0) {
        scan->text = scan->at;
        scan->brackets = 0;
        scan->sentence = push(scan, LAB_PASSAGE_SENTENCE, scan->at, scan->at);
    }
}

/* The question of a sentence that its words decide holds for its formulas too. */
static void close_sentence(struct scan *scan, size_t end)
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

/*
 * Where `close` stands from `from` on; scan->size if the end or, unless `across`, a blank
 * line comes first.
 */
static size_t find_close(const struct scan *scan, size_t from, const char *close,
                         int across)
{
    size_t i = from;
    for (; i < scan->size; i++) {
        if (sees(scan, i, close))
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

static size_t paragraph_end(const struct scan *scan, size_t from)
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
static size_t join_open(const struct scan *scan, size_t begin, size_t end)
{
    for (int more = 0, depth = 0; more < 8; more++) {
        size_t next = end + 1;
        for (size_t i = begin; i < end; i++)
            depth += (scan->source[i] == '(') - (scan->source[i] == ')');
        while (next < scan->size && is_blank(scan->source[next]))
            next++;
        if (depth <= 0 || next >= scan->size || scan->source[next] != '$' ||
            sees(scan, next, "$$"))
            return end;
        const size_t close = find_close(scan, next + 1, "$", 0);
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

/* A formula that begins here, with delimiters: 1, and the scan stands after it. */
static int read_delimited(struct scan *scan)
{
    size_t begin, end, d = 0;

    while (d < DELIMITERS && !sees(scan, scan->at, delimiters[d].open))
        d++;
    if (d == DELIMITERS || scan->at < scan->unclosed[d])
        return 0;
    const int display = delimiters[d].display;
    begin = scan->at + strlen(delimiters[d].open);
    end = find_close(scan, begin, delimiters[d].close, display);
    if (end == scan->size) { /* nor is one that opens before the next blank line */
        scan->unclosed[d] = display ? end : paragraph_end(scan, begin);
        return 0;
    }
    if (!strcmp(delimiters[d].close, "$"))
        end = join_open(scan, begin, end);
    if (display)
        close_sentence(scan, scan->at);
    else {
        open_sentence(scan);
        flush_text(scan);
    }
    advance(scan, begin);
    push_formula(scan, begin, end, display);
    advance(scan, end + strlen(delimiters[d].close));
    scan->text = scan->at;
    return 1;
}

static int ends_sentence(const struct scan *scan)
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
    return !(at >= 3 && (sees(scan, at - 2, "cf") || sees(scan, at - 2, "vs")));
}

/* Commands of LaTeX in text, with what follows them in brackets. */
static int skip_command(struct scan *scan)
{
    size_t end = scan->at + 1;
    if (!scan->latex || scan->source[scan->at] != '\\')
        return 0;
    while (end < scan->size && is_letter(scan->source[end]))
        end++;
    if (sees(scan, scan->at, "\\begin{") || sees(scan, scan->at, "\\end{") ||
        sees(scan, scan->at, "\\label{") || sees(scan, scan->at, "\\ref{"))
        while (end < scan->size && scan->source[end] != '\n' &&
               scan->source[end - 1] != '}')
            end++;
    advance(scan, end);
    return 1;
}

/* Text up to the end of the line, or beyond it if a formula goes on. */
static void read_text(struct scan *scan)
{
    while (scan->at < scan->size && scan->source[scan->at] != '\n') {
        const char c = scan->source[scan->at];
        if ((c == '$' || c == '\\') && read_delimited(scan))
            continue;
        if (scan->latex && c == '%') {
            close_sentence(scan, scan->at);
            advance(scan, line_end(scan, scan->at));
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
            advance(scan, scan->at + 2);
        else if (c == '.' && scan->sentence < 0)
            advance(scan, scan->at + 1);
        else if (ends_sentence(scan)) {
            close_sentence(scan, scan->at);
            advance(scan, scan->at + 1);
            scan->text = scan->at;
        } else
            advance(scan, scan->at + 1);
    }
    flush_text(scan);
    if (scan->at < scan->size)
        advance(scan, scan->at + 1);
    scan->text = scan->at;
}

/* A heading of LaTeX: its title's place, or 0. */
static size_t latex_heading(const struct scan *scan, size_t at)
{
    static const char *const commands[] = {"\\section",       "\\subsection",
                                           "\\subsubsection", "\\paragraph",
                                           "\\subparagraph",  "\\chapter"};
    for (size_t c = 0; c < sizeof commands / sizeof *commands; c++)
        if (sees(scan, at, commands[c])) {
            size_t open = at + strlen(commands[c]);
            open += open < scan->size && scan->source[open] == '*';
            if (open < scan->size && scan->source[open] == '{')
                return open + 1;
        }
    return 0;
}

static void push_heading(struct scan *scan, size_t begin, size_t end)
{
    while (begin < end && strchr(" \t#*{", scan->source[begin]))
        begin++;
    while (end > begin && strchr(" \t\r#*}:", scan->source[end - 1]))
        end--;
    const size_t label =
        lab_label_read(scan->source + begin, end - begin, 2, &scan->numbering);
    lab_label_title(scan->source + begin + label, end - begin - label, &scan->numbering);
    push(scan, LAB_PASSAGE_HEADING, begin, end);
}

/* The beginning and the end of \begin{enumerate}, and \item. */
static int read_list(struct scan *scan, size_t at)
{
    const int room = sizeof scan->list / sizeof scan->list[0];
    char label[16] = "";

    if (sees(scan, at, "\\begin{enumerate}") || sees(scan, at, "\\begin{itemize}")) {
        const size_t end = line_end(scan, at);
        char style = sees(scan, at, "\\begin{itemize}") ? 0 : '?';
        for (size_t i = at + 15; style && i < end; i++)
            if (sees(scan, i, "alph*") || sees(scan, i, "[a") || sees(scan, i, "(a"))
                style = 'a';
            else if (sees(scan, i, "roman*") || sees(scan, i, "[i") ||
                     sees(scan, i, "(i"))
                style = 'i';
        if (scan->lists < room) {
            scan->list[scan->lists].count = 0;
            scan->list[scan->lists].style = style == '?' ? '1' : style;
        }
        scan->lists += scan->lists < 1000;
        close_sentence(scan, scan->at);
        advance(scan, end);
        scan->text = scan->at;
        return 1;
    }
    if (sees(scan, at, "\\end{enumerate}") || sees(scan, at, "\\end{itemize}")) {
        close_sentence(scan, scan->at);
        scan->lists -= scan->lists > 0;
        advance(scan, line_end(scan, at));
        return 1;
    }
    if (!sees(scan, at, "\\item") || at + 5 >= scan->size ||
        is_letter(scan->source[at + 5]))
        return 0;
    close_sentence(scan, scan->at);
    advance(scan, at + 5);
    if (scan->at < scan->size && scan->source[scan->at] == '[') {
        advance(scan, scan->at + 1);
        const size_t end = line_end(scan, scan->at);
        advance(scan, scan->at + lab_label_read(scan->source + scan->at, end - scan->at,
                                                1, &scan->numbering));
        if (scan->at < scan->size && scan->source[scan->at] == ']')
            advance(scan, scan->at + 1);
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

/*
 * "1.2 Title", "c) Title": a short line of words without a formula or a full stop, most
 * of them with a capital, or none but the label.
 */
static int is_title(const struct scan *scan, size_t begin, size_t end, size_t label)
{
    int words = 0, capitals = 0;

    while (end > begin && is_blank(scan->source[end - 1]))
        end--;
    if (end - begin > 90 || strchr(".,;", scan->source[end - 1]))
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
static int skip_environment(struct scan *scan, size_t at)
{
    size_t end = at;
    if (!scan->latex || (!sees(scan, at, "\\begin{") && !sees(scan, at, "\\end{")))
        return 0;
    for (size_t d = 0; d < DELIMITERS; d++)
        if (sees(scan, at, delimiters[d].open))
            return 0;
    while (end < scan->size && scan->source[end] != '}' && scan->source[end] != '\n')
        end++;
    close_sentence(scan, scan->at);
    advance(scan, end < scan->size ? end + 1 : end);
    scan->text = scan->at;
    return 1;
}

static size_t trimmed(const struct scan *scan, size_t begin, size_t end)
{
    while (end > begin &&
           (is_blank(scan->source[end - 1]) || scan->source[end - 1] == '*'))
        end--;
    return end;
}

/* A line with a number and a title is a heading: "2 Multi-Headed Attention". */
static size_t read_label(const struct scan *scan, size_t begin, size_t end, int marked,
                         struct lab_numbering *numbering)
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
static void skip_number(struct scan *scan, size_t begin, size_t end)
{
    size_t at = begin;
    while (at < end && at < begin + 3 && scan->source[at] >= '0' &&
           scan->source[at] <= '9')
        at++;
    if (at == begin || at + 1 >= end || !strchr(".)", scan->source[at]) ||
        !is_blank(scan->source[at + 1]))
        return;
    close_sentence(scan, scan->at);
    advance(scan, at + 1);
    scan->text = scan->at;
}

/* What a line begins with; 1 if the line is done. */
static int read_line_start(struct scan *scan)
{
    const size_t end = line_end(scan, scan->at);
    size_t begin = scan->at, label, title = 0;
    int marked = 0;

    while (begin < end && is_blank(scan->source[begin]))
        begin++;
    if (begin == end) {
        close_sentence(scan, scan->at);
        advance(scan, end < scan->size ? end + 1 : end);
        scan->text = scan->at;
        return 1;
    }
    if ((title = latex_heading(scan, begin)) != 0) {
        size_t close = find_close(scan, title, "}", 0);
        close = close < end ? close : end;
        close_sentence(scan, scan->at);
        push_heading(scan, title, close);
        advance(scan, close < end ? close + 1 : close);
        scan->text = scan->at;
        return 0;
    }
    if (scan->source[begin] == '#') {
        close_sentence(scan, scan->at);
        push_heading(scan, begin, end);
        advance(scan, end < scan->size ? end + 1 : end);
        scan->text = scan->at;
        return 1;
    }
    if (read_list(scan, begin))
        return 0;
    if (skip_environment(scan, begin))
        return 0;
    const size_t bullet = begin;
    while (begin < end && (strchr("-*+>", scan->source[begin]) ||
                           sees(scan, begin, "•") || sees(scan, begin, "\\textbf{"))) {
        begin += sees(scan, begin, "•")        ? strlen("•")
                 : scan->source[begin] == '\\' ? strlen("\\textbf{")
                                               : 1;
        while (begin < end && is_blank(scan->source[begin]))
            begin++;
    }
    marked = begin > bullet;
    struct lab_numbering numbering = scan->numbering;
    label = read_label(scan, begin, end, marked, &numbering);
    if (!label) {
        if (marked && is_blank(scan->source[begin - 1])) {
            close_sentence(scan, scan->at);
            advance(scan, begin);
        }
        skip_number(scan, begin, end);
        return 0;
    }
    close_sentence(scan, scan->at);
    scan->numbering = numbering;
    const int titled = is_title(scan, begin, end, label);
    if (titled)
        lab_label_title(scan->source + begin + label, end - begin - label,
                        &scan->numbering);
    if (begin + label >= end || titled) {
        push(scan, LAB_PASSAGE_HEADING, begin, trimmed(scan, begin, end));
        advance(scan, end < scan->size ? end + 1 : end);
        scan->text = scan->at;
        return 1;
    }
    advance(scan, begin + label);
    scan->text = scan->at;
    return 0;
}

static int skip_fence(struct scan *scan)
{
    size_t begin = scan->at;
    while (begin < scan->size && scan->source[begin] == ' ')
        begin++;
    if (!sees(scan, begin, "```"))
        return 0;
    close_sentence(scan, scan->at);
    const size_t first = line_end(scan, begin);
    const size_t close = find_close(scan, first, "\n```", 1);
    advance(scan, close < scan->size ? line_end(scan, close + 1) : close);
    scan->text = scan->at;
    return 1;
}

int lab_document_open(struct lab_document *document, const char *source, size_t size)
{
    static const char begin[] = "\\begin{document}", end[] = "\\end{document}";
    struct scan scan = {
        .document = document, .source = source, .size = size, .line = 1, .sentence = -1};

    *document = (struct lab_document){.source = source, .size = size};
    for (size_t i = 0; i + sizeof begin <= size && !scan.latex; i++)
        if (sees(&scan, i, begin)) {
            scan.latex = 1;
            advance(&scan, i + sizeof begin - 1);
        }
    for (size_t i = scan.at; scan.at && i + sizeof end <= scan.size + 1; i++)
        if (sees(&scan, i, end))
            scan.size = i;
    for (size_t i = 0; i + 8 < size && !scan.latex; i++)
        scan.latex = sees(&scan, i, "\\section") || sees(&scan, i, "\\begin{e");
    while (scan.at < scan.size && !scan.failed)
        if (!skip_fence(&scan) && !read_line_start(&scan))
            read_text(&scan);
    close_sentence(&scan, scan.size);
    return scan.failed ? -1 : 0;
}

void lab_document_close(struct lab_document *document)
{
    free(document->passage);
    *document = (struct lab_document){0};
}

/* SPDX-License-Identifier: MIT */
#include "lab/marks/marks_sheet.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "lab/reading/document.h"

/* ---- formulas -------------------------------------------------------------------- */

static int stands(const struct lab_document *document, size_t at, const char *text)
{
    const size_t length = strlen(text);
    return at + length <= document->size && !memcmp(document->source + at, text, length);
}

/* Delimiters of TeX around a passage, which may have blanks between. */
static void find_delimiters(const struct lab_document *document,
                            struct marks_formula *formula)
{
    static const struct {
        const char *open, *close;
        int display;
    } pairs[] = {{"$$", "$$", 1}, {"\\[", "\\]", 1}, {"\\(", "\\)", 0}, {"$", "$", 0}};
    size_t begin = formula->begin, end = formula->end;
    while (begin > 0 && isspace((unsigned char)document->source[begin - 1]))
        begin--;
    while (end < document->size && isspace((unsigned char)document->source[end]))
        end++;
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
        const size_t size = strlen(pairs[i].open);
        if (begin < size || !stands(document, begin - size, pairs[i].open) ||
            !stands(document, end, pairs[i].close))
            continue;
        formula->begin = begin - size;
        formula->end = end + size;
        formula->is_tex = 1;
        formula->display = pairs[i].display;
        return;
    }
    /* The lines of an environment. */
    size_t from = begin;
    while (from > 0 && begin - from < 24 && document->source[from - 1] != '\\')
        from--;
    if (from > 0 && begin > from && document->source[begin - 1] == '}' &&
        stands(document, from, "begin{") && stands(document, end, "\\end{")) {
        while (end < document->size && document->source[end] != '}')
            end++;
        formula->begin = from - 1;
        formula->end = end + (end < document->size);
        formula->is_tex = formula->display = 1;
    } else if (stands(document, formula->begin, "\\begin{"))
        formula->is_tex = formula->display = 1;
}

static int open_formulas(struct marks_sheet *sheet, const struct lab_document *document)
{
    size_t last = 0;
    sheet->formula = calloc((size_t)document->count + 1, sizeof *sheet->formula);
    sheet->worst = calloc((size_t)document->count + 1, sizeof *sheet->worst);
    if (!sheet->formula || !sheet->worst)
        return -1;
    for (int p = 0; p < document->count; p++) {
        const struct lab_passage *const passage = &document->passage[p];
        struct marks_formula formula = {.begin = passage->begin,
                                        .end = passage->end,
                                        .inner = passage->begin,
                                        .outer = passage->end};
        if (passage->kind != LAB_PASSAGE_FORMULA)
            continue;
        find_delimiters(document, &formula);
        if (formula.begin < last)
            continue;
        last = formula.end;
        sheet->formula[sheet->formulas++] = formula;
    }
    return 0;
}

int marks_formula_at(const struct marks_sheet *sheet, size_t at)
{
    int low = 0, high = sheet->formulas;
    while (low < high) {
        const int middle = (low + high) / 2;
        if (sheet->formula[middle].end <= at)
            low = middle + 1;
        else
            high = middle;
    }
    return low < sheet->formulas && sheet->formula[low].begin <= at ? low : -1;
}

/* What is seen first: larger is worse. */
static int weight(enum lab_read_verdict verdict)
{
    static const int weights[] = {
        [LAB_READ_NOT_JUDGED] = 0, [LAB_READ_TRUE] = 1, [LAB_READ_LIMIT] = 2,
        [LAB_READ_NOT_READ] = 3,   [LAB_READ_SLIP] = 4, [LAB_READ_FALSE] = 5};
    return weights[verdict];
}

/* The colour of a formula is that of the worst claim that begins in it. */
static void find_worst(struct marks_sheet *sheet)
{
    const struct lab_reading *const reading = &sheet->marked->reading;
    for (int f = 0; f < sheet->formulas; f++)
        sheet->worst[f] = -1;
    for (int c = 0; c < reading->claims; c++) {
        const int f = marks_formula_at(sheet, reading->claim[c].begin);
        if (f >= 0 && reading->claim[c].end <= sheet->formula[f].end &&
            (sheet->worst[f] < 0 || weight(reading->claim[c].verdict) >
                                        weight(reading->claim[sheet->worst[f]].verdict)))
            sheet->worst[f] = c;
    }
}

int marks_sheet_open(struct marks_sheet *sheet, const struct lab_marked *marked)
{
    struct lab_document document = {0};
    *sheet = (struct marks_sheet){.marked = marked};
    int failed = lab_document_open(&document, marked->source, marked->size);
    if (!failed)
        failed = open_formulas(sheet, &document);
    lab_document_close(&document);
    if (!failed)
        find_worst(sheet);
    return failed;
}

void marks_sheet_close(struct marks_sheet *sheet)
{
    free(sheet->formula);
    free(sheet->worst);
}

/* ---- blocks ---------------------------------------------------------------------- */

static size_t line_end(const struct lab_marked *marked, size_t at)
{
    const char *const end = memchr(marked->source + at, '\n', marked->size - at);
    return end ? (size_t)(end - marked->source) : marked->size;
}

int marks_next_block(const struct marks_sheet *sheet, struct marks_block *block)
{
    const struct lab_marked *const marked = sheet->marked;
    const size_t begin = block->lines ? block->end + 1 : 0;
    if (begin >= marked->size)
        return 0;
    *block = (struct marks_block){.begin = begin,
                                  .end = line_end(marked, begin),
                                  .line = block->line + (block->lines ? block->lines : 1),
                                  .lines = 1};
    for (int f; block->end < marked->size &&
                (f = marks_formula_at(sheet, block->end)) >= 0 &&
                sheet->formula[f].is_tex;) {
        block->end = line_end(marked, block->end + 1);
        block->lines++;
    }
    return 1;
}

/* ---- runs ------------------------------------------------------------------------ */

static int is_word(const struct lab_marked *marked, size_t at)
{
    const unsigned char c = at < marked->size ? (unsigned char)marked->source[at] : ' ';
    return isalnum(c) || strchr("_)]}$\\", c) || c >= 0x80;
}

enum { LONGEST = 400 }; /* emphasis, in bytes */

/*
 * The sign of Markdown at `at`, "**", "~~" or "*", that opens emphasis, closed on its
 * line, or with `open` closes it: its bytes.  A star between factors is none.
 */
static size_t emphasis(const struct marks_sheet *sheet, size_t at, size_t end, int open)
{
    const char *const source = sheet->marked->source;
    const size_t is_double = at + 1 < end && source[at + 1] == '*';
    const size_t size = source[at] == '*' ? 1 + is_double : source[at] == '~' ? 2 : 0;
    if (size == 0 || at + size > end || (source[at] == '~' && source[at + 1] != '~'))
        return 0;
    if (open)
        return isspace((unsigned char)source[at - 1]) ? 0 : size;
    if (at + size >= end || isspace((unsigned char)source[at + size]) ||
        (at > 0 && is_word(sheet->marked, at - 1)))
        return 0;
    const size_t last = end - at > LONGEST ? at + LONGEST : end;
    for (size_t i = at + size + 1; i + size <= last && source[i] != '\n'; i++)
        if (!memcmp(source + i, source + at, size) && !is_word(sheet->marked, i + size) &&
            !isspace((unsigned char)source[i - 1]))
            return size;
    return 0;
}

/* The shortest claim that covers the byte, and the byte from which another one may. */
static int claim_at(const struct marks_sheet *sheet, size_t at, size_t *until)
{
    const struct lab_reading *const reading = &sheet->marked->reading;
    int found = -1;
    for (int c = 0; c < reading->claims; c++) {
        const struct lab_read_claim *const claim = &reading->claim[c];
        if (claim->begin > at) {
            if (claim->begin < *until)
                *until = claim->begin;
            break;
        }
        if (claim->end <= at)
            continue;
        if (claim->end < *until)
            *until = claim->end;
        if (found < 0 || claim->end - claim->begin <
                             reading->claim[found].end - reading->claim[found].begin)
            found = c;
    }
    return found;
}

/* The flag of the run that a sign of `size` bytes turns. */
static int *turned(struct marks_run *run, const char *sign, size_t size)
{
    return *sign == '~' ? &run->struck : size == 2 ? &run->bold : &run->italic;
}

static int is_open(struct marks_run *run, const char *source, size_t at)
{
    return *turned(run, source + at, source[at] == '*' && source[at + 1] != '*' ? 1 : 2);
}

int marks_next_run(const struct marks_sheet *sheet, const struct marks_block *block,
                   struct marks_run *run)
{
    const char *const source = sheet->marked->source;
    size_t at = run->end > block->begin ? run->end : block->begin, size;
    int formula = -1;
    while (at < block->end && (formula = marks_formula_at(sheet, at)) < 0 &&
           strchr("*~", source[at]) &&
           (size = emphasis(sheet, at, block->end, is_open(run, source, at))) > 0) {
        int *const flag = turned(run, source + at, size);
        *flag = !*flag;
        at += size;
    }
    if (at >= block->end)
        return 0;
    run->begin = at;
    run->formula = formula;
    run->end = block->end;
    run->claim = claim_at(sheet, at, &run->end);
    if (formula >= 0) {
        if (sheet->worst[formula] >= 0)
            run->claim = sheet->worst[formula];
        run->end = sheet->formula[formula].end < block->end ? sheet->formula[formula].end
                                                            : block->end;
        return 1;
    }
    for (at++; at < run->end; at++)
        if (marks_formula_at(sheet, at) >= 0 ||
            (strchr("*~", source[at]) &&
             emphasis(sheet, at, block->end, is_open(run, source, at))))
            break;
    run->end = at;
    return 1;
}

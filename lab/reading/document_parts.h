/* SPDX-License-Identifier: MIT */
/* Labels of questions and formulas without delimiters; for the files of lab/reading. */
#ifndef LAB_DOCUMENT_PARTS_H
#define LAB_DOCUMENT_PARTS_H

#include "lab/reading/document.h"

/* The numbering in force, and what the last heading is about. */
struct lab_numbering {
    int number;       /* 1 or 2; 0: none */
    int letter, item; /* 1 = a, 1 = i; 0: none */
    int digits;       /* items are numbered 1, 2 */
    int nested;       /* the heading has a number like 1.2: letters below are items */
    int topic;        /* of the heading, 1 + its row in the table of topics; 0: none */
    char question[8], label[16];
};

/*
 * The length of a label at the beginning of text[0..length), with blanks after it, and
 * the numbering changed by it; 0: there is none.  `marked`: a heading or an item.
 */
size_t lab_label_read(const char *text, size_t length, int marked,
                      struct lab_numbering *numbering);
/* A title after its label: its words may decide the question. */
void lab_label_title(const char *text, size_t length, struct lab_numbering *numbering);
/* The words of a passage, where the numbering leaves the question open. */
void lab_label_words(const char *text, size_t length, struct lab_numbering *numbering);

enum { LAB_DELIMITERS = 20 };

/* A document that is being cut; `at` only moves on. */
struct lab_scan {
    struct lab_document *document;
    const char *source;
    size_t at, size;
    int line;
    int latex;                       /* a file of LaTeX */
    int sentence;                    /* the passage that is open; -1: none */
    size_t text;                     /* where text without delimiters goes on from */
    size_t unclosed[LAB_DELIMITERS]; /* none of this kind closes that opens before this */
    int brackets;                    /* open in the sentence */
    int failed;
    struct lab_numbering numbering;
    struct {
        char style; /* 'a', 'i', '1', 0 for a list without numbers */
        int count;
    } list[6];
    int lists;
};

int lab_scan_sees(const struct lab_scan *scan, size_t at, const char *text);
size_t lab_scan_line_end(const struct lab_scan *scan, size_t at);
/* The index of a new passage, or -1. */
int lab_scan_push(struct lab_scan *scan, enum lab_passage_kind kind, size_t begin,
                  size_t end);
/* Counts the lines up to `to`. */
void lab_scan_advance(struct lab_scan *scan, size_t to);
void lab_scan_close_sentence(struct lab_scan *scan, size_t end);
/*
 * Where `close` stands from `from` on; scan->size if the end or, unless `across`, a blank
 * line comes first.
 */
size_t lab_scan_find_close(const struct lab_scan *scan, size_t from, const char *close,
                           int across);
int lab_scan_starts_delimited(const struct lab_scan *scan, size_t at);
/* What a line begins with; 1 if the line is done. */
int lab_scan_read_line_start(struct lab_scan *scan);
/* A block of code: 1, and the scan stands after it. */
int lab_scan_skip_fence(struct lab_scan *scan);

/*
 * The next formula without delimiters in text[from..end): 1, and its place, or 0.
 * It is a maximal run of words made of letters of formulas, numbers, operators and
 * brackets, with a relation or an operator and a letter.
 */
int lab_plain_formula(const char *text, size_t from, size_t end, size_t *begin,
                      size_t *finish);

#endif

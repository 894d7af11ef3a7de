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

/*
 * The next formula without delimiters in text[from..end): 1, and its place, or 0.
 * It is a maximal run of words made of letters of formulas, numbers, operators and
 * brackets, with a relation or an operator and a letter.
 */
int lab_plain_formula(const char *text, size_t from, size_t end, size_t *begin,
                      size_t *finish);

#endif

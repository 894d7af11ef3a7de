/* SPDX-License-Identifier: MIT */
/*
 * A solution in Markdown, LaTeX or plain text, cut into passages: headings, sentences,
 * and the formulas in them.  Offsets are bytes of the source, lines count from 1.
 */
#ifndef LAB_DOCUMENT_H
#define LAB_DOCUMENT_H

#include <stddef.h>

enum lab_passage_kind { LAB_PASSAGE_HEADING, LAB_PASSAGE_SENTENCE, LAB_PASSAGE_FORMULA };

struct lab_passage {
    enum lab_passage_kind kind;
    size_t begin, end; /* without the delimiters of a formula */
    int line, last_line;
    int display;      /* a formula that stands by itself */
    int sentence;     /* of a formula in a sentence: that passage; else -1 */
    char question[8]; /* "1b-ii" by the last heading or label; "": none so far */
    char label[16];   /* that label as printed, "(b) - ii)" */
};

struct lab_document {
    const char *source; /* the caller's, UTF-8, ends with 0 */
    size_t size;
    int count, room;
    struct lab_passage *passage; /* in the order of the source */
};

/* 0, or -1 for memory.  Any bytes are a document.  Close it in any case. */
int lab_document_open(struct lab_document *document, const char *source, size_t size);
void lab_document_close(struct lab_document *document);

#endif

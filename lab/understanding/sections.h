/* SPDX-License-Identifier: MIT */
/* The subject of passages. */
#ifndef LAB_SECTIONS_H
#define LAB_SECTIONS_H

#include "lab/understanding/understanding.h"

/*
 * The subject of the passages begin .. end, by their label and what is in them; a label
 * that goes back behind `before` counts less.
 */
enum lab_subject lab_section_subject(const struct lab_document *document, int begin,
                                     int end, enum lab_subject before);
/* The subject that a passage shows by itself, whatever its label; NONE: none. */
enum lab_subject lab_passage_subject(const struct lab_document *document, int passage);
/* Whether two subjects have the same queries. */
int lab_subject_shares(enum lab_subject x, enum lab_subject y);
/* Whether a passage is about keys whose length varies. */
int lab_passage_magnifies(const struct lab_document *document, int passage);
/* "1c-ii". */
const char *lab_subject_question(enum lab_subject subject);
/* A text without blanks, commands and braces, its letters in ASCII; bytes written. */
size_t lab_squeeze(const char *source, size_t begin, size_t end, char *to, size_t size);

#endif

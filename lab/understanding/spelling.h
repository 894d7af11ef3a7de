/* SPDX-License-Identifier: MIT */
/*
 * One spelling of a solution: letters of the author's own become those of the exercise,
 * where the text settles them, and every byte keeps its place.
 */
#ifndef LAB_SPELLING_H
#define LAB_SPELLING_H

#include "lab/reading/document.h"

enum { LAB_SPELLINGS = 12 };

/* A letter, or the index of a key, and the one that it is read as. */
struct lab_spelling {
    char from, to;
    int index; /* 1: an index */
    int line;  /* the first that has it */
    const char *means;
};

struct lab_spellings {
    int count;
    struct lab_spelling spelling[LAB_SPELLINGS];
};

/* Inner products of plain text, "k_a . q", before the text is cut into passages. */
void lab_spell_products(char *text, size_t size);
/* "Σᵢ αᵢ" of plain text, likewise. */
void lab_spell_sums(char *text, size_t size);
/* Letters in the formulas; `text` is the source of the document. */
void lab_spell_letters(const struct lab_document *document, char *text,
                       struct lab_spellings *spellings);

#endif

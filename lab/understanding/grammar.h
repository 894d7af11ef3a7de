/* SPDX-License-Identifier: MIT */
/* Sentences as words and formulas, patterns of them, and the rules of the grammar. */
#ifndef LAB_GRAMMAR_H
#define LAB_GRAMMAR_H

#include "lab/understanding/sections.h"

enum { LAB_WORDS_MOST = 160, LAB_WORD_SIZE = 96, LAB_GAP = 5 };

struct lab_word {
    char text[LAB_WORD_SIZE]; /* a word in lower case, or a formula without blanks */
    int formula;
    size_t begin;
};

struct lab_sentence {
    int count;
    struct lab_word token[LAB_WORDS_MOST];
};

/* A sentence, with the one that goes on after its comma. */
void lab_sentence_open(const struct lab_document *document, int passage,
                       struct lab_sentence *to);
/* Adds the words of one passage. */
void lab_sentence_add(const struct lab_document *document, int passage,
                      struct lab_sentence *to);

/* "the output is nearly v_a": a relation in words, with its sides; 1, 0, or -1. */
int lab_worded_claims(struct lab_reader *reader, const struct lab_sentence *sentence,
                      int passage);
/* The draws that the words before `end` select, "for gamma > 1"; else it is off. */
struct lab_range lab_range_before(const struct lab_letters_known *letters,
                                  const struct lab_sentence *sentence, int end);

/* Whether a text is one of "larger|fluctuat*|v_?": ? is an index, * anything after. */
int lab_in_alternatives(const char *text, const char *alternatives, size_t size);
/* The same of word i of a sentence, if there is one and it is no formula. */
int lab_is_one_of(const struct lab_sentence *sentence, int i, const char *words);
/*
 * Elements in order, at most LAB_GAP words between two; "~12" before an element allows
 * for
 * 12.  `from` is where the first may stand, within `gap`.  1, and the places of the first
 * and the last, or 0.
 */
int lab_find_pattern(const struct lab_sentence *sentence, const char *pattern, int from,
                     int gap, int *first, int *last);

/* Rules on what varies, on spans, on copies and on the second question. */
const struct lab_rule *lab_rule_further(size_t x);

#define LAB_ON(subject) (1u << LAB_SUBJECT_##subject)
#define LAB_ON_HEADS (LAB_ON(HEADS) | LAB_ON(BOTH))

struct lab_rule {
    unsigned on; /* subjects */
    const char *pattern;
    const char *text;
    const char *query, *second, *rival;
    const char *grows;
    int negative;        /* the pattern has the negation itself */
    int exactly;         /* nothing may grow or vanish */
    int short_a;         /* of draws in which k_a is turned round */
    int stated;          /* no claim after "if" */
    enum lab_subject as; /* the claim belongs there; NONE: where it stands */
    const char *exact;
    const struct lab_argument *argument;
    const char *shown;
    int topic;         /* enum lab_topic */
    const char *found; /* the answer that it is; NULL: its text */
};

/* Rule x, or NULL behind the last. */
const struct lab_rule *lab_rule(size_t x);

#endif

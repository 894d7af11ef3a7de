/* SPDX-License-Identifier: MIT */
/*
 * The words of the report, of the page and of docs/LAB.md, into which the build fills
 * them.  Texts are for lab_text_markdown(), formulas for lab_text_formula().
 */
#ifndef LAB_TEACHING_H
#define LAB_TEACHING_H

enum { LAB_FORMULAS_MAX = 3, LAB_SHOWN_MAX = 2, LAB_NUMBERS_MAX = 6, LAB_THINGS = 5 };

/* A figure by its id, or a quantity of the run's own parameters. */
struct lab_shown {
    const char *experiment, *name;
};

struct lab_question {
    const char *id;    /* "1a-ii"; a word for topics beyond the exercise */
    const char *title; /* the question in a few words */
    const char *asks, *answer;
    const char *formula[LAB_FORMULAS_MAX];
    struct lab_shown figure[LAB_SHOWN_MAX], number[LAB_NUMBERS_MAX];
    const char *results;    /* of docs/THEORY.md behind it: "T1, T2"; "": none */
    const char *statements; /* of the sheets on it: "000-1 001-2"; "": none */
};

/* In the order of the exercise; an id of NULL ends them. */
extern const struct lab_question lab_questions[];
/* The question that a statement of the sheets is about; NULL: none. */
const struct lab_question *lab_question_of(const char *statement);

/* The exercise in a few sentences, and its subject in formulas. */
extern const char *const lab_exercise_text[], *const lab_exercise_formula[];
/* Five things to remember, each with its reason. */
extern const struct lab_thing {
    const char *what, *why;
} lab_things[LAB_THINGS];
/* Symbols and words; a term of NULL ends them. */
extern const struct lab_term {
    const char *term, *meaning;
} lab_glossary[];

#endif

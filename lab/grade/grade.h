/* SPDX-License-Identifier: MIT */
/*
 * Grades an answer to the exercise.  An answer is text: a formula in the language of
 * lab/language/expression.h, or one of a few words.  Answers are not compared with a
 * solution: their claim is evaluated beside attention, through the engine, in worlds that
 * differ in n, scale, noise and draws.
 */
#ifndef LAB_GRADE_H
#define LAB_GRADE_H

#include <stddef.h>
#include <stdint.h>

enum {
    LAB_GRADE_PARTS = 46, /* parts of all questions */
    LAB_GRADE_TEXTS = 3   /* texts of a part, at most */
};

struct lab_probing;

/* A part of a question, and the rules for judging its answers. */
struct lab_part {
    const char *question; /* "1b-ii" */
    const char *name;     /* "weight" */
    const char *asks;
    int texts;           /* number of texts: 1, or a list of two or three */
    const char *choices; /* "larger|smaller"; NULL: answers are formulas */
    double points;
    int approximate; /* about a limit: a claim that holds in it has full credit */
    const char *hint;
    const char *solution[LAB_GRADE_TEXTS]; /* an answer that is right */
    const struct lab_probing *probing;
};

/* Parts 0 .. LAB_GRADE_PARTS - 1 in the order of the questions. */
const struct lab_part *lab_grade_part(int part);
/* The part of that name, or -1. */
int lab_grade_find(const char *question, const char *name);
/* The letters that a formula of the part may use, in words; what fits. */
void lab_grade_letters(int part, char *text, size_t size);

/* Texts of an answer; NULL or empty: not answered.  They are the caller's. */
struct lab_answer {
    const char *text[LAB_GRADE_PARTS][LAB_GRADE_TEXTS];
    const char *problem[LAB_GRADE_PARTS]; /* why a part cannot be read; NULL: it can */
};

/*
 * Whether a text can be graded: it parses, uses the letters of its part, or is one of
 * its choices, in any case and with blanks for hyphens.  0, or -1 with the reason in
 * `why`.
 */
int lab_grade_check(int part, const char *text, char *why, size_t size);

struct lab_rubric {
    double points[LAB_GRADE_PARTS];
    double limit, slip; /* credit, a share of the points */
};

void lab_rubric_default(struct lab_rubric *rubric);

enum lab_mark {
    LAB_MARK_RIGHT, /* in every world */
    LAB_MARK_LIMIT, /* the error vanishes as something that is free grows */
    LAB_MARK_SLIP,  /* right once a letter or a side is repaired */
    LAB_MARK_WRONG,
    LAB_MARK_EMPTY,
    LAB_MARK_PARTLY, /* some texts of a list are right */
    LAB_MARK_UNREAD  /* it cannot be read: the evidence has place and reason */
};

const char *lab_mark_name(enum lab_mark mark);  /* "right", "limit", ... */
const char *lab_mark_words(enum lab_mark mark); /* "right in the limit", ... */

struct lab_part_grade {
    enum lab_mark mark;
    double points, most;
    double computed, claimed; /* the numbers that decide; NaN: none */
    char error[160];          /* the name of a common error; "": none known */
    char evidence[640];
    /* An answer that is right, at the student's own queries; "": none is known there. */
    char solution[200];
    const char *hint; /* NULL: full marks, or the part's is about other queries */
};

struct lab_grade {
    struct lab_part_grade part[LAB_GRADE_PARTS];
    double points, most;
};

/* A seed for the worlds of one answer: of `seed` and a name, the same everywhere. */
uint64_t lab_grade_seed(uint64_t seed, const char *name);

/* A text that does not pass lab_grade_check() has no points.  0, or -1: memory or the
 * engine. */
int lab_grade(const struct lab_answer *answer, const struct lab_rubric *rubric,
              uint64_t seed, struct lab_grade *grade);

#endif

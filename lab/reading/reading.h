/* SPDX-License-Identifier: MIT */
/*
 * Reads a solution of the exercise as its author wrote it, and judges every claim that it
 * finds.  A passage that cannot be read is reported, never guessed.
 */
#ifndef LAB_READING_H
#define LAB_READING_H

#include <stddef.h>

#include "attend/attend.h"

enum lab_read_verdict {
    LAB_READ_TRUE,
    LAB_READ_LIMIT,
    LAB_READ_SLIP,
    LAB_READ_FALSE,
    LAB_READ_NOT_READ,  /* the passage could not be read */
    LAB_READ_NOT_JUDGED /* read, but outside the exercise, or a definition */
};

struct lab_read_claim {
    enum lab_read_verdict verdict;
    size_t begin, end; /* of the passage, bytes of the source */
    int line;
    int formula;       /* 1: from a formula; 0: from a sentence */
    char question[8];  /* "1c-ii"; "": unknown */
    char quote[400];   /* the passage as printed */
    char claim[400];   /* in the language of lab/language; "": none */
    char query[200];   /* the queries in force, "q = beta (mu_a + mu_b)"; "": none */
    char letters[300]; /* "beta: scale of q since line 42; H read as mu" */
    char evidence[600];
    char repair[120];          /* of a slip, "m for n, as line 17 counts the keys" */
    char exact[400];           /* the true statement, where it is known; else "" */
    double computed, expected; /* the numbers that decide; NaN: none */
};

/* A letter and its meaning, in the order of the lines. */
struct lab_read_letter {
    char letter[24], meaning[80];
    int line;
};

/* Two claims of which both cannot be true. */
struct lab_read_conflict {
    int claim[2]; /* indices; claim[1] is -1: with the standard solution */
    char words[300];
};

struct lab_read_points {
    char question[8];
    double points, of;
    char words[200];
};

struct lab_reading {
    int claims, letters, conflicts, questions;
    struct lab_read_claim *claim; /* in the order of the source */
    struct lab_read_letter *letter;
    struct lab_read_conflict *conflict;
    struct lab_read_points *question;
    double points, of;
    int formulas, formulas_read, judged; /* coverage */
    int sentences, sentences_read;
};

/*
 * 0, or -1 for memory or the engine.  `source` is any bytes of at most
 * LAB_READING_BYTES.  Close it in any case.
 */
enum { LAB_READING_BYTES = 1 << 20 };
int lab_reading_open(struct lab_reading *reading, const char *source, size_t size);
void lab_reading_close(struct lab_reading *reading);

const char *lab_read_verdict_name(enum lab_read_verdict verdict); /* "true", "not_read" */
const char *
lab_read_verdict_words(enum lab_read_verdict verdict); /* "true in the limit" */

#endif

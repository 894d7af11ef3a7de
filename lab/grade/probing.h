/* SPDX-License-Identifier: MIT */
/* Judging of a part: its claim, and the worlds in which it is tested. */
#ifndef LAB_PROBING_H
#define LAB_PROBING_H

#include "lab/grade/grade.h"
#include "lab/judge/scope.h"

struct lab_asked;

enum lab_vary { LAB_VARY_ALPHA = 1, LAB_VARY_GAMMA = 2, LAB_VARY_EPS = 4 };

/*
 * The claim of a word of a list: a query for the part's claim, or a text in place of its
 * text.  Neither: the word is right where no other is.
 */
enum { LAB_WORDS = 3 };
struct lab_word {
    const char *query, *text, *shows; /* "#" is the number of the answer's text */
};

/*
 * A part is a claim about x_1, x_2 and x_3, its texts.  A claim without a query is about
 * the queries of `own` below, one head each.
 */
struct lab_probing {
    enum lab_topic letters; /* letters that an answer may use */
    int rows, columns;      /* of a text; 0: a number */
    struct lab_claim claim;
    struct lab_word word[LAB_WORDS]; /* in the order of the part's choices */
    /* In place of the claim, with the finding: 0, or -1 for memory or the engine. */
    int (*judge)(const struct lab_asked *asked, const struct lab_point *point,
                 struct lab_finding *found);
    unsigned vary;   /* of enum lab_vary */
    double texts_at; /* scale at which texts are evaluated; 0: the point's */
    double forgives; /* an error that counts as none; 0: none does */
    int solves;      /* 1: x_1 is the scale of the claim */
    /* Names of the two numbers; NULL: "computed" and "claimed", or "off by". */
    const char *measures, *against;
    int pairless; /* 1: not tested at n = 2 */
    int number;   /* 1: the claim is a formula of one number */
    int query;    /* 1: the texts are queries */
    int alone;    /* 1: independent of n */
};

extern const struct lab_part lab_parts[LAB_GRADE_PARTS];

/* A claim of a part, its texts put together. */
struct lab_asked_claim {
    struct lab_claim claim;
    char text[LAB_CLAIM_TEXT], shows[LAB_CLAIM_TEXT];
    struct lab_parsed parsed;
};

/* An answered part while it is judged. */
struct lab_asked {
    const struct lab_exercise *exercise;
    const struct lab_part *part;
    struct lab_expression formula[LAB_GRADE_TEXTS];
    int choice[LAB_GRADE_TEXTS];
    /* Of a part that takes formulas the first alone; of one with a list of words, those
       of each word. */
    struct lab_asked_claim *claim;
    /* The part of the queries that it is about: the student's, or the solution's. */
    const struct lab_asked *own;
    int own_is_given;
    int only; /* the text that is judged alone, from 1; 0: all of them */
};

/* Parses the claims of asked->part: 0, or -1.  Free asked->claim in any case. */
int lab_asked_open(struct lab_asked *asked);

/* ---- texts --------------------------------------------------------------------- */

/* Whether the part has a letter of that name. */
int lab_part_knows(const struct lab_part *part, const char *name);
/* A letter that the part does not have; NULL: there is none. */
const char *lab_unknown_letter(const struct lab_part *part,
                               const struct lab_expression *formula);
/* lab_expression_parse() of a text as students write it. */
int lab_answer_parse(const struct lab_part *part, const char *text,
                     struct lab_expression *formula, struct lab_expression_error *error);

/* The number of a word among "this|that", or -1; "$" and "the" around it are dropped. */
int lab_find_choice(const char *choices, const char *word);
/* The draw of the keys that a query depends on; NULL: none. */
const char *lab_draw_in(const struct lab_asked *queries);

/* ---- texts at a point --------------------------------------------------------- */

/* q = a mu_a + b mu_b + rest times the sum of the other means. */
struct lab_pair_query {
    double a, b, rest;
};

/* Letters of the part at a point; close them in any case.  0, or -1. */
int lab_asked_bind(const struct lab_asked *asked, const struct lab_point *point,
                   struct lab_scope *letters);
/*
 * The value of text `k`; 1 with found->why set when its shapes do not fit or it is not
 * rows x columns (0: any), -1 for memory or the engine.
 */
int lab_asked_value(const struct lab_asked *asked, int k, struct lab_scope *letters,
                    int rows, int columns, struct lab_value *value,
                    struct lab_finding *found);
/* The same of a number, and of a query a mu_a + b mu_b + rest of the others. */
int lab_asked_number(const struct lab_asked *asked, int k, const struct lab_point *point,
                     double *number, struct lab_finding *found);
int lab_asked_query(const struct lab_asked *asked, int k, const struct lab_point *point,
                    struct lab_pair_query *query, struct lab_finding *found);
/* The part's claim at a point: 0, with found->why if it is ill formed there; or -1. */
int lab_asked_judge(const struct lab_asked *asked, const struct lab_point *point,
                    struct lab_finding *found);

/* Part 1c-i, vanishes. */
int lab_judge_vanishes(const struct lab_asked *asked, const struct lab_point *point,
                       struct lab_finding *found);

/* ---- the verdict of the worlds -------------------------------------------- */

enum { LAB_PROBES = 14 };

struct lab_probe_result {
    enum lab_mark mark; /* right, limit or wrong */
    int by_rounding;    /* exact in every world, but not for queries of other lengths */
    struct lab_point worst;
    struct lab_finding found; /* there */
    struct lab_point last;    /* the last point on the way to a limit */
    struct lab_finding found_last;
    struct lab_limit limit;
    int probes;
    struct lab_finding at[LAB_PROBES];
};

void lab_probe_world(const struct lab_asked *asked, int number, struct lab_point *point);
int lab_probe(const struct lab_asked *asked, struct lab_probe_result *result);
/* Whether the claim is exact in every world; or -1. */
int lab_probe_exact(const struct lab_asked *asked);
/* "n = 10, C = 2": the quantities that the part depends on. */
void lab_world_words(const struct lab_asked *asked, const struct lab_point *point,
                     struct lab_text *text);

/* ---- queries without C -------------------------------------------------------- */

enum { LAB_CONSTANT_N = 100 }; /* keys for which they are judged, at most */

/* Whether C, or another letter of the scale, occurs. */
int lab_uses_scale(const struct lab_expression *formula);
/* Whether the queries that the part is about use the letter. */
int lab_queries_use_eps(const struct lab_asked *asked);
int lab_queries_use_alpha(const struct lab_asked *asked);
/* Whether the claim has a limit in C and its queries have none. */
int lab_is_constant(const struct lab_asked *asked);
/*
 * The same answer with C for the largest number of its long queries, `own` the part of
 * these: 1, 0 where they have C or are short, -1 where no number is written in them.
 */
int lab_name_constant(const struct lab_asked *asked, struct lab_asked *named,
                      struct lab_asked *own);
/* Whether an answer that is exact in every world is so by rounding alone.  0, or -1. */
int lab_is_exact_by_rounding(const struct lab_asked *asked, int *by_rounding);

/* ---- errors that have a name ------------------------------------------------ */

/* Sets `name` of a claim that is not right, or leaves it empty.  0, or -1: memory or the
 * engine. */
int lab_name_error(const struct lab_asked *asked, const struct lab_probe_result *result,
                   char *name, size_t size);
/*
 * The first repair of a slip of this part under which it is judged better than `mark`,
 * which is then set; NULL: none.  *status is -1 for memory or the engine.
 */
const struct lab_repair *lab_find_slip(const struct lab_asked *asked, enum lab_mark *mark,
                                       int *status);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * How a statement of a sheet is judged.  A statement is data: the claim in the sheet's
 * own formulas, what the sheet leaves free or calls large, what a letter meant before,
 * what one symbol would repair, and, where it argues, premise and conclusion.
 */
#ifndef LAB_JUDGE_H
#define LAB_JUDGE_H

#include <stddef.h>

#include "lab/exercise/world.h"
#include "lab/judge/limits.h"
#include "lab/language/expression.h"
#include "lab/sheets/sheets.h"

/* What a letter stands for. */
enum lab_meaning {
    LAB_MEANS_KEYS,  /* number of keys */
    LAB_MEANS_BASIS, /* number of basis vectors */
    LAB_MEANS_SCALE, /* scale of the query */
    LAB_MEANS_NOISE, /* variance of the keys */
    LAB_MEANS_WEIGHT,
    LAB_MEANS_MEAN, /* of a key */
    LAB_MEANS_VALUE,
    LAB_MEANS_KEY,      /* index of a key */
    LAB_MEANS_OTHER_KEY /* index of another key */
};

/* A letter: what the sheet made it mean, on which line, and what the claim needs. */
struct lab_symbol {
    const char *letter; /* NULL: none */
    enum lab_meaning prior;
    int line;
    enum lab_meaning here;
};

/* Which letters a claim may use; see scope_keys.c and scope_matrices.c. */
enum lab_topic { LAB_TOPIC_KEYS, LAB_TOPIC_BASIS, LAB_TOPIC_TOKENS };

/*
 * An argument: `conclusion` must be 0 wherever `premise` is, in every case.  A case is a
 * formula for `letter`; `key` and `query` give the weights p of three keys, and `head`
 * the correlation r of two heads' outputs.  It is tried in a world of its own, not in
 * the one that the exercise gives.
 */
enum { LAB_CASES = 4 };
struct lab_argument {
    const char *given;                  /* the premise in words */
    const char *letter, *of[LAB_CASES]; /* letter NULL: the claim argues nothing */
    const char *key[LAB_SPACE], *query; /* query NULL: no weights */
    const char *head[LAB_HEADS];        /* NULL: no heads */
    const char *premise, *conclusion;
};

struct lab_claim {
    enum lab_topic topic;
    const char *query[LAB_HEADS]; /* of the heads; NULL: there is none */
    const char *rival;            /* of the one head to compare with */
    const char *input;            /* what is put for X */
    int magnitude;                /* the length of k_a varies */
    /* Links of formulas, "p = q ~ r; s < t"; NULL: the claim is its argument. */
    const char *text;
    unsigned free;     /* of enum lab_free: what the sheet leaves free */
    unsigned called;   /* those of them that it calls large, small or vanishing */
    int noisy;         /* the grid has alpha > 0 although alpha is not free */
    const char *grows; /* name of the scale: "C", "|q|", "the gap"; NULL: it has none */
    double far;        /* scale that counts as large; 0: 1e13, and 128 under exp */
    struct lab_symbol symbol;
    struct lab_argument argument;
};

struct lab_statement {
    const char *id;
    int line;
    const char *says;
    int quoted;        /* line of the quotation */
    const char *quote; /* of the sheet, no more than what is judged */
    const char *exact; /* what is true, with its condition */
    struct lab_claim claim;
    struct lab_repair repair;
};

/* The first fields of a statement: its id, its line on the sheet, and what it says. */
#define LAB_SAYS(name, where, words) .id = (name), .line = (where), .says = (words)
/* The passage judged, and its line. */
#define LAB_QUOTES(where, words) .quoted = (where), .quote = (words)

/* What a claim's sheet leaves free and calls large or vanishing, and the scale's name. */
#define LAB_GROWS(set, name) .free = (set), .called = (set), .grows = (name)

/* The statements of a sheet, in order. */
struct lab_sheet {
    const char *name;
    const struct lab_statement *statement;
    int count;
};

extern const struct lab_sheet lab_sheet_000, lab_sheet_001, lab_sheet_002, lab_sheet_003,
    lab_sheet_004;

/* The number of a statement among all; -1: there is none of that id. */
int lab_sheets_index(const char *id);

/* 0, or -1 when something could not be computed, such as without the engine. */
int lab_judge(const struct lab_exercise *exercise, const struct lab_statement *statement,
              enum lab_reading reading, struct lab_judgement *judgement);
/* The same of statement `index`, as in lab_sheets_judge(). */
int lab_sheets_judge_in(const struct lab_exercise *exercise, int index,
                        enum lab_reading reading, struct lab_judgement *judgement);

/* ---- parts of the judge ---------------------------------------------------- */

enum { LAB_LINKS = 6, LAB_CLAIM_TEXT = 400, LAB_ILL_FORMED = 1 };

/* "left sign right" of a claim's text. */
struct lab_link {
    char sign;
    char side[2][LAB_CLAIM_TEXT];
    struct lab_expression formula[2];
};

/* A formula that the claim's text is about; `text` NULL: there is none. */
struct lab_given {
    const char *text;
    struct lab_expression formula;
};

/* A claim, its formulas parsed. */
struct lab_parsed {
    const struct lab_claim *claim;
    int count;
    struct lab_link link[LAB_LINKS];
    struct lab_given query[LAB_HEADS], rival, input;
};

/* 0, -1, or LAB_ILL_FORMED with the reason. */
int lab_claim_parse(const struct lab_claim *claim, struct lab_parsed *parsed,
                    char why[LAB_WHY]);
/* Whether some formula of its text calls the function. */
int lab_claim_calls(const struct lab_parsed *parsed, const char *function);

/* What the links of a claim come to at a point. */
struct lab_findings {
    int count;
    struct lab_finding link[LAB_LINKS];
};

/* 0, -1 when something could not be computed, or LAB_ILL_FORMED with the reason. */
int lab_parsed_evaluate(const struct lab_parsed *parsed, const struct lab_point *point,
                        struct lab_findings *found, char why[LAB_WHY]);
/* The same of a claim that is evaluated once. */
int lab_claim_evaluate(const struct lab_claim *claim, const struct lab_point *point,
                       struct lab_findings *found, char why[LAB_WHY]);

/* A case of an argument.  The premise is met where `premise` is 0. */
struct lab_case {
    const char *of;             /* what its letter stands for */
    double premise, conclusion; /* how far each is from true */
};
/* Case x: 0, 1 when there are no more, or -1. */
int lab_argument_try(const struct lab_parsed *parsed, attend_context *ctx, int x,
                     struct lab_case *found);

/* 1 if the claim's letter means what it meant before; else 0 with the reason. */
int lab_symbol_keeps(const struct lab_symbol *symbol, char why[LAB_WHY]);

/* A claim with its repair put in; the texts live here. */
struct lab_repaired {
    struct lab_claim claim;
    char text[LAB_CLAIM_TEXT], input[LAB_CLAIM_TEXT];
};
/* Of its text and input: 0, or -1 if nothing there is repaired, or not enough room. */
int lab_repair_apply(const struct lab_repair *repair, const struct lab_claim *claim,
                     struct lab_repaired *repaired);

/* What the grid and the growing quantities say of one claim. */
struct lab_trace {
    int points;
    struct lab_point worst; /* where the error on the grid is largest */
    struct lab_finding found;
    int same;            /* the error is the same at every point */
    int exact;           /* no point of the grid is off */
    int unequal;         /* a link "=" is off on the grid: the worst, and where */
    int unequal_letters; /* such a link, false whatever the world */
    struct lab_point unequal_at;
    struct lab_finding unequal_found;
    struct lab_limit limit;
    double threshold[2]; /* scale above which it stays below LAB_SMALL; n = 10, 1000 */
    int refuted;         /* the argument has a counterexample */
    int cases;           /* tried, where there is an argument */
    struct lab_case against;
};

#define LAB_SMALL 0.01     /* for the thresholds that are shown */
#define LAB_ROUNDING 1e-12 /* no difference of numbers of size 1 */
/*
 * A variance is high, an output unstable, scores are not near each other, from this
 * standard deviation on: a tenth of the range of a weight, on every sheet.
 */
#define LAB_HIGH 0.1

/* 0, -1, or LAB_ILL_FORMED with the reason. */
int lab_trace_claim(const struct lab_exercise *exercise, const struct lab_claim *claim,
                    enum lab_reading reading, struct lab_trace *trace, char why[LAB_WHY]);
enum lab_verdict lab_trace_verdict(const struct lab_trace *trace,
                                   enum lab_reading reading);
/* Whether that verdict is the same in every world. */
int lab_trace_invariant(const struct lab_trace *trace, enum lab_reading reading);
/* Condition, evidence and the case that decides an argument, in words. */
void lab_judge_condition(const struct lab_claim *claim, const struct lab_trace *trace,
                         struct lab_text *text);
void lab_judge_evidence(const struct lab_claim *claim, const struct lab_trace *trace,
                        enum lab_reading reading, struct lab_text *text);
void lab_judge_case(const struct lab_claim *claim, const struct lab_trace *trace,
                    struct lab_text *text);

#endif

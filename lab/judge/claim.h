/* SPDX-License-Identifier: MIT */
/* Judging of a claim: its formulas, cases and repairs, the grid, and the words. */
#ifndef LAB_CLAIM_H
#define LAB_CLAIM_H

#include "lab/judge/judge.h"
#include "lab/language/expression.h"

enum { LAB_LINKS = 6, LAB_CLAIM_TEXT = 400, LAB_ILL_FORMED = 1, LAB_TEXTS = 3 };

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
    struct lab_given query[LAB_HEADS], rival, input, shows[2], spread;
};

/* Values of an answer for a claim: x_1, x_2, x_3, and the queries of its heads. */
struct lab_put {
    int texts, heads;
    struct lab_value text[LAB_TEXTS];
    double query[LAB_HEADS][LAB_SPACE];
};

/* 0, -1, or LAB_ILL_FORMED with the reason. */
int lab_claim_parse(const struct lab_claim *claim, struct lab_parsed *parsed,
                    char why[LAB_WHY]);
/* Whether some formula of its text calls the function. */
int lab_claim_calls(const struct lab_parsed *parsed, const char *function);

/* Results of the links of a claim at a point. */
struct lab_findings {
    int count;
    struct lab_finding link[LAB_LINKS];
    double shown[2], spread; /* NaN and 0 where the claim has none */
};

/*
 * `put` may be NULL.  0, -1 when something could not be computed, or LAB_ILL_FORMED with
 * the reason.
 */
int lab_parsed_evaluate(const struct lab_parsed *parsed, const struct lab_point *point,
                        const struct lab_put *put, struct lab_findings *found,
                        char why[LAB_WHY]);
/* The same of a claim that is evaluated once. */
int lab_claim_evaluate(const struct lab_claim *claim, const struct lab_point *point,
                       struct lab_findings *found, char why[LAB_WHY]);

/* Whether two numbers differ by no more than rounding. */
int lab_same_number(double x, double y);
/* The claim that two numbers are equal; a claimed 0 is compared absolutely. */
void lab_found_number(struct lab_finding *found, double computed, double claimed);
/* Keeps the worse of two; of two distances with equal errors, the larger. */
void lab_found_worse(struct lab_finding *found, const struct lab_finding *other);

/* A case of an argument.  The premise holds where `premise` is 0. */
struct lab_case {
    const char *of;             /* the value of its letter, in words */
    double premise, conclusion; /* errors of both */
};
/* Case x: 0, 1 when there are no more, or -1. */
int lab_argument_try(const struct lab_parsed *parsed, attend_context *ctx, int x,
                     struct lab_case *found);

/* 1 if the claim's letter has its earlier meaning; else 0 with the reason. */
int lab_symbol_keeps(const struct lab_symbol *symbol, char why[LAB_WHY]);

enum { LAB_REPAIRED = 7 };
/* A claim with its repair put in; the texts live here. */
struct lab_repaired {
    struct lab_claim claim;
    char text[LAB_REPAIRED][LAB_CLAIM_TEXT];
};
/* In its claim or, if nothing is repaired there, in its queries: 0, or -1. */
int lab_repair_apply(const struct lab_repair *repair, const struct lab_claim *claim,
                     struct lab_repaired *repaired);

/* Results of one claim over the grid and along the growing quantities. */
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
    /* A point that the limit speaks of, beyond the threshold. */
    struct lab_point regime;
    struct lab_finding regime_found;
    int refuted; /* the argument has a counterexample */
    int cases;   /* tried, where there is an argument */
    struct lab_case against;
};

#define LAB_SMALL 0.01     /* for the thresholds that are shown */
#define LAB_ROUNDING 1e-12 /* no difference of numbers of size 1 */
/*
 * A variance is high, an output unstable, scores are not near each other, from this
 * standard deviation of a weight on: a tenth of its range, on every sheet.
 */
#define LAB_HIGH 0.1

/* 0, -1, or LAB_ILL_FORMED with the reason. */
int lab_trace_claim(const struct lab_exercise *exercise, const struct lab_claim *claim,
                    enum lab_strictness reading, struct lab_trace *trace,
                    char why[LAB_WHY]);
enum lab_verdict lab_trace_verdict(const struct lab_trace *trace,
                                   enum lab_strictness reading);
/* Whether that verdict is the same in every world. */
int lab_trace_invariant(const struct lab_trace *trace, enum lab_strictness reading);
/* Condition, evidence and the case that decides an argument, in words. */
void lab_judge_condition(const struct lab_claim *claim, const struct lab_trace *trace,
                         struct lab_text *text);
void lab_judge_evidence(const struct lab_claim *claim, const struct lab_trace *trace,
                        enum lab_strictness reading, struct lab_text *text);
void lab_judge_case(const struct lab_claim *claim, const struct lab_trace *trace,
                    struct lab_text *text);
/* Why a claim that fails is false, in a clause. */
void lab_judge_refutation(const struct lab_claim *claim, const struct lab_trace *trace,
                          struct lab_text *text);

#endif

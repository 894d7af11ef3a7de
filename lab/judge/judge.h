/* SPDX-License-Identifier: MIT */
/*
 * The judge of the exercise: the verdict of a claim, computed by the engine.  A statement
 * is data: the claim in formulas, its free and large quantities, earlier meanings of a
 * letter, the repair of a symbol, and, for an argument, premise and conclusion.
 */
#ifndef LAB_JUDGE_H
#define LAB_JUDGE_H

#include <stdint.h>

#include "lab/exercise/world.h"
#include "lab/judge/limits.h"

enum lab_verdict { LAB_HOLDS, LAB_LIMIT, LAB_FAILS, LAB_SLIP };

/* By the letter "=" is equality and only what the sheet calls large may grow. */
enum lab_strictness { LAB_CHARITY, LAB_LETTER };

/* Meanings of a letter. */
enum lab_meaning {
    LAB_MEANS_KEYS,  /* number of keys */
    LAB_MEANS_BASIS, /* number of basis vectors */
    LAB_MEANS_SCALE, /* scale of the query */
    LAB_MEANS_NOISE, /* variance of the keys */
    LAB_MEANS_WEIGHT,
    LAB_MEANS_MEAN, /* of a key */
    LAB_MEANS_KEY,
    LAB_MEANS_VALUE
};

/* A letter: its meaning on the sheet, the line, and the meaning the claim needs. */
struct lab_symbol {
    const char *letter; /* NULL: none */
    enum lab_meaning prior;
    int line;
    enum lab_meaning here;
};

/* Which letters a claim may use; see scope.c. */
enum lab_topic {
    LAB_TOPIC_KEYS,
    LAB_TOPIC_BASIS,
    LAB_TOPIC_TOKENS,
    LAB_TOPIC_ROW,       /* a row of random scores */
    LAB_TOPIC_COPY,      /* one score that leads */
    LAB_TOPIC_POSITIONS, /* embeddings of two positions */
    LAB_TOPIC_VARIANTS,
    /* Letters of answers alone. */
    LAB_TOPIC_GAP,
    LAB_TOPIC_PAIR,
    LAB_TOPIC_NOISE,
    LAB_TOPIC_SPANS,
    LAB_TOPIC_SEQUENCE
};

/* The keys that a claim is about. */
enum lab_keys {
    LAB_KEYS_DRAWN, /* as their law has them */
    LAB_KEYS_MEANS, /* without noise */
    LAB_KEYS_GAMMA  /* k_a = gamma mu_a, gamma that of the point */
};

/* Draws from `from` to `to` alone, or one number; `on` 0: all. */
struct lab_range {
    int on;
    double from, to;
};

/*
 * An argument: `conclusion` must be 0 wherever `premise` is, in every case.  A case is a
 * formula for `letter`; `key` and `query` give the weights p of three keys, and `head`
 * the correlation r of two heads' outputs.  It is tried in a world of its own, not in
 * the one that the exercise gives.
 */
enum { LAB_CASES = 4 };
struct lab_argument {
    const char *given;                  /* the premise in words */
    const char *letter, *of[LAB_CASES]; /* letter NULL: the claim has no argument */
    const char *key[LAB_SPACE], *query; /* query NULL: no weights */
    const char *head[LAB_HEADS];        /* NULL: no heads */
    const char *premise, *conclusion;
};

struct lab_claim {
    enum lab_topic topic;
    const char *query[LAB_HEADS]; /* of the heads; NULL: there is none */
    const char *rival;            /* of the one head to compare with */
    const char *input;            /* the formula in place of X */
    int magnitude;                /* the length of k_a varies */
    enum lab_keys keys;
    struct lab_range range; /* of gamma, of the draws that the claim is about */
    /*
     * Links of formulas, "p = q ~ r; s < t"; NULL: the claim is its argument.  With both
     * the argument decides by the letter, the links by charity.
     */
    const char *text;
    const char *because; /* links of a reason, judged by the letter alone; NULL: none */
    /* 1: "=" compares two numbers by their ratio, vectors by their distance. */
    int relative;
    const char *shows[2]; /* numbers to show beside the error; NULL: the two sides */
    const char *spread;   /* an error that noise adds to each link; NULL: none */
    unsigned free;        /* of enum lab_free: quantities that the sheet leaves free */
    unsigned called;      /* the subset that the sheet calls large, small or vanishing */
    int strict;           /* "p > 0" of a number that is positive however small */
    int noisy;            /* the grid has alpha > 0 although alpha is not free */
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
    const char *quote; /* from the sheet: the judged passage only */
    const char *exact; /* the true statement, with its condition */
    struct lab_claim claim;
    struct lab_repair repair;
    const char *scan; /* a sentence on what the scan misread; NULL: nothing */
};

/* The first fields of a statement: its id, its line on the sheet, and its text. */
#define LAB_SAYS(name, where, words) .id = (name), .line = (where), .says = (words)
/* The passage judged, and its line. */
#define LAB_QUOTES(where, words) .quoted = (where), .quote = (words)

/* Quantities that the sheet leaves free and calls large, and the name of the scale. */
#define LAB_GROWS(set, name) .free = (set), .called = (set), .grows = (name)

struct lab_judgement {
    char id[8]; /* sheet and number */
    char sheet[8];
    int line;          /* of the sheet */
    const char *says;  /* the statement, in other words */
    const char *quote; /* the passage judged, as the sheet has it */
    int quoted;        /* its line, near `line` */
    enum lab_verdict verdict;
    enum lab_strictness reading; /* the one that `verdict` and all below belong to */
    int readings_agree;          /* the other reading has the same verdict */
    int invariant;               /* the verdict is the same in every world */
    char holds_when[512];        /* the exact statement with its condition, never empty */
    double measured;             /* the number that decides; NaN where none applies */
    double expected;             /* the number by the claim; NaN where none applies */
    /* The point of that number, if any: `scale` is C, beta, |q| or a gap. */
    int has_point;
    int64_t n;
    double scale, alpha;
    char evidence[1024]; /* point, error, counterexample, repair and scan in words */
    /* Why it is ill formed, or the case that decides an argument; else empty. */
    char reason[320];
    enum lab_verdict otherwise; /* the verdict by the other reading */
};

const char *lab_verdict_name(enum lab_verdict verdict); /* its id, "holds" ... */
/* For readers: "true", "true in the limit", "false", "slip". */
const char *lab_verdict_word(enum lab_verdict verdict);
/* The meaning of a verdict: "there is a counterexample". */
const char *lab_verdict_meaning(enum lab_verdict verdict);
const char *lab_reading_name(enum lab_strictness reading); /* "charity", "letter" */

/* 0, or -1 when something could not be computed, such as without the engine. */
int lab_judge(const struct lab_exercise *exercise, const struct lab_statement *statement,
              enum lab_strictness reading, struct lab_judgement *judgement);

#endif

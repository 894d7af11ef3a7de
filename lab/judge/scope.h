/* SPDX-License-Identifier: MIT */
/* The letters of a claim and their values at a point. */
#ifndef LAB_SCOPE_H
#define LAB_SCOPE_H

#include "lab/language/expression.h"
#include "lab/judge/claim.h"

/* Computation that the value of a letter requires; 0: none. */
enum lab_needs {
    LAB_NEEDS_WORLD = 1,      /* none, but the value differs between worlds */
    LAB_NEEDS_GAMMA = 2,      /* of every draw: the magnitudes */
    LAB_NEEDS_KEYS = 4,       /* of every draw: the keys */
    LAB_NEEDS_HEADS = 8,      /* of every draw, through the engine */
    LAB_NEEDS_SHARE = 16,     /* over all draws of the magnitudes */
    LAB_NEEDS_LAW = 32,       /* over all draws, through the engine */
    LAB_NEEDS_STILL = 64,     /* the same heads while no magnitude varies */
    LAB_NEEDS_RIVAL = 128,    /* one head, through the engine */
    LAB_NEEDS_ENDS = 256,     /* gamma = 0.5 and 1.5, through the engine */
    LAB_NEEDS_SELF = 512,     /* attention of tokens, through the engine */
    LAB_NEEDS_SOFTMAX = 1024, /* weights of given scores, through the engine */
    LAB_NEEDS_LOSE = 2048,    /* the gamma at which a weight is 1/2, through the engine */
    LAB_NEEDS_ENCODED = 4096  /* attention of tokens with positions */
};

/* Computations whose values differ between draws. */
#define LAB_NEEDS_EACH (LAB_NEEDS_GAMMA | LAB_NEEDS_KEYS | LAB_NEEDS_HEADS)

enum { LAB_SCOPE_LETTERS = 88 };

struct lab_scope;

/* The letters of a topic; answers may use the first `known`. */
struct lab_letters {
    const struct lab_place *place;
    int count, known;
    size_t size;                          /* of the struct with the values */
    int (*open)(struct lab_scope *scope); /* 0, or -1 */
    /* Computes what is needed: 0, -1, or LAB_ILL_FORMED. */
    int (*fill)(struct lab_scope *scope, unsigned needs);
};

struct lab_scope {
    const struct lab_parsed *parsed; /* NULL: letters alone, without a claim */
    const struct lab_claim *claim;
    const struct lab_letters *letters;
    const struct lab_put *put; /* NULL: none */
    const struct lab_point *point;
    int count;
    struct lab_letter letter[LAB_SCOPE_LETTERS];
    unsigned needs[LAB_SCOPE_LETTERS];
    struct lab_draws draws; /* of the keys */
    void *room;             /* the letters' numbers */
    char why[LAB_WHY];      /* the reason where something is ill formed */
};

const struct lab_letters *lab_letters_of(enum lab_topic topic);

/* Binds the letters of a claim's topic at a point; 0, or -1.  Close it in any case. */
int lab_scope_open(struct lab_scope *scope, const struct lab_parsed *parsed,
                   const struct lab_point *point, const struct lab_put *put);
/* The letters of a topic that answers may use. */
int lab_scope_open_known(struct lab_scope *scope, enum lab_topic topic,
                         const struct lab_point *point);
void lab_scope_close(struct lab_scope *scope);
/* Binds one more letter, before all others. */
void lab_scope_put(struct lab_scope *scope, const char *name,
                   const struct lab_value *value);
/* Computations that the letters of a formula require, as bits. */
unsigned lab_scope_needs(const struct lab_scope *scope,
                         const struct lab_expression *formula);
/* Computes what is needed: 0, -1, or LAB_ILL_FORMED. */
int lab_scope_fill(struct lab_scope *scope, unsigned needs);
/* Sets the letters to the values of draw x. */
void lab_scope_draw(struct lab_scope *scope, int64_t x);
/* A formula's value: 0, or LAB_ILL_FORMED with the reason, which names its text. */
int lab_scope_value(struct lab_scope *scope, const char *text,
                    const struct lab_expression *formula, struct lab_value *value);

/* The exercise of a point: other bases and tokens at each number, the same engine. */
struct lab_exercise lab_point_exercise(const struct lab_point *point);

/* The sinusoidal embedding of a position, d features. */
void lab_sinusoids(double t, int d, double *phi);

extern const struct lab_letters lab_letters_keys, lab_letters_basis, lab_letters_tokens,
    lab_letters_row, lab_letters_copy, lab_letters_gap, lab_letters_pair,
    lab_letters_noise, lab_letters_spans, lab_letters_sequence, lab_letters_positions,
    lab_letters_variants;

/* The columns of a table of places, and the count of its letters. */
#define LAB_LETTERS(places, answers, room, opens, fills)                                 \
    {                                                                                    \
        (places), (int)(sizeof(places) / sizeof(places)[0]), (answers),                  \
            sizeof(struct room), (opens), (fills)                                        \
    }

#endif

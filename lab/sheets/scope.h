/* SPDX-License-Identifier: MIT */
/* The letters of a claim, and what they stand for at a point of a world. */
#ifndef LAB_SCOPE_H
#define LAB_SCOPE_H

#include "lab/language/expression.h"
#include "lab/sheets/judge.h"

/* What has to be done before a letter stands for something; 0: it is given. */
enum lab_needs {
    LAB_NEEDS_WORLD = 1,     /* nothing more, but it differs between worlds */
    LAB_NEEDS_GAMMA = 2,     /* of every draw: the magnitudes */
    LAB_NEEDS_KEYS = 4,      /* of every draw: the keys */
    LAB_NEEDS_HEADS = 8,     /* of every draw, through the engine */
    LAB_NEEDS_SHARE = 16,    /* over all draws of the magnitudes */
    LAB_NEEDS_LAW = 32,      /* over all draws, through the engine */
    LAB_NEEDS_STILL = 64,    /* the same heads while no magnitude varies */
    LAB_NEEDS_RIVAL = 128,   /* one head, through the engine */
    LAB_NEEDS_ENDS = 256,    /* gamma = 0.5 and 1.5, through the engine */
    LAB_NEEDS_SELF = 512,    /* attention of tokens, through the engine */
    LAB_NEEDS_SOFTMAX = 1024 /* weights of given scores, through the engine */
};

/* Those that take another value in every draw. */
#define LAB_NEEDS_EACH (LAB_NEEDS_GAMMA | LAB_NEEDS_KEYS | LAB_NEEDS_HEADS)

enum { LAB_SCOPE_LETTERS = 72 };

struct lab_scope {
    const struct lab_parsed *parsed;
    const struct lab_claim *claim;
    const struct lab_point *point;
    int count;
    struct lab_letter letter[LAB_SCOPE_LETTERS];
    unsigned needs[LAB_SCOPE_LETTERS];
    struct lab_draws draws; /* of the keys */
    void *room;             /* for the letters' numbers */
    char why[LAB_WHY];      /* the reason where something is ill formed */
};

/* Binds the letters of a claim's topic at a point; 0, or -1.  Close it in any case. */
int lab_scope_open(struct lab_scope *scope, const struct lab_parsed *parsed,
                   const struct lab_point *point);
void lab_scope_close(struct lab_scope *scope);
/* What the letters of a formula need, as bits. */
unsigned lab_scope_needs(const struct lab_scope *scope,
                         const struct lab_expression *formula);
/* Computes what is needed: 0, -1, or LAB_ILL_FORMED. */
int lab_scope_fill(struct lab_scope *scope, unsigned needs);
/* Puts draw x in. */
void lab_scope_draw(struct lab_scope *scope, int64_t x);
/* A formula's value: 0, or LAB_ILL_FORMED with the reason, which names its text. */
int lab_scope_value(struct lab_scope *scope, const char *text,
                    const struct lab_expression *formula, struct lab_value *value);

/* ---- the topics ------------------------------------------------------------- */

/* Zeroes a room and binds `count` places in it: 0, or -1. */
int lab_scope_bind(struct lab_scope *scope, size_t room, const struct lab_place *place,
                   int count);

int lab_scope_open_keys(struct lab_scope *scope);
int lab_scope_fill_keys(struct lab_scope *scope, unsigned needs);
int lab_scope_open_basis(struct lab_scope *scope);
int lab_scope_open_tokens(struct lab_scope *scope);
int lab_scope_fill_tokens(struct lab_scope *scope, unsigned needs);

#endif

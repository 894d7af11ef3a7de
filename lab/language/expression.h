/* SPDX-License-Identifier: MIT */
/*
 * Formulas of the exercise, parsed once and evaluated in many worlds: numbers, vectors
 * and matrices of double, whose letters the caller binds.
 *
 *   sum      = product (("+" | "-") product)*
 *   product  = signed (("*" | "/" | nothing) signed)*
 *   signed   = "-" signed | "+" signed | power
 *   power    = operand ("'" | "^T")* ["^" signed]
 *   operand  = number | letter | function "(" sum ")" | "(" sum ")" | fraction
 *   fraction = "\frac" "{" sum "}" "{" sum "}"
 *
 * "^" binds tighter than a sign and groups to the right: -2^2 = -4, 2^3^2 = 2^9.  ^T and
 * ' transpose; a square matrix has the whole powers -16 to 16, ^-1 is its inverse.
 * A product may be written without *, as C (mu_a + mu_b) and A A^T; not before a number,
 * and not after a division, where 1/2 C has two readings.  Functions are sqrt, exp, ln,
 * log (the same), abs, sin, cos, tanh, asin, atan, Phi (normal distribution function), sg
 * (logistic), all of numbers, norm, sum and tr, and softmax of every row.  pi, e and inf
 * are known where the caller binds no letter of that name.  Braces and brackets group as
 * parentheses do. Letters are ASCII words, or Greek: alpha, its sign and \alpha are one
 * letter, so are k_a and k_{a}.  Commands of LaTeX that change the look alone are
 * skipped.
 *
 * A vector of d entries is d x 1, a number 1 x 1.  Entries follow IEEE 754: 1/0 is inf,
 * ln(-1) is NaN, exp(1e3) is inf; none of them is an error.  Nothing is allocated.
 */
#ifndef LAB_EXPRESSION_H
#define LAB_EXPRESSION_H

#include <stddef.h>

enum {
    LAB_EXPRESSION_TEXT = 1000,  /* bytes of a formula, at most */
    LAB_EXPRESSION_STEPS = 256,  /* numbers, letters and operations */
    LAB_EXPRESSION_NESTING = 32, /* parentheses, signs and exponents inside each other */
    LAB_EXPRESSION_POWER = 16,   /* of a matrix, at most */
    LAB_EXPRESSION_STACK = 16,   /* operands that wait for others */
    LAB_EXPRESSION_LETTERS = 32, /* different letters */
    LAB_EXPRESSION_WORD = 32,    /* bytes of a letter with its end */
    LAB_VALUE_SIDE = 16          /* rows and columns of a value */
};

/* Row-major, `columns` apart. */
struct lab_value {
    int rows, columns;
    double x[LAB_VALUE_SIDE * LAB_VALUE_SIDE];
};

/* The binding of a name; rows and columns at most LAB_VALUE_SIDE. */
struct lab_letter {
    const char *name;
    int rows, columns;
    const double *x; /* as in lab_value */
};

/* A letter, and where its numbers lie in the struct of its topic. */
struct lab_place {
    const char *name;
    unsigned needs; /* computation that its value requires; 0: none */
    int rows, columns;
    size_t offset;
};

#define LAB_LETTER(room, name, needs, rows, columns, field)                              \
    {                                                                                    \
        (name), (needs), (rows), (columns), offsetof(struct room, field)                 \
    }

/* Binds `count` letters to the numbers in `room`. */
void lab_place_letters(const struct lab_place *place, int count, const void *room,
                       struct lab_letter *letter);

struct lab_expression_error {
    int column; /* from 1, in characters */
    char text[160];
};

struct lab_expression_step {
    short what; /* see expression_parts.h */
    short letter;
    int column;
    double number;
};

/* In postfix order. */
struct lab_expression {
    int steps, letters;
    struct lab_expression_step step[LAB_EXPRESSION_STEPS];
    char letter[LAB_EXPRESSION_LETTERS][LAB_EXPRESSION_WORD];
};

/* 0, or -1 with the error.  `text` is any bytes that end with 0. */
int lab_expression_parse(const char *text, struct lab_expression *expression,
                         struct lab_expression_error *error);
/*
 * 0, or -1 with the error: a letter that is in no table, or shapes that do not fit.
 * `expression` comes from lab_expression_parse().
 */
int lab_expression_evaluate(const struct lab_expression *expression,
                            const struct lab_letter *letters, int count,
                            struct lab_value *value, struct lab_expression_error *error);
/*
 * Puts a formula wherever the letter occurs; 0, or -1 when it is none or there is no room
 * for it: the expression is then undefined.
 */
int lab_expression_put(struct lab_expression *expression, const char *letter,
                       const char *formula);
/* The largest number that is written in the formula, or 0. */
double lab_expression_largest(const struct lab_expression *expression);
/* Puts the letter wherever that number is written; 0, or -1 when there is no room. */
int lab_expression_name(struct lab_expression *expression, double number,
                        const char *letter);
/* Turns all products round, as (X^T Y^T)^T does; 0, or -1 when there is no room for it.
 */
int lab_expression_reverse(struct lab_expression *expression);
/* Whether the word is a function, such as exp. */
int lab_expression_is_function(const char *word);
/* Whether the function occurs. */
int lab_expression_calls(const struct lab_expression *expression, const char *function);
/* Whether the letter occurs, whatever its effect. */
int lab_expression_uses(const struct lab_expression *expression, const char *letter);

#endif

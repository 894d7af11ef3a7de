/* SPDX-License-Identifier: MIT */
/* Parts of the expression language: tokens, steps, arithmetic of values. */
#ifndef LAB_EXPRESSION_PARTS_H
#define LAB_EXPRESSION_PARTS_H

#include "lab/language/expression.h"

/* ---- tokens ---------------------------------------------------------------- */

enum lab_token_kind {
    LAB_TOKEN_END,
    LAB_TOKEN_NUMBER,
    LAB_TOKEN_WORD,
    LAB_TOKEN_SIGN, /* one of + - * / ^ ' ( ), F of \frac; braces and brackets */
    LAB_TOKEN_BAD   /* `word` says what is wrong */
};

struct lab_token {
    enum lab_token_kind kind;
    int column;
    char sign;
    double number;
    char word[160];
};

struct lab_lexer {
    const char *at;
    int column;
};

void lab_lexer_next(struct lab_lexer *lexer, struct lab_token *token);

/* ---- steps ----------------------------------------------------------------- */

enum lab_step {
    LAB_STEP_NUMBER,
    LAB_STEP_LETTER,
    LAB_STEP_NEGATE,
    LAB_STEP_TRANSPOSE,
    LAB_STEP_ADD,
    LAB_STEP_SUBTRACT,
    LAB_STEP_MULTIPLY,
    LAB_STEP_DIVIDE,
    LAB_STEP_POWER,
    LAB_STEP_FUNCTION /* and its number among the functions */
};

/* The number of a function, or -1. */
int lab_function_find(const char *name);
const char *lab_function_name(int function);
/* 0, or -1: it takes no value of that shape. */
int lab_function_apply(int function, struct lab_value *value);

/* ---- arithmetic, in place on x; 0, or -1 when shapes do not fit --------------- */

int lab_value_add(struct lab_value *x, const struct lab_value *y, double sign);
int lab_value_multiply(struct lab_value *x, const struct lab_value *y);
int lab_value_divide(struct lab_value *x, const struct lab_value *y);
void lab_value_transpose(struct lab_value *x);
/* -1 also when the power of a matrix is not whole or beyond LAB_EXPRESSION_POWER. */
int lab_value_power(struct lab_value *x, const struct lab_value *y);
int lab_value_is_number(const struct lab_value *x);

__attribute__((format(printf, 3, 4))) int
lab_expression_fail(struct lab_expression_error *error, int column, const char *format,
                    ...);

#endif

/* SPDX-License-Identifier: MIT */
/* From text to steps in postfix order, by recursive descent of bounded depth. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "lab/language/expression_parts.h"

struct parser {
    struct lab_lexer lexer;
    struct lab_token token; /* the next one */
    struct lab_expression *expression;
    struct lab_expression_error *error;
    int nesting, stack;
};

int lab_expression_fail(struct lab_expression_error *error, int column,
                        const char *format, ...)
{
    va_list args;
    error->column = column;
    va_start(args, format);
    vsnprintf(error->text, sizeof error->text, format, args);
    va_end(args);
    return -1;
}

static int parse_sum(struct parser *parser);
static int parse_signed(struct parser *parser);

static void advance(struct parser *parser)
{
    lab_lexer_next(&parser->lexer, &parser->token);
}

static int is_sign(const struct parser *parser, char sign)
{
    return parser->token.kind == LAB_TOKEN_SIGN && parser->token.sign == sign;
}

static int is_opening(const struct parser *parser)
{
    return is_sign(parser, '(') || is_sign(parser, '{') || is_sign(parser, '[');
}

static int unexpected(struct parser *parser, const char *wanted)
{
    const struct lab_token *const token = &parser->token;
    const int column = token->column;
    switch (token->kind) {
    case LAB_TOKEN_END:
        return lab_expression_fail(parser->error, column, "%s is missing at the end",
                                   wanted);
    case LAB_TOKEN_NUMBER:
        return lab_expression_fail(parser->error, column, "a number where %s should be",
                                   wanted);
    case LAB_TOKEN_WORD:
        return lab_expression_fail(parser->error, column, "'%s' where %s should be",
                                   token->word, wanted);
    case LAB_TOKEN_SIGN:
        if (token->sign == 'F')
            return lab_expression_fail(parser->error, column,
                                       "'\\frac' where %s should be", wanted);
        return lab_expression_fail(parser->error, column, "'%c' where %s should be",
                                   token->sign, wanted);
    case LAB_TOKEN_BAD:
        break;
    }
    return lab_expression_fail(parser->error, column, "%s", token->word);
}

/* `operands` is the change of the stack's depth by the step. */
static int add_step(struct parser *parser, int what, int column, int operands)
{
    struct lab_expression *const e = parser->expression;
    if (e->steps == LAB_EXPRESSION_STEPS)
        return lab_expression_fail(parser->error, column,
                                   "more than %d numbers, letters and operations",
                                   LAB_EXPRESSION_STEPS);
    parser->stack += operands;
    if (parser->stack > LAB_EXPRESSION_STACK)
        return lab_expression_fail(parser->error, column,
                                   "more than %d operands wait for others",
                                   LAB_EXPRESSION_STACK);
    e->step[e->steps++] =
        (struct lab_expression_step){.what = (short)what, .column = column};
    return 0;
}

static int add_letter(struct parser *parser, const char *name, int column)
{
    struct lab_expression *const e = parser->expression;
    int letter = 0;
    while (letter < e->letters && strcmp(e->letter[letter], name) != 0)
        letter++;
    if (letter == LAB_EXPRESSION_LETTERS)
        return lab_expression_fail(parser->error, column,
                                   "more than %d different letters",
                                   LAB_EXPRESSION_LETTERS);
    if (letter == e->letters)
        memcpy(e->letter[e->letters++], name, strlen(name) + 1);
    if (add_step(parser, LAB_STEP_LETTER, column, 1))
        return -1;
    e->step[e->steps - 1].letter = (short)letter;
    return 0;
}

static int parse_group(struct parser *parser)
{
    const char close = is_sign(parser, '(') ? ')' : is_sign(parser, '{') ? '}' : ']';
    const char wanted[] = {'\'', close, '\'', 0};
    advance(parser);
    if (parse_sum(parser))
        return -1;
    if (!is_sign(parser, close))
        return unexpected(parser, wanted);
    advance(parser);
    return 0;
}

/* \frac{x}{y} */
static int parse_fraction(struct parser *parser)
{
    const int column = parser->token.column;
    advance(parser);
    for (int half = 0; half < 2; half++) {
        if (!is_opening(parser))
            return unexpected(parser, "'{'");
        if (parse_group(parser))
            return -1;
    }
    return add_step(parser, LAB_STEP_DIVIDE, column, -1);
}

static int parse_word(struct parser *parser)
{
    const struct lab_token word = parser->token;
    const int function = lab_function_find(word.word);
    advance(parser);
    const int is_fraction = is_sign(parser, 'F');
    if (function < 0 || !(is_opening(parser) || is_fraction))
        return add_letter(parser, word.word, word.column);
    return (is_fraction ? parse_fraction(parser) : parse_group(parser)) ||
                   add_step(parser, LAB_STEP_FUNCTION + function, word.column, 0)
               ? -1
               : 0;
}

static int parse_operand(struct parser *parser)
{
    if (parser->token.kind == LAB_TOKEN_NUMBER) {
        if (add_step(parser, LAB_STEP_NUMBER, parser->token.column, 1))
            return -1;
        struct lab_expression *const e = parser->expression;
        e->step[e->steps - 1].number = parser->token.number;
        advance(parser);
        return 0;
    }
    if (parser->token.kind == LAB_TOKEN_WORD)
        return parse_word(parser);
    if (is_opening(parser))
        return parse_group(parser);
    if (is_sign(parser, 'F'))
        return parse_fraction(parser);
    return unexpected(parser, "a number or a letter");
}

/* Takes a T, in braces or without, that transposes: 1, or 0 if there is none. */
static int take_transpose(struct parser *parser)
{
    const struct parser before = *parser;
    const int braces = is_sign(parser, '{');
    if (braces)
        advance(parser);
    if (parser->token.kind == LAB_TOKEN_WORD && !strcmp(parser->token.word, "T")) {
        advance(parser);
        if (!braces)
            return 1;
        if (is_sign(parser, '}')) {
            advance(parser);
            return 1;
        }
    }
    parser->lexer = before.lexer;
    parser->token = before.token;
    return 0;
}

static int parse_power(struct parser *parser)
{
    if (parse_operand(parser))
        return -1;
    while (is_sign(parser, '\'') || is_sign(parser, '^')) {
        const int column = parser->token.column;
        const int is_mark = is_sign(parser, '\'');
        advance(parser);
        if (!is_mark && !take_transpose(parser))
            return parse_signed(parser) || add_step(parser, LAB_STEP_POWER, column, -1)
                       ? -1
                       : 0;
        if (add_step(parser, LAB_STEP_TRANSPOSE, column, 0))
            return -1;
    }
    return 0;
}

/* Every recursion passes here. */
static int parse_signed(struct parser *parser)
{
    const int column = parser->token.column;
    const int is_minus = is_sign(parser, '-');
    int status;

    if (++parser->nesting > LAB_EXPRESSION_NESTING)
        return lab_expression_fail(parser->error, column, "nested deeper than %d",
                                   LAB_EXPRESSION_NESTING);
    if (is_minus || is_sign(parser, '+')) {
        advance(parser);
        status = parse_signed(parser);
        if (!status && is_minus)
            status = add_step(parser, LAB_STEP_NEGATE, column, 0);
    } else
        status = parse_power(parser);
    parser->nesting--;
    return status;
}

/* Whether the next token can be a factor that has no * before it. */
static int is_factor(const struct parser *parser)
{
    return parser->token.kind == LAB_TOKEN_WORD || is_opening(parser) ||
           is_sign(parser, 'F');
}

static int parse_product(struct parser *parser)
{
    int divided = 0;

    if (parse_signed(parser))
        return -1;
    for (;;) {
        const int column = parser->token.column;
        const int divides = is_sign(parser, '/');
        const int multiplies = is_sign(parser, '*');
        if (parser->token.kind == LAB_TOKEN_NUMBER)
            return lab_expression_fail(parser->error, column,
                                       "a number after a factor: write * before it");
        if (!divides && !multiplies && !is_factor(parser))
            return 0;
        if (!divides && !multiplies && divided)
            return lab_expression_fail(
                parser->error, column,
                "a factor without * after a division: write (x/y)*z or x/(y*z)");
        if (divides || multiplies)
            advance(parser);
        if (parse_signed(parser) ||
            add_step(parser, divides ? LAB_STEP_DIVIDE : LAB_STEP_MULTIPLY, column, -1))
            return -1;
        divided = divides;
    }
}

static int parse_sum(struct parser *parser)
{
    if (parse_product(parser))
        return -1;
    while (is_sign(parser, '+') || is_sign(parser, '-')) {
        const int column = parser->token.column;
        const int what = is_sign(parser, '+') ? LAB_STEP_ADD : LAB_STEP_SUBTRACT;
        advance(parser);
        if (parse_product(parser) || add_step(parser, what, column, -1))
            return -1;
    }
    return 0;
}

int lab_expression_parse(const char *text, struct lab_expression *expression,
                         struct lab_expression_error *error)
{
    struct parser parser = {.lexer = {text, 1}, .expression = expression, .error = error};

    memset(expression, 0, sizeof *expression);
    if (strlen(text) > LAB_EXPRESSION_TEXT)
        return lab_expression_fail(error, 1, "a formula of more than %d bytes",
                                   LAB_EXPRESSION_TEXT);
    advance(&parser);
    if (parser.token.kind == LAB_TOKEN_END)
        return lab_expression_fail(error, 1, "an empty formula");
    if (parse_sum(&parser))
        return -1;
    return parser.token.kind == LAB_TOKEN_END ? 0 : unexpected(&parser, "an operation");
}

static int append_step(struct lab_expression *to, const struct lab_expression_step *step)
{
    if (to->steps == LAB_EXPRESSION_STEPS)
        return -1;
    to->step[to->steps++] = *step;
    return 0;
}

int lab_expression_put(struct lab_expression *expression, const char *letter,
                       const char *formula)
{
    struct lab_expression from = *expression, with;
    struct lab_expression_error error;

    if (lab_expression_parse(formula, &with, &error) ||
        expression->letters + with.letters > LAB_EXPRESSION_LETTERS)
        return -1;
    memcpy(expression->letter + from.letters, with.letter,
           (size_t)with.letters * sizeof *with.letter);
    expression->letters += with.letters;
    expression->steps = 0;
    for (int s = 0; s < from.steps; s++) {
        const struct lab_expression_step *const step = &from.step[s];
        const int is_it =
            step->what == LAB_STEP_LETTER && !strcmp(from.letter[step->letter], letter);
        for (int w = 0; is_it && w < with.steps; w++) {
            struct lab_expression_step put = with.step[w];
            put.letter = (short)(put.letter + from.letters);
            if (append_step(expression, &put))
                return -1;
        }
        if (!is_it && append_step(expression, step))
            return -1;
    }
    return 0;
}

double lab_expression_largest(const struct lab_expression *expression)
{
    double largest = 0;
    for (int s = 0; s < expression->steps; s++)
        if (expression->step[s].what == LAB_STEP_NUMBER)
            largest = fmax(largest, expression->step[s].number);
    return largest;
}

int lab_expression_name(struct lab_expression *expression, double number,
                        const char *letter)
{
    if (expression->letters == LAB_EXPRESSION_LETTERS)
        return -1;
    snprintf(expression->letter[expression->letters], LAB_EXPRESSION_WORD, "%s", letter);
    for (int s = 0; s < expression->steps; s++) {
        struct lab_expression_step *const step = &expression->step[s];
        if (step->what != LAB_STEP_NUMBER || fabs(step->number - number) > 0)
            continue;
        step->what = LAB_STEP_LETTER;
        step->letter = (short)expression->letters;
    }
    expression->letters++;
    return 0;
}

int lab_expression_reverse(struct lab_expression *expression)
{
    const struct lab_expression_step transpose = {.what = LAB_STEP_TRANSPOSE};
    const struct lab_expression from = *expression;
    int full = 0;

    expression->steps = 0;
    for (int s = 0; s < from.steps; s++) {
        full |= append_step(expression, &from.step[s]);
        if (from.step[s].what == LAB_STEP_LETTER)
            full |= append_step(expression, &transpose);
    }
    return full | append_step(expression, &transpose);
}

int lab_expression_is_function(const char *word) { return lab_function_find(word) >= 0; }

int lab_expression_calls(const struct lab_expression *expression, const char *function)
{
    const int what = LAB_STEP_FUNCTION + lab_function_find(function);
    for (int s = 0; s < expression->steps; s++)
        if (expression->step[s].what == what)
            return 1;
    return 0;
}

int lab_expression_uses(const struct lab_expression *expression, const char *letter)
{
    for (int i = 0; i < expression->letters; i++)
        if (!strcmp(expression->letter[i], letter))
            return 1;
    return 0;
}

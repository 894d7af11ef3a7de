/* SPDX-License-Identifier: MIT */
/* Sums, products and factors of a formula. */
#include <stdio.h>
#include <string.h>

#include "lab/reading/formula_parts.h"

int lab_starts_factor(const struct lab_parser *parser)
{
    switch (parser->sign.kind) {
    case LAB_SIGN_NUMBER:
    case LAB_SIGN_LETTER:
    case LAB_SIGN_FUNCTION:
    case LAB_SIGN_OPEN:
    case LAB_SIGN_BRACE:
    case LAB_SIGN_SERIES:
    case LAB_SIGN_LIMIT:
    case LAB_SIGN_FRACTION:
    case LAB_SIGN_ROOT:
    case LAB_SIGN_MARK:
    case LAB_SIGN_LABEL:
    case LAB_SIGN_BEGIN:
        return 1;
    case LAB_SIGN_BAR:
    case LAB_SIGN_DOUBLE_BAR:
        return !parser->bars;
    default:
        return 0;
    }
}

static int minus(struct lab_parser *parser, int term, size_t begin)
{
    const int node = lab_node_wrap(parser, LAB_NODE_MINUS, term);
    if (node >= 0)
        parser->formula->node[node].begin = begin;
    return node;
}

/* The term after a sign; `begin` is the sign's place. */
static int signed_term(struct lab_parser *parser)
{
    const size_t begin = parser->sign.begin;
    int negative = 0, either = 0, node;

    while (parser->sign.kind == LAB_SIGN_PLUS || parser->sign.kind == LAB_SIGN_MINUS) {
        negative ^= parser->sign.kind == LAB_SIGN_MINUS;
        either |= parser->sign.kind == LAB_SIGN_PLUS && parser->sign.code;
        lab_parser_next(parser);
    }
    node = lab_read_term(parser);
    if (either && (node = lab_node_wrap(parser, LAB_NODE_CALL, node)) >= 0)
        snprintf(parser->formula->node[node].name, sizeof parser->formula->node[0].name,
                 "pm");
    return negative ? minus(parser, node, begin) : node;
}

/* A rule drawn beside a vector, as in [-q-]. */
static int is_drawn(const struct lab_parser *parser)
{
    struct lab_sign next;
    if (parser->sign.kind != LAB_SIGN_MINUS)
        return 0;
    lab_parser_peek(parser, &next);
    return next.kind == LAB_SIGN_CLOSE || next.kind == LAB_SIGN_FINISH ||
           (parser->cells && (next.kind == LAB_SIGN_CELL || next.kind == LAB_SIGN_ROW));
}

static int dots_are_term(const struct lab_parser *parser)
{
    struct lab_sign next;
    lab_parser_peek(parser, &next);
    return next.kind == LAB_SIGN_PLUS || next.kind == LAB_SIGN_MINUS;
}

int lab_read_expression(struct lab_parser *parser)
{
    const struct lab_node *const node = parser->formula->node;
    const int sum = lab_node_make(parser, LAB_NODE_SUM, parser->sign.begin);
    int term = signed_term(parser);

    lab_node_adopt(parser, sum, term);
    while (term >= 0) {
        const int dots = node[term].kind == LAB_NODE_DOTS;
        if (is_drawn(parser)) {
            lab_parser_next(parser);
            if (node[term].kind == LAB_NODE_MINUS && node[sum].child == term)
                return node[term].child;
            break;
        }
        if (parser->sign.kind == LAB_SIGN_PLUS || parser->sign.kind == LAB_SIGN_MINUS ||
            (parser->sign.kind == LAB_SIGN_DOTS && dots_are_term(parser)) ||
            (dots && node[term].next < 0 && lab_node_children(parser, sum) > 1 &&
             lab_starts_factor(parser))) {
            term = signed_term(parser);
            lab_node_adopt(parser, sum, term);
        } else
            break;
    }
    if (term < 0)
        return -1;
    return node[node[sum].child].next < 0 ? node[sum].child : sum;
}

/* The divisor of a/b: "2exp(c)" without a blank is one, unless a is a number. */
static int read_divisor(struct lab_parser *parser, int numerator)
{
    const struct lab_node *const node = parser->formula->node;
    const int number = parser->sign.kind == LAB_SIGN_NUMBER;
    int divisor;

    if (parser->sign.kind == LAB_SIGN_MINUS)
        return signed_term(parser);
    divisor = lab_read_factor(parser);
    if (divisor < 0 || !number || node[numerator].kind == LAB_NODE_NUMBER ||
        parser->sign.apart ||
        (parser->sign.kind != LAB_SIGN_LETTER && parser->sign.kind != LAB_SIGN_FUNCTION))
        return divisor;
    const int product = lab_node_wrap(parser, LAB_NODE_PRODUCT, divisor);
    const int more = product < 0 ? -1 : lab_read_factor(parser);
    lab_node_adopt(parser, product, more);
    return more < 0 ? -1 : product;
}

/* `left` times `right`, in one product. */
static int multiply(struct lab_parser *parser, int left, int right, int *product)
{
    if (left < 0 || right < 0)
        return -1;
    if (left != *product)
        *product = lab_node_wrap(parser, LAB_NODE_PRODUCT, left);
    lab_node_adopt(parser, *product, right);
    return *product;
}

/*
 * A capital sigma at the beginning of a term is a sum if a letter follows and its index
 * is a relation, "\Sigma_{i=1}^n", or in Unicode one of i to n, or missing: "Σ_i α_i".
 */
static int is_sum(const struct lab_parser *parser)
{
    struct lab_lexer copy = parser->lexer;
    struct lab_sign sign;
    int depth = 0, relation = (unsigned char)copy.source[parser->sign.begin] >= 0x80;

    if (parser->sign.kind != LAB_SIGN_LETTER || strcmp(parser->sign.text, "Sigma") != 0)
        return 0;
    copy.log = NULL;
    lab_sign_next(&copy, &sign);
    while (sign.kind == LAB_SIGN_LOWERED || sign.kind == LAB_SIGN_RAISED) {
        if (!strchr("ijklmn=0123456789T", sign.text[0]))
            return 0;
        lab_sign_next(&copy, &sign);
    }
    while (sign.kind == LAB_SIGN_DOWN || sign.kind == LAB_SIGN_UP) {
        const int down = sign.kind == LAB_SIGN_DOWN;
        lab_sign_next(&copy, &sign);
        do {
            if (down && sign.kind == LAB_SIGN_LETTER && !depth &&
                !strchr("ijklmn", sign.text[0]))
                return 0;
            relation |= down && sign.kind == LAB_SIGN_RELATION;
            depth += sign.kind == LAB_SIGN_BRACE || sign.kind == LAB_SIGN_OPEN;
            depth -= sign.kind == LAB_SIGN_BRACE_END || sign.kind == LAB_SIGN_CLOSE;
            lab_sign_next(&copy, &sign);
        } while (depth > 0 && sign.kind != LAB_SIGN_END);
    }
    return relation && (sign.kind == LAB_SIGN_LETTER || sign.kind == LAB_SIGN_FUNCTION ||
                        sign.kind == LAB_SIGN_OPEN);
}

int lab_read_term(struct lab_parser *parser)
{
    int product = -2, node;

    if (is_sum(parser)) {
        parser->sign.kind = LAB_SIGN_SERIES;
        memcpy(parser->sign.text, "sum", sizeof "sum");
    }
    node = lab_read_factor(parser);
    if (node >= 0 && parser->formula->node[node].kind == LAB_NODE_DOTS)
        return node;
    while (node >= 0) {
        if (parser->sign.kind == LAB_SIGN_TIMES) {
            lab_parser_next(parser);
            node = multiply(parser, node,
                            parser->sign.kind == LAB_SIGN_MINUS ? signed_term(parser)
                                                                : lab_read_factor(parser),
                            &product);
        } else if (parser->sign.kind == LAB_SIGN_SLASH && !parser->sign.text[0]) {
            const int quotient = lab_node_wrap(parser, LAB_NODE_QUOTIENT, node);
            lab_parser_next(parser);
            const int divisor = quotient < 0 ? -1 : read_divisor(parser, node);
            lab_node_adopt(parser, quotient, divisor);
            node = divisor < 0 ? -1 : quotient;
        } else if (lab_holds_condition(parser)) {
            if (lab_read_late(parser))
                return -1;
        } else if (lab_starts_factor(parser))
            node = multiply(parser, node, lab_read_factor(parser), &product);
        else
            return node;
    }
    return -1;
}

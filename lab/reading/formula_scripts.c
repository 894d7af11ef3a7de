/* SPDX-License-Identifier: MIT */
/* Subscripts, exponents, calls, sums with bounds, limits and matrices. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lab/reading/formula_parts.h"

int lab_name_append(struct lab_parser *parser, char name[40], const char *more)
{
    if (strlen(name) + strlen(more) >= 40) {
        lab_parser_fail(parser, "a letter with a name of more than 39 characters");
        return -1;
    }
    strcat(name, more);
    return 0;
}

/* The letters of a subscript up to its end: "_1_a". */
static int append_sign(struct lab_parser *parser, char name[40], int inside)
{
    char number[32];
    switch (parser->sign.kind) {
    case LAB_SIGN_NUMBER:
        snprintf(number, sizeof number, "%.9g", parser->sign.value);
        return lab_name_append(parser, name, number);
    case LAB_SIGN_LETTER:
    case LAB_SIGN_FUNCTION:
    case LAB_SIGN_TEXT:
    case LAB_SIGN_LOWERED:
        return lab_name_append(parser, name, parser->sign.text);
    case LAB_SIGN_COMMA:
    case LAB_SIGN_DOWN:
    case LAB_SIGN_GAP:
        return lab_name_append(parser, name, "_");
    case LAB_SIGN_PLUS:
        return lab_name_append(parser, name, "+");
    case LAB_SIGN_MINUS:
        return lab_name_append(parser, name, "-");
    case LAB_SIGN_PRIME:
        return lab_name_append(parser, name, "'");
    case LAB_SIGN_TIMES:
        return lab_name_append(parser, name, "*");
    case LAB_SIGN_STOP:
        return lab_name_append(parser, name, ":");
    case LAB_SIGN_DOTS:
        return lab_name_append(parser, name, "..");
    case LAB_SIGN_MARK:
    case LAB_SIGN_BRACE:
        return 0;
    case LAB_SIGN_BRACE_END:
    case LAB_SIGN_OPEN:
    case LAB_SIGN_CLOSE:
    case LAB_SIGN_BAR:
        if (inside)
            return 0;
        break;
    default:
        break;
    }
    lab_parser_fail(parser, "a subscript that is not of letters");
    return -1;
}

/* k_{i \neq j}: the index is the first letter of the condition. */
static int read_conditional(struct lab_parser *parser, char name[40], int *condition)
{
    const struct lab_node *const node = parser->formula->node;
    struct lab_sequence sequence = {0};
    const size_t begin = parser->sign.begin;

    lab_parser_next(parser);
    if (lab_read_sequence(parser, &sequence, LAB_ENDS_BRACKET))
        return -1;
    if (parser->sign.kind != LAB_SIGN_BRACE_END || !sequence.count) {
        lab_parser_fail(parser, "a subscript is not closed");
        return -1;
    }
    lab_parser_next(parser);
    *condition = lab_read_listed(parser, &sequence, begin, "");
    if (*condition < 0)
        return -1;
    const int first = node[node[sequence.root[0]].child].kind == LAB_NODE_LIST
                          ? node[node[sequence.root[0]].child].child
                          : node[sequence.root[0]].child;
    if (node[first].kind != LAB_NODE_LETTER)
        return 0;
    return lab_name_append(parser, name, "_") ||
                   lab_name_append(parser, name, node[first].name)
               ? -1
               : 0;
}

/* A mark in a subscript is part of the name: \tilde{a} is "a~". */
static int append_mark(struct lab_parser *parser, char name[40], char mark)
{
    const char text[2] = {mark, 0};
    return mark ? lab_name_append(parser, name, text) : 0;
}

int lab_read_subscript(struct lab_parser *parser, char name[40], int *condition)
{
    char mark = 0;
    int depth = 0;

    *condition = -1;
    if (parser->sign.kind == LAB_SIGN_BRACE && lab_subscript_has_relation(parser))
        return read_conditional(parser, name, condition);
    if (lab_name_append(parser, name, "_"))
        return -1;
    do {
        const enum lab_sign_kind kind = parser->sign.kind;
        if (append_sign(parser, name, depth > 0))
            return -1;
        depth += kind == LAB_SIGN_BRACE;
        depth -= kind == LAB_SIGN_BRACE_END;
        if (kind == LAB_SIGN_MARK)
            mark = (char)parser->sign.code;
        else if (kind != LAB_SIGN_BRACE) {
            if (append_mark(parser, name, mark))
                return -1;
            mark = 0;
        }
        lab_parser_next(parser);
    } while (depth > 0 || mark);
    return 0;
}

int lab_is_transpose(const struct lab_sign *sign)
{
    return (sign->kind == LAB_SIGN_LETTER || sign->kind == LAB_SIGN_RAISED) &&
           !strcmp(sign->text, "T");
}

/* Superscripts of Unicode: T, a number or n. */
static int read_raised(struct lab_parser *parser, int base)
{
    char text[40] = "";
    int exponent;

    if (lab_is_transpose(&parser->sign)) {
        lab_parser_next(parser);
        return lab_node_wrap(parser, LAB_NODE_TRANSPOSE, base);
    }
    const size_t begin = parser->sign.begin;
    while (parser->sign.kind == LAB_SIGN_RAISED && !lab_is_transpose(&parser->sign)) {
        if (lab_name_append(parser, text, parser->sign.text))
            return -1;
        lab_parser_next(parser);
    }
    const int letter = strchr(text, 'n') != NULL;
    exponent = lab_node_make(parser, letter ? LAB_NODE_LETTER : LAB_NODE_NUMBER, begin);
    if (exponent < 0)
        return -1;
    parser->formula->node[exponent].end = parser->passed;
    if (letter)
        snprintf(parser->formula->node[exponent].name,
                 sizeof parser->formula->node[0].name, "%s", text);
    else
        parser->formula->node[exponent].value = strtod(text, NULL);
    const int power = lab_node_wrap(parser, LAB_NODE_POWER, base);
    lab_node_adopt(parser, power, exponent);
    return power;
}

static int is_named(const struct lab_parser *parser, int node, const char *name)
{
    return parser->formula->node[node].kind == LAB_NODE_LETTER &&
           !strcmp(parser->formula->node[node].name, name);
}

/*
 * A mark on a letter; the transpose of anything else, and without LaTeX also of a letter
 * that is multiplied: "A'A", "k_a' q".
 */
static int read_prime(struct lab_parser *parser, int base)
{
    while (parser->sign.kind == LAB_SIGN_PRIME)
        lab_parser_next(parser);
    if (parser->formula->node[base].kind != LAB_NODE_LETTER ||
        (!parser->lexer.latex &&
         (parser->sign.kind == LAB_SIGN_TIMES || lab_starts_factor(parser))))
        return lab_node_wrap(parser, LAB_NODE_TRANSPOSE, base);
    parser->formula->node[base].mark = '\'';
    parser->formula->node[base].end = parser->passed;
    return base;
}

/* The exponent between braces: a sign of its own, or an expression. */
static int read_special(struct lab_parser *parser, int base, int *special)
{
    struct lab_node *const node = &parser->formula->node[base];
    struct lab_lexer copy = parser->lexer;
    struct lab_sign first, second;

    *special = 0;
    copy.log = NULL;
    copy.previous = LAB_SIGN_UP;
    first = parser->sign;
    const int braces = first.kind == LAB_SIGN_BRACE;
    if (braces)
        lab_sign_next(&copy, &first);
    if (braces)
        lab_sign_next(&copy, &second);
    if (braces && second.kind != LAB_SIGN_BRACE_END &&
        !(first.kind == LAB_SIGN_PRIME && second.kind == LAB_SIGN_PRIME))
        return base;
    if (!lab_is_transpose(&first) && first.kind != LAB_SIGN_PRIME &&
        first.kind != LAB_SIGN_TIMES)
        return base;
    *special = 1;
    if (braces)
        lab_parser_next(parser);
    if (lab_is_transpose(&first)) {
        lab_parser_next(parser);
        base = lab_node_wrap(parser, LAB_NODE_TRANSPOSE, base);
    } else if (first.kind == LAB_SIGN_PRIME)
        base = read_prime(parser, base);
    else {
        lab_parser_next(parser);
        if (node->kind == LAB_NODE_LETTER && lab_name_append(parser, node->name, "*"))
            return -1;
    }
    if (braces) {
        if (parser->sign.kind != LAB_SIGN_BRACE_END)
            lab_parser_fail(parser, "an exponent is not closed");
        lab_parser_next(parser);
    }
    return base;
}

int lab_read_exponent(struct lab_parser *parser)
{
    int node;
    if (parser->sign.kind == LAB_SIGN_MINUS) {
        const size_t begin = parser->sign.begin;
        lab_parser_next(parser);
        node = lab_node_wrap(parser, LAB_NODE_MINUS, lab_read_unit(parser, 0));
        if (node >= 0)
            parser->formula->node[node].begin = begin;
        return node;
    }
    return lab_read_unit(parser, 0);
}

/* q^{(1)} is q_1; e^x is exp(x); the rest are powers. */
static int read_up(struct lab_parser *parser, int base)
{
    struct lab_node *const nodes = parser->formula->node;
    int special, indexed = 0;

    base = read_special(parser, base, &special);
    if (special || base < 0)
        return base;
    if (parser->sign.kind == LAB_SIGN_BRACE) {
        struct lab_lexer copy = parser->lexer;
        struct lab_sign signs[4];
        copy.log = NULL;
        for (int s = 0; s < 4; s++)
            lab_sign_next(&copy, &signs[s]);
        indexed = signs[0].kind == LAB_SIGN_OPEN && signs[2].kind == LAB_SIGN_CLOSE &&
                  signs[3].kind == LAB_SIGN_BRACE_END;
    }
    const int exponent = lab_read_exponent(parser);
    if (exponent < 0)
        return -1;
    if (indexed && nodes[base].kind == LAB_NODE_LETTER &&
        (nodes[exponent].kind == LAB_NODE_LETTER ||
         nodes[exponent].kind == LAB_NODE_NUMBER)) {
        char number[32];
        snprintf(number, sizeof number, "%.9g", nodes[exponent].value);
        if (lab_name_append(parser, nodes[base].name, "_") ||
            lab_name_append(
                parser, nodes[base].name,
                nodes[exponent].kind == LAB_NODE_NUMBER ? number : nodes[exponent].name))
            return -1;
        nodes[base].end = parser->passed;
        return base;
    }
    if (is_named(parser, base, "e")) {
        nodes[base].kind = LAB_NODE_CALL;
        snprintf(nodes[base].name, sizeof nodes[base].name, "exp");
        lab_node_adopt(parser, base, exponent);
        nodes[base].end = parser->passed;
        return base;
    }
    const int power = lab_node_wrap(parser, LAB_NODE_POWER, base);
    lab_node_adopt(parser, power, exponent);
    return power;
}

/* The letter under transposes and powers, or the node itself. */
static int innermost(const struct lab_parser *parser, int node)
{
    const struct lab_node *const nodes = parser->formula->node;
    while (
        (nodes[node].kind == LAB_NODE_TRANSPOSE || nodes[node].kind == LAB_NODE_POWER) &&
        nodes[nodes[node].child].kind != LAB_NODE_NUMBER)
        node = nodes[node].child;
    return node;
}

int lab_read_down(struct lab_parser *parser, int base)
{
    struct lab_node *const nodes = parser->formula->node;
    const int inner = innermost(parser, base);
    char name[40] = "";
    int condition = -1;

    if (parser->sign.kind == LAB_SIGN_LOWERED) {
        if (lab_name_append(parser, name, "_"))
            return -1;
        while (parser->sign.kind == LAB_SIGN_LOWERED) {
            if (lab_name_append(parser, name, parser->sign.text))
                return -1;
            lab_parser_next(parser);
        }
    } else {
        lab_parser_next(parser);
        if (lab_read_subscript(parser, name, &condition))
            return -1;
    }
    nodes[base].end = nodes[inner].end = parser->passed;
    if (nodes[inner].kind == LAB_NODE_LETTER || nodes[inner].kind == LAB_NODE_CALL) {
        if (lab_name_append(parser, nodes[inner].name, name))
            return -1;
        if (condition >= 0 && nodes[inner].kind == LAB_NODE_LETTER)
            nodes[inner].child = condition;
        return base;
    }
    const int entry = lab_node_wrap(parser, LAB_NODE_CALL, base);
    if (entry >= 0)
        snprintf(nodes[entry].name, sizeof nodes[entry].name, "entry%.33s", name);
    return entry;
}

/* A letter that a number follows at once has it as an index: "q1". */
static int read_index(struct lab_parser *parser, int base)
{
    struct lab_node *const node = &parser->formula->node[base];
    char number[32];
    snprintf(number, sizeof number, "_%.9g", parser->sign.value);
    if (lab_name_append(parser, node->name, number))
        return -1;
    node->end = parser->sign.end;
    lab_parser_next(parser);
    return base;
}

int lab_read_scripts(struct lab_parser *parser, int base)
{
    struct lab_node *const nodes = parser->formula->node;
    int undone = 0;

    if (nodes[base].kind == LAB_NODE_LETTER && parser->sign.kind == LAB_SIGN_NUMBER &&
        !parser->sign.apart && parser->sign.begin == nodes[base].end &&
        nodes[base].child < 0)
        base = read_index(parser, base);
    while (base >= 0) {
        switch (parser->sign.kind) {
        case LAB_SIGN_UP:
            lab_parser_next(parser);
            base = read_up(parser, base);
            break;
        case LAB_SIGN_DOWN:
        case LAB_SIGN_LOWERED:
            base = lab_read_down(parser, base);
            break;
        case LAB_SIGN_RAISED:
            base = read_raised(parser, base);
            break;
        case LAB_SIGN_PRIME:
            base = read_prime(parser, base);
            break;
        case LAB_SIGN_MARK: /* a combining character of Unicode */
            if (parser->lexer.source[parser->sign.begin] == '\\')
                return undone ? base : lab_damage_undo(parser, base);
            nodes[innermost(parser, base)].mark = (char)parser->sign.code;
            lab_parser_next(parser);
            break;
        default:
            return lab_damage_undo(parser, base);
        }
    }
    return -1;
}

/* SPDX-License-Identifier: MIT */
/* Calls, sums with bounds, and limits. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lab/reading/formula_parts.h"

/* Arguments without brackets: numbers, letters and fractions, "\ln n", "\exp -\beta". */
static int read_bare_argument(struct lab_parser *parser)
{
    const size_t begin = parser->sign.begin;
    const int negative = parser->sign.kind == LAB_SIGN_MINUS;
    int product = -1, node;

    if (negative)
        lab_parser_next(parser);
    node = lab_read_factor(parser);
    while (node >= 0 &&
           (parser->sign.kind == LAB_SIGN_NUMBER ||
            parser->sign.kind == LAB_SIGN_LETTER || parser->sign.kind == LAB_SIGN_MARK)) {
        if (product < 0)
            node = product = lab_node_wrap(parser, LAB_NODE_PRODUCT, node);
        const int factor = lab_read_factor(parser);
        lab_node_adopt(parser, product, factor);
        if (factor < 0)
            return -1;
    }
    if (negative && (node = lab_node_wrap(parser, LAB_NODE_MINUS, node)) >= 0)
        parser->formula->node[node].begin = begin;
    return node;
}

static int read_arguments(struct lab_parser *parser, int call)
{
    const struct lab_node *const nodes = parser->formula->node;
    const int braces = parser->sign.kind == LAB_SIGN_BRACE;
    const int cells = parser->cells;
    struct lab_sequence sequence = {0};

    if (!braces && parser->sign.kind != LAB_SIGN_OPEN) {
        const int bare = read_bare_argument(parser);
        lab_node_adopt(parser, call, bare);
        return bare < 0 ? -1 : 0;
    }
    if (lab_parser_enter(parser))
        return -1;
    lab_parser_next(parser);
    parser->cells = 0;
    if (lab_read_sequence(parser, &sequence, LAB_ENDS_BRACKET))
        return -1;
    parser->cells = cells;
    if (parser->sign.kind != (braces ? LAB_SIGN_BRACE_END : LAB_SIGN_CLOSE)) {
        lab_parser_fail(parser, "the arguments are not closed");
        return -1;
    }
    lab_parser_next(parser);
    parser->depth--;
    for (int c = 0; c < sequence.count; c++) {
        const int root = sequence.root[c], only = nodes[root].child;
        if (nodes[only].next >= 0)
            lab_node_adopt(parser, call, root);
        else if (nodes[only].kind == LAB_NODE_LIST && !nodes[only].name[0]) {
            for (int item = nodes[only].child, next; item >= 0; item = next) {
                next = nodes[item].next;
                lab_node_adopt(parser, call, item);
            }
        } else
            lab_node_adopt(parser, call, only);
    }
    return 0;
}

int lab_read_call(struct lab_parser *parser, const char *name, size_t begin)
{
    struct lab_node *const nodes = parser->formula->node;
    const int call = lab_node_make(parser, LAB_NODE_CALL, begin);
    int power = -1;

    if (call < 0)
        return -1;
    snprintf(nodes[call].name, sizeof nodes[call].name, "%s", name);
    while (parser->sign.kind == LAB_SIGN_DOWN || parser->sign.kind == LAB_SIGN_LOWERED ||
           parser->sign.kind == LAB_SIGN_UP) {
        if (parser->sign.kind != LAB_SIGN_UP) {
            if (lab_read_down(parser, call) < 0)
                return -1;
            continue;
        }
        lab_parser_next(parser);
        power = lab_read_exponent(parser);
        if (power < 0)
            return -1;
    }
    if (parser->sign.kind == LAB_SIGN_OPEN || lab_starts_factor(parser) ||
        (parser->sign.kind == LAB_SIGN_MINUS && power < 0 &&
         (!parser->sign.apart || parser->lexer.source[begin] == '\\'))) {
        if (read_arguments(parser, call))
            return -1;
    } else if (power >= 0 && !strcmp(name, "exp")) {
        lab_node_adopt(parser, call, power);
        power = -1;
    } else if (power < 0)
        nodes[call].kind = LAB_NODE_LETTER; /* named, not applied */
    nodes[call].end = parser->passed;
    if (power < 0)
        return call;
    const int node = lab_node_wrap(parser, LAB_NODE_POWER, call);
    lab_node_adopt(parser, node, power);
    return node;
}

/* What stands below a sum or a limit: a chain. */
static int read_below(struct lab_parser *parser)
{
    struct lab_sequence sequence = {0};
    const size_t begin = parser->sign.begin;
    int node, chain;

    if (parser->sign.kind == LAB_SIGN_BRACE) {
        lab_parser_next(parser);
        if (lab_read_sequence(parser, &sequence, LAB_ENDS_BRACKET))
            return -1;
        if (parser->sign.kind != LAB_SIGN_BRACE_END || !sequence.count) {
            lab_parser_fail(parser, "bounds are not closed");
            return -1;
        }
        lab_parser_next(parser);
        if (sequence.count == 1)
            return sequence.root[0];
        return lab_read_listed(parser, &sequence, begin, "");
    }
    node = lab_read_unit(parser, 0);
    chain = lab_node_wrap(parser, LAB_NODE_CHAIN, node);
    return chain;
}

static int empty(struct lab_parser *parser, enum lab_node_kind kind)
{
    return lab_node_make(parser, kind, parser->sign.begin);
}

/* Indices in subscripts of Unicode. */
static int read_lowered_index(struct lab_parser *parser)
{
    const int letter = empty(parser, LAB_NODE_LETTER);
    const int chain = letter < 0 ? -1 : lab_node_wrap(parser, LAB_NODE_CHAIN, letter);
    while (chain >= 0 && parser->sign.kind == LAB_SIGN_LOWERED) {
        if (lab_name_append(parser, parser->formula->node[letter].name,
                            parser->sign.text))
            return -1;
        lab_parser_next(parser);
    }
    return chain;
}

static int read_body(struct lab_parser *parser)
{
    return lab_starts_factor(parser) ? lab_read_term(parser)
                                     : empty(parser, LAB_NODE_TEXT);
}

int lab_read_series(struct lab_parser *parser)
{
    const int node = empty(parser, LAB_NODE_SERIES);
    int below = -1, above = -1, body;

    if (node < 0)
        return -1;
    snprintf(parser->formula->node[node].name, sizeof parser->formula->node[0].name, "%s",
             parser->sign.text);
    lab_parser_next(parser);
    for (;;) {
        if (parser->sign.kind == LAB_SIGN_DOWN) {
            lab_parser_next(parser);
            if ((below = read_below(parser)) < 0)
                return -1;
        } else if (parser->sign.kind == LAB_SIGN_LOWERED) {
            if ((below = read_lowered_index(parser)) < 0)
                return -1;
        } else if (parser->sign.kind == LAB_SIGN_UP) {
            lab_parser_next(parser);
            if ((above = lab_read_exponent(parser)) < 0)
                return -1;
        } else
            break;
    }
    body = read_body(parser);
    if (body < 0)
        return -1;
    lab_node_adopt(parser, node, body);
    if (below < 0 && above >= 0)
        below = empty(parser, LAB_NODE_CHAIN);
    lab_node_adopt(parser, node, below);
    lab_node_adopt(parser, node, above);
    parser->formula->node[node].end = parser->passed;
    return *parser->formula->why ? -1 : node;
}

int lab_read_limit(struct lab_parser *parser)
{
    const int node = empty(parser, LAB_NODE_LIMIT);
    int below, body;

    if (node < 0)
        return -1;
    lab_parser_next(parser);
    if (parser->sign.kind == LAB_SIGN_DOWN) {
        lab_parser_next(parser);
        below = read_below(parser);
    } else
        below = empty(parser, LAB_NODE_CHAIN);
    body = below < 0 ? -1 : read_body(parser);
    lab_node_adopt(parser, node, body);
    lab_node_adopt(parser, node, below);
    return body < 0 ? -1 : node;
}

/* SPDX-License-Identifier: MIT */
/* Nodes of a formula, and the signs that are read one by one. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lab/reading/formula_parts.h"

void lab_parser_fail(struct lab_parser *parser, const char *why)
{
    struct lab_formula *const formula = parser->formula;
    if (*formula->why)
        return;
    formula->failed = parser->sign.begin;
    if (parser->sign.kind == LAB_SIGN_END && parser->sign.code)
        snprintf(formula->why, sizeof formula->why, "unknown: %s", parser->sign.text);
    else
        snprintf(formula->why, sizeof formula->why, "%s", why);
}

int lab_parser_enter(struct lab_parser *parser)
{
    enum { DEEPEST = 40 };
    if (++parser->depth <= DEEPEST)
        return 0;
    lab_parser_fail(parser, "nested too deeply");
    return -1;
}

int lab_node_make(struct lab_parser *parser, enum lab_node_kind kind, size_t begin)
{
    struct lab_formula *const formula = parser->formula;
    if (*formula->why)
        return -1;
    if (formula->nodes == LAB_FORMULA_NODES) {
        lab_parser_fail(parser, "longer than 512 parts");
        return -1;
    }
    formula->node[formula->nodes] = (struct lab_node){
        .kind = kind, .begin = begin, .end = begin, .child = -1, .next = -1};
    return formula->nodes++;
}

void lab_node_adopt(struct lab_parser *parser, int parent, int child)
{
    struct lab_node *const node = parser->formula->node;
    if (parent < 0 || child < 0)
        return;
    int *place = &node[parent].child;
    while (*place >= 0)
        place = &node[*place].next;
    *place = child;
    node[child].next = -1;
    if (node[parent].end < node[child].end)
        node[parent].end = node[child].end;
}

int lab_node_children(const struct lab_parser *parser, int node)
{
    int count = 0;
    for (int c = parser->formula->node[node].child; c >= 0;
         c = parser->formula->node[c].next)
        count++;
    return count;
}

/* A separator of columns outside a matrix: of the look only beside a sign of its own. */
static void drop_cell(struct lab_parser *parser, enum lab_sign_kind before)
{
    struct lab_sign next;
    lab_parser_peek(parser, &next);
    if (before == LAB_SIGN_RELATION || before == LAB_SIGN_ROW || before == LAB_SIGN_END ||
        next.kind == LAB_SIGN_RELATION || next.kind == LAB_SIGN_ARROW ||
        next.kind == LAB_SIGN_PLUS || next.kind == LAB_SIGN_MINUS ||
        next.kind == LAB_SIGN_TIMES)
        parser->sign.kind = LAB_SIGN_BLANK;
    else
        parser->sign.kind = LAB_SIGN_GAP;
}

void lab_parser_next(struct lab_parser *parser)
{
    const enum lab_sign_kind before = parser->sign.kind;
    struct lab_sign next;

    if (parser->sign.kind == LAB_SIGN_END && parser->sign.begin)
        return;
    parser->passed = parser->sign.end;
    for (;;) {
        lab_sign_next(&parser->lexer, &parser->sign);
        if (parser->sign.kind == LAB_SIGN_CELL && !parser->cells)
            drop_cell(parser, before);
        if (parser->sign.kind == LAB_SIGN_BRACE && before != LAB_SIGN_DOWN &&
            before != LAB_SIGN_UP && before != LAB_SIGN_LABEL) {
            lab_parser_peek(parser, &next);
            if (next.kind == LAB_SIGN_BRACE_END) { /* an empty group */
                lab_sign_next(&parser->lexer, &parser->sign);
                continue;
            }
        }
        if (parser->sign.kind != LAB_SIGN_BLANK)
            break;
    }
    if (parser->ahead < 0)
        lab_parser_fail(parser, "too involved");
}

void lab_parser_peek(const struct lab_parser *parser, struct lab_sign *sign)
{
    struct lab_lexer copy = parser->lexer;
    copy.log = NULL;
    lab_sign_next(&copy, sign);
}

int lab_node_last(const struct lab_parser *parser, int parent)
{
    const struct lab_node *const node = parser->formula->node;
    int last = node[parent].child;
    while (last >= 0 && node[last].next >= 0)
        last = node[last].next;
    return last;
}

int lab_node_wrap(struct lab_parser *parser, enum lab_node_kind kind, int child)
{
    const int node =
        child < 0 ? -1 : lab_node_make(parser, kind, parser->formula->node[child].begin);
    lab_node_adopt(parser, node, child);
    if (node >= 0)
        parser->formula->node[node].end = parser->passed;
    return node;
}

/* SPDX-License-Identifier: MIT */
/* Matrices and distinctions of cases. */
#include <stdio.h>
#include <string.h>

#include "lab/reading/formula_parts.h"

static int ends_cell(const struct lab_sign *sign)
{
    return sign->kind == LAB_SIGN_CELL || sign->kind == LAB_SIGN_ROW ||
           sign->kind == LAB_SIGN_FINISH || sign->kind == LAB_SIGN_END;
}

/* A cell that is empty or a drawn line. */
static int is_drawing(const struct lab_parser *parser)
{
    struct lab_sign next;
    if (ends_cell(&parser->sign))
        return 1;
    if (parser->sign.kind != LAB_SIGN_BAR && parser->sign.kind != LAB_SIGN_MINUS &&
        parser->sign.kind != LAB_SIGN_DOUBLE_BAR)
        return 0;
    lab_parser_peek(parser, &next);
    return ends_cell(&next);
}

static int read_drawing(struct lab_parser *parser)
{
    const int node = lab_node_make(parser, LAB_NODE_DOTS, parser->sign.begin);
    if (!ends_cell(&parser->sign))
        lab_parser_next(parser);
    return node;
}

static int unwrapped(const struct lab_parser *parser, int root)
{
    const struct lab_node *const node = parser->formula->node;
    return node[node[root].child].next < 0 ? node[root].child : root;
}

/* Adds the cell, of cases also its conditions, to a row. */
static int read_cell(struct lab_parser *parser, int row, int cases)
{
    struct lab_sequence sequence = {0};
    const size_t begin = parser->sign.begin;
    int node;

    if (is_drawing(parser)) {
        if (cases && ends_cell(&parser->sign))
            return 0;
        node = read_drawing(parser);
        lab_node_adopt(parser, row, node);
        return node < 0 ? -1 : 0;
    }
    if (lab_read_sequence(parser, &sequence, LAB_ENDS_CELL))
        return -1;
    if (cases) {
        for (int c = 0; c < sequence.count; c++)
            lab_node_adopt(parser, row, unwrapped(parser, sequence.root[c]));
        return 0;
    }
    if (!sequence.count)
        return 0;
    node = lab_read_listed(parser, &sequence, begin, "");
    lab_node_adopt(parser, row, node);
    return node < 0 ? -1 : 0;
}

/* More than one condition of a value: a list of them. */
static int gather_conditions(struct lab_parser *parser, int row)
{
    struct lab_node *const node = parser->formula->node;
    if (lab_node_children(parser, row) < 3)
        return 0;
    const int value = node[row].child, first = node[value].next;
    const int list = lab_node_make(parser, LAB_NODE_LIST, node[first].begin);
    if (list < 0)
        return -1;
    node[list].child = first;
    node[list].end = node[row].end;
    node[value].next = list;
    return 0;
}

static int read_row(struct lab_parser *parser, int parent, int cases)
{
    const int row = lab_node_make(parser, LAB_NODE_LIST, parser->sign.begin);
    if (row < 0)
        return -1;
    for (;;) {
        if (read_cell(parser, row, cases))
            return -1;
        if (parser->sign.kind != LAB_SIGN_CELL)
            break;
        lab_parser_next(parser);
    }
    if (cases && gather_conditions(parser, row))
        return -1;
    lab_node_adopt(parser, parent, row);
    return 0;
}

int lab_read_environment(struct lab_parser *parser)
{
    const int cases = parser->sign.code == LAB_NODE_CASES;
    const int node = lab_node_make(parser, cases ? LAB_NODE_CASES : LAB_NODE_MATRIX,
                                   parser->sign.begin);
    const int bars = parser->bars;

    if (node < 0)
        return -1;
    parser->cells++;
    parser->bars = 0;
    lab_parser_next(parser);
    for (;;) {
        while (parser->sign.kind == LAB_SIGN_ROW)
            lab_parser_next(parser);
        if (parser->sign.kind == LAB_SIGN_FINISH)
            break;
        if (parser->sign.kind == LAB_SIGN_END || read_row(parser, node, cases)) {
            lab_parser_fail(parser, "\\end{..} is missing");
            return -1;
        }
        if (parser->sign.kind != LAB_SIGN_ROW && parser->sign.kind != LAB_SIGN_FINISH) {
            lab_parser_fail(parser, "\\end{..} is missing");
            return -1;
        }
    }
    parser->cells--;
    parser->bars = bars;
    lab_parser_next(parser);
    parser->formula->node[node].end = parser->passed;
    return node;
}

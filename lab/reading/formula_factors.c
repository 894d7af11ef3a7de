/* SPDX-License-Identifier: MIT */
/* Factors of a formula: letters, brackets, fractions. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lab/reading/formula_parts.h"

static int read_number(struct lab_parser *parser)
{
    const int node = lab_node_make(parser, LAB_NODE_NUMBER, parser->sign.begin);
    if (node < 0)
        return -1;
    parser->formula->node[node].value = parser->sign.value;
    parser->formula->node[node].end = parser->sign.end;
    lab_parser_next(parser);
    return node;
}

static int read_letter(struct lab_parser *parser)
{
    const int node = lab_node_make(parser, LAB_NODE_LETTER, parser->sign.begin);
    if (node < 0)
        return -1;
    snprintf(parser->formula->node[node].name, sizeof parser->formula->node[0].name, "%s",
             parser->sign.text);
    parser->formula->node[node].end = parser->sign.end;
    lab_parser_next(parser);
    return node;
}

static int read_dots(struct lab_parser *parser)
{
    const int node = lab_node_make(parser, LAB_NODE_DOTS, parser->sign.begin);
    if (node < 0)
        return -1;
    parser->formula->node[node].end = parser->sign.end;
    while (parser->sign.kind == LAB_SIGN_DOTS)
        lab_parser_next(parser);
    return node;
}

/* |x| and the norm; the sign that closes them. */
static int read_bars(struct lab_parser *parser)
{
    const enum lab_sign_kind kind = parser->sign.kind;
    const int node = lab_node_make(parser, LAB_NODE_CALL, parser->sign.begin);
    if (node < 0)
        return -1;
    snprintf(parser->formula->node[node].name, sizeof parser->formula->node[0].name, "%s",
             kind == LAB_SIGN_BAR ? "abs" : "norm");
    lab_parser_next(parser);
    parser->bars++;
    const int inner = lab_read_expression(parser);
    parser->bars--;
    if (inner < 0)
        return -1;
    if (parser->sign.kind != kind) {
        lab_parser_fail(parser, "a bar is not closed");
        return -1;
    }
    lab_node_adopt(parser, node, inner);
    parser->formula->node[node].end = parser->sign.end;
    lab_parser_next(parser);
    if (kind == LAB_SIGN_DOUBLE_BAR && parser->sign.kind == LAB_SIGN_DOWN) {
        char which[40] = "";
        int condition;
        lab_parser_next(parser);
        if (lab_read_subscript(parser, which, &condition))
            return -1;
        if (strcmp(which, "_2") != 0)
            snprintf(parser->formula->node[node].name,
                     sizeof parser->formula->node[0].name, "norm%.30s", which);
    }
    return node;
}

/* <a, b> is a^T b. */
static int inner_product(struct lab_parser *parser, int a, int b, size_t begin)
{
    const int turned = lab_node_wrap(parser, LAB_NODE_TRANSPOSE, a);
    const int product = lab_node_wrap(parser, LAB_NODE_PRODUCT, turned);
    lab_node_adopt(parser, product, b);
    if (product >= 0) {
        parser->formula->node[product].begin = begin;
        parser->formula->node[product].end = parser->passed;
    }
    return product;
}

static int read_angles(struct lab_parser *parser)
{
    const size_t begin = parser->sign.begin;
    const int ascii = parser->sign.kind == LAB_SIGN_RELATION;
    int a, b;

    lab_parser_next(parser);
    a = lab_read_expression(parser);
    if (a < 0)
        return -1;
    if (parser->sign.kind != LAB_SIGN_COMMA && parser->sign.kind != LAB_SIGN_BAR) {
        lab_parser_fail(parser, "an inner product without a comma");
        return -1;
    }
    lab_parser_next(parser);
    b = lab_read_expression(parser);
    if (b < 0)
        return -1;
    if (ascii ? parser->sign.code != LAB_REL_MORE : parser->sign.kind != LAB_SIGN_CLOSE) {
        lab_parser_fail(parser, "an inner product is not closed");
        return -1;
    }
    lab_parser_next(parser);
    return inner_product(parser, a, b, begin);
}

int lab_read_listed(struct lab_parser *parser, const struct lab_sequence *sequence,
                    size_t begin, const char *name)
{
    struct lab_node *const node = parser->formula->node;
    if (sequence->count == 1) {
        const int root = sequence->root[0], only = node[root].child;
        if (node[only].next < 0) {
            if (node[only].kind == LAB_NODE_LIST && !node[only].name[0])
                snprintf(node[only].name, sizeof node[only].name, "%s", name);
            if (*name != '{' || node[only].kind == LAB_NODE_LIST)
                return only;
        } else if (!*name)
            return root;
    }
    const int list = lab_node_make(parser, LAB_NODE_LIST, begin);
    if (list < 0)
        return -1;
    snprintf(node[list].name, sizeof node[list].name, "%s", name);
    for (int c = 0; c < sequence->count; c++) {
        const int root = sequence->root[c];
        lab_node_adopt(parser, list,
                       node[node[root].child].next < 0 ? node[root].child : root);
    }
    return list;
}

int lab_read_brackets(struct lab_parser *parser)
{
    const size_t begin = parser->sign.begin;
    const int braces = parser->sign.kind == LAB_SIGN_BRACE;
    const int cells = parser->cells;
    char name[8] = "";
    struct lab_sequence sequence = {0};

    snprintf(name, sizeof name, "%c", parser->sign.text[0]);
    lab_parser_next(parser);
    if (braces)
        parser->cells = 0;
    if (lab_read_sequence(parser, &sequence, LAB_ENDS_BRACKET))
        return -1;
    parser->cells = cells;
    if (parser->sign.kind != (braces ? LAB_SIGN_BRACE_END : LAB_SIGN_CLOSE)) {
        lab_parser_fail(parser,
                        braces ? "a brace is not closed" : "a bracket is not closed");
        return -1;
    }
    if (!braces)
        name[1] = parser->sign.text[0];
    if (!sequence.count) {
        lab_parser_fail(parser, "brackets with nothing inside");
        return -1;
    }
    const int node = lab_read_listed(parser, &sequence, begin, braces ? "" : name);
    if (node >= 0 && parser->formula->node[node].kind == LAB_NODE_LIST) {
        parser->formula->node[node].begin = begin;
        parser->formula->node[node].end = parser->sign.end;
    }
    lab_parser_next(parser);
    return node;
}

/* Whether the letter before an opening bracket is a function's name. */
static int is_called(const struct lab_parser *parser, const char *name)
{
    struct lab_survey survey;
    if (parser->sign.kind != LAB_SIGN_OPEN || !strchr("([", parser->sign.text[0]))
        return 0;
    if (!strcmp(name, "sigma") || !strcmp(name, "f"))
        return 1;
    if (name[1] || !strchr("([", parser->sign.text[0]))
        return 0;
    lab_survey_brackets(parser, &survey);
    switch (*name) {
    case 'E':
        return 1;
    case 'P':
        return survey.relation || survey.comma || survey.bar;
    case 'N':
        return survey.comma;
    default:
        return strchr("QKVSAFHZOYTfghzy", *name) && survey.input && !survey.weights &&
               !survey.relation;
    }
}

static int read_root(struct lab_parser *parser)
{
    const size_t begin = parser->sign.begin;
    const int node = lab_node_make(parser, LAB_NODE_CALL, begin);
    int under;

    if (node < 0)
        return -1;
    snprintf(parser->formula->node[node].name, sizeof parser->formula->node[0].name,
             "sqrt");
    lab_parser_next(parser);
    if (parser->sign.kind == LAB_SIGN_BRACE)
        under = lab_read_unit(parser, 0);
    else if (parser->sign.kind == LAB_SIGN_OPEN)
        under = lab_read_brackets(parser);
    else
        under = lab_read_factor(parser);
    lab_node_adopt(parser, node, under);
    return under < 0 ? -1 : node;
}

static int read_fraction(struct lab_parser *parser)
{
    const int node = lab_node_make(parser, LAB_NODE_QUOTIENT, parser->sign.begin);
    int above, below = -1;

    if (node < 0)
        return -1;
    parser->lexer.single = 1;
    lab_parser_next(parser);
    above = lab_read_unit(parser, 1);
    lab_node_adopt(parser, node, above);
    if (above >= 0)
        below = lab_read_unit(parser, 0);
    lab_node_adopt(parser, node, below);
    return below < 0 ? -1 : node;
}

static int read_marked(struct lab_parser *parser)
{
    struct lab_node *const nodes = parser->formula->node;
    const size_t begin = parser->sign.begin;
    const char mark = (char)parser->sign.code;

    parser->lexer.single = 1;
    lab_parser_next(parser);
    const int node = lab_read_unit(parser, 0);
    if (node >= 0 && nodes[node].kind == LAB_NODE_LETTER) {
        nodes[node].mark = mark;
        nodes[node].begin = begin;
    }
    return node;
}

/* Braces with a label, which is not part of the formula. */
static int read_labelled(struct lab_parser *parser)
{
    struct lab_formula *const formula = parser->formula;
    int node;

    lab_parser_next(parser);
    node = lab_read_unit(parser, 0);
    if (node < 0 ||
        (parser->sign.kind != LAB_SIGN_DOWN && parser->sign.kind != LAB_SIGN_UP))
        return node;
    lab_parser_next(parser);
    if (parser->sign.kind == LAB_SIGN_LETTER &&
        lab_damage_slipped(parser, parser->sign.text)) {
        const int product = lab_node_wrap(parser, LAB_NODE_PRODUCT, node);
        lab_formula_restored(formula, parser->sign.begin, parser->sign.end,
                             "_c below a brace", "c");
        lab_node_adopt(parser, product, read_letter(parser));
        return product;
    }
    if (parser->sign.kind == LAB_SIGN_BRACE) {
        struct lab_sequence label = {0};
        lab_parser_next(parser);
        if (lab_read_sequence(parser, &label, LAB_ENDS_BRACKET))
            return -1;
    }
    lab_parser_next(parser);
    return node;
}

int lab_read_unit(struct lab_parser *parser, int single_after)
{
    const size_t begin = parser->sign.begin;
    int node;

    switch (parser->sign.kind) {
    case LAB_SIGN_BRACE: {
        struct lab_sequence sequence = {0};
        const int cells = parser->cells;
        if (lab_parser_enter(parser))
            return -1;
        parser->cells = 0;
        lab_parser_next(parser);
        if (lab_read_sequence(parser, &sequence, LAB_ENDS_BRACKET))
            return -1;
        parser->cells = cells;
        if (parser->sign.kind != LAB_SIGN_BRACE_END || !sequence.count) {
            lab_parser_fail(parser, sequence.count ? "a brace is not closed"
                                                   : "braces with nothing inside");
            return -1;
        }
        node = lab_read_listed(parser, &sequence, begin, "");
        parser->lexer.single = single_after;
        lab_parser_next(parser);
        parser->depth--;
        return node;
    }
    case LAB_SIGN_NUMBER:
        parser->lexer.single = single_after;
        return read_number(parser);
    case LAB_SIGN_LETTER:
        parser->lexer.single = single_after;
        return read_letter(parser);
    default:
        return lab_read_factor(parser);
    }
}

static int read_primary(struct lab_parser *parser)
{
    const size_t begin = parser->sign.begin;
    char name[40];

    switch (parser->sign.kind) {
    case LAB_SIGN_NUMBER:
        return read_number(parser);
    case LAB_SIGN_LETTER:
        return read_letter(parser);
    case LAB_SIGN_FUNCTION:
        snprintf(name, sizeof name, "%s", parser->sign.text);
        lab_parser_next(parser);
        return lab_read_call(parser, name, begin);
    case LAB_SIGN_DOTS:
        return read_dots(parser);
    case LAB_SIGN_BRACE:
        return lab_read_unit(parser, 0);
    case LAB_SIGN_OPEN: {
        struct lab_sign next;
        if (parser->sign.text[0] == '<')
            return read_angles(parser);
        lab_parser_peek(parser, &next);
        if (strchr("{.", parser->sign.text[0]) && next.kind == LAB_SIGN_BEGIN) {
            lab_parser_next(parser);
            parser->sign.code = LAB_NODE_CASES;
            const int node = lab_read_environment(parser);
            if (node >= 0 && parser->sign.kind == LAB_SIGN_CLOSE)
                lab_parser_next(parser);
            return node;
        }
        return lab_read_brackets(parser);
    }
    case LAB_SIGN_BAR:
    case LAB_SIGN_DOUBLE_BAR:
        return read_bars(parser);
    case LAB_SIGN_SERIES:
        return lab_read_series(parser);
    case LAB_SIGN_LIMIT:
        return lab_read_limit(parser);
    case LAB_SIGN_FRACTION:
        return read_fraction(parser);
    case LAB_SIGN_ROOT:
        return read_root(parser);
    case LAB_SIGN_MARK:
        return read_marked(parser);
    case LAB_SIGN_LABEL:
        return read_labelled(parser);
    case LAB_SIGN_BEGIN:
        return lab_read_environment(parser);
    case LAB_SIGN_RELATION:
        if (parser->sign.code == LAB_REL_LESS)
            return read_angles(parser);
        break;
    default:
        break;
    }
    lab_parser_fail(parser, "a letter or a number is missing");
    return -1;
}

int lab_read_factor(struct lab_parser *parser)
{
    const struct lab_node *const nodes = parser->formula->node;
    const size_t begin = parser->sign.begin;
    int node;

    if (lab_parser_enter(parser))
        return -1;
    node = read_primary(parser);
    if (node >= 0 && nodes[node].kind == LAB_NODE_LETTER &&
        is_called(parser, nodes[node].name)) {
        char name[40];
        snprintf(name, sizeof name, "%s", nodes[node].name);
        node = lab_read_call(parser, name, begin);
    }
    if (node >= 0)
        node = lab_read_scripts(parser, node);
    parser->depth--;
    return node;
}

/* SPDX-License-Identifier: MIT */
/* Chains of a formula: relations, separators, and the words between them. */
#include <stdio.h>
#include <string.h>

#include "lab/reading/formula_parts.h"

int lab_ends_piece(const struct lab_parser *parser)
{
    switch (parser->sign.kind) {
    case LAB_SIGN_END:
    case LAB_SIGN_CLOSE:
    case LAB_SIGN_BRACE_END:
    case LAB_SIGN_CELL:
    case LAB_SIGN_ROW:
    case LAB_SIGN_COMMA:
    case LAB_SIGN_STOP:
    case LAB_SIGN_GAP:
    case LAB_SIGN_LINK:
    case LAB_SIGN_FINISH:
    case LAB_SIGN_RELATION:
    case LAB_SIGN_ARROW:
        return 1;
    default:
        return 0;
    }
}

static int read_words(struct lab_parser *parser)
{
    const int node = lab_node_make(parser, LAB_NODE_TEXT, parser->sign.begin);
    while (node >= 0 && parser->sign.kind == LAB_SIGN_TEXT) {
        struct lab_node *const text = &parser->formula->node[node];
        const size_t length = strlen(text->name);
        snprintf(text->name + length, sizeof text->name - length, "%s%s",
                 length ? " " : "", parser->sign.text);
        lab_parser_next(parser);
        text->end = parser->passed;
    }
    return node;
}

static int empty_operand(struct lab_parser *parser)
{
    return lab_node_make(parser, LAB_NODE_TEXT, parser->sign.begin);
}

static int is_dots(const struct lab_parser *parser)
{
    return parser->sign.kind == LAB_SIGN_DOTS;
}

/* "1 \dots n" is a list too. */
static int read_operand(struct lab_parser *parser)
{
    const size_t begin = parser->sign.begin;
    int node, list;

    if (parser->sign.kind == LAB_SIGN_TEXT)
        return read_words(parser);
    if (lab_ends_piece(parser) && !lab_starts_inner_product(parser))
        return empty_operand(parser);
    node = lab_read_expression(parser);
    if (node < 0 || !is_dots(parser))
        return node;
    list = lab_node_make(parser, LAB_NODE_LIST, begin);
    lab_node_adopt(parser, list, node);
    while (node >= 0 && (is_dots(parser) || lab_starts_factor(parser))) {
        node = lab_read_expression(parser);
        lab_node_adopt(parser, list, node);
    }
    return node < 0 ? -1 : list;
}

static int has_relation(const struct lab_parser *parser, int root)
{
    const struct lab_node *const node = parser->formula->node;
    return node[root].child >= 0 && node[node[root].child].after;
}

/* What stands below or above a relation; a condition there holds for the chain. */
static int read_arrow_label(struct lab_parser *parser, int labelled)
{
    while ((labelled &&
            (parser->sign.kind == LAB_SIGN_BRACE ||
             (parser->sign.kind == LAB_SIGN_OPEN && parser->sign.text[0] == '['))) ||
           parser->sign.kind == LAB_SIGN_DOWN || parser->sign.kind == LAB_SIGN_UP) {
        if (parser->sign.kind == LAB_SIGN_DOWN || parser->sign.kind == LAB_SIGN_UP) {
            lab_parser_next(parser);
            if (parser->sign.kind != LAB_SIGN_BRACE) {
                lab_parser_next(parser);
                continue;
            }
        }
        if (lab_read_late(parser))
            return -1;
        if (*parser->formula->why)
            return -1;
    }
    return 0;
}

/*
 * Goes on with `root`: relations and operands.  An arrow is a relation unless the chain
 * has one and what follows has one of its own: then it means "therefore".
 */
static int read_relations(struct lab_parser *parser, int root)
{
    struct lab_node *const node = parser->formula->node;
    for (;;) {
        const int arrow = parser->sign.kind == LAB_SIGN_ARROW;
        const int last = lab_node_last(parser, root);
        int right;
        if (parser->sign.kind != LAB_SIGN_RELATION && !arrow)
            return root;
        if (arrow && (lab_text_follows(parser) ||
                      (has_relation(parser, root) && lab_relation_follows(parser))))
            return root;
        node[last].after = (unsigned char)(arrow ? LAB_REL_TENDS : parser->sign.code);
        const int labelled = arrow && parser->sign.code;
        lab_parser_next(parser);
        if (read_arrow_label(parser, labelled))
            return -1;
        right = read_operand(parser);
        if (right < 0)
            return -1;
        lab_node_adopt(parser, root, right);
    }
}

static int read_chain(struct lab_parser *parser)
{
    const size_t begin = parser->sign.begin;
    const int left = read_operand(parser);
    const int root = left < 0 ? -1 : lab_node_make(parser, LAB_NODE_CHAIN, begin);

    if (root < 0)
        return -1;
    lab_node_adopt(parser, root, left);
    if (parser->formula->node[left].kind == LAB_NODE_TEXT &&
        parser->formula->node[left].name[0])
        return root;
    return read_relations(parser, root);
}

static int add_chain(struct lab_parser *parser, struct lab_sequence *sequence, int root,
                     enum lab_connective before)
{
    if (root < 0)
        return -1;
    if (sequence->count == LAB_FORMULA_CHAINS) {
        lab_parser_fail(parser, "more than 24 formulas in one");
        return -1;
    }
    sequence->root[sequence->count] = root;
    sequence->before[sequence->count++] = before;
    return 0;
}

static int add_late(struct lab_parser *parser, struct lab_sequence *sequence)
{
    for (int l = 0; l < sequence->late; l++)
        if (add_chain(parser, sequence, sequence->late_root[l], sequence->late_before[l]))
            return -1;
    sequence->late = 0;
    return 0;
}

/* Puts an operand into the list that is the last (or first) child of `root`. */
static int extend_list(struct lab_parser *parser, int root, int operand, const char *name)
{
    struct lab_node *const node = parser->formula->node;
    const int last = lab_node_last(parser, root);
    int *place = &node[root].child;

    if (node[last].kind == LAB_NODE_LIST && !strcmp(node[last].name, name)) {
        lab_node_adopt(parser, last, operand);
        return 0;
    }
    const int list = lab_node_make(parser, LAB_NODE_LIST, node[last].begin);
    if (list < 0)
        return -1;
    snprintf(node[list].name, sizeof node[list].name, "%s", name);
    while (*place != last)
        place = &node[*place].next;
    *place = list;
    lab_node_adopt(parser, list, last);
    lab_node_adopt(parser, list, operand);
    if (node[root].end < node[list].end)
        node[root].end = node[list].end;
    return 0;
}

/*
 * After a comma, "or" or "and": a piece without a relation belongs to the list before
 * it, "i = 1, ..., n"; operands without a relation to the one after, "x, y = 1".
 */
static int join(struct lab_parser *parser, struct lab_sequence *sequence, int root,
                enum lab_connective link)
{
    struct lab_node *const node = parser->formula->node;
    const int before = sequence->count ? sequence->root[sequence->count - 1] : -1;
    const char *const name = link == LAB_OR ? "or" : "";
    const int first = node[root].child;

    if (before < 0 || node[first].kind == LAB_NODE_TEXT ||
        node[node[before].child].kind == LAB_NODE_TEXT)
        return 0;
    if (!has_relation(parser, root)) {
        node[root].child = -1;
        return extend_list(parser, before, first, name) ? -1 : 1;
    }
    if (has_relation(parser, before) || node[node[before].child].name[0] == '{')
        return 0;
    /* The first operand moves into the list before, and the relations follow it. */
    const unsigned char after = node[first].after;
    const int rest = node[first].next;
    node[first].after = 0;
    node[first].next = -1;
    if (extend_list(parser, before, first, name))
        return -1;
    node[node[before].child].after = after;
    node[node[before].child].next = rest;
    node[before].end = node[root].end;
    return 1;
}

/* A bracket that holds relations, "(i != j)": its chains, as conditions. */
static int read_condition(struct lab_parser *parser, struct lab_sequence *sequence,
                          enum lab_connective before)
{
    const enum lab_sign_kind close =
        parser->sign.kind == LAB_SIGN_BRACE ? LAB_SIGN_BRACE_END : LAB_SIGN_CLOSE;
    struct lab_sequence inner = {0};

    if (lab_parser_enter(parser))
        return -1;
    lab_parser_next(parser);
    if (lab_read_sequence(parser, &inner, LAB_ENDS_BRACKET))
        return -1;
    if (parser->sign.kind != close) {
        lab_parser_fail(parser, "a bracket is not closed");
        return -1;
    }
    lab_parser_next(parser);
    parser->depth--;
    for (int c = 0; c < inner.count; c++)
        if (add_chain(parser, sequence, inner.root[c],
                      inner.before[c] == LAB_AND ? before : inner.before[c]))
            return -1;
    return 0;
}

int lab_read_late(struct lab_parser *parser)
{
    struct lab_sequence *const sequence = parser->sequence;
    struct lab_sequence inner = {0};

    if (read_condition(parser, &inner, LAB_WHERE))
        return -1;
    for (int c = 0; c < inner.count; c++) {
        if (sequence->late == LAB_FORMULA_CHAINS) {
            lab_parser_fail(parser, "more than 24 formulas in one");
            return -1;
        }
        sequence->late_root[sequence->late] = inner.root[c];
        sequence->late_before[sequence->late++] = inner.before[c];
    }
    return 0;
}

/* Separators before a piece. */
struct gap {
    int any, hard, row;
    int wide;   /* \quad alone */
    int except; /* what follows is denied */
    enum lab_connective link;
};

static void read_gap(struct lab_parser *parser, struct gap *gap, int systems,
                     enum lab_sequence_end ends)
{
    for (;; lab_parser_next(parser)) {
        switch (parser->sign.kind) {
        case LAB_SIGN_COMMA:
            break;
        case LAB_SIGN_LINK:
            if (parser->sign.code != LAB_AND)
                gap->link = (enum lab_connective)parser->sign.code;
            gap->except |= parser->sign.text[0] != 0;
            gap->hard |= parser->sign.code != LAB_AND && parser->sign.code != LAB_OR;
            break;
        case LAB_SIGN_ARROW:
            if (!lab_relation_follows(parser) && !lab_text_follows(parser))
                return;
            gap->link = LAB_THEREFORE;
            gap->hard = 1;
            break;
        case LAB_SIGN_FINISH:
            if (parser->systems <= systems)
                return;
            parser->systems--;
            gap->hard = 1;
            break;
        case LAB_SIGN_CLOSE:
            if (ends != LAB_ENDS_ALL || strcmp(parser->sign.text, ".") != 0)
                return;
            break;
        case LAB_SIGN_ROW:
            if (ends == LAB_ENDS_CELL && parser->systems <= systems)
                return;
            gap->row = gap->hard = 1;
            break;
        case LAB_SIGN_GAP:
            gap->wide = !gap->any;
            gap->hard = 1;
            break;
        case LAB_SIGN_STOP:
            gap->hard = 1;
            break;
        default:
            return;
        }
        gap->any = 1;
    }
}

static int at_end(const struct lab_parser *parser, enum lab_sequence_end ends)
{
    switch (parser->sign.kind) {
    case LAB_SIGN_END:
        return 1;
    case LAB_SIGN_CLOSE:
    case LAB_SIGN_BRACE_END:
    case LAB_SIGN_FINISH:
        return ends != LAB_ENDS_ALL;
    case LAB_SIGN_CELL:
    case LAB_SIGN_ROW:
        return ends == LAB_ENDS_CELL || parser->cells;
    default:
        return 0;
    }
}

/* A row that begins with a relation or a sign goes on with the chain before it. */
static int continue_row(struct lab_parser *parser, int root)
{
    struct lab_node *const node = parser->formula->node;
    const int last = lab_node_last(parser, root);

    if (parser->sign.kind == LAB_SIGN_RELATION)
        return read_relations(parser, root);
    const int more = lab_read_expression(parser);
    if (more < 0)
        return -1;
    const int sum = lab_node_make(parser, LAB_NODE_SUM, node[last].begin);
    if (sum < 0)
        return -1;
    int *place = &node[root].child;
    while (*place != last)
        place = &node[*place].next;
    *place = sum;
    lab_node_adopt(parser, sum, last);
    lab_node_adopt(parser, sum, more);
    return read_relations(parser, root);
}

static int continues(const struct lab_parser *parser, const struct lab_sequence *sequence,
                     const struct gap *gap)
{
    const enum lab_sign_kind kind = parser->sign.kind;
    if (!sequence->count || gap->link != LAB_AND)
        return 0;
    if (kind == LAB_SIGN_RELATION)
        return !lab_starts_inner_product(parser);
    return gap->row && (kind == LAB_SIGN_PLUS || kind == LAB_SIGN_MINUS) &&
           has_relation(parser, sequence->root[sequence->count - 1]);
}

/* "except i = j" is i != j. */
static void deny(struct lab_parser *parser, int root)
{
    struct lab_node *const first =
        &parser->formula->node[parser->formula->node[root].child];
    if (first->after == LAB_REL_EQUAL)
        first->after = LAB_REL_UNEQUAL;
    else if (first->after == LAB_REL_IN)
        first->after = LAB_REL_NOT_IN;
}

static int read_piece(struct lab_parser *parser, struct lab_sequence *sequence,
                      struct gap *gap)
{
    int root, joined;

    if (lab_starts_system(parser)) {
        if (parser->sign.kind == LAB_SIGN_OPEN)
            lab_parser_next(parser);
        parser->systems++;
        lab_parser_next(parser);
        gap->any = 1;
        return 0;
    }
    if (lab_holds_condition(parser)) {
        const enum lab_connective link = sequence->count ? LAB_WHERE : LAB_AND;
        if (read_condition(parser, sequence, gap->link == LAB_AND ? link : gap->link))
            return -1;
    } else if (continues(parser, sequence, gap)) {
        if (continue_row(parser, sequence->root[sequence->count - 1]) < 0)
            return -1;
    } else {
        const enum lab_connective link = gap->link;
        root = read_chain(parser);
        if (root < 0)
            return -1;
        if (gap->except)
            deny(parser, root);
        joined = gap->any && !gap->hard ? join(parser, sequence, root, link) : 0;
        if (!joined && sequence->count &&
            (link == LAB_THEREFORE || (gap->wide && link == LAB_AND)))
            joined = lab_damage_join(parser, sequence->root[sequence->count - 1], root,
                                     link == LAB_THEREFORE);
        if (joined < 0 || (!joined && add_chain(parser, sequence, root, link)))
            return -1;
        /* "if we have x = 1": the connective before words holds after them. */
        *gap = (struct gap){0};
        if (!joined && parser->formula->node[parser->formula->node[root].child].kind ==
                           LAB_NODE_TEXT)
            *gap = (struct gap){.any = 1, .hard = 1, .link = link};
        return add_late(parser, sequence);
    }
    *gap = (struct gap){0};
    return add_late(parser, sequence);
}

int lab_read_sequence(struct lab_parser *parser, struct lab_sequence *sequence,
                      enum lab_sequence_end ends)
{
    struct lab_sequence *const outer = parser->sequence;
    const int systems = parser->systems, bars = parser->bars;
    struct gap gap = {0};

    parser->sequence = sequence;
    parser->bars = 0;
    for (;;) {
        const size_t begin = parser->sign.begin;
        read_gap(parser, &gap, systems, ends);
        if (at_end(parser, ends))
            break;
        if (parser->ahead < 0) {
            lab_parser_fail(parser, "too involved");
            return -1;
        }
        if (read_piece(parser, sequence, &gap))
            return -1;
        if (parser->sign.begin == begin) {
            lab_parser_fail(parser, "a sign in a place where none is expected");
            return -1;
        }
    }
    parser->sequence = outer;
    parser->bars = bars;
    if (parser->sign.kind == LAB_SIGN_END && parser->sign.code) {
        lab_parser_fail(parser, "");
        return -1;
    }
    return 0;
}

int lab_formula_read(const char *source, size_t begin, size_t end, unsigned repairs,
                     struct lab_formula *formula)
{
    struct lab_parser parser = {.formula = formula, .repairs = repairs};
    struct lab_sequence sequence = {0};

    formula->nodes = formula->chains = formula->restored = 0;
    formula->failed = end;
    formula->why[0] = 0;
    parser.lexer = (struct lab_lexer){
        .source = source,
        .at = begin,
        .end = end,
        .latex = memchr(source + begin, '\\', end - begin) != NULL,
        .log = formula,
        .ahead = &parser.ahead,
    };
    parser.ahead = 2000 + 8 * (long)(end - begin);
    parser.sign.end = begin;
    lab_parser_next(&parser);
    if (lab_read_sequence(&parser, &sequence, LAB_ENDS_ALL)) {
        if (!*formula->why)
            lab_parser_fail(&parser, "cannot be read");
        return -1;
    }
    formula->chains = sequence.count;
    for (int c = 0; c < sequence.count; c++) {
        formula->chain[c].root = sequence.root[c];
        formula->chain[c].before = sequence.before[c];
    }
    return 0;
}

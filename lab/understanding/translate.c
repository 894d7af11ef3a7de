/* SPDX-License-Identifier: MIT */
/* A side of a formula, from its tree into the language of lab/language. */
#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "lab/understanding/side.h"

enum { DEPTH = 40 };

const struct lab_node *lab_side_node(const struct lab_translation *t, int node)
{
    return &t->formula->node[node];
}

int lab_write(struct lab_writer *w, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    const int length =
        vsnprintf(w->said->text + w->used, LAB_SIDE - w->used, format, arguments);
    va_end(arguments);
    if (length < 0 || w->used + (size_t)length >= LAB_SIDE) {
        snprintf(w->said->why, sizeof w->said->why, "too long");
        return -1;
    }
    w->used += (size_t)length;
    return 0;
}

int lab_write_fail(struct lab_writer *w, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    if (!*w->said->why)
        vsnprintf(w->said->why, sizeof w->said->why, format, arguments);
    va_end(arguments);
    return -1;
}

void lab_write_note(struct lab_writer *w, const char *name)
{
    for (int i = 0; i < w->said->letter_count; i++)
        if (!strcmp(w->said->letters[i], name))
            return;
    if (w->said->letter_count < 8)
        snprintf(w->said->letters[w->said->letter_count++], 24, "%.23s", name);
}

int lab_side_factors(const struct lab_translation *t, int node, int *factor, int count)
{
    const struct lab_node *const n = lab_side_node(t, node);
    if (n->kind != LAB_NODE_PRODUCT) {
        if (count < LAB_FACTORS)
            factor[count] = node;
        return count + 1;
    }
    for (int c = n->child; c >= 0 && count <= LAB_FACTORS; c = lab_side_node(t, c)->next)
        count = lab_side_factors(t, c, factor, count);
    return count;
}

/* The letter of a factor, transposed or not; 0: it has another role. */
int lab_side_has_role(const struct lab_writer *w, int node, enum lab_role role,
                      struct lab_name *name)
{
    const struct lab_node *n = lab_side_node(w->t, node);
    if (n->kind == LAB_NODE_TRANSPOSE)
        n = lab_side_node(w->t, n->child);
    if (n->kind != LAB_NODE_LETTER)
        return 0;
    lab_name_split(n->name, name);
    return lab_role_of(w->t->letters, name->base, name->indices > 0) == role;
}

/* k_a^T q: 1 if it was written, 0 if it is none, or -1. */
static int write_score(struct lab_writer *w, int left, int right)
{
    struct lab_name key, query;
    const int first = lab_side_has_role(w, left, LAB_ROLE_KEY, &key) &&
                      lab_side_has_role(w, right, LAB_ROLE_QUERY, &query);
    if (!first && !(lab_side_has_role(w, left, LAB_ROLE_QUERY, &query) &&
                    lab_side_has_role(w, right, LAB_ROLE_KEY, &key)))
        return 0;
    const char *const index = lab_key_index(w, &key);
    const char which = index ? lab_write_key(w, index) : 0;
    const int head = query.indices && lab_is_head(query.index[0])
                         ? query.index[0][0] - '0'
                         : lab_write_head(w, &key, which);
    if (!which)
        return lab_write_fail(w, "a key without an index");
    lab_write_note(w, key.base);
    if (lab_write_use_head(w, head))
        return -1;
    return lab_write(w, "s_%c", which) ? -1 : 1;
}

static int starts_with_number(const char *text)
{
    return isdigit((unsigned char)*text) || *text == '.' || *text == '-';
}

static int write_product(struct lab_writer *w, int node, enum lab_level level)
{
    int factor[LAB_FACTORS];
    const int count = lab_side_factors(w->t, node, factor, 0);
    if (count > LAB_FACTORS)
        return lab_write_fail(w, "too many factors");
    if (level == LAB_AT_BASE && lab_write(w, "("))
        return -1;
    for (int i = 0; i < count; i++) {
        const size_t before = w->used + (i > 0);
        if (i && lab_write(w, " "))
            return -1;
        const int score = i + 1 < count ? write_score(w, factor[i], factor[i + 1]) : 0;
        if (score < 0 || (!score && lab_write_node(w, factor[i], LAB_IN_PRODUCT)))
            return -1;
        i += score;
        if (before > 0 && before < LAB_SIDE && i - score > 0 &&
            starts_with_number(w->said->text + before))
            w->said->text[before - 1] = '*';
    }
    return level == LAB_AT_BASE ? lab_write(w, ")") : 0;
}

/* A column of coordinates c_1 ... c_m, or the columns a_1 ... a_m of A. */
static int write_matrix(struct lab_writer *w, int node)
{
    int first = node;
    int rows = 0;
    for (int c = lab_side_node(w->t, node)->child; c >= 0;
         c = lab_side_node(w->t, c)->next)
        rows++;
    for (int guard = 0; guard < 4 && first >= 0; guard++) {
        if (lab_side_node(w->t, first)->kind == LAB_NODE_LETTER)
            break;
        first = lab_side_node(w->t, first)->child;
    }
    if (w->t->settled->subject != LAB_SUBJECT_EXTRACT || first < 0 ||
        lab_side_node(w->t, first)->kind != LAB_NODE_LETTER)
        return lab_write_fail(w, "a matrix by its entries");
    struct lab_name name;
    lab_name_split(lab_side_node(w->t, first)->name, &name);
    if (rows > 1 && !strcmp(name.base, "c"))
        return lab_write(w, "c");
    if (rows > 1 && !strcmp(name.base, "d"))
        return lab_write(w, "e");
    if (rows == 1 && (!strcmp(name.base, "a") || !strcmp(name.base, "b")))
        return lab_write(w, *name.base == 'a' ? "A" : "B");
    return lab_write_fail(w, "a matrix by its entries");
}

static int write_power(struct lab_writer *w, const struct lab_node *node,
                       enum lab_level level)
{
    const int base = node->child;
    const int exponent = base >= 0 ? lab_side_node(w->t, base)->next : -1;
    if (exponent < 0)
        return lab_write_fail(w, "a power");
    const struct lab_node *const b = lab_side_node(w->t, base);
    if (b->kind == LAB_NODE_LETTER && !strcmp(b->name, "e")) {
        w->said->uses |= LAB_USES_EXP;
        return lab_write(w, "exp(") || lab_write_node(w, exponent, LAB_IN_SUM) ||
                       lab_write(w, ")")
                   ? -1
                   : 0;
    }
    /* sigma^2 where it is the variance. */
    if (b->kind == LAB_NODE_LETTER && !strcmp(b->name, "sigma") &&
        lab_role_of(w->t->letters, "sigma", 0) == LAB_ROLE_VARIANCE)
        return lab_write(w, "alpha");
    const int open = level == LAB_AT_BASE;
    return (open && lab_write(w, "(")) || lab_write_node(w, base, LAB_AT_BASE) ||
                   lab_write(w, "^") || lab_write_node(w, exponent, LAB_AT_BASE) ||
                   (open && lab_write(w, ")"))
               ? -1
               : 0;
}

static int write_quotient(struct lab_writer *w, const struct lab_node *node,
                          enum lab_level level)
{
    const int above = node->child,
              below = above >= 0 ? lab_side_node(w->t, above)->next : -1;
    const int open = level > LAB_IN_TERM;
    if (below < 0)
        return lab_write_fail(w, "a quotient");
    return (open && lab_write(w, "(")) || lab_write_node(w, above, LAB_IN_PRODUCT) ||
                   lab_write(w, "/") || lab_write_node(w, below, LAB_AT_BASE) ||
                   (open && lab_write(w, ")"))
               ? -1
               : 0;
}

static int write_kind(struct lab_writer *w, int at, enum lab_level level)
{
    const struct lab_node *const node = lab_side_node(w->t, at);
    switch (node->kind) {
    case LAB_NODE_NUMBER:
        return lab_write(w, "%.12g", node->value);
    case LAB_NODE_LETTER:
        return lab_write_letter(w, node, level);
    case LAB_NODE_SUM:
        return lab_write_sum(w, at, level);
    case LAB_NODE_MINUS:
        return lab_write(w, level > LAB_IN_SUM ? "(-" : "-") ||
                       lab_write_node(w, node->child, LAB_IN_PRODUCT) ||
                       (level > LAB_IN_SUM && lab_write(w, ")"))
                   ? -1
                   : 0;
    case LAB_NODE_PRODUCT:
        return write_product(w, at, level);
    case LAB_NODE_QUOTIENT:
        return write_quotient(w, node, level);
    case LAB_NODE_POWER:
        return write_power(w, node, level);
    case LAB_NODE_TRANSPOSE:
        return lab_write_node(w, node->child, LAB_AT_BASE) || lab_write(w, "^T") ? -1 : 0;
    case LAB_NODE_CALL:
        return lab_write_call(w, node, level);
    case LAB_NODE_SERIES:
        return lab_write_series(w, at);
    case LAB_NODE_MATRIX:
        return write_matrix(w, at);
    case LAB_NODE_LIST:
        if (node->child >= 0 && lab_side_node(w->t, node->child)->next < 0)
            return lab_write_node(w, node->child, level);
        return lab_write_fail(w, "a list");
    default:
        return lab_write_fail(w, "no formula");
    }
}

int lab_write_node(struct lab_writer *w, int node, enum lab_level level)
{
    if (node < 0 || node >= w->t->formula->nodes || w->depth >= DEPTH)
        return lab_write_fail(w, "no formula");
    w->depth++;
    const int status = write_kind(w, node, level);
    w->depth--;
    return status;
}

int lab_side_say(const struct lab_translation *t, int node, struct lab_said *said)
{
    struct lab_writer writer = {.t = t, .said = said};
    memset(said, 0, sizeof *said);
    if (node < 0 || node >= t->formula->nodes)
        return -1;
    writer.output = lab_is_output_side(t, node, 0) && t->beside != LAB_SHAPE_NUMBER;
    said->shape = writer.output ? LAB_SHAPE_VECTOR : lab_shape_of(t, node, 0);
    return lab_write_node(&writer, node, LAB_IN_SUM);
}

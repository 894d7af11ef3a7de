/* SPDX-License-Identifier: MIT */
/* Sums of a side: over keys, over columns, and with dots. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "lab/understanding/side.h"

enum over { OVER_ALL, OVER_OTHERS, OVER_NOT_LEAD, OVER_BASIS, OVER_UNKNOWN };

/* The index and the set of a sum, from its bounds. */
static enum over sum_over(const struct lab_writer *w, int series, char index[16])
{
    const struct lab_translation *const t = w->t;
    const int body = lab_side_node(t, series)->child;
    enum over over = OVER_ALL;
    int excluded = 0, mentions_a = 0, mentions_b = 0, lead = 0;
    snprintf(index, 16, "i");
    if (body < 0)
        return OVER_UNKNOWN;
    for (int b = lab_side_node(t, body)->next; b >= 0; b = lab_side_node(t, b)->next) {
        const struct lab_node *const bound = lab_side_node(t, b);
        int first = 1;
        int stack[64], depth = 0;
        if (bound->kind == LAB_NODE_LETTER && !strcmp(bound->name, "m") &&
            lab_role_of(t->letters, "m", 0) == LAB_ROLE_BASIS)
            over = OVER_BASIS;
        stack[depth++] = b;
        /* All letters below, in order. */
        while (depth) {
            const struct lab_node *const n = lab_side_node(t, stack[--depth]);
            if (n->kind == LAB_NODE_LETTER && bound->kind != LAB_NODE_LETTER) {
                if (first)
                    snprintf(index, 16, "%.15s", n->name);
                else if (!strcmp(n->name, "a"))
                    mentions_a = 1;
                else if (!strcmp(n->name, "b"))
                    mentions_b = 1;
                else if (strcmp(n->name, index) && islower((unsigned char)n->name[0]) &&
                         !n->name[1] && strcmp(n->name, "n") && strcmp(n->name, "m"))
                    lead = 1;
                if (!first && !strcmp(n->name, "m") && bound->kind != LAB_NODE_LIST)
                    over = OVER_BASIS;
                first = 0;
            }
            if (n->after == LAB_REL_UNEQUAL)
                excluded = 1;
            int children[32], count = 0;
            for (int c = n->child; c >= 0 && count < 32; c = lab_side_node(t, c)->next)
                children[count++] = c;
            while (count && depth < 64)
                stack[depth++] = children[--count];
        }
    }
    if (mentions_a && mentions_b)
        return OVER_OTHERS;
    if (mentions_a || mentions_b || (excluded && !lead))
        return OVER_UNKNOWN;
    if (lead)
        return OVER_NOT_LEAD;
    return over;
}

static int write_bound(struct lab_writer *w, int body, const char *index, char value,
                       enum lab_level level)
{
    if (w->bound == LAB_BOUND)
        return lab_write_fail(w, "too many sums in each other");
    snprintf(w->bind[w->bound].index, 16, "%s", index);
    w->bind[w->bound++].value = value;
    const int status = lab_write_node(w, body, level);
    w->bound--;
    return status;
}

static int is_weight(const struct lab_writer *w, int node, const char *index)
{
    struct lab_name name;
    if (node < 0 || !lab_side_has_role(w, node, LAB_ROLE_WEIGHT, &name))
        return 0;
    const char *const of = lab_key_index(w, &name);
    return of && !strcmp(of, index);
}

/* sum of alpha_i v_i: the output by its definition. */
static int is_output_sum(const struct lab_writer *w, int body, const char *index)
{
    int factor[LAB_FACTORS];
    const int count = lab_side_factors(w->t, body, factor, 0);
    struct lab_name name;
    if (count != 2)
        return 0;
    for (int i = 0; i < 2; i++)
        if (is_weight(w, factor[i], index) &&
            lab_side_has_role(w, factor[1 - i], LAB_ROLE_VALUE, &name)) {
            const char *const of = lab_key_index(w, &name);
            return of && !strcmp(of, index);
        }
    return 0;
}

static int write_weight_sum(struct lab_writer *w, enum over over)
{
    const struct lab_name none = {.base = ""};
    if (lab_write_use_head(w, lab_takes_heads(w->t->settled) ? lab_write_head(w, &none, 0)
                                                             : 1))
        return -1;
    if (over == OVER_ALL)
        return lab_write(w, "(alpha_a + alpha_b + rest)");
    if (over == OVER_OTHERS)
        return lab_write(w, "rest");
    return w->t->settled->subject == LAB_SUBJECT_COPY
               ? lab_write(w, "(alpha_b + rest)")
               : lab_write_fail(w, "a sum of some weights");
}

/* sum of a_i a_i^T is A A^T, sum of c_i a_i is A c. */
/* A basis has m vectors, not n. */
static int ends_at_keys(const struct lab_writer *w, int series)
{
    const int body = lab_side_node(w->t, series)->child;
    for (int b = lab_side_node(w->t, body)->next; b >= 0;
         b = lab_side_node(w->t, b)->next)
        if (lab_side_node(w->t, b)->kind == LAB_NODE_LETTER &&
            !strcmp(lab_side_node(w->t, b)->name, "n"))
            return 1;
    return 0;
}

static int write_basis_sum(struct lab_writer *w, int body)
{
    int factor[LAB_FACTORS];
    const int count = lab_side_factors(w->t, body, factor, 0);
    struct lab_name name[2];
    if (count != 2)
        return lab_write_fail(w, "a sum over basis vectors");
    for (int i = 0; i < 2; i++) {
        const struct lab_node *n = lab_side_node(w->t, factor[i]);
        if (n->kind == LAB_NODE_TRANSPOSE && i)
            n = lab_side_node(w->t, n->child);
        if (n->kind != LAB_NODE_LETTER)
            return lab_write_fail(w, "a sum over basis vectors");
        lab_name_split(n->name, &name[i]);
    }
    const int is_outer = lab_side_node(w->t, factor[1])->kind == LAB_NODE_TRANSPOSE;
    const char *const of = name[1].base;
    if (is_outer && !strcmp(name[0].base, of) && (!strcmp(of, "a") || !strcmp(of, "b")))
        return lab_write(w, *of == 'a' ? "A A^T" : "B B^T");
    if (!is_outer && !strcmp(of, "a") && !strcmp(name[0].base, "c"))
        return lab_write(w, "A c");
    if (!is_outer && !strcmp(of, "b"))
        return lab_write(w, "B e");
    return lab_write_fail(w, "a sum over basis vectors");
}

int lab_write_series(struct lab_writer *w, int node)
{
    const int body = lab_side_node(w->t, node)->child;
    char index[16];
    const enum over over = sum_over(w, node, index);
    struct lab_name name;
    if (body < 0 || strcmp(lab_side_node(w->t, node)->name, "sum") != 0)
        return lab_write_fail(w, "a product over an index");
    if (over == OVER_UNKNOWN && w->t->settled->subject != LAB_SUBJECT_EXTRACT)
        return lab_write_fail(w, "the bounds of the sum");
    if (w->t->settled->subject == LAB_SUBJECT_EXTRACT)
        return ends_at_keys(w, node) ? lab_write_fail(w, "a sum up to n")
                                     : write_basis_sum(w, body);
    if (lab_on_tokens(w->t->settled))
        return lab_write_fail(w, "a sum over tokens");
    if (is_weight(w, body, index))
        return write_weight_sum(w, over);
    if (is_output_sum(w, body, index) && over == OVER_ALL) {
        int factor[LAB_FACTORS];
        lab_side_factors(w->t, body, factor, 0);
        for (int i = 0; i < 2; i++)
            if (lab_side_has_role(w, factor[i], LAB_ROLE_WEIGHT, &name))
                break;
        if (lab_takes_heads(w->t->settled) && name.indices > 1 &&
            lab_is_head(name.index[0])) {
            w->said->uses |= LAB_USES_HEADS;
            return lab_write(w, "c_%s", name.index[0]);
        }
        return lab_write_fail(w, "the definition of the output");
    }
    if (over == OVER_BASIS)
        return lab_write(w, "((m - 2) ") ||
                       write_bound(w, body, index, 'i', LAB_AT_BASE) ||
                       lab_write(w, " + ") ||
                       write_bound(w, body, index, 'a', LAB_AT_BASE) ||
                       lab_write(w, " + ") ||
                       write_bound(w, body, index, 'b', LAB_AT_BASE) || lab_write(w, ")")
                   ? -1
                   : 0;
    if (lab_write(w, "("))
        return -1;
    if (over == OVER_ALL &&
        (write_bound(w, body, index, 'a', LAB_IN_TERM) || lab_write(w, " + ")))
        return -1;
    if (over != OVER_OTHERS &&
        (write_bound(w, body, index, 'b', LAB_IN_TERM) || lab_write(w, " + ")))
        return -1;
    if (lab_write(w, "(n - 2)*") || write_bound(w, body, index, 'i', LAB_AT_BASE))
        return -1;
    return lab_write(w, ")");
}

/* ---- sums with dots -----------------------------------------------------------------
 */

/* c_1 a_1 + ... + c_m a_m: "A c"; NULL: another sum. */
static const char *dotted_sum(const struct lab_translation *t, int sum)
{
    struct lab_name name[2];
    const struct lab_node *const first = lab_side_node(t, lab_side_node(t, sum)->child);
    if (first->kind != LAB_NODE_PRODUCT || first->child < 0)
        return NULL;
    int count = 0;
    for (int c = first->child; c >= 0; c = lab_side_node(t, c)->next, count++) {
        if (count == 2 || lab_side_node(t, c)->kind != LAB_NODE_LETTER)
            return NULL;
        lab_name_split(lab_side_node(t, c)->name, &name[count]);
        if (name[count].indices != 1 || strcmp(name[count].index[0], "1"))
            return NULL;
    }
    if (count != 2)
        return NULL;
    const char *const vector = name[1].base;
    return !strcmp(vector, "a") ? "A c" : !strcmp(vector, "b") ? "B e" : NULL;
}

static int has_dots(const struct lab_translation *t, int node)
{
    for (int c = lab_side_node(t, node)->child; c >= 0; c = lab_side_node(t, c)->next)
        if (lab_side_node(t, c)->kind == LAB_NODE_DOTS)
            return 1;
    return 0;
}

/* x + 0 + ... + 0: n - 1 zeros beside x. */
static int write_zeros(struct lab_writer *w, int sum)
{
    const int first = lab_side_node(w->t, sum)->child;
    for (int c = lab_side_node(w->t, first)->next; c >= 0;
         c = lab_side_node(w->t, c)->next) {
        const struct lab_node *const n = lab_side_node(w->t, c);
        const int zero = n->kind == LAB_NODE_NUMBER && n->value == 0;
        if (!zero && n->kind != LAB_NODE_DOTS)
            return lab_write_fail(w, "a sum with dots");
    }
    return lab_write_node(w, first, LAB_IN_TERM) || lab_write(w, " + 0 (n - 1)") ? -1 : 0;
}

static int is_zero(const struct lab_node *node)
{
    return node->kind == LAB_NODE_NUMBER && node->value == 0;
}

/* Terms of one shape, but for zeros. */
static int check_terms(struct lab_writer *w, int node, int *plain)
{
    int vectors = 0, numbers = 0, zeros = 0;
    for (int c = lab_side_node(w->t, node)->child; c >= 0;
         c = lab_side_node(w->t, c)->next) {
        const enum lab_shape shape = lab_shape_of(w->t, c, 0);
        zeros += is_zero(lab_side_node(w->t, c));
        numbers += shape == LAB_SHAPE_NUMBER && !is_zero(lab_side_node(w->t, c));
        vectors += shape == LAB_SHAPE_VECTOR;
    }
    *plain = vectors && zeros; /* zeros of vectors are left out */
    return vectors && numbers ? lab_write_fail(w, "a sum of a vector and a number") : 0;
}

int lab_write_sum(struct lab_writer *w, int node, enum lab_level level)
{
    int without_zeros = 0;
    if (check_terms(w, node, &without_zeros))
        return -1;
    if (level > LAB_IN_SUM && lab_write(w, "("))
        return -1;
    if (has_dots(w->t, node)) {
        const char *const known =
            w->t->settled->subject == LAB_SUBJECT_EXTRACT ? dotted_sum(w->t, node) : NULL;
        if (known ? lab_write(w, "%s", known) : write_zeros(w, node))
            return -1;
    } else {
        int first = 1;
        for (int c = lab_side_node(w->t, node)->child; c >= 0;
             c = lab_side_node(w->t, c)->next) {
            const struct lab_node *const term = lab_side_node(w->t, c);
            const int minus = term->kind == LAB_NODE_MINUS;
            if (without_zeros && is_zero(term))
                continue;
            if (lab_write(w, "%s",
                          minus   ? (first ? "-" : " - ")
                          : first ? ""
                                  : " + ") ||
                lab_write_node(w, minus ? term->child : c,
                               minus ? LAB_IN_PRODUCT : LAB_IN_TERM))
                return -1;
            first = 0;
        }
    }
    return level > LAB_IN_SUM ? lab_write(w, ")") : 0;
}

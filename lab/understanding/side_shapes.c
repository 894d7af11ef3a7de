/* SPDX-License-Identifier: MIT */
/* Shapes of sides, as far as their letters show them. */
#include <string.h>

#include "lab/understanding/side.h"

/* C, c, C_1: a scale, or an output. */
static int may_be_output(const struct lab_translation *t, int node)
{
    struct lab_name name;
    if (lab_side_node(t, node)->kind != LAB_NODE_LETTER)
        return 0;
    lab_name_split(lab_side_node(t, node)->name, &name);
    return lab_role_of(t->letters, name.base, name.indices > 0) == LAB_ROLE_OUTPUT;
}

/* Such a letter, or the mean of two, and nothing else. */
int lab_is_output_side(const struct lab_translation *t, int node, int depth)
{
    const struct lab_node *const n = lab_side_node(t, node);
    int outputs = 0;
    if (depth > 8)
        return 0;
    if (n->kind == LAB_NODE_LETTER)
        return may_be_output(t, node);
    if (n->kind != LAB_NODE_SUM && n->kind != LAB_NODE_PRODUCT &&
        n->kind != LAB_NODE_QUOTIENT && n->kind != LAB_NODE_LIST)
        return 0;
    for (int c = n->child; c >= 0; c = lab_side_node(t, c)->next) {
        const struct lab_node *child = lab_side_node(t, c);
        int number = child->kind == LAB_NODE_NUMBER;
        if (child->kind == LAB_NODE_QUOTIENT) {
            number = 1;
            for (int g = child->child; g >= 0; g = lab_side_node(t, g)->next)
                number &= lab_side_node(t, g)->kind == LAB_NODE_NUMBER;
        }
        if (number && n->kind != LAB_NODE_SUM)
            continue;
        if (!lab_is_output_side(t, c, depth + 1))
            return 0;
        outputs++;
    }
    return n->kind == LAB_NODE_SUM ? outputs > 1 : outputs == 1;
}

static enum lab_shape letter_shape(const struct lab_translation *t,
                                   const struct lab_node *node)
{
    struct lab_name name;
    lab_name_split(node->name, &name);
    switch (lab_role_of(t->letters, name.base, name.indices > 0)) {
    case LAB_ROLE_KEY:
    case LAB_ROLE_VALUE:
    case LAB_ROLE_MEAN:
    case LAB_ROLE_QUERY:
        return LAB_SHAPE_VECTOR;
    case LAB_ROLE_COVARIANCE:
    case LAB_ROLE_PERMUTATION:
    case LAB_ROLE_INPUT:
    case LAB_ROLE_MATRIX:
        return LAB_SHAPE_MATRIX;
    case LAB_ROLE_OUTPUT:
    case LAB_ROLE_NONE:
        return !strcmp(name.base, "I") ? LAB_SHAPE_MATRIX : LAB_SHAPE_UNKNOWN;
    default:
        return LAB_SHAPE_NUMBER;
    }
}

/* "k_a . q": a key and a query, neither turned. */
static int is_inner_product(const struct lab_translation *t,
                            const struct lab_node *product)
{
    int keys = 0, queries = 0;
    for (int c = product->child; c >= 0; c = lab_side_node(t, c)->next) {
        struct lab_name name;
        if (lab_side_node(t, c)->kind != LAB_NODE_LETTER)
            continue;
        lab_name_split(lab_side_node(t, c)->name, &name);
        const enum lab_role role = lab_role_of(t->letters, name.base, name.indices > 0);
        keys += role == LAB_ROLE_KEY;
        queries += role == LAB_ROLE_QUERY;
    }
    return keys == 1 && queries == 1;
}

enum lab_shape lab_shape_of(const struct lab_translation *t, int node, int depth)
{
    const struct lab_node *const n = lab_side_node(t, node);
    int plain = 0, turned = 0, matrices = 0, unknown = 0;
    if (depth > 30)
        return LAB_SHAPE_UNKNOWN;
    switch (n->kind) {
    case LAB_NODE_LETTER:
        return letter_shape(t, n);
    case LAB_NODE_SUM:
    case LAB_NODE_LIST:
        for (int c = n->child; c >= 0; c = lab_side_node(t, c)->next) {
            const enum lab_shape shape = lab_shape_of(t, c, depth + 1);
            if (shape != LAB_SHAPE_UNKNOWN)
                return shape;
        }
        return LAB_SHAPE_UNKNOWN;
    case LAB_NODE_MINUS:
    case LAB_NODE_LIMIT:
    case LAB_NODE_SERIES:
    case LAB_NODE_QUOTIENT:
        return n->child >= 0 ? lab_shape_of(t, n->child, depth + 1) : LAB_SHAPE_UNKNOWN;
    case LAB_NODE_PRODUCT:
        for (int c = n->child; c >= 0; c = lab_side_node(t, c)->next) {
            const int is_turned = lab_side_node(t, c)->kind == LAB_NODE_TRANSPOSE;
            const enum lab_shape shape =
                lab_shape_of(t, is_turned ? lab_side_node(t, c)->child : c, depth + 1);
            matrices += shape == LAB_SHAPE_MATRIX;
            unknown += shape == LAB_SHAPE_UNKNOWN;
            if (shape == LAB_SHAPE_VECTOR)
                (*(is_turned ? &turned : &plain))++;
        }
        if (plain == 2 && !turned && is_inner_product(t, n))
            return LAB_SHAPE_NUMBER;
        if (plain > turned + 1)
            return LAB_SHAPE_UNKNOWN; /* a product of two columns */
        if (plain == turned)
            return matrices            ? LAB_SHAPE_MATRIX
                   : unknown && !plain ? LAB_SHAPE_UNKNOWN
                                       : LAB_SHAPE_NUMBER;
        return plain > turned ? LAB_SHAPE_VECTOR : LAB_SHAPE_UNKNOWN;
    case LAB_NODE_NUMBER:
    case LAB_NODE_POWER:
    case LAB_NODE_CALL:
        return LAB_SHAPE_NUMBER;
    case LAB_NODE_MATRIX:
        return LAB_SHAPE_MATRIX;
    default:
        return LAB_SHAPE_UNKNOWN;
    }
}

enum lab_shape lab_side_shape(const struct lab_translation *t, int node)
{
    return lab_shape_of(t, node, 0);
}

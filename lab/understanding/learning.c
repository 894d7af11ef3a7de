/* SPDX-License-Identifier: MIT */
/* Letters that the formulas around them settle. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "lab/understanding/chains.h"

/* The first use of a letter that has a meaning by the exercise. */
static void learn_use(struct lab_reader *reader, const struct lab_node *n, int line)
{
    const enum lab_subject subject = reader->settled.subject;
    struct lab_name name;
    lab_name_split(n->name, &name);
    const char *const index = name.indices ? name.index[name.indices - 1] : "";
    if (subject == LAB_SUBJECT_EXTRACT && !strcmp(index, "m") &&
        !lab_role_line(&reader->letters, "m"))
        lab_role_set(&reader->letters, "m", LAB_ROLE_BASIS, line);
    if (subject == LAB_SUBJECT_EXTRACT && strcmp(name.base, "v"))
        return;
    const enum lab_role role = lab_letter_role(reader, &name);
    /* An index that counts the keys: k_n, v_n. */
    if ((role == LAB_ROLE_KEY || role == LAB_ROLE_VALUE) &&
        (!strcmp(index, "N") || (!strcmp(index, "m") && subject == LAB_SUBJECT_COPY)))
        lab_role_set(&reader->letters, index, LAB_ROLE_KEYS, line);
    if (role != LAB_ROLE_NONE && !lab_role_line(&reader->letters, name.base))
        lab_role_set(&reader->letters, name.base, role, line);
}

/* Pi X, or X Pi: the permuted input. */
static void learn_input(struct lab_reader *reader, const struct lab_node *product)
{
    struct lab_name left, right;
    const int second = lab_node_of(reader, product->child)->next;
    if (!lab_on_tokens(&reader->settled) || second < 0 ||
        lab_node_of(reader, second)->next >= 0 || *reader->settled.input ||
        !lab_lone_letter(reader, product->child, &left) ||
        !lab_lone_letter(reader, second, &right))
        return;
    const enum lab_role of_left = lab_letter_role(reader, &left),
                        of_right = lab_letter_role(reader, &right);
    if (of_left == LAB_ROLE_PERMUTATION && of_right == LAB_ROLE_INPUT)
        snprintf(reader->settled.input, sizeof reader->settled.input, "Pi X");
    if (of_left == LAB_ROLE_INPUT && of_right == LAB_ROLE_PERMUTATION)
        snprintf(reader->settled.input, sizeof reader->settled.input, "X Pi");
}

/* T = P X. */
static void learn_moved(struct lab_reader *reader, const struct lab_chain *chain)
{
    struct lab_name name, left, right;
    const struct lab_node *const side =
        chain->count > 1 ? lab_node_of(reader, chain->side[1]) : NULL;
    if (!side || !lab_on_tokens(&reader->settled) || chain->after[0] != LAB_REL_EQUAL ||
        !lab_lone_letter(reader, chain->side[0], &name) || name.indices ||
        lab_node_of(reader, chain->side[0])->mark ||
        lab_letter_role(reader, &name) != LAB_ROLE_NONE ||
        side->kind != LAB_NODE_PRODUCT || side->child < 0 ||
        strchr("ZYOHSAQKV", *name.base))
        return;
    const int second = lab_node_of(reader, side->child)->next;
    if (second < 0 || lab_node_of(reader, second)->next >= 0 ||
        !lab_lone_letter(reader, side->child, &left) ||
        !lab_lone_letter(reader, second, &right))
        return;
    const enum lab_role of_left = lab_letter_role(reader, &left),
                        of_right = lab_letter_role(reader, &right);
    if ((of_left == LAB_ROLE_PERMUTATION && of_right == LAB_ROLE_INPUT) ||
        (of_left == LAB_ROLE_INPUT && of_right == LAB_ROLE_PERMUTATION))
        snprintf(reader->settled.moved, sizeof reader->settled.moved, "%s", name.base);
}

/* v_a = A x, v_b = B y. */
static void learn_coordinates(struct lab_reader *reader, const struct lab_chain *chain)
{
    struct lab_name name, matrix, letter;
    for (int i = 0; i + 1 < chain->count; i++) {
        const struct lab_node *const side = lab_node_of(reader, chain->side[i + 1]);
        if (chain->after[i] != LAB_REL_EQUAL || side->kind != LAB_NODE_PRODUCT ||
            side->child < 0 || !lab_lone_letter(reader, chain->side[i], &name) ||
            (strcmp(name.base, "v") && strcmp(name.base, "nu")) || !name.indices)
            continue;
        const int second = lab_node_of(reader, side->child)->next;
        const int of_b = !strcmp(name.index[0], "b");
        if (second < 0 || lab_node_of(reader, second)->next >= 0 ||
            (!of_b && strcmp(name.index[0], "a")) ||
            !lab_lone_letter(reader, side->child, &matrix) ||
            !lab_lone_letter(reader, second, &letter) || matrix.indices ||
            letter.indices || strcmp(matrix.base, of_b ? "B" : "A") ||
            strchr("cdeABIM", *letter.base))
            continue;
        snprintf(reader->settled.coordinates[of_b],
                 sizeof reader->settled.coordinates[of_b], "%s", letter.base);
    }
}

/* z_i = k_i^T q is a score; o = sum w_i x_i an output, and x_i a value. */
static void learn_definition(struct lab_reader *reader, const struct lab_chain *chain,
                             int line)
{
    struct lab_name name, factor;
    char index[16];
    if (chain->count < 2 || chain->after[0] != LAB_REL_EQUAL ||
        !lab_lone_letter(reader, chain->side[0], &name))
        return;
    const enum lab_role role = lab_letter_role(reader, &name);
    const struct lab_node *const side = lab_node_of(reader, chain->side[1]);
    if (role == LAB_ROLE_NONE && name.indices &&
        lab_thing_of(reader, chain->side[1], index) == LAB_THING_SCORE)
        lab_role_set(&reader->letters, name.base, LAB_ROLE_SCORE, line);
    if (side->kind != LAB_NODE_SERIES || side->child < 0 ||
        lab_node_of(reader, side->child)->kind != LAB_NODE_PRODUCT)
        return;
    int weights = 0;
    const int body = side->child;
    for (int c = lab_node_of(reader, body)->child; c >= 0;
         c = lab_node_of(reader, c)->next)
        weights += lab_lone_letter(reader, c, &factor) &&
                   lab_letter_role(reader, &factor) == LAB_ROLE_WEIGHT;
    for (int c = lab_node_of(reader, body)->child; c >= 0 && weights == 1;
         c = lab_node_of(reader, c)->next)
        if (lab_lone_letter(reader, c, &factor) && factor.indices &&
            lab_letter_role(reader, &factor) == LAB_ROLE_NONE)
            lab_role_set(&reader->letters, factor.base, LAB_ROLE_VALUE, line);
    if (weights == 1 && role == LAB_ROLE_NONE)
        lab_role_set(&reader->letters, name.base, LAB_ROLE_OUTPUT, line);
}

/* Letters that the roles of others around them settle. */
/* exp(k_i.q): a key and a query apart are their product. */
void lab_join_factors(struct lab_reader *reader)
{
    struct lab_formula *const formula = &reader->formula;
    for (int i = formula->nodes - 1; i >= 0; i--) {
        struct lab_node *const call = &formula->node[i];
        struct lab_name key, query;
        if (call->kind != LAB_NODE_CALL || call->child < 0 ||
            formula->nodes == LAB_FORMULA_NODES)
            continue;
        const int first = call->child, second = formula->node[first].next;
        if (second < 0 || formula->node[second].next >= 0 ||
            !lab_lone_letter(reader, first, &key) ||
            !lab_lone_letter(reader, second, &query) ||
            lab_letter_role(reader, &key) != LAB_ROLE_KEY ||
            lab_letter_role(reader, &query) != LAB_ROLE_QUERY)
            continue;
        struct lab_node *const product = &formula->node[formula->nodes];
        *product = formula->node[first];
        product->kind = LAB_NODE_PRODUCT;
        product->name[0] = '\0';
        product->end = formula->node[second].end;
        product->child = first;
        product->next = -1;
        call->child = formula->nodes++;
    }
}

void lab_learn_roles(struct lab_reader *reader)
{
    const int line = reader->document->passage[reader->passage].line;
    for (int i = 0; i < reader->formula.chains; i++) {
        const struct lab_chain chain =
            lab_chain_open(reader, reader->formula.chain[i].root);
        if (chain.count)
            learn_definition(reader, &chain, line);
        if (chain.count && reader->settled.subject == LAB_SUBJECT_EXTRACT)
            learn_coordinates(reader, &chain);
        if (chain.count)
            learn_moved(reader, &chain);
    }
    for (int i = 0; i < reader->formula.nodes; i++) {
        const struct lab_node *const n = lab_node_of(reader, i);
        struct lab_name key, letter;
        if (n->kind == LAB_NODE_LETTER)
            learn_use(reader, n, line);
        if (n->kind != LAB_NODE_PRODUCT || n->child < 0)
            continue;
        learn_input(reader, n);
        /* k_a^T x: x is the query. */
        const struct lab_node *const first = lab_node_of(reader, n->child);
        if (first->kind != LAB_NODE_TRANSPOSE || first->next < 0 ||
            !lab_lone_letter(reader, first->child, &key) ||
            !lab_lone_letter(reader, first->next, &letter) ||
            lab_node_of(reader, first->next)->next >= 0)
            continue;
        if (lab_letter_role(reader, &key) == LAB_ROLE_KEY && key.indices &&
            lab_letter_role(reader, &letter) == LAB_ROLE_NONE)
            lab_role_set(&reader->letters, letter.base, LAB_ROLE_QUERY, line);
    }
}

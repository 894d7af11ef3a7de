/* SPDX-License-Identifier: MIT */
/* Chains of a formula: their sides, and what these are. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "lab/understanding/chains.h"

const struct lab_node *lab_node_of(const struct lab_reader *reader, int node)
{
    return &reader->formula.node[node];
}

struct lab_translation lab_translation_of(const struct lab_reader *reader)
{
    return (struct lab_translation){.formula = &reader->formula,
                                    .settled = &reader->settled,
                                    .letters = &reader->letters};
}

struct lab_chain lab_chain_open(const struct lab_reader *reader, int root)
{
    struct lab_chain chain = {.count = 0};
    if (lab_node_of(reader, root)->kind != LAB_NODE_CHAIN) {
        chain.side[chain.count++] = root;
        return chain;
    }
    for (int c = lab_node_of(reader, root)->child; c >= 0 && chain.count < LAB_SIDES;
         c = lab_node_of(reader, c)->next) {
        chain.after[chain.count] = lab_node_of(reader, c)->after;
        chain.side[chain.count++] = c;
    }
    for (int i = 0; i < chain.count; i++)
        chain.limit |= lab_node_of(reader, chain.side[i])->kind == LAB_NODE_LIMIT;
    return chain;
}

/* The letter of a side that is nothing else. */
int lab_lone_letter(const struct lab_reader *reader, int node, struct lab_name *name)
{
    const struct lab_node *n = lab_node_of(reader, node);
    if (n->kind == LAB_NODE_LIST && n->child >= 0 &&
        lab_node_of(reader, n->child)->next < 0)
        n = lab_node_of(reader, n->child);
    if (n->kind != LAB_NODE_LETTER)
        return 0;
    lab_name_split(n->name, name);
    return 1;
}

enum lab_role lab_letter_role(const struct lab_reader *reader,
                              const struct lab_name *name)
{
    return lab_role_of(&reader->letters, name->base, name->indices > 0);
}

int lab_receive_other(struct lab_reader *reader, const char *why)
{
    return reader->surveying ? 0 : reader->to.other(reader->to.arg, why);
}

int lab_receive(struct lab_reader *reader, struct lab_understood *u)
{
    char why[100] = "";
    if (reader->surveying)
        return 0;
    if (lab_understood_complete(&reader->settled, u, why))
        return reader->to.other(reader->to.arg, why);
    return reader->to.claim(reader->to.arg, u);
}

int lab_receive_text(struct lab_reader *reader, const char *text, unsigned uses)
{
    struct lab_understood u = {.uses = uses};
    snprintf(u.text, sizeof u.text, "%s", text);
    return lab_receive(reader, &u);
}

int lab_name_key(const struct lab_name *name)
{
    for (int i = name->indices - 1; i >= 0; i--)
        if (strcmp(name->index[i], "1") && strcmp(name->index[i], "2"))
            return !strcmp(name->index[i], "a")   ? 'a'
                   : !strcmp(name->index[i], "b") ? 'b'
                                                  : 'i';
    return 0;
}

/* What a side is, and the index of its key. */
enum lab_thing lab_thing_of(const struct lab_reader *reader, int node, char index[16])
{
    const struct lab_node *n = lab_node_of(reader, node);
    struct lab_name name;
    *index = 0;
    if (n->kind == LAB_NODE_NUMBER && n->value == 0)
        return LAB_THING_ZERO;
    if (n->kind == LAB_NODE_SERIES && n->child >= 0) {
        const struct lab_node *const body = lab_node_of(reader, n->child);
        if (body->kind != LAB_NODE_LETTER)
            return LAB_THING_NONE;
        lab_name_split(body->name, &name);
        return lab_letter_role(reader, &name) == LAB_ROLE_WEIGHT ? LAB_THING_OTHERS
                                                                 : LAB_THING_NONE;
    }
    if (n->kind == LAB_NODE_CALL && n->child >= 0 &&
        (!strcmp(n->name, "norm") || !strcmp(n->name, "abs")))
        return lab_thing_of(reader, n->child, index) == LAB_THING_KEY ? LAB_THING_KEY
                                                                      : LAB_THING_NONE;
    if (n->kind == LAB_NODE_PRODUCT && n->child >= 0) {
        const struct lab_node *key = lab_node_of(reader, n->child);
        const struct lab_node *query =
            key->next >= 0 ? lab_node_of(reader, key->next) : NULL;
        if (!query || query->next >= 0)
            return LAB_THING_NONE;
        if (key->kind == LAB_NODE_TRANSPOSE)
            key = lab_node_of(reader, key->child);
        if (query->kind == LAB_NODE_TRANSPOSE)
            query = lab_node_of(reader, query->child);
        struct lab_name other_name;
        if (key->kind != LAB_NODE_LETTER || query->kind != LAB_NODE_LETTER)
            return LAB_THING_NONE;
        lab_name_split(key->name, &name);
        lab_name_split(query->name, &other_name);
        if (lab_letter_role(reader, &name) == LAB_ROLE_QUERY) {
            const struct lab_name swap = name;
            name = other_name;
            other_name = swap;
        }
        if (lab_letter_role(reader, &name) != LAB_ROLE_KEY ||
            lab_letter_role(reader, &other_name) != LAB_ROLE_QUERY || !name.indices)
            return LAB_THING_NONE;
        snprintf(index, 16, "%s", name.index[name.indices - 1]);
        return LAB_THING_SCORE;
    }
    if (!lab_lone_letter(reader, node, &name) || !name.indices)
        return LAB_THING_NONE;
    snprintf(index, 16, "%s", name.index[name.indices - 1]);
    const enum lab_role role = lab_letter_role(reader, &name);
    return role == LAB_ROLE_SCORE    ? LAB_THING_SCORE
           : role == LAB_ROLE_WEIGHT ? LAB_THING_WEIGHT
           : role == LAB_ROLE_KEY    ? LAB_THING_KEY
                                     : LAB_THING_NONE;
}

const char *lab_relation_sign(unsigned char relation)
{
    switch (relation) {
    case LAB_REL_EQUAL:
        return "=";
    case LAB_REL_NEAR:
    case LAB_REL_TENDS:
    case LAB_REL_DISTRIBUTED: /* no law: see is_law */
        return "~";
    case LAB_REL_UNEQUAL:
        return "!=";
    case LAB_REL_LESS:
        return "<";
    case LAB_REL_MORE:
        return ">";
    case LAB_REL_AT_MOST:
        return "<=";
    case LAB_REL_AT_LEAST:
        return ">=";
    default:
        return NULL;
    }
}

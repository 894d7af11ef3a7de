/* SPDX-License-Identifier: MIT */
/* Orders of scores, weights and keys, and the definitions of attention. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "lab/understanding/chains.h"

static int is_pair(const char *x, const char *y)
{
    return (!strcmp(x, "a") && !strcmp(y, "b")) || (!strcmp(x, "b") && !strcmp(y, "a"));
}

/* Weights of one key far above all others' together. */
static int claim_ratio(struct lab_reader *reader)
{
    struct lab_understood u = {.uses = LAB_USES_FIRST,
                               .claim = {.query = {"ln(r (n - 1)) k_a"},
                                         .grows = "the ratio",
                                         .free = LAB_FREE_SCALE}};
    snprintf(u.text, sizeof u.text, "alpha_a ~ 1; c ~ v_a");
    snprintf(u.exact, sizeof u.exact,
             "With r = alpha_j / sum of the others, alpha_j = r/(1+r) and |c - v_j| <= "
             "max|v_i - v_j|/(1+r).");
    return lab_receive(reader, &u);
}

/* `reversed`: the score of the key that is copied is printed as the small one. */
static int claim_gap(struct lab_reader *reader, int pair, int near, int reversed)
{
    const int of_means = reader->settled.subject == LAB_SUBJECT_NOISE;
    struct lab_understood u = {.uses = LAB_USES_OUTPUT,
                               .claim = {.grows = "the gap", .free = LAB_FREE_SCALE}};
    snprintf(u.query[0], LAB_SIDE, "%s",
             !pair      ? "C k_a"
             : of_means ? "C (mu_a + mu_b)"
             : near     ? "(C + 1/C) k_a + C k_b"
                        : "C (k_a + k_b)");
    if (reversed) {
        snprintf(u.slip_query, LAB_SIDE, "%s", u.query[0]);
        snprintf(u.query[0], LAB_SIDE, "-C k_a");
        snprintf(u.as, sizeof u.as, "<< for >>");
    }
    u.claim.query[0] = u.query[0];
    snprintf(u.text, sizeof u.text, pair ? "c ~ (v_a + v_b)/2" : "c ~ v_a");
    snprintf(u.exact, sizeof u.exact, "%s",
             pair ? "The scores of a and b must agree, and exceed the others' by "
                    "ln((n-2)/(2 eps))."
                  : "A score above every other by ln((n-1)(1-eps)/eps) gives the weight "
                    "1 - eps; the difference counts, not the ratio.");
    snprintf(u.found, sizeof u.found, pair ? "" : "condition");
    return lab_receive(reader, &u);
}

/* A long key: a copy for some queries alone. */
static int claim_long_key(struct lab_reader *reader)
{
    struct lab_understood u = {
        .claim = {.argument = {.given =
                                   "a key 1000 times as long as the two others, q of "
                                   "length 1",
                               .letter = "q",
                               .of = {"mu_a", "mu_b", "-mu_a"},
                               .key = {"1000 mu_a", "mu_b", "mu_i"},
                               .query = "q",
                               .premise = "abs(norm(q) - 1)",
                               .conclusion = "1 - v_a^T p"}}};
    snprintf(u.shown, sizeof u.shown, "norm(k_j) >> norm(k_i), therefore alpha_j ~ 1");
    snprintf(u.exact, sizeof u.exact,
             "The gap of the scores decides: a long key has a large score only at an "
             "angle to q below 90 degrees.");
    snprintf(u.found, sizeof u.found, "key-length");
    if (reader->surveying)
        return 0;
    return reader->to.claim(reader->to.arg, &u);
}

/* x >> y: 1, 0 if it is nothing of the exercise, or -1. */
int lab_order_claims(struct lab_reader *reader, const struct lab_chain *chain, int at)
{
    const int more = chain->after[at] == LAB_REL_FAR_MORE;
    char big[16], small[16], beside[16];
    const enum lab_thing left =
        lab_thing_of(reader, chain->side[more ? at : at + 1], big);
    const enum lab_thing right =
        lab_thing_of(reader, chain->side[more ? at + 1 : at], small);
    const enum lab_subject subject = reader->settled.subject;
    if (right == LAB_THING_ZERO)
        return 1;
    if (left == LAB_THING_WEIGHT && right == LAB_THING_OTHERS &&
        subject == LAB_SUBJECT_COPY)
        return claim_ratio(reader) ? -1 : 1;
    if (left == LAB_THING_SCORE && right == LAB_THING_SCORE) {
        const int joined =
            at > 0 &&
            (chain->after[at - 1] == LAB_REL_EQUAL ||
             chain->after[at - 1] == LAB_REL_NEAR) &&
            lab_thing_of(reader, chain->side[at - 1], beside) == LAB_THING_SCORE &&
            is_pair(beside, big);
        if (joined)
            return claim_gap(reader, 1, chain->after[at - 1] == LAB_REL_NEAR, 0) ? -1 : 1;
        if (subject == LAB_SUBJECT_COPY)
            return claim_gap(reader, 0, 0,
                             !more && !strcmp(big, "i") &&
                                 !strcmp(small, reader->settled.lead))
                       ? -1
                       : 1;
        return 0;
    }
    if (left == LAB_THING_KEY && right == LAB_THING_KEY && subject == LAB_SUBJECT_COPY)
        return claim_long_key(reader) ? -1 : 1;
    return 0;
}

/* S(X), c = sum alpha_i v_i, alpha_i = exp(..)/sum exp(..): by definition. */
int lab_attention_claims(struct lab_reader *reader, const struct lab_chain *chain)
{
    struct lab_name name, inner;
    if (chain->count < 2 || chain->after[0] != LAB_REL_EQUAL ||
        !lab_lone_letter(reader, chain->side[0], &name) ||
        reader->settled.subject == LAB_SUBJECT_EXTRACT || lab_on_tokens(&reader->settled))
        return 0;
    const struct lab_node *const side = lab_node_of(reader, chain->side[1]);
    const enum lab_role role = lab_letter_role(reader, &name);
    if (side->kind == LAB_NODE_SERIES && side->child >= 0 && role == LAB_ROLE_OUTPUT &&
        !name.indices) {
        const struct lab_node *const body = lab_node_of(reader, side->child);
        int weights = 0, values = 0, factors = 0;
        if (body->kind != LAB_NODE_PRODUCT)
            return 0;
        for (int c = body->child; c >= 0; c = lab_node_of(reader, c)->next, factors++)
            if (lab_lone_letter(reader, c, &inner)) {
                weights += lab_letter_role(reader, &inner) == LAB_ROLE_WEIGHT;
                values += lab_letter_role(reader, &inner) == LAB_ROLE_VALUE;
            }
        if (factors != 2 || weights != 1 || values != 1)
            return 0;
        return chain->count == 2
                   ? lab_receive_text(reader, "off_c = 0", LAB_USES_SCALE) ? -1 : 1
                   : 0;
    }
    if (side->kind != LAB_NODE_QUOTIENT || side->child < 0 || !name.indices ||
        name.index[name.indices - 1][1] ||
        strchr("ab12", name.index[name.indices - 1][0]))
        return 0;
    const int below = lab_node_of(reader, side->child)->next;
    if (below < 0 || lab_node_of(reader, below)->kind != LAB_NODE_SERIES ||
        (role != LAB_ROLE_WEIGHT && role != LAB_ROLE_NONE && role != LAB_ROLE_SCORE))
        return 0;
    /* exp of a score above, and the sum of the same below. */
    const struct lab_node *const above = lab_node_of(reader, side->child);
    const struct lab_node *const body =
        lab_node_of(reader, lab_node_of(reader, below)->child);
    char index[2][16];
    const struct lab_node *const both[] = {above, body};
    for (int i = 0; i < 2; i++) {
        int argument = -1;
        if (both[i]->kind == LAB_NODE_CALL && !strcmp(both[i]->name, "exp"))
            argument = both[i]->child;
        else if (both[i]->kind == LAB_NODE_POWER && both[i]->child >= 0 &&
                 !strcmp(lab_node_of(reader, both[i]->child)->name, "e"))
            argument = lab_node_of(reader, both[i]->child)->next;
        if (argument < 0 || lab_thing_of(reader, argument, index[i]) != LAB_THING_SCORE)
            return 0;
    }
    if (strcmp(index[0], name.index[name.indices - 1]) != 0)
        return 0;
    if (role != LAB_ROLE_WEIGHT)
        lab_role_set(&reader->letters, name.base, LAB_ROLE_WEIGHT,
                     reader->document->passage[reader->passage].line);
    return lab_receive_text(reader, "off_p = 0", LAB_USES_SCALE) ? -1 : 1;
}

/* alpha_1 + alpha_2 + ... + alpha_n. */
static int is_sum_of_weights(const struct lab_reader *reader, int side)
{
    const struct lab_node *const n = lab_node_of(reader, side);
    struct lab_name name = {.base = ""};
    int first = -1, dots = 0;
    if (n->kind != LAB_NODE_SUM)
        return 0;
    for (int c = n->child; c >= 0; c = lab_node_of(reader, c)->next) {
        if (lab_node_of(reader, c)->kind == LAB_NODE_DOTS) {
            dots++;
            continue;
        }
        if (!lab_lone_letter(reader, c, &name) ||
            lab_letter_role(reader, &name) != LAB_ROLE_WEIGHT || name.indices != 1)
            return 0;
        if (first < 0)
            first = !strcmp(name.index[0], "1") || !strcmp(name.index[0], "a");
    }
    return dots == 1 && first == 1 &&
           lab_role_of(&reader->letters, name.index[0], 0) == LAB_ROLE_KEYS;
}

/* alpha_i in [0, 1], open or closed. */
static int weights_in(const struct lab_reader *reader, const struct lab_chain *chain)
{
    char index[16];
    const struct lab_node *const list =
        chain->count == 2 ? lab_node_of(reader, chain->side[1]) : NULL;
    if (!list || chain->after[0] != LAB_REL_IN || list->kind != LAB_NODE_LIST ||
        list->child < 0 ||
        lab_thing_of(reader, chain->side[0], index) != LAB_THING_WEIGHT)
        return 0;
    const struct lab_node *const low = lab_node_of(reader, list->child);
    const struct lab_node *const high =
        low->next >= 0 ? lab_node_of(reader, low->next) : low;
    return low->kind == LAB_NODE_NUMBER && low->value == 0 &&
           high->kind == LAB_NODE_NUMBER && high->value == 1;
}

/* Weights are shares: 0 <= alpha_i <= 1, sum alpha_i = 1, exp(..) >= 0. */
int lab_share_claims(struct lab_reader *reader, const struct lab_chain *chain)
{
    char index[16];
    struct lab_understood u = {
        .claim = {.topic = LAB_TOPIC_ROW, .grows = "C", .strict = 1}};
    if (reader->settled.subject == LAB_SUBJECT_EXTRACT || lab_on_tokens(&reader->settled))
        return 0;
    const int in_interval = weights_in(reader, chain);
    if (in_interval)
        snprintf(u.text, sizeof u.text, "p_least >= 0; p_most <= 1");
    for (int i = 0; i + 1 < chain->count && !in_interval; i++) {
        const struct lab_node *const right = lab_node_of(reader, chain->side[i + 1]);
        const struct lab_node *const left = lab_node_of(reader, chain->side[i]);
        const char *piece = NULL;
        const int is_zero = right->kind == LAB_NODE_NUMBER && right->value == 0;
        const int is_one = right->kind == LAB_NODE_NUMBER && right->value == 1;
        const int left_zero = left->kind == LAB_NODE_NUMBER && left->value == 0;
        const int left_one = left->kind == LAB_NODE_NUMBER && left->value == 1;
        const unsigned char rel = chain->after[i];
        const int generic_left =
            lab_thing_of(reader, chain->side[i], index) == LAB_THING_WEIGHT;
        const int generic_right =
            lab_thing_of(reader, chain->side[i + 1], index) == LAB_THING_WEIGHT;
        if (chain->count == 2 && is_one && rel == LAB_REL_EQUAL &&
            (lab_thing_of(reader, chain->side[i], index) == LAB_THING_OTHERS ||
             is_sum_of_weights(reader, chain->side[i])))
            piece = "sum_p = 1";
        else if (generic_left && is_zero && rel == LAB_REL_AT_LEAST)
            piece = "p_least >= 0";
        else if (generic_left && is_zero && rel == LAB_REL_MORE)
            piece = "p_least > 0";
        else if (generic_left && is_one &&
                 (rel == LAB_REL_AT_MOST || rel == LAB_REL_LESS))
            piece = "p_most <= 1";
        else if (generic_right && left_zero && rel == LAB_REL_AT_MOST)
            piece = "p_least >= 0";
        else if (generic_right && left_zero && rel == LAB_REL_LESS)
            piece = "p_least > 0";
        else if (generic_right && left_one && rel == LAB_REL_AT_LEAST)
            piece = "p_most <= 1";
        else if (left->kind == LAB_NODE_CALL && !strcmp(left->name, "exp") && is_zero &&
                 (rel == LAB_REL_AT_LEAST || rel == LAB_REL_MORE))
            piece = "exp(s_i) >= 0";
        else
            return 0;
        if (strlen(u.text) + strlen(piece) + 3 >= sizeof u.text)
            return 0;
        strcat(u.text, *u.text ? "; " : "");
        strcat(u.text, piece);
    }
    if (!*u.text)
        return 0;
    snprintf(u.exact, sizeof u.exact,
             "Weights are positive and add up to 1, for any finite scores.");
    return lab_receive(reader, &u) ? -1 : 1;
}

/* k_i^T q = -inf: that key is not seen. */
int lab_mask_claims(struct lab_reader *reader, const struct lab_chain *chain)
{
    char index[16];
    if (chain->count != 2 ||
        lab_thing_of(reader, chain->side[0], index) != LAB_THING_SCORE)
        return 0;
    const struct lab_node *n = lab_node_of(reader, chain->side[1]);
    const int minus = n->kind == LAB_NODE_MINUS && n->child >= 0;
    if (minus)
        n = lab_node_of(reader, n->child);
    const int infinite = n->kind == LAB_NODE_NUMBER && isinf(n->value) &&
                         (minus ? n->value > 0 : n->value < 0);
    return infinite ? lab_receive_text(reader, "p_masked = 1", 0) ? -1 : 1 : 0;
}

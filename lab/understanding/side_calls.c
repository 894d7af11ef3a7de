/* SPDX-License-Identifier: MIT */
/* Functions of a side: variances, probabilities, attention of an input. */
#include <stdio.h>
#include <string.h>

#include "lab/understanding/side.h"

/* k_a^T q - k_b^T q, or s_a - s_b. */
static int is_gap(struct lab_writer *w, int node)
{
    struct lab_said said = {.text = ""};
    struct lab_writer inner = {.t = w->t, .said = &said};
    return node >= 0 && !lab_write_node(&inner, node, LAB_IN_SUM) &&
           (!strcmp(said.text, "s_a - s_b") || !strcmp(said.text, "s_b - s_a"));
}

static int write_variance(struct lab_writer *w, const struct lab_node *node)
{
    int factor[LAB_FACTORS];
    const int count =
        node->child >= 0 ? lab_side_factors(w->t, node->child, factor, 0) : 0;
    const struct lab_settled *const settled = w->t->settled;
    struct lab_name name = {.base = ""}, query;
    const int is_score =
        (count == 1 && lab_side_has_role(w, factor[0], LAB_ROLE_SCORE, &name)) ||
        (count == 2 && lab_side_has_role(w, factor[0], LAB_ROLE_KEY, &name) &&
         lab_side_has_role(w, factor[1], LAB_ROLE_QUERY, &query)) ||
        (count == 2 && lab_side_has_role(w, factor[1], LAB_ROLE_KEY, &name) &&
         lab_side_has_role(w, factor[0], LAB_ROLE_QUERY, &query));
    const char *index = lab_key_index(w, &name);
    const char key = index ? lab_write_key(w, index) : 0;
    w->said->uses |= LAB_USES_LAW;
    if (!is_score && !lab_takes_heads(settled) && is_gap(w, node->child)) {
        /* Keys are drawn apart from each other. */
        w->said->uses |= LAB_USES_FIRST | LAB_USES_SCALE;
        return lab_write(w, "(VarS_a + VarS_b)");
    }
    if (is_score && key && !lab_takes_heads(settled)) {
        w->said->uses |= LAB_USES_FIRST | LAB_USES_SCALE;
        return lab_write(w, "VarS_%c", key);
    }
    if (count == 1 && lab_side_has_role(w, factor[0], LAB_ROLE_OUTPUT, &name)) {
        if (!name.indices) {
            w->said->uses |= LAB_USES_OUTPUT;
            return lab_write(w, lab_takes_heads(settled) ? "V_c" : "V_1");
        }
        if (lab_takes_heads(settled) && lab_is_head(name.index[0])) {
            w->said->uses |= LAB_USES_HEADS;
            return lab_write(w, "V_%s", name.index[0]);
        }
    }
    if (count == 1 && lab_side_has_role(w, factor[0], LAB_ROLE_WEIGHT, &name) &&
        (index = lab_key_index(w, &name)) && lab_write_key(w, index) == 'a' &&
        !lab_takes_heads(settled)) {
        w->said->uses |= LAB_USES_FIRST;
        return lab_write(w, "D_1^2");
    }
    if (count == 1 && lab_side_has_role(w, factor[0], LAB_ROLE_LENGTH, &name))
        return lab_write(w, "Var_gamma");
    return lab_write_fail(w, "a variance of something else");
}

static int write_covariance(struct lab_writer *w, const struct lab_node *node)
{
    struct lab_name name, second;
    int factor[LAB_FACTORS];
    const int next = node->child >= 0 ? lab_side_node(w->t, node->child)->next : -1;
    if (next >= 0 && lab_takes_heads(w->t->settled) &&
        lab_side_has_role(w, node->child, LAB_ROLE_OUTPUT, &name) &&
        lab_side_has_role(w, next, LAB_ROLE_OUTPUT, &second) && name.indices &&
        second.indices && strcmp(name.index[0], second.index[0]) != 0) {
        w->said->uses |= LAB_USES_HEADS | LAB_USES_LAW;
        return lab_write(w, "Cov_12");
    }
    if (node->child < 0 || lab_side_factors(w->t, node->child, factor, 0) != 1 ||
        !lab_side_has_role(w, factor[0], LAB_ROLE_KEY, &name))
        return lab_write_fail(w, "a covariance of something else");
    const char *const index = lab_key_index(w, &name);
    const char key = index ? lab_write_key(w, index) : 0;
    return key ? lab_write(w, "Sigma_%c", key)
               : lab_write_fail(w, "a key without an index");
}

/* X, or the permuted input: 0, 1, or -1 for another matrix. */
static int input_of(const struct lab_writer *w, int node)
{
    struct lab_said said = {.text = ""};
    struct lab_writer inner = {.t = w->t, .said = &said};
    if (node < 0 || lab_write_node(&inner, node, LAB_IN_SUM))
        return -1;
    if (!strcmp(said.text, "X"))
        return 0;
    if (!strcmp(said.text, "X_moved"))
        return 1;
    return !strcmp(said.text, *w->t->settled->input ? w->t->settled->input : "Pi X") ? 1
                                                                                     : -1;
}

/* S(X), softmax(S(X)), Attention(X), Q(X) of the permutation. */
static int write_attention(struct lab_writer *w, const struct lab_node *node,
                           enum lab_level level)
{
    static const struct {
        const char *name, *as;
    } known[] = {
        {"S", "S"},      {"scores", "S"}, {"Attention", "Att"}, {"attention", "Att"},
        {"Attn", "Att"}, {"attn", "Att"}, {"Att", "Att"},       {"SelfAttention", "Att"},
        {"SA", "Att"},   {"A", "P"},      {"H", "Att"},         {"f", "Att"},
        {"F", "Att"},    {"Y", "Att"},
    };
    const struct lab_node *const inside =
        node->child >= 0 ? lab_side_node(w->t, node->child) : NULL;
    const int is_softmax =
        !strcmp(node->name, "softmax") || !strcmp(node->name, "Softmax");
    if (is_softmax && inside && inside->kind == LAB_NODE_CALL &&
        (!strcmp(inside->name, "S") || !strcmp(inside->name, "scores"))) {
        const int moved = input_of(w, inside->child);
        w->said->uses |= moved == 1 ? LAB_USES_INPUT : 0;
        return moved < 0 ? lab_write_fail(w, "softmax of something else")
                         : lab_write(w, moved ? "P_moved" : "P");
    }
    if (is_softmax)
        return lab_write(w, "softmax(") || lab_write_node(w, node->child, LAB_IN_SUM) ||
                       lab_write(w, ")")
                   ? -1
                   : 0;
    if (strlen(node->name) == 1 && strchr("QKV", node->name[0]))
        return (level > LAB_IN_TERM && lab_write(w, "(")) ||
                       lab_write_node(w, node->child,
                                      level > LAB_IN_TERM ? LAB_IN_TERM
                                                          : LAB_IN_PRODUCT) ||
                       lab_write(w, " W_%s", node->name) ||
                       (level > LAB_IN_TERM && lab_write(w, ")"))
                   ? -1
                   : 0;
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (strcmp(node->name, known[i].name))
            continue;
        const int moved = input_of(w, node->child);
        w->said->uses |= moved == 1 ? LAB_USES_INPUT : 0;
        return moved < 0 ? lab_write_fail(w, "%s of something else", node->name)
                         : lab_write(w, "%s%s", known[i].as, moved ? "_moved" : "");
    }
    return lab_write_fail(w, "%s is unknown", node->name);
}

/* P(c closer to v_a), by the words in it. */
static int write_probability(struct lab_writer *w, const struct lab_node *node)
{
    int closer = 0, of_a = 0, of_b = 0;
    for (int i = 0; i < w->t->formula->nodes; i++) {
        const struct lab_node *const n = lab_side_node(w->t, i);
        if (n->begin < node->begin || n->end > node->end)
            continue;
        closer |= n->kind == LAB_NODE_TEXT && strstr(n->name, "closer");
        of_a |= n->kind == LAB_NODE_LETTER &&
                (!strcmp(n->name, "v_a") || !strcmp(n->name, "V_a"));
        of_b |= n->kind == LAB_NODE_LETTER &&
                (!strcmp(n->name, "v_b") || !strcmp(n->name, "V_b"));
    }
    if (!closer || of_a == of_b || lab_takes_heads(w->t->settled))
        return lab_write_fail(w, "a probability of something else");
    w->said->uses |= LAB_USES_OUTPUT | LAB_USES_LAW;
    return lab_write(w, of_a ? "P_closer" : "(1 - P_closer)");
}

int lab_write_call(struct lab_writer *w, const struct lab_node *node,
                   enum lab_level level)
{
    static const char *const same[] = {"exp", "ln",   "log", "sqrt", "norm",
                                       "abs", "tanh", "sin", "cos"};
    if (!strcmp(node->name, "sigma") || !strcmp(node->name, "sigmoid")) {
        w->said->uses |= LAB_USES_EXP;
        return lab_write(w, "sg(") || lab_write_node(w, node->child, LAB_IN_SUM) ||
                       lab_write(w, ")")
                   ? -1
                   : 0;
    }
    if (!strcmp(node->name, "Var"))
        return write_variance(w, node);
    if (!strcmp(node->name, "Cov"))
        return write_covariance(w, node);
    for (size_t i = 0; i < sizeof same / sizeof same[0]; i++) {
        if (strcmp(node->name, same[i]) != 0)
            continue;
        if (node->child < 0 || lab_side_node(w->t, node->child)->next >= 0)
            return lab_write_fail(w, "%s of several arguments", node->name);
        if (!strcmp(node->name, "exp"))
            w->said->uses |= LAB_USES_EXP;
        if (!strcmp(node->name, "sqrt"))
            w->said->uses |= LAB_USES_ROOT;
        return lab_write(w, "%s(", node->name) ||
                       lab_write_node(w, node->child, LAB_IN_SUM) || lab_write(w, ")")
                   ? -1
                   : 0;
    }
    if (lab_on_tokens(w->t->settled))
        return write_attention(w, node, level);
    if (!strcmp(node->name, "P"))
        return write_probability(w, node);
    return lab_write_fail(w, "%s is no function of the exercise", node->name);
}

/* SPDX-License-Identifier: MIT */
/* Laws of keys, of their lengths and of their noise. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lab/understanding/chains.h"

/* The arguments of N(mean, variance), as a CALL, or a LIST after a letter N. */
int lab_normal_law(const struct lab_reader *reader, int side, int argument[2])
{
    const struct lab_node *n = lab_node_of(reader, side);
    int first = -1;
    if (n->kind == LAB_NODE_CALL && n->name[0] == 'N')
        first = n->child;
    else if (n->kind == LAB_NODE_PRODUCT && n->child >= 0 &&
             lab_node_of(reader, n->child)->kind == LAB_NODE_LETTER &&
             lab_node_of(reader, n->child)->name[0] == 'N')
        first = lab_node_of(reader, n->child)->next;
    if (first >= 0 && lab_node_of(reader, first)->kind == LAB_NODE_LIST &&
        lab_node_of(reader, first)->next < 0)
        first = lab_node_of(reader, first)->child;
    if (first < 0 || lab_node_of(reader, first)->next < 0)
        return 0;
    argument[0] = first;
    argument[1] = lab_node_of(reader, first)->next;
    return lab_node_of(reader, argument[1])->next < 0;
}

static int law_of_length(struct lab_reader *reader, const struct lab_name *name,
                         const struct lab_said said[2])
{
    char text[LAB_CLAIM_TEXT];
    const int of_b = name->indices && lab_name_key(name) == 'b';
    struct lab_settled *const settled = &reader->settled;
    double variance = NAN;
    struct lab_expression formula;
    struct lab_expression_error error;
    struct lab_value value;
    if (!lab_expression_parse(said[1].text, &formula, &error) &&
        !lab_expression_evaluate(&formula, NULL, 0, &value, &error))
        variance = value.x[0];
    settled->own_law[of_b] = isfinite(variance);
    settled->variance[of_b] = variance;
    snprintf(text, sizeof text, "E_gamma%s = %.150s; Var_gamma%s = %.150s",
             of_b ? "_b" : "", said[0].text, of_b ? "_b" : "", said[1].text);
    return lab_receive_text(reader, text, LAB_USES_LENGTH);
}

int lab_law_claims(struct lab_reader *reader, const struct lab_chain *chain, int at)
{
    struct lab_name name;
    struct lab_said said[2];
    struct lab_translation t = lab_translation_of(reader);
    int argument[2];
    char text[LAB_CLAIM_TEXT];
    char index[16];
    if (lab_thing_of(reader, chain->side[at], index) == LAB_THING_SCORE &&
        lab_normal_law(reader, chain->side[at + 1], argument) &&
        !lab_side_say(&t, chain->side[at], &said[0]) &&
        !lab_side_say(&t, argument[1], &said[1]) && !lab_takes_heads(&reader->settled)) {
        snprintf(text, sizeof text, "VarS_%.1s = %.300s", said[0].text + 2, said[1].text);
        return lab_receive_text(reader, text, LAB_USES_FIRST | LAB_USES_LAW);
    }
    if (!lab_lone_letter(reader, chain->side[at], &name) ||
        !lab_normal_law(reader, chain->side[at + 1], argument))
        return lab_receive_other(reader, "a law that is not judged");
    const int line = reader->document->passage[reader->passage].line;
    const int has_key = name.indices && lab_name_key(&name);
    enum lab_role role = lab_letter_role(reader, &name);
    struct lab_name mean;
    if (role == LAB_ROLE_KEY && lab_lone_letter(reader, argument[0], &mean) &&
        mean.indices)
        lab_role_set(&reader->letters, mean.base, LAB_ROLE_MEAN, line);
    if (role == LAB_ROLE_NONE &&
        lab_node_of(reader, argument[0])->kind == LAB_NODE_NUMBER &&
        lab_node_of(reader, argument[0])->value == 1) {
        lab_role_set(&reader->letters, name.base, LAB_ROLE_LENGTH, line);
        role = LAB_ROLE_LENGTH;
    }
    for (int i = 0; i < 2; i++)
        if (lab_side_say(&t, argument[i], &said[i]))
            return lab_receive_other(reader, said[i].why);
    if (role == LAB_ROLE_LENGTH)
        return law_of_length(reader, &name, said);
    if (role != LAB_ROLE_KEY || !has_key)
        return lab_receive_other(reader, "a law of something else");
    const int key = lab_name_key(&name);
    char covariance[16];
    snprintf(covariance, sizeof covariance, "Sigma_%c", key);
    if (!strcmp(said[1].text, covariance))
        return lab_receive_other(reader, "a definition");
    /* Of the noise in every direction before the question about magnitudes. */
    if (key == 'a' && !lab_lengths_vary(&reader->settled) && !strstr(said[1].text, "mu_"))
        snprintf(covariance, sizeof covariance, "Sigma_b");
    snprintf(text, sizeof text, "%s = %.300s", covariance, said[1].text);
    return lab_receive_text(reader, text, 0);
}

/* Whether a text is the number, or that times the mean of a. */
static int is_times(const char *text, double number)
{
    char *end;
    const double value = strtod(text, &end);
    return value == number && (!*end || !strcmp(end, " mu_a"));
}

/* k_a in [0.5 mu_a, 1.5 mu_a], gamma in [0.5, 1.5]. */
int lab_interval_claims(struct lab_reader *reader, const struct lab_chain *chain, int at)
{
    struct lab_name name;
    struct lab_translation t = lab_translation_of(reader);
    struct lab_said low, high;
    const struct lab_node *const n = lab_node_of(reader, chain->side[at + 1]);
    if (!lab_lone_letter(reader, chain->side[at], &name) || n->kind != LAB_NODE_LIST ||
        n->name[0] != '[' || n->child < 0 || lab_node_of(reader, n->child)->next < 0)
        return 0;
    const enum lab_role role = lab_letter_role(reader, &name);
    if ((role != LAB_ROLE_KEY || lab_name_key(&name) != 'a') && role != LAB_ROLE_LENGTH)
        return 0;
    if (lab_side_say(&t, n->child, &low) ||
        lab_side_say(&t, lab_node_of(reader, n->child)->next, &high) ||
        !is_times(low.text, 0.5) || !is_times(high.text, 1.5))
        return lab_receive_other(reader, "an interval that is not judged") ? -1 : 1;
    return lab_receive_text(reader, "P_inside = 1", LAB_USES_LENGTH) ? -1 : 1;
}

/* c in R^d beside V_a = A c. */
int lab_dimension_claims(struct lab_reader *reader, const struct lab_chain *chain, int at)
{
    struct lab_name name;
    const struct lab_node *const n = lab_node_of(reader, chain->side[at + 1]);
    if (at || reader->settled.subject != LAB_SUBJECT_EXTRACT ||
        !lab_lone_letter(reader, chain->side[0], &name) || strcmp(name.base, "c") ||
        name.indices || n->kind != LAB_NODE_POWER || n->child < 0)
        return 0;
    const int exponent = lab_node_of(reader, n->child)->next;
    if (exponent < 0 || lab_node_of(reader, exponent)->kind != LAB_NODE_LETTER)
        return 0;
    const char *const size = lab_node_of(reader, exponent)->name;
    if (!strcmp(size, "d"))
        return lab_receive_text(reader, "A c_d = v_a", 0) ? -1 : 1;
    if (!strcmp(size, "m"))
        return lab_receive_text(reader, "A c = v_a", 0) ? -1 : 1;
    return 0;
}

/* "m + L x", x a vector of its own: its covariance L L^T, against that of the keys. */
int lab_noise_claims(struct lab_reader *reader, const struct lab_chain *chain)
{
    struct lab_name name;
    if (chain->count < 2 || !lab_lone_letter(reader, chain->side[0], &name) ||
        lab_letter_role(reader, &name) != LAB_ROLE_KEY ||
        lab_lengths_vary(&reader->settled))
        return 0;
    for (int i = 1; i < chain->count; i++) {
        const struct lab_node *const n = lab_node_of(reader, chain->side[i]);
        struct lab_translation t = lab_translation_of(reader);
        struct lab_said said;
        char factor[LAB_SIDE] = "", text[LAB_CLAIM_TEXT];
        if (n->kind != LAB_NODE_SUM || n->child < 0 ||
            !lab_lone_letter(reader, n->child, &name) ||
            lab_letter_role(reader, &name) != LAB_ROLE_MEAN)
            continue;
        const int second = lab_node_of(reader, n->child)->next;
        const struct lab_node *const product =
            second >= 0 ? lab_node_of(reader, second) : NULL;
        if (!product || product->next >= 0 || product->kind != LAB_NODE_PRODUCT)
            continue;
        int c = product->child;
        for (; c >= 0 && lab_node_of(reader, c)->next >= 0;
             c = lab_node_of(reader, c)->next) {
            if (lab_side_say(&t, c, &said) ||
                strlen(factor) + strlen(said.text) + 4 >= sizeof factor)
                return 0;
            strcat(factor, *factor ? " " : "");
            strcat(factor, said.text);
        }
        if (c < 0 || !lab_lone_letter(reader, c, &name) ||
            (lab_letter_role(reader, &name) != LAB_ROLE_NONE &&
             lab_letter_role(reader, &name) != LAB_ROLE_LENGTH))
            continue;
        const int matrix = strchr(factor, 'I') || strstr(factor, "Sigma");
        if (strstr(factor, "Sigma")) /* Sigma x: alpha I x, by the question */
            snprintf(factor, sizeof factor, "alpha I");
        snprintf(text, sizeof text,
                 matrix ? "Sigma_i = (%.150s) (%.150s)^T"
                        : "Sigma_i = (%.150s) (%.150s) I",
                 factor, factor);
        return lab_receive_text(reader, text, 0) ? -1 : 1;
    }
    return 0;
}

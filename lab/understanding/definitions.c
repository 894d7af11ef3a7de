/* SPDX-License-Identifier: MIT */
/* Queries and matrices that a text defines; the last of a question is its answer. */
#include <stdio.h>
#include <string.h>

#include "lab/understanding/chains.h"
#include "lab/understanding/side.h"

int lab_answer_claim(struct lab_reader *reader, const char *part)
{
    const struct lab_settled *const settled = &reader->settled;
    struct lab_understood u = {.uses = LAB_USES_OUTPUT};
    snprintf(u.found, sizeof u.found, "%s", part);
    if (!strcmp(part, "M")) {
        const char *const m = settled->matrix;
        snprintf(u.text, sizeof u.text,
                 strchr(m, ' ') ? "(%s) (v_a + v_b) = v_a" : "%s (v_a + v_b) = v_a", m);
        snprintf(u.exact, sizeof u.exact,
                 "M = A A^T: A^T (v_a + v_b) = c, and A c = v_a.");
        return lab_receive(reader, &u);
    }
    if (settled->subject == LAB_SUBJECT_COPY) {
        snprintf(u.text, sizeof u.text, "c ~ v_a");
    } else if (settled->subject == LAB_SUBJECT_AVERAGE ||
               settled->subject == LAB_SUBJECT_NOISE ||
               settled->subject == LAB_SUBJECT_HEADS) {
        snprintf(u.text, sizeof u.text, "c ~ (v_a + v_b)/2");
        snprintf(u.exact, sizeof u.exact, "%s",
                 settled->subject == LAB_SUBJECT_AVERAGE
                     ? "C (k_a + k_b) with C >= ln((n-2)(1-eps)/(2 eps)) leaves eps for "
                       "the other keys."
                 : settled->subject == LAB_SUBJECT_NOISE
                     ? "C (mu_a + mu_b) with C >= ln((n-2)(1-eps)/(2 eps)) and alpha C^2 "
                       "<< 1."
                     : "C mu_a and C mu_b with C >= ln((n-1)(1-eps)/eps): each head "
                       "copies one value.");
    } else {
        return 0;
    }
    return lab_receive(reader, &u);
}

/* Letters without a meaning that multiply a query are its scale. */
static void learn_scale(struct lab_reader *reader, int node, int depth)
{
    const struct lab_node *const n = lab_node_of(reader, node);
    struct lab_name name;
    if (depth > 20)
        return;
    if (n->kind == LAB_NODE_LETTER) {
        lab_name_split(n->name, &name);
        const enum lab_role role = lab_letter_role(reader, &name);
        const int line = reader->document->passage[reader->passage].line;
        const int counts = role == LAB_ROLE_NONE && (!name.indices || name.indices == 1);
        if (role == LAB_ROLE_OUTPUT)
            lab_role_note(&reader->letters, name.base, LAB_ROLE_SCALE, line);
        if ((counts && strcmp(name.base, "e") && strcmp(name.base, "pi")) ||
            role == LAB_ROLE_SCALE)
            lab_role_set(&reader->letters, name.base, LAB_ROLE_SCALE, line);
        return;
    }
    if (n->kind == LAB_NODE_CALL || n->kind == LAB_NODE_SERIES)
        return;
    for (int c = n->child; c >= 0; c = lab_node_of(reader, c)->next)
        learn_scale(reader, c, depth + 1);
}

/* Whether a text is a column of keys or means, not a product of two. */
static int is_column(const char *text)
{
    static const double three[3] = {1, 2, 3};
    static const char *const columns[] = {"k_a", "k_b", "k_i", "mu_a", "mu_b", "mu_i"};
    static const char *const numbers[] = {"C", "beta", "n", "m", "d", "alpha", "gamma"};
    struct lab_letter letter[16];
    struct lab_expression formula;
    struct lab_expression_error error;
    struct lab_value value;
    int count = 0;
    for (size_t i = 0; i < sizeof columns / sizeof columns[0]; i++)
        letter[count++] = (struct lab_letter){columns[i], 3, 1, three};
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        letter[count++] = (struct lab_letter){numbers[i], 1, 1, three};
    return !lab_expression_parse(text, &formula, &error) &&
           !lab_expression_evaluate(&formula, letter, count, &value, &error) &&
           value.rows == 3 && value.columns == 1;
}

/* A query of another shape than the one that it restates. */
static int misprinted(struct lab_reader *reader, const struct lab_said *said, int which)
{
    const char *const before = reader->settled.query[which];
    struct lab_understood u = {.uses = 0};
    if (!*before || strlen(said->text) + strlen(before) + 4 >= sizeof u.text)
        return lab_receive_other(reader, "a product of two columns is no query");
    snprintf(u.text, sizeof u.text, "%.190s = %.190s", said->text, before);
    snprintf(u.meant, sizeof u.meant, "%s", before);
    snprintf(u.as, sizeof u.as, "as line %d writes the query",
             reader->settled.query_line[which]);
    return lab_receive(reader, &u);
}

/* "with q = ... we also get", "q = ... gives the same": beside the query in force. */
static int is_other_way(const struct lab_reader *reader)
{
    const struct lab_document *const document = reader->document;
    const struct lab_passage *const p = &document->passage[reader->passage];
    const struct lab_passage *const of =
        p->sentence >= 0 ? &document->passage[p->sentence] : p;
    static const char *const words[] = {"also ", " same ", "lternative", " instead",
                                        " equally "};
    char text[400];
    const size_t length = of->end - of->begin;
    if (length >= sizeof text)
        return 0;
    memcpy(text, document->source + of->begin, length);
    text[length] = '\0';
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (strstr(text, words[i]))
            return 1;
    return 0;
}

/* "q = ..." with a vector of keys or means: 1, 0 if it is none, or -1. */
static int define_query(struct lab_reader *reader, int which, int side)
{
    struct lab_translation t = lab_translation_of(reader);
    struct lab_said said;
    const int node_line = reader->document->passage[reader->passage].line;
    const enum lab_shape shape = lab_side_shape(&t, side);
    if (shape == LAB_SHAPE_NUMBER || shape == LAB_SHAPE_MATRIX)
        return 0;
    learn_scale(reader, side, 0);
    t.beside = LAB_SHAPE_NUMBER; /* letters of scale or output are scales */
    char before[LAB_SIDE];
    snprintf(before, sizeof before, "%s", reader->settled.query[which]);
    reader->settled.query[which][0] = 0; /* a query is not defined by itself */
    if (lab_side_say(&t, side, &said) ||
        !(strstr(said.text, "k_") || strstr(said.text, "mu_"))) {
        snprintf(reader->settled.query[which], LAB_SIDE, "%s", before);
        return 0;
    }
    if (!is_column(said.text)) {
        snprintf(reader->settled.query[which], LAB_SIDE, "%s", before);
        return misprinted(reader, &said, which) ? -1 : 1;
    }
    const int other_way =
        *before && strcmp(before, said.text) != 0 && is_other_way(reader);
    if (other_way && reader->settled.alternative != node_line) {
        memcpy(reader->settled.main_query, reader->settled.query,
               sizeof reader->settled.main_query);
        snprintf(reader->settled.main_query[which], LAB_SIDE, "%s", before);
        reader->settled.alternative = node_line;
    }
    snprintf(reader->settled.query[which], LAB_SIDE, "%s", said.text);
    reader->settled.query_line[which] = node_line;
    if (other_way)
        return reader->surveying || which == 1 ||
                       (which == 2 && !*reader->settled.query[1])
                   ? lab_receive_other(reader, "another way") ? -1 : 1
               : lab_answer_claim(reader, which ? "other queries" : "other q") ? -1
                                                                               : 1;
    if (reader->surveying) {
        reader->last_line[which] = node_line;
        snprintf(reader->last_query[which], LAB_SIDE, "%s", said.text);
        return 1;
    }
    /* A query that is replaced later was a try. */
    if (strcmp(reader->last_query[which], said.text) != 0)
        return lab_receive_other(reader, "a definition, replaced later") ? -1 : 1;
    if (which == 2)
        return lab_receive_other(reader, "a definition") ? -1 : 1;
    if (which == 1 && (!*reader->settled.query[2] || reader->last_line[2] >= node_line))
        snprintf(reader->settled.query[2], LAB_SIDE, "%s", reader->last_query[2]);
    const enum lab_subject subject = reader->settled.subject;
    const int answers = which ? subject == LAB_SUBJECT_HEADS
                              : subject == LAB_SUBJECT_AVERAGE ||
                                    subject == LAB_SUBJECT_NOISE ||
                                    subject == LAB_SUBJECT_COPY;
    if (!answers || (which && !*reader->settled.query[2]))
        return lab_receive_other(reader, "a definition") ? -1 : 1;
    return lab_answer_claim(reader, which ? "queries" : "q") ? -1 : 1;
}

/* "q_i = mu_a": where q_1 is nowhere given, i is a scan's 1. */
static int define_first_head(struct lab_reader *reader, int side)
{
    struct lab_translation t = lab_translation_of(reader);
    struct lab_said said;
    if (reader->surveying) {
        t.beside = LAB_SHAPE_NUMBER;
        if (!lab_side_say(&t, side, &said) && is_column(said.text))
            snprintf(reader->first_head, LAB_SIDE, "%s", said.text);
        return 1;
    }
    if (!*reader->first_head || strcmp(reader->first_head, reader->last_query[1]) != 0)
        return lab_receive_other(reader, "a query of another head") ? -1 : 1;
    return define_query(reader, 1, side);
}

static int define_matrix(struct lab_reader *reader, int side)
{
    struct lab_translation t = lab_translation_of(reader);
    struct lab_said said;
    if (lab_side_say(&t, side, &said) || strstr(said.text, "v_"))
        return 0;
    if (*reader->settled.matrix && strcmp(reader->settled.matrix, said.text) != 0 &&
        is_other_way(reader)) {
        char before[LAB_SIDE];
        snprintf(before, sizeof before, "%s", reader->settled.matrix);
        snprintf(reader->settled.matrix, LAB_SIDE, "%s", said.text);
        const int failed = lab_answer_claim(reader, "M");
        snprintf(reader->settled.matrix, LAB_SIDE, "%s", before);
        return failed ? -1 : 1;
    }
    snprintf(reader->settled.matrix, LAB_SIDE, "%s", said.text);
    if (reader->surveying) {
        snprintf(reader->last_matrix, LAB_SIDE, "%s", said.text);
        return 1;
    }
    if (strcmp(reader->last_matrix, said.text) != 0)
        return lab_receive_other(reader, "a definition, replaced later") ? -1 : 1;
    return lab_answer_claim(reader, "M") ? -1 : 1;
}

/* q = ..., M = ...: 1, 0 or -1. */
int lab_define(struct lab_reader *reader, const struct lab_chain *chain)
{
    struct lab_name name;
    if (chain->count < 2 || chain->after[0] != LAB_REL_EQUAL ||
        !lab_lone_letter(reader, chain->side[0], &name))
        return 0;
    const enum lab_role role = lab_letter_role(reader, &name);
    struct lab_name second;
    /* q_1 = q_2 = x */
    if (role == LAB_ROLE_QUERY && name.indices && chain->count == 3 &&
        chain->after[1] == LAB_REL_EQUAL &&
        lab_lone_letter(reader, chain->side[1], &second) && second.indices &&
        lab_letter_role(reader, &second) == LAB_ROLE_QUERY &&
        lab_is_head(name.index[0]) && lab_is_head(second.index[0])) {
        const int first = define_query(reader, name.index[0][0] - '0', chain->side[2]);
        return first <= 0
                   ? first
                   : define_query(reader, second.index[0][0] - '0', chain->side[2]);
    }
    if (role == LAB_ROLE_QUERY && !name.indices)
        return define_query(reader, 0, chain->side[1]);
    if (role == LAB_ROLE_QUERY &&
        (!strcmp(name.index[0], "1") || !strcmp(name.index[0], "2")))
        return define_query(reader, name.index[0][0] - '0', chain->side[1]);
    if (role == LAB_ROLE_QUERY && lab_takes_heads(&reader->settled) &&
        (!strcmp(name.index[0], "i") || !strcmp(name.index[0], "l")))
        return define_first_head(reader, chain->side[1]);
    if (role == LAB_ROLE_MATRIX && reader->settled.subject == LAB_SUBJECT_EXTRACT &&
        chain->count == 2)
        return define_matrix(reader, chain->side[1]);
    return 0;
}

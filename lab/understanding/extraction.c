/* SPDX-License-Identifier: MIT */
/* Conditions on a matrix M, and reasons about the columns of A and B. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "lab/understanding/chains.h"

/* "x = I  c = c", apart by a gap: I c is a product. */
void lab_join_identity(const struct lab_reader *reader, int i, struct lab_chain *chain)
{
    const struct lab_formula *const formula = &reader->formula;
    struct lab_name name;
    if (chain->count < 2 || i + 1 >= formula->chains ||
        formula->chain[i + 1].before != LAB_AND ||
        !lab_lone_letter(reader, chain->side[chain->count - 1], &name) ||
        strcmp(name.base, "I"))
        return;
    const struct lab_chain next = lab_chain_open(reader, formula->chain[i + 1].root);
    if (!lab_lone_letter(reader, next.side[0], &name) || strcmp(name.base, "c"))
        return;
    chain->count--;
    for (int s = 0; s < next.count && chain->count < LAB_SIDES; s++) {
        chain->after[chain->count] = next.after[s];
        chain->side[chain->count++] = next.side[s];
    }
}

/* "x = 0 because a_i^T b_j = 0 for i != j": the reason leaves out i = j. */
int lab_reads_restricted(const struct lab_reader *reader, int i)
{
    const struct lab_formula *const formula = &reader->formula;
    struct lab_name x, y;
    if (reader->settled.subject != LAB_SUBJECT_EXTRACT || i + 2 >= formula->chains ||
        formula->chain[i + 1].before != LAB_BECAUSE ||
        formula->chain[i + 2].before != LAB_WHERE)
        return 0;
    const struct lab_chain reason = lab_chain_open(reader, formula->chain[i + 1].root);
    const struct lab_chain condition = lab_chain_open(reader, formula->chain[i + 2].root);
    const struct lab_node *const n = lab_node_of(reader, reason.side[0]);
    if (reason.count != 2 || condition.count != 2 ||
        condition.after[0] != LAB_REL_UNEQUAL || n->kind != LAB_NODE_PRODUCT ||
        n->child < 0 || lab_node_of(reader, n->child)->kind != LAB_NODE_TRANSPOSE ||
        lab_node_of(reader, n->child)->next < 0 ||
        !lab_lone_letter(reader, lab_node_of(reader, n->child)->child, &x) ||
        !lab_lone_letter(reader, lab_node_of(reader, n->child)->next, &y))
        return 0;
    return !strcmp(x.base, "a") && !strcmp(y.base, "b") && x.indices && y.indices;
}

int lab_restricted_claims(struct lab_reader *reader)
{
    struct lab_understood u = {
        .claim = {.topic = LAB_TOPIC_BASIS,
                  .argument = {.given = "a_i^T b_j = 0 for i != j, G for B",
                               .letter = "G",
                               .of = {"B", "A_2"},
                               .premise = "norm(A^T G - tr(E^T A^T G)/2*E)",
                               .conclusion = "abs(tr(E^T A^T G diag_e))"}}};
    if (reader->surveying)
        return 0;
    u.mended = u.claim.argument;
    u.mended.given = "a_i^T b_j = 0 for all i and j, G for B";
    u.mended.premise = "norm(A^T G)";
    snprintf(u.as, sizeof u.as, "i != j for all i and j, as the exercise gives it");
    snprintf(u.shown, sizeof u.shown,
             "a_i^T b_j = 0 for i != j, therefore sum_i d_i a_i^T b_i = 0");
    snprintf(u.exact, sizeof u.exact,
             "A^T v_b = 0 because a_i^T b_j = 0 for all i and j, i = j included.");
    return reader->to.claim(reader->to.arg, &u);
}

/* norm(left - right) of a chain of two sides about a matrix M: 0, or -1. */
static int off_by(const struct lab_reader *reader, int which, char to[LAB_CLAIM_TEXT],
                  char shown[LAB_SIDE])
{
    const struct lab_chain chain =
        lab_chain_open(reader, reader->formula.chain[which].root);
    struct lab_settled settled = reader->settled;
    struct lab_translation t = lab_translation_of(reader);
    struct lab_said said[2];
    snprintf(settled.matrix, LAB_SIDE, "M");
    t.settled = &settled;
    if (chain.count != 2 || chain.after[0] != LAB_REL_EQUAL ||
        lab_side_say(&t, chain.side[0], &said[0]) ||
        lab_side_say(&t, chain.side[1], &said[1]) || !strstr(said[0].text, "M "))
        return -1;
    const int zero = !strcmp(said[1].text, "0");
    snprintf(to, LAB_CLAIM_TEXT, zero ? "norm(%.150s)" : "norm(%.150s - (%.150s))",
             said[0].text, said[1].text);
    snprintf(shown, LAB_SIDE, "%.150s = %.150s", said[0].text, said[1].text);
    return 0;
}

/* "M v_a = v_a <=> M (v_a + v_b) = v_a" of any M: 1, 0 if it is none, or -1. */
int lab_equivalence_claims(struct lab_reader *reader, int i)
{
    struct lab_understood u = {.claim = {.topic = LAB_TOPIC_BASIS}};
    char shown[2][LAB_SIDE];
    if (reader->settled.subject != LAB_SUBJECT_EXTRACT || *reader->settled.matrix ||
        i + 1 >= reader->formula.chains ||
        reader->formula.chain[i + 1].before != LAB_IFF ||
        off_by(reader, i, u.texts[0], shown[0]) ||
        off_by(reader, i + 1, u.texts[1], shown[1]))
        return 0;
    u.claim.argument = (struct lab_argument){
        .given = "for every M",
        .letter = "M",
        .of = {"A A^T", "I", "v_a v_a^T/(v_a^T v_a)", "A A^T + 50 (I - A A^T - B B^T)"},
        .premise = u.texts[0],
        .conclusion = u.texts[1]};
    /* The vector that M is applied to may be s, a letter of the same kind. */
    char *const v = strstr(u.texts[0], "M v_a");
    if (v) {
        snprintf(u.texts[2], sizeof u.texts[2], "%.*sM (v_a + v_b)%.300s",
                 (int)(v - u.texts[0]), u.texts[0], v + 5);
        u.mended = u.claim.argument;
        u.mended.premise = u.texts[2];
        snprintf(u.as, sizeof u.as, "v_a for s = v_a + v_b, to which M is applied");
    }
    snprintf(u.shown, sizeof u.shown, "%.180s iff %.180s", shown[0], shown[1]);
    if (reader->surveying)
        return 1;
    return reader->to.claim(reader->to.arg, &u) ? -1 : 1;
}

/* Whether the text from a formula on to the end of its line has a piece. */
static int line_has(const struct lab_reader *reader, const char *const *pieces,
                    size_t count)
{
    const struct lab_passage *const p = &reader->document->passage[reader->passage];
    const char *const source = reader->document->source;
    for (size_t at = p->begin; at < reader->document->size && source[at] != '\n'; at++)
        for (size_t i = 0; i < count; i++)
            if (!strncmp(source + at, pieces[i], strlen(pieces[i])))
                return 1;
    return 0;
}

/*
 * b_i^T b_j = 0 needs i != j: 1 where that is not said, and a slip where all i and j are
 * named; 0, or -1.
 */
int lab_basis_claims(struct lab_reader *reader, const struct lab_chain *chain)
{
    static const char *const apart[] = {"neq", "\\ne ", "!=", "≠", "/=", "\\ne"};
    static const char *const all[] = {"for all", "forall", "∀", "for every", "for any"};
    struct lab_understood u = {.as = "all i and j for i != j"};
    struct lab_name x, y;
    const struct lab_node *const n = lab_node_of(reader, chain->side[0]);
    if (reader->settled.subject != LAB_SUBJECT_EXTRACT || chain->count != 2 ||
        chain->after[0] != LAB_REL_EQUAL || n->kind != LAB_NODE_PRODUCT || n->child < 0 ||
        lab_node_of(reader, n->child)->kind != LAB_NODE_TRANSPOSE ||
        lab_node_of(reader, n->child)->next < 0 ||
        !lab_lone_letter(reader, lab_node_of(reader, n->child)->child, &x) ||
        !lab_lone_letter(reader, lab_node_of(reader, n->child)->next, &y) ||
        strcmp(x.base, y.base) != 0 || (strcmp(x.base, "a") && strcmp(x.base, "b")) ||
        !x.indices || !y.indices || !strcmp(x.index[0], y.index[0]) ||
        !isalpha((unsigned char)*x.index[0]) ||
        lab_node_of(reader, chain->side[1])->kind != LAB_NODE_NUMBER ||
        line_has(reader, apart, 6))
        return 0;
    if (!line_has(reader, all, 5))
        return lab_receive_other(reader, "i = j is not left out") ? -1 : 1;
    snprintf(u.text, sizeof u.text, "%s_1^T %s_2 = 0; %s_1^T %s_1 = 0", x.base, x.base,
             x.base, x.base);
    snprintf(u.slip_text, sizeof u.slip_text, "%s_1^T %s_2 = 0", x.base, x.base);
    return lab_receive(reader, &u) ? -1 : 1;
}

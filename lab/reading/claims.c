/* SPDX-License-Identifier: MIT */
/* Claims of formulas: definitions, laws, orders of scores, and chains of equalities. */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lab/reading/sections.h"

enum { SIDES = 12 };

/* A chain: its sides, and the relations after them. */
struct chain {
    int count;
    int side[SIDES];
    unsigned char after[SIDES];
    int limit; /* a side is a limit */
};

static const struct lab_node *node_of(const struct lab_reader *reader, int node)
{
    return &reader->formula.node[node];
}

static struct lab_translation translation_of(const struct lab_reader *reader)
{
    return (struct lab_translation){.formula = &reader->formula,
                                    .settled = &reader->settled,
                                    .letters = &reader->letters};
}

static struct chain open_chain(const struct lab_reader *reader, int root)
{
    struct chain chain = {.count = 0};
    if (node_of(reader, root)->kind != LAB_NODE_CHAIN) {
        chain.side[chain.count++] = root;
        return chain;
    }
    for (int c = node_of(reader, root)->child; c >= 0 && chain.count < SIDES;
         c = node_of(reader, c)->next) {
        chain.after[chain.count] = node_of(reader, c)->after;
        chain.side[chain.count++] = c;
    }
    for (int i = 0; i < chain.count; i++)
        chain.limit |= node_of(reader, chain.side[i])->kind == LAB_NODE_LIMIT;
    return chain;
}

/* The letter of a side that is nothing else. */
static int lone_letter(const struct lab_reader *reader, int node, struct lab_name *name)
{
    const struct lab_node *n = node_of(reader, node);
    if (n->kind == LAB_NODE_LIST && n->child >= 0 && node_of(reader, n->child)->next < 0)
        n = node_of(reader, n->child);
    if (n->kind != LAB_NODE_LETTER)
        return 0;
    lab_name_split(n->name, name);
    return 1;
}

static enum lab_role role_of(const struct lab_reader *reader, const struct lab_name *name)
{
    return lab_role_of(&reader->letters, name->base, name->indices > 0);
}

static int other(struct lab_reader *reader, const char *why)
{
    return reader->surveying ? 0 : reader->to.other(reader->to.arg, why);
}

/* ---- completion ------------------------------------------------------------------- */

static int in_word(char c) { return isalnum((unsigned char)c) || c == '_'; }

static int has_word(const char *text, const char *word)
{
    const size_t length = strlen(word);
    for (const char *at = text; (at = strstr(at, word)) != NULL; at++)
        if (!(at > text && in_word(at[-1])) && !in_word(at[length]))
            return 1;
    return 0;
}

static int has_scale(const char *text)
{
    return has_word(text, "C") || has_word(text, "beta");
}

static int is_magnitude(const struct lab_settled *settled)
{
    return settled->subject == LAB_SUBJECT_MAGNITUDE ||
           settled->subject == LAB_SUBJECT_BOTH;
}

static int takes_heads(const struct lab_settled *settled)
{
    return settled->subject == LAB_SUBJECT_HEADS || settled->subject == LAB_SUBJECT_BOTH;
}

/* "c_2" of a head that is alone is "c_1". */
static void as_only_head(char *text)
{
    for (char *at = text; (at = strstr(at, "c_2")) != NULL; at += 3)
        if (!(at > text && in_word(at[-1])) && !in_word(at[3]))
            at[2] = '1';
}

static int put_queries(const struct lab_settled *settled, struct lab_understood *u,
                       char why[100])
{
    const unsigned engine =
        LAB_USES_FIRST | LAB_USES_SECOND | LAB_USES_OUTPUT | LAB_USES_HEADS;
    const int first = !!(u->uses & LAB_USES_FIRST),
              second = !!(u->uses & LAB_USES_SECOND);
    int from[LAB_HEADS] = {0, -1};
    if (u->claim.query[0] || !(u->uses & engine))
        return 0;
    if (takes_heads(settled)) {
        if (second && (first || u->uses & LAB_USES_OUTPUT || has_word(u->text, "c_1"))) {
            snprintf(why, 100, "both heads in one formula");
            return -1;
        }
        from[0] = second ? 2 : 1;
        from[1] = second ? -1 : 2;
        if (second)
            as_only_head(u->text);
    }
    for (int h = 0; h < LAB_HEADS && from[h] >= 0; h++) {
        const char *query = settled->query[from[h]];
        if (!*query && settled->subject == LAB_SUBJECT_COPY)
            query = "C k_a";
        /* A claim about one head alone. */
        if (!*query && h == 1 && !(u->uses & (LAB_USES_OUTPUT | LAB_USES_HEADS)))
            break;
        if (!*query) {
            snprintf(why, 100, "no query is given");
            return -1;
        }
        snprintf(u->query[h], LAB_SIDE, "%s", query);
        u->claim.query[h] = u->query[h];
    }
    return 0;
}

int lab_understood_complete(const struct lab_settled *settled, struct lab_understood *u,
                            char why[100])
{
    struct lab_claim *const claim = &u->claim;
    claim->text = u->text;
    if (claim->topic == LAB_TOPIC_KEYS && settled->subject == LAB_SUBJECT_EXTRACT)
        claim->topic = LAB_TOPIC_BASIS;
    if (claim->topic == LAB_TOPIC_KEYS && settled->subject == LAB_SUBJECT_PERMUTE) {
        claim->topic = LAB_TOPIC_TOKENS;
        if (u->uses & LAB_USES_INPUT) {
            snprintf(u->input, sizeof u->input, "%s", settled->input);
            claim->input = u->input;
        }
    }
    /* The identity beside A^T A has m rows. */
    if (claim->topic == LAB_TOPIC_BASIS && strstr(u->text, "A^T A") &&
        !strstr(u->text, "A A^T"))
        for (char *at = u->text; (at = strstr(at, " I")) != NULL; at += 2)
            if (!in_word(at[2]) && strlen(u->text) + 3 < sizeof u->text) {
                memmove(at + 4, at + 2, strlen(at + 2) + 1);
                memcpy(at + 2, "_m", 2);
            }
    if (claim->topic != LAB_TOPIC_KEYS)
        return 0;
    if (put_queries(settled, u, why))
        return -1;
    const int scaled = (claim->query[0] && has_scale(claim->query[0])) ||
                       (claim->query[1] && has_scale(claim->query[1])) ||
                       (claim->rival && has_scale(claim->rival)) || has_scale(u->text);
    if ((is_magnitude(settled) && !settled->gamma) || u->uses & LAB_USES_LENGTH ||
        strstr(u->text, "gamma") || strstr(u->text, "P_inside"))
        claim->magnitude = 1;
    if (scaled && !claim->grows)
        claim->grows = (claim->query[0] && has_word(claim->query[0], "beta")) ||
                               has_word(u->text, "beta")
                           ? "beta"
                           : "C";
    if (scaled)
        claim->free |= LAB_FREE_SCALE;
    /* At alpha = 0 a covariance may be 0, and whatever is claimed of it true. */
    if (strstr(u->text, "Sigma_"))
        claim->noisy = 1;
    else if (!claim->magnitude &&
             (settled->subject == LAB_SUBJECT_NOISE || has_word(u->text, "alpha")))
        claim->free |= LAB_FREE_ALPHA;
    if (strstr(u->text, "VarS_"))
        claim->free |= LAB_FREE_ALPHA;
    if (claim->magnitude)
        claim->free |= LAB_FREE_EVENT;
    if (strstr(u->text, "!="))
        claim->free |= LAB_FREE_N;
    claim->called = claim->free;
    if (u->uses & LAB_USES_ROOT && strstr(u->text, "exp"))
        claim->far = 960;
    else if (u->uses & LAB_USES_LENGTH && strstr(u->text, "exp"))
        claim->far = 64;
    return 0;
}

static int receive(struct lab_reader *reader, struct lab_understood *u)
{
    char why[100] = "";
    if (reader->surveying)
        return 0;
    if (lab_understood_complete(&reader->settled, u, why))
        return reader->to.other(reader->to.arg, why);
    return reader->to.claim(reader->to.arg, u);
}

static int claim_text(struct lab_reader *reader, const char *text, unsigned uses)
{
    struct lab_understood u = {.uses = uses};
    snprintf(u.text, sizeof u.text, "%s", text);
    return receive(reader, &u);
}

/* ---- answers ----------------------------------------------------------------------- */

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
        return receive(reader, &u);
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
    return receive(reader, &u);
}

/* ---- definitions ------------------------------------------------------------------- */

/* Letters without a meaning that multiply a query are its scale. */
static void learn_scale(struct lab_reader *reader, int node, int depth)
{
    const struct lab_node *const n = node_of(reader, node);
    struct lab_name name;
    if (depth > 20)
        return;
    if (n->kind == LAB_NODE_LETTER) {
        lab_name_split(n->name, &name);
        const enum lab_role role = role_of(reader, &name);
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
    for (int c = n->child; c >= 0; c = node_of(reader, c)->next)
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
        return other(reader, "a product of two columns is no query");
    snprintf(u.text, sizeof u.text, "%.190s = %.190s", said->text, before);
    snprintf(u.meant, sizeof u.meant, "%s", before);
    snprintf(u.as, sizeof u.as, "as line %d writes the query",
             reader->settled.query_line[which]);
    return receive(reader, &u);
}

/* "q = ..." with a vector of keys or means: 1, 0 if it is none, or -1. */
static int define_query(struct lab_reader *reader, int which, int side)
{
    struct lab_translation t = translation_of(reader);
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
    snprintf(reader->settled.query[which], LAB_SIDE, "%s", said.text);
    reader->settled.query_line[which] = node_line;
    if (reader->surveying) {
        snprintf(reader->last_query[which], LAB_SIDE, "%s", said.text);
        return 1;
    }
    /* A query that is replaced later was a try. */
    if (strcmp(reader->last_query[which], said.text) != 0)
        return other(reader, "a definition, replaced later") ? -1 : 1;
    if (which == 2)
        return other(reader, "a definition") ? -1 : 1;
    if (which == 1 && !*reader->settled.query[2])
        snprintf(reader->settled.query[2], LAB_SIDE, "%s", reader->last_query[2]);
    const enum lab_subject subject = reader->settled.subject;
    const int answers = which ? subject == LAB_SUBJECT_HEADS
                              : subject == LAB_SUBJECT_AVERAGE ||
                                    subject == LAB_SUBJECT_NOISE ||
                                    subject == LAB_SUBJECT_COPY;
    if (!answers || (which && !*reader->settled.query[2]))
        return other(reader, "a definition") ? -1 : 1;
    return lab_answer_claim(reader, which ? "queries" : "q") ? -1 : 1;
}

/* "q_i = mu_a": where q_1 is nowhere given, i is a scan's 1. */
static int define_first_head(struct lab_reader *reader, int side)
{
    struct lab_translation t = translation_of(reader);
    struct lab_said said;
    if (reader->surveying) {
        t.beside = LAB_SHAPE_NUMBER;
        if (!lab_side_say(&t, side, &said) && is_column(said.text))
            snprintf(reader->first_head, LAB_SIDE, "%s", said.text);
        return 1;
    }
    if (!*reader->first_head || strcmp(reader->first_head, reader->last_query[1]) != 0)
        return other(reader, "a query of another head") ? -1 : 1;
    return define_query(reader, 1, side);
}

static int define_matrix(struct lab_reader *reader, int side)
{
    struct lab_translation t = translation_of(reader);
    struct lab_said said;
    if (lab_side_say(&t, side, &said) || strstr(said.text, "v_"))
        return 0;
    snprintf(reader->settled.matrix, LAB_SIDE, "%s", said.text);
    if (reader->surveying) {
        snprintf(reader->last_matrix, LAB_SIDE, "%s", said.text);
        return 1;
    }
    if (strcmp(reader->last_matrix, said.text) != 0)
        return other(reader, "a definition, replaced later") ? -1 : 1;
    return lab_answer_claim(reader, "M") ? -1 : 1;
}

/* q = ..., M = ...: 1, 0 or -1. */
static int define(struct lab_reader *reader, const struct chain *chain)
{
    struct lab_name name;
    if (chain->count < 2 || chain->after[0] != LAB_REL_EQUAL ||
        !lone_letter(reader, chain->side[0], &name))
        return 0;
    const enum lab_role role = role_of(reader, &name);
    if (role == LAB_ROLE_QUERY && !name.indices)
        return define_query(reader, 0, chain->side[1]);
    if (role == LAB_ROLE_QUERY &&
        (!strcmp(name.index[0], "1") || !strcmp(name.index[0], "2")))
        return define_query(reader, name.index[0][0] - '0', chain->side[1]);
    if (role == LAB_ROLE_QUERY && takes_heads(&reader->settled) &&
        (!strcmp(name.index[0], "i") || !strcmp(name.index[0], "l")))
        return define_first_head(reader, chain->side[1]);
    if (role == LAB_ROLE_MATRIX && reader->settled.subject == LAB_SUBJECT_EXTRACT &&
        chain->count == 2)
        return define_matrix(reader, chain->side[1]);
    return 0;
}

/* ---- laws ---------------------------------------------------------------------------
 */

/* The arguments of N(mean, variance), as a CALL, or a LIST after a letter N. */
static int normal_law(const struct lab_reader *reader, int side, int argument[2])
{
    const struct lab_node *n = node_of(reader, side);
    int first = -1;
    if (n->kind == LAB_NODE_CALL && n->name[0] == 'N')
        first = n->child;
    else if (n->kind == LAB_NODE_PRODUCT && n->child >= 0 &&
             node_of(reader, n->child)->kind == LAB_NODE_LETTER &&
             node_of(reader, n->child)->name[0] == 'N')
        first = node_of(reader, n->child)->next;
    if (first >= 0 && node_of(reader, first)->kind == LAB_NODE_LIST &&
        node_of(reader, first)->next < 0)
        first = node_of(reader, first)->child;
    if (first < 0 || node_of(reader, first)->next < 0)
        return 0;
    argument[0] = first;
    argument[1] = node_of(reader, first)->next;
    return node_of(reader, argument[1])->next < 0;
}

static int key_of_index(const struct lab_name *name)
{
    for (int i = name->indices - 1; i >= 0; i--)
        if (strcmp(name->index[i], "1") && strcmp(name->index[i], "2"))
            return !strcmp(name->index[i], "a")   ? 'a'
                   : !strcmp(name->index[i], "b") ? 'b'
                                                  : 'i';
    return 0;
}

static int law_of_length(struct lab_reader *reader, const struct lab_name *name,
                         const struct lab_said said[2])
{
    char text[LAB_CLAIM_TEXT];
    const int of_b = name->indices && key_of_index(name) == 'b';
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
    return claim_text(reader, text, LAB_USES_LENGTH);
}

static int law(struct lab_reader *reader, const struct chain *chain, int at)
{
    struct lab_name name;
    struct lab_said said[2];
    struct lab_translation t = translation_of(reader);
    int argument[2];
    char text[LAB_CLAIM_TEXT];
    if (!lone_letter(reader, chain->side[at], &name) ||
        !normal_law(reader, chain->side[at + 1], argument))
        return other(reader, "a law that is not judged");
    const int line = reader->document->passage[reader->passage].line;
    const int has_key = name.indices && key_of_index(&name);
    enum lab_role role = role_of(reader, &name);
    struct lab_name mean;
    if (role == LAB_ROLE_KEY && lone_letter(reader, argument[0], &mean) && mean.indices)
        lab_role_set(&reader->letters, mean.base, LAB_ROLE_MEAN, line);
    if (role == LAB_ROLE_NONE && node_of(reader, argument[0])->kind == LAB_NODE_NUMBER &&
        node_of(reader, argument[0])->value == 1) {
        lab_role_set(&reader->letters, name.base, LAB_ROLE_LENGTH, line);
        role = LAB_ROLE_LENGTH;
    }
    for (int i = 0; i < 2; i++)
        if (lab_side_say(&t, argument[i], &said[i]))
            return other(reader, said[i].why);
    if (role == LAB_ROLE_LENGTH)
        return law_of_length(reader, &name, said);
    if (role != LAB_ROLE_KEY || !has_key)
        return other(reader, "a law of something else");
    const int key = key_of_index(&name);
    char covariance[16];
    snprintf(covariance, sizeof covariance, "Sigma_%c", key);
    if (!strcmp(said[1].text, covariance))
        return other(reader, "a definition");
    /* Of the noise in every direction before the question about magnitudes. */
    if (key == 'a' && !is_magnitude(&reader->settled) && !strstr(said[1].text, "mu_"))
        snprintf(covariance, sizeof covariance, "Sigma_b");
    snprintf(text, sizeof text, "%s = %.300s", covariance, said[1].text);
    return claim_text(reader, text, 0);
}

/* Whether a text is the number, or that times the mean of a. */
static int is_times(const char *text, double number)
{
    char *end;
    const double value = strtod(text, &end);
    return value == number && (!*end || !strcmp(end, " mu_a"));
}

/* k_a in [0.5 mu_a, 1.5 mu_a], gamma in [0.5, 1.5]. */
static int interval(struct lab_reader *reader, const struct chain *chain, int at)
{
    struct lab_name name;
    struct lab_translation t = translation_of(reader);
    struct lab_said low, high;
    const struct lab_node *const n = node_of(reader, chain->side[at + 1]);
    if (!lone_letter(reader, chain->side[at], &name) || n->kind != LAB_NODE_LIST ||
        n->name[0] != '[' || n->child < 0 || node_of(reader, n->child)->next < 0)
        return 0;
    const enum lab_role role = role_of(reader, &name);
    if ((role != LAB_ROLE_KEY || key_of_index(&name) != 'a') && role != LAB_ROLE_LENGTH)
        return 0;
    if (lab_side_say(&t, n->child, &low) ||
        lab_side_say(&t, node_of(reader, n->child)->next, &high) ||
        !is_times(low.text, 0.5) || !is_times(high.text, 1.5))
        return other(reader, "an interval that is not judged") ? -1 : 1;
    return claim_text(reader, "P_inside = 1", LAB_USES_LENGTH) ? -1 : 1;
}

/* ---- orders of scores, weights and keys
 * ------------------------------------------------ */

enum thing { THING_NONE, THING_SCORE, THING_WEIGHT, THING_KEY, THING_OTHERS, THING_ZERO };

/* What a side is, and the index of its key. */
static enum thing thing_of(const struct lab_reader *reader, int node, char index[16])
{
    const struct lab_node *n = node_of(reader, node);
    struct lab_name name;
    *index = 0;
    if (n->kind == LAB_NODE_NUMBER && n->value == 0)
        return THING_ZERO;
    if (n->kind == LAB_NODE_SERIES && n->child >= 0) {
        const struct lab_node *const body = node_of(reader, n->child);
        if (body->kind != LAB_NODE_LETTER)
            return THING_NONE;
        lab_name_split(body->name, &name);
        return role_of(reader, &name) == LAB_ROLE_WEIGHT ? THING_OTHERS : THING_NONE;
    }
    if (n->kind == LAB_NODE_PRODUCT && n->child >= 0) {
        const struct lab_node *key = node_of(reader, n->child);
        const struct lab_node *query = key->next >= 0 ? node_of(reader, key->next) : NULL;
        if (!query || query->next >= 0)
            return THING_NONE;
        if (key->kind == LAB_NODE_TRANSPOSE)
            key = node_of(reader, key->child);
        if (query->kind == LAB_NODE_TRANSPOSE)
            query = node_of(reader, query->child);
        struct lab_name other_name;
        if (key->kind != LAB_NODE_LETTER || query->kind != LAB_NODE_LETTER)
            return THING_NONE;
        lab_name_split(key->name, &name);
        lab_name_split(query->name, &other_name);
        if (role_of(reader, &name) == LAB_ROLE_QUERY) {
            const struct lab_name swap = name;
            name = other_name;
            other_name = swap;
        }
        if (role_of(reader, &name) != LAB_ROLE_KEY ||
            role_of(reader, &other_name) != LAB_ROLE_QUERY || !name.indices)
            return THING_NONE;
        snprintf(index, 16, "%s", name.index[name.indices - 1]);
        return THING_SCORE;
    }
    if (!lone_letter(reader, node, &name) || !name.indices)
        return THING_NONE;
    snprintf(index, 16, "%s", name.index[name.indices - 1]);
    const enum lab_role role = role_of(reader, &name);
    return role == LAB_ROLE_SCORE    ? THING_SCORE
           : role == LAB_ROLE_WEIGHT ? THING_WEIGHT
           : role == LAB_ROLE_KEY    ? THING_KEY
                                     : THING_NONE;
}

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
    return receive(reader, &u);
}

static int claim_gap(struct lab_reader *reader, int pair, int near)
{
    const int of_means = reader->settled.subject == LAB_SUBJECT_NOISE;
    struct lab_understood u = {.uses = LAB_USES_OUTPUT,
                               .claim = {.grows = "the gap", .free = LAB_FREE_SCALE}};
    snprintf(u.query[0], LAB_SIDE, "%s",
             !pair      ? "C k_a"
             : of_means ? "C (mu_a + mu_b)"
             : near     ? "(C + 1/C) k_a + C k_b"
                        : "C (k_a + k_b)");
    u.claim.query[0] = u.query[0];
    snprintf(u.text, sizeof u.text, pair ? "c ~ (v_a + v_b)/2" : "c ~ v_a");
    snprintf(u.exact, sizeof u.exact, "%s",
             pair ? "The scores of a and b must agree, and exceed the others' by "
                    "ln((n-2)/(2 eps))."
                  : "A score above every other by ln((n-1)(1-eps)/eps) gives the weight "
                    "1 - eps; the difference counts, not the ratio.");
    snprintf(u.found, sizeof u.found, pair ? "" : "condition");
    return receive(reader, &u);
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
static int far_order(struct lab_reader *reader, const struct chain *chain, int at)
{
    const int more = chain->after[at] == LAB_REL_FAR_MORE;
    char big[16], small[16], beside[16];
    const enum thing left = thing_of(reader, chain->side[more ? at : at + 1], big);
    const enum thing right = thing_of(reader, chain->side[more ? at + 1 : at], small);
    const enum lab_subject subject = reader->settled.subject;
    if (right == THING_ZERO)
        return 1;
    if (left == THING_WEIGHT && right == THING_OTHERS && subject == LAB_SUBJECT_COPY)
        return claim_ratio(reader) ? -1 : 1;
    if (left == THING_SCORE && right == THING_SCORE) {
        const int joined = at > 0 &&
                           (chain->after[at - 1] == LAB_REL_EQUAL ||
                            chain->after[at - 1] == LAB_REL_NEAR) &&
                           thing_of(reader, chain->side[at - 1], beside) == THING_SCORE &&
                           is_pair(beside, big);
        if (joined)
            return claim_gap(reader, 1, chain->after[at - 1] == LAB_REL_NEAR) ? -1 : 1;
        if (subject == LAB_SUBJECT_COPY)
            return claim_gap(reader, 0, 0) ? -1 : 1;
        return 0;
    }
    if (left == THING_KEY && right == THING_KEY && subject == LAB_SUBJECT_COPY)
        return claim_long_key(reader) ? -1 : 1;
    return 0;
}

/* ---- chains
 * ------------------------------------------------------------------------------ */

static const char *sign_of(unsigned char relation)
{
    switch (relation) {
    case LAB_REL_EQUAL:
        return "=";
    case LAB_REL_NEAR:
    case LAB_REL_TENDS:
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

/* The shape of what stands beside side x. */
static enum lab_shape shape_beside(const struct lab_reader *reader,
                                   const struct lab_translation *t,
                                   const struct chain *chain, int x)
{
    for (int i = 0; i < chain->count; i++) {
        const struct lab_node *const n = node_of(reader, chain->side[i]);
        if (i == x || (n->kind == LAB_NODE_NUMBER && n->value == 0))
            continue;
        const enum lab_shape shape = lab_side_shape(t, chain->side[i]);
        if (shape != LAB_SHAPE_UNKNOWN)
            return shape;
    }
    return reader->carried_shape;
}

enum link { LINK_DROPPED, LINK_KEPT };

/* A claim in the making. */
struct draft {
    char text[LAB_CLAIM_TEXT], last[LAB_SIDE];
    unsigned uses, last_uses;
    int links;
    char sign; /* of the last link: '=' or '~', else another */
    char letters[300];
    int cut;
    char why[100];
};

static void add_letters(const struct lab_reader *reader, struct draft *draft,
                        const struct lab_said *said)
{
    struct lab_text text = {draft->letters, sizeof draft->letters, 0};
    for (int i = 0; i < said->letter_count; i++) {
        struct lab_name name;
        lab_name_split(said->letters[i], &name);
        const int line = lab_role_line(&reader->letters, name.base);
        char words[100];
        if (!line)
            continue;
        snprintf(
            words, sizeof words, "%s: %s since line %d", name.base,
            lab_role_words(lab_role_of(&reader->letters, name.base, name.indices > 0)),
            line);
        if (!strstr(draft->letters, words))
            lab_text_add(&text, "%s%s", *draft->letters ? "; " : "", words);
    }
}

/* Weights of other keys are known together alone, so only beside 0. */
static int rest_fits(const struct draft *draft, const struct lab_said *said)
{
    const unsigned uses = draft->last_uses | said->uses;
    return !(uses & LAB_USES_REST) || !strcmp(said->text, "0") ||
           (draft->last_uses & LAB_USES_REST && said->uses & LAB_USES_REST);
}

static void add_side(struct draft *draft, const struct lab_said *said, const char *sign)
{
    if (*draft->last && strcmp(draft->last, said->text) && sign) {
        /* A chain goes on where its signs are "=" and "~" and its sides are those. */
        const int goes_on = draft->links && (*sign == '=' || *sign == '~') &&
                            sign[1] == 0 && (draft->sign == '=' || draft->sign == '~');
        char piece[2 * LAB_SIDE + 16];
        if (goes_on)
            snprintf(piece, sizeof piece, " %s %s", sign, said->text);
        else
            snprintf(piece, sizeof piece, "%s%s %s %s", draft->links ? "; " : "",
                     draft->last, sign, said->text);
        if (draft->links == LAB_LINKS ||
            strlen(draft->text) + strlen(piece) >= sizeof draft->text) {
            draft->cut = 1;
            return;
        }
        strcat(draft->text, piece);
        draft->links++;
        draft->sign = sign[1] ? '!' : *sign;
        draft->uses |= draft->last_uses | said->uses;
    }
    snprintf(draft->last, sizeof draft->last, "%s", said->text);
    draft->last_uses = said->uses;
}

/* The claim that a relative length of its own law makes of a score: its variance. */
static int as_variance(const struct lab_reader *reader, struct draft *draft)
{
    char side[LAB_SIDE], text[LAB_CLAIM_TEXT];
    const char *const eps = strstr(draft->text, "eps_b");
    const char *sign = strpbrk(draft->text, "=~");
    if (!eps || draft->links != 1 || strncmp(draft->text, "s_b ", 4) || !sign ||
        !reader->settled.own_law[1] || draft->sign == '!')
        return 0;
    snprintf(side, sizeof side, "%s", sign + 2);
    char *const at = strstr(side, "eps_b");
    if (strstr(at + 1, "eps_b") || at == side || at[-1] != ' ')
        return 0;
    memcpy(at - 1, "*1", 2);
    memmove(at + 1, at + 5, strlen(at + 5) + 1);
    snprintf(text, sizeof text, "Var_s_b = (%.150s)^2*%.12g", side,
             reader->settled.variance[1]);
    snprintf(draft->text, sizeof draft->text, "%s", text);
    draft->uses |= LAB_USES_LAW;
    return 1;
}

/* "x = y = 0" is "x = 0; y = 0": two zeros are not compared by their ratio. */
static void part_zeros(char *text)
{
    char parted[LAB_CLAIM_TEXT] = "", side[LAB_CLAIM_TEXT];
    const size_t length = strlen(text);
    if (length < 4 || strcmp(text + length - 4, " = 0") || strpbrk(text, "~<>!;"))
        return;
    for (const char *at = text; at < text + length - 4;) {
        size_t size = strcspn(at, "=");
        snprintf(side, sizeof side, "%.*s", (int)size, at);
        if (strlen(parted) + strlen(side) + 8 >= sizeof parted)
            return;
        while (*side && side[strlen(side) - 1] == ' ')
            side[strlen(side) - 1] = 0;
        strcat(parted, *parted ? "; " : "");
        strcat(parted, side);
        strcat(parted, " = 0");
        at += size + 1;
        at += *at == ' ';
    }
    snprintf(text, LAB_CLAIM_TEXT, "%s", parted);
}

static int send(struct lab_reader *reader, struct draft *draft, int is_limit)
{
    struct lab_understood u = {.uses = draft->uses, .is_limit = is_limit};
    if (!draft->links)
        return other(reader, *draft->why ? draft->why : "no claim");
    if (as_variance(reader, draft))
        u.uses = draft->uses;
    snprintf(u.text, sizeof u.text, "%s", draft->text);
    part_zeros(u.text);
    snprintf(u.letters, sizeof u.letters, "%s", draft->letters);
    return receive(reader, &u);
}

/* S(X), c = sum alpha_i v_i, alpha_i = exp(..)/sum exp(..): by definition. */
static int definition_of_attention(struct lab_reader *reader, const struct chain *chain)
{
    struct lab_name name, inner;
    if (chain->count < 2 || chain->after[0] != LAB_REL_EQUAL ||
        !lone_letter(reader, chain->side[0], &name) ||
        reader->settled.subject == LAB_SUBJECT_EXTRACT ||
        reader->settled.subject == LAB_SUBJECT_PERMUTE)
        return 0;
    const struct lab_node *const side = node_of(reader, chain->side[1]);
    const enum lab_role role = role_of(reader, &name);
    if (side->kind == LAB_NODE_SERIES && side->child >= 0 && role == LAB_ROLE_OUTPUT &&
        !name.indices) {
        const struct lab_node *const body = node_of(reader, side->child);
        int weights = 0, values = 0, factors = 0;
        if (body->kind != LAB_NODE_PRODUCT)
            return 0;
        for (int c = body->child; c >= 0; c = node_of(reader, c)->next, factors++)
            if (lone_letter(reader, c, &inner)) {
                weights += role_of(reader, &inner) == LAB_ROLE_WEIGHT;
                values += role_of(reader, &inner) == LAB_ROLE_VALUE;
            }
        if (factors != 2 || weights != 1 || values != 1)
            return 0;
        return chain->count == 2
                   ? claim_text(reader, "off_c = 0", LAB_USES_SCALE) ? -1 : 1
                   : 0;
    }
    if (side->kind != LAB_NODE_QUOTIENT || side->child < 0 || !name.indices ||
        name.index[name.indices - 1][1] ||
        strchr("ab12", name.index[name.indices - 1][0]))
        return 0;
    const int below = node_of(reader, side->child)->next;
    if (below < 0 || node_of(reader, below)->kind != LAB_NODE_SERIES ||
        (role != LAB_ROLE_WEIGHT && role != LAB_ROLE_NONE && role != LAB_ROLE_SCORE))
        return 0;
    /* exp of a score above, and the sum of the same below. */
    const struct lab_node *const above = node_of(reader, side->child);
    const struct lab_node *const body = node_of(reader, node_of(reader, below)->child);
    char index[2][16];
    const struct lab_node *const both[] = {above, body};
    for (int i = 0; i < 2; i++) {
        int argument = -1;
        if (both[i]->kind == LAB_NODE_CALL && !strcmp(both[i]->name, "exp"))
            argument = both[i]->child;
        else if (both[i]->kind == LAB_NODE_POWER && both[i]->child >= 0 &&
                 !strcmp(node_of(reader, both[i]->child)->name, "e"))
            argument = node_of(reader, both[i]->child)->next;
        if (argument < 0 || thing_of(reader, argument, index[i]) != THING_SCORE)
            return 0;
    }
    if (strcmp(index[0], name.index[name.indices - 1]) != 0)
        return 0;
    if (role != LAB_ROLE_WEIGHT)
        lab_role_set(&reader->letters, name.base, LAB_ROLE_WEIGHT,
                     reader->document->passage[reader->passage].line);
    return claim_text(reader, "off_p = 0", LAB_USES_SCALE) ? -1 : 1;
}

/* Weights are shares: 0 <= alpha_i <= 1, sum alpha_i = 1, exp(..) >= 0. */
static int shares(struct lab_reader *reader, const struct chain *chain)
{
    char index[16];
    struct lab_understood u = {.claim = {.topic = LAB_TOPIC_ROW, .grows = "C"}};
    if (reader->settled.subject == LAB_SUBJECT_EXTRACT ||
        reader->settled.subject == LAB_SUBJECT_PERMUTE)
        return 0;
    for (int i = 0; i + 1 < chain->count; i++) {
        const struct lab_node *const right = node_of(reader, chain->side[i + 1]);
        const struct lab_node *const left = node_of(reader, chain->side[i]);
        const char *piece = NULL;
        const int is_zero = right->kind == LAB_NODE_NUMBER && right->value == 0;
        const int is_one = right->kind == LAB_NODE_NUMBER && right->value == 1;
        const int left_zero = left->kind == LAB_NODE_NUMBER && left->value == 0;
        const int left_one = left->kind == LAB_NODE_NUMBER && left->value == 1;
        const unsigned char rel = chain->after[i];
        const int generic_left = thing_of(reader, chain->side[i], index) == THING_WEIGHT;
        const int generic_right =
            thing_of(reader, chain->side[i + 1], index) == THING_WEIGHT;
        if (chain->count == 2 && is_one && rel == LAB_REL_EQUAL &&
            thing_of(reader, chain->side[i], index) == THING_OTHERS) {
            char bound[16];
            (void)bound;
            piece = "sum_p = 1";
        } else if (generic_left && is_zero && rel == LAB_REL_AT_LEAST)
            piece = "p_least >= 0";
        else if (generic_left && is_zero && rel == LAB_REL_MORE)
            piece = "p_least >= 0"; /* which underflows, far from the largest */
        else if (generic_left && is_one &&
                 (rel == LAB_REL_AT_MOST || rel == LAB_REL_LESS))
            piece = "p_most <= 1";
        else if (generic_right && left_zero && rel == LAB_REL_AT_MOST)
            piece = "p_least >= 0";
        else if (generic_right && left_zero && rel == LAB_REL_LESS)
            piece = "p_least >= 0"; /* which underflows, far from the largest */
        else if (generic_right && left_one && rel == LAB_REL_AT_LEAST)
            piece = "p_most <= 1";
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
    return receive(reader, &u) ? -1 : 1;
}

/* k_i^T q = -inf: that key is not seen. */
static int masked(struct lab_reader *reader, const struct chain *chain)
{
    char index[16];
    if (chain->count != 2 || thing_of(reader, chain->side[0], index) != THING_SCORE)
        return 0;
    const struct lab_node *n = node_of(reader, chain->side[1]);
    const int minus = n->kind == LAB_NODE_MINUS && n->child >= 0;
    if (minus)
        n = node_of(reader, n->child);
    const int infinite = n->kind == LAB_NODE_NUMBER && isinf(n->value) &&
                         (minus ? n->value > 0 : n->value < 0);
    return infinite ? claim_text(reader, "p_masked = 1", 0) ? -1 : 1 : 0;
}

/* gamma -> 0.5: the case that what follows is about. */
static int case_of_length(struct lab_reader *reader, const struct chain *chain)
{
    struct lab_name name;
    if (chain->count != 2 || !chain->after[0] || !sign_of(chain->after[0]) ||
        !lone_letter(reader, chain->side[0], &name) ||
        role_of(reader, &name) != LAB_ROLE_LENGTH ||
        (name.indices && key_of_index(&name) != 'a'))
        return 0;
    const struct lab_node *const n = node_of(reader, chain->side[1]);
    if (n->kind != LAB_NODE_NUMBER)
        return 0;
    const unsigned char sign = chain->after[0];
    const int at = sign == LAB_REL_TENDS || sign == LAB_REL_EQUAL || sign == LAB_REL_NEAR;
    if (at)
        reader->settled.gamma = n->value == 0.5 ? -1 : n->value == 1.5 ? 1 : 0;
    else if (n->value == 1 && (sign == LAB_REL_LESS || sign == LAB_REL_MORE))
        reader->settled.gamma = sign == LAB_REL_LESS ? -1 : 1;
    return other(reader, "a case") ? -1 : 1;
}

/* c in R^d beside V_a = A c. */
static int dimension(struct lab_reader *reader, const struct chain *chain, int at)
{
    struct lab_name name;
    const struct lab_node *const n = node_of(reader, chain->side[at + 1]);
    if (at || reader->settled.subject != LAB_SUBJECT_EXTRACT ||
        !lone_letter(reader, chain->side[0], &name) || strcmp(name.base, "c") ||
        name.indices || n->kind != LAB_NODE_POWER || n->child < 0)
        return 0;
    const int exponent = node_of(reader, n->child)->next;
    if (exponent < 0 || node_of(reader, exponent)->kind != LAB_NODE_LETTER)
        return 0;
    const char *const size = node_of(reader, exponent)->name;
    if (!strcmp(size, "d"))
        return claim_text(reader, "A c_d = v_a", 0) ? -1 : 1;
    if (!strcmp(size, "m"))
        return claim_text(reader, "A c = v_a", 0) ? -1 : 1;
    return 0;
}

/* k_i^T q = { C for i = a; 0 otherwise }: a claim for each case. */
static int case_claims(struct lab_reader *reader, const struct chain *chain)
{
    const int cases = chain->side[chain->count - 1];
    char index[16];
    if (chain->count != 2 || thing_of(reader, chain->side[0], index) == THING_NONE ||
        !*index)
        return other(reader, "cases of something else");
    for (int c = node_of(reader, cases)->child; c >= 0; c = node_of(reader, c)->next) {
        const int side = node_of(reader, c)->child;
        const int condition = side >= 0 ? node_of(reader, side)->next : -1;
        char which = 'i';
        if (side < 0)
            continue;
        /* "i = a"; all else is another key. */
        if (condition >= 0) {
            const struct lab_node *n = node_of(reader, condition);
            while (n->kind == LAB_NODE_LIST && n->child >= 0)
                n = node_of(reader, n->child);
            if (n->kind == LAB_NODE_CHAIN && n->child >= 0 &&
                node_of(reader, n->child)->after == LAB_REL_EQUAL &&
                node_of(reader, n->child)->next >= 0) {
                const char *const to =
                    node_of(reader, node_of(reader, n->child)->next)->name;
                which = !strcmp(to, "a") || !strcmp(to, "b") ? *to : 'i';
            }
        }
        struct lab_translation t = translation_of(reader);
        struct lab_said said[2];
        struct draft draft = {.links = 0};
        const char *const sign = sign_of(chain->after[0]);
        snprintf(t.bound[0].index, sizeof t.bound[0].index, "%s", index);
        t.bound[0].value = which;
        t.beside = LAB_SHAPE_NUMBER;
        /* The law that a case gives its letter. */
        for (int d = condition; d >= 0; d = node_of(reader, d)->next)
            if (node_of(reader, d)->kind == LAB_NODE_CHAIN) {
                const struct chain inner = open_chain(reader, d);
                if (inner.count == 2 && inner.after[0] == LAB_REL_DISTRIBUTED &&
                    law(reader, &inner, 0))
                    return -1;
            } else if (node_of(reader, d)->kind == LAB_NODE_LIST)
                for (int e = node_of(reader, d)->child; e >= 0;
                     e = node_of(reader, e)->next)
                    if (node_of(reader, e)->kind == LAB_NODE_CHAIN) {
                        const struct chain inner = open_chain(reader, e);
                        if (inner.count == 2 && inner.after[0] == LAB_REL_DISTRIBUTED &&
                            law(reader, &inner, 0))
                            return -1;
                    }
        if (!sign || lab_side_say(&t, chain->side[0], &said[0]) ||
            lab_side_say(&t, side, &said[1])) {
            if (other(reader, "a case that is not judged"))
                return -1;
            continue;
        }
        add_side(&draft, &said[0], NULL);
        add_side(&draft, &said[1], sign);
        if (send(reader, &draft, 0))
            return -1;
    }
    return 0;
}

static int special(struct lab_reader *reader, const struct chain *chain)
{
    int status = define(reader, chain);
    if (!status)
        status = definition_of_attention(reader, chain);
    if (!status)
        status = shares(reader, chain);
    if (!status)
        status = masked(reader, chain);
    for (int i = 0; i + 1 < chain->count && !status; i++) {
        if (chain->after[i] == LAB_REL_FAR_MORE || chain->after[i] == LAB_REL_FAR_LESS)
            status = far_order(reader, chain, i);
        else if (chain->after[i] == LAB_REL_DISTRIBUTED)
            status = law(reader, chain, i) ? -1 : 1;
        else if (chain->after[i] == LAB_REL_IN) {
            status = interval(reader, chain, i);
            if (!status)
                status = dimension(reader, chain, i);
        }
    }
    if (!status && chain->count > 1 &&
        node_of(reader, chain->side[chain->count - 1])->kind == LAB_NODE_CASES)
        status = case_claims(reader, chain) ? -1 : 1;
    return status;
}

/* A formula in brackets is an aside. */
static int in_brackets(const struct lab_reader *reader)
{
    const struct lab_passage *const p = &reader->document->passage[reader->passage];
    size_t at = p->begin;
    while (at < p->end && isspace((unsigned char)reader->document->source[at]))
        at++;
    return at < p->end && reader->document->source[at] == '(';
}

/* "i != j", "i = 1, ..., n": of indices alone. */
static int is_condition(const struct lab_reader *reader, const struct chain *chain)
{
    struct lab_name name;
    if (!lone_letter(reader, chain->side[0], &name))
        return 0;
    const enum lab_role role = role_of(reader, &name);
    const struct lab_node *const n =
        chain->count == 2 ? node_of(reader, chain->side[1]) : NULL;
    if (n && n->kind == LAB_NODE_NUMBER && chain->after[0] != LAB_REL_EQUAL &&
        (role == LAB_ROLE_SCALE || role == LAB_ROLE_VARIANCE || role == LAB_ROLE_OUTPUT ||
         role == LAB_ROLE_KEYS))
        return 1; /* C -> inf, alpha -> 0, n > 2 */
    return !name.indices && islower((unsigned char)name.base[0]) && !name.base[1] &&
           role == LAB_ROLE_NONE;
}

/* A brace with a label, in which part of the formula may stand. */
static int has_label(const struct lab_reader *reader, int side)
{
    const struct lab_node *const n = node_of(reader, side);
    const struct lab_passage *const p = &reader->document->passage[reader->passage];
    const char *const source = reader->document->source;
    size_t end = n->end;
    for (size_t at = n->begin > p->begin + 20 ? n->begin - 20 : p->begin; at < n->end;
         at++)
        if (!strncmp(source + at, "underbrace{", 11)) {
            while (end < p->end && source[end] == '}')
                end++;
            return end + 1 < p->end && source[end] == '_' &&
                   !strncmp(source + end, "_{}", 3) == 0;
        }
    return 0;
}

/* "m + L x", x a vector of its own: its covariance L L^T, against that of the keys. */
static int noise_factor(struct lab_reader *reader, const struct chain *chain)
{
    struct lab_name name;
    if (chain->count < 2 || !lone_letter(reader, chain->side[0], &name) ||
        role_of(reader, &name) != LAB_ROLE_KEY || is_magnitude(&reader->settled))
        return 0;
    for (int i = 1; i < chain->count; i++) {
        const struct lab_node *const n = node_of(reader, chain->side[i]);
        struct lab_translation t = translation_of(reader);
        struct lab_said said;
        char factor[LAB_SIDE] = "", text[LAB_CLAIM_TEXT];
        if (n->kind != LAB_NODE_SUM || n->child < 0 ||
            !lone_letter(reader, n->child, &name) ||
            role_of(reader, &name) != LAB_ROLE_MEAN)
            continue;
        const int second = node_of(reader, n->child)->next;
        const struct lab_node *const product =
            second >= 0 ? node_of(reader, second) : NULL;
        if (!product || product->next >= 0 || product->kind != LAB_NODE_PRODUCT)
            continue;
        int c = product->child;
        for (; c >= 0 && node_of(reader, c)->next >= 0; c = node_of(reader, c)->next) {
            if (lab_side_say(&t, c, &said) ||
                strlen(factor) + strlen(said.text) + 4 >= sizeof factor)
                return 0;
            strcat(factor, *factor ? " " : "");
            strcat(factor, said.text);
        }
        if (c < 0 || !lone_letter(reader, c, &name) ||
            (role_of(reader, &name) != LAB_ROLE_NONE &&
             role_of(reader, &name) != LAB_ROLE_LENGTH))
            continue;
        const int matrix = strchr(factor, 'I') || strstr(factor, "Sigma");
        if (strstr(factor, "Sigma")) /* Sigma x: alpha I x, by the question */
            snprintf(factor, sizeof factor, "alpha I");
        snprintf(text, sizeof text,
                 matrix ? "Sigma_i = (%.150s) (%.150s)^T"
                        : "Sigma_i = (%.150s) (%.150s) I",
                 factor, factor);
        return claim_text(reader, text, 0) ? -1 : 1;
    }
    return 0;
}

/* "= y" goes on with the first side of the chain before. */
static void carry_in(const struct lab_reader *reader, struct draft *draft)
{
    struct lab_said said = {.uses = reader->carried_uses};
    if (!*reader->carried)
        return;
    snprintf(said.text, sizeof said.text, "%s", reader->carried);
    add_side(draft, &said, NULL);
}

/* Two indices in one chain, as in mu_i^T mu_j, are two keys. */
static void bind_indices(const struct lab_reader *reader, int node, int depth,
                         struct lab_translation *t)
{
    const struct lab_node *const n = node_of(reader, node);
    struct lab_name name;
    if (depth > 30 || n->kind == LAB_NODE_SERIES || n->kind == LAB_NODE_TEXT)
        return;
    if (n->kind == LAB_NODE_LETTER) {
        lab_name_split(n->name, &name);
        const enum lab_role role = role_of(reader, &name);
        const char *const index = name.indices ? name.index[name.indices - 1] : "";
        const int takes = role == LAB_ROLE_MEAN || role == LAB_ROLE_KEY ||
                          role == LAB_ROLE_COVARIANCE || role == LAB_ROLE_VALUE;
        if (takes && islower((unsigned char)*index) && !index[1] && *index != 'a' &&
            *index != 'b')
            for (int i = 0; i < 2; i++) {
                if (!strcmp(t->bound[i].index, index))
                    break;
                if (*t->bound[i].index)
                    continue;
                snprintf(t->bound[i].index, sizeof t->bound[i].index, "%s", index);
                break;
            }
        return;
    }
    for (int c = n->child; c >= 0; c = node_of(reader, c)->next)
        bind_indices(reader, c, depth + 1, t);
}

/* "x = I  c = c", apart by a gap: I c is a product. */
static void join_identity(const struct lab_reader *reader, int i, struct chain *chain)
{
    const struct lab_formula *const formula = &reader->formula;
    struct lab_name name;
    if (chain->count < 2 || i + 1 >= formula->chains ||
        formula->chain[i + 1].before != LAB_AND ||
        !lone_letter(reader, chain->side[chain->count - 1], &name) ||
        strcmp(name.base, "I"))
        return;
    const struct chain next = open_chain(reader, formula->chain[i + 1].root);
    if (!lone_letter(reader, next.side[0], &name) || strcmp(name.base, "c"))
        return;
    chain->count--;
    for (int s = 0; s < next.count && chain->count < SIDES; s++) {
        chain->after[chain->count] = next.after[s];
        chain->side[chain->count++] = next.side[s];
    }
}

static int chain_claims(struct lab_reader *reader, int which)
{
    const int root = reader->formula.chain[which].root;
    struct chain chain = open_chain(reader, root);
    struct lab_translation t = translation_of(reader);
    struct draft draft = {.links = 0};
    int carries = 0, carried = 0;
    if (chain.count == 0)
        return 0;
    join_identity(reader, which, &chain);
    if (noise_factor(reader, &chain) < 0)
        return -1;
    const int done = special(reader, &chain);
    if (done)
        return done < 0 ? -1 : 0;
    if (is_condition(reader, &chain))
        return 0;
    bind_indices(reader, root, 0, &t);
    for (int i = 0; i < 2; i++)
        t.bound[i].value = (char)('a' + i);
    if (!*t.bound[1].index || reader->settled.subject == LAB_SUBJECT_COPY)
        memset(t.bound, 0, sizeof t.bound);
    const char *sign = NULL;
    if (chain.count > 1 && node_of(reader, chain.side[0])->kind == LAB_NODE_TEXT) {
        carry_in(reader, &draft);
        carries = *draft.last != 0;
    }
    for (int i = 0; i < chain.count; i++) {
        struct lab_said said;
        const struct lab_node *const n = node_of(reader, chain.side[i]);
        const int side = n->kind == LAB_NODE_LIMIT ? n->child : chain.side[i];
        const char *const after = i + 1 < chain.count ? sign_of(chain.after[i]) : NULL;
        if (i == 0 && carries) {
            sign = after;
            continue;
        }
        t.beside = shape_beside(reader, &t, &chain, i);
        const int failed = has_label(reader, chain.side[i]) ||
                           lab_side_say(&t, side, &said) ||
                           (*draft.last && !rest_fits(&draft, &said));
        if (failed && !*draft.why)
            snprintf(draft.why, sizeof draft.why, "%s",
                     *said.why ? said.why : "the weight of one of the others");
        if (!failed) {
            add_letters(reader, &draft, &said);
            add_side(&draft, &said, sign);
            if (!carried && !carries && !in_brackets(reader)) {
                snprintf(reader->carried, LAB_SIDE, "%s", said.text);
                reader->carried_uses = said.uses;
                reader->carried_shape = said.shape;
            }
            carried = 1;
        }
        /* Past a side that is not in the language, only equalities go on. */
        const int equals = after && (!strcmp(after, "=") || !strcmp(after, "~"));
        if (!after ||
            (failed && (!equals || (sign && strcmp(sign, "=") && strcmp(sign, "~")))))
            *draft.last = 0;
        if (failed && sign && equals && !strcmp(sign, "~"))
            continue; /* x ~ ? = y is x ~ y */
        sign = after;
    }
    if (chain.limit)
        for (char *at = draft.text; *at; at++)
            if (*at == '=' && (at == draft.text || !strchr("<>!", at[-1])))
                *at = '~';
    return chain.count == 1 && !carries ? 0 : send(reader, &draft, chain.limit);
}

/* ---- formulas
 * ------------------------------------------------------------------------------ */

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
    const enum lab_role role = role_of(reader, &name);
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
    const int second = node_of(reader, product->child)->next;
    if (reader->settled.subject != LAB_SUBJECT_PERMUTE || second < 0 ||
        node_of(reader, second)->next >= 0 || *reader->settled.input ||
        !lone_letter(reader, product->child, &left) ||
        !lone_letter(reader, second, &right))
        return;
    const enum lab_role of_left = role_of(reader, &left),
                        of_right = role_of(reader, &right);
    if (of_left == LAB_ROLE_PERMUTATION && of_right == LAB_ROLE_INPUT)
        snprintf(reader->settled.input, sizeof reader->settled.input, "Pi X");
    if (of_left == LAB_ROLE_INPUT && of_right == LAB_ROLE_PERMUTATION)
        snprintf(reader->settled.input, sizeof reader->settled.input, "X Pi");
}

/* z_i = k_i^T q is a score; o = sum w_i x_i an output, and x_i a value. */
static void learn_definition(struct lab_reader *reader, const struct chain *chain,
                             int line)
{
    struct lab_name name, factor;
    char index[16];
    if (chain->count < 2 || chain->after[0] != LAB_REL_EQUAL ||
        !lone_letter(reader, chain->side[0], &name))
        return;
    const enum lab_role role = role_of(reader, &name);
    const struct lab_node *const side = node_of(reader, chain->side[1]);
    if (role == LAB_ROLE_NONE && name.indices &&
        thing_of(reader, chain->side[1], index) == THING_SCORE)
        lab_role_set(&reader->letters, name.base, LAB_ROLE_SCORE, line);
    if (side->kind != LAB_NODE_SERIES || side->child < 0 ||
        node_of(reader, side->child)->kind != LAB_NODE_PRODUCT)
        return;
    int weights = 0;
    const int body = side->child;
    for (int c = node_of(reader, body)->child; c >= 0; c = node_of(reader, c)->next)
        weights += lone_letter(reader, c, &factor) &&
                   role_of(reader, &factor) == LAB_ROLE_WEIGHT;
    for (int c = node_of(reader, body)->child; c >= 0 && weights == 1;
         c = node_of(reader, c)->next)
        if (lone_letter(reader, c, &factor) && factor.indices &&
            role_of(reader, &factor) == LAB_ROLE_NONE)
            lab_role_set(&reader->letters, factor.base, LAB_ROLE_VALUE, line);
    if (weights == 1 && role == LAB_ROLE_NONE)
        lab_role_set(&reader->letters, name.base, LAB_ROLE_OUTPUT, line);
}

/* Letters that the roles of others around them settle. */
/* exp(k_i.q): a key and a query apart are their product. */
static void join_factors(struct lab_reader *reader)
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
            !lone_letter(reader, first, &key) || !lone_letter(reader, second, &query) ||
            role_of(reader, &key) != LAB_ROLE_KEY ||
            role_of(reader, &query) != LAB_ROLE_QUERY)
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

static void learn_roles(struct lab_reader *reader)
{
    const int line = reader->document->passage[reader->passage].line;
    for (int i = 0; i < reader->formula.chains; i++) {
        const struct chain chain = open_chain(reader, reader->formula.chain[i].root);
        if (chain.count)
            learn_definition(reader, &chain, line);
    }
    for (int i = 0; i < reader->formula.nodes; i++) {
        const struct lab_node *const n = node_of(reader, i);
        struct lab_name key, letter;
        if (n->kind == LAB_NODE_LETTER)
            learn_use(reader, n, line);
        if (n->kind != LAB_NODE_PRODUCT || n->child < 0)
            continue;
        learn_input(reader, n);
        /* k_a^T x: x is the query. */
        const struct lab_node *const first = node_of(reader, n->child);
        if (first->kind != LAB_NODE_TRANSPOSE || first->next < 0 ||
            !lone_letter(reader, first->child, &key) ||
            !lone_letter(reader, first->next, &letter) ||
            node_of(reader, first->next)->next >= 0)
            continue;
        if (role_of(reader, &key) == LAB_ROLE_KEY && key.indices &&
            role_of(reader, &letter) == LAB_ROLE_NONE)
            lab_role_set(&reader->letters, letter.base, LAB_ROLE_QUERY, line);
    }
}

/* Whether a chain is what its sentence denies, assumes or wants. */
static int is_set_aside(const struct lab_reader *reader, const struct chain *chain,
                        enum lab_standing standing)
{
    char index[16];
    struct lab_name name;
    if (standing == LAB_STANDS || (lone_letter(reader, chain->side[0], &name) &&
                                   (role_of(reader, &name) == LAB_ROLE_QUERY ||
                                    role_of(reader, &name) == LAB_ROLE_MATRIX)))
        return 0;
    if (standing != LAB_ASSUMED || reader->formula.chains == 1)
        return 1;
    /* Of several chains after "assume", those about weights and outputs follow. */
    const enum thing thing = thing_of(reader, chain->side[0], index);
    return thing != THING_WEIGHT && !(lone_letter(reader, chain->side[0], &name) &&
                                      role_of(reader, &name) == LAB_ROLE_OUTPUT);
}

/* "x = 0 because a_i^T b_j = 0 for i != j": the reason leaves out i = j. */
static int reads_restricted(const struct lab_reader *reader, int i)
{
    const struct lab_formula *const formula = &reader->formula;
    struct lab_name x, y;
    if (reader->settled.subject != LAB_SUBJECT_EXTRACT || i + 2 >= formula->chains ||
        formula->chain[i + 1].before != LAB_BECAUSE ||
        formula->chain[i + 2].before != LAB_WHERE)
        return 0;
    const struct chain reason = open_chain(reader, formula->chain[i + 1].root);
    const struct chain condition = open_chain(reader, formula->chain[i + 2].root);
    const struct lab_node *const n = node_of(reader, reason.side[0]);
    if (reason.count != 2 || condition.count != 2 ||
        condition.after[0] != LAB_REL_UNEQUAL || n->kind != LAB_NODE_PRODUCT ||
        n->child < 0 || node_of(reader, n->child)->kind != LAB_NODE_TRANSPOSE ||
        node_of(reader, n->child)->next < 0 ||
        !lone_letter(reader, node_of(reader, n->child)->child, &x) ||
        !lone_letter(reader, node_of(reader, n->child)->next, &y))
        return 0;
    return !strcmp(x.base, "a") && !strcmp(y.base, "b") && x.indices && y.indices;
}

static int restricted_reason(struct lab_reader *reader)
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
    const struct chain chain = open_chain(reader, reader->formula.chain[which].root);
    struct lab_settled settled = reader->settled;
    struct lab_translation t = translation_of(reader);
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
static int equivalence(struct lab_reader *reader, int i)
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

/* A condition on an index that the formula does not have: one of them is damaged. */
static int is_mended_by_condition(const struct lab_reader *reader, int i)
{
    const struct lab_document *const document = reader->document;
    const struct lab_passage *const p = &document->passage[reader->passage];
    const struct lab_passage *const next = p + 1;
    char index = 0, text[400];
    size_t at;
    if (i || reader->passage + 1 >= document->count || p->sentence < 0 ||
        next->sentence != p->sentence || next->end - next->begin > 12)
        return 0;
    at = lab_squeeze(document->source, next->begin, next->end, text, sizeof text);
    if (at != 5 || strncmp(text + 1, "neq", 3) != 0 || !islower((unsigned char)text[0]) ||
        !islower((unsigned char)text[4]))
        return 0;
    index = text[0];
    const char beside = text[4];
    char find[2][4] = {{'_', index, 0}, {'_', beside, 0}};
    lab_squeeze(document->source, p->begin, p->end, text, sizeof text);
    return !strstr(text, find[0]) && strstr(text, find[1]) && beside != 'a' &&
           beside != 'b';
}

int lab_formula_claims(struct lab_reader *reader)
{
    const enum lab_standing standing =
        lab_formula_standing(reader->document, reader->passage);
    join_factors(reader);
    learn_roles(reader);
    for (int i = 0; i < reader->formula.chains; i++) {
        const struct chain chain = open_chain(reader, reader->formula.chain[i].root);
        if (chain.count == 0 || is_mended_by_condition(reader, i))
            continue;
        if (reader->formula.chain[i].before == LAB_WHERE && reader->formula.chains > 1 &&
            i) {
            /* A condition: its definitions count, its claims do not. */
            const int is_law = chain.count == 2 && chain.after[0] == LAB_REL_DISTRIBUTED;
            const int is_space = chain.count == 2 && chain.after[0] == LAB_REL_IN;
            if ((is_law && law(reader, &chain, 0)) ||
                (is_space && dimension(reader, &chain, 0) < 0))
                return -1;
            continue;
        }
        const int is_case = case_of_length(reader, &chain);
        if (is_case < 0)
            return -1;
        if (is_case)
            continue;
        if (!reader->surveying && is_set_aside(reader, &chain, standing)) {
            if (other(reader, standing == LAB_WANTED   ? "what is wanted, no claim"
                              : standing == LAB_DENIED ? "denied by its sentence"
                                                       : "an assumption, no claim"))
                return -1;
            continue;
        }
        const int equivalent = equivalence(reader, i);
        if (equivalent < 0)
            return -1;
        if (equivalent ||
            (i && reader->formula.chain[i].before == LAB_IFF &&
             reader->settled.subject == LAB_SUBJECT_EXTRACT && !*reader->settled.matrix))
            continue;
        if (reads_restricted(reader, i)) {
            if (restricted_reason(reader))
                return -1;
            continue;
        }
        if (chain_claims(reader, i))
            return -1;
    }
    return 0;
}

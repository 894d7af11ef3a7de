/* SPDX-License-Identifier: MIT */
/* Claims of formulas: chains of equalities, cases, and what is set aside. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "lab/understanding/chains.h"

/* The shape of what stands beside side x. */
static enum lab_shape shape_beside(const struct lab_reader *reader,
                                   const struct lab_translation *t,
                                   const struct lab_chain *chain, int x)
{
    for (int i = 0; i < chain->count; i++) {
        const struct lab_node *const n = lab_node_of(reader, chain->side[i]);
        if (i == x || (n->kind == LAB_NODE_NUMBER && n->value == 0))
            continue;
        const enum lab_shape shape = lab_side_shape(t, chain->side[i]);
        if (shape != LAB_SHAPE_UNKNOWN)
            return shape;
    }
    return reader->carried_shape;
}

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
    if (strstr(at + 1, "eps_b"))
        return 0;
    at[0] = '1';
    memmove(at + 1, at + 5, strlen(at + 5) + 1);
    if (at > side) /* a number stands first in a product, or behind its sign */
        at[-1] = '*';
    snprintf(text, sizeof text, "Var_s_b = (%.150s)^2*%.12g", side,
             reader->settled.variance[1]);
    snprintf(draft->text, sizeof draft->text, "%s", text);
    draft->uses |= LAB_USES_LAW;
    return 1;
}

/* "C = 10", "alpha = 0.01": the first side is a letter that is free. */
static int is_scalar_definition(const struct draft *draft)
{
    static const char *const letters[] = {"C =",    "beta =", "alpha =", "n =",
                                          "m =",    "d =",    "gamma =", "C ~",
                                          "beta ~", "alpha ~"};
    if (draft->uses &
        (LAB_USES_FIRST | LAB_USES_SECOND | LAB_USES_OUTPUT | LAB_USES_HEADS))
        return 0;
    for (size_t i = 0; i < sizeof letters / sizeof letters[0]; i++)
        if (!strncmp(draft->text, letters[i], strlen(letters[i])))
            return 1;
    return 0;
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

/* "P = 0.08" is right to the digits that it has. */
static void allow_digits(char *text)
{
    char side[LAB_SIDE];
    const char *const sign = strpbrk(text, "=~");
    const char *const point = sign ? strstr(sign, " 0.") : NULL;
    if (!strstr(text, "Phi(") || !point || strpbrk(sign + 1, "=~<>;") ||
        point != sign + 1 || (size_t)(sign - text) >= sizeof side)
        return;
    const size_t digits = strspn(point + 3, "0123456789");
    char number[32];
    snprintf(number, sizeof number, "%.30s", point + 1);
    snprintf(side, sizeof side, "%.*s", (int)(sign - text), text);
    snprintf(text, LAB_CLAIM_TEXT, "abs(%.200s- %s) < 0.5001*10^(-%d)", side, number,
             (int)digits);
}

static int send(struct lab_reader *reader, struct draft *draft, int is_limit)
{
    struct lab_understood u = {.uses = draft->uses, .is_limit = is_limit};
    if (!draft->links)
        return lab_receive_other(reader, *draft->why ? draft->why : "no claim");
    if (is_scalar_definition(draft))
        return lab_receive_other(reader, "a definition");
    if (as_variance(reader, draft))
        u.uses = draft->uses;
    snprintf(u.text, sizeof u.text, "%s", draft->text);
    part_zeros(u.text);
    allow_digits(u.text);
    snprintf(u.letters, sizeof u.letters, "%s", draft->letters);
    return lab_receive(reader, &u);
}

/* k_i^T q = { C for i = a; 0 otherwise }: a claim for each case. */
static int case_claims(struct lab_reader *reader, const struct lab_chain *chain)
{
    const int cases = chain->side[chain->count - 1];
    char index[16];
    if (chain->count != 2 ||
        lab_thing_of(reader, chain->side[0], index) == LAB_THING_NONE || !*index)
        return lab_receive_other(reader, "cases of something else");
    for (int c = lab_node_of(reader, cases)->child; c >= 0;
         c = lab_node_of(reader, c)->next) {
        const int side = lab_node_of(reader, c)->child;
        const int condition = side >= 0 ? lab_node_of(reader, side)->next : -1;
        char which = 'i';
        if (side < 0)
            continue;
        /* "i = a"; all else is another key. */
        if (condition >= 0) {
            const struct lab_node *n = lab_node_of(reader, condition);
            while (n->kind == LAB_NODE_LIST && n->child >= 0)
                n = lab_node_of(reader, n->child);
            if (n->kind == LAB_NODE_CHAIN && n->child >= 0 &&
                lab_node_of(reader, n->child)->after == LAB_REL_EQUAL &&
                lab_node_of(reader, n->child)->next >= 0) {
                const char *const to =
                    lab_node_of(reader, lab_node_of(reader, n->child)->next)->name;
                which = !strcmp(to, "a") || !strcmp(to, "b") ? *to : 'i';
            }
        }
        struct lab_translation t = lab_translation_of(reader);
        struct lab_said said[2];
        struct draft draft = {.links = 0};
        const char *const sign = lab_relation_sign(chain->after[0]);
        snprintf(t.bound[0].index, sizeof t.bound[0].index, "%s", index);
        t.bound[0].value = which;
        t.beside = LAB_SHAPE_NUMBER;
        /* The law that a case gives its letter. */
        for (int d = condition; d >= 0; d = lab_node_of(reader, d)->next)
            if (lab_node_of(reader, d)->kind == LAB_NODE_CHAIN) {
                const struct lab_chain inner = lab_chain_open(reader, d);
                if (inner.count == 2 && inner.after[0] == LAB_REL_DISTRIBUTED &&
                    lab_law_claims(reader, &inner, 0))
                    return -1;
            } else if (lab_node_of(reader, d)->kind == LAB_NODE_LIST)
                for (int e = lab_node_of(reader, d)->child; e >= 0;
                     e = lab_node_of(reader, e)->next)
                    if (lab_node_of(reader, e)->kind == LAB_NODE_CHAIN) {
                        const struct lab_chain inner = lab_chain_open(reader, e);
                        if (inner.count == 2 && inner.after[0] == LAB_REL_DISTRIBUTED &&
                            lab_law_claims(reader, &inner, 0))
                            return -1;
                    }
        if (!sign || lab_side_say(&t, chain->side[0], &said[0]) ||
            lab_side_say(&t, side, &said[1])) {
            if (lab_receive_other(reader, "a case that is not judged"))
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

/* "x ~ N(..)" is a law, "x ~ 1/2" an approximation. */
static int is_law(const struct lab_reader *reader, const struct lab_chain *chain, int i)
{
    int argument[2];
    const struct lab_node *const n = lab_node_of(reader, chain->side[i + 1]);
    return lab_normal_law(reader, chain->side[i + 1], argument) ||
           n->kind == LAB_NODE_CALL || n->kind == LAB_NODE_TEXT;
}

static int special(struct lab_reader *reader, const struct lab_chain *chain)
{
    int status = lab_define(reader, chain);
    if (!status)
        status = lab_attention_claims(reader, chain);
    if (!status)
        status = lab_share_claims(reader, chain);
    if (!status)
        status = lab_all_equal_claims(reader, chain);
    if (!status)
        status = lab_mask_claims(reader, chain);
    for (int i = 0; i + 1 < chain->count && !status; i++) {
        if (chain->after[i] == LAB_REL_FAR_MORE || chain->after[i] == LAB_REL_FAR_LESS)
            status = lab_order_claims(reader, chain, i);
        else if (chain->after[i] == LAB_REL_DISTRIBUTED && is_law(reader, chain, i))
            status = lab_law_claims(reader, chain, i) ? -1 : 1;
        else if (chain->after[i] == LAB_REL_IN) {
            status = lab_interval_claims(reader, chain, i);
            if (!status)
                status = lab_dimension_claims(reader, chain, i);
        }
    }
    if (!status && chain->count > 1 &&
        lab_node_of(reader, chain->side[chain->count - 1])->kind == LAB_NODE_CASES)
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
static int is_condition(const struct lab_reader *reader, const struct lab_chain *chain)
{
    struct lab_name name;
    if (!lab_lone_letter(reader, chain->side[0], &name))
        return 0;
    const enum lab_role role = lab_letter_role(reader, &name);
    const struct lab_node *const n =
        chain->count == 2 ? lab_node_of(reader, chain->side[1]) : NULL;
    if (n && n->kind == LAB_NODE_NUMBER && chain->after[0] != LAB_REL_EQUAL &&
        (role == LAB_ROLE_SCALE || role == LAB_ROLE_VARIANCE || role == LAB_ROLE_OUTPUT ||
         role == LAB_ROLE_KEYS))
        return 1; /* C -> inf, alpha -> 0, n > 2 */
    return !name.indices && islower((unsigned char)name.base[0]) && !name.base[1] &&
           role == LAB_ROLE_NONE;
}

/* "0.1 ~ 2": from one number to another. */
static int is_range(const struct lab_reader *reader, const struct lab_chain *chain)
{
    return chain->count == 2 && chain->after[0] == LAB_REL_DISTRIBUTED &&
           lab_node_of(reader, chain->side[0])->kind == LAB_NODE_NUMBER &&
           lab_node_of(reader, chain->side[1])->kind == LAB_NODE_NUMBER;
}

/* A brace with a label, in which part of the formula may stand. */
static int has_label(const struct lab_reader *reader, int side)
{
    const struct lab_node *const n = lab_node_of(reader, side);
    const struct lab_passage *const p = &reader->document->passage[reader->passage];
    const char *const source = reader->document->source;
    size_t end = n->end;
    for (size_t at = n->begin > p->begin + 20 ? n->begin - 20 : p->begin; at < n->end;
         at++)
        if (!strncmp(source + at, "underbrace{", 11)) {
            while (end < p->end && source[end] == '}')
                end++;
            return end + 1 < p->end && source[end] == '_' &&
                   strncmp(source + end, "_{}", 3) != 0;
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
    const struct lab_node *const n = lab_node_of(reader, node);
    struct lab_name name;
    if (depth > 30 || n->kind == LAB_NODE_SERIES || n->kind == LAB_NODE_TEXT)
        return;
    if (n->kind == LAB_NODE_LETTER) {
        lab_name_split(n->name, &name);
        const enum lab_role role = lab_letter_role(reader, &name);
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
    for (int c = n->child; c >= 0; c = lab_node_of(reader, c)->next)
        bind_indices(reader, c, depth + 1, t);
}

int lab_chain_claims(struct lab_reader *reader, int which)
{
    const int root = reader->formula.chain[which].root;
    struct lab_chain chain = lab_chain_open(reader, root);
    struct lab_translation t = lab_translation_of(reader);
    struct draft draft = {.links = 0};
    int carries = 0, carried = 0;
    if (chain.count == 0)
        return 0;
    lab_join_identity(reader, which, &chain);
    if (lab_noise_claims(reader, &chain) < 0)
        return -1;
    const int done = special(reader, &chain);
    if (done)
        return done < 0 ? -1 : 0;
    if (is_condition(reader, &chain) || is_range(reader, &chain))
        return 0;
    const int products = lab_basis_claims(reader, &chain);
    if (products)
        return products < 0 ? -1 : 0;
    bind_indices(reader, root, 0, &t);
    for (int i = 0; i < 2; i++)
        t.bound[i].value = (char)('a' + i);
    if (!*t.bound[1].index || reader->settled.subject == LAB_SUBJECT_COPY)
        memset(t.bound, 0, sizeof t.bound);
    char index[16];
    const char key = lab_index_condition(reader, index);
    if (key) {
        memcpy(t.bound[0].index, index, sizeof index);
        t.bound[0].value = key;
    }
    const char *sign = NULL;
    if (chain.count > 1 && lab_node_of(reader, chain.side[0])->kind == LAB_NODE_TEXT) {
        carry_in(reader, &draft);
        carries = *draft.last != 0;
    }
    for (int i = 0; i < chain.count; i++) {
        struct lab_said said;
        const struct lab_node *const n = lab_node_of(reader, chain.side[i]);
        const int side = n->kind == LAB_NODE_LIMIT ? n->child : chain.side[i];
        const char *const after =
            i + 1 < chain.count ? lab_relation_sign(chain.after[i]) : NULL;
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

/* Whether a chain is what its sentence denies, assumes or wants. */
static int is_set_aside(const struct lab_reader *reader, const struct lab_chain *chain,
                        enum lab_standing standing)
{
    char index[16];
    struct lab_name name;
    for (int i = 0; i + 1 < chain->count; i++) /* the answer to what is asked */
        if (chain->after[i] == LAB_REL_FAR_MORE || chain->after[i] == LAB_REL_FAR_LESS)
            return standing == LAB_DENIED;
    if (chain->count < 2)
        return 0;
    if (standing == LAB_STANDS || (lab_lone_letter(reader, chain->side[0], &name) &&
                                   (lab_letter_role(reader, &name) == LAB_ROLE_QUERY ||
                                    lab_letter_role(reader, &name) == LAB_ROLE_MATRIX)))
        return 0;
    if (standing != LAB_ASSUMED || reader->formula.chains == 1)
        return 1;
    /* Of several chains after "assume", those about weights and outputs follow. */
    const enum lab_thing thing = lab_thing_of(reader, chain->side[0], index);
    return thing != LAB_THING_WEIGHT &&
           !(lab_lone_letter(reader, chain->side[0], &name) &&
             lab_letter_role(reader, &name) == LAB_ROLE_OUTPUT);
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

static int formula_claims(struct lab_reader *reader, enum lab_standing standing)
{
    const struct lab_passage *const p = &reader->document->passage[reader->passage];
    char index[16];
    if (p->sentence != reader->settled.aside)
        reader->settled.aside = -1;
    lab_join_factors(reader);
    lab_learn_roles(reader);
    for (int i = 0; i < reader->formula.chains; i++) {
        const struct lab_chain chain =
            lab_chain_open(reader, reader->formula.chain[i].root);
        if (chain.count == 0 || is_mended_by_condition(reader, i))
            continue;
        if (lab_premise(reader, i, &chain)) {
            if (!is_condition(reader, &chain) && lab_receive_other(reader, "a case"))
                return -1;
            continue;
        }
        if (reader->formula.chain[i].before == LAB_WHERE && reader->formula.chains > 1 &&
            i) {
            /* A condition: its definitions count, its claims do not. */
            const int is_law = chain.count == 2 && chain.after[0] == LAB_REL_DISTRIBUTED;
            const int is_space = chain.count == 2 && chain.after[0] == LAB_REL_IN;
            if ((is_law && lab_law_claims(reader, &chain, 0)) ||
                (is_space && lab_dimension_claims(reader, &chain, 0) < 0))
                return -1;
            continue;
        }
        const int supposed = !i && reader->formula.chain[0].before == LAB_WHERE &&
                             reader->formula.chains > 1;
        if (!reader->surveying &&
            is_set_aside(reader, &chain, supposed ? LAB_ASSUMED : standing)) {
            const enum lab_thing thing = lab_thing_of(reader, chain.side[0], index);
            if (standing == LAB_ASSUMED && thing != LAB_THING_SCORE &&
                thing != LAB_THING_WEIGHT && thing != LAB_THING_OTHERS)
                reader->settled.aside = p->sentence;
            if (lab_receive_other(
                    reader, standing == LAB_WANTED    ? "what is wanted, no claim"
                            : standing == LAB_DENIED  ? "denied by its sentence"
                            : standing == LAB_CHANCED ? "an event that has a probability"
                                                      : "an assumption, no claim"))
                return -1;
            continue;
        }
        if (reader->settled.aside >= 0 && p->sentence == reader->settled.aside) {
            if (lab_receive_other(reader, "under an assumption that is not judged"))
                return -1;
            continue;
        }
        const int equivalent = lab_equivalence_claims(reader, i);
        if (equivalent < 0)
            return -1;
        if (equivalent ||
            (i && reader->formula.chain[i].before == LAB_IFF &&
             reader->settled.subject == LAB_SUBJECT_EXTRACT && !*reader->settled.matrix))
            continue;
        if (lab_reads_restricted(reader, i)) {
            if (lab_restricted_claims(reader))
                return -1;
            continue;
        }
        struct lab_range after;
        const struct lab_range before = reader->settled.range;
        const int has_after = lab_range_after(reader, i, &after);
        if (has_after)
            reader->settled.range = after;
        if (lab_chain_claims(reader, i))
            return -1;
        if (has_after)
            reader->settled.range = before;
    }
    return 0;
}

int lab_formula_claims(struct lab_reader *reader)
{
    return formula_claims(reader,
                          lab_formula_standing(reader->document, reader->passage));
}

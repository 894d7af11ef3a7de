/* SPDX-License-Identifier: MIT */
/* Premises about the length of a key: the draws that a claim is about. */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lab/understanding/chains.h"
#include "lab/understanding/grammar.h"

/* A number of a formula without letters: 1, or 0. */
static int number_of(const struct lab_reader *reader, int side, double *number)
{
    const struct lab_translation t = lab_translation_of(reader);
    struct lab_expression formula;
    struct lab_expression_error error;
    struct lab_value value;
    struct lab_said said;
    if (lab_side_say(&t, side, &said) || said.letter_count ||
        lab_expression_parse(said.text, &formula, &error) ||
        lab_expression_evaluate(&formula, NULL, 0, &value, &error) ||
        value.rows * value.columns != 1)
        return 0;
    *number = value.x[0];
    return 1;
}

/* "gamma < 1", "gamma = 1.5", "0 < gamma < 1": draws, and no claim about all. */
static int range_of(const struct lab_reader *reader, const struct lab_chain *chain,
                    struct lab_range *range)
{
    struct lab_name name;
    int at = 0;
    *range = (struct lab_range){.on = 1, .from = -INFINITY, .to = INFINITY};
    while (at < chain->count && !(lab_lone_letter(reader, chain->side[at], &name) &&
                                  lab_letter_role(reader, &name) == LAB_ROLE_LENGTH &&
                                  (!name.indices || lab_name_key(&name) == 'a')))
        at++;
    if (chain->count < 2 || at >= chain->count)
        return 0;
    for (int i = 0; i + 1 < chain->count; i++) {
        double number;
        const int left = i + 1 == at;
        unsigned char rel = chain->after[i];
        if ((i != at && !left) ||
            !number_of(reader, chain->side[left ? i : i + 1], &number))
            return 0;
        if (left)
            rel = rel == LAB_REL_LESS || rel == LAB_REL_AT_MOST    ? LAB_REL_MORE
                  : rel == LAB_REL_MORE || rel == LAB_REL_AT_LEAST ? LAB_REL_LESS
                                                                   : rel;
        switch (rel) {
        case LAB_REL_LESS:
        case LAB_REL_AT_MOST:
        case LAB_REL_FAR_LESS:
            range->to = number;
            break;
        case LAB_REL_MORE:
        case LAB_REL_AT_LEAST:
        case LAB_REL_FAR_MORE:
            range->from = number;
            break;
        case LAB_REL_EQUAL:
        case LAB_REL_NEAR:
        case LAB_REL_TENDS:
            range->from = range->to = number;
            break;
        default:
            return 0;
        }
    }
    return 1;
}

/* beta -> inf, alpha << 1, C = 1: a letter that is free, and no claim. */
static int is_free_letter(const struct lab_reader *reader, const struct lab_chain *chain)
{
    struct lab_name name;
    double number;
    if (chain->count != 2 || !lab_lone_letter(reader, chain->side[0], &name) ||
        name.indices)
        return 0;
    const enum lab_role role = lab_letter_role(reader, &name);
    const int bare_c = role == LAB_ROLE_OUTPUT && !strcmp(name.base, "C");
    if (role != LAB_ROLE_SCALE && role != LAB_ROLE_VARIANCE && role != LAB_ROLE_KEYS &&
        role != LAB_ROLE_FEATURES && !bare_c)
        return 0;
    return chain->after[0] == LAB_REL_TENDS ||
           (reader->settled.subject != LAB_SUBJECT_EXTRACT &&
            number_of(reader, chain->side[1], &number));
}

static const char conditions[] = "if|when|whenever|for|provided|once|where";

/* The token of a formula in its sentence, or -1. */
static int token_of(const struct lab_document *document, int passage,
                    struct lab_sentence *sentence)
{
    const struct lab_passage *const p = &document->passage[passage];
    sentence->count = 0;
    if (p->sentence < 0)
        return -1;
    lab_sentence_add(document, p->sentence, sentence);
    for (int i = 0; i < sentence->count; i++)
        if (sentence->token[i].begin == p->begin)
            return i;
    return -1;
}

/* The token of the condition that begins at token i, or -1. */
static int condition_at(const struct lab_sentence *sentence, int i)
{
    if (lab_is_one_of(sentence, i, "as|so") && lab_is_one_of(sentence, i + 1, "long") &&
        lab_is_one_of(sentence, i + 2, "as"))
        return i + 3;
    i += lab_is_one_of(sentence, i, "only|exactly|just|precisely");
    if (!lab_is_one_of(sentence, i, conditions))
        return -1;
    return lab_is_one_of(sentence, i + 1, "all|every|any|that") ? i + 2 : i + 1;
}

/* Whether a comma or a stop separates two tokens. */
static int is_parted(const struct lab_document *document,
                     const struct lab_sentence *sentence, int i)
{
    if (i <= 0 || i >= sentence->count)
        return 1;
    for (size_t at = sentence->token[i].begin; at-- > sentence->token[i - 1].begin;) {
        const char c = document->source[at];
        if (c == ',' || c == ';' || c == '.' || c == ':')
            return 1;
        if (!isspace((unsigned char)c) && c != '$')
            return 0;
    }
    return 0;
}

/* "gamma>1", "g=1.5". */
static int range_of_text(const struct lab_letters_known *letters, const char *text,
                         struct lab_range *range)
{
    char base[24], *end;
    const size_t length =
        strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ");
    const char *at = text + length;
    if (!length || length >= sizeof base)
        return 0;
    snprintf(base, sizeof base, "%.*s", (int)length, text);
    if (lab_role_of(letters, base, 0) != LAB_ROLE_LENGTH)
        return 0;
    const char sign = !strncmp(at, "geq", 3) || !strncmp(at, "ge", 2)   ? '>'
                      : !strncmp(at, "leq", 3) || !strncmp(at, "le", 2) ? '<'
                                                                        : *at;
    at += strspn(at, "<>=geql");
    const double number = strtod(at, &end);
    if (end == at || *end || !strchr("<>=", sign))
        return 0;
    *range = (struct lab_range){1, sign == '<' ? -INFINITY : number,
                                sign == '>' ? INFINITY : number};
    return 1;
}

/* "for gamma = 2:" leads what follows. */
static int leads(const struct lab_document *document, size_t begin)
{
    for (int p = 0; p < document->count; p++) {
        const struct lab_passage *const passage = &document->passage[p];
        if (passage->kind != LAB_PASSAGE_FORMULA || passage->begin != begin)
            continue;
        size_t at = passage->end;
        while (at < document->size && strchr("$ )", document->source[at]) &&
               document->source[at])
            at++;
        return at < document->size && document->source[at] == ':';
    }
    return 0;
}

static int range_behind(const struct lab_document *document, int passage,
                        const struct lab_letters_known *letters, struct lab_range *range)
{
    struct lab_sentence sentence;
    const int at = token_of(document, passage, &sentence);
    if (at < 0 || is_parted(document, &sentence, at + 1))
        return 0;
    const int condition = condition_at(&sentence, at + 1);
    return condition > 0 && condition < sentence.count &&
           sentence.token[condition].formula &&
           !leads(document, sentence.token[condition].begin) &&
           range_of_text(letters, sentence.token[condition].text, range);
}

static int stands_behind(const struct lab_document *document, int passage)
{
    struct lab_sentence sentence;
    const int at = token_of(document, passage, &sentence);
    if (at > 0 && leads(document, sentence.token[at].begin))
        return 0;
    for (int i = at - 4 > 0 ? at - 4 : 1; i < at; i++)
        if (condition_at(&sentence, i) == at && sentence.token[i - 1].formula &&
            !is_parted(document, &sentence, i))
            return 1;
    return 0;
}

int lab_range_after(const struct lab_reader *reader, int i, struct lab_range *range)
{
    const struct lab_formula *const formula = &reader->formula;
    for (int next = i + 1; next < formula->chains; next++) {
        const struct lab_chain chain = lab_chain_open(reader, formula->chain[next].root);
        if (formula->chain[next].before == LAB_WHERE && chain.count &&
            range_of(reader, &chain, range))
            return 1;
        if (formula->chain[next].before != LAB_AND)
            return 0;
    }
    return range_behind(reader->document, reader->passage, &reader->letters, range);
}

int lab_premise(struct lab_reader *reader, int i, const struct lab_chain *chain)
{
    struct lab_settled *const settled = &reader->settled;
    struct lab_range range;
    if (settled->subject == LAB_SUBJECT_EXTRACT || lab_on_tokens(settled))
        return 0;
    if (range_of(reader, chain, &range)) {
        if (i && reader->formula.chain[i].before == LAB_WHERE)
            return 1;
        if (stands_behind(reader->document, reader->passage) && !i)
            return 1;
        settled->range = range;
        settled->range_end = reader->document->passage[reader->passage].end;
        return 1;
    }
    return is_free_letter(reader, chain);
}

struct lab_range lab_range_before(const struct lab_letters_known *letters,
                                  const struct lab_sentence *sentence, int end)
{
    struct lab_range range = {.on = 0}, found;
    for (int i = 0; i < end; i++)
        if (range_of_text(letters, sentence->token[i].text, &found))
            range = found;
    return range;
}

/* "i in {a, b}", "i = b", squeezed: the key that stands for i, or 0. */
static char key_of_condition(const char *text, char index[16])
{
    static const char *const relations[] = {"in", "=", "∈"};
    if (!islower((unsigned char)text[0]))
        return 0;
    for (size_t i = 0; i < sizeof relations / sizeof relations[0]; i++) {
        const size_t length = strlen(relations[i]);
        const char *const keys = text + 1 + length;
        if (strncmp(text + 1, relations[i], length) != 0 ||
            (strcmp(keys, "a,b") && strcmp(keys, "a") && strcmp(keys, "b")))
            continue;
        snprintf(index, 16, "%c", text[0]);
        return keys[0];
    }
    return 0;
}

/* Whether the words between two formulas are one of these, squeezed. */
static int is_between(const struct lab_document *document, const struct lab_passage *left,
                      const struct lab_passage *right, const char *words)
{
    char text[64];
    if (right->begin < left->end)
        return 0;
    lab_squeeze(document->source, left->end, right->begin, text, sizeof text);
    return lab_in_alternatives(text, words, strlen(words));
}

char lab_index_condition(const struct lab_reader *reader, char index[16])
{
    const struct lab_document *const document = reader->document;
    const int at = reader->passage;
    const struct lab_passage *const p = &document->passage[at];
    char text[40];
    if (p->sentence < 0)
        return 0;
    /* Behind: "k_i = 0 for i = b". */
    if (at + 1 < document->count && p[1].sentence == p->sentence &&
        is_between(document, p, p + 1, "for|if|when|where|,for|(for|(")) {
        lab_squeeze(document->source, p[1].begin, p[1].end, text, sizeof text);
        const char key = key_of_condition(text, index);
        if (key)
            return key;
    }
    /* Before: "for i = b we have k_i = 0"; it may be that of another formula. */
    if (at < 1 || p[-1].sentence != p->sentence || p[-1].kind != LAB_PASSAGE_FORMULA ||
        !is_between(document, p - 1, p, ",|wehave|,wehave|:|then|,then|weget|itis|is"))
        return 0;
    if (at > 1 && p[-2].sentence == p->sentence && p[-2].kind == LAB_PASSAGE_FORMULA &&
        is_between(document, p - 2, p - 1, "for|if|when|where"))
        return 0;
    lab_squeeze(document->source, p[-1].begin, p[-1].end, text, sizeof text);
    return key_of_condition(text, index);
}

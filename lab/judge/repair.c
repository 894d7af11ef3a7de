/* SPDX-License-Identifier: MIT */
/* Letters with two meanings, and repairs of one symbol. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "lab/judge/claim.h"

static const char *const meanings[] = {
    [LAB_MEANS_KEYS] = "the number of keys",
    [LAB_MEANS_BASIS] = "the number of basis vectors",
    [LAB_MEANS_SCALE] = "the scale of the query",
    [LAB_MEANS_NOISE] = "the variance of the keys",
    [LAB_MEANS_WEIGHT] = "an attention weight",
    [LAB_MEANS_MEAN] = "the mean of a key",
    [LAB_MEANS_KEY] = "a key",
    [LAB_MEANS_VALUE] = "a value vector",
};

int lab_symbol_keeps(const struct lab_symbol *symbol, char why[LAB_WHY])
{
    if (!symbol->letter || symbol->prior == symbol->here)
        return 1;
    snprintf(why, LAB_WHY, "%s is %s from line %d on, and %s here", symbol->letter,
             meanings[symbol->prior], symbol->line, meanings[symbol->here]);
    return 0;
}

static int in_word(char c) { return isalnum((unsigned char)c) || c == '_'; }

/* Whether `from` stands at `at` and is no part of a longer word. */
static int stands_at(const char *text, const char *at, const char *from)
{
    const size_t length = strlen(from);
    if (strncmp(at, from, length) != 0)
        return 0;
    return !(in_word(from[0]) && at > text && in_word(at[-1])) &&
           !(in_word(from[length - 1]) && in_word(at[length]));
}

/* How often `from` was replaced; -1 when the result is too long. */
static int put(char *text, const char *from, const char *to)
{
    char result[LAB_CLAIM_TEXT];
    size_t used = 0;
    int count = 0;
    for (const char *at = text; *at;) {
        const int here = stands_at(text, at, from);
        const char *const piece = here ? to : at;
        const size_t length = here ? strlen(to) : 1;
        if (used + length >= sizeof result)
            return -1;
        memcpy(result + used, piece, length);
        used += length;
        at += here ? strlen(from) : 1;
        count += here;
    }
    memcpy(text, result, used);
    text[used] = '\0';
    return count;
}

static int put_all(const struct lab_repair *repair, char *text)
{
    int count = 0;
    for (int i = 0; i < LAB_REPAIRS && repair->put[i].from; i++) {
        const int here = put(text, repair->put[i].from, repair->put[i].to);
        if (here < 0)
            return -1;
        count += here;
    }
    return count;
}

/* Puts the repair into formulas first .. end - 1; how often, or -1. */
static int repair_formulas(const struct lab_repair *repair, int first, int end,
                           struct lab_repaired *repaired)
{
    struct lab_claim *const to = &repaired->claim;
    const char **const formula[LAB_REPAIRED] = {&to->text,
                                                &to->input,
                                                &to->argument.given,
                                                &to->argument.premise,
                                                &to->argument.conclusion,
                                                &to->query[0],
                                                &to->query[1]};
    int count = 0;
    for (int i = first; i < end; i++) {
        if (!*formula[i])
            continue;
        snprintf(repaired->text[i], LAB_CLAIM_TEXT, "%s", *formula[i]);
        const int here = put_all(repair, repaired->text[i]);
        if (here < 0)
            return -1;
        *formula[i] = repaired->text[i];
        count += here;
    }
    return count;
}

int lab_repair_apply(const struct lab_repair *repair, const struct lab_claim *claim,
                     struct lab_repaired *repaired)
{
    enum { QUERIES = LAB_REPAIRED - LAB_HEADS };
    repaired->claim = *claim;
    repaired->claim.symbol.letter = NULL;
    int count = repair_formulas(repair, 0, QUERIES, repaired);
    if (count == 0)
        count = repair_formulas(repair, QUERIES, LAB_REPAIRED, repaired);
    return count > 0 ? 0 : -1;
}

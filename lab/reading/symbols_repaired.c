/* SPDX-License-Identifier: MIT */
/* Repairs of one symbol where it stands: an index, a digit, a sign, a transpose. */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lab/reading/judging.h"

enum { TRIALS = 32, NEAR_N = 10 };
#define NEAR_SCALE 40.0
#define NEAR 0.05 /* an error above it there is no rounding and no limit's */

static int in_word(char c) { return isalnum((unsigned char)c) || c == '_'; }

/* A text with `length` bytes at `at` replaced: 0, or -1. */
static int replace(const char *text, size_t at, size_t length, const char *by,
                   char to[LAB_CLAIM_TEXT])
{
    const int size =
        snprintf(to, LAB_CLAIM_TEXT, "%.*s%s%s", (int)at, text, by, text + at + length);
    return size > 0 && size < LAB_CLAIM_TEXT ? 0 : -1;
}

/* The word at `at`, or 0. */
static size_t word_at(const char *text, size_t at)
{
    size_t length = 0;
    if (!in_word(text[at]) || (at && in_word(text[at - 1])))
        return 0;
    while (in_word(text[at + length]))
        length++;
    return length;
}

struct change {
    size_t at, length;
    char by[24];
};

static void add(struct change *change, int *count, size_t at, size_t length,
                const char *stem, const char *by)
{
    if (*count == TRIALS)
        return;
    struct change *const next = &change[(*count)++];
    next->at = at;
    next->length = length;
    snprintf(next->by, sizeof next->by, "%.20s%.3s", stem, by);
}

static void add_word(struct change *change, int *count, const char *text, size_t at,
                     size_t length, enum lab_topic topic)
{
    char word[24], stem[24];
    if (length >= sizeof word)
        return;
    snprintf(word, sizeof word, "%.*s", (int)length, text + at);
    snprintf(stem, sizeof stem, "%.*s", (int)(length - 1), word);
    const char last = word[length - 1];
    if (length > 2 && word[length - 2] == '_' && strncmp(word, "P_", 2) != 0) {
        static const char *const keys[] = {"s_", "alpha_", "k_", "mu_", "v_", "VarS_"};
        for (size_t k = 0; k < sizeof keys / sizeof keys[0]; k++)
            if (!strcmp(stem, keys[k]) &&
                (topic == LAB_TOPIC_BASIS || strcmp(stem, "v_"))) {
                if (last != 'a')
                    add(change, count, at, length, stem, "a");
                if (last != 'b')
                    add(change, count, at, length, stem, "b");
            }
    }
    if (topic == LAB_TOPIC_BASIS && length == 1 && strchr("AB", last))
        add(change, count, at, length, "", last == 'A' ? "B" : "A");
    if (topic == LAB_TOPIC_BASIS && length == 1 && strchr("ce", last))
        add(change, count, at, length, "", last == 'c' ? "e" : "c");
    if (topic == LAB_TOPIC_TOKENS && !strcmp(word, "Pi")) {
        const int turned = !strncmp(text + at + length, "^T", 2);
        add(change, count, at, length + (turned ? 2 : 0), "Pi", turned ? "" : "^T");
    }
}

/* Whether the sides have letters: a number alone is no misprint of another. */
static int has_formula(const char *text)
{
    const char *const sign = strpbrk(text, "=~<>");
    for (const char *at = sign; at && *at; at++)
        if (isalpha((unsigned char)*at))
            return 1;
    return 0;
}

static int list_changes(const char *text, enum lab_topic topic, int exactly,
                        struct change change[TRIALS])
{
    int count = 0;
    for (size_t at = 0; text[at]; at++) {
        const size_t length = word_at(text, at);
        if (length && isalpha((unsigned char)text[at]))
            add_word(change, &count, text, at, length, topic);
        if (length == 1 && isdigit((unsigned char)text[at]) && text[at] != '0' &&
            text[at + 1] != '.' && !(at && text[at - 1] == '.') && has_formula(text))
            for (char digit = '1'; digit <= '4'; digit++)
                if (digit != text[at])
                    add(change, &count, at, 1, "", (char[2]){digit, 0});
        if ((text[at] == '<' || text[at] == '>') && text[at + 1] != '=')
            add(change, &count, at, 1, "", text[at] == '<' ? ">" : "<");
        /* "n + 2" in a denominator has the limit of "n - 2". */
        if (exactly && at && (text[at] == '+' || text[at] == '-') &&
            text[at - 1] == ' ' && text[at + 1] == ' ')
            add(change, &count, at, 1, "", text[at] == '+' ? "-" : "+");
    }
    return count;
}

/* Whether a claim may be true: its error at one point far out. */
static int may_hold(const struct lab_exercise *exercise, const struct lab_claim *claim)
{
    const struct lab_point point = {
        .n = NEAR_N, .scale = NEAR_SCALE, .given_positive = 1, .exercise = exercise};
    struct lab_findings found;
    char why[LAB_WHY] = "";
    if (lab_claim_evaluate(claim, &point, &found, why))
        return 0;
    for (int i = 0; i < found.count; i++)
        if (!(found.link[i].error < NEAR))
            return 0;
    return 1;
}

static int holds(const struct lab_exercise *exercise, const struct lab_claim *claim,
                 int exactly)
{
    struct lab_trace trace;
    char why[LAB_WHY] = "";
    if (!may_hold(exercise, claim) ||
        lab_trace_claim(exercise, claim, LAB_CHARITY, &trace, why))
        return 0;
    const enum lab_verdict verdict = lab_trace_verdict(&trace, LAB_CHARITY);
    return verdict == LAB_HOLDS || (!exactly && verdict == LAB_LIMIT);
}

/* "k_a + k_a", or the same query for both heads: an index was not changed. */
static int repeats(const struct lab_claim *claim, int q)
{
    const char *const text = claim->query[q];
    if (!text)
        return 0;
    if (claim->query[1])
        return q == 1 && !strcmp(claim->query[0], text);
    const char *const a = strstr(text, "_a"), *const b = strstr(text, "_b");
    return (a && !b && strstr(a + 1, "_a")) || (b && !a && strstr(b + 1, "_b"));
}

int lab_symbol_repair(const struct lab_exercise *exercise, const struct lab_claim *claim,
                      enum lab_symbol_where where, struct lab_repaired *repaired,
                      char as[120])
{
    struct change *const change = malloc(TRIALS * sizeof *change);
    const int of_query = where == LAB_SYMBOL_QUERY;
    int status = 0;
    for (int q = 0; change && q < (of_query ? LAB_HEADS : 1) && !status; q++) {
        const char *const text = of_query ? claim->query[q] : claim->text;
        const int count =
            text && (!of_query || repeats(claim, q))
                ? list_changes(text, claim->topic, where == LAB_SYMBOL_EXACT, change)
                : 0;
        for (int i = 0; i < count && !status; i++) {
            repaired->claim = *claim;
            repaired->claim.symbol.letter = NULL;
            if (replace(text, change[i].at, change[i].length, change[i].by,
                        repaired->text[q]))
                continue;
            *(of_query ? &repaired->claim.query[q] : &repaired->claim.text) =
                repaired->text[q];
            if (!holds(exercise, &repaired->claim, where == LAB_SYMBOL_EXACT))
                continue;
            snprintf(as, 120, "%.*s for %s", (int)change[i].length, text + change[i].at,
                     change[i].by);
            status = 1;
        }
    }
    free(change);
    return change ? status : -1;
}

/* SPDX-License-Identifier: MIT */
/* Letters of an author's own, from their definitions and from their use. */
#include "lab/understanding/spelling.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "lab/understanding/sections.h"

enum { SQUEEZED = 1200, LETTERS = 128 };

static int is_letter(char c) { return isalpha((unsigned char)c) != 0; }

/* An index of one sign ends at `at`, or a letter alone does: "k_a", "q". */
static int ends_letter(const char *text, size_t at)
{
    if (at >= 2 && text[at - 2] == '_')
        return isalnum((unsigned char)text[at - 1]) && at >= 3 && is_letter(text[at - 3]);
    return 0;
}

/* "_a" or "_1" after letters, from `at` on. */
static int begins_indexed(const char *text, size_t size, size_t at)
{
    size_t i = at;
    while (i < size && is_letter(text[i]))
        i++;
    return i > at && i + 1 < size && text[i] == '_' &&
           isalnum((unsigned char)text[i + 1]);
}

void lab_spell_products(char *text, size_t size)
{
    for (size_t i = 3; i + 2 < size; i++) {
        if (text[i] == '.' && ends_letter(text, i) && begins_indexed(text, size, i + 1)) {
            text[i] = '*';
            continue;
        }
        if (text[i] != '.' || text[i - 1] != ' ' || text[i + 1] != ' ' ||
            !ends_letter(text, i - 1) || !is_letter(text[i + 2]))
            continue;
        /* Another letter, with or without an index. */
        if (i + 3 < size && text[i + 3] != '_' && (is_letter(text[i + 3])))
            continue;
        text[i] = '*';
    }
}

/* The subscripts of i, j and k, and their letters. */
static char subscript_at(const char *text, size_t room)
{
    static const char *const subscripts[] = {"ᵢ", "ⱼ", "ₖ"};
    for (size_t i = 0; i < sizeof subscripts / sizeof subscripts[0]; i++)
        if (room >= strlen(subscripts[i]) &&
            !memcmp(text, subscripts[i], strlen(subscripts[i])))
            return "ijk"[i];
    return 0;
}

/* A capital Sigma before terms with its own index is a sum, and no covariance. */
void lab_spell_sums(char *text, size_t size)
{
    static const char sigma[] = "Σ", sign[] = "∑";
    enum { SIGMA = 2, SIGN = 3, SUBSCRIPT = 3, FAR = 24 };
    for (size_t at = 0; at + SIGMA + SUBSCRIPT < size; at++) {
        char bounds[32] = "";
        if (memcmp(text + at, sigma, SIGMA) != 0)
            continue;
        const char index = subscript_at(text + at + SIGMA, size - at - SIGMA);
        size_t end = at + SIGMA + SUBSCRIPT;
        if (!index)
            continue;
        const int bounded = end + 9 <= size && !memcmp(text + end, "₌₁ⁿ", strlen("₌₁ⁿ"));
        end += bounded ? strlen("₌₁ⁿ") : 0;
        int terms = 0;
        for (size_t i = end; i < size && i < end + FAR; i++) {
            if (strchr("=<>,;\n", text[i]) || (text[i] == ' ' && i > end))
                break;
            terms |= subscript_at(text + i, size - i) == index;
        }
        if (!terms)
            continue;
        if (bounded)
            snprintf(bounds, sizeof bounds, "\\sum_{%c=1}^n", index);
        else
            snprintf(bounds, sizeof bounds, "%s_%c", sign, index);
        memset(text + at, ' ', end - at);
        memcpy(text + at, bounds, strlen(bounds));
        at = end - 1;
    }
}

/* ---- letters in use ------------------------------------------------------------- */

struct survey {
    int bare[LETTERS], indexed[LETTERS]; /* formulas that have the letter so */
    int line[LETTERS];
    int letters_of_keys; /* an index a or b */
    int pair;            /* "k_1 + k_2" of keys or means */
    char key, query;     /* of "x_i^T u"; 0: none */
    char columns[2];     /* F and G of "F = [a_1 ... a_m]" */
};

/* The letter at `at` stands alone, not in a word or a command. */
static int stands_alone(const char *text, size_t begin, size_t end, size_t at)
{
    if (!is_letter(text[at]))
        return 0;
    if (at + 1 < end && is_letter(text[at + 1]))
        return 0;
    return !(at > begin && (is_letter(text[at - 1]) || text[at - 1] == '\\'));
}

static void survey_formula(const struct lab_document *document,
                           const struct lab_passage *p, struct survey *survey)
{
    char text[SQUEEZED];
    for (size_t at = p->begin; at < p->end; at++) {
        const unsigned char c = (unsigned char)document->source[at];
        if (!stands_alone(document->source, p->begin, p->end, at))
            continue;
        const int has_index = at + 1 < p->end && document->source[at + 1] == '_';
        (*(has_index ? &survey->indexed[c] : &survey->bare[c]))++;
        if (!survey->line[c])
            survey->line[c] = p->line;
    }
    lab_squeeze(document->source, p->begin, p->end, text, sizeof text);
    survey->letters_of_keys |= strstr(text, "mu_a") || strstr(text, "k_a") ||
                               strstr(text, "alpha_a") || strstr(text, "x_a");
    survey->pair |= strstr(text, "mu_1+mu_2") != NULL;
    for (const char *at = text; *at; at++) {
        if (is_letter(at[0]) && at[1] == '_' && at[2] == '1' && at[3] == '+' &&
            at[4] == at[0] && !strncmp(at + 5, "_2", 2) && !strchr("abcd", at[0]) &&
            !(at > text && is_letter(at[-1])))
            survey->pair = 1;
        if (islower((unsigned char)at[0]) && at[1] == '_' &&
            isalnum((unsigned char)at[2]) && at[3] == '^' && at[4] == 'T' &&
            islower((unsigned char)at[5]) && at[5] != at[0] && !is_letter(at[6]) &&
            !(at > text && is_letter(at[-1])) && !strchr("abvcm", at[0]) &&
            !strchr("abvcm", at[5]) && (at[6] != '_' || isdigit((unsigned char)at[7]))) {
            survey->key = at[0];
            survey->query = at[5];
        }
        if (isupper((unsigned char)at[0]) && at[1] == '=' && at[2] == '[' &&
            (at[3] == 'a' || at[3] == 'b') && at[4] == '_' && at[5] == '1')
            survey->columns[at[3] - 'a'] = at[0];
    }
}

/* ---- definitions in words ---------------------------------------------------------- */

static const struct noun {
    const char *word;
    char letter;
    const char *means;
} nouns[] = {
    {"query", 'q', "the query"},
    {"queries", 'q', "the query"},
    {"key", 'k', "a key"},
    {"keys", 'k', "a key"},
    {"weights", 'w', "an attention weight"},
    {"weight", 'w', "an attention weight"},
    {"score", 's', "a score"},
    {"scores", 's', "a score"},
    {"output", 'c', "the output"},
    {"outputs", 'c', "the output"},
};

static const char *meaning_of(char letter)
{
    for (size_t i = 0; i < sizeof nouns / sizeof nouns[0]; i++)
        if (nouns[i].letter == letter)
            return nouns[i].means;
    return letter == 'A' || letter == 'B' ? "the matrix of a basis" : "a key";
}

static void add(struct lab_spellings *spellings, const struct survey *survey, char from,
                char to)
{
    const int used = survey->bare[(int)to] + survey->indexed[(int)to];
    if (from == to || used || spellings->count == LAB_SPELLINGS)
        return;
    for (int i = 0; i < spellings->count; i++)
        if (!spellings->spelling[i].index &&
            (spellings->spelling[i].from == from || spellings->spelling[i].to == to))
            return;
    spellings->spelling[spellings->count++] =
        (struct lab_spelling){from, to, 0, survey->line[(int)from], meaning_of(to)};
}

static size_t skip(const char *text, size_t at, size_t end, const char *signs)
{
    while (at < end && strchr(signs, text[at]) && text[at])
        at++;
    return at;
}

/* The letter that stands alone at `at`, with an index or not, or 0. */
static char letter_at(const char *text, size_t at, size_t end)
{
    at = skip(text, at, end, " $\n");
    if (at >= end || !is_letter(text[at]) || !stands_alone(text, at, end, at))
        return 0;
    const size_t next = at + 1;
    /* "a" and "I" are words. */
    if (next < end && text[next] == ' ' && (text[at] == 'a' || text[at] == 'I'))
        return 0;
    return text[at];
}

/* "query u", "u is the query", "write p_i for the weights". */
static void survey_words(const struct lab_document *document, const struct survey *survey,
                         struct lab_spellings *spellings)
{
    const char *const text = document->source;
    const size_t size = document->size;
    for (size_t at = 0; at < size; at++) {
        if (!is_letter(text[at]) || (at && (is_letter(text[at - 1]) ||
                                            text[at - 1] == '\\' || text[at - 1] == '_')))
            continue;
        size_t end = at;
        while (end < size && is_letter(text[end]))
            end++;
        const size_t length = end - at;
        for (size_t i = 0; i < sizeof nouns / sizeof nouns[0]; i++) {
            if (strlen(nouns[i].word) != length ||
                strncmp(text + at + 1, nouns[i].word + 1, length - 1) != 0 ||
                tolower((unsigned char)text[at]) != nouns[i].word[0])
                continue;
            /* "p_i for the weights". */
            char letter = letter_at(text, end, size);
            static const char *const between[] = {" for the ", " for ", " the ",
                                                  " is the ", " be the "};
            for (size_t b = 0; b < sizeof between / sizeof between[0] && !letter; b++) {
                const size_t gap = strlen(between[b]);
                if (b == 2 || at < gap + 4 ||
                    strncmp(text + at - gap, between[b], gap) != 0)
                    continue;
                size_t back = at - gap;
                while (back && strchr("$}", text[back - 1]))
                    back--;
                if (back >= 3 && text[back - 2] == '_')
                    back -= 2;
                if (back && is_letter(text[back - 1]) &&
                    !(back > 1 && is_letter(text[back - 2])))
                    letter = text[back - 1];
            }
            if (letter && letter != nouns[i].letter &&
                survey->bare[(int)letter] + survey->indexed[(int)letter] > 1 &&
                !strchr("kqvAB", letter))
                add(spellings, survey, letter, nouns[i].letter);
        }
        at = end - 1;
    }
}

/* ---- putting in ------------------------------------------------------------------ */

/* The index behind a letter: its place, if it is one sign; else 0. */
static size_t index_at(const char *text, size_t after, size_t end)
{
    if (after + 1 >= end || text[after] != '_')
        return 0;
    const size_t at = after + 1 + (text[after + 1] == '{');
    if (at >= end || !isdigit((unsigned char)text[at]))
        return 0;
    return at + 1 < end && isalnum((unsigned char)text[at + 1]) && text[after + 1] == '{'
               ? 0
               : at;
}

static void put_index(char *text, size_t after, size_t end)
{
    const size_t at = index_at(text, after, end);
    if (at)
        text[at] = text[at] == '1' ? 'a' : text[at] == '2' ? 'b' : 'i';
}

/* "\mu_1": a command of Greek letters that keys number. */
static size_t numbered_command(const char *text, size_t at, size_t end)
{
    static const char *const commands[] = {"mu", "alpha", "Sigma", "nu"};
    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++) {
        const size_t length = strlen(commands[i]);
        if (at + length < end && !strncmp(text + at, commands[i], length) &&
            text[at + length] == '_')
            return length;
    }
    return 0;
}

static void put(const struct lab_passage *p, const struct lab_spellings *spellings,
                int numbered, char *text)
{
    for (size_t at = p->begin; at < p->end; at++) {
        const size_t command = numbered && !(at > p->begin && is_letter(text[at - 1]))
                                   ? numbered_command(text, at, p->end)
                                   : 0;
        if (command) {
            put_index(text, at + command, p->end);
            at += command;
            continue;
        }
        if (!stands_alone(text, p->begin, p->end, at) ||
            (at > p->begin && text[at - 1] == '_') ||
            (at > p->begin + 1 && text[at - 1] == '{' && text[at - 2] == '_'))
            continue;
        for (int i = 0; i < spellings->count; i++)
            if (!spellings->spelling[i].index &&
                text[at] == spellings->spelling[i].from) {
                text[at] = spellings->spelling[i].to;
                break;
            }
        if (numbered && strchr("kvwspm", text[at]))
            put_index(text, at + 1, p->end);
    }
}

void lab_spell_letters(const struct lab_document *document, char *text,
                       struct lab_spellings *spellings)
{
    struct survey survey = {.key = 0};
    spellings->count = 0;
    for (int i = 0; i < document->count; i++)
        if (document->passage[i].kind == LAB_PASSAGE_FORMULA)
            survey_formula(document, &document->passage[i], &survey);
    for (int b = 0; b < 2; b++)
        if (survey.columns[b])
            add(spellings, &survey, survey.columns[b], (char)('A' + b));
    if (survey.key && survey.key != 'k' && survey.query)
        add(spellings, &survey, survey.key, 'k');
    if (survey.query)
        add(spellings, &survey, survey.query, 'q');
    survey_words(document, &survey, spellings);
    const int numbered = survey.pair && !survey.letters_of_keys;
    for (int i = 0; i < document->count; i++)
        if (document->passage[i].kind == LAB_PASSAGE_FORMULA)
            put(&document->passage[i], spellings, numbered, text);
    for (int i = 0; numbered && i < 2 && spellings->count < LAB_SPELLINGS; i++)
        spellings->spelling[spellings->count++] = (struct lab_spelling){
            (char)('1' + i), (char)('a' + i), 1, 1, "the index of a key"};
}

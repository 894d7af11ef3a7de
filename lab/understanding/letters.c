/* SPDX-License-Identifier: MIT */
/* Letters and their meanings: those of the exercise, and those that a text settles. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "lab/understanding/understanding.h"

/* With indices, and without; NONE: no default. */
static const struct usual {
    const char *base;
    enum lab_role indexed, bare;
} usual[] = {
    {"k", LAB_ROLE_KEY, LAB_ROLE_NONE},
    {"K", LAB_ROLE_KEY, LAB_ROLE_NONE},
    {"q", LAB_ROLE_QUERY, LAB_ROLE_QUERY},
    {"v", LAB_ROLE_VALUE, LAB_ROLE_NONE},
    {"V", LAB_ROLE_VALUE, LAB_ROLE_NONE},
    {"nu", LAB_ROLE_VALUE, LAB_ROLE_NONE},
    {"mu", LAB_ROLE_MEAN, LAB_ROLE_NONE},
    {"m", LAB_ROLE_MEAN, LAB_ROLE_BASIS},
    {"alpha", LAB_ROLE_WEIGHT, LAB_ROLE_VARIANCE},
    {"w", LAB_ROLE_WEIGHT, LAB_ROLE_NONE},
    {"p", LAB_ROLE_WEIGHT, LAB_ROLE_NONE},
    {"s", LAB_ROLE_SCORE, LAB_ROLE_SUM},
    {"S", LAB_ROLE_SCORE, LAB_ROLE_SUM},
    {"c", LAB_ROLE_OUTPUT, LAB_ROLE_OUTPUT},
    {"C", LAB_ROLE_OUTPUT, LAB_ROLE_OUTPUT},
    {"beta", LAB_ROLE_SCALE, LAB_ROLE_SCALE},
    {"Sigma", LAB_ROLE_COVARIANCE, LAB_ROLE_NONE},
    {"gamma", LAB_ROLE_LENGTH, LAB_ROLE_LENGTH},
    {"eps", LAB_ROLE_LENGTH, LAB_ROLE_NONE},
    {"n", LAB_ROLE_NONE, LAB_ROLE_KEYS},
    {"d", LAB_ROLE_FEATURES, LAB_ROLE_FEATURES},
    {"M", LAB_ROLE_NONE, LAB_ROLE_MATRIX},
    {"Pi", LAB_ROLE_NONE, LAB_ROLE_PERMUTATION},
    {"P", LAB_ROLE_NONE, LAB_ROLE_PERMUTATION},
    {"X", LAB_ROLE_NONE, LAB_ROLE_INPUT},
};

static const struct lab_known_letter *find(const struct lab_letters_known *letters,
                                           const char *base)
{
    for (int i = letters->count - 1; i >= 0; i--)
        if (!letters->known[i].also && !strcmp(letters->known[i].base, base))
            return &letters->known[i];
    return NULL;
}

enum lab_role lab_role_of(const struct lab_letters_known *letters, const char *base,
                          int indexed)
{
    const struct lab_known_letter *const known = find(letters, base);
    enum lab_role role = LAB_ROLE_NONE;
    for (size_t i = 0; i < sizeof usual / sizeof usual[0]; i++)
        if (!strcmp(usual[i].base, base))
            role = indexed ? usual[i].indexed : usual[i].bare;
    /* What the text settles of a letter with indices does not hold for the bare one. */
    if (known) {
        const int takes =
            known->role == LAB_ROLE_KEY || known->role == LAB_ROLE_VALUE ||
            known->role == LAB_ROLE_MEAN || known->role == LAB_ROLE_WEIGHT ||
            known->role == LAB_ROLE_SCORE || known->role == LAB_ROLE_COVARIANCE;
        if (takes == !!indexed || role == LAB_ROLE_NONE)
            role = known->role;
    }
    return role;
}

int lab_role_line(const struct lab_letters_known *letters, const char *base)
{
    const struct lab_known_letter *const known = find(letters, base);
    return known ? known->line : 0;
}

void lab_role_set(struct lab_letters_known *letters, const char *base, enum lab_role role,
                  int line)
{
    for (int i = 0; i < letters->count; i++)
        if (!letters->known[i].also && letters->known[i].role == role &&
            !strcmp(letters->known[i].base, base))
            return;

    if (letters->count == LAB_ROLE_ROOM || strlen(base) >= sizeof letters->known[0].base)
        return;
    struct lab_known_letter *const next = &letters->known[letters->count++];
    snprintf(next->base, sizeof next->base, "%s", base);
    next->role = role;
    next->line = line;
}

void lab_role_note(struct lab_letters_known *letters, const char *base,
                   enum lab_role role, int line)
{
    for (int i = 0; i < letters->count; i++)
        if (!strcmp(letters->known[i].base, base) && letters->known[i].role == role)
            return;
    if (letters->count == LAB_ROLE_ROOM || strlen(base) >= sizeof letters->known[0].base)
        return;
    struct lab_known_letter *const next = &letters->known[letters->count++];
    snprintf(next->base, sizeof next->base, "%s", base);
    next->role = role;
    next->line = line;
    next->also = 1;
}

const char *lab_role_words(enum lab_role role)
{
    static const char *const words[LAB_ROLES] = {
        [LAB_ROLE_NONE] = "unknown",
        [LAB_ROLE_KEY] = "a key",
        [LAB_ROLE_QUERY] = "the query",
        [LAB_ROLE_VALUE] = "a value vector",
        [LAB_ROLE_MEAN] = "the mean of a key",
        [LAB_ROLE_WEIGHT] = "an attention weight",
        [LAB_ROLE_SCORE] = "a score",
        [LAB_ROLE_OUTPUT] = "the output",
        [LAB_ROLE_SCALE] = "the scale of the query",
        [LAB_ROLE_VARIANCE] = "the variance of the keys",
        [LAB_ROLE_COVARIANCE] = "the covariance of a key",
        [LAB_ROLE_LENGTH] = "the length of a key along its mean",
        [LAB_ROLE_KEYS] = "the number of keys",
        [LAB_ROLE_BASIS] = "the number of basis vectors",
        [LAB_ROLE_FEATURES] = "the number of features",
        [LAB_ROLE_MATRIX] = "the matrix that extracts v_a",
        [LAB_ROLE_SUM] = "the sum v_a + v_b",
        [LAB_ROLE_PERMUTATION] = "a permutation matrix",
        [LAB_ROLE_INPUT] = "the input",
    };
    return words[role];
}

/* One spelling of letters that print in several ways. */
static const char *one_spelling(const char *base)
{
    static const char *const same[][2] = {
        {"epsilon", "eps"}, {"varepsilon", "eps"}, {"ε", "eps"},   {"ν", "nu"},
        {"α", "alpha"},     {"β", "beta"},         {"γ", "gamma"}, {"μ", "mu"},
        {"Σ", "Sigma"},     {"Π", "Pi"},           {"ell", "l"},   {"varphi", "phi"},
    };
    for (size_t i = 0; i < sizeof same / sizeof same[0]; i++)
        if (!strcmp(base, same[i][0]))
            return same[i][1];
    return base;
}

void lab_name_split(const char *name, struct lab_name *split)
{
    memset(split, 0, sizeof *split);
    size_t length = strcspn(name, "_");
    char base[24];
    snprintf(base, sizeof base, "%.*s", (int)(length < 23 ? length : 23), name);
    snprintf(split->base, sizeof split->base, "%s", one_spelling(base));
    for (const char *at = name + length; *at == '_' && split->indices < LAB_INDICES;) {
        at++;
        length = strcspn(at, "_");
        if (length)
            snprintf(split->index[split->indices++], sizeof split->index[0], "%.*s",
                     (int)(length < 15 ? length : 15), at);
        at += length;
    }
}

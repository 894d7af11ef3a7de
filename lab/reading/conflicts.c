/* SPDX-License-Identifier: MIT */
/* Claims of which both cannot be true. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lab/reading/judging.h"

static int stands(const struct lab_read_claim *claim)
{
    return claim->verdict == LAB_READ_TRUE || claim->verdict == LAB_READ_LIMIT;
}

/* Bytes of the first side of a claim. */
static size_t first_side(const char *text)
{
    size_t length = strcspn(text, "=~<>!");
    while (length && text[length - 1] == ' ')
        length--;
    return length;
}

static int has_scale(const char *text)
{
    return strchr(text, 'C') || strstr(text, "beta");
}

/* "scale 1 is not enough" beside a weight or a copy that scale 1 is said to give. */
static int about_scale_one(const struct lab_read_claim *x, const struct lab_read_claim *y)
{
    return stands(x) && strstr(x->claim, "!=") && *x->query && !has_scale(x->query) &&
           y->verdict == LAB_READ_FALSE && *y->query && !has_scale(y->query) &&
           strstr(y->claim, "~ 1") && !strstr(y->claim, "~ 1/");
}

static int contradict(const struct lab_read_claim *x, const struct lab_read_claim *y)
{
    const size_t length = first_side(x->claim);
    if (about_scale_one(x, y) || about_scale_one(y, x))
        return 1;
    return length > 1 && length == first_side(y->claim) &&
           !memcmp(x->claim, y->claim, length) && !strcmp(x->query, y->query) &&
           strcmp(x->question, y->question) == 0 &&
           ((stands(x) && y->verdict == LAB_READ_FALSE) ||
            (stands(y) && x->verdict == LAB_READ_FALSE)) &&
           strchr("=~", x->claim[length + 1]) && strchr("=~", y->claim[length + 1]);
}

static int add(struct lab_reading *reading, int x, int y)
{
    struct lab_read_conflict *const more =
        realloc(reading->conflict, ((size_t)reading->conflicts + 1) * sizeof *more);
    if (!more)
        return -1;
    reading->conflict = more;
    struct lab_read_conflict *const conflict = &more[reading->conflicts++];
    const struct lab_read_claim *const first = &reading->claim[x];
    conflict->claim[0] = x;
    conflict->claim[1] = y;
    if (y < 0)
        snprintf(conflict->words, sizeof conflict->words,
                 "Line %d has %.100s; the standard solution: %.150s", first->line,
                 first->claim, first->exact);
    else
        snprintf(conflict->words, sizeof conflict->words,
                 "Line %d has %.100s, line %d has %.100s: both cannot be true.",
                 first->line, first->claim, reading->claim[y].line,
                 reading->claim[y].claim);
    return 0;
}

enum { MOST = 200 };

int lab_reading_conflicts(struct lab_reading *reading)
{
    for (int x = 0; x < reading->claims && reading->conflicts < MOST; x++) {
        const struct lab_read_claim *const claim = &reading->claim[x];
        if (claim->verdict > LAB_READ_FALSE)
            continue;
        for (int y = x + 1; y < reading->claims && y < x + 200; y++)
            if (contradict(claim, &reading->claim[y]) && add(reading, x, y))
                return -1;
        if (claim->verdict == LAB_READ_FALSE && *claim->exact && add(reading, x, -1))
            return -1;
    }
    return 0;
}

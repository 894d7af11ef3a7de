/* SPDX-License-Identifier: MIT */
/* Options and numbers of the subcommands, strictly read. */
#define _POSIX_C_SOURCE 200809L

#include "commands.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Longest word that is compared for a suggestion. */
enum { WORD_MAX = 32 };

static int smaller(int a, int b) { return a < b ? a : b; }

/*
 * Insertions, deletions, substitutions and swaps of neighbours between two words
 * of at most WORD_MAX.
 */
static int edit_distance(const char *a, const char *b)
{
    int table[WORD_MAX + 1][WORD_MAX + 1];
    const size_t na = strlen(a), nb = strlen(b);

    for (size_t i = 0; i <= na; i++)
        table[i][0] = (int)i;
    for (size_t j = 0; j <= nb; j++)
        table[0][j] = (int)j;
    for (size_t i = 1; i <= na; i++)
        for (size_t j = 1; j <= nb; j++) {
            int best = table[i - 1][j - 1] + (a[i - 1] != b[j - 1]);
            best = smaller(best, 1 + smaller(table[i - 1][j], table[i][j - 1]));
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                best = smaller(best, 1 + table[i - 2][j - 2]);
            table[i][j] = best;
        }
    return table[na][nb];
}

const char *tool_nearest(const char *text, const char *const *candidates, int count)
{
    const size_t length = strlen(text);
    const char *nearest = NULL;
    int best = length < 4 ? 2 : 3; /* one or two slips, by the word's length */

    if (length < 2 || length > WORD_MAX)
        return NULL;
    for (int c = 0; c < count; c++) {
        if (strlen(candidates[c]) > WORD_MAX)
            continue;
        const int distance = edit_distance(text, candidates[c]);
        if (distance < best) {
            best = distance;
            nearest = candidates[c];
        }
    }
    return nearest;
}

static int unknown_option(const char *command, const char *word,
                          const tool_option *options, int count)
{
    enum { NAMES_MAX = 64 };
    const char *names[NAMES_MAX];
    char text[WORD_MAX + 1] = "";
    const size_t length = strcspn(word + 2, "=");

    if (length <= WORD_MAX)
        memcpy(text, word + 2, length);
    if (count > NAMES_MAX)
        count = NAMES_MAX;
    for (int o = 0; o < count; o++)
        names[o] = options[o].name;
    const char *const nearest = tool_nearest(text, names, count);
    if (nearest)
        return tool_fail(command, TOOL_USAGE,
                         "unknown option '%.*s': did you mean '--%s'?", (int)(length + 2),
                         word, nearest);
    return tool_fail(command, TOOL_USAGE, "unknown option '%.*s': see 'attend %s --help'",
                     (int)(length + 2), word, command);
}

static tool_option *find_option(const char *name, size_t length, tool_option *options,
                                int count)
{
    for (int o = 0; o < count; o++)
        if (strlen(options[o].name) == length && !memcmp(options[o].name, name, length))
            return &options[o];
    return NULL;
}

int tool_parse_options(const char *command, int argc, char **argv, tool_option *options,
                       int count)
{
    for (int i = 1; i < argc; i++) {
        const char *const word = strcmp(argv[i], "-h") ? argv[i] : "--help";
        if (strncmp(word, "--", 2) || !word[2])
            return tool_fail(command, TOOL_USAGE,
                             "unexpected argument '%s': see 'attend %s --help'", word,
                             command);
        const size_t length = strcspn(word + 2, "=");
        tool_option *const option = find_option(word + 2, length, options, count);
        if (!option)
            return unknown_option(command, word, options, count);
        const char *value = word[2 + length] == '=' ? word + 3 + length : NULL;
        if (value && !option->takes_value)
            return tool_fail(command, TOOL_USAGE, "--%s takes no value, got '%s'",
                             option->name, value);
        if (option->value)
            return tool_fail(command, TOOL_USAGE, "--%s is given twice", option->name);
        if (!value && option->takes_value) {
            if (i + 1 == argc || !strncmp(argv[i + 1], "--", 2))
                return tool_fail(command, TOOL_USAGE, "--%s needs a value", option->name);
            value = argv[++i];
        }
        if (option->takes_value && !*value)
            return tool_fail(command, TOOL_USAGE, "--%s: the value is empty",
                             option->name);
        option->value = value ? value : "";
    }
    return TOOL_OK;
}

int tool_parse_int(const char *command, const char *flag, const char *text, int64_t lo,
                   int64_t hi, int64_t *value)
{
    const char *const digits = text + (*text == '-');

    if (!*digits || digits[strspn(digits, "0123456789")])
        return tool_fail(command, TOOL_USAGE, "%s: '%s' is not a whole number", flag,
                         text);
    errno = 0;
    const intmax_t number = strtoimax(text, NULL, 10);
    if (errno == ERANGE || number < lo || number > hi) {
        if (hi == INT64_MAX && errno != ERANGE)
            return tool_fail(command, TOOL_USAGE, "%s: %s is not %" PRId64 " or more",
                             flag, text, lo);
        return tool_fail(command, TOOL_USAGE, "%s: %s is outside %" PRId64 "..%" PRId64,
                         flag, text, lo, hi);
    }
    *value = number;
    return TOOL_OK;
}

int tool_parse_double(const char *command, const char *flag, const char *text,
                      double *value)
{
    /* Digits must come first: strtod() would also take blanks, hexadecimal and "nan". */
    const char *const digits = text + (*text == '-' || *text == '+');
    const int decimal =
        !digits[strspn(digits, "0123456789.eE+-")] && strspn(digits, "0123456789.") > 0;
    char *end;
    const double number = strtod(text, &end);

    if (end != text && !*end && !isfinite(number))
        return tool_fail(command, TOOL_USAGE, "%s: %s is not a finite number", flag,
                         text);
    if (!decimal || end == text || *end)
        return tool_fail(command, TOOL_USAGE, "%s: '%s' is not a number", flag, text);
    *value = number;
    return TOOL_OK;
}

int tool_parse_choice(const char *command, const char *flag, const char *text,
                      const char *const *choices, const char *all)
{
    for (int c = 0; choices[c]; c++)
        if (!strcmp(text, choices[c]))
            return c;
    tool_fail(command, TOOL_USAGE, "%s: '%s' is not one of %s", flag, text, all);
    return -1;
}

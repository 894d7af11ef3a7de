/* SPDX-License-Identifier: MIT */
/* Flags and numbers of the commands, strictly read. */
#define _POSIX_C_SOURCE 200809L

#include "flags.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "help.h"

/* Longest word that is compared for a suggestion; most flags of a command. */
enum { WORD_MAX = 32, FLAGS_MAX = 64 };

const struct tool_flag tool_flag_help = {
    .name = "help", .letter = 'h', .help = "this text"};

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

static int unknown_flag(const char *command, const char *word,
                        const struct tool_flag *flags, int count)
{
    const char *names[FLAGS_MAX];
    char text[WORD_MAX + 1] = "";
    const int length = (int)strcspn(word, "=");

    if (length - 2 <= WORD_MAX)
        memcpy(text, word + 2, (size_t)length - 2);
    for (int f = 0; f < count; f++)
        names[f] = flags[f].name;
    const char *const nearest = tool_nearest(text, names, count);
    if (nearest)
        return tool_fail(command, TOOL_USAGE,
                         "unknown option '%.*s': did you mean '--%s'?", length, word,
                         nearest);
    return tool_fail(command, TOOL_USAGE, "unknown option '%.*s': see 'attend %s --help'",
                     length, word, command);
}

/* The index of the flag of a word "--name", "--name=VALUE" or "-l"; -1: none of them. */
static int find_flag(const char *word, const struct tool_flag *flags, int count)
{
    const size_t length = strcspn(word, "=");

    for (int f = 0; f < count; f++) {
        const char *const name = flags[f].name;
        if (!strncmp(word, "--", 2) && strlen(name) == length - 2 &&
            !memcmp(name, word + 2, length - 2))
            return f;
        if (word[0] == '-' && word[1] && word[1] == flags[f].letter && !word[2])
            return f;
    }
    return -1;
}

int tool_take_words(int argc, char **argv, const struct tool_flag *flags, int count,
                    int (*take)(void *user, const char *word), void *user)
{
    int kept = 1;

    for (int i = 1; i < argc; i++) {
        const int flag = find_flag(argv[i], flags, count);
        const int status = argv[i][0] == '-' && argv[i][1] ? -1 : take(user, argv[i]);

        if (status > 0)
            return -1;
        if (status)
            argv[kept++] = argv[i];
        if (flag >= 0 && flags[flag].read && !strchr(argv[i], '=') && i + 1 < argc)
            argv[kept++] = argv[++i];
    }
    return kept;
}

/* Takes word *at of argv and, where the flag needs one, the value after it. */
static int take_word(const char *command, char **argv, int argc, int *at,
                     struct tool_flag *flags, int count)
{
    const char *const word = argv[*at];
    const int length = (int)strcspn(word, "=");
    const char *value = word[length] ? word + length + 1 : NULL;
    const int index = find_flag(word, flags, count);
    struct tool_flag *const flag = index < 0 ? NULL : &flags[index];

    if (!flag && (strncmp(word, "--", 2) || !word[2]))
        return tool_fail(command, TOOL_USAGE,
                         "unexpected argument '%s': see 'attend %s --help'", word,
                         command);
    if (!flag)
        return unknown_flag(command, word, flags, count);
    if (value && !flag->read)
        return tool_fail(command, TOOL_USAGE, "%.*s takes no value, got '%s'", length,
                         word, value);
    if (flag->value)
        return tool_fail(command, TOOL_USAGE, "%.*s is given twice", length, word);
    if (!value && flag->read) {
        if (*at + 1 == argc || !strncmp(argv[*at + 1], "--", 2))
            return tool_fail(command, TOOL_USAGE, "%s needs a value", word);
        value = argv[++*at];
    }
    if (value && !*value)
        return tool_fail(command, TOOL_USAGE, "%.*s: the value is empty", length, word);
    flag->value = value ? value : "";
    return TOOL_OK;
}

static int read_values(const char *command, const struct tool_flag *flags, int count)
{
    int status = TOOL_OK;

    for (int f = 0; f < count; f++)
        if (flags[f].is_needed && !flags[f].value)
            return tool_fail(command, TOOL_USAGE,
                             "--%s is missing: see 'attend %s --help'", flags[f].name,
                             command);
    for (int f = 0; f < count && !status; f++)
        if (flags[f].value && flags[f].read)
            status = flags[f].read(command, &flags[f]);
        else if (flags[f].value)
            *(int *)flags[f].to = 1;
    return status;
}

int tool_read_flags(const char *command, int argc, char **argv,
                    const struct tool_flag *flags, int count, const char *help)
{
    struct tool_flag all[FLAGS_MAX];
    int status = TOOL_OK;

    assert(count < FLAGS_MAX);
    memcpy(all, flags, (size_t)count * sizeof *flags);
    all[count] = tool_flag_help;
    for (int i = 1; i < argc && !status; i++)
        status = take_word(command, argv, argc, &i, all, count + 1);
    if (status)
        return status;
    if (!all[count].value)
        return read_values(command, all, count);
    if (help)
        tool_print_help(help, all, count + 1);
    return TOOL_HELPED;
}

/* ---- values ---------------------------------------------------------------- */

int tool_parse_int(const char *command, const char *flag, const char *text, int64_t lo,
                   int64_t hi, int64_t *value)
{
    const char *const digits = text + (*text == '-');

    if (!*digits || digits[strspn(digits, "0123456789")])
        return tool_fail(command, TOOL_USAGE, "--%s: '%s' is not a whole number", flag,
                         text);
    errno = 0;
    const intmax_t number = strtoimax(text, NULL, 10);
    if (errno == ERANGE || number < lo || number > hi) {
        if (hi == INT64_MAX && errno != ERANGE)
            return tool_fail(command, TOOL_USAGE, "--%s: %s is not %" PRId64 " or more",
                             flag, text, lo);
        return tool_fail(command, TOOL_USAGE, "--%s: %s is outside %" PRId64 "..%" PRId64,
                         flag, text, lo, hi);
    }
    *value = number;
    return TOOL_OK;
}

const char *tool_parse_number(const char *text, double *number)
{
    /* Digits must come first: strtod() would also take blanks, hexadecimal and "nan". */
    const char *const digits = text + (*text == '-' || *text == '+');
    const int decimal =
        !digits[strspn(digits, "0123456789.eE+-")] && strspn(digits, "0123456789.") > 0;
    char *end;

    *number = strtod(text, &end);
    if (end != text && !*end && !isfinite(*number))
        return "a finite number";
    return !decimal || end == text || *end ? "a number" : NULL;
}

int tool_parse_real(const char *command, const char *flag, const char *text, double lo,
                    double hi, double *value)
{
    double number;
    const char *const lacking = tool_parse_number(text, &number);

    if (lacking)
        return tool_fail(command, TOOL_USAGE, "--%s: '%s' is not %s", flag, text,
                         lacking);
    if (number < lo && lo == 0 && hi == INFINITY)
        return tool_fail(command, TOOL_USAGE, "--%s: %s is negative", flag, text);
    if (number < lo || number > hi)
        return tool_fail(command, TOOL_USAGE, "--%s: %s is outside %g..%g", flag, text,
                         lo, hi);
    *value = number;
    return TOOL_OK;
}

int tool_parse_between(const char *command, const char *flag, const char *text, double lo,
                       double hi, double *value)
{
    double number = NAN;
    const int status = tool_parse_real(command, flag, text, -INFINITY, INFINITY, &number);

    if (status)
        return status;
    if (number <= lo && hi == INFINITY)
        return tool_fail(command, TOOL_USAGE, "--%s: %s is not above %g", flag, text, lo);
    if (number <= lo || number >= hi)
        return tool_fail(command, TOOL_USAGE, "--%s: %s is not above %g and below %g",
                         flag, text, lo, hi);
    *value = number;
    return TOOL_OK;
}

int tool_parse_choice(const char *command, const char *flag, const char *text,
                      const char *choices)
{
    const char *const separator = strchr(choices, '|') ? "|" : ", ";
    const char *c = choices;

    for (int index = 0; c; index++) {
        const char *const end = strstr(c, separator);
        const size_t length = end ? (size_t)(end - c) : strlen(c);
        if (strlen(text) == length && !memcmp(text, c, length))
            return index;
        c = end ? end + strlen(separator) : NULL;
    }
    tool_fail(command, TOOL_USAGE, "--%s: '%s' is not one of %s", flag, text, choices);
    return -1;
}

int tool_split(const char *command, const char *flag, const char *text,
               int (*take)(void *user, const char *word, int64_t index), void *user)
{
    char *const words = strdup(text);
    int status = TOOL_OK;

    if (!words)
        return tool_fail(command, TOOL_FAILED, "--%s: out of memory", flag);
    char *word = words;
    for (int64_t index = 0; word && !status; index++) {
        char *const comma = strchr(word, ',');
        if (comma)
            *comma = '\0';
        status = take(user, word, index);
        word = comma ? comma + 1 : NULL;
    }
    free(words);
    return status;
}

int tool_read_text(const char *command, const struct tool_flag *flag)
{
    (void)command;
    *(const char **)flag->to = flag->value;
    return TOOL_OK;
}

int tool_read_int64(const char *command, const struct tool_flag *flag)
{
    return tool_parse_int(command, flag->name, flag->value, (int64_t)flag->lo,
                          flag->hi < 0x1p63 ? (int64_t)flag->hi : INT64_MAX, flag->to);
}

int tool_read_int(const char *command, const struct tool_flag *flag)
{
    int64_t value = 0;
    const int status = tool_parse_int(command, flag->name, flag->value, (int64_t)flag->lo,
                                      (int64_t)flag->hi, &value);

    if (!status)
        *(int *)flag->to = (int)value;
    return status;
}

int tool_read_real(const char *command, const struct tool_flag *flag)
{
    return tool_parse_real(command, flag->name, flag->value, flag->lo, flag->hi,
                           flag->to);
}

int tool_read_between(const char *command, const struct tool_flag *flag)
{
    return tool_parse_between(command, flag->name, flag->value, flag->lo, flag->hi,
                              flag->to);
}

int tool_read_choice(const char *command, const struct tool_flag *flag)
{
    const int choice = tool_parse_choice(command, flag->name, flag->value, flag->choices);

    if (choice < 0)
        return TOOL_USAGE;
    *(int *)flag->to = choice;
    return TOOL_OK;
}

/* SPDX-License-Identifier: MIT */
/* The flags of a command: one table, one parser. */
#ifndef TOOLS_FLAGS_H
#define TOOLS_FLAGS_H

#include <math.h>
#include <stdint.h>

#include "tool.h"

/*
 * A line of the table: "--name VALUE" or "--name=VALUE", and "-l VALUE" where there is a
 * letter.  read() checks `value` and stores it in *to: TOOL_OK, or another status with a
 * message.  Without read() the flag takes no value and sets the int *to to 1.
 */
struct tool_flag {
    const char *name; /* without the dashes */
    int (*read)(const char *command, const struct tool_flag *flag);
    void *to;
    double lo, hi;       /* the range of a number */
    const char *choices; /* "this, that" or "this|that" */
    int is_needed;
    char letter;       /* 0: none */
    const char *takes; /* the value in --help: "N", "F|auto"; NULL: none */
    const char *help;  /* its lines there; a line break first: below the name */
    const char *value; /* set by the parser; NULL: not given */
};

/* Choices for read(); *to is const char *, int, int64_t, double, double and int. */
int tool_read_text(const char *command, const struct tool_flag *flag);
int tool_read_int(const char *command, const struct tool_flag *flag);
int tool_read_int64(const char *command, const struct tool_flag *flag);
int tool_read_real(const char *command, const struct tool_flag *flag);
int tool_read_between(const char *command, const struct tool_flag *flag); /* not lo, hi */
int tool_read_choice(const char *command, const struct tool_flag *flag);  /* its index */

/* Most threads that a context takes. */
enum { TOOL_THREADS_MAX = 4096 };

/* Lines of a table, which check the type of the target. */
#define FLAG_LINE(type, flag, reader, target, ...)                                       \
    {                                                                                    \
        .name = flag, .read = reader, .to = 1 ? (target) : (type *)0, __VA_ARGS__        \
    }
#define FLAG_SWITCH(flag, target, words) FLAG_LINE(int, flag, NULL, target, .help = words)
#define FLAG_TEXT(flag, target, value_name, words)                                       \
    FLAG_LINE(const char *, flag, tool_read_text, target, .takes = value_name,           \
              .help = words)
#define FLAG_NEEDED(flag, target, value_name, words)                                     \
    FLAG_LINE(const char *, flag, tool_read_text, target, .is_needed = 1,                \
              .takes = value_name, .help = words)
#define FLAG_NUMBER(type, flag, reader, target, least, most, value_name, words)          \
    FLAG_LINE(type, flag, reader, target, .lo = least, .hi = most, .takes = value_name,  \
              .help = words)
#define FLAG_INT(flag, target, ...)                                                      \
    FLAG_NUMBER(int, flag, tool_read_int, target, __VA_ARGS__)
#define FLAG_INT64(flag, target, ...)                                                    \
    FLAG_NUMBER(int64_t, flag, tool_read_int64, target, __VA_ARGS__)
#define FLAG_REAL(flag, target, ...)                                                     \
    FLAG_NUMBER(double, flag, tool_read_real, target, __VA_ARGS__)
#define FLAG_BETWEEN(flag, target, ...)                                                  \
    FLAG_NUMBER(double, flag, tool_read_between, target, __VA_ARGS__)
#define FLAG_CHOICE(flag, target, all, value_name, words)                                \
    FLAG_LINE(int, flag, tool_read_choice, target, .choices = all, .takes = value_name,  \
              .help = words)
#define FLAG_THREADS(target, words)                                                      \
    FLAG_INT("threads", target, 1, TOOL_THREADS_MAX, "N", words)
/* The flag of every command. */
extern const struct tool_flag tool_flag_help;
/* A table and its length, as arguments. */
#define FLAG_TABLE(flags) flags, (int)(sizeof(flags) / sizeof(flags)[0])

/*
 * For a command that takes words besides flags, before tool_read_flags(): calls take()
 * for each word that is neither a flag of the table nor its value ("-" is a word), and
 * drops those for which it returns TOOL_OK; a negative number leaves a word, another
 * status ends.  The new argc, or -1.
 */
int tool_take_words(int argc, char **argv, const struct tool_flag *flags, int count,
                    int (*take)(void *user, const char *word), void *user);

/*
 * Reads argv[1 .. argc-1]; no command takes positional arguments here.  A word after a
 * flag that takes a value is its value also when it starts with one dash (negative
 * numbers), but not with two.  First unknown, repeated and incomplete flags are
 * reported, then missing ones, then values in the order of the table.  TOOL_OK, or
 * TOOL_USAGE with a message.  --help and -h are known: they print `help`, unless it is
 * NULL, as tool_print_help() does, read no value and give TOOL_HELPED.
 */
int tool_read_flags(const char *command, int argc, char **argv,
                    const struct tool_flag *flags, int count, const char *help);

/*
 * The whole of `text` as a number in lo..hi, or for _between() inside of that.  Return
 * TOOL_OK, or TOOL_USAGE with a message about --flag.
 */
int tool_parse_int(const char *command, const char *flag, const char *text, int64_t lo,
                   int64_t hi, int64_t *value);
int tool_parse_real(const char *command, const char *flag, const char *text, double lo,
                    double hi, double *value);
int tool_parse_between(const char *command, const char *flag, const char *text, double lo,
                       double hi, double *value);
/* NULL if the whole of `text` is a finite decimal number, else the expected kind. */
const char *tool_parse_number(const char *text, double *number);
/* The index of `text` among the choices, or -1 with a message. */
int tool_parse_choice(const char *command, const char *flag, const char *text,
                      const char *choices);

/* Calls take() for each part of a list separated by commas, until one fails. */
int tool_split(const char *command, const char *flag, const char *text,
               int (*take)(void *user, const char *word, int64_t index), void *user);

/* The candidate closest to `text` if it is close enough to suggest, else NULL. */
const char *tool_nearest(const char *text, const char *const *candidates, int count);

#endif

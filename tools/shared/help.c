/* SPDX-License-Identifier: MIT */
#include "help.h"

#include <assert.h>
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum tool_help_form tool_help_form;

static const struct tool_flag *flag_of(const char *name, size_t length,
                                       const struct tool_flag *flags, int count)
{
    for (int f = 0; f < count; f++)
        if (strlen(flags[f].name) == length && !memcmp(flags[f].name, name, length))
            return &flags[f];
    return NULL;
}

/* ---- a terminal ------------------------------------------------------------ */

static void print_flag(const struct tool_flag *flag, int column)
{
    const char *help = flag->help;
    int at = printf("  ");

    if (flag->letter && flag->takes)
        at += printf("-%c, ", flag->letter);
    at += printf("--%s", flag->name);
    if (flag->takes)
        at += printf(" %s", flag->takes);
    if (*help != '\n')
        printf("%*s", at < column ? column - at : 2, "");
    for (; *help; help++) {
        putchar(*help);
        if (*help == '\n')
            printf("%*s", column, "");
    }
    putchar('\n');
}

/* ---- mdoc ------------------------------------------------------------------ */

enum block { NOTHING, WORDS, LITERAL, LIST };

/* A line of words; where they are to be filled, each sentence begins a line. */
static void print_roff(const char *text, size_t length, int is_filled)
{
    int begins = 1;

    for (size_t i = 0; i < length; i++) {
        if (begins && (text[i] == '.' || text[i] == '\''))
            fputs("\\&", stdout);
        begins = 0;
        if (text[i] == '\\')
            fputs("\\e", stdout);
        else
            putchar(text[i]);
        if (is_filled && i + 1 < length && strchr(".?!", text[i]) && text[i + 1] == ' ') {
            i += strspn(text + i + 1, " ");
            putchar('\n');
            begins = 1;
        }
    }
    putchar('\n');
}

static void print_item(const struct tool_flag *flag)
{
    if (!strcmp(flag->name, "help"))
        return;
    fputs(".It", stdout);
    if (flag->letter)
        printf(" Fl %c ,", flag->letter);
    printf(" Fl -%s%s%s\n", flag->name, flag->takes ? " Ar " : "",
           flag->takes ? flag->takes : "");
    for (const char *line = flag->help + (*flag->help == '\n'); *line;) {
        const size_t length = strcspn(line, "\n");
        print_roff(line, length, 1);
        line += length + (line[length] == '\n');
    }
}

/* Ends a block and begins the next. */
static void change(enum block open, enum block next)
{
    if (open == LITERAL || open == LIST)
        puts(open == LITERAL ? ".Ed" : ".El");
    if (next == LITERAL)
        puts(".Bd -literal -offset indent");
    if (next == LIST)
        puts(".Bl -tag -width Ds");
    if (next == WORDS && open != NOTHING)
        puts(".Pp");
}

/* ---- completion ------------------------------------------------------------ */

/*
 * The words of "a|b" or "a, b", each up to what stands for a value: "offset:" of
 * "offset:N". Capital letters stand for a value, and so does "r0:r1".
 */
static void print_choices(const char *choices)
{
    while (*choices) {
        const size_t length = strcspn(choices, "|,");
        const size_t fixed = strcspn(choices, "ABCDEFGHIJKLMNOPQRSTUVWXYZ[|,");
        const char *const colon = memchr(choices, ':', fixed);

        if (*choices == 'F' || !strncmp(choices, "DIR", 3))
            fputs(" @file", stdout);
        else if (islower((unsigned char)*choices) &&
                 (!colon || colon == choices + fixed - 1))
            printf(" %.*s", (int)fixed, choices);
        choices += length;
        choices += strspn(choices, "|, ");
    }
}

static void print_words(const struct tool_flag *flag)
{
    printf("--%s\t%s", flag->name, flag->read ? "" : "-");
    if (flag->choices)
        print_choices(flag->choices);
    else if (flag->takes)
        print_choices(flag->takes);
    putchar('\n');
}

/* ---- the whole ------------------------------------------------------------- */

/* The flags of a line "@18 json out", as its form has them. */
static void print_named(const char *line, size_t length, const struct tool_flag *flags,
                        int count)
{
    char *names;
    const int column = (int)strtol(line + 1, &names, 10);

    for (const char *at = names; at < line + length;) {
        at += strspn(at, " ");
        const size_t size = strcspn(at, " \n");
        const struct tool_flag *const flag = flag_of(at, size, flags, count);
        assert(flag && flag->help);
        if (tool_help_form == TOOL_HELP_MANUAL)
            print_item(flag);
        else
            print_flag(flag, column);
        at += size;
    }
}

static void print_manual(const char *text, const struct tool_flag *flags, int count)
{
    enum block open = NOTHING;
    int is_paragraph = 0;

    for (const char *line = text; *line;) {
        const size_t length = strcspn(line, "\n");
        const enum block next = *line == '@' ? LIST : *line == ' ' ? LITERAL : WORDS;

        if (length && (next != open || is_paragraph)) {
            change(open, next);
            open = next;
        }
        if (next == LIST)
            print_named(line, length, flags, count);
        else if (length)
            print_roff(line, length, next == WORDS);
        is_paragraph = length == 0;
        line += length + (line[length] == '\n');
    }
    change(open, NOTHING);
}

void tool_print_help(const char *text, const struct tool_flag *flags, int count)
{
    static const char usage[] = "usage: ";
    const char *const end =
        strncmp(text, usage, sizeof usage - 1) ? text : strstr(text, "\n\n");

    switch (tool_help_form) {
    case TOOL_HELP_TEXT:
        for (const char *line = text; *line;) {
            const size_t length = strcspn(line, "\n");
            if (*line == '@')
                print_named(line, length, flags, count);
            else
                fwrite(line, 1, length + 1, stdout);
            line += length + 1;
        }
        break;
    case TOOL_HELP_USAGE:
        for (const char *line = text; line < end;) {
            const size_t length = strcspn(line, "\n");
            /* "usage: " has the width of the other lines' indentation. */
            print_roff(line + sizeof usage - 1, length - (sizeof usage - 1), 0);
            line += length + 1;
        }
        break;
    case TOOL_HELP_MANUAL:
        print_manual(end + (end > text ? 2 : 0), flags, count);
        break;
    case TOOL_HELP_WORDS:
        for (int f = 0; f < count; f++)
            print_words(&flags[f]);
        break;
    }
}

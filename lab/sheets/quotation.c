/* SPDX-License-Identifier: MIT */
/* Quotations in plain letters: what TeX sets, as one would type it. */
#include <ctype.h>
#include <string.h>

#include "lab/sheets/sheets.h"

/* Commands that are signs or nothing; any other stands for its own name. */
static const struct {
    const char *name, *sign;
} signs[] = {
    {"approx", "~"},      {"simeq", "~"},
    {"sim", "~"},         {"gg", ">>"},
    {"ll", "<<"},         {"neq", "!="},
    {"geq", ">="},        {"leq", "<="},
    {"cdot", "*"},        {"times", "x"},
    {"quad", " "},        {"text", ""},
    {"mathcal", ""},      {"mathbb", ""},
    {"mathsf", ""},       {"operatorname", ""},
    {"tilde", ""},        {"top", "T"},
    {"infty", "inf"},     {"rightarrow", "->"},
    {"Rightarrow", "=>"}, {"Leftrightarrow", "<=>"},
    {"dots", "..."},      {"because", "because"},
    {"frac", ""},         {"varepsilon", "eps"},
    {"nu", "v"},          {"in", "in"},
};

struct writer {
    char *text;
    size_t used, size;
};

static void put(struct writer *writer, const char *piece, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        const int again =
            piece[i] == ' ' && (!writer->used || writer->text[writer->used - 1] == ' ');
        if (!again && writer->used + 1 < writer->size)
            writer->text[writer->used++] = piece[i];
    }
}

/* The bytes of a group {...} and of what is inside; a text may end before the group. */
static size_t group_length(const char *text, size_t *inside)
{
    size_t length = 0;
    int depth = 0;
    while (text[length] && (depth > 0 || length == 0)) {
        depth += text[length] == '{' ? 1 : text[length] == '}' ? -1 : 0;
        length++;
    }
    *inside = length < 1 + (depth == 0) ? 0 : length - 1 - (depth == 0);
    return length;
}

static void write_text(struct writer *writer, const char *text, size_t length);

/* {a}{b} after \frac: (a)/(b), or a/b where both are short. */
static size_t write_fraction(struct writer *writer, const char *text)
{
    size_t above, below;
    const size_t first = group_length(text, &above);
    const size_t second =
        text[first] == '{' ? group_length(text + first, &below) : (below = 0);
    const size_t wide = above > 1 || below > 1;
    put(writer, "(", wide);
    write_text(writer, text + 1, above);
    put(writer, ")/(", 3 * wide);
    put(writer, "/", 1 - wide);
    write_text(writer, text + first + 1, below);
    put(writer, ")", wide);
    return first + second;
}

static size_t write_command(struct writer *writer, const char *text)
{
    size_t length = 1;
    while (isalpha((unsigned char)text[length]))
        length++;
    if (length == 1) { /* \{ and the like */
        put(writer, text + 1, text[1] != '\0');
        return text[1] ? 2 : 1;
    }
    if (length == 5 && !strncmp(text, "\\frac", length) && text[length] == '{')
        return length + write_fraction(writer, text + length);
    for (size_t i = 0; i < sizeof signs / sizeof signs[0]; i++)
        if (strlen(signs[i].name) == length - 1 &&
            !strncmp(signs[i].name, text + 1, length - 1)) {
            put(writer, signs[i].sign, strlen(signs[i].sign));
            return length;
        }
    put(writer, text + 1, length - 1);
    return length;
}

/* An index or exponent {i = 1}: in parentheses where it is more than a word. */
static size_t write_group(struct writer *writer, const char *text)
{
    size_t inside;
    const size_t length = group_length(text, &inside);
    const size_t wide = memchr(text, ' ', length) || memchr(text, '=', length);
    put(writer, "(", wide);
    write_text(writer, text + 1, inside);
    put(writer, ")", wide);
    return length;
}

static void write_text(struct writer *writer, const char *text, size_t length)
{
    for (size_t i = 0; i < length && text[i];) {
        if (text[i] == '\\')
            i += write_command(writer, text + i);
        else if (i > 0 && text[i] == '{' && strchr("_^", text[i - 1]))
            i += write_group(writer, text + i);
        else {
            if (!strchr("${}&", text[i]))
                put(writer, text + i, 1);
            i++;
        }
    }
}

void lab_sheets_plain(const char *quote, char *text, size_t size)
{
    struct writer writer = {.text = text, .size = size};
    write_text(&writer, quote, strlen(quote));
    text[writer.used] = '\0';
}

/* SPDX-License-Identifier: MIT */
/* TeX in plain letters, as one would type it. */
#include "lab/figures/tex.h"
#include "lab/figures/text.h"

#include <string.h>

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

static void write_text(struct writer *writer, const char *text, size_t length);

/* {a}{b} after \frac: (a)/(b), or a/b where both are short. */
static size_t write_fraction(struct writer *writer, const char *text, size_t length)
{
    size_t above, below = 0;
    const size_t first = lab_tex_group(text, length, &above);
    const size_t second = first < length && text[first] == '{'
                              ? lab_tex_group(text + first, length - first, &below)
                              : 0;
    const size_t wide = above > 1 || below > 1;
    put(writer, "(", wide);
    write_text(writer, text + 1, above);
    put(writer, ")/(", 3 * wide);
    put(writer, "/", 1 - wide);
    write_text(writer, text + first + 1, below);
    put(writer, ")", wide);
    return first + second;
}

static size_t write_command(struct writer *writer, const char *text, size_t left)
{
    const size_t length = lab_tex_command(text, left);
    const char *const sign = lab_tex_sign(text, length);
    size_t inside;

    if (lab_tex_is(text, length, "frac") && length < left && text[length] == '{')
        return length + write_fraction(writer, text + length, left - length);
    if (lab_tex_is(text, length, "begin") || lab_tex_is(text, length, "end"))
        return length < left && text[length] == '{'
                   ? length + lab_tex_group(text + length, left - length, &inside)
                   : length;
    if (sign)
        put(writer, sign, strlen(sign));
    else /* also of \{ and the like */
        put(writer, text + 1, length - 1);
    return length;
}

/* An index or exponent {i = 1}: in parentheses where it is more than a word. */
static size_t write_group(struct writer *writer, const char *text, size_t left)
{
    size_t inside;
    const size_t length = lab_tex_group(text, left, &inside);
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
            i += write_command(writer, text + i, strlen(text + i));
        else if (i > 0 && text[i] == '{' && strchr("_^", text[i - 1]))
            i += write_group(writer, text + i, strlen(text + i));
        else {
            if (!strchr("${}&", text[i]))
                put(writer, text + i, 1);
            i++;
        }
    }
}

void lab_text_plain(const char *tex, char *text, size_t size)
{
    struct writer writer = {.text = text, .size = size};
    write_text(&writer, tex, strlen(tex));
    text[writer.used] = '\0';
}

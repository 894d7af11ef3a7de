/* SPDX-License-Identifier: MIT */
/* Matrices, cases and lines of TeX as tables of MathML, and letters of alphabets. */
#include "lab/figures/tex.h"

#include <ctype.h>
#include <string.h>

/* ---- lines and columns ----------------------------------------------------------- */

/* Bytes to the next "&" or "\\" outside of groups and environments, or to the end. */
static size_t cell_length(const char *tex, size_t length)
{
    size_t inside;
    for (size_t i = 0; i < length;) {
        const size_t name = tex[i] == '\\' ? lab_tex_command(tex + i, length - i) : 1;
        if (tex[i] == '&' || lab_tex_is(tex + i, name, "\\"))
            return i;
        i += tex[i] == '{' ? lab_tex_group(tex + i, length - i, &inside)
             : lab_tex_is(tex + i, name, "begin")
                 ? lab_tex_environment(tex + i, length - i)
                 : name;
    }
    return length;
}

int lab_tex_has_lines(const char *tex, size_t length)
{
    return cell_length(tex, length) < length;
}

static int is_blank(const char *tex, size_t length)
{
    while (length > 0 && isspace((unsigned char)tex[length - 1]))
        length--;
    return length == 0;
}

void lab_tex_set_lines(FILE *out, const char *tex, size_t length, const char *kind)
{
    fprintf(out, "<mtable class=\"%s\"><mtr>", kind);
    for (size_t i = 0; i <= length;) {
        const size_t cell = cell_length(tex + i, length - i);
        fputs("<mtd>", out);
        lab_tex_set_row(out, tex + i, cell);
        fputs("</mtd>", out);
        i += cell;
        if (i >= length)
            break;
        const int column = tex[i] == '&';
        i += column ? 1 : 2;
        if (!column && is_blank(tex + i, length - i))
            break;
        fputs(column ? "" : "</mtr><mtr>", out);
    }
    fputs("</mtr></mtable>", out);
}

/* Environments with brackets; others are lines. */
static const struct environment {
    const char *name, *open, *close, *kind;
} environments[] = {
    {"matrix", "", "", "matrix"},
    {"bmatrix", "[", "]", "matrix"},
    {"pmatrix", "(", ")", "matrix"},
    {"vmatrix", "|", "|", "matrix"},
    {"Vmatrix", "\u2016", "\u2016", "matrix"},
    {"array", "", "", "matrix"},
    {"cases", "{", "", "cases"},
};

static void set_bracket(FILE *out, const char *bracket)
{
    if (*bracket)
        fprintf(out, "<mo stretchy=\"true\">%s</mo>", bracket);
}

void lab_tex_set_environment(FILE *out, const char *tex, size_t length)
{
    static const char begin[] = "\\begin", end[] = "\\end{";
    static const struct environment lines = {"", "", "", "lines"};
    const struct environment *kind = &lines;
    size_t from = sizeof begin - 1, inside = 0, to = length;
    const size_t name = from < length && tex[from] == '{'
                            ? lab_tex_group(tex + from, length - from, &inside)
                            : 0;
    for (size_t i = 0; i < sizeof environments / sizeof environments[0]; i++)
        if (strlen(environments[i].name) == inside &&
            !memcmp(tex + from + 1, environments[i].name, inside))
            kind = &environments[i];
    from += name;
    /* The columns of an array, "{cc}". */
    if (!strcmp(kind->name, "array") && from < length && tex[from] == '{')
        from += lab_tex_group(tex + from, length - from, &inside);
    while (to > from &&
           (length - to < sizeof end - 1 || memcmp(tex + to, end, sizeof end - 1)))
        to--;
    fputs("<mrow>", out);
    set_bracket(out, kind->open);
    lab_tex_set_lines(out, tex + from, (to > from ? to : length) - from, kind->kind);
    set_bracket(out, kind->close);
    fputs("</mrow>", out);
}

/* ---- alphabets --------------------------------------------------------------------- */

/* The letters that were in Unicode before their alphabet. */
static unsigned early(const char *name, char letter)
{
    static const struct {
        const char *name, *letters;
        unsigned code[12];
    } sets[] = {
        {"bb", "CHNPQRZ", {0x2102, 0x210d, 0x2115, 0x2119, 0x211a, 0x211d, 0x2124}},
        {"cal",
         "BEFHILMRego",
         {0x212c, 0x2130, 0x2131, 0x210b, 0x2110, 0x2112, 0x2133, 0x211b, 0x212f, 0x210a,
          0x2134}},
    };
    for (size_t i = 0; i < sizeof sets / sizeof sets[0]; i++) {
        const char *const at = strchr(sets[i].letters, letter);
        if (!strcmp(name, sets[i].name) && at)
            return sets[i].code[at - sets[i].letters];
    }
    return 0;
}

/* In UTF-8, from U+0800 on. */
static void put_character(FILE *out, unsigned code)
{
    if (code < 0x10000)
        fputc((int)(0xe0 | code >> 12), out);
    else {
        fputc((int)(0xf0 | code >> 18), out);
        fputc((int)(0x80 | (code >> 12 & 0x3f)), out);
    }
    fputc((int)(0x80 | (code >> 6 & 0x3f)), out);
    fputc((int)(0x80 | (code & 0x3f)), out);
}

int lab_tex_set_alphabet(FILE *out, const char *tex, size_t length, const char *letters,
                         size_t count)
{
    static const struct {
        const char *command, *name;
        unsigned upper, lower;
    } alphabets[] = {
        {"mathbb", "bb", 0x1d538, 0x1d552},     {"mathcal", "cal", 0x1d49c, 0x1d4b6},
        {"mathscr", "cal", 0x1d49c, 0x1d4b6},   {"mathbf", "bf", 0x1d400, 0x1d41a},
        {"boldsymbol", "bf", 0x1d400, 0x1d41a}, {"bm", "bf", 0x1d400, 0x1d41a},
    };
    size_t a = 0;
    while (a < sizeof alphabets / sizeof alphabets[0] &&
           !lab_tex_is(tex, length, alphabets[a].command))
        a++;
    if (a == sizeof alphabets / sizeof alphabets[0])
        return 0;
    for (size_t i = 0; i < count; i++)
        if (!isalpha((unsigned char)letters[i])) {
            /* Such as \bm{\mu}. */
            fputs("<mrow class=\"bold\">", out);
            lab_tex_set_row(out, letters, count);
            fputs("</mrow>", out);
            return 1;
        }
    fputs("<mi mathvariant=\"normal\">", out);
    for (size_t i = 0; i < count; i++) {
        const unsigned known = early(alphabets[a].name, letters[i]);
        const unsigned upper = letters[i] >= 'A' && letters[i] <= 'Z';
        put_character(out, known   ? known
                           : upper ? alphabets[a].upper + (unsigned)(letters[i] - 'A')
                                   : alphabets[a].lower + (unsigned)(letters[i] - 'a'));
    }
    fputs("</mi>", out);
    return 1;
}

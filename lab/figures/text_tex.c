/* SPDX-License-Identifier: MIT */
/* Formulas in the part of TeX that the tour uses, as MathML. */
#include "lab/figures/tex.h"
#include "lab/figures/text.h"

#include <ctype.h>
#include <string.h>

static void set_row(FILE *out, const char *tex, size_t length);

static size_t spaces(const char *tex, size_t length)
{
    size_t n = 0;
    while (n < length && isspace((unsigned char)tex[n]))
        n++;
    return n;
}

/* Number of arguments of a command. */
static int arguments_of(const char *tex, size_t length)
{
    static const char *const one[] = {"sqrt", "text", "mathrm", "bar"};
    for (size_t i = 0; i < sizeof one / sizeof one[0]; i++)
        if (lab_tex_is(tex, length, one[i]))
            return 1;
    return lab_tex_is(tex, length, "frac") ? 2 : 0;
}

static size_t atom_length(const char *tex, size_t length);

/* The length of the next argument, with the spaces before it. */
static size_t argument_length(const char *tex, size_t length)
{
    const size_t skipped = spaces(tex, length);
    if (skipped < length && isdigit((unsigned char)tex[skipped]))
        return skipped + 1; /* \frac12 */
    return skipped + atom_length(tex + skipped, length - skipped);
}

/* The length of a letter, a number, a group, or a command with its arguments. */
static size_t atom_length(const char *tex, size_t length)
{
    size_t n = 0, inside;
    if (length == 0)
        return 0;
    if (*tex == '{')
        return lab_tex_group(tex, length, &inside);
    if (*tex == '\\') {
        n = lab_tex_command(tex, length);
        for (int i = arguments_of(tex, n); i > 0; i--)
            n += argument_length(tex + n, length - n);
        return n;
    }
    while (n < length &&
           (isdigit((unsigned char)tex[n]) || (n > 0 && tex[n] == '.' && n + 1 < length &&
                                               isdigit((unsigned char)tex[n + 1]))))
        n++;
    if (n > 0)
        return n;
    n = 1;
    while (n < length && ((unsigned char)tex[n] & 0xc0) == 0x80)
        n++;
    return n;
}

/* The argument that starts at tex, without its braces, as one element. */
static void set_argument(FILE *out, const char *tex, size_t length)
{
    const size_t skipped = spaces(tex, length);
    tex += skipped;
    length -= skipped;
    fputs("<mrow>", out);
    if (length > 0 && *tex == '{')
        set_row(out, tex + 1, length - 1 - (tex[length - 1] == '}'));
    else
        set_row(out, tex, length);
    fputs("</mrow>", out);
}

static void set_words(FILE *out, int words, const char *tex, size_t length)
{
    const size_t skipped = spaces(tex, length);
    fputs(words ? "<mtext>" : "<mi mathvariant=\"normal\">", out);
    if (length > skipped + 2)
        lab_text_escape(out, tex + skipped + 1, length - skipped - 2);
    fputs(words ? "</mtext>" : "</mi>", out);
}

static void set_symbol(FILE *out, const char *tex, size_t length)
{
    const struct lab_tex_symbol *const symbol = lab_tex_symbol(tex, length);
    if (!symbol) {
        /* A command that is not known is shown as it is written. */
        fputs("<mtext>", out);
        lab_text_escape(out, tex, length);
        fputs("</mtext>", out);
    } else if (!strcmp(symbol->tag, "mspace"))
        fprintf(out, "<mspace width=\"%s\"/>", symbol->text);
    else
        fprintf(out, "<%s%s>%s</%s>", symbol->tag,
                strcmp(symbol->text, "\u2016") ? "" : " stretchy=\"false\"", symbol->text,
                symbol->tag);
}

static void set_command(FILE *out, const char *tex, size_t length)
{
    const size_t name = lab_tex_command(tex, length);
    const char *const rest = tex + name;
    const size_t left = length - name;
    if (lab_tex_is(tex, name, "frac")) {
        const size_t first = argument_length(rest, left);
        fputs("<mfrac>", out);
        set_argument(out, rest, first);
        set_argument(out, rest + first, left - first);
        fputs("</mfrac>", out);
    } else if (lab_tex_is(tex, name, "sqrt")) {
        fputs("<msqrt>", out);
        set_argument(out, rest, left);
        fputs("</msqrt>", out);
    } else if (lab_tex_is(tex, name, "bar")) {
        fputs("<mover accent=\"true\">", out);
        set_argument(out, rest, left);
        fputs("<mo stretchy=\"false\">\u00af</mo></mover>", out);
    } else if (lab_tex_is(tex, name, "text") || lab_tex_is(tex, name, "mathrm")) {
        set_words(out, tex[1] == 't', rest, left);
    } else {
        set_symbol(out, tex, name);
    }
}

static void set_atom(FILE *out, const char *tex, size_t length)
{
    if (*tex == '{') {
        set_argument(out, tex, length);
    } else if (*tex == '\\') {
        set_command(out, tex, length);
    } else if (isdigit((unsigned char)*tex)) {
        fprintf(out, "<mn>%.*s</mn>", (int)length, tex);
    } else if (isalpha((unsigned char)*tex)) {
        fprintf(out, "<mi>%c</mi>", *tex);
    } else if (*tex == '-' || *tex == '\'') {
        fputs(*tex == '-' ? "<mo>\u2212</mo>" : "<mo>\u2032</mo>", out);
    } else {
        fprintf(out, "<mo%s>",
                *tex == '/'             ? " lspace=\"0\" rspace=\"0\""
                : strchr("()[]|", *tex) ? " stretchy=\"false\""
                                        : "");
        lab_text_escape(out, tex, length);
        fputs("</mo>", out);
    }
}

/* An atom with its index and exponent; for an operator, its limits. */
static size_t set_scripts(FILE *out, const char *tex, size_t length, size_t atom)
{
    const int limits = lab_tex_is(tex, atom, "sum") || lab_tex_is(tex, atom, "max");
    size_t script[2] = {0, 0}, at[2] = {0, 0}, used = atom;
    for (int i = 0; i < 2; i++)
        if (used < length && (tex[used] == '_' || tex[used] == '^')) {
            const int above = tex[used] == '^';
            at[above] = used + 1;
            script[above] = argument_length(tex + used + 1, length - used - 1);
            used += 1 + script[above];
        }
    const char *const tag = script[0] && script[1] ? limits ? "munderover" : "msubsup"
                            : script[0]            ? limits ? "munder" : "msub"
                            : script[1]            ? limits ? "mover" : "msup"
                                                   : NULL;
    if (tag)
        fprintf(out, "<%s>", tag);
    set_atom(out, tex, atom);
    for (int i = 0; i < 2; i++)
        if (script[i])
            set_argument(out, tex + at[i], script[i]);
    if (tag)
        fprintf(out, "</%s>", tag);
    return used;
}

static int is_function(const char *tex, size_t length)
{
    static const char *const names[] = {"ln", "exp", "cos", "max"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (lab_tex_is(tex, length, names[i]))
            return 1;
    return 0;
}

/* The name of a function stands apart from its argument and from a factor before it. */
static void set_row(FILE *out, const char *tex, size_t length)
{
    static const char gap[] = "<mspace width=\"0.17em\"/>";
    int after_factor = 0;
    for (size_t i = spaces(tex, length); i < length; i += spaces(tex + i, length - i)) {
        const char *const start = tex + i;
        const size_t atom = atom_length(start, length - i);
        const int function = is_function(start, atom);
        if (function && after_factor)
            fputs(gap, out);
        i += set_scripts(out, start, length - i, atom);
        const size_t next = i + spaces(tex + i, length - i);
        if (function && next < length && !strchr("([)],", tex[next]))
            fputs(gap, out);
        after_factor = isalnum((unsigned char)*start) || *start == ')' ||
                       lab_tex_is(start, lab_tex_command(start, atom), "frac");
    }
}

/* The formula, with its TeX as an annotation that can be copied. */
static void set_formula(FILE *out, const char *tex, size_t length, int block)
{
    fprintf(out, "<math%s><semantics><mrow>", block ? " display=\"block\"" : "");
    set_row(out, tex, length);
    fputs("</mrow><annotation encoding=\"application/x-tex\">", out);
    lab_text_escape(out, tex, length);
    fputs("</annotation></semantics></math>", out);
}

void lab_text_formula(FILE *out, const char *tex)
{
    set_formula(out, tex, strlen(tex), 1);
}

void lab_text_markdown(FILE *out, const char *text)
{
    while (*text) {
        const size_t plain = strcspn(text, "$`");
        lab_text_escape(out, text, plain);
        text += plain;
        const char *end = *text ? strchr(text + 1, *text) : NULL;
        if (!end) {
            lab_text_html(out, text);
            return;
        }
        if (*text == '$') {
            /* No line begins with the comma after a formula. */
            const int tied = end[1] && strchr(",.;:)?", end[1]);
            fputs(tied ? "<span class=\"tie\">" : "", out);
            set_formula(out, text + 1, (size_t)(end - text) - 1, 0);
            if (tied)
                fprintf(out, "%c</span>", *++end);
        } else {
            fputs("<code>", out);
            lab_text_escape(out, text + 1, (size_t)(end - text) - 1);
            fputs("</code>", out);
        }
        text = end + 1;
    }
}

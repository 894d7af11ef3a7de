/* SPDX-License-Identifier: MIT */
/* Formulas in TeX as MathML. */
#include "lab/figures/tex.h"
#include "lab/figures/text.h"

#include <ctype.h>
#include <string.h>

/* Blanks, and delimiters that were left within a formula. */
static size_t spaces(const char *tex, size_t length)
{
    size_t n = 0;
    while (n < length && (isspace((unsigned char)tex[n]) || strchr("~$", tex[n])))
        n++;
    return n;
}

/* A sign above or below one argument. */
static const struct accent {
    const char *name, *tag, *attribute, *sign;
    int stretches;
} accents[] = {
    {"bar", "mover", "accent", "\u00af", 0},
    {"overline", "mover", "accent", "\u00af", 1},
    {"hat", "mover", "accent", "^", 0},
    {"widehat", "mover", "accent", "^", 1},
    {"tilde", "mover", "accent", "~", 0},
    {"widetilde", "mover", "accent", "~", 1},
    {"vec", "mover", "accent", "\u2192", 0},
    {"dot", "mover", "accent", "\u02d9", 0},
    {"overbrace", "mover", "accent", "\u23de", 1},
    {"underline", "munder", "accentunder", "_", 1},
    {"underbrace", "munder", "accentunder", "\u23df", 1},
};

/* One argument above another. */
static const struct pair {
    const char *name, *tag;
    int small_first;
} pairs[] = {
    {"frac", "mfrac", 0},     {"dfrac", "mfrac", 0},   {"tfrac", "mfrac", 0},
    {"stackrel", "mover", 1}, {"overset", "mover", 1}, {"underset", "munder", 1},
};

/* Words of a text, or letters of one alphabet. */
static const char *const words[] = {
    "text",   "textbf",     "textit", "textrm",       "mbox",
    "mathrm", "mathsf",     "mathit", "operatorname", "mathbb",
    "mathbf", "boldsymbol", "bm",     "mathcal",      "mathscr",
};

/* One argument with something drawn round or through it: its class. */
static const char *const drawn[] = {"sqrt", "cancel", "boxed"};

/* One argument that is not shown: names and numbers of equations. */
static const char *const unseen[] = {"label", "tag"};

static int is_one_of(const char *tex, size_t length, const char *const *names, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (lab_tex_is(tex, length, names[i]))
            return 1;
    return 0;
}
#define IS_ONE_OF(tex, length, names)                                                    \
    is_one_of(tex, length, names, sizeof(names) / sizeof(names)[0])

static const struct accent *accent_of(const char *tex, size_t length)
{
    for (size_t i = 0; i < sizeof accents / sizeof accents[0]; i++)
        if (lab_tex_is(tex, length, accents[i].name))
            return &accents[i];
    return NULL;
}

static const struct pair *pair_of(const char *tex, size_t length)
{
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++)
        if (lab_tex_is(tex, length, pairs[i].name))
            return &pairs[i];
    return NULL;
}

/* Number of arguments of a command. */
static int arguments_of(const char *tex, size_t length)
{
    return pair_of(tex, length) ? 2
           : accent_of(tex, length) || IS_ONE_OF(tex, length, words) ||
                   IS_ONE_OF(tex, length, drawn) || IS_ONE_OF(tex, length, unseen) ||
                   lab_tex_is(tex, length, "xrightarrow")
               ? 1
               : 0;
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
        if (lab_tex_is(tex, n, "begin"))
            return lab_tex_environment(tex, length);
        if (lab_tex_is(tex, n, "left"))
            return lab_tex_fenced(tex, length);
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
        lab_tex_set_row(out, tex + 1, length - 1 - (tex[length - 1] == '}'));
    else
        lab_tex_set_row(out, tex, length);
    fputs("</mrow>", out);
}

/* The argument of a command of `words`. */
static void set_words(FILE *out, const char *tex, size_t name, size_t length)
{
    const size_t from = name + spaces(tex + name, length - name);
    const size_t braced = from < length && tex[from] == '{';
    const size_t size = length - from >= 2 * braced ? length - from - 2 * braced : 0;
    const int is_text = !strncmp(tex, "\\text", 5) || lab_tex_is(tex, name, "mbox");
    if (lab_tex_set_alphabet(out, tex, name, tex + from + braced, size))
        return;
    /* Blanks at the ends would be dropped. */
    const char *const words_of = tex + from + braced;
    const size_t before = size > 0 && words_of[0] == ' ';
    const size_t after = size > 1 && words_of[size - 1] == ' ';
    fputs(is_text ? "<mtext>" : "<mi mathvariant=\"normal\">", out);
    fputs(before ? "\u00a0" : "", out);
    lab_text_escape(out, words_of + before, size - before - after);
    fputs(after ? "\u00a0" : "", out);
    fputs(is_text ? "</mtext>" : "</mi>", out);
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
                strchr("|{}", *symbol->text) || !strcmp(symbol->text, "\u2016")
                    ? " stretchy=\"false\""
                    : "",
                symbol->text, symbol->tag);
}

static void set_accent(FILE *out, const struct accent *accent, const char *tex,
                       size_t length)
{
    fprintf(out, "<%s %s=\"true\">", accent->tag, accent->attribute);
    set_argument(out, tex, length);
    fprintf(out, "<mo stretchy=\"%s\">%s</mo></%s>", accent->stretches ? "true" : "false",
            accent->sign, accent->tag);
}

static void set_pair(FILE *out, const struct pair *pair, const char *tex, size_t length)
{
    const size_t first = argument_length(tex, length);
    fprintf(out, "<%s>", pair->tag);
    if (pair->small_first)
        set_argument(out, tex + first, length - first);
    set_argument(out, tex, first);
    if (!pair->small_first)
        set_argument(out, tex + first, length - first);
    fprintf(out, "</%s>", pair->tag);
}

/* The bracket at `tex`; nothing for ".". */
static size_t set_bracket(FILE *out, const char *tex, size_t length)
{
    const size_t size = length == 0 ? 0 : *tex == '\\' ? lab_tex_command(tex, length) : 1;
    const struct lab_tex_symbol *const symbol =
        size > 1 ? lab_tex_symbol(tex, size) : NULL;
    fputs("<mo stretchy=\"true\">", out);
    if (symbol)
        fputs(symbol->text, out);
    else if (size == 1 && *tex != '.')
        lab_text_escape(out, tex, 1);
    fputs("</mo>", out);
    return size;
}

/* "\left( ... \right)" without its "\left". */
static void set_fenced(FILE *out, const char *tex, size_t length)
{
    static const char right[] = "\\right";
    enum { RIGHT = sizeof right - 1 };
    fputs("<mrow>", out);
    const size_t from = set_bracket(out, tex, length);
    size_t end = length;
    while (end > from && (length - end < RIGHT || memcmp(tex + end, right, RIGHT)))
        end--;
    if (end > from || (length >= from + RIGHT && !memcmp(tex + from, right, RIGHT))) {
        lab_tex_set_row(out, tex + from, end - from);
        set_bracket(out, tex + end + RIGHT, length - end - RIGHT);
    } else
        lab_tex_set_row(out, tex + from, length - from);
    fputs("</mrow>", out);
}

static void set_drawn(FILE *out, const char *tex, size_t name, size_t length)
{
    if (lab_tex_is(tex, name, "sqrt"))
        fputs("<msqrt>", out);
    else
        fprintf(out, "<mrow class=\"%.*s\">", (int)name - 1, tex + 1);
    set_argument(out, tex + name, length - name);
    fputs(lab_tex_is(tex, name, "sqrt") ? "</msqrt>" : "</mrow>", out);
}

/* Sizes, styles and numbers of equations are not shown. */
static int is_silent(const char *tex, size_t length)
{
    static const char *const silent[] = {
        "big",   "Big",   "bigl",     "bigr",         "Bigl",      "Bigr",
        "bigg",  "Bigg",  "biggl",    "biggr",        "limits",    "nolimits",
        "notag", "right", "nonumber", "displaystyle", "textstyle", "\\",
    };
    return IS_ONE_OF(tex, length, silent);
}

static void set_command(FILE *out, const char *tex, size_t length)
{
    const size_t name = lab_tex_command(tex, length);
    const char *const rest = tex + name;
    const size_t left = length - name;
    const struct accent *const accent = accent_of(tex, name);
    const struct pair *const pair = pair_of(tex, name);
    if (pair)
        set_pair(out, pair, rest, left);
    else if (accent)
        set_accent(out, accent, rest, left);
    else if (IS_ONE_OF(tex, name, drawn))
        set_drawn(out, tex, name, length);
    else if (lab_tex_is(tex, name, "begin"))
        lab_tex_set_environment(out, tex, length);
    else if (lab_tex_is(tex, name, "left"))
        set_fenced(out, rest, left);
    else if (IS_ONE_OF(tex, name, words))
        set_words(out, tex, name, length);
    else if (lab_tex_is(tex, name, "xrightarrow")) {
        fputs("<mover><mo stretchy=\"true\">\u2192</mo>", out);
        set_argument(out, rest, left);
        fputs("</mover>", out);
    } else if (!is_silent(tex, name) && !IS_ONE_OF(tex, name, unseen))
        set_symbol(out, tex, name);
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
    static const char *const large[] = {"sum", "prod", "max", "min", "lim"};
    const int limits = IS_ONE_OF(tex, atom, large) || !strncmp(tex, "\\underbrace", 11) ||
                       !strncmp(tex, "\\overbrace", 10);
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
    static const char *const functions[] = {"ln",  "log",  "exp", "cos", "sin",
                                            "max", "tanh", "min", "det"};
    return IS_ONE_OF(tex, length, functions);
}

/* The name of a function stands apart from its argument and from a factor before it. */
void lab_tex_set_row(FILE *out, const char *tex, size_t length)
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
void lab_text_tex(FILE *out, const char *tex, size_t length, int block)
{
    fprintf(out, "<math%s><semantics><mrow>", block ? " display=\"block\"" : "");
    if (lab_tex_has_lines(tex, length))
        lab_tex_set_lines(out, tex, length, "lines");
    else
        lab_tex_set_row(out, tex, length);
    fputs("</mrow><annotation encoding=\"application/x-tex\">", out);
    lab_text_escape(out, tex, length);
    fputs("</annotation></semantics></math>", out);
}

void lab_text_formula(FILE *out, const char *tex)
{
    lab_text_tex(out, tex, strlen(tex), 1);
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
            lab_text_tex(out, text + 1, (size_t)(end - text) - 1, 0);
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

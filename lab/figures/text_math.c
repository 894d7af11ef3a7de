/* SPDX-License-Identifier: MIT */
/* Formulas in running text, written "mu_a^T", set as in print. */
#include "lab/figures/text.h"

#include <ctype.h>
#include <string.h>

struct setter {
    FILE *out;
    enum lab_markup markup;
    int formula; /* all of it is one: every '-' is a minus */
    int shift;   /* SVG: px that the baseline was moved and must be moved back */
};

static const char *const letters[][2] = {
    {"alpha", "\u03b1"},  {"beta", "\u03b2"},  {"gamma", "\u03b3"},
    {"delta", "\u03b4"},  {"eps", "\u03b5"},   {"eta", "\u03b7"},
    {"lambda", "\u03bb"}, {"mu", "\u03bc"},    {"pi", "\u03c0"},
    {"rho", "\u03c1"},    {"sigma", "\u03c3"}, {"tau", "\u03c4"},
    {"phi", "\u03c6"},    {"Sigma", "\u03a3"}, {"Pi", "\u03a0"},
    {"Phi", "\u03a6"},    {"inf", "\u221e"},   {"sigma2", "\u03c3\u00b2"},
    {"sqrt", "\u221a"}};

static const char *const signs[][2] = {
    {"<=", "\u2264"}, {">=", "\u2265"}, {">>", "\u226b"}, {"<<", "\u226a"},
    {"!=", "\u2260"}, {"->", "\u2192"}, {"+-", "\u00b1"}, {" - ", " \u2212 "}};

static size_t word_length(const char *text, size_t length)
{
    size_t n = 0;
    while (n < length && isalnum((unsigned char)text[n]))
        n++;
    return n;
}

/* Digits, or a letter with what follows: "2e" is a number and a letter. */
static size_t token_length(const char *text, size_t length)
{
    if (length == 0 || !isdigit((unsigned char)*text))
        return word_length(text, length);
    size_t n = 0;
    while (n < length && isdigit((unsigned char)text[n]))
        n++;
    return n;
}

static const char *letter(const char *word, size_t length)
{
    for (size_t i = 0; i < sizeof letters / sizeof letters[0]; i++)
        if (strlen(letters[i][0]) == length && !memcmp(letters[i][0], word, length))
            return letters[i][1];
    return NULL;
}

/* Text on the line itself, after whatever was above or below it. */
static void put(struct setter *setter, const char *text, size_t length)
{
    if (length == 0)
        return;
    if (setter->shift) {
        /* The shift lasts, so it takes one character only. */
        fprintf(setter->out, "<tspan dy=\"%d\">", -setter->shift);
        size_t first = 1;
        while (first < length && ((unsigned char)text[first] & 0xc0) == 0x80)
            first++;
        lab_text_escape(setter->out, text, first);
        fputs("</tspan>", setter->out);
        setter->shift = 0;
        text += first;
        length -= first;
    }
    lab_text_escape(setter->out, text, length);
}

static void set_formulas(struct setter *setter, const char *text, size_t length);

/* An index below or an exponent above the line. */
static void put_raised(struct setter *setter, const char *text, size_t length, int below)
{
    if (setter->markup == LAB_HTML) {
        struct setter inner = {.out = setter->out, .markup = LAB_HTML, .formula = 1};
        fputs(below ? "<sub>" : "<sup>", setter->out);
        set_formulas(&inner, text, length);
        fputs(below ? "</sub>" : "</sup>", setter->out);
        return;
    }
    const int wanted = below ? 3 : -5;
    fprintf(setter->out, "<tspan dy=\"%d\" font-size=\"75%%\">", wanted - setter->shift);
    if (length > 1 && *text == '-') {
        fputs("\u2212", setter->out);
        text++;
        length--;
    }
    const char *const greek = letter(text, length);
    if (greek)
        fputs(greek, setter->out);
    else
        lab_text_escape(setter->out, text, length);
    fputs("</tspan>", setter->out);
    setter->shift = wanted;
}

/* Length of a bracketed group, brackets included; 0 if there is none. */
static size_t group_length(const char *text, size_t length)
{
    if (length == 0 || (*text != '(' && *text != '{'))
        return 0;
    const char close = *text == '(' ? ')' : '}';
    int depth = 0;
    for (size_t i = 0; i < length; i++) {
        depth += text[i] == *text;
        depth -= text[i] == close;
        if (depth == 0)
            return i + 1;
    }
    return 0;
}

/* Length of the index after '_', 0 if none; names such as var_w_x have none. */
static size_t index_length(const char *text, size_t length)
{
    if (length > 0 && *text == '{')
        return group_length(text, length);
    const size_t n = word_length(text, length);
    return n < length && text[n] == '_' ? 0 : n;
}

/* Length of the exponent after '^': "-C", "12", "(n-1)", "{gC}"; 0 if none. */
static size_t exponent_length(const char *text, size_t length)
{
    const size_t group = group_length(text, length);
    if (group)
        return group;
    const size_t minus = length > 0 && *text == '-';
    const size_t n = word_length(text + minus, length - minus);
    return n ? n + minus : 0;
}

/* Puts an index or an exponent without the brackets that hold it together. */
static void put_group(struct setter *setter, const char *text, size_t length, int below)
{
    const size_t bracket = *text == '(' || *text == '{';
    put_raised(setter, text + bracket, length - 2 * bracket, below);
}

/* Nonzero if the '-' at text[i] is a minus: "-1", "(1-eps", "n-1", "v_a-v_b", but not
 * "two-head". */
static int is_minus(const char *text, size_t length, size_t i)
{
    if (i + 1 >= length || !isalnum((unsigned char)text[i + 1]))
        return 0;
    if (i == 0 || strchr(" (=,[|", text[i - 1]))
        return 1;
    if (i >= 2 && (text[i - 2] == '(' || text[i - 2] == '_'))
        return 1;
    return isdigit((unsigned char)text[i + 1]) && isalpha((unsigned char)text[i - 1]) &&
           (i == 1 || !isalnum((unsigned char)text[i - 2]));
}

/* Puts the sign or the character at text[i]; returns the bytes used. */
static size_t put_sign(struct setter *setter, const char *text, size_t length, size_t i)
{
    for (size_t s = 0; s < sizeof signs / sizeof signs[0]; s++) {
        const size_t n = strlen(signs[s][0]);
        if (n <= length - i && !memcmp(text + i, signs[s][0], n)) {
            put(setter, signs[s][1], strlen(signs[s][1]));
            return n;
        }
    }
    if (text[i] == '-' && (setter->formula || is_minus(text, length, i))) {
        put(setter, "\u2212", strlen("\u2212"));
        return 1;
    }
    size_t bytes = 1;
    while (i + bytes < length && ((unsigned char)text[i + bytes] & 0xc0) == 0x80)
        bytes++;
    put(setter, text + i, bytes);
    return bytes;
}

/* The index and exponent after a letter or bracket; returns the bytes used. */
static size_t put_index_and_exponent(struct setter *setter, const char *text,
                                     size_t length, int takes_index)
{
    size_t used = 0, n;
    if (takes_index && length > 1 && *text == '_' &&
        (n = index_length(text + 1, length - 1)) > 0) {
        put_group(setter, text + 1, n, 1);
        used = n + 1;
    }
    if (length > used + 1 && text[used] == '^' &&
        (n = exponent_length(text + used + 1, length - used - 1)) > 0) {
        put_group(setter, text + used + 1, n, 0);
        used += n + 1;
    }
    return used;
}

/* A number as programs print it, "1.5e-07", as a power of ten; 0: it is none. */
static size_t put_power(struct setter *setter, const char *text, size_t length)
{
    size_t n = 0;
    while (n < length && (isdigit((unsigned char)text[n]) || text[n] == '.'))
        n++;
    const size_t mantissa = n;
    if (n == 0 || text[n - 1] == '.' || n + 1 >= length || text[n] != 'e')
        return 0;
    n++;
    const int negative = text[n] == '-';
    n += text[n] == '-' || text[n] == '+';
    size_t digits = word_length(text + n, length - n);
    for (size_t i = 0; i < digits; i++)
        if (!isdigit((unsigned char)text[n + i]))
            return 0;
    if (digits == 0 || digits > 3)
        return 0;
    char exponent[8] = "-";
    while (digits > 1 && text[n] == '0') {
        n++;
        digits--;
    }
    memcpy(exponent + negative, text + n, digits);
    if (mantissa != 1 || *text != '1') {
        put(setter, text, mantissa);
        put(setter, "\u00b7", strlen("\u00b7"));
    }
    put(setter, "10", 2);
    put_raised(setter, exponent, digits + (size_t)negative, 0);
    return n + digits;
}

/* The word of n bytes at text[i] with its index and exponent; returns the bytes used. */
static size_t put_word(struct setter *setter, const char *text, size_t length, size_t i,
                       size_t n)
{
    const char *const greek = letter(text + i, n);
    put(setter, greek ? greek : text + i, greek ? strlen(greek) : n);
    size_t used = n;
    /* "sqrt d": the sign stands at its letter. */
    if (n == 4 && !memcmp(text + i, "sqrt", n) && i + n < length && text[i + n] == ' ')
        used++;
    /* Words of several letters with an index are names of quantities. */
    const int after_name = i > 0 && text[i - 1] == '_';
    return used + put_index_and_exponent(setter, text + i + used, length - i - used,
                                         (greek || n == 1) && !after_name);
}

static void set_formulas(struct setter *setter, const char *text, size_t length)
{
    for (size_t i = 0; i < length;) {
        const size_t n = token_length(text + i, length - i);
        if (n == 0) {
            const int closes = text[i] == ')' || text[i] == '|' || text[i] == ']';
            const int foreign = ((unsigned char)text[i] & 0x80) != 0;
            i += put_sign(setter, text, length, i);
            if (closes || foreign)
                i += put_index_and_exponent(setter, text + i, length - i, foreign);
            continue;
        }
        const size_t power = put_power(setter, text + i, length - i);
        i += power ? power : put_word(setter, text, length, i, n);
    }
}

void lab_text_math(FILE *out, const char *text, size_t length, enum lab_markup markup)
{
    struct setter setter = {.out = out, .markup = markup};
    set_formulas(&setter, text, length);
}

void lab_text_prose(FILE *out, const char *text)
{
    lab_text_math(out, text, strlen(text), LAB_HTML);
}

/* SPDX-License-Identifier: MIT */
/* Tokens of a formula. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lab/language/expression_parts.h"

/* Signs outside ASCII, and what they are read as. */
static const struct foreign {
    const char *bytes, *means;
} foreign[] = {
    {"α", "alpha"},  {"β", "beta"}, {"γ", "gamma"}, {"δ", "delta"}, {"ε", "epsilon"},
    {"λ", "lambda"}, {"μ", "mu"},   {"µ", "mu"},    {"π", "pi"},    {"σ", "sigma"},
    {"τ", "tau"},    {"φ", "phi"},  {"ω", "omega"}, {"θ", "theta"}, {"Φ", "Phi"},
    {"Σ", "Sigma"},  {"Π", "Pi"},   {"·", "*"},     {"×", "*"},     {"−", "-"},
    {"ᵀ", "'"},      {"⊤", "'"},    {"∞", "inf"},
};

static int is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static int is_digit(char c) { return c >= '0' && c <= '9'; }

static const struct foreign *find_foreign(const char *at)
{
    for (size_t f = 0; f < sizeof foreign / sizeof foreign[0]; f++)
        if (!strncmp(at, foreign[f].bytes, strlen(foreign[f].bytes)))
            return &foreign[f];
    return NULL;
}

/* Bytes of a number: digits, a point, an exponent that has digits. */
static size_t number_length(const char *at)
{
    size_t length = strspn(at, "0123456789");
    if (at[length] == '.')
        length += 1 + strspn(at + length + 1, "0123456789");
    if (at[length] == 'e' || at[length] == 'E') {
        const size_t sign = at[length + 1] == '-' || at[length + 1] == '+';
        const size_t digits = strspn(at + length + 1 + sign, "0123456789");
        if (digits)
            length += 1 + sign + digits;
    }
    return length;
}

static void bad(struct lab_token *token, const char *what)
{
    token->kind = LAB_TOKEN_BAD;
    snprintf(token->word, sizeof token->word, "%s", what);
}

/* A copy, because strtod() would read "0x1" and "1.5.2" in its own way. */
static void read_number(struct lab_lexer *lexer, struct lab_token *token)
{
    char digits[64];
    const size_t length = number_length(lexer->at);

    if (length >= sizeof digits) {
        bad(token, "a number of more than 63 digits");
        return;
    }
    memcpy(digits, lexer->at, length);
    digits[length] = 0;
    token->kind = LAB_TOKEN_NUMBER;
    token->number = strtod(digits, NULL);
    lexer->at += length;
    lexer->column += (int)length;
}

/* Letters, digits and Greek; what a foreign sign means must be a word to belong. */
static void read_word(struct lab_lexer *lexer, struct lab_token *token)
{
    size_t length = 0;

    token->kind = LAB_TOKEN_WORD;
    for (;;) {
        const struct foreign *const sign = find_foreign(lexer->at);
        const char *const from = sign ? sign->means : lexer->at;
        const size_t count = sign ? strlen(from) : 1;
        if (sign ? !is_letter(*from) : !is_letter(*from) && !is_digit(*from))
            break;
        if (length + count >= LAB_EXPRESSION_WORD) {
            bad(token, "a letter with a name of more than 31 bytes");
            return;
        }
        memcpy(token->word + length, from, count);
        length += count;
        lexer->at += sign ? strlen(sign->bytes) : 1;
        lexer->column++;
    }
    token->word[length] = 0;
}

/* Bytes of the UTF-8 character, 1 where there is none. */
static size_t character_length(const char *at)
{
    const unsigned char first = (unsigned char)*at;
    const size_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : first >= 0xc0 ? 2 : 1;
    for (size_t i = 1; i < length; i++)
        if (((unsigned char)at[i] & 0xc0) != 0x80)
            return 1;
    return length;
}

static void bad_character(const char *at, struct lab_token *token)
{
    const size_t length = character_length(at);
    const char *const instead = !strncmp(at, "²", length)   ? ": write ^2"
                                : !strncmp(at, "³", length) ? ": write ^3"
                                                            : "";
    bad(token, "");
    if (length > 1 || (*at > ' ' && *at < 127))
        snprintf(token->word, sizeof token->word, "unexpected '%.*s'%s", (int)length, at,
                 instead);
    else
        snprintf(token->word, sizeof token->word, "unexpected byte 0x%02x",
                 (unsigned)(unsigned char)*at);
}

static void read_sign(struct lab_lexer *lexer, struct lab_token *token)
{
    const struct foreign *const sign = find_foreign(lexer->at);
    const char c = *lexer->at;

    token->kind = LAB_TOKEN_SIGN;
    token->sign = sign ? *sign->means : c;
    if (sign)
        lexer->at += strlen(sign->bytes);
    else if (c && strchr("+-*/^'(){}[]", c))
        lexer->at++;
    else
        bad_character(lexer->at, token);
    lexer->column++;
}

void lab_lexer_next(struct lab_lexer *lexer, struct lab_token *token)
{
    while (*lexer->at == ' ' || *lexer->at == '\t') {
        lexer->at++;
        lexer->column++;
    }
    memset(token, 0, sizeof *token);
    token->column = lexer->column;
    const char c = *lexer->at;
    const struct foreign *const sign = find_foreign(lexer->at);
    if (!c)
        token->kind = LAB_TOKEN_END;
    else if (is_digit(c) || (c == '.' && is_digit(lexer->at[1])))
        read_number(lexer, token);
    else if (is_letter(c) || (sign && is_letter(*sign->means)))
        read_word(lexer, token);
    else
        read_sign(lexer, token);
}

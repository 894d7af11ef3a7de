/* SPDX-License-Identifier: MIT */
/* Tokens of a formula. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lab/language/expression_parts.h"

/* Signs outside ASCII, and their ASCII forms. */
static const struct foreign {
    const char *bytes, *means;
} foreign[] = {
    {"α", "alpha"},  {"β", "beta"}, {"γ", "gamma"}, {"δ", "delta"}, {"ε", "eps"},
    {"λ", "lambda"}, {"μ", "mu"},   {"µ", "mu"},    {"π", "pi"},    {"σ", "sigma"},
    {"τ", "tau"},    {"φ", "phi"},  {"ω", "omega"}, {"θ", "theta"}, {"Φ", "Phi"},
    {"Σ", "Sigma"},  {"Π", "Pi"},   {"·", "*"},     {"×", "*"},     {"−", "-"},
    {"ᵀ", "'"},      {"⊤", "'"},    {"∞", "inf"},
};

static int is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

/* Commands of LaTeX, and their ASCII forms. */
static const struct command {
    const char *name, *means; /* "": only changes the look of its argument */
} commands[] = {
    {"alpha", "alpha"}, {"beta", "beta"},     {"gamma", "gamma"},
    {"delta", "delta"}, {"epsilon", "eps"},   {"varepsilon", "eps"},
    {"mu", "mu"},       {"lambda", "lambda"}, {"pi", "pi"},
    {"sigma", "sigma"}, {"tau", "tau"},       {"phi", "phi"},
    {"varphi", "phi"},  {"omega", "omega"},   {"theta", "theta"},
    {"Phi", "Phi"},     {"Sigma", "Sigma"},   {"Pi", "Pi"},
    {"infty", "inf"},   {"exp", "exp"},       {"ln", "ln"},
    {"log", "log"},     {"sqrt", "sqrt"},     {"sin", "sin"},
    {"cos", "cos"},     {"tanh", "tanh"},     {"arcsin", "asin"},
    {"arctan", "atan"}, {"top", "T"},         {"intercal", "T"},
    {"cdot", "*"},      {"times", "*"},       {"ast", "*"},
    {"prime", "'"},     {"frac", "F"},        {"dfrac", "F"},
    {"tfrac", "F"},     {"{", "{"},           {"}", "}"},
    {"mathrm", ""},     {"mathbf", ""},       {"mathsf", ""},
    {"mathit", ""},     {"boldsymbol", ""},   {"bm", ""},
    {"text", ""},       {"vec", ""},          {"operatorname", ""},
    {"left", " "},      {"right", " "},       {"big", " "},
    {"Big", " "},       {"bigl", " "},        {"bigr", " "},
    {"Bigl", " "},      {"Bigr", " "},        {"displaystyle", " "},
    {"quad", " "},      {"qquad", " "},       {",", " "},
    {";", " "},         {":", " "},           {"!", " "},
    {" ", " "},
};

static int is_digit(char c) { return c >= '0' && c <= '9'; }

static const struct foreign *find_foreign(const char *at)
{
    for (size_t f = 0; f < sizeof foreign / sizeof foreign[0]; f++)
        if (!strncmp(at, foreign[f].bytes, strlen(foreign[f].bytes)))
            return &foreign[f];
    return NULL;
}

/* Bytes of a command with its backslash; 0: there is none. */
static size_t command_length(const char *at)
{
    size_t length = 1;
    if (*at != '\\' || !at[1])
        return 0;
    while (is_letter(at[length]) && at[length] != '_')
        length++;
    return length > 1 ? length : 2;
}

static const struct command *find_command(const char *at)
{
    const size_t length = command_length(at);
    for (size_t c = 0; length && c < sizeof commands / sizeof commands[0]; c++)
        if (strlen(commands[c].name) == length - 1 &&
            !strncmp(at + 1, commands[c].name, length - 1))
            return &commands[c];
    return NULL;
}

static int is_word_command(const struct command *command)
{
    return command && (!*command->means ||
                       (is_letter(*command->means) && strcmp(command->means, "F") != 0));
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

static void skip(struct lab_lexer *lexer, size_t bytes, size_t columns)
{
    lexer->at += bytes;
    lexer->column += (int)columns;
}

/* The piece of a word at `at`, and its bytes; NULL: none. */
static const char *word_piece(const char *at, const char *word, size_t *bytes)
{
    const struct foreign *const sign = find_foreign(at);
    const struct command *const command = find_command(at);
    const size_t length = strlen(word);
    if (sign) {
        *bytes = strlen(sign->bytes);
        return is_letter(*sign->means) ? sign->means : NULL;
    }
    /* A command begins a letter, or is its index. */
    if (is_word_command(command) && (!length || word[length - 1] == '_')) {
        *bytes = command_length(at);
        return command->means;
    }
    *bytes = 1;
    return is_letter(*at) || is_digit(*at) ? at : NULL;
}

/* Letters, digits and Greek; braces around an index or what a command decorates. */
static void read_word(struct lab_lexer *lexer, struct lab_token *token)
{
    size_t length = 0, bytes;
    int braces = 0, opens = 0;
    const char *piece;

    token->kind = LAB_TOKEN_WORD;
    for (;;) {
        if (*lexer->at == '{' && (opens || (length && token->word[length - 1] == '_'))) {
            skip(lexer, 1, 1);
            braces++;
            opens = 0;
            continue;
        }
        if (*lexer->at == '}' && braces) {
            skip(lexer, 1, 1);
            braces--;
            continue;
        }
        if (!(piece = word_piece(lexer->at, token->word, &bytes)))
            break;
        const size_t count = piece == lexer->at ? 1 : strlen(piece);
        if (length + count >= LAB_EXPRESSION_WORD) {
            bad(token, "a letter with a name of more than 31 bytes");
            return;
        }
        memcpy(token->word + length, piece, count);
        length += count;
        opens = *lexer->at == '\\' && !count;
        skip(lexer, bytes, *lexer->at == '\\' ? bytes : 1);
    }
    token->word[length] = 0;
    if (braces)
        bad(token, "a brace of a letter's index is not closed");
    else if (!length)
        bad(token, "a letter is missing");
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
    const struct command *const command = find_command(lexer->at);
    const size_t length = command_length(lexer->at);
    const char c = *lexer->at;

    token->kind = LAB_TOKEN_SIGN;
    token->sign = sign ? *sign->means : command ? *command->means : c;
    if (sign)
        skip(lexer, strlen(sign->bytes), 1);
    else if (command)
        skip(lexer, length, length);
    else if (c && strchr("+-*/^'(){}[]", c))
        skip(lexer, 1, 1);
    else if (length > 2) {
        bad(token, "");
        snprintf(token->word, sizeof token->word, "unexpected '%.*s'",
                 length < 40 ? (int)length : 40, lexer->at);
    } else
        bad_character(lexer->at, token);
}

/* Blanks, commands that are blanks, and the marks around a formula. */
static void skip_blanks(struct lab_lexer *lexer)
{
    for (;;) {
        const struct command *const command = find_command(lexer->at);
        const char c = *lexer->at, next = c == '\\' ? lexer->at[1] : 0;
        const char *const rest = lexer->at + (next ? 2 : 1);
        const int is_mark = c == '$' || (next && strchr("()[]", next));
        if (c == ' ' || c == '\t')
            skip(lexer, 1, 1);
        else if (command && *command->means == ' ')
            skip(lexer, command_length(lexer->at), command_length(lexer->at));
        else if (is_mark && (lexer->column == 1 || !rest[strspn(rest, " \t$")]))
            skip(lexer, next ? 2 : 1, next ? 2 : 1);
        else
            return;
    }
}

void lab_lexer_next(struct lab_lexer *lexer, struct lab_token *token)
{
    skip_blanks(lexer);
    memset(token, 0, sizeof *token);
    token->column = lexer->column;
    const char c = *lexer->at;
    const struct foreign *const sign = find_foreign(lexer->at);
    if (!c)
        token->kind = LAB_TOKEN_END;
    else if (is_digit(c) || (c == '.' && is_digit(lexer->at[1])))
        read_number(lexer, token);
    else if (is_letter(c) || (sign && is_letter(*sign->means)) ||
             is_word_command(find_command(lexer->at)))
        read_word(lexer, token);
    else
        read_sign(lexer, token);
}

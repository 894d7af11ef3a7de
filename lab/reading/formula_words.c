/* SPDX-License-Identifier: MIT */
/* Runs of letters: names, functions, products of letters, and words. */
#include <stdio.h>
#include <string.h>

#include "lab/reading/formula_parts.h"

static int is_small(char c) { return c >= 'a' && c <= 'z'; }
static int is_letter(char c) { return is_small(c) || (c >= 'A' && c <= 'Z'); }
static int is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

/* Also with a capital at the beginning of a sentence: "If", "Then". */
static const struct lab_symbol *find_word(const char *word, size_t length)
{
    const struct lab_symbol *symbol = length > 1 ? lab_symbol_word(word, length) : NULL;
    char small[16];

    if (symbol || length < 2 || length >= sizeof small || is_small(*word))
        return symbol;
    memcpy(small, word, length);
    small[0] = (char)(small[0] + 'a' - 'A');
    symbol = lab_symbol_word(small, length);
    return symbol && symbol->kind == LAB_SIGN_LINK ? symbol : NULL;
}

/* The longest name that begins a run of letters, "beta" of "betaI". */
static const struct lab_symbol *find_prefix(const char *word, size_t length)
{
    const struct lab_symbol *symbol = NULL;
    for (size_t n = length < 9 ? length : 9; n >= 2 && !symbol; n--) {
        symbol = lab_symbol_word(word, n);
        if (symbol && symbol->kind != LAB_SIGN_LETTER &&
            symbol->kind != LAB_SIGN_FUNCTION)
            symbol = NULL;
    }
    return symbol;
}

/*
 * Whether a run of letters is a product: single letters and names, as "Mv" or "Cexp";
 * four letters that no name explains are a word.
 */
static int is_product(const char *word, size_t length)
{
    size_t single = 0;
    for (size_t n = 0; n < length;) {
        const struct lab_symbol *const name = find_prefix(word + n, length - n);
        single += !name;
        n += name ? strlen(name->name) : 1;
    }
    return single <= 3;
}

/* "FFN(" */
static int is_acronym(const struct lab_lexer *lexer, const char *word, size_t length)
{
    for (size_t n = 0; n < length; n++)
        if (is_small(word[n]))
            return 0;
    return lab_lexer_at(lexer, length) == '(';
}

/* k_a printed as "ka", in text without LaTeX. */
static int is_short(const struct lab_lexer *lexer, const char *word, size_t length)
{
    return !lexer->latex && length >= 2 && strchr("kvm", word[0]) &&
           strchr("abij", word[1]);
}

/* "s.t." is "where"; "i.e.", "w.r.t." and the like are words. */
static int read_abbreviation(struct lab_lexer *lexer, struct lab_sign *sign)
{
    size_t length = 0;
    while (is_letter(lab_lexer_at(lexer, length)) &&
           lab_lexer_at(lexer, length + 1) == '.')
        length += 2;
    if (length < 4)
        return 0;
    lab_sign_take_text(sign, LAB_SIGN_TEXT, lexer->source + lexer->at, length);
    if (lab_lexer_sees(lexer, "s.t.")) {
        sign->kind = LAB_SIGN_LINK;
        sign->code = LAB_WHERE;
        sign->text[0] = 0;
    }
    lexer->at += length;
    return 1;
}

/* A word that has an index or an argument after its braces: \text{head}_i. */
static enum lab_sign_kind kind_of_word(const struct lab_lexer *lexer, size_t length)
{
    if (lab_lexer_at(lexer, length) != '}' || lexer->at + length != lexer->words_end)
        return LAB_SIGN_TEXT;
    const char after = lab_lexer_at(lexer, length + 1);
    if (after == '_' || after == '^')
        return LAB_SIGN_LETTER;
    return after == '(' || after == '[' ? LAB_SIGN_FUNCTION : LAB_SIGN_TEXT;
}

static void read_word_text(struct lab_lexer *lexer, struct lab_sign *sign, size_t length)
{
    const char *const word = lexer->source + lexer->at;
    const struct lab_symbol *const symbol = find_word(word, length);
    const int word_follows = is_blank(lab_lexer_at(lexer, length)) &&
                             is_letter(lab_lexer_at(lexer, length + 1));

    if (read_abbreviation(lexer, sign))
        return;
    if (symbol && !(symbol->kind == LAB_SIGN_FUNCTION && word_follows))
        lab_sign_take(sign, symbol);
    else if (length == 1 && strchr("aA", *word) && lexer->words_end &&
             is_blank(lab_lexer_at(lexer, 1)) && is_letter(lab_lexer_at(lexer, 2)))
        sign->kind = LAB_SIGN_BLANK;
    else
        lab_sign_take_text(sign,
                           length == 1 ? LAB_SIGN_LETTER : kind_of_word(lexer, length),
                           word, length);
    lexer->at += length;
}

void lab_read_letters(struct lab_lexer *lexer, struct lab_sign *sign)
{
    const char *const word = lexer->source + lexer->at;
    const struct lab_symbol *symbol;
    size_t length = 0, part = 1;

    while (is_letter(lab_lexer_at(lexer, length)))
        length++;
    if (lexer->words_end) {
        read_word_text(lexer, sign, length);
        return;
    }
    if (lexer->single) {
        lab_sign_take_text(sign, LAB_SIGN_LETTER, word, 1);
        lexer->at++;
        return;
    }
    symbol = find_word(word, length);
    if (!symbol && (lexer->previous == LAB_SIGN_UP || lexer->previous == LAB_SIGN_DOWN)) {
        size_t small = 0;
        while (small < length && is_small(word[small]))
            small++;
        if (lexer->previous == LAB_SIGN_DOWN && small == length && length >= 3)
            part = length;
    } else if (symbol) {
        lab_sign_take(sign, symbol);
        lexer->at += length;
        return;
    } else if ((length >= 4 && !is_product(word, length)) ||
               (length >= 3 && is_acronym(lexer, word, length))) {
        const int called = lab_lexer_at(lexer, length) == '(' && length < 40;
        lab_sign_take_text(sign, called ? LAB_SIGN_FUNCTION : LAB_SIGN_TEXT, word,
                           length);
        lexer->at += length;
        return;
    } else if ((symbol = find_prefix(word, length)) != NULL) {
        lab_sign_take(sign, symbol);
        lexer->at += strlen(symbol->name);
        return;
    }
    lab_sign_take_text(sign, LAB_SIGN_LETTER, word, part);
    if (part == 1 && lexer->previous != LAB_SIGN_DOWN && is_short(lexer, word, length)) {
        snprintf(sign->text, sizeof sign->text, "%c_%c", word[0], word[1]);
        part = 2;
    }
    lexer->at += part;
}

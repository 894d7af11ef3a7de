/* SPDX-License-Identifier: MIT */
/* Signs of a formula: LaTeX, Unicode and ASCII give the same ones. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lab/reading/formula_parts.h"

static int is_digit(char c) { return c >= '0' && c <= '9'; }
static int is_small(char c) { return c >= 'a' && c <= 'z'; }
static int is_letter(char c) { return is_small(c) || (c >= 'A' && c <= 'Z'); }
static int is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

static char at(const struct lab_lexer *lexer, size_t ahead)
{
    return lexer->at + ahead < lexer->end ? lexer->source[lexer->at + ahead] : 0;
}

static int sees(const struct lab_lexer *lexer, const char *text)
{
    const size_t length = strlen(text);
    return length <= lexer->end - lexer->at &&
           !memcmp(lexer->source + lexer->at, text, length);
}

void lab_formula_restored(struct lab_formula *log, size_t begin, size_t end,
                          const char *from, const char *to)
{
    if (!log || log->restored == LAB_FORMULA_RESTORED)
        return;
    log->restore[log->restored++] =
        (struct lab_restored){.begin = begin, .end = end, .from = from, .to = to};
}

/* The place of the brace that closes the one at `open`, or the end. */
static size_t closing(const struct lab_lexer *lexer, size_t open)
{
    int depth = 0;
    for (size_t i = open; i < lexer->end; i++)
        if (lexer->source[i] == '\\')
            i++;
        else if (lexer->source[i] == '{')
            depth++;
        else if (lexer->source[i] == '}' && !--depth)
            return i;
    return lexer->end;
}

static void skip_blanks(struct lab_lexer *lexer)
{
    while (lexer->at < lexer->end && is_blank(at(lexer, 0)))
        lexer->at++;
}

static void skip_braces(struct lab_lexer *lexer)
{
    skip_blanks(lexer);
    if (at(lexer, 0) == '{') {
        const size_t close = closing(lexer, lexer->at);
        lexer->at = close < lexer->end ? close + 1 : close;
    }
}

/* The braces that follow are not printed, their contents are. */
static size_t open_braces(struct lab_lexer *lexer)
{
    skip_blanks(lexer);
    if (at(lexer, 0) != '{' ||
        lexer->drops == (int)(sizeof lexer->drop / sizeof lexer->drop[0]))
        return 0;
    const size_t close = closing(lexer, lexer->at++);
    lexer->drop[lexer->drops++] = close;
    return close;
}

static void take(struct lab_sign *sign, const struct lab_symbol *symbol)
{
    sign->kind = symbol->kind;
    sign->code = symbol->code;
    snprintf(sign->text, sizeof sign->text, "%s", symbol->text);
    if (sign->kind == LAB_SIGN_NUMBER)
        sign->value = strtod(symbol->text, NULL);
}

static void take_text(struct lab_sign *sign, enum lab_sign_kind kind, const char *text,
                      size_t length)
{
    sign->kind = kind;
    snprintf(sign->text, sizeof sign->text, "%.*s", (int)(length < 39 ? length : 39),
             text);
}

static void read_number(struct lab_lexer *lexer, struct lab_sign *sign)
{
    char digits[48];
    size_t length = 0;

    while (is_digit(at(lexer, length)) && !(lexer->single && length))
        length++;
    if (!lexer->single && at(lexer, length) == '.' && is_digit(at(lexer, length + 1)))
        for (length++; is_digit(at(lexer, length));)
            length++;
    if (!lexer->single && (at(lexer, length) == 'e' || at(lexer, length) == 'E')) {
        const size_t sign_length =
            at(lexer, length + 1) == '-' || at(lexer, length + 1) == '+';
        if (is_digit(at(lexer, length + 1 + sign_length)))
            for (length += 1 + sign_length; is_digit(at(lexer, length));)
                length++;
    }
    const size_t copied = length < sizeof digits - 1 ? length : sizeof digits - 1;
    memcpy(digits, lexer->source + lexer->at, copied);
    digits[copied] = 0;
    sign->kind = LAB_SIGN_NUMBER;
    sign->value = strtod(digits, NULL);
    lexer->at += length;
    if (!lexer->single && at(lexer, 0) == '%') {
        sign->value /= 100;
        lexer->at++;
    } else if (!lexer->single && sees(lexer, "\\%")) {
        sign->value /= 100;
        lexer->at += 2;
    }
}

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
    return at(lexer, length) == '(';
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
    while (is_letter(at(lexer, length)) && at(lexer, length + 1) == '.')
        length += 2;
    if (length < 4)
        return 0;
    take_text(sign, LAB_SIGN_TEXT, lexer->source + lexer->at, length);
    if (sees(lexer, "s.t.")) {
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
    if (at(lexer, length) != '}' || lexer->at + length != lexer->words_end)
        return LAB_SIGN_TEXT;
    const char after = at(lexer, length + 1);
    if (after == '_' || after == '^')
        return LAB_SIGN_LETTER;
    return after == '(' || after == '[' ? LAB_SIGN_FUNCTION : LAB_SIGN_TEXT;
}

static void read_word_text(struct lab_lexer *lexer, struct lab_sign *sign, size_t length)
{
    const char *const word = lexer->source + lexer->at;
    const struct lab_symbol *const symbol = find_word(word, length);
    const int word_follows =
        is_blank(at(lexer, length)) && is_letter(at(lexer, length + 1));

    if (read_abbreviation(lexer, sign))
        return;
    if (symbol && !(symbol->kind == LAB_SIGN_FUNCTION && word_follows))
        take(sign, symbol);
    else if (length == 1 && strchr("aA", *word) && lexer->words_end &&
             is_blank(at(lexer, 1)) && is_letter(at(lexer, 2)))
        sign->kind = LAB_SIGN_BLANK;
    else
        take_text(sign, length == 1 ? LAB_SIGN_LETTER : kind_of_word(lexer, length), word,
                  length);
    lexer->at += length;
}

static void read_letters(struct lab_lexer *lexer, struct lab_sign *sign)
{
    const char *const word = lexer->source + lexer->at;
    const struct lab_symbol *symbol;
    size_t length = 0, part = 1;

    while (is_letter(at(lexer, length)))
        length++;
    if (lexer->words_end) {
        read_word_text(lexer, sign, length);
        return;
    }
    if (lexer->single) {
        take_text(sign, LAB_SIGN_LETTER, word, 1);
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
        take(sign, symbol);
        lexer->at += length;
        return;
    } else if ((length >= 4 && !is_product(word, length)) ||
               (length >= 3 && is_acronym(lexer, word, length))) {
        const int called = at(lexer, length) == '(' && length < 40;
        take_text(sign, called ? LAB_SIGN_FUNCTION : LAB_SIGN_TEXT, word, length);
        lexer->at += length;
        return;
    } else if ((symbol = find_prefix(word, length)) != NULL) {
        take(sign, symbol);
        lexer->at += strlen(symbol->name);
        return;
    }
    take_text(sign, LAB_SIGN_LETTER, word, part);
    if (part == 1 && lexer->previous != LAB_SIGN_DOWN && is_short(lexer, word, length)) {
        snprintf(sign->text, sizeof sign->text, "%c_%c", word[0], word[1]);
        part = 2;
    }
    lexer->at += part;
}

/* Signs of ASCII, the longest first. */
static const struct lab_symbol ascii[] = {
    {"<=>", LAB_SIGN_LINK, "", LAB_IFF},
    {"<->", LAB_SIGN_LINK, "", LAB_IFF},
    {"==>", LAB_SIGN_LINK, "", LAB_THEREFORE},
    {"-->", LAB_SIGN_ARROW, "", 0},
    {">>>", LAB_SIGN_RELATION, "", LAB_REL_FAR_MORE},
    {"<<<", LAB_SIGN_RELATION, "", LAB_REL_FAR_LESS},
    {"...", LAB_SIGN_DOTS, "", 0},
    {"=>", LAB_SIGN_LINK, "", LAB_THEREFORE},
    {"->", LAB_SIGN_ARROW, "", 0},
    {">>", LAB_SIGN_RELATION, "", LAB_REL_FAR_MORE},
    {"<<", LAB_SIGN_RELATION, "", LAB_REL_FAR_LESS},
    {">=", LAB_SIGN_RELATION, "", LAB_REL_AT_LEAST},
    {"<=", LAB_SIGN_RELATION, "", LAB_REL_AT_MOST},
    {"!=", LAB_SIGN_RELATION, "", LAB_REL_UNEQUAL},
    {"/=", LAB_SIGN_RELATION, "", LAB_REL_UNEQUAL},
    {"~=", LAB_SIGN_RELATION, "", LAB_REL_NEAR},
    {"=~", LAB_SIGN_RELATION, "", LAB_REL_NEAR},
    {":=", LAB_SIGN_RELATION, "", LAB_REL_EQUAL},
    {"==", LAB_SIGN_RELATION, "", LAB_REL_EQUAL},
    {"||", LAB_SIGN_DOUBLE_BAR, "", 0},
    {"//", LAB_SIGN_BLANK, "", 0},
    {"**", LAB_SIGN_UP, "", 0},
    {"..", LAB_SIGN_DOTS, "", 0},
    {"=", LAB_SIGN_RELATION, "", LAB_REL_EQUAL},
    {"<", LAB_SIGN_RELATION, "", LAB_REL_LESS},
    {">", LAB_SIGN_RELATION, "", LAB_REL_MORE},
    {"+", LAB_SIGN_PLUS, "", 0},
    {"-", LAB_SIGN_MINUS, "", 0},
    {"*", LAB_SIGN_TIMES, "*", 0},
    {"@", LAB_SIGN_TIMES, "", 0},
    {"/", LAB_SIGN_SLASH, "", 0},
    {"(", LAB_SIGN_OPEN, "(", 0},
    {"[", LAB_SIGN_OPEN, "[", 0},
    {")", LAB_SIGN_CLOSE, ")", 0},
    {"]", LAB_SIGN_CLOSE, "]", 0},
    {"{", LAB_SIGN_BRACE, "", 0},
    {"}", LAB_SIGN_BRACE_END, "", 0},
    {"|", LAB_SIGN_BAR, "", 0},
    {"^", LAB_SIGN_UP, "", 0},
    {"_", LAB_SIGN_DOWN, "", 0},
    {"'", LAB_SIGN_PRIME, "", 0},
    {"&", LAB_SIGN_CELL, "", 0},
    {",", LAB_SIGN_COMMA, "", 0},
    {".", LAB_SIGN_STOP, "", 0},
    {";", LAB_SIGN_STOP, "", 0},
    {":", LAB_SIGN_STOP, "", 0},
    {"~", LAB_SIGN_RELATION, "~", LAB_REL_DISTRIBUTED},
    {"$", LAB_SIGN_BLANK, "", 0},
    {"#", LAB_SIGN_BLANK, "", 0},
    {"`", LAB_SIGN_BLANK, "", 0},
};

static int is_relation_next(const struct lab_lexer *lexer)
{
    struct lab_lexer copy = *lexer;
    struct lab_sign sign;
    copy.log = NULL;
    copy.previous = LAB_SIGN_LETTER;
    lab_sign_next(&copy, &sign);
    return sign.kind == LAB_SIGN_RELATION;
}

/*
 * \cancel{x}: the author struck x out, unless it is the whole left side of a relation,
 * which would stand without it.
 */
static void read_struck(struct lab_lexer *lexer, struct lab_sign *sign)
{
    const int starts = lexer->previous == LAB_SIGN_END ||
                       lexer->previous == LAB_SIGN_ROW || lexer->previous == LAB_SIGN_GAP;
    struct lab_lexer after = *lexer;

    sign->kind = LAB_SIGN_BLANK;
    skip_braces(&after);
    skip_blanks(&after);
    if (starts && is_relation_next(&after)) {
        lab_formula_restored(lexer->log, sign->begin, after.at, "\\cancel{..}", "..");
        return;
    }
    lab_formula_restored(lexer->log, sign->begin, after.at, "\\cancel{..}", "");
    lexer->at = after.at;
}

static int holds(const char *word, size_t length, const char *part)
{
    const size_t size = strlen(part);
    for (size_t i = 0; i + size <= length; i++)
        if (!memcmp(word + i, part, size))
            return 1;
    return 0;
}

/* Environments whose rows are rows of the formula are not signs. */
static void read_environment(struct lab_lexer *lexer, struct lab_sign *sign, int begins)
{
    const size_t name = lexer->at + 1;
    const char *const word = lexer->source + name;
    const size_t close = closing(lexer, lexer->at);
    const size_t length = close > name ? close - name : 0;

    lexer->at = close < lexer->end ? close + 1 : close;
    sign->kind = LAB_SIGN_BLANK;
    if (begins && (holds(word, length, "array") || holds(word, length, "alignat")))
        skip_braces(lexer);
    if (holds(word, length, "cases"))
        sign->code = LAB_NODE_CASES;
    else if (holds(word, length, "matrix") || holds(word, length, "array"))
        sign->code = LAB_NODE_MATRIX;
    else
        return;
    sign->kind = begins ? LAB_SIGN_BEGIN : LAB_SIGN_FINISH;
}

static void read_delimiter(struct lab_lexer *lexer, struct lab_sign *sign, int opens)
{
    skip_blanks(lexer);
    sign->kind = LAB_SIGN_BLANK;
    if (at(lexer, 0) == '.') {
        sign->kind = opens ? LAB_SIGN_OPEN : LAB_SIGN_CLOSE;
        snprintf(sign->text, sizeof sign->text, ".");
        lexer->at++;
    }
}

/* "[4pt]" after a row. */
static void skip_height(struct lab_lexer *lexer)
{
    size_t length = 1;
    if (at(lexer, 0) != '[')
        return;
    while (is_letter(at(lexer, length)) || is_digit(at(lexer, length)) ||
           at(lexer, length) == '.' || at(lexer, length) == '-')
        length++;
    if (length > 3 && at(lexer, length) == ']' && is_letter(at(lexer, length - 1)) &&
        is_letter(at(lexer, length - 2)))
        lexer->at += length + 1;
}

static void read_command(struct lab_lexer *lexer, struct lab_sign *sign)
{
    const char *const name = lexer->source + lexer->at + 1;
    const struct lab_symbol *symbol;
    size_t length = 0;

    while (is_letter(at(lexer, 1 + length)))
        length++;
    if (!length && lexer->at + 1 < lexer->end)
        length = 1;
    lexer->at += 1 + length;
    if ((length == 5 && !memcmp(name, "begin", 5)) ||
        (length == 3 && !memcmp(name, "end", 3))) {
        skip_blanks(lexer);
        read_environment(lexer, sign, length == 5);
        return;
    }
    if ((length == 4 && !memcmp(name, "left", 4)) ||
        (length == 5 && !memcmp(name, "right", 5))) {
        read_delimiter(lexer, sign, length == 4);
        return;
    }
    symbol = lab_symbol_command(name, length);
    if (!symbol) {
        take_text(sign, LAB_SIGN_END, lexer->source + sign->begin, length + 1);
        sign->code = 1;
        return;
    }
    take(sign, symbol);
    if (at(lexer, 0) == '*' &&
        (sign->kind == LAB_SIGN_WORDS || sign->kind == LAB_SIGN_DROP))
        lexer->at++;
    switch (sign->kind) {
    case LAB_SIGN_ROW:
        skip_height(lexer);
        break;
    case LAB_SIGN_WORDS: {
        const size_t close = open_braces(lexer);
        sign->kind = LAB_SIGN_BLANK;
        if (close)
            lexer->words_end = close;
        break;
    }
    case LAB_SIGN_STACK:
        skip_braces(lexer);
        open_braces(lexer);
        sign->kind = LAB_SIGN_BLANK;
        break;
    case LAB_SIGN_DROP:
        skip_braces(lexer);
        sign->kind = LAB_SIGN_BLANK;
        break;
    case LAB_SIGN_STRUCK:
        read_struck(lexer, sign);
        break;
    default:
        break;
    }
}

/* Letters of the block "Mathematical Alphanumeric Symbols", U+1D400 to U+1D6A3. */
static int read_styled(struct lab_lexer *lexer, struct lab_sign *sign)
{
    const unsigned char *const s = (const unsigned char *)lexer->source + lexer->at;
    if (lexer->end - lexer->at < 4 || s[0] != 0xf0 || s[1] != 0x9d)
        return 0;
    const unsigned code = 0x1d000u | (s[2] & 0x3fu) << 6 | (s[3] & 0x3fu);
    if (code < 0x1d400 || code > 0x1d6a3)
        return 0;
    const unsigned n = (code - 0x1d400) % 52;
    const char letter = (char)(n < 26 ? 'A' + n : 'a' + n - 26);
    take_text(sign, LAB_SIGN_LETTER, &letter, 1);
    lexer->at += 4;
    return 1;
}

static void read_foreign(struct lab_lexer *lexer, struct lab_sign *sign)
{
    const char *const bytes = lexer->source + lexer->at;
    const struct lab_symbol *const symbol =
        lab_symbol_foreign(bytes, lexer->end - lexer->at);

    if (read_styled(lexer, sign))
        return;
    if (symbol) {
        take(sign, symbol);
        lexer->at += strlen(symbol->name);
        return;
    }
    size_t length = 1;
    while (length < 4 && ((unsigned char)at(lexer, length) & 0xc0) == 0x80)
        length++;
    sign->kind = LAB_SIGN_END;
    sign->code = 1;
    snprintf(sign->text, sizeof sign->text, "the sign %.*s", (int)length, bytes);
    lexer->at += length;
}

static void read_ascii(struct lab_lexer *lexer, struct lab_sign *sign)
{
    for (size_t s = 0; s < sizeof ascii / sizeof ascii[0]; s++)
        if (*ascii[s].name == at(lexer, 0) && sees(lexer, ascii[s].name)) {
            take(sign, &ascii[s]);
            lexer->at += strlen(ascii[s].name);
            if (sign->text[0] == '~' && (lexer->latex || lexer->words_end))
                sign->kind = LAB_SIGN_BLANK;
            return;
        }
    sign->kind = LAB_SIGN_END;
    sign->code = 1;
    const char c = at(lexer, 0);
    snprintf(sign->text, sizeof sign->text,
             c >= ' ' && c < 127 ? "the sign %c" : "a byte", c);
    lexer->at++;
}

/* ~~struck out~~ of Markdown. */
static int skip_struck(struct lab_lexer *lexer, struct lab_sign *sign)
{
    size_t end = lexer->at + 2;
    while (end + 1 < lexer->end && memcmp(lexer->source + end, "~~", 2) != 0)
        end++;
    if (end + 1 >= lexer->end)
        return 0;
    lexer->at = end + 2;
    lab_formula_restored(lexer->log, sign->begin, lexer->at, "~~..~~", "");
    sign->kind = LAB_SIGN_BLANK;
    return 1;
}

static int closes_dropped(struct lab_lexer *lexer)
{
    for (int d = 0; d < lexer->drops; d++)
        if (lexer->drop[d] == lexer->at) {
            if (lexer->words_end == lexer->at)
                lexer->words_end = 0;
            lexer->drop[d] = lexer->drop[--lexer->drops];
            lexer->at++;
            return 1;
        }
    return 0;
}

/* "k.q" and "A'.A" are products, "k.T" is a transpose. */
static int read_point(struct lab_lexer *lexer, struct lab_sign *sign)
{
    const char before = lexer->at ? lexer->source[lexer->at - 1] : ' ';
    const char after = at(lexer, 1);

    if ((!is_letter(before) && !strchr(")]'", before)) ||
        (!is_letter(after) && after != '('))
        return 0;
    sign->kind = LAB_SIGN_TIMES;
    lexer->at++;
    if (after == 'T' && !is_letter(at(lexer, 1))) {
        take_text(sign, LAB_SIGN_RAISED, "T", 1);
        lexer->at++;
    }
    return 1;
}

static void read_sign(struct lab_lexer *lexer, struct lab_sign *sign)
{
    const char c = at(lexer, 0);

    sign->code = 0;
    sign->text[0] = 0;
    sign->begin = lexer->at;
    if (lexer->at >= lexer->end)
        sign->kind = LAB_SIGN_END;
    else if (is_blank(c) || (c == '}' && closes_dropped(lexer))) {
        if (is_blank(c))
            lexer->at++;
        sign->kind = LAB_SIGN_BLANK;
    } else if (lexer->words_end && strchr("{}$", c) && c) {
        lexer->at++;
        sign->kind = LAB_SIGN_BLANK;
    } else if (is_digit(c) ||
               (c == '.' && is_digit(at(lexer, 1)) &&
                lexer->previous != LAB_SIGN_NUMBER && lexer->previous != LAB_SIGN_LETTER))
        read_number(lexer, sign);
    else if (c == '.' && !lexer->words_end && read_point(lexer, sign))
        return;
    else if (is_letter(c))
        read_letters(lexer, sign);
    else if (c == '\\')
        read_command(lexer, sign);
    else if ((unsigned char)c >= 0x80)
        read_foreign(lexer, sign);
    else if (!(sees(lexer, "~~") && skip_struck(lexer, sign)))
        read_ascii(lexer, sign);
}

void lab_sign_next(struct lab_lexer *lexer, struct lab_sign *sign)
{
    size_t begin = 0;
    int apart = 0, denied = 0;

    const size_t from = lexer->at;
    if (!lexer->log && lexer->ahead && *lexer->ahead < 0)
        lexer->at = lexer->end;
    for (;;) {
        read_sign(lexer, sign);
        if (sign->kind == LAB_SIGN_NOT) {
            begin = denied ? begin : sign->begin;
            denied = 1;
        } else if (sign->kind != LAB_SIGN_BLANK)
            break;
        else
            apart = 1;
    }
    if (!lexer->log && lexer->ahead)
        *lexer->ahead -= (long)(lexer->at - from);
    sign->apart = apart;
    sign->end = lexer->at;
    if (denied) {
        sign->begin = begin;
        if (sign->kind == LAB_SIGN_RELATION)
            sign->code = sign->code == LAB_REL_IN ? LAB_REL_NOT_IN : LAB_REL_UNEQUAL;
    }
    lexer->previous = sign->kind;
    lexer->single = 0;
}

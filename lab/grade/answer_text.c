/* SPDX-License-Identifier: MIT */
/*
 * Texts of answers as students write them.  A text that is no formula is tried once more
 * after these repairs: "q =" before it and ", where C >> 0" or "\approx 1/2" after it are
 * dropped, \frac12 gets its braces, AA^T and Ck_a are products of the part's letters,
 * "ln n" gets its parentheses, 1/2 before a vector is a number, lambda is C, and Z is Y.
 */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "lab/grade/probing.h"

enum { TEXT = LAB_EXPRESSION_TEXT };

struct repair {
    const struct lab_part *part;
    char text[TEXT + 1];
    size_t used;
    int is_cut;
};

static void put(struct repair *to, const char *text, size_t length)
{
    if (to->used + length > TEXT) {
        to->is_cut = 1;
        return;
    }
    memcpy(to->text + to->used, text, length);
    to->used += length;
    to->text[to->used] = 0;
}

static void put_text(struct repair *to, const char *text) { put(to, text, strlen(text)); }

static int is_word(char c) { return isalnum((unsigned char)c) || c == '_'; }

static size_t word_length(const char *text)
{
    size_t length = 0;
    while (is_word(text[length]))
        length++;
    return length;
}

static const char *skip_blanks(const char *text) { return text + strspn(text, " \t~"); }

/* ---- the ends ---------------------------------------------------------------------- */

/* Whether the text begins with a word; a command of LaTeX ends where its letters do. */
static int begins(const char *text, const char *word)
{
    const size_t length = strlen(word);
    return !strncmp(text, word, length) &&
           !(*word == '\\' && isalpha((unsigned char)text[length]));
}

/* Whether one of the signs of a condition, or of a limit, stands in the text. */
static int has_condition(const char *text, size_t length)
{
    static const char *const signs[] = {">>",    "\\gg", "\xe2\x89\xab", "\\to",
                                        "large", "->",   "\xe2\x86\x92"};
    for (size_t i = 0; i < length; i++)
        for (size_t s = 0; s < sizeof signs / sizeof *signs; s++)
            if (begins(text + i, signs[s]))
                return 1;
    return 0;
}

/* Whether the text begins with a word or sign that only follows a formula. */
static int is_after(const char *text)
{
    static const char *const words[] = {
        "where ",  "with ",  "for ",         "as ",      "when ",
        "\\text",  "\\quad", "\\qquad",      "\\approx", "\\to",
        "\\simeq", "->",     "\\rightarrow", "~=",       "\xe2\x86\x92"};
    for (size_t w = 0; w < sizeof words / sizeof *words; w++)
        if (begins(text, words[w]))
            return 1;
    return 0;
}

/* Where the formula ends: before ", where C >> 0", "(C -> inf)", "\approx 1/2". */
static size_t end_of_formula(const char *text)
{
    size_t length = strlen(text);
    int depth = 0;
    for (size_t i = 0; text[i]; i++) {
        const int is_first = i == 0 || strchr(" \t~,", text[i - 1]) != NULL;
        const size_t rest = strcspn(text + i, text[i] == '(' ? ")" : "");
        if (depth == 0 && i > 0 &&
            ((strchr(",;(", text[i]) && has_condition(text + i, rest)) ||
             ((is_first || !isalpha((unsigned char)text[i])) && is_after(text + i)))) {
            length = i;
            break;
        }
        depth += (strchr("([{", text[i]) != NULL) - (strchr(")]}", text[i]) != NULL);
    }
    while (length && strchr(" \t\r\n.,;$~\\", text[length - 1]))
        length--;
    return length;
}

/* Past the left side of "M = A A^T". */
static const char *past_name(const char *text)
{
    const char *at = text + strspn(text, " \t\r\n$");
    const char *const start = at;
    while (is_word(*at) || strchr("\\{}", *at))
        if (!*at++)
            return start;
    at = skip_blanks(at);
    return *at == '=' && at > start && at[1] != '=' ? at + 1 : start;
}

/* ---- words and numbers ---------------------------------------------------------------
 */

/* Names that stand for a letter where the part has no letter of that name. */
static const char *const aliases[][2] = {{"lambda", "C"}, {"Z", "Y"}};

/* The letter of the part that a word is; NULL: none. */
static const char *letter_of(const struct lab_part *part, const char *word, size_t length,
                             char name[LAB_EXPRESSION_WORD])
{
    if (length >= LAB_EXPRESSION_WORD)
        return NULL;
    memcpy(name, word, length);
    name[length] = 0;
    if (lab_part_knows(part, name))
        return name;
    for (size_t a = 0; a < sizeof aliases / sizeof *aliases; a++)
        if (!strcmp(name, aliases[a][0]) && lab_part_knows(part, aliases[a][1]))
            return aliases[a][1];
    return NULL;
}

static int is_function(const char *word, size_t length)
{
    char name[LAB_EXPRESSION_WORD];
    if (length >= sizeof name)
        return 0;
    memcpy(name, word, length);
    name[length] = 0;
    return lab_expression_is_function(name);
}

/* The longest letter of the part at the start of a word; its length, 0: none. */
static size_t first_letter(const struct lab_part *part, const char *word, size_t length,
                           char name[LAB_EXPRESSION_WORD], const char **letter)
{
    for (; length; length--)
        if ((*letter = letter_of(part, word, length, name)))
            return length;
    return 0;
}

/* A word as the product of letters that it is, or as it is. */
static void put_word(struct repair *to, const char *word, size_t length)
{
    char name[LAB_EXPRESSION_WORD];
    const char *letter = NULL;
    size_t done = 0, one = 1;

    while (done < length && one) {
        one = first_letter(to->part, word + done, length - done, name, &letter);
        done += one;
    }
    if (done < length) {
        put(to, word, length);
        return;
    }
    for (done = 0; done < length; done += one) {
        one = first_letter(to->part, word + done, length - done, name, &letter);
        put_text(to, done ? " " : "");
        put_text(to, letter);
    }
}

/* The end of a lone argument of a function, "n" in "ln n"; NULL: there is none. */
static const char *end_of_argument(const char *text)
{
    const char *const start = skip_blanks(text);
    const char *end = start + (*start == '\\');
    end += word_length(end);
    const char *const next = skip_blanks(end);
    const int goes_on = *next && strchr("(^{[_\\", *next) != NULL;
    return end > start + (*start == '\\') && !goes_on && !is_word(*next) ? end : NULL;
}

static const char *put_function(struct repair *to, const char *text, size_t length)
{
    const char *const argument = skip_blanks(text + length);
    const char *const end =
        argument > text + length || *argument == '\\' ? end_of_argument(argument) : NULL;
    put(to, text, length);
    if (!end)
        return text + length;
    put_text(to, "(");
    put(to, argument, (size_t)(end - argument));
    put_text(to, ")");
    return end;
}

/* An argument of \frac or \sqrt: one character, or a group, which is left to the rest. */
static const char *put_argument(struct repair *to, const char *text);

static const char *put_number(struct repair *to, const char *text)
{
    const size_t length = strspn(text, "0123456789.");
    const char *const below = text[length] == '/' ? text + length + 1 : NULL;
    const size_t below_length = below ? strspn(below, "0123456789") : 0;
    const char *const next = skip_blanks(below ? below + below_length : text + length);
    const int is_vector = to->part->probing->query || to->part->probing->rows > 1;

    if (*next == '%') {
        put(to, text, length);
        put_text(to, "/100");
        return next + 1;
    }
    if (below_length && is_vector && *next &&
        (*next == '(' || *next == '\\' || isalpha((unsigned char)*next))) {
        put_text(to, "(");
        put(to, text, length + 1 + below_length);
        put_text(to, ")");
        return below + below_length;
    }
    put(to, text, length);
    return text + length;
}

/* ---- one piece after another ------------------------------------------------------ */

static const char *put_command(struct repair *to, const char *text)
{
    static const char *const fractions[] = {"\\frac", "\\tfrac", "\\dfrac", "\\sqrt"};
    enum { FRACTIONS = sizeof fractions / sizeof *fractions };
    size_t length = 1;
    while (isalpha((unsigned char)text[length]))
        length++;
    for (int f = 0; f < FRACTIONS; f++)
        if (length == strlen(fractions[f]) && !strncmp(text, fractions[f], length)) {
            put(to, text, length);
            const char *const next = put_argument(to, text + length);
            return f < FRACTIONS - 1 ? put_argument(to, next) : next;
        }
    if (is_function(text + 1, length - 1))
        return put_function(to, text, length);
    char name[LAB_EXPRESSION_WORD];
    const char *const letter = letter_of(to->part, text + 1, length - 1, name);
    if (letter && letter != name) {
        put_text(to, letter);
        return text + length;
    }
    put(to, text, length > 1 ? length : text[1] ? 2 : 1);
    return text + (length > 1 ? length : text[1] ? 2 : 1);
}

static const char *put_piece(struct repair *to, const char *text)
{
    static const char half[] = "\xc2\xbd", lambda[] = "\xce\xbb";
    const size_t word = isalpha((unsigned char)*text) ? word_length(text) : 0;
    char name[LAB_EXPRESSION_WORD];

    if (!strncmp(text, half, 2)) {
        put_text(to, "(1/2)");
        return text + 2;
    }
    if (!strncmp(text, lambda, 2)) {
        put_word(to, "lambda", 6);
        return text + 2;
    }
    if (!strncmp(text, "**", 2)) {
        put_text(to, "^");
        return text + 2;
    }
    if (word && text[word] == '.' &&
        is_function(text + word + 1, word_length(text + word + 1)))
        return text + word + 1; /* np.exp */
    if (word == 7 && !strncmp(text, "sigmoid", 7)) {
        put_text(to, "sg");
        return text + word;
    }
    if (*text == '\\')
        return put_command(to, text);
    if (isdigit((unsigned char)*text) || *text == '.')
        return put_number(to, text);
    if (is_function(text, word) && !letter_of(to->part, text, word, name))
        return put_function(to, text, word);
    if (word) {
        put_word(to, text, word);
        return text + word;
    }
    put(to, text, 1);
    return text + 1;
}

static const char *put_argument(struct repair *to, const char *text)
{
    text = skip_blanks(text);
    if (*text != '{' && *text != '(' && *text) {
        put_text(to, "{");
        if (*text == '\\')
            text = put_command(to, text);
        else
            put(to, text++, 1);
        put_text(to, "}");
        return text;
    }
    int depth = 0;
    do {
        depth += (*text == '{' || *text == '(') - (*text == '}' || *text == ')');
        if (*text)
            text = put_piece(to, text);
    } while (*text && depth > 0);
    return text;
}

/* k_{a} as k_a. */
static void drop_index_braces(char *text)
{
    char *to = text;
    for (const char *at = text; *at; at++) {
        const size_t length = at[0] == '_' && at[1] == '{' ? word_length(at + 2) : 0;
        if (!length || at[2 + length] != '}') {
            *to++ = *at;
            continue;
        }
        *to++ = '_';
        memmove(to, at + 2, length);
        to += length;
        at += 2 + length;
    }
    *to = 0;
}

static int repair_text(const struct lab_part *part, const char *text,
                       struct repair *repair)
{
    char formula[TEXT + 1];

    *repair = (struct repair){.part = part};
    if (strlen(text) > 2 * TEXT)
        return -1;
    const char *const start = past_name(text);
    const size_t length = end_of_formula(start);
    if (length > TEXT)
        return -1;
    memcpy(formula, start, length);
    formula[length] = 0;
    drop_index_braces(formula);
    for (const char *at = formula; *at;)
        at = put_piece(repair, at);
    return repair->is_cut ? -1 : 0;
}

/* ---- formulas ---------------------------------------------------------------------- */

const char *lab_unknown_letter(const struct lab_part *part,
                               const struct lab_expression *formula)
{
    for (int i = 0; i < formula->letters; i++)
        if (!lab_part_knows(part, formula->letter[i]))
            return formula->letter[i];
    return NULL;
}

int lab_answer_parse(const struct lab_part *part, const char *text,
                     struct lab_expression *formula, struct lab_expression_error *error)
{
    struct lab_expression repaired;
    struct lab_expression_error ignored;
    struct repair repair;
    const int status = lab_expression_parse(text, formula, error);

    if (!status && !lab_unknown_letter(part, formula))
        return 0;
    if (repair_text(part, text, &repair) ||
        lab_expression_parse(repair.text, &repaired, &ignored) ||
        lab_unknown_letter(part, &repaired))
        return status;
    *formula = repaired;
    return 0;
}

/* ---- words and letters ------------------------------------------------------------- */

/* Whether two words are the same but for case, and blanks and "_" for "-". */
static int is_choice(const char *choice, const char *word, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        const char c = word[i] == ' ' || word[i] == '_' ? '-' : word[i];
        if ((c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : c) != choice[i])
            return 0;
    }
    return 1;
}

int lab_find_choice(const char *choices, const char *word)
{
    word += strspn(word, " \t\r\n$");
    if (is_choice("the-", word, 4) && word[4])
        word += 4;
    size_t length = strlen(word);
    while (length && strchr(" \t\r\n.$", word[length - 1]))
        length--;
    for (int index = 0;; index++) {
        const size_t here = strcspn(choices, "|");
        if (here == length && is_choice(choices, word, length))
            return index;
        if (!choices[here])
            return -1;
        choices += here + 1;
    }
}

void lab_grade_letters(int part, char *text, size_t size)
{
    const struct lab_letters *const letters =
        lab_letters_of(lab_grade_part(part)->probing->letters);
    struct lab_text names = {text, size, 0};
    *text = 0;
    for (int i = 0; i < letters->known; i++)
        lab_text_add(&names, "%s%s", i ? " " : "", letters->place[i].name);
}

/* Whether a letter is a draw of the keys, which no query can know. */
static int is_draw(const struct lab_part *part, const char *name)
{
    static const char *const draws[] = {"gamma", "gamma_b", "k_a", "k_b", "k_i", "k_o"};
    if (!part->probing->query || part->probing->letters != LAB_TOPIC_NOISE)
        return 0;
    for (size_t d = 0; d < sizeof draws / sizeof draws[0]; d++)
        if (!strcmp(draws[d], name))
            return 1;
    return 0;
}

int lab_part_knows(const struct lab_part *part, const char *name)
{
    const struct lab_letters *const letters = lab_letters_of(part->probing->letters);
    for (int i = 0; i < letters->known; i++)
        if (!strcmp(letters->place[i].name, name))
            return 1;
    return !strcmp(name, "pi") || !strcmp(name, "e") || !strcmp(name, "inf") ||
           is_draw(part, name);
}

int lab_grade_check(int part, const char *text, char *why, size_t size)
{
    const struct lab_part *const p = lab_grade_part(part);
    struct lab_expression expression;
    struct lab_expression_error error;

    if (p->choices) {
        if (lab_find_choice(p->choices, text) >= 0)
            return 0;
        snprintf(why, size, "'%.40s' is none of %s", text, p->choices);
        for (char *c = why; *c; c++)
            if ((unsigned char)*c < ' ')
                *c = '?';
        return -1;
    }
    if (lab_answer_parse(p, text, &expression, &error)) {
        snprintf(why, size, "column %d: %s", error.column, error.text);
        return -1;
    }
    const char *const unknown = lab_unknown_letter(p, &expression);
    if (!unknown)
        return 0;
    if (lab_expression_is_function(unknown)) {
        snprintf(why, size, "%s needs its argument in parentheses", unknown);
        return -1;
    }
    char all[160];
    lab_grade_letters(part, all, sizeof all);
    snprintf(why, size, "no letter '%s' here, of %s", unknown, all);
    return -1;
}

const char *lab_draw_in(const struct lab_asked *queries)
{
    for (int k = 0; k < queries->part->texts; k++)
        for (int i = 0; i < queries->formula[k].letters; i++)
            if (is_draw(queries->part, queries->formula[k].letter[i]))
                return queries->formula[k].letter[i];
    return NULL;
}

/* SPDX-License-Identifier: MIT */
/* Formulas in plain text, without delimiters. */
#include <string.h>

#include "lab/reading/document_parts.h"
#include "lab/reading/formula_parts.h"

/* A word of plain text as a part of a formula. */
enum part { PART_NONE, PART_OPERAND, PART_WEAK, PART_OPERATOR, PART_RELATION };

enum { LONGEST = 2000 };

struct word {
    size_t begin, end; /* without punctuation after it */
    size_t after;      /* with it */
    enum part part;
    int letters; /* it has a letter of a formula */
    int joins;   /* an operator or relation inside */
    int comma, stop;
};

static int is_digit(char c) { return c >= '0' && c <= '9'; }
static int is_small(char c) { return c >= 'a' && c <= 'z'; }
static int is_letter(char c) { return is_small(c) || (c >= 'A' && c <= 'Z'); }
static int is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

/* Names that a run of ASCII letters may be in a formula. */
static int is_name(const char *run, size_t length, char before, char after)
{
    const struct lab_symbol *const symbol = lab_symbol_word(run, length);

    if (length == 1)
        return 1;
    /* Products of matrices: "AA^T", "PXW_V". */
    if (length <= 5 && strspn(run, "ABIKMPQSTVWXZ") >= length &&
        memchr(run, 'T', length) != run)
        return 1;
    if (before == '_' || before == '{')
        return length <= 5 || before == '_';
    if (symbol && (symbol->kind == LAB_SIGN_LETTER || symbol->kind == LAB_SIGN_NUMBER))
        return 1;
    if (symbol && (symbol->kind == LAB_SIGN_FUNCTION || symbol->kind == LAB_SIGN_SERIES ||
                   symbol->kind == LAB_SIGN_LIMIT))
        return after == '(' || after == '[' || after == '_' || after == '{';
    if (length >= 2 && length <= 5 && after == '(') {
        size_t capitals = 0;
        while (capitals < length && !is_small(run[capitals]))
            capitals++;
        if (capitals == length)
            return 1;
    }
    if (length == 2 && strchr("kvc", run[0]) && strchr("abij", run[1]))
        return 1;
    if (length == 2 && (!is_small(run[0]) || strchr("_^(", after)) && after)
        return after == '_' || after == '^' || after == '(' || after == '\'';
    return 0;
}

/* The kind of text[begin..end), which has no blanks. */
static void classify(const char *text, struct word *word)
{
    const size_t length = word->end - word->begin;
    const char *const s = text + word->begin;
    int operands = 0, operators = 0, relations = 0;

    word->part = PART_NONE;
    word->letters = word->joins = 0;
    if (length > LONGEST)
        return;
    if (length == 3 && !memcmp(s, "...", 3))
        word->part = PART_OPERAND;
    if (length == 3 && (!memcmp(s, "w/o", 3) || !memcmp(s, "n/a", 3) ||
                        !memcmp(s, "N/A", 3) || !memcmp(s, "I/O", 3)))
        return;
    for (size_t i = 0; i < length;) {
        const unsigned char c = (unsigned char)s[i];
        if (is_letter(s[i])) {
            size_t run = 1;
            while (i + run < length && is_letter(s[i + run]))
                run++;
            if (!is_name(s + i, run, i ? s[i - 1] : 0, i + run < length ? s[i + run] : 0))
                return;
            operands = word->letters = 1;
            i += run;
        } else if (is_digit(s[i])) {
            operands = 1;
            i++;
        } else if (c >= 0x80) {
            const struct lab_symbol *const symbol = lab_symbol_foreign(s + i, length - i);
            if (!symbol || symbol->kind == LAB_SIGN_TEXT)
                return;
            relations |= symbol->kind == LAB_SIGN_RELATION ||
                         symbol->kind == LAB_SIGN_ARROW || symbol->kind == LAB_SIGN_LINK;
            operators |= symbol->kind == LAB_SIGN_TIMES ||
                         symbol->kind == LAB_SIGN_PLUS || symbol->kind == LAB_SIGN_MINUS;
            operands |= symbol->kind == LAB_SIGN_LETTER ||
                        symbol->kind == LAB_SIGN_NUMBER || symbol->kind == LAB_SIGN_DOTS;
            operands |= symbol->kind == LAB_SIGN_SERIES;
            word->letters |=
                symbol->kind == LAB_SIGN_LETTER || symbol->kind == LAB_SIGN_SERIES;
            i += strlen(symbol->name);
        } else if (c == '\\') {
            size_t run = 1;
            while (i + run < length && is_letter(s[i + run]))
                run++;
            if (run == 1 || !lab_symbol_command(s + i + 1, run - 1))
                return;
            operands = word->letters = 1;
            i += run;
        } else if (strchr("=<>~", (char)c) ||
                   (c == '!' && i + 1 < length && s[i + 1] == '=')) {
            relations = 1;
            i++;
        } else if (strchr("+-*/^@", (char)c)) {
            relations |= c == '-' && i + 1 < length && s[i + 1] == '>';
            operators = 1;
            i++;
        } else if (strchr("()[]{}_|,.':`", (char)c))
            i++;
        else
            return;
    }
    word->joins = operators || relations;
    if (operands)
        word->part = length == 1 && strchr("aAI", *s) ? PART_WEAK : PART_OPERAND;
    else if (relations)
        word->part = PART_RELATION;
    else if (operators)
        word->part = PART_OPERATOR;
    else if (length && strchr("()[]{}|", *s))
        word->part = PART_WEAK;
}

/* 0 at the end of the text. */
static int next_word(const char *text, size_t from, size_t end, struct word *word)
{
    while (from < end && is_blank(text[from]))
        from++;
    if (from >= end)
        return 0;
    word->begin = from;
    while (from < end && !is_blank(text[from]))
        from++;
    word->end = word->after = from;
    word->comma = word->stop = 0;
    while (word->end > word->begin + 1 && strchr(",.;:!?*", text[word->end - 1]) &&
           !(text[word->end - 1] == '.' && text[word->end - 2] == '.')) {
        word->comma |= text[word->end - 1] == ',';
        word->stop |= text[word->end - 1] != ',' && text[word->end - 1] != '*';
        word->end--;
    }
    classify(text, word);
    return 1;
}

/* The last bracket that opens after a blank and does not close, and the blanks before. */
static size_t last_open(const char *text, size_t begin, size_t end)
{
    int depth = 0;
    for (size_t i = end; i-- > begin;) {
        depth += text[i] == ')' || text[i] == ']' || text[i] == '}';
        if ((text[i] == '(' || text[i] == '[' || text[i] == '{') && depth-- == 0) {
            if (i == begin || text[i - 1] != ' ')
                return begin;
            while (i > begin && is_blank(text[i - 1]))
                i--;
            return i;
        }
    }
    return begin;
}

/* Brackets that open or close outside the run are not part of it. */
static void balance(const char *text, size_t *begin, size_t *end)
{
    for (;;) {
        int depth = 0, lowest = 0;
        for (size_t i = *begin; i < *end; i++) {
            depth += text[i] == '(' || text[i] == '[' || text[i] == '{';
            depth -= text[i] == ')' || text[i] == ']' || text[i] == '}';
            lowest = depth < lowest ? depth : lowest;
        }
        if (*begin < *end && lowest < 0 && strchr(")]}", text[*end - 1]))
            --*end;
        else if (*begin < *end && depth > 0 && strchr("([{", text[*begin]))
            ++*begin;
        else if (depth > 0 && last_open(text, *begin, *end) > *begin)
            *end = last_open(text, *begin, *end);
        else
            return;
    }
}

static int is_whole(const char *text, size_t begin, size_t end)
{
    int depth = 0;
    for (size_t i = begin; i < end; i++) {
        depth += text[i] == '(' || text[i] == '[' || text[i] == '{';
        depth -= text[i] == ')' || text[i] == ']' || text[i] == '}';
        if (depth < 0)
            return 0;
    }
    return depth == 0;
}

static int joins(enum part part)
{
    return part == PART_OPERATOR || part == PART_RELATION;
}

/* "(a-i)" is the label of a question. */
static int is_label(const char *text, size_t begin, size_t end)
{
    begin += text[begin] == '(';
    end -= text[end - 1] == ')';
    return end - begin >= 3 && end - begin <= 5 && text[begin + 1] == '-' &&
           text[begin] >= 'a' && text[begin] <= 'h' &&
           strspn(text + begin + 2, "iv") >= end - begin - 2;
}

static int depth_of(const char *text, const struct word *word)
{
    int depth = 0;
    for (size_t i = word->begin; i < word->end; i++) {
        depth += text[i] == '(' || text[i] == '[' || text[i] == '{';
        depth -= text[i] == ')' || text[i] == ']' || text[i] == '}';
    }
    /* <a, b> with a blank */
    depth += text[word->begin] == '<' && word->comma && word->end > word->begin + 1 &&
             is_letter(text[word->begin + 1]);
    depth -= text[word->end - 1] == '>' && word->end > word->begin + 1 &&
             is_letter(text[word->begin]);
    return depth;
}

static int is_dots(const char *text, const struct word *word)
{
    return !strncmp(text + word->begin, "...", 3) ||
           !strncmp(text + word->begin, "…", strlen("…")) ||
           !strncmp(text + word->begin, "\\dots", 5) ||
           !strncmp(text + word->begin, "\\ldots", 6);
}

/*
 * Whether a formula goes on after a comma outside brackets: "i = 1, ..., n" and
 * "i != a, b" do, and "alpha_a, alpha_b = 1/2" before its relation.
 */
static int goes_on(const char *text, const struct word *first, const struct word *word,
                   const struct word *next, int relation, int dots)
{
    if (next->part != PART_OPERAND && next->part != PART_WEAK)
        return 0;
    if (!relation)
        return text[first->begin] == text[next->begin] &&
               text[first->begin + 1] == text[next->begin + 1];
    return is_dots(text, next) || dots ||
           (!next->joins && word->end == word->begin + 1 &&
            next->end == next->begin + 1 && strchr("abijk", text[word->begin]) &&
            strchr("abijk", text[next->begin]));
}

/*
 * "A", "I" and "a" are words of English too: letters of a formula beside a sign, and the
 * capitals between other parts of a formula.
 */
static int is_article(const char *text, const struct word *word, enum part before,
                      int more, const struct word *next)
{
    if (word->part != PART_WEAK || !is_letter(text[word->begin]) || joins(before))
        return 0;
    if (more && joins(next->part) && !word->comma && !word->stop)
        return 0;
    return before == PART_NONE || text[word->begin] == 'a' ||
           (more && next->part == PART_NONE && !word->comma && !word->stop);
}

/* The run of words from `first` on; the place to go on after it. */
static size_t read_run(const char *text, size_t end, const struct word *first,
                       size_t *begin, size_t *finish, int *found)
{
    struct word word = *first, next;
    enum part before = PART_NONE;
    int letters = 0, relation = 0, useful = 0, depth = 0, dots = 0, is_cut = 0;
    size_t last = first->begin, start = first->begin;

    for (;;) {
        const int more = next_word(text, word.after, end, &next);
        if (word.part == PART_NONE || is_article(text, &word, before, more, &next))
            break;
        letters |= word.letters;
        relation |= word.part == PART_RELATION || word.joins;
        useful |= word.part == PART_OPERAND || word.part == PART_WEAK;
        dots |= is_dots(text, &word);
        depth += depth_of(text, &word);
        if (word.part != PART_OPERATOR)
            last = word.end;
        /* "k_a = mu_a + noise" goes on in words. */
        is_cut = word.part == PART_OPERATOR && text[word.begin] == '+';
        before = word.part;
        if (word.stop || !more || next.part == PART_NONE || last - start > LONGEST)
            break;
        if (word.comma && depth <= 0 &&
            !goes_on(text, first, &word, &next, relation, dots))
            break;
        word = next;
    }
    while (start < last && (text[start] == '*' || text[start] == '/'))
        start++;
    *begin = start;
    *finish = last;
    balance(text, begin, finish);
    *found = letters && relation && useful && !is_cut && *begin < *finish &&
             is_whole(text, *begin, *finish) && !is_label(text, *begin, *finish);
    return last > first->end ? last : first->end;
}

int lab_plain_formula(const char *text, size_t from, size_t end, size_t *begin,
                      size_t *finish)
{
    struct word word;
    int found = 0, after_word = 0;

    /* A run that begins with a relation after a word lacks its left side. */
    while (next_word(text, from, end, &word)) {
        const int fragment = after_word && (word.part == PART_RELATION);
        from = word.end;
        after_word = word.part == PART_NONE;
        if (word.part == PART_NONE || word.part == PART_OPERATOR)
            continue;
        from = read_run(text, end, &word, begin, finish, &found);
        if (found && !fragment)
            return 1;
    }
    return 0;
}

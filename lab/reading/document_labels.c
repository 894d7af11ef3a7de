/* SPDX-License-Identifier: MIT */
/*
 * Labels of questions, "(a) - ii)", "1.2", "Q1b", and the parts of the exercise they
 * name.  Where the title of a section names a subject, it decides; the words of a passage
 * decide where the numbering stops short of a part.
 */
#include <stdio.h>
#include <string.h>

#include "lab/reading/document_parts.h"

static int is_digit(char c) { return c >= '0' && c <= '9'; }
static char small(char c) { return (char)(c >= 'A' && c <= 'Z' ? c + 'a' - 'A' : c); }
static int is_letter(char c) { return small(c) >= 'a' && small(c) <= 'z'; }
static int is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

/* Subjects of a title, and the part they name; the first that fits counts. */
static const struct topic {
    const char *word, *part;
    int whole; /* the part has no parts of its own */
} topics[] = {
    {"permut", "2a", 0},         {"equivarian", "2a", 0},  {"position", "2b", 0},
    {"single-head", "1c", 0},    {"single head", "1c", 0}, {"drawback", "1c", 0},
    {"multi-head", "1d", 0},     {"multi head", "1d", 0},  {"multihead", "1d", 0},
    {"benefit", "1d", 0},        {"copy", "1a", 0},        {"identity", "1a", 0},
    {"average of two", "1b", 0}, {"extract", "1b-i", 1},   {"average", "1b-ii", 1},
    {"averaging", "1b-ii", 1},   {"summary", "1e", 1},
};

/* Words of a passage that decide between the items of a part. */
static const struct decision {
    const char *part, *word, *question;
} decisions[] = {
    {"1a", "probability distribution", "1a-i"},
    {"1a", "categorical", "1a-i"},
    {"1a", "copying", "1a-iv"},
    {"1a", "intuit", "1a-iv"},
    {"1a", "\\gg", "1a-ii"},
    {"1a", ">>", "1a-ii"},
    {"1a", "≫", "1a-ii"},
    {"1a", "greater", "1a-ii"},
    {"1a", "much larger", "1a-ii"},
    {"1b", "k_a", "1b-ii"},
    {"1b", "M v_a", "1b-i"},
    {"1b", "Mv_a", "1b-i"},
    {"1b", "A^T", "1b-i"},
    {"1b", "A^\\top", "1b-i"},
    {"1b", "subspace", "1b-i"},
    {"1b", "average", "1b-ii"},
    {"1c", "frac{1}{2}(\\mu_a", "1c-ii"},
    {"1c", "1/2 (mu_a", "1c-ii"},
    {"1c", "magnitude", "1c-ii"},
    {"1c", "fluctuat", "1c-ii"},
    {"1c", "sample", "1c-ii"},
    {"1c", "(\\mu_a + \\mu_b)", "1c-i"},
    {"1c", "(mu_a + mu_b)", "1c-i"},
    {"1c", "vanishing", "1c-i"},
    {"1d", "sample", "1d-ii"},
    {"1d", "fluctuat", "1d-ii"},
    {"1d", "variance", "1d-ii"},
    {"1d", "q_1", "1d-i"},
    {"2a", "feed", "2a-ii"},
    {"2a", "ReLU", "2a-ii"},
    {"2a", "permut", "2a-i"},
    {"2a", "PX", "2a-i"},
    {"2b", "unique", "2b-ii"},
    {"2b", "same", "2b-ii"},
    {"2b", "position", "2b-i"},
};

/* Words that belong to the next item, in a text that has lost its label. */
static const struct decision moved[] = {
    {"1c-i", "fluctuat", "1c-ii"},
    {"1c-i", "k_a = \\gamma", "1c-ii"},
    {"1c-i", "k_a \\approx \\gamma", "1c-ii"},
    {"1c-i", "frac{1}{2}(\\mu_a", "1c-ii"},
    {"1c-i", "frac{1}{2} \\mu_a", "1c-ii"},
    {"1c-i", "0.5\\mu_a", "1c-ii"},
    {"1d-i", "fluctuat", "1d-ii"},
    {"1d-i", "high variance", "1d-ii"},
    {"1d-i", "frac{1}{2}(\\mu_a", "1d-ii"},
};

static const char *const romans[] = {"i", "ii", "iii", "iv", "v", "vi"};
enum { ROMANS = sizeof romans / sizeof romans[0] };

static int contains(const char *text, size_t length, const char *word, int any_case)
{
    const size_t size = strlen(word);
    for (size_t i = 0; i + size <= length; i++) {
        size_t n = 0;
        while (n < size &&
               (text[i + n] == word[n] || (any_case && small(text[i + n]) == word[n])))
            n++;
        if (n == size)
            return 1;
    }
    return 0;
}

static int roman(const char *text, size_t length)
{
    for (int r = 0; r < ROMANS; r++)
        if (strlen(romans[r]) == length && !memcmp(text, romans[r], length))
            return r + 1;
    return 0;
}

/* The part in force without its item, "1c". */
static void find_part(const struct lab_numbering *numbering, char part[8])
{
    part[0] = 0;
    if (numbering->topic)
        snprintf(part, 8, "%s", topics[numbering->topic - 1].part);
    else if (numbering->letter && numbering->number == 2 && numbering->letter <= 2)
        snprintf(part, 8, "2%c", 'a' + numbering->letter - 1);
    else if (numbering->letter && numbering->letter <= 5)
        snprintf(part, 8, "1%c", 'a' + numbering->letter - 1);
}

static void resolve(struct lab_numbering *numbering)
{
    char part[8];
    const int topic = numbering->topic;

    find_part(numbering, part);
    numbering->question[0] = 0;
    if ((topic && topics[topic - 1].whole) || !strcmp(part, "1e"))
        snprintf(numbering->question, sizeof numbering->question, "%s", part);
    else if (part[0] && numbering->item &&
             numbering->item <= (part[1] == 'a' && part[0] == '1' ? 4 : 2))
        snprintf(numbering->question, sizeof numbering->question, "%.2s-%s", part,
                 romans[numbering->item - 1]);
}

/* What an atom of a label is. */
struct atom {
    int number, second, letter, item; /* 0: not given */
};

static const char *const nouns[] = {"question", "problem", "exercise", "section", "part",
                                    "task",     "answer",  "ex",       "q"};

static size_t skip_noun(const char *text, size_t length)
{
    for (size_t n = 0; n < sizeof nouns / sizeof nouns[0]; n++) {
        const size_t size = strlen(nouns[n]);
        size_t i = 0;
        while (i < size && i < length && small(text[i]) == nouns[n][i])
            i++;
        if (i < size || (size == 1 && text[0] != 'Q'))
            continue;
        while (i < length && (is_blank(text[i]) || text[i] == '.' || text[i] == '#'))
            i++;
        if (i < length && (is_digit(text[i]) || text[i] == '(' ||
                           (i > size && (i + 1 == length || !is_letter(text[i + 1]) ||
                                         roman(text + i, 2)))))
            return i;
    }
    return 0;
}

/* The "b" of "1b" or "1(b)". */
static int is_joined(const char *text, size_t length)
{
    const size_t opened = length && text[0] == '(';
    if (length <= opened || small(text[opened]) < 'a' || small(text[opened]) > 'e')
        return 0;
    if (opened)
        return length > 2 && text[2] == ')';
    return length == 1 || !is_letter(text[1]);
}

/* "1) (c)", "1 c) i": the letter of a part behind a number. */
static int is_followed(const char *text, size_t length)
{
    size_t at = 0;
    /* "1.b.ii" */
    if (length > 2 && text[0] == '.' && small(text[1]) >= 'a' && small(text[1]) <= 'e' &&
        text[2] == '.')
        return 1;
    while (at < length && at < 4 && strchr(" .)", text[at]))
        at++;
    at += at < length && text[at] == '(';
    return at && at + 1 < length && small(text[at]) >= 'a' && small(text[at]) <= 'e' &&
           text[at + 1] == ')';
}

/* One atom; `bare`: it needs no punctuation after it. */
static size_t read_atom(const char *text, size_t length, int bare, struct atom *atom)
{
    const int opened = length && text[0] == '(';
    const char *const word = text + opened;
    size_t room = length - (size_t)opened, size = 0, after;

    *atom = (struct atom){0};
    if (opened && room && is_digit(*word) && !bare)
        return 0; /* the number of an equation or of a page */
    if (room && is_digit(*word)) {
        while (size < room && size < 3 && is_digit(word[size]))
            atom->number = atom->number * 10 + word[size++] - '0';
        if (!opened && size + 1 < room && word[size] == '.' && is_digit(word[size + 1])) {
            for (size++; size < room && is_digit(word[size]); size++)
                atom->second = word[size] - '0';
            bare = 1;
        }
        if (!opened && is_joined(word + size, room - size))
            return size;
        if (!opened && atom->number <= 2 && is_followed(word + size, room - size))
            return size + (word[size] == ')' || word[size] == '.');
        if (atom->number > 9)
            return 0;
    } else {
        while (size < room && size < 4 && is_letter(word[size]))
            size++;
        if ((atom->item = roman(word, size)) == 0 && size == 1 && small(*word) <= 'h')
            atom->letter = small(*word) - 'a' + 1;
        if (!atom->item && !atom->letter)
            return 0;
        if (size == 1 && *word != small(*word) && !opened && !bare)
            return 0;
    }
    after = size + (size_t)opened;
    if (opened)
        return after < length && text[after] == ')' ? after + 1 : 0;
    if (after == length)
        return bare ? after : 0;
    if (text[after] == ')')
        return after + 1;
    if (text[after] == '.' && (after + 1 == length || is_blank(text[after + 1])))
        return after + 1;
    if (bare && (is_blank(text[after]) || strchr(":,-(.", text[after])))
        return after;
    return 0;
}

static void clear_below(struct lab_numbering *numbering)
{
    numbering->letter = numbering->item = numbering->nested = numbering->topic = 0;
}

static int apply(const struct atom *atom, int marked, int first,
                 struct lab_numbering *numbering)
{
    if (atom->second) {
        clear_below(numbering);
        numbering->number = atom->number;
        numbering->letter = atom->second;
        numbering->nested = 1;
    } else if (atom->number && numbering->letter && marked < 2) {
        if (numbering->nested || atom->number > ROMANS ||
            (numbering->item && !numbering->digits))
            return 0;
        numbering->item = atom->number;
        numbering->digits = 1;
    } else if (atom->number) {
        if (marked < 2 && first)
            return 0;
        clear_below(numbering);
        numbering->number = atom->number;
    } else if (atom->letter && numbering->nested) {
        numbering->item = atom->letter;
    } else if (atom->letter) {
        numbering->letter = atom->letter;
        numbering->item = numbering->topic = numbering->digits = 0;
    } else {
        if (first && atom->item == 1 && numbering->item > 1 && numbering->letter &&
            !numbering->nested) { /* a part whose letter was lost */
            numbering->letter++;
            numbering->topic = 0;
        }
        numbering->item = atom->item;
        numbering->digits = 0;
    }
    return 1;
}

/* "ob i.": a letter that a scan mistook. */
static size_t skip_mistaken(const char *text, size_t length)
{
    size_t end = length;
    while (end && is_blank(text[end - 1]))
        end--;
    if (end < 5 || end > 7 || text[end - 1] != '.' || !is_letter(text[0]) ||
        !is_letter(text[1]) || text[2] != ' ' || !roman(text + 3, end - 4))
        return 0;
    return 3;
}

/* Whether an atom may stand without punctuation: after a noun or a number, or "ii". */
static int is_bare(const char *text, size_t length, int marked, const struct atom *before)
{
    const int item = length && text[0] == 'i';
    if (marked == 2 || before->number)
        return 1;
    if (!item)
        return 0;
    return marked || before->letter || (length > 2 && (text[1] == 'i' || text[1] == 'v'));
}

/* "c = v_a" is a formula, "(c) = 1" too. */
static int is_formula(const char *text, size_t length)
{
    return length && strchr("=<>_^", text[0]);
}

size_t lab_label_read(const char *text, size_t length, int marked,
                      struct lab_numbering *numbering)
{
    struct lab_numbering changed = *numbering;
    size_t at = skip_mistaken(text, length), end = 0;
    struct atom before = {0};

    for (int atoms = 0; atoms < 4; atoms++) {
        const size_t noun = atoms ? 0 : skip_noun(text + at, length - at);
        struct lab_numbering further = changed;
        struct atom atom;
        at += noun;
        const int level = noun ? 2 : marked;
        const int bare = is_bare(text + at, length - at, level, &before);
        const size_t size = read_atom(text + at, length - at, bare, &atom);
        const int joined = atom.number && !atom.second &&
                           (is_joined(text + at + size, length - at - size) ||
                            is_followed(text + at + size, length - at - size));
        if (!size || !apply(&atom, joined ? 2 : level, !atoms, &further))
            break;
        if (atom.letter && !atoms && marked == 2 && size == 1)
            break; /* "# A title" */
        size_t next = at + size;
        while (next < length && (is_blank(text[next]) || strchr("-:,*", text[next])))
            next++;
        if (is_formula(text + next, length - next))
            break;
        changed = further;
        before = atom;
        end = at + size;
        at = next;
    }
    if (!end)
        return 0;
    snprintf(changed.label, sizeof changed.label, "%.*s",
             (int)(end < sizeof changed.label ? end : sizeof changed.label - 1), text);
    resolve(&changed);
    *numbering = changed;
    while (end < length && (is_blank(text[end]) || text[end] == '*' || text[end] == ':'))
        end++;
    return end;
}

void lab_label_title(const char *text, size_t length, struct lab_numbering *numbering)
{
    const int question = numbering->number && !numbering->letter;

    if (contains(text, length, "attention exploration", 1))
        numbering->number = 1;
    if (question && contains(text, length, "position", 1)) {
        numbering->number = 2; /* both parts of the second question */
        return;
    }
    for (size_t t = 0; t < sizeof topics / sizeof topics[0]; t++)
        if (contains(text, length, topics[t].word, 1)) {
            numbering->topic = (int)t + 1;
            numbering->nested |= !numbering->letter;
            break;
        }
    resolve(numbering);
}

void lab_label_words(const char *text, size_t length, struct lab_numbering *numbering)
{
    char part[8];

    for (size_t m = 0; m < sizeof moved / sizeof moved[0]; m++)
        if (!strcmp(moved[m].part, numbering->question) &&
            contains(text, length, moved[m].word, 0)) {
            snprintf(numbering->question, sizeof numbering->question, "%s",
                     moved[m].question);
            return;
        }
    find_part(numbering, part);
    if (!part[0] || part[2] || numbering->item || !strcmp(part, "1e"))
        return;
    for (size_t d = 0; d < sizeof decisions / sizeof decisions[0]; d++)
        if (!strcmp(decisions[d].part, part) &&
            contains(text, length, decisions[d].word, 0)) {
            snprintf(numbering->question, sizeof numbering->question, "%s",
                     decisions[d].question);
            return;
        }
    /* What stands first answers what is asked first. */
    if (!numbering->question[0] && strcmp(part, "1a") != 0 && strcmp(part, "1b") != 0)
        snprintf(numbering->question, sizeof numbering->question, "%.2s-i", part);
}

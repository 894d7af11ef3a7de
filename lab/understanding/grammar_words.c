/* SPDX-License-Identifier: MIT */
/* Words of sentences and patterns of them. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "lab/understanding/grammar.h"

static int is_word_byte(const char *text, size_t at)
{
    const unsigned char c = (unsigned char)text[at];
    return isalnum(c) || c == '_' || c >= 0x80;
}

static void add_token(struct lab_sentence *to, const char *source, size_t begin,
                      size_t end, int formula)
{
    if (to->count == LAB_WORDS_MOST || begin >= end)
        return;
    struct lab_word *const token = &to->token[to->count];
    lab_squeeze(source, begin, end, token->text, LAB_WORD_SIZE);
    token->begin = begin;
    /* "k_a's", "doesn't" with either apostrophe. */
    for (char *quote; (quote = strstr(token->text, "\xe2\x80\x99")) != NULL;) {
        *quote = '\'';
        memmove(quote + 1, quote + 3, strlen(quote + 3) + 1);
    }
    const size_t length = strlen(token->text);
    if (length > 2 && !strcmp(token->text + length - 2, "'s"))
        token->text[length - 2] = 0;
    /* A letter with an index, or a Greek one, is a formula. */
    token->formula = formula || strchr(token->text, '_') ||
                     ((unsigned char)source[begin] >= 0x80 && token->text[0] &&
                      isalpha((unsigned char)token->text[0]));
    if (!token->formula)
        for (char *at = token->text; *at; at++)
            *at = (char)tolower((unsigned char)*at);
    if (*token->text)
        to->count++;
}

/* The sentence that goes on after a comma at the end of this one, or -1. */
static int goes_on(const struct lab_document *document, int passage)
{
    const struct lab_passage *const p = &document->passage[passage];
    size_t end = p->end;
    while (end > p->begin && isspace((unsigned char)document->source[end - 1]))
        end--;
    if (end == p->begin || document->source[end - 1] != ',')
        return -1;
    for (int next = passage + 1; next < document->count; next++)
        if (document->passage[next].sentence != passage) {
            const struct lab_passage *const n = &document->passage[next];
            return n->kind == LAB_PASSAGE_SENTENCE && n->line <= p->last_line + 2 &&
                           islower((unsigned char)document->source[n->begin])
                       ? next
                       : -1;
        }
    return -1;
}

void lab_sentence_add(const struct lab_document *document, int passage,
                      struct lab_sentence *to)
{
    const struct lab_passage *const p = &document->passage[passage];
    const char *const source = document->source;
    int next = passage + 1;
    for (size_t at = p->begin; at < p->end && to->count < LAB_WORDS_MOST;) {
        while (next < document->count && (document->passage[next].sentence != passage ||
                                          document->passage[next].end <= at))
            if (document->passage[next].begin > p->end &&
                document->passage[next].sentence != passage)
                break;
            else
                next++;
        const struct lab_passage *const f =
            next < document->count && document->passage[next].sentence == passage
                ? &document->passage[next]
                : NULL;
        if (f && f->begin <= at) {
            add_token(to, source, f->begin, f->end, 1);
            at = f->end > at ? f->end : at + 1;
            continue;
        }
        const size_t stop = f && f->begin < p->end ? f->begin : p->end;
        if (!is_word_byte(source, at)) {
            at++;
            continue;
        }
        size_t end = at;
        while (end < stop &&
               (is_word_byte(source, end) ||
                ((source[end] == '\'' || source[end] == '-') && end + 1 < stop &&
                 isalpha((unsigned char)source[end + 1]))))
            end++;
        add_token(to, source, at, end, 0);
        at = end;
    }
}

void lab_sentence_open(const struct lab_document *document, int passage,
                       struct lab_sentence *to)
{
    const int next = goes_on(document, passage);
    to->count = 0;
    lab_sentence_add(document, passage, to);
    if (next >= 0)
        lab_sentence_add(document, next, to);
}

/* Formulas by their looks: their squeezed text is one of these. */
static const struct {
    const char *name, *looks; /* alternatives; '?' is an index, '*' anything after */
} classes[] = {
    {"@c", "c|C|output|outputs"},
    {"@c1", "c_1|C_1|head1"},
    {"@c2", "c_2|C_2|head2"},
    {"@va", "v_a|V_a|N_a"},
    {"@vb", "v_b|V_b|N_b"},
    {"@vj", "v_?|V_?|value|values"},
    {"@ka", "k_a"},
    {"@kx", "k_?"},
    {"@mux", "mu_?|m_?"},
    {"@mub", "mu_b|m_b"},
    {"@wa", "alpha_a|w_a|p_a|weight|weights"},
    {"@w", "alpha_?|alpha|w_?|p_?|weight|weights"},
    {"@score", "k_?^Tq|k_?*q|s_?|S_?|score|scores"},
    {"@sa", "k_a^Tq|s_a|S_a"},
    {"@scores", "k_a^Tqapproxk_b^Tq|k_a^Tq=k_b^Tq|s_aapproxs_b|s_a=s_b|S_aapproxS_b"},
    {"@q", "q|query"},
    {"@q1", "q_1"},
    {"@q2", "q_2"},
    {"@exp0", "exp(0)*|e^0*|1"},
    {"@gamma", "gamma|g|rho"},
    {"@agtb", "alpha_a>alpha_b|w_a>w_b|p_a>p_b|gamma>1|g>1|rho>1"},
    {"@half", "1/2|frac12|0.5|half|50"},
    {"@avg", "(v_a+v_b)/2|1/2(v_a+v_b)|frac12(v_a+v_b)|average|mean|middle"},
    {"@sb", "k_b^Tq|s_b|S_b"},
    {"@number", "0.?|1/4|1/8|frac14|frac12|1/2|0.5|0.25|0.08|0.079|0.0786|0.07|0.1|2|1"},
    {"@M", "M"},
    {"@f", "*"},
};

static int looks_like(const char *text, const char *look, size_t length)
{
    size_t t = 0;
    for (size_t i = 0; i < length; i++) {
        if (look[i] == '*' && i + 1 == length)
            return 1;
        if (look[i] == '?') {
            if (!isalpha((unsigned char)text[t]))
                return 0;
            t++;
            continue;
        }
        if (text[t] != look[i])
            return 0;
        t++;
    }
    return text[t] == '\0';
}

int lab_in_alternatives(const char *text, const char *alternatives, size_t size)
{
    for (size_t at = 0; at < size;) {
        size_t length = 0;
        while (at + length < size && alternatives[at + length] != '|')
            length++;
        if (looks_like(text, alternatives + at, length))
            return 1;
        at += length + 1;
    }
    return 0;
}

/* One element of a pattern, "larger|bigger" or "@ka", against a token. */
static int matches(const struct lab_word *token, const char *element, size_t size)
{
    for (size_t at = 0; at < size;) {
        size_t length = 0;
        while (at + length < size && element[at + length] != '|')
            length++;
        if (element[at] == '@') {
            for (size_t c = 0; c < sizeof classes / sizeof classes[0]; c++)
                if (strlen(classes[c].name) == length &&
                    !memcmp(classes[c].name, element + at, length) &&
                    (token->formula || strcmp(classes[c].name, "@f")) &&
                    lab_in_alternatives(token->text, classes[c].looks,
                                        strlen(classes[c].looks)))
                    return 1;
        } else if (looks_like(token->text, element + at, length)) {
            return 1;
        }
        at += length + 1;
    }
    return 0;
}

/*
 * Elements in order, at most LAB_GAP tokens between two; "~12" before an element allows
 * for
 * 12.  `from` is where the first may stand.  The place of the first, or -1.
 */
int lab_find_pattern(const struct lab_sentence *sentence, const char *pattern, int from,
                     int gap, int *first, int *last)
{
    while (*pattern == ' ')
        pattern++;
    if (!*pattern)
        return 1;
    if (*pattern == '~') {
        gap = 0;
        for (pattern++; isdigit((unsigned char)*pattern); pattern++)
            gap = 10 * gap + *pattern - '0';
        while (*pattern == ' ')
            pattern++;
    }
    const size_t size = strcspn(pattern, " ");
    for (int i = from; i < sentence->count && i <= from + gap; i++) {
        if (!matches(&sentence->token[i], pattern, size))
            continue;
        int ignored = i;
        *last = i;
        if (lab_find_pattern(sentence, pattern + size, i + 1, LAB_GAP, &ignored, last)) {
            *first = i;
            return 1;
        }
    }
    return 0;
}

int lab_is_one_of(const struct lab_sentence *sentence, int i, const char *words)
{
    return i >= 0 && i < sentence->count && !sentence->token[i].formula &&
           lab_in_alternatives(sentence->token[i].text, words, strlen(words));
}

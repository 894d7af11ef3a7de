/* SPDX-License-Identifier: MIT */
/* How formulas stand in their sentences: claimed, denied, assumed or wanted. */
#include <ctype.h>
#include <string.h>

#include "lab/understanding/grammar.h"

/* "to achieve x", "such that x": a word of the end within the four before. */
static int is_wanted(const struct lab_sentence *sentence, int at)
{
    for (int i = at - 1; i >= 0 && i >= at - 5; i--) {
        if (sentence->token[i].formula)
            return 0;
        if (lab_is_one_of(sentence, i, "want|need|needs|require|requires|goal|desire"))
            return 1;
        if (lab_is_one_of(sentence, i, "achieve|obtain|get|reach|attain|approximate") &&
            lab_is_one_of(sentence, i - 1, "to"))
            return 1;
    }
    return 0;
}

static int is_denied(const struct lab_sentence *sentence, int at)
{
    for (int i = at + 1; i <= at + 2; i++)
        if (lab_is_one_of(sentence, i, "not|doesn't|isn't|no|never|cannot"))
            for (int j = i + 1; j <= i + 2; j++)
                if (lab_is_one_of(sentence, j, "hold|holds|true|longer|valid|satisfied"))
                    return 1;
    return lab_is_one_of(sentence, at + 1, "fails|breaks");
}

/* "x > y with probability", "x > y in half of the samples". */
static int is_chanced(const struct lab_sentence *sentence, int at)
{
    for (int i = at + 1; i <= at + 3 && i < sentence->count; i++) {
        if (sentence->token[i].formula)
            return 0;
        if (lab_is_one_of(sentence, i, "probability|chance") ||
            (lab_is_one_of(sentence, i, "in") &&
             (lab_is_one_of(sentence, i + 1, "half|most|some|many") ||
              lab_is_one_of(sentence, i + 2, "half|most|some|many"))))
            return 1;
    }
    return 0;
}

enum lab_standing lab_formula_standing(const struct lab_document *document, int passage)
{
    static const char assumes[] =
        "if|assume|assuming|suppose|supposing|when|whenever|assumes";
    const struct lab_passage *const p = &document->passage[passage];
    struct lab_sentence sentence;
    int at = 0, of = p->sentence;
    if (of < 0 && passage > 0 && document->passage[passage - 1].last_line >= p->line - 2)
        of = document->passage[passage - 1].kind == LAB_PASSAGE_SENTENCE
                 ? passage - 1
                 : document->passage[passage - 1].sentence;
    if (of < 0)
        return LAB_STANDS;
    sentence.count = 0;
    lab_sentence_add(document, of, &sentence);
    if (p->sentence < 0) { /* a display: the sentence that leads to it */
        const struct lab_passage *const lead = &document->passage[of];
        size_t end = lead->end;
        while (end > lead->begin && isspace((unsigned char)document->source[end - 1]))
            end--;
        if (document->source[lead->end] != ':' &&
            (end == lead->begin || document->source[end - 1] != ':'))
            return LAB_STANDS;
        return lab_is_one_of(&sentence, 0, "assume|suppose") ? LAB_ASSUMED : LAB_STANDS;
    }
    while (at < sentence.count && sentence.token[at].begin != p->begin)
        at++;
    if (at == sentence.count)
        return LAB_STANDS;
    if (is_denied(&sentence, at))
        return LAB_DENIED;
    if (is_chanced(&sentence, at))
        return LAB_CHANCED;
    if (lab_is_one_of(&sentence, at + 1, "if|when|whenever"))
        return LAB_STANDS; /* "x if y" has a premise of its own */
    /* "if x and y": y is assumed as well. */
    while (at > 1 && lab_is_one_of(&sentence, at - 1, "and") &&
           sentence.token[at - 2].formula)
        at -= 2;
    if (lab_is_one_of(&sentence, at - 1, assumes) ||
        (lab_is_one_of(&sentence, at - 1, "that") &&
         lab_is_one_of(&sentence, at - 2, assumes)))
        return LAB_ASSUMED;
    return is_wanted(&sentence, at) ? LAB_WANTED : LAB_STANDS;
}

int lab_sentence_words(const struct lab_document *document, int passage)
{
    struct lab_sentence sentence;
    int count = 0;
    sentence.count = 0;
    lab_sentence_add(document, passage, &sentence);
    for (int i = 0; i < sentence.count; i++)
        count +=
            !sentence.token[i].formula &&
            isalpha((unsigned char)*sentence.token[i].text) &&
            !lab_is_one_of(&sentence, i, "then|therefore|so|thus|hence|and|we|get|have");
    return count;
}

int lab_passage_head(const struct lab_document *document, int passage)
{
    const struct lab_passage *const p = &document->passage[passage];
    char text[800];
    int named[2];
    if (p->sentence < 0)
        return 0;
    const struct lab_passage *const of = &document->passage[p->sentence];
    lab_squeeze(document->source, of->begin, of->end, text, sizeof text);
    named[0] = strstr(text, "q_1") || strstr(text, "c_1") || strstr(text, "head1");
    named[1] = strstr(text, "q_2") || strstr(text, "c_2") || strstr(text, "head2");
    return named[0] == named[1] ? 0 : named[0] ? 1 : 2;
}

int lab_passage_refers_back(const struct lab_document *document, int passage)
{
    static const char *const words[] = {"part(i)", "parti,", "Part(i)", "In(a-i)",
                                        "In(i),",  "(c)-i,", "(c-i)",   "in(i)",
                                        "(a-i)",   "part1,", "partI,"};
    const struct lab_passage *const p = &document->passage[passage];
    const struct lab_passage *const of =
        p->sentence >= 0 ? &document->passage[p->sentence] : p;
    char text[600];
    if (p->kind == LAB_PASSAGE_SENTENCE || p->sentence < 0)
        return 0;
    lab_squeeze(document->source, of->begin, of->end, text, sizeof text);
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (strstr(text, words[i]))
            return 1;
    return 0;
}

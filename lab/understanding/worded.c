/* SPDX-License-Identifier: MIT */
/* Relations in words between two formulas, "c is approximately v_j". */
#include <stdio.h>
#include <string.h>

#include "lab/understanding/chains.h"
#include "lab/understanding/grammar.h"

enum { SIDE = 200 };

/* The source of a token: a formula with its passage's end, or a word. */
static int side_of(const struct lab_document *document, int sentence,
                   const struct lab_word *token, char to[SIDE])
{
    static const struct {
        const char *words, *as;
    } named[] = {
        {"output|outputs", "c"}, {"average|mean", "(v_a + v_b)/2"},
        {"half", "1/2"},         {"one", "1"},
        {"zero", "0"},
    };
    for (int p = sentence + 1; p < document->count; p++) {
        const struct lab_passage *const passage = &document->passage[p];
        if (passage->begin > token->begin || passage->kind != LAB_PASSAGE_FORMULA)
            break;
        if (passage->begin == token->begin && passage->end - passage->begin < SIDE) {
            snprintf(to, SIDE, "%.*s", (int)(passage->end - passage->begin),
                     document->source + passage->begin);
            return strpbrk(to, "=<>~") == NULL;
        }
    }
    for (size_t i = 0; i < sizeof named / sizeof named[0]; i++)
        if (!token->formula &&
            lab_in_alternatives(token->text, named[i].words, strlen(named[i].words))) {
            snprintf(to, SIDE, "%s", named[i].as);
            return 1;
        }
    const size_t length = strlen(token->text);
    if ((!token->formula && length > 1) || length >= SIDE)
        return 0;
    snprintf(to, SIDE, "%s", token->text);
    return length > 1 || strchr("cC", *to) != NULL;
}

/* "is about", "is very close to the", "tends to": the token behind it, or 0. */
static int behind_relation(const struct lab_sentence *s, int i)
{
    static const char near[] =
        "about|approximately|nearly|almost|roughly|practically|close|"
        "near|around|essentially|basically";
    const int verb = lab_is_one_of(s, i, "is|are|stays|becomes|remains|be");
    int at = i + verb, found = 0;
    if (lab_is_one_of(s, i, "tends|tend|converges|converge|goes")) {
        at = i + 1;
        found = lab_is_one_of(s, at, "to");
    }
    for (int more = 0; more < 4; more++) {
        if (lab_is_one_of(s, at, near)) {
            found = 1;
            at++;
        } else if (lab_is_one_of(s, at,
                                 "very|both|then|the|to|equal|value|of|same|as|all|"
                                 "up") &&
                   (found || lab_is_one_of(s, at, "very|both|then")))
            at++;
        else
            break;
    }
    return found && (verb || i < at) ? at : 0;
}

int lab_worded_claims(struct lab_reader *reader, const struct lab_sentence *sentence,
                      int passage)
{
    const enum lab_subject subject = reader->settled.subject;
    int applied = 0;
    if (subject == LAB_SUBJECT_EXTRACT || lab_on_tokens(&reader->settled))
        return 0;
    for (int i = 1; i + 1 < sentence->count && applied < 3; i++) {
        char left[SIDE], right[SIDE], text[2 * SIDE + 16];
        const int behind = behind_relation(sentence, i);
        if (!behind || behind >= sentence->count || behind == i ||
            !side_of(reader->document, passage, &sentence->token[i - 1], left) ||
            !side_of(reader->document, passage, &sentence->token[behind], right) ||
            !strcmp(left, right))
            continue;
        if (i > 1 && lab_is_one_of(sentence, i - 2, "if|when|whenever|assume|suppose"))
            continue;
        snprintf(text, sizeof text, "%s \\approx %s", left, right);
        if (lab_formula_read(text, 0, strlen(text), 0, &reader->formula) ||
            reader->formula.chains != 1)
            continue;
        reader->settled.range = lab_range_before(&reader->letters, sentence, i - 1);
        const int status = lab_chain_claims(reader, 0);
        reader->settled.range.on = 0;
        if (status)
            return -1;
        applied++;
        i = behind;
    }
    return applied;
}

/* SPDX-License-Identifier: MIT */
/* Where the sheets contradict each other: who says what, and whom the verdicts leave. */
#include <stdio.h>
#include <string.h>

#include "lab/sheets/judge.h"

enum { SIDES_MAX = 3, VOICES_MAX = 5 };

struct side {
    const char *says;
    const char *voice[VOICES_MAX]; /* ids; the first one's numbers are shown */
};

static const struct point {
    const char *question;
    struct side side[SIDES_MAX];
} points[LAB_DISPUTES] = {
    {"Which matrix extracts v_a from v_a + v_b?",
     {{"A^T", {"001-10", "001-7"}}, {"A A^T", {"003-5", "004-7"}}}},
    {"Does q = mu_a without a scale copy v_a?",
     {{"yes", {"001-19", "003-12", "004-17"}}, {"no, C >> 0 is needed", {"000-13"}}}},
    {"Is scale 1 enough for the average of two?",
     {{"one head needs a large scale", {"003-7", "003-6", "000-2"}},
      {"two heads of scale 1 give it", {"001-19", "004-19"}}}},
    {"Which keys vary in magnitude?",
     {{"k_a and k_b", {"000-8", "000-14"}}, {"k_a alone", {"003-10", "001-15"}}}},
    {"How do k_a and k_b lie?",
     {{"in the same direction", {"000-7"}},
      {"orthogonal, scores gamma C and C", {"001-15", "003-14"}}}},
    {"How far does gamma go?",
     {{"from .5 to 1.5", {"001-13"}}, {"N(1, 1/2), without bounds", {"001-14"}}}},
    {"What are the two weights when the scores of a and b differ?",
     {{"inverse exponentials", {"000-10"}},
      {"1/(1+e^b) for scores b, -b", {"004-15"}},
      {"the two-term softmax", {"001-16", "000-9"}}}},
    {"Which two heads give the average?",
     {{"C mu_a and C mu_b", {"000-13"}},
      {"beta(mu_a+mu_b) and beta(mu_a-mu_b)", {"002-21", "002-23"}}}},
    {"Does the noise of k_a reach head 2?",
     {{"not with q2 along mu_b", {"003-14"}},
      {"yes, with q2 along mu_a - mu_b", {"002-24"}},
      {"heads are independent because their queries differ", {"001-21"}}}},
    {"What do two heads do to the noise?",
     {{"fluctuations cancel", {"002-25"}},
      {"the average of a varying and a constant head varies less", {"001-23"}}}},
    {"Is c the average under magnitude noise?",
     {{"yes, with unscaled heads", {"004-19", "001-22"}},
      {"yes, with heads of scale C", {"000-16", "000-15"}},
      {"not with one head", {"003-11", "001-18"}}}},
    {"Do the scores move with the tokens?",
     {{"S stays, line 76", {"002-12"}},
      {"softmax(S) moves on one side, line 80", {"002-13"}},
      {"the output moves with the tokens", {"002-14"}}}},
    {"What counts the keys in the weight of the average?",
     {{"n", {"002-9", "003-7"}}, {"m", {"001-11"}}, {"alpha", {"004-8"}}}},
};

static int judge_voice(const char *id, const struct lab_judgement *judgements,
                       struct lab_judgement *judgement)
{
    const int index = lab_sheets_index(id);
    if (index < 0)
        return -1;
    if (!judgements)
        return lab_sheets_judge(index, LAB_CHARITY, judgement);
    *judgement = judgements[index];
    return 0;
}

/* Exact before approximate before misprinted before wrong. */
static int rank(enum lab_verdict verdict)
{
    static const int ranks[] = {
        [LAB_HOLDS] = 3, [LAB_LIMIT] = 2, [LAB_SLIP] = 1, [LAB_FAILS] = 0};
    return ranks[verdict];
}

/*
 * A side stands as well as the worst of its voices.  `telling` is the first voice, or
 * where one is wrong, that one.
 */
static int hear_side(const struct side *side, const struct lab_judgement *judgements,
                     char *text, size_t size, struct lab_judgement *telling)
{
    int worst = rank(LAB_HOLDS);
    lab_judge_append(text, size, "%s%s: ", *text ? "; " : "", side->says);
    for (int v = 0; v < VOICES_MAX && side->voice[v]; v++) {
        struct lab_judgement judgement;
        if (judge_voice(side->voice[v], judgements, &judgement))
            return -1;
        if (v == 0 || (judgement.verdict == LAB_FAILS && worst > rank(LAB_FAILS)))
            *telling = judgement;
        if (rank(judgement.verdict) < worst)
            worst = rank(judgement.verdict);
        lab_judge_append(text, size, "%s%s %s", v ? ", " : "", judgement.id,
                         lab_verdict_name(judgement.verdict));
    }
    return worst;
}

/* The part of a text from `start` to the first of `end`, or all of it. */
static int tell_part(const char *from, const char *start, const char *end, char *text,
                     size_t size)
{
    const char *const part = strstr(from, start);
    if (!part)
        return -1;
    const char *const stop = strstr(part, end);
    size_t length = stop ? (size_t)(stop - part) : strlen(part);
    while (length && part[length - 1] == '.')
        length--;
    lab_judge_append(text, size, "%.*s", (int)length, part);
    return 0;
}

/* The number that decides: what stays, where an error is small, what was computed. */
static void tell_number(const struct lab_judgement *judgement, char *text, size_t size)
{
    const char *const evidence = judgement->evidence;
    const int slip = judgement->verdict == LAB_SLIP;

    lab_judge_append(text, size, "%s: ", judgement->id);
    if ((slip && !tell_part(evidence, "means ", ". ", text, size)) ||
        !tell_part(evidence, "off by ", "\n", text, size) ||
        !tell_part(judgement->holds_when, "error below", "]", text, size) ||
        !tell_part(evidence, "The error vanishes", "\n", text, size) ||
        !tell_part(evidence, "computed ", ". ", text, size) ||
        !tell_part(evidence, "with ", " where", text, size))
        return;
    tell_part(evidence, "As printed", ". ", text, size);
}

/* A misprint is right only where nobody has it right as printed. */
static int least_rank(const int *stands)
{
    for (int s = 0; s < SIDES_MAX; s++)
        if (stands[s] > rank(LAB_SLIP))
            return rank(LAB_LIMIT);
    return rank(LAB_SLIP);
}

int lab_sheets_dispute(int index, const struct lab_judgement *judgements,
                       struct lab_dispute *dispute)
{
    if (index < 0 || index >= LAB_DISPUTES)
        return -1;
    const struct point *const point = &points[index];
    struct lab_judgement telling[SIDES_MAX];
    char *const right = dispute->right;
    const size_t size = sizeof dispute->right;
    int stands[SIDES_MAX] = {0}, standing = 0;

    memset(dispute, 0, sizeof *dispute);
    dispute->question = point->question;
    for (int s = 0; s < SIDES_MAX && point->side[s].says; s++) {
        stands[s] = hear_side(&point->side[s], judgements, dispute->sides,
                              sizeof dispute->sides, &telling[s]);
        if (stands[s] < 0)
            return -1;
    }
    for (int s = 0; s < SIDES_MAX && point->side[s].says; s++)
        if (stands[s] >= least_rank(stands)) {
            lab_judge_append(right, size, "%s%s (", standing++ ? "; " : "",
                             point->side[s].says);
            tell_number(&telling[s], right, size);
            lab_judge_append(right, size, ")");
        }
    if (!standing)
        lab_judge_append(right, size, "none of them");
    for (int s = 0; s < SIDES_MAX && point->side[s].says; s++)
        if (stands[s] < least_rank(stands)) {
            lab_judge_append(right, size, "; not: %s (", point->side[s].says);
            tell_number(&telling[s], right, size);
            lab_judge_append(right, size, ")");
        }
    return 0;
}

int lab_sheets_dispute_has(int index, const char *sheet)
{
    for (int s = 0; s < SIDES_MAX; s++)
        for (int v = 0; v < VOICES_MAX; v++) {
            const char *const voice = points[index].side[s].voice[v];
            if (voice && !strncmp(voice, sheet, 3))
                return 1;
        }
    return 0;
}

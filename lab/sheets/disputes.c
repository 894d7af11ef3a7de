/* SPDX-License-Identifier: MIT */
/* Contradictions between the sheets: positions, and which of them stand. */
#include <string.h>

#include "lab/judge/claim.h"
#include "lab/sheets/dispute.h"

/* By the reading that `judgements` have. */
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

/* By charity: positions are paraphrased, so that the letter does not apply. */
static int judge_decider(const char *id, const struct lab_judgement *judgements,
                         struct lab_judgement *judgement)
{
    const int index = lab_sheets_index(id);
    const int judged =
        judgements && index >= 0 && judgements[index].reading == LAB_CHARITY;
    return judge_voice(id, judged ? judgements : NULL, judgement);
}

/* Exact before approximate before misprinted before wrong. */
static int rank(enum lab_verdict verdict)
{
    static const int ranks[] = {
        [LAB_HOLDS] = 3, [LAB_LIMIT] = 2, [LAB_SLIP] = 1, [LAB_FAILS] = 0};
    return ranks[verdict];
}

/* Adds who takes a side, with the verdicts; 0, or -1. */
static int add_voices(const char *const *voice, const char *comma,
                      const struct lab_judgement *judgements, struct lab_text *text)
{
    for (int v = 0; v < LAB_VOICES && voice[v]; v++, comma = ", ") {
        struct lab_judgement judgement;
        if (judge_voice(voice[v], judgements, &judgement))
            return -1;
        lab_text_add(text, "%s%s %s", comma, judgement.id,
                     lab_verdict_word(judgement.verdict));
    }
    return 0;
}

/*
 * The rank of a side, that of the worst statement that decides it, or -1.  `deciding` is
 * the first of these, or where one is wrong, that one.
 */
static int weigh_side(const struct lab_side *side, const struct lab_judgement *judgements,
                      struct lab_judgement *deciding)
{
    int worst = rank(LAB_HOLDS);
    for (int v = 0; v < LAB_VOICES && side->decided_by[v]; v++) {
        struct lab_judgement judgement;
        if (judge_decider(side->decided_by[v], judgements, &judgement))
            return -1;
        if (v == 0 || (judgement.verdict == LAB_FAILS && worst > rank(LAB_FAILS)))
            *deciding = judgement;
        if (rank(judgement.verdict) < worst)
            worst = rank(judgement.verdict);
    }
    return worst;
}

static int add_number(const struct lab_exercise *exercise,
                      const struct lab_decider *decider, struct lab_text *text)
{
    struct lab_point at = decider->at;
    struct lab_findings found;
    char why[LAB_WHY];

    at.exercise = exercise;
    if (lab_claim_evaluate(&decider->claim, &at, &found, why))
        return -1;
    const struct lab_finding *const link = &found.link[0];
    lab_text_add(text, "%s is %.4g", decider->what,
                 link->sign == '~' ? link->error : link->computed);
    return 0;
}

/* "; not: A^T (001-10: ...)": a side with its deciding statement; 0, or -1. */
static int add_side(const struct lab_exercise *exercise, const struct lab_side *side,
                    const struct lab_judgement *deciding, struct lab_text *text)
{
    lab_text_add(text, "%s (%s: ", side->says, deciding->id);
    for (int i = 0; i < LAB_DECIDERS && side->number[i].what; i++) {
        lab_text_add(text, "%s", i ? ", " : "");
        if (add_number(exercise, &side->number[i], text))
            return -1;
    }
    lab_text_add(text, "%s)", side->number[0].what ? "" : deciding->reason);
    return 0;
}

/* A misprint counts as right only if no side is right as printed. */
static int least_rank(const int *stands)
{
    for (int s = 0; s < LAB_SIDES; s++)
        if (stands[s] > rank(LAB_SLIP))
            return rank(LAB_LIMIT);
    return rank(LAB_SLIP);
}

/* Who is right, then who is not. */
static int settle(const struct lab_exercise *exercise,
                  const struct lab_disputed *disputed,
                  const struct lab_judgement *judgements, struct lab_text *text)
{
    struct lab_judgement deciding[LAB_SIDES];
    int stands[LAB_SIDES] = {0}, added = 0;

    for (int s = 0; s < LAB_SIDES && disputed->side[s].says; s++) {
        stands[s] = weigh_side(&disputed->side[s], judgements, &deciding[s]);
        if (stands[s] < 0)
            return -1;
    }
    for (int wrong = 0; wrong < 2; wrong++) {
        for (int s = 0; s < LAB_SIDES && disputed->side[s].says; s++) {
            if ((stands[s] < least_rank(stands)) != wrong)
                continue;
            lab_text_add(text, "%s%s", added++ ? "; " : "", wrong ? "not: " : "");
            if (add_side(exercise, &disputed->side[s], &deciding[s], text))
                return -1;
        }
        if (!added) {
            lab_text_add(text, "none of them");
            added = 1;
        }
    }
    return 0;
}

int lab_sheets_dispute(int index, const struct lab_judgement *judgements,
                       struct lab_dispute *dispute)
{
    if (index < 0 || index >= LAB_DISPUTES)
        return -1;
    const struct lab_disputed *const disputed = &lab_disputed[index];
    struct lab_text sides = {dispute->sides, sizeof dispute->sides, 0};
    struct lab_text right = {dispute->right, sizeof dispute->right, 0};
    struct lab_exercise exercise;

    memset(dispute, 0, sizeof *dispute);
    dispute->question = disputed->question;
    for (int s = 0; s < LAB_SIDES && disputed->side[s].says; s++) {
        const struct lab_side *const side = &disputed->side[s];
        lab_text_add(&sides, "%s%s: ", s ? "; " : "", side->says);
        if (add_voices(side->decided_by, "", judgements, &sides) ||
            add_voices(side->also, ", ", judgements, &sides))
            return -1;
    }
    int status = lab_exercise_open(&exercise);
    if (!status)
        status = settle(&exercise, disputed, judgements, &right);
    lab_exercise_close(&exercise);
    return status || sides.is_cut || right.is_cut ? -1 : 0;
}

static int has(const char *const *voice, const char *sheet)
{
    for (int v = 0; v < LAB_VOICES && voice[v]; v++)
        if (!strncmp(voice[v], sheet, 3))
            return 1;
    return 0;
}

int lab_sheets_dispute_has(int index, const char *sheet)
{
    for (int s = 0; s < LAB_SIDES; s++) {
        const struct lab_side *const side = &lab_disputed[index].side[s];
        if (has(side->decided_by, sheet) || has(side->also, sheet))
            return 1;
    }
    return 0;
}

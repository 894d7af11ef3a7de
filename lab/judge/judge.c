/* SPDX-License-Identifier: MIT */
/* The rules, in their order. */
#include "lab/judge/claim.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* A field of a judgement as a text to add to. */
#define TEXT_OF(field) ((struct lab_text){(field), sizeof(field), 0})

/* 0, or -1 where a text is too long for its field. */
static int set_words(const struct lab_claim *claim, const struct lab_trace *trace,
                     struct lab_judgement *judgement)
{
    struct lab_text condition = TEXT_OF(judgement->holds_when);
    struct lab_text evidence = TEXT_OF(judgement->evidence);
    struct lab_text reason = TEXT_OF(judgement->reason);

    lab_judge_condition(claim, trace, &condition);
    lab_judge_evidence(claim, trace, judgement->reading, &evidence);
    if (!*judgement->reason)
        lab_judge_case(claim, trace, &reason);
    judgement->measured =
        trace->cases ? trace->against.conclusion : trace->found.computed;
    judgement->expected = trace->cases ? 0 : trace->found.claimed;
    judgement->has_point = !trace->cases;
    judgement->n = trace->worst.n;
    judgement->scale = claim->grows ? trace->worst.scale : NAN;
    judgement->alpha = trace->worst.alpha;
    return condition.is_cut || evidence.is_cut || reason.is_cut ? -1 : 0;
}

/* An ill-formed claim: a slip if its repair is well formed and true, else it fails. */
static int judge_repaired(const struct lab_exercise *exercise,
                          const struct lab_statement *statement, const char *why,
                          struct lab_judgement *judgement)
{
    const struct lab_repair *const repair = &statement->repair;
    struct lab_repaired repaired;
    struct lab_trace trace;
    char still[LAB_WHY] = "";
    struct lab_text text = TEXT_OF(judgement->evidence);
    struct lab_text reason = TEXT_OF(judgement->reason);

    lab_text_add(&reason, "As printed, %s", why);
    lab_text_add(&text, "%s. ", judgement->reason);
    judgement->verdict = LAB_FAILS;
    judgement->measured = judgement->expected = NAN;
    if (!repair->as || lab_repair_apply(repair, &statement->claim, &repaired)) {
        judgement->invariant = 1;
        lab_text_add(&text, "No line of the sheet has a symbol that would mend it.");
        return text.is_cut ? -1 : 0;
    }
    lab_text_add(&text, "Repaired (%s -> %s, %s): ", repair->put[0].from,
                 repair->put[0].to, repair->as);
    const int status =
        lab_trace_claim(exercise, &repaired.claim, judgement->reading, &trace, still);
    if (status == LAB_ILL_FORMED)
        lab_text_add(&text, "still ill-formed, %s.", still);
    if (status)
        return status < 0 || text.is_cut ? -1 : 0;
    if (lab_trace_verdict(&trace, judgement->reading) != LAB_FAILS)
        judgement->verdict = LAB_SLIP;
    return set_words(&repaired.claim, &trace, judgement);
}

static int judge_one(const struct lab_exercise *exercise,
                     const struct lab_statement *statement, enum lab_strictness reading,
                     struct lab_judgement *judgement)
{
    const struct lab_claim *const claim = &statement->claim;
    struct lab_text condition = TEXT_OF(judgement->holds_when);
    struct lab_trace trace;
    char why[LAB_WHY] = "";

    *judgement = (struct lab_judgement){.line = statement->line,
                                        .says = statement->says,
                                        .quote = statement->quote,
                                        .quoted = statement->quoted,
                                        .reading = reading};
    snprintf(judgement->id, sizeof judgement->id, "%s", statement->id);
    snprintf(judgement->sheet, sizeof judgement->sheet, "%.3s", statement->id);
    lab_text_add(&condition, "%s", statement->exact);
    int status = lab_symbol_keeps(&claim->symbol, why)
                     ? lab_trace_claim(exercise, claim, reading, &trace, why)
                     : LAB_ILL_FORMED;
    if (status == LAB_ILL_FORMED)
        return judge_repaired(exercise, statement, why, judgement);
    if (status || condition.is_cut)
        return -1;
    judgement->verdict = lab_trace_verdict(&trace, reading);
    judgement->invariant = lab_trace_invariant(&trace, reading);
    return set_words(claim, &trace, judgement);
}

/* Whether the readings free different things, or an "=" may mean "~". */
static int can_differ(const struct lab_statement *statement)
{
    const struct lab_claim *const claim = &statement->claim;
    return claim->free != claim->called ||
           (claim->text && claim->free && strchr(claim->text, '='));
}

int lab_judge(const struct lab_exercise *exercise, const struct lab_statement *statement,
              enum lab_strictness reading, struct lab_judgement *judgement)
{
    const enum lab_strictness other = reading == LAB_LETTER ? LAB_CHARITY : LAB_LETTER;
    struct lab_judgement otherwise;

    if (judge_one(exercise, statement, reading, judgement))
        return -1;
    otherwise = *judgement;
    if (can_differ(statement) && judge_one(exercise, statement, other, &otherwise))
        return -1;
    judgement->readings_agree = judgement->verdict == otherwise.verdict;
    return 0;
}

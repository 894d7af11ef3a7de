/* SPDX-License-Identifier: MIT */
/* The rules, in their order. */
#include "lab/sheets/judge.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static void tell(const struct lab_claim *claim, const struct lab_trace *trace,
                 struct lab_judgement *judgement)
{
    const enum lab_reading reading = judgement->reading;
    lab_judge_condition(claim, trace, judgement->holds_when,
                        sizeof judgement->holds_when);
    lab_judge_evidence(claim, trace, reading, judgement->evidence,
                       sizeof judgement->evidence);
    judgement->measured =
        trace->cases ? trace->against.conclusion : trace->found.measured;
    judgement->expected = trace->cases ? 0 : trace->found.expected;
    judgement->has_point = !trace->cases;
    judgement->n = trace->worst.n;
    judgement->scale = claim->grows ? trace->worst.scale : NAN;
    judgement->alpha = trace->worst.alpha;
}

/* An ill-formed claim: a slip if its repair is well formed and true, else it fails. */
static int judge_repaired(const struct lab_exercise *exercise,
                          const struct lab_statement *statement,
                          const struct lab_claim *printed, const char *why,
                          struct lab_judgement *judgement)
{
    const struct lab_repair *const repair = &statement->repair;
    struct lab_repaired repaired;
    struct lab_trace trace;
    char still[200] = "";
    char *const text = judgement->evidence;
    const size_t size = sizeof judgement->evidence;

    lab_judge_append(text, size, "As printed, %s. ", why);
    judgement->verdict = LAB_FAILS;
    judgement->measured = judgement->expected = NAN;
    if (!repair->as || lab_repair_apply(repair, printed, &repaired)) {
        judgement->invariant = 1;
        lab_judge_append(text, size,
                         "No line of the sheet has a symbol that would mend it.");
        return 0;
    }
    lab_judge_append(text, size, "Repaired (%s -> %s, %s): ", repair->put[0].from,
                     repair->put[0].to, repair->as);
    const int status = lab_trace_claim(exercise, &repaired.claim, judgement->reading,
                                       &trace, still, sizeof still);
    if (status == LAB_ILL_FORMED)
        lab_judge_append(text, size, "still ill-formed, %s.", still);
    if (status)
        return status < 0 ? -1 : 0;
    if (lab_trace_verdict(&trace, judgement->reading) != LAB_FAILS)
        judgement->verdict = LAB_SLIP;
    tell(&repaired.claim, &trace, judgement);
    return 0;
}

static int judge_one(const struct lab_exercise *exercise,
                     const struct lab_statement *statement, enum lab_reading reading,
                     struct lab_judgement *judgement)
{
    const struct lab_claim *const claim = &statement->claim;
    struct lab_trace trace;
    char why[200] = "";

    memset(judgement, 0, sizeof *judgement);
    snprintf(judgement->id, sizeof judgement->id, "%s", statement->id);
    snprintf(judgement->sheet, sizeof judgement->sheet, "%.3s", statement->id);
    snprintf(judgement->holds_when, sizeof judgement->holds_when, "%s", statement->exact);
    judgement->line = statement->line;
    judgement->says = statement->says;
    judgement->quote = statement->quote;
    judgement->quoted = statement->quoted;
    judgement->reading = reading;
    int status = lab_symbol_keeps(&claim->symbol, why, sizeof why)
                     ? lab_trace_claim(exercise, claim, reading, &trace, why, sizeof why)
                     : LAB_ILL_FORMED;
    if (status == LAB_ILL_FORMED)
        return judge_repaired(exercise, statement, claim, why, judgement);
    if (status)
        return -1;
    judgement->verdict = lab_trace_verdict(&trace, reading);
    judgement->invariant = lab_trace_invariant(&trace, reading);
    tell(claim, &trace, judgement);
    return 0;
}

/* What one reading lets go and the other does not, or an "=" that may be none. */
static int can_differ(const struct lab_statement *statement)
{
    const struct lab_claim *const claim = &statement->claim;
    return claim->free != claim->called ||
           (claim->text && claim->free && strchr(claim->text, '='));
}

int lab_judge(const struct lab_exercise *exercise, const struct lab_statement *statement,
              enum lab_reading reading, struct lab_judgement *judgement)
{
    const enum lab_reading other = reading == LAB_LETTER ? LAB_CHARITY : LAB_LETTER;
    struct lab_judgement otherwise;

    if (judge_one(exercise, statement, reading, judgement))
        return -1;
    otherwise = *judgement;
    if (can_differ(statement) && judge_one(exercise, statement, other, &otherwise))
        return -1;
    judgement->readings_agree = judgement->verdict == otherwise.verdict;
    return 0;
}

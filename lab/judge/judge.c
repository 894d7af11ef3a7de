/* SPDX-License-Identifier: MIT */
/* The rules, in their order. */
#include "lab/judge/claim.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* A field of a judgement as a text to add to. */
#define TEXT_OF(field) ((struct lab_text){(field), sizeof(field), 0})

/* The number that decides: of a limit, in the regime that it speaks of. */
static void set_number(const struct lab_claim *claim, const struct lab_trace *trace,
                       struct lab_judgement *judgement)
{
    const int is_limit =
        trace->limit.needs && lab_trace_verdict(trace, judgement->reading) == LAB_LIMIT;
    const struct lab_finding *const found =
        is_limit ? &trace->regime_found : &trace->found;
    const struct lab_point *const at = is_limit ? &trace->regime : &trace->worst;

    /* Of a limit over draws it is the error, which is near 0. */
    const int is_error = is_limit && found->drawn;
    judgement->measured = trace->cases ? trace->against.conclusion
                          : is_error   ? found->error
                                       : found->computed;
    judgement->expected = trace->cases || is_error ? 0 : found->claimed;
    judgement->has_point = !trace->cases;
    judgement->n = at->n;
    judgement->scale = claim->grows ? at->scale : NAN;
    judgement->alpha = at->alpha;
}

/* 0, or -1 where a text is too long for its field. */
static int set_words(const struct lab_claim *claim, const struct lab_trace *trace,
                     const char *scan, struct lab_judgement *judgement)
{
    struct lab_text condition = TEXT_OF(judgement->holds_when);
    struct lab_text evidence = TEXT_OF(judgement->evidence);
    struct lab_text reason = TEXT_OF(judgement->reason);

    lab_judge_condition(claim, trace, &condition);
    lab_judge_evidence(claim, trace, judgement->reading, &evidence);
    if (scan)
        lab_text_add(&evidence, " %s", scan);
    if (!*judgement->reason)
        lab_judge_case(claim, trace, &reason);
    set_number(claim, trace, judgement);
    return condition.is_cut || evidence.is_cut || reason.is_cut ? -1 : 0;
}

/* What is wrong as printed, and the repair. */
static void tell_repair(const struct lab_repair *repair, const char *why,
                        struct lab_judgement *judgement)
{
    struct lab_text text = TEXT_OF(judgement->evidence);
    struct lab_text reason = TEXT_OF(judgement->reason);

    lab_text_add(&reason, "As printed, %s", why);
    lab_text_add(&text, "%s. %s one symbol repaired (", judgement->reason,
                 judgement->verdict == LAB_SLIP ? "With" : "Even with");
    if (repair->says)
        lab_text_add(&text, "%s", repair->says);
    else
        lab_text_add(&text, "%s -> %s", repair->put[0].from, repair->put[0].to);
    lab_text_add(&text, ", %s): ", repair->as);
}

/*
 * The repair of a claim that is wrong or, where `is_ill_formed`, makes no sense as
 * printed.  0: it decides; 1: it changes nothing; or -1.
 */
static int judge_repaired(const struct lab_exercise *exercise,
                          const struct lab_statement *statement,
                          const struct lab_claim *claim, const char *why,
                          int is_ill_formed, struct lab_judgement *judgement)
{
    struct lab_repaired repaired;
    struct lab_trace trace;
    char still[LAB_WHY] = "";

    if (!statement->repair.as || lab_repair_apply(&statement->repair, claim, &repaired))
        return 1;
    const int status =
        lab_trace_claim(exercise, &repaired.claim, judgement->reading, &trace, still);
    if (status)
        return status == LAB_ILL_FORMED ? 1 : -1;
    const int fails = lab_trace_verdict(&trace, judgement->reading) == LAB_FAILS;
    judgement->invariant &= lab_trace_invariant(&trace, judgement->reading);
    if (fails && !is_ill_formed)
        return 1;
    judgement->verdict = fails ? LAB_FAILS : LAB_SLIP;
    tell_repair(&statement->repair, why, judgement);
    return set_words(&repaired.claim, &trace, statement->scan, judgement);
}

/* Without a repair that would help. */
static int set_ill_formed(const struct lab_statement *statement, const char *why,
                          struct lab_judgement *judgement)
{
    struct lab_text text = TEXT_OF(judgement->evidence);
    struct lab_text reason = TEXT_OF(judgement->reason);

    judgement->verdict = LAB_FAILS;
    judgement->measured = judgement->expected = NAN;
    judgement->invariant = 1;
    lab_text_add(&reason, "As printed, %s", why);
    lab_text_add(&text, "%s. No change of one symbol would mend it.", judgement->reason);
    if (statement->scan)
        lab_text_add(&text, " %s", statement->scan);
    return text.is_cut ? -1 : 0;
}

/* The claim as a reading has it; `text` is room for its links. */
static struct lab_claim read_claim(const struct lab_claim *claim,
                                   enum lab_strictness reading, char text[LAB_CLAIM_TEXT])
{
    struct lab_claim read = *claim;
    if (reading == LAB_LETTER && claim->argument.letter)
        read.text = NULL;
    if (reading == LAB_LETTER && claim->because) {
        snprintf(text, LAB_CLAIM_TEXT, "%s; %s", claim->because, claim->text);
        read.text = text;
    }
    return read;
}

static int judge_one(const struct lab_exercise *exercise,
                     const struct lab_statement *statement, enum lab_strictness reading,
                     struct lab_judgement *judgement)
{
    char links[LAB_CLAIM_TEXT], why[LAB_WHY] = "";
    const struct lab_claim claim = read_claim(&statement->claim, reading, links);
    struct lab_text condition = TEXT_OF(judgement->holds_when);
    struct lab_trace trace;

    *judgement = (struct lab_judgement){.line = statement->line,
                                        .says = statement->says,
                                        .quote = statement->quote,
                                        .quoted = statement->quoted,
                                        .reading = reading,
                                        .verdict = LAB_FAILS};
    snprintf(judgement->id, sizeof judgement->id, "%s", statement->id);
    snprintf(judgement->sheet, sizeof judgement->sheet, "%.3s", statement->id);
    lab_text_add(&condition, "%s", statement->exact);
    int status = lab_symbol_keeps(&claim.symbol, why)
                     ? lab_trace_claim(exercise, &claim, reading, &trace, why)
                     : LAB_ILL_FORMED;
    const int is_ill_formed = status == LAB_ILL_FORMED;
    if (status < 0 || condition.is_cut)
        return -1;
    if (!is_ill_formed) {
        judgement->verdict = lab_trace_verdict(&trace, reading);
        judgement->invariant = lab_trace_invariant(&trace, reading);
    }
    if (judgement->verdict == LAB_FAILS) {
        struct lab_text words = TEXT_OF(why);
        if (!is_ill_formed)
            lab_judge_refutation(&claim, &trace, &words);
        status = words.is_cut ? -1
                              : judge_repaired(exercise, statement, &claim, why,
                                               is_ill_formed, judgement);
        if (status <= 0)
            return status;
    }
    return is_ill_formed ? set_ill_formed(statement, why, judgement)
                         : set_words(&claim, &trace, statement->scan, judgement);
}

/* Whether the readings free different things, or an "=" may mean "~". */
static int can_differ(const struct lab_statement *statement)
{
    const struct lab_claim *const claim = &statement->claim;
    return claim->free != claim->called || claim->because ||
           (claim->text && claim->argument.letter) ||
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
    judgement->otherwise = otherwise.verdict;
    judgement->readings_agree = judgement->verdict == otherwise.verdict;
    return 0;
}

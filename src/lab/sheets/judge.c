/* SPDX-License-Identifier: MIT */
/* The rules, in their order, and the words for what they found. */
#include "lab/sheets/judge.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const char *lab_verdict_name(enum lab_verdict verdict)
{
    static const char *const names[] = {[LAB_HOLDS] = "holds",
                                        [LAB_LIMIT] = "limit",
                                        [LAB_FAILS] = "fails",
                                        [LAB_SLIP] = "slip"};
    return names[verdict];
}

const char *lab_reading_name(enum lab_reading reading)
{
    return reading == LAB_LETTER ? "letter" : "charity";
}

void lab_judge_append(char *text, size_t size, const char *format, ...)
{
    const size_t used = strlen(text);
    va_list args;
    va_start(args, format);
    vsnprintf(text + used, size - used, format, args);
    va_end(args);
}

static enum lab_verdict verdict_of(const struct lab_trace *trace)
{
    if (trace->refuted)
        return LAB_FAILS;
    return trace->exact ? LAB_HOLDS : trace->vanishes ? LAB_LIMIT : LAB_FAILS;
}

/* "for n > 2, given gamma > 0, as C grows" */
static void tell_freedom(char *text, size_t size, const struct lab_claim *claim,
                         const struct lab_trace *trace)
{
    const unsigned needs = trace->needs;
    const char *const grows = claim->grows ? claim->grows : "the scale";
    const char *comma = "";
    if (needs & LAB_FREE_N) {
        lab_judge_append(text, size, "for n > 2");
        comma = ", ";
    }
    if (needs & LAB_FREE_EVENT) {
        lab_judge_append(text, size, "%sgiven gamma > 0", comma);
        comma = ", ";
    }
    if (needs & LAB_FREE_SCALE)
        lab_judge_append(text, size, "%sas %s grows", comma, grows);
    if (needs & LAB_FREE_SCALE && needs & LAB_FREE_ALPHA)
        lab_judge_append(text, size, " while alpha %s^2 -> 0", grows);
    else if (needs & LAB_FREE_ALPHA)
        lab_judge_append(text, size, "%sas alpha -> 0", comma);
}

static void tell_condition(char *text, size_t size, const struct lab_claim *claim,
                           const struct lab_trace *trace)
{
    if (!trace->vanishes)
        return;
    lab_judge_append(text, size, " [True ");
    tell_freedom(text, size, claim, trace);
    for (int i = 0; trace->needs & LAB_FREE_SCALE && i < 2; i++) {
        const int n = i ? 1000 : 10;
        if (trace->threshold[i] > 0)
            lab_judge_append(text, size, "%s %.3g at n = %d",
                             i ? "," : "; error below 0.01 from", trace->threshold[i], n);
        else
            lab_judge_append(text, size, "%s everywhere tried at n = %d",
                             i ? "," : "; error below 0.01", n);
    }
    lab_judge_append(text, size, "]");
}

static void tell_point(char *text, size_t size, const struct lab_claim *claim,
                       const struct lab_trace *trace)
{
    const struct lab_found *const reading = &trace->reading;
    if (!trace->same) {
        lab_judge_append(text, size, "n = %lld", (long long)trace->worst.n);
        if (claim->grows)
            lab_judge_append(text, size, ", %s = %g", claim->grows, trace->worst.scale);
        if (claim->free & LAB_FREE_ALPHA)
            lab_judge_append(text, size, ", alpha = %g", trace->worst.alpha);
        lab_judge_append(text, size, ": ");
    }
    lab_judge_append(text, size, "computed %.6g, claimed %s%.6g, error %.3g",
                     reading->measured,
                     reading->above > 0   ? "above "
                     : reading->above < 0 ? "below "
                                          : "",
                     reading->expected, reading->error);
    if (reading->se > 0)
        lab_judge_append(text, size, " (standard error %.2g)", reading->se);
}

static void tell_trace(char *text, size_t size, const struct lab_claim *claim,
                       const struct lab_trace *trace)
{
    if (trace->refuted) {
        lab_judge_append(text, size,
                         "Counterexample to the argument: %s: premise off by %.2g, "
                         "conclusion by %.4g.",
                         trace->against.text, trace->against.premise,
                         trace->against.conclusion);
        return;
    }
    if (trace->same)
        lab_judge_append(text, size, "At each of %d grid points: ", trace->points);
    else
        lab_judge_append(text, size, "%s of %d grid points, ",
                         trace->exact      ? "Largest error"
                         : trace->vanishes ? "Furthest off"
                                           : "Counterexample, the furthest off",
                         trace->points);
    tell_point(text, size, claim, trace);
    lab_judge_append(text, size, ".");
    if (trace->vanishes) {
        lab_judge_append(text, size, " The error vanishes ");
        tell_freedom(text, size, claim, trace);
        lab_judge_append(text, size, ": %.2g at the far end.", trace->residual);
    } else if (!trace->exact && claim->free)
        lab_judge_append(text, size, " With all that is free it stays at %.3g.",
                         trace->residual);
}

void lab_judge_words(const struct lab_statement *statement, const struct lab_claim *claim,
                     const struct lab_trace *trace, const char *why,
                     struct lab_judgement *judgement)
{
    char *const when = judgement->holds_when, *const text = judgement->evidence;
    const size_t room = sizeof judgement->holds_when, size = sizeof judgement->evidence;

    snprintf(when, room, "%s", statement->exact);
    tell_condition(when, room, claim, trace);
    text[0] = '\0';
    if (*why)
        lab_judge_append(text, size, "As printed, %s. ", why);
    if (claim == &statement->repaired)
        lab_judge_append(text, size, "Repaired (%s): ", statement->repair);
    tell_trace(text, size, claim, trace);
    judgement->measured =
        trace->refuted ? trace->against.conclusion : trace->reading.measured;
    judgement->expected = trace->refuted ? 0 : trace->reading.expected;
}

int lab_judge(const struct lab_exercise *exercise, const struct lab_statement *statement,
              struct lab_judgement *judgement)
{
    const struct lab_claim *const printed = &statement->printed;
    const struct lab_claim *const repaired = &statement->repaired;
    struct lab_trace trace;
    char why[200] = "", still[200] = "";

    memset(judgement, 0, sizeof *judgement);
    snprintf(judgement->id, sizeof judgement->id, "%s", statement->id);
    snprintf(judgement->sheet, sizeof judgement->sheet, "%.3s", statement->id);
    judgement->line = statement->line;
    judgement->says = statement->says;
    judgement->quote = statement->quote;
    judgement->quoted = statement->quoted;
    judgement->readings_agree = 1;
    if (!lab_well_formed(exercise, printed, why, sizeof why) && repaired->read &&
        lab_well_formed(exercise, repaired, still, sizeof still)) {
        if (lab_trace_claim(exercise, repaired, &trace))
            return -1;
        if (verdict_of(&trace) != LAB_FAILS) {
            judgement->verdict = LAB_SLIP;
            lab_judge_words(statement, repaired, &trace, why, judgement);
            return 0;
        }
        snprintf(still, sizeof still, "and it is false also when repaired (%s)",
                 statement->repair);
    }
    if (lab_trace_claim(exercise, printed, &trace))
        return -1;
    judgement->verdict = verdict_of(&trace);
    if (*still)
        lab_judge_append(why, sizeof why, "; %s", still);
    lab_judge_words(statement, printed, &trace, why, judgement);
    return 0;
}

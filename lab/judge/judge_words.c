/* SPDX-License-Identifier: MIT */
/* Verdicts and evidence in words. */
#include "lab/judge/claim.h"

const char *lab_verdict_name(enum lab_verdict verdict)
{
    static const char *const names[] = {[LAB_HOLDS] = "holds",
                                        [LAB_LIMIT] = "limit",
                                        [LAB_FAILS] = "fails",
                                        [LAB_SLIP] = "slip"};
    return names[verdict];
}

const char *lab_verdict_word(enum lab_verdict verdict)
{
    static const char *const words[] = {[LAB_HOLDS] = "true",
                                        [LAB_LIMIT] = "true in the limit",
                                        [LAB_FAILS] = "false",
                                        [LAB_SLIP] = "slip"};
    return words[verdict];
}

const char *lab_verdict_meaning(enum lab_verdict verdict)
{
    static const char *const meanings[] = {
        [LAB_HOLDS] = "exact, to 10^-9, at every size and scale that was tried",
        [LAB_LIMIT] = "the error vanishes as a quantity grows or vanishes that the sheet "
                      "leaves free, for n > 2, or where gamma > 0",
        [LAB_FAILS] = "there is a counterexample",
        [LAB_SLIP] = "wrong or ill formed as written, and true once one symbol is "
                     "repaired: a letter, a sign, an index, a norm, a factor or a side"};
    return meanings[verdict];
}

const char *lab_reading_name(enum lab_strictness reading)
{
    return reading == LAB_LETTER ? "letter" : "charity";
}

/* "for n > 2, given gamma > 0, as C grows" */
static void add_freedom(struct lab_text *text, const struct lab_claim *claim,
                        unsigned needs)
{
    const char *const grows = claim->grows ? claim->grows : "the scale";
    const char *comma = "";
    if (needs & LAB_FREE_N) {
        lab_text_add(text, "for n > 2");
        comma = ", ";
    }
    if (needs & LAB_FREE_EVENT) {
        lab_text_add(text, "%sgiven gamma > 0", comma);
        comma = ", ";
    }
    if (needs & LAB_FREE_SCALE)
        lab_text_add(text, "%sas %s grows", comma, grows);
    if (needs & LAB_FREE_SCALE && needs & LAB_FREE_ALPHA)
        lab_text_add(text, " while alpha %s^2 -> 0", grows);
    else if (needs & LAB_FREE_ALPHA)
        lab_text_add(text, "%sas alpha -> 0", comma);
}

/* Whether an order is claimed, or a difference, which has no error. */
static int is_order(const struct lab_finding *found)
{
    return found->sign != '=' && found->sign != '~';
}

void lab_judge_condition(const struct lab_claim *claim, const struct lab_trace *trace,
                         struct lab_text *text)
{
    if (!trace->limit.needs)
        return;
    const int order = is_order(&trace->regime_found);
    const char *const from = order ? "; from" : "; error below 0.01 from";
    const char *const below = order ? ";" : "; error below 0.01";
    lab_text_add(text, " [True ");
    add_freedom(text, claim, trace->limit.needs);
    for (int i = 0; trace->limit.needs & LAB_FREE_SCALE && i < 2; i++) {
        const int n = i ? 1000 : 10;
        if (trace->threshold[i] > 0)
            lab_text_add(text, "%s %.*f at n = %d", i ? "," : from,
                         trace->threshold[i] < 100 ? 2 : 0, trace->threshold[i], n);
        else
            lab_text_add(text, "%s everywhere tried at n = %d", i ? "," : below, n);
    }
    lab_text_add(text, "]");
}

/* "at n = 10, C = 2, alpha = 0.0001: " */
static void add_point(struct lab_text *text, const struct lab_claim *claim,
                      const struct lab_point *point)
{
    lab_text_add(text, "at n = %lld", (long long)point->n);
    if (claim->grows)
        lab_text_add(text, ", %s = %g", claim->grows, point->scale);
    if (claim->free & LAB_FREE_ALPHA || claim->noisy)
        lab_text_add(text, ", alpha = %g", point->alpha);
    lab_text_add(text, ": ");
}

static void add_numbers(struct lab_text *text, const struct lab_finding *found)
{
    lab_text_add(text, "computed %.6g, claimed %s%.6g", found->computed,
                 found->sign == '>'   ? "above "
                 : found->sign == '<' ? "below "
                 : found->sign == '!' ? "not "
                                      : "",
                 found->claimed);
    if (is_order(found))
        return;
    lab_text_add(
        text, "%s error %.3g",
        found->drawn ? " in the draw that adds most to the error; root mean square" : ",",
        found->error);
}

void lab_judge_case(const struct lab_claim *claim, const struct lab_trace *trace,
                    struct lab_text *text)
{
    if (trace->against.of)
        lab_text_add(text, "with %s = %s, %s = %.4g", claim->argument.letter,
                     trace->against.of, claim->argument.conclusion,
                     trace->against.conclusion);
}

void lab_judge_refutation(const struct lab_claim *claim, const struct lab_trace *trace,
                          struct lab_text *text)
{
    lab_text_add(text, "it is false: ");
    if (trace->cases) {
        lab_text_add(text, "given %s, %s should be 0, and is %.4g with %s = %s",
                     claim->argument.given, claim->argument.conclusion,
                     trace->against.conclusion, claim->argument.letter,
                     trace->against.of);
        return;
    }
    if (!trace->same)
        add_point(text, claim, &trace->worst);
    add_numbers(text, &trace->found);
}

static void add_argument(struct lab_text *text, const struct lab_claim *claim,
                         const struct lab_trace *trace)
{
    const struct lab_argument *const argument = &claim->argument;
    if (trace->refuted)
        lab_text_add(
            text, "Counterexample: given %s, %s should be 0, and is %.4g with %s = %s.",
            argument->given, argument->conclusion, trace->against.conclusion,
            argument->letter, trace->against.of);
    else
        lab_text_add(text,
                     "Given %s, %s should be 0, and is in every case tried: %.2g in the "
                     "last, with %s = %s.",
                     argument->given, argument->conclusion, trace->against.conclusion,
                     argument->letter, trace->against.of);
}

/* A limit, where it is nearly reached. */
static void add_regime(struct lab_text *text, const struct lab_claim *claim,
                       const struct lab_trace *trace)
{
    const struct lab_finding *const found = &trace->regime_found;
    add_point(text, claim, &trace->regime);
    if (found->drawn && !is_order(found))
        lab_text_add(text, "root mean square error %.3g over the draws", found->error);
    else
        add_numbers(text, found);
    lab_text_add(text, is_order(found) ? ". True " : ". The error vanishes ");
    add_freedom(text, claim, trace->limit.needs);
    lab_text_add(text, ".");
}

/* Why what is free does not help a claim that fails. */
static void add_freedoms_tried(struct lab_text *text, const struct lab_claim *claim,
                               const struct lab_trace *trace)
{
    if (trace->limit.needs) {
        lab_text_add(text, " The error would vanish ");
        add_freedom(text, claim, trace->limit.needs);
        lab_text_add(text, ", but by the letter \"=\" is equality.");
        return;
    }
    lab_text_add(text, is_order(&trace->found) ? " False " : " Even ");
    add_freedom(text, claim, claim->free);
    if (is_order(&trace->found))
        lab_text_add(text, ", too.");
    else
        lab_text_add(text, " the error stays at %.3g.", trace->limit.residual);
}

void lab_judge_evidence(const struct lab_claim *claim, const struct lab_trace *trace,
                        enum lab_strictness reading, struct lab_text *text)
{
    const enum lab_verdict verdict = lab_trace_verdict(trace, reading);
    if (trace->cases) {
        add_argument(text, claim, trace);
        return;
    }
    lab_text_add(text, "%s: ", claim->text);
    if (verdict == LAB_LIMIT) {
        add_regime(text, claim, trace);
        return;
    }
    if (trace->same)
        lab_text_add(text, "at each of %d grid points, ", trace->points);
    else {
        lab_text_add(text, "%s of %d grid points, ",
                     verdict != LAB_HOLDS      ? "counterexample, the furthest off"
                     : is_order(&trace->found) ? "smallest margin"
                                               : "largest error",
                     trace->points);
        add_point(text, claim, &trace->worst);
    }
    add_numbers(text, &trace->found);
    lab_text_add(text, ".");
    if (trace->limit.needs || (!trace->exact && claim->free && reading == LAB_CHARITY))
        add_freedoms_tried(text, claim, trace);
}

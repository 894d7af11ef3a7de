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

const char *lab_verdict_meaning(enum lab_verdict verdict)
{
    static const char *const meanings[] = {
        [LAB_HOLDS] =
            "true: the error is below 10^-9 on the whole grid of sizes and scales",
        [LAB_LIMIT] = "true as something that the sheet leaves free grows",
        [LAB_FAILS] = "there is a counterexample",
        [LAB_SLIP] = "ill-formed as printed, right when one symbol is repaired"};
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

void lab_judge_condition(const struct lab_claim *claim, const struct lab_trace *trace,
                         struct lab_text *text)
{
    if (!trace->limit.needs)
        return;
    lab_text_add(text, " [True ");
    add_freedom(text, claim, trace->limit.needs);
    for (int i = 0; trace->limit.needs & LAB_FREE_SCALE && i < 2; i++) {
        const int n = i ? 1000 : 10;
        if (trace->threshold[i] > 0)
            lab_text_add(text, "%s %.*f at n = %d", i ? "," : "; error below 0.01 from",
                         trace->threshold[i] < 100 ? 2 : 0, trace->threshold[i], n);
        else
            lab_text_add(text, "%s everywhere tried at n = %d",
                         i ? "," : "; error below 0.01", n);
    }
    lab_text_add(text, "]");
}

static void add_point_words(struct lab_text *text, const struct lab_claim *claim,
                            const struct lab_trace *trace)
{
    const struct lab_finding *const found = &trace->found;
    if (!trace->same) {
        lab_text_add(text, "n = %lld", (long long)trace->worst.n);
        if (claim->grows)
            lab_text_add(text, ", %s = %g", claim->grows, trace->worst.scale);
        if (claim->free & LAB_FREE_ALPHA || claim->noisy)
            lab_text_add(text, ", alpha = %g", trace->worst.alpha);
        lab_text_add(text, ": ");
    }
    lab_text_add(text, "computed %.6g, claimed %s%.6g", found->computed,
                 found->sign == '>'   ? "above "
                 : found->sign == '<' ? "below "
                 : found->sign == '!' ? "not "
                                      : "",
                 found->claimed);
    if (found->sign == '=' || found->sign == '~')
        lab_text_add(text, "%s, error %.3g%s",
                     found->drawn ? " in the draw that counts most" : "", found->error,
                     found->drawn ? " over all" : "");
}

void lab_judge_case(const struct lab_claim *claim, const struct lab_trace *trace,
                    struct lab_text *text)
{
    if (trace->against.of)
        lab_text_add(text, "with %s = %s, %s = %.4g", claim->argument.letter,
                     trace->against.of, claim->argument.conclusion,
                     trace->against.conclusion);
}

void lab_judge_evidence(const struct lab_claim *claim, const struct lab_trace *trace,
                        enum lab_strictness reading, struct lab_text *text)
{
    const enum lab_verdict verdict = lab_trace_verdict(trace, reading);
    if (trace->cases) {
        lab_text_add(text, "%s %s; ",
                     trace->refuted ? "Counterexample to the argument:"
                                    : "In every case tried, the last:",
                     claim->argument.given);
        lab_judge_case(claim, trace, text);
        lab_text_add(text, " where 0 is claimed.");
        return;
    }
    lab_text_add(text, "%s: ", claim->text);
    if (trace->same)
        lab_text_add(text, "at each of %d grid points, ", trace->points);
    else
        lab_text_add(text, "%s of %d grid points, ",
                     verdict == LAB_HOLDS   ? "largest error"
                     : verdict == LAB_LIMIT ? "furthest off"
                                            : "counterexample, the furthest off",
                     trace->points);
    add_point_words(text, claim, trace);
    lab_text_add(text, ".");
    if (verdict == LAB_LIMIT) {
        lab_text_add(text, " The error vanishes ");
        add_freedom(text, claim, trace->limit.needs);
        lab_text_add(text, ": %.2g at the far end.", trace->limit.residual);
    } else if (trace->limit.needs) {
        lab_text_add(text, " It would vanish ");
        add_freedom(text, claim, trace->limit.needs);
        lab_text_add(text, ", but by the letter \"=\" is equality.");
    } else if (!trace->exact && claim->free && reading == LAB_CHARITY)
        lab_text_add(text, " With all that is free it stays off by %.3g.",
                     trace->limit.residual);
}

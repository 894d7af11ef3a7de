/* SPDX-License-Identifier: MIT */
/* The words for what the judge found. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "lab/sheets/judge.h"

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

/* "for n > 2, given gamma > 0, as C grows" */
static void tell_freedom(char *text, size_t size, const struct lab_claim *claim,
                         unsigned needs)
{
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

void lab_judge_condition(const struct lab_claim *claim, const struct lab_trace *trace,
                         char *text, size_t size)
{
    if (!trace->vanishes)
        return;
    lab_judge_append(text, size, " [True ");
    tell_freedom(text, size, claim, trace->needs);
    for (int i = 0; trace->needs & LAB_FREE_SCALE && i < 2; i++) {
        const int n = i ? 1000 : 10;
        if (trace->threshold[i] > 0)
            lab_judge_append(text, size, "%s %.*f at n = %d",
                             i ? "," : "; error below 0.01 from",
                             trace->threshold[i] < 100 ? 2 : 0, trace->threshold[i], n);
        else
            lab_judge_append(text, size, "%s everywhere tried at n = %d",
                             i ? "," : "; error below 0.01", n);
    }
    lab_judge_append(text, size, "]");
}

static void tell_point(char *text, size_t size, const struct lab_claim *claim,
                       const struct lab_trace *trace)
{
    const struct lab_found *const found = &trace->found;
    if (!trace->same) {
        lab_judge_append(text, size, "n = %lld", (long long)trace->worst.n);
        if (claim->grows)
            lab_judge_append(text, size, ", %s = %g", claim->grows, trace->worst.scale);
        if (claim->free & LAB_FREE_ALPHA || claim->noisy)
            lab_judge_append(text, size, ", alpha = %g", trace->worst.alpha);
        lab_judge_append(text, size, ": ");
    }
    lab_judge_append(text, size, "computed %.6g, claimed %s%.6g", found->measured,
                     found->sign == '>'   ? "above "
                     : found->sign == '<' ? "below "
                     : found->sign == '!' ? "not "
                                          : "",
                     found->expected);
    if (found->sign == '=' || found->sign == '~')
        lab_judge_append(text, size, "%s, error %.3g%s",
                         found->drawn ? " in the draw that counts most" : "",
                         found->error, found->drawn ? " over all" : "");
}

void lab_judge_evidence(const struct lab_claim *claim, const struct lab_trace *trace,
                        enum lab_reading reading, char *text, size_t size)
{
    const enum lab_verdict verdict = lab_trace_verdict(trace, reading);
    if (trace->cases) {
        lab_judge_append(text, size, "%s %s where 0 is claimed.",
                         trace->refuted ? "Counterexample to the argument:"
                                        : "In every case tried, the last:",
                         trace->against.text);
        return;
    }
    lab_judge_append(text, size, "%s: ", claim->text);
    if (trace->same)
        lab_judge_append(text, size, "at each of %d grid points, ", trace->points);
    else
        lab_judge_append(text, size, "%s of %d grid points, ",
                         verdict == LAB_HOLDS   ? "largest error"
                         : verdict == LAB_LIMIT ? "furthest off"
                                                : "counterexample, the furthest off",
                         trace->points);
    tell_point(text, size, claim, trace);
    lab_judge_append(text, size, ".");
    if (verdict == LAB_LIMIT) {
        lab_judge_append(text, size, " The error vanishes ");
        tell_freedom(text, size, claim, trace->needs);
        lab_judge_append(text, size, ": %.2g at the far end.", trace->residual);
    } else if (trace->vanishes) {
        lab_judge_append(text, size, " It would vanish ");
        tell_freedom(text, size, claim, trace->needs);
        lab_judge_append(text, size, ", but by the letter \"=\" is equality.");
    } else if (!trace->exact && claim->free && reading == LAB_CHARITY)
        lab_judge_append(text, size, " With all that is free it stays off by %.3g.",
                         trace->residual);
}

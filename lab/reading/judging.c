/* SPDX-License-Identifier: MIT */
/* Verdicts of claims that were understood, and the repairs of those that are not true. */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lab/reading/judging.h"

static const struct mend {
    const char *needs; /* the claim's text must have it */
    struct lab_repair repair;
    const char *base; /* the letter whose line is shown; "": none */
    /* A letter that has another meaning by itself: the claim is ill formed as printed. */
    struct lab_symbol symbol;
} mends[] = {
    {"m",
     {.put = {{"m", "n"}}, .as = "m for n, the number of keys"},
     "n",
     {"m", LAB_MEANS_BASIS, 0, LAB_MEANS_KEYS}},
    {"alpha - 2",
     {.put = {{"alpha", "n"}}, .as = "alpha for n, the number of keys"},
     "n",
     {"alpha", LAB_MEANS_WEIGHT, 0, LAB_MEANS_KEYS}},
    {"Sigma_a = beta I",
     {.put = {{"beta", "alpha"}}, .as = "beta for alpha, the variance of the keys"},
     "alpha",
     {"beta", LAB_MEANS_SCALE, 0, LAB_MEANS_NOISE}},
    {"Sigma_a = C I",
     {.put = {{"C", "alpha"}}, .as = "C for alpha, the variance of the keys"},
     "alpha",
     {"C", LAB_MEANS_SCALE, 0, LAB_MEANS_NOISE}},
    {"mu_a",
     {.put = {{"mu_a", "v_a"}, {"mu_b", "v_b"}},
      .as = "means for values: an output is a sum of values"},
     "v",
     {"mu", LAB_MEANS_MEAN, 0, LAB_MEANS_VALUE}},
    {"mu_b",
     {.put = {{"mu_b", "norm(mu_b)"}},
      .as = "a mean for its length: a score is a number"},
     "",
     {NULL, 0, 0, 0}},
    {"mu_a",
     {.put = {{"mu_a", "norm(mu_a)"}},
      .as = "a mean for its length: a score is a number"},
     "",
     {NULL, 0, 0, 0}},
    {"c_d",
     {.put = {{"c_d", "c"}}, .as = "c in R^d for R^m: A has m columns"},
     "",
     {NULL, 0, 0, 0}},
    {"X Pi",
     {.put = {{"X Pi W_Q", "Pi X W_Q"}, {"(X W_Q) Pi", "Pi (X W_Q)"}},
      .as = "X Pi for Pi X: the side that moves rows"},
     "",
     {NULL, 0, 0, 0}},
    {"X Pi",
     {.put = {{"X Pi W_K", "Pi X W_K"}, {"(X W_K) Pi", "Pi (X W_K)"}},
      .as = "X Pi for Pi X: the side that moves rows"},
     "",
     {NULL, 0, 0, 0}},
    {"X Pi",
     {.put = {{"X Pi W_V", "Pi X W_V"}, {"(X W_V) Pi", "Pi (X W_V)"}},
      .as = "X Pi for Pi X: the side that moves rows"},
     "",
     {NULL, 0, 0, 0}},
    {"X Pi",
     {.put = {{"X Pi", "Pi X"},
              {"(X W_Q) Pi", "Pi (X W_Q)"},
              {"(X W_K) Pi", "Pi (X W_K)"}},
      .as = "X Pi for Pi X: the side that moves rows"},
     "",
     {NULL, 0, 0, 0}},
    {"X Pi",
     {.put = {{"X Pi", "Pi X"}}, .as = "X Pi for Pi X: the side that moves rows"},
     "",
     {NULL, 0, 0, 0}},
    {"Att Pi",
     {.put = {{"X Pi", "Pi X"}, {"Att Pi", "Pi Att"}},
      .as = "X Pi for Pi X: the side that moves rows"},
     "",
     {NULL, 0, 0, 0}},
    {"P Pi",
     {.put = {{"X Pi", "Pi X"}, {"P Pi", "Pi P"}},
      .as = "X Pi for Pi X: the side that moves rows"},
     "",
     {NULL, 0, 0, 0}},
    {"S_moved = S",
     {.put = {{"X Pi", "Pi X"}}, .as = "X Pi for Pi X: the side that moves rows"},
     "",
     {NULL, 0, 0, 0}},
    {"mu_b^T (mu_a + mu_b)",
     {.put = {{"mu_b^T (mu_a + mu_b)", "mu_b^T C (mu_a + mu_b)"}},
      .as = "without the factor C of the query"},
     "",
     {NULL, 0, 0, 0}},
    {"mu_a^T (mu_a + mu_b)",
     {.put = {{"mu_a^T (mu_a + mu_b)", "mu_a^T C (mu_a + mu_b)"}},
      .as = "without the factor C of the query"},
     "",
     {NULL, 0, 0, 0}},
};

static int in_word(char c) { return isalnum((unsigned char)c) || c == '_'; }

static int has_piece(const char *text, const char *piece)
{
    const size_t length = strlen(piece);
    for (const char *at = text; (at = strstr(at, piece)) != NULL; at++)
        if (!(in_word(piece[0]) && at > text && in_word(at[-1])) &&
            !(in_word(piece[length - 1]) && in_word(at[length])))
            return 1;
    return 0;
}

/* Whether a side of the claim is an output and another a sum of means. */
static int is_output_of_means(const struct lab_understood *u)
{
    if (!(u->uses & (LAB_USES_OUTPUT | LAB_USES_HEADS)) ||
        strncmp(u->text, "c", 1) != 0 || (u->text[1] != ' ' && u->text[1] != '_'))
        return 0;
    const char *const mean = strstr(u->text, "mu_");
    return mean && !strstr(u->text, "v_") && !strstr(u->text, "^T") &&
           !strchr(u->text, ';');
}

/* Whether the claim has a letter that means something else: the reason, and 1. */
static int is_mistaken(const struct lab_letters_known *letters,
                       const struct lab_understood *u, const struct mend *mend,
                       char why[LAB_WHY])
{
    struct lab_symbol symbol = mend->symbol;
    if (!symbol.letter || !u->claim.text || u->claim.topic != LAB_TOPIC_KEYS ||
        !has_piece(u->claim.text, mend->needs))
        return 0;
    if (symbol.here == LAB_MEANS_VALUE && !is_output_of_means(u))
        return 0;
    symbol.line = lab_role_line(letters, symbol.letter);
    return symbol.line && !lab_symbol_keeps(&symbol, why);
}

/* A repair of one letter or side under which the claim is true: 1, 0, or -1. */
static int find_repair(const struct lab_exercise *exercise,
                       const struct lab_letters_known *letters,
                       const struct lab_understood *u, struct lab_read_claim *to)
{
    for (size_t m = 0; m < sizeof mends / sizeof mends[0]; m++) {
        struct lab_repaired repaired;
        struct lab_trace trace;
        char why[LAB_WHY] = "";
        if (!u->claim.text ||
            (!has_piece(u->claim.text, mends[m].needs) &&
             !(u->claim.input && has_piece(u->claim.input, mends[m].needs))))
            continue;
        if (mends[m].symbol.here == LAB_MEANS_VALUE && mends[m].symbol.letter &&
            !is_output_of_means(u))
            continue;
        if (lab_repair_apply(&mends[m].repair, &u->claim, &repaired))
            continue;
        const int status =
            lab_trace_claim(exercise, &repaired.claim, LAB_CHARITY, &trace, why);
        if (status || lab_trace_verdict(&trace, LAB_CHARITY) == LAB_FAILS)
            continue;
        const int line = *mends[m].base ? lab_role_line(letters, mends[m].base) : 0;
        struct lab_text text = {to->repair, sizeof to->repair, 0};
        lab_text_add(&text, "%s", mends[m].repair.as);
        if (line && line < to->line)
            lab_text_add(&text, ", as line %d has it", line);
        struct lab_text evidence = {to->evidence, sizeof to->evidence, 0};
        lab_text_add(&evidence, " Repaired (%s): ", to->repair);
        lab_judge_evidence(&repaired.claim, &trace, LAB_CHARITY, &evidence);
        snprintf(to->exact, sizeof to->exact, "%.390s", repaired.claim.text);
        return 1;
    }
    return 0;
}

/* Whether the argument is right once it is repaired as it says. */
static int mended_argument(const struct lab_exercise *exercise,
                           const struct lab_understood *u, struct lab_read_claim *to)
{
    struct lab_claim claim = u->claim;
    struct lab_trace trace;
    char why[LAB_WHY] = "";
    claim.argument = u->mended;
    if (lab_trace_claim(exercise, &claim, LAB_CHARITY, &trace, why) ||
        lab_trace_verdict(&trace, LAB_CHARITY) == LAB_FAILS)
        return 0;
    snprintf(to->repair, sizeof to->repair, "%s", u->as);
    return 1;
}

int lab_judge_understood(const struct lab_exercise *exercise,
                         const struct lab_letters_known *letters,
                         const struct lab_understood *u, struct lab_read_claim *to)
{
    struct lab_trace trace;
    char why[LAB_WHY] = "";
    struct lab_text evidence = {to->evidence, sizeof to->evidence, 0};
    int status = 0;
    for (size_t m = 0; m < sizeof mends / sizeof mends[0] && !status; m++)
        status = is_mistaken(letters, u, &mends[m], why) ? LAB_ILL_FORMED : 0;
    const int mistaken = status != 0;
    if (!status)
        status = lab_trace_claim(exercise, &u->claim, LAB_CHARITY, &trace, why);

    to->computed = to->expected = NAN;
    snprintf(to->exact, sizeof to->exact, "%s", u->exact);
    if (status < 0 ||
        (status && !mistaken && (strstr(why, "letter") || strstr(why, "unknown")))) {
        to->verdict = LAB_READ_NOT_JUDGED;
        lab_text_add(&evidence, "%.500s", *why ? why : "It could not be computed.");
        return 0;
    }
    if (status) {
        lab_text_add(&evidence, "As printed, %.400s.", why);
        to->verdict = LAB_READ_FALSE;
        if (*u->meant) {
            to->verdict = LAB_READ_SLIP;
            snprintf(to->repair, sizeof to->repair, "%s", u->as);
            snprintf(to->exact, sizeof to->exact, "q = %.300s", u->meant);
        } else if (find_repair(exercise, letters, u, to) > 0)
            to->verdict = LAB_READ_SLIP;
        return 0;
    }
    lab_judge_evidence(&u->claim, &trace, LAB_CHARITY, &evidence);
    to->computed = trace.cases ? trace.against.conclusion : trace.found.computed;
    to->expected = trace.cases ? 0 : trace.found.claimed;
    switch (lab_trace_verdict(&trace, LAB_CHARITY)) {
    case LAB_HOLDS:
        to->verdict = u->vanishes ? LAB_READ_LIMIT : LAB_READ_TRUE;
        if (u->vanishes)
            lab_text_add(&evidence, " True as alpha vanishes beside the scale.");
        break;
    case LAB_LIMIT:
        to->verdict = u->is_limit ? LAB_READ_TRUE : LAB_READ_LIMIT;
        break;
    default:
        if (!trace.cases && (isnan(to->computed) || isnan(to->expected))) {
            to->verdict = LAB_READ_NOT_JUDGED; /* inf/inf, as of exp(1000) */
            lab_text_add(&evidence, " Its numbers are too large to be computed.");
            return 0;
        }
        to->verdict = LAB_READ_FALSE;
        if (u->mended.letter ? mended_argument(exercise, u, to)
                             : find_repair(exercise, letters, u, to) > 0)
            to->verdict = LAB_READ_SLIP;
    }
    return 0;
}

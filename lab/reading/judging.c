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
    {"k_a",
     {.put = {{"k_a", "v_a"}, {"k_b", "v_b"}},
      .as = "keys for values: an output is a sum of values"},
     "v",
     {"k", LAB_MEANS_KEY, 0, LAB_MEANS_VALUE}},
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
     {.put = {{"X Pi W_Q", "Pi X W_Q"},
              {"(X W_Q) Pi", "Pi (X W_Q)"},
              {"X W_Q Pi", "Pi X W_Q"}},
      .as = "X Pi for Pi X: the side that moves rows"},
     "",
     {NULL, 0, 0, 0}},
    {"X Pi",
     {.put = {{"X Pi W_K", "Pi X W_K"},
              {"(X W_K) Pi", "Pi (X W_K)"},
              {"X W_K Pi", "Pi X W_K"}},
      .as = "X Pi for Pi X: the side that moves rows"},
     "",
     {NULL, 0, 0, 0}},
    {"X Pi",
     {.put = {{"X Pi W_V", "Pi X W_V"},
              {"(X W_V) Pi", "Pi (X W_V)"},
              {"X W_V Pi", "Pi X W_V"}},
      .as = "X Pi for Pi X: the side that moves rows"},
     "",
     {NULL, 0, 0, 0}},
    {"X Pi",
     {.put = {{"X Pi W", "Pi X W"}, {"(X W) Pi", "Pi (X W)"}},
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
    return (strstr(u->text, "mu_") || strstr(u->text, "k_")) && !strstr(u->text, "v_") &&
           !strstr(u->text, "^T") && !strchr(u->text, ';');
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

/* A query of numbers: what it does for n up to 1000, as an answer is graded. */
static int has_constant_query(const struct lab_claim *claim)
{
    return claim->query[0] && !claim->grows &&
           strpbrk(claim->query[0], "0123456789") != NULL;
}

static int is_small_for_all_n(const struct lab_exercise *exercise,
                              const struct lab_claim *claim)
{
    static const int64_t n[] = {2, 3, 10, 1000};
    for (size_t i = 0; i < sizeof n / sizeof n[0]; i++) {
        const struct lab_point point = {.n = n[i],
                                        .scale = 1,
                                        .alpha = claim->free & LAB_FREE_ALPHA ? 1e-14 : 0,
                                        .given_positive = 1,
                                        .exercise = exercise};
        struct lab_findings found;
        char why[LAB_WHY] = "";
        if (lab_claim_evaluate(claim, &point, &found, why))
            return 0;
        for (int k = 0; k < found.count; k++)
            if (!(found.link[k].error < LAB_SMALL))
                return 0;
    }
    return 1;
}

/* At the query, or with the matrix, that the author meant: 1 and the verdict, or 0. */
static int holds_as_meant(const struct lab_exercise *exercise,
                          const struct lab_understood *u, struct lab_read_claim *to)
{
    struct lab_claim claim = u->claim;
    struct lab_trace trace;
    char why[LAB_WHY] = "", text[LAB_CLAIM_TEXT];
    int changed = 0;
    for (int h = 0; h < LAB_HEADS; h++)
        if (claim.query[h] && *u->meant_query[h]) {
            claim.query[h] = u->meant_query[h];
            changed = 1;
        }
    const char *const at =
        *u->matrix[0] && claim.text ? strstr(claim.text, u->matrix[0]) : NULL;
    if (at) {
        snprintf(text, sizeof text, "%.*s%.150s%.200s", (int)(at - claim.text),
                 claim.text, u->matrix[1], at + strlen(u->matrix[0]));
        claim.text = text;
        changed = 1;
    }
    if (!changed || *u->found ||
        lab_trace_claim(exercise, &claim, LAB_CHARITY, &trace, why))
        return 0;
    const enum lab_verdict verdict = lab_trace_verdict(&trace, LAB_CHARITY);
    if (verdict == LAB_FAILS ||
        (verdict == LAB_LIMIT && trace.unequal && u->uses & LAB_USES_EXP))
        return 0;
    to->verdict = verdict == LAB_HOLDS ? LAB_READ_TRUE : LAB_READ_LIMIT;
    *to->evidence = '\0';
    struct lab_text evidence = {to->evidence, sizeof to->evidence, 0};
    lab_text_add(&evidence, "With the slip above repaired: ");
    lab_judge_evidence(&claim, &trace, LAB_CHARITY, &evidence);
    return 1;
}

/* With what the understanding says was meant: 1, or 0. */
static int holds_as_said(const struct lab_exercise *exercise,
                         const struct lab_understood *u, struct lab_read_claim *to)
{
    struct lab_claim claim = u->claim;
    struct lab_trace trace;
    char why[LAB_WHY] = "";
    if (*u->slip_text)
        claim.text = u->slip_text;
    if (*u->slip_query)
        claim.query[0] = u->slip_query;
    if ((!*u->slip_text && !*u->slip_query) ||
        lab_trace_claim(exercise, &claim, LAB_CHARITY, &trace, why) ||
        lab_trace_verdict(&trace, LAB_CHARITY) == LAB_FAILS)
        return 0;
    snprintf(to->repair, sizeof to->repair, "%s", u->as);
    return 1;
}

/* A repair of one symbol, in the claim or, of an answer, in its query. */
static int find_symbol(const struct lab_exercise *exercise,
                       const struct lab_understood *u, struct lab_read_claim *to,
                       int exactly, struct lab_meant *meant)
{
    struct lab_repaired *const repaired = calloc(1, sizeof *repaired);
    const int of_query =
        u->claim.query[0] && (!strcmp(u->found, "q") || !strcmp(u->found, "queries"));
    char as[120] = "";
    int found = 0;
    if (repaired && u->claim.text && !u->claim.argument.letter &&
        u->claim.topic != LAB_TOPIC_ROW && !u->claim.rival && to->formula &&
        !strstr(u->claim.text, "V_") &&
        (of_query || !*u->found || !strcmp(u->found, "M")))
        found = lab_symbol_repair(exercise, &u->claim,
                                  of_query  ? LAB_SYMBOL_QUERY
                                  : exactly ? LAB_SYMBOL_EXACT
                                            : LAB_SYMBOL_TEXT,
                                  repaired, as);
    if (found > 0) {
        snprintf(to->repair, sizeof to->repair, "%s", as);
        snprintf(to->exact, sizeof to->exact, "%.390s",
                 of_query ? repaired->claim.query[1] ? as : repaired->claim.query[0]
                          : repaired->claim.text);
        for (int h = 0; of_query && h < LAB_HEADS && repaired->claim.query[h]; h++)
            snprintf(meant->query[h], LAB_SIDE, "%.350s", repaired->claim.query[h]);
        if (!strcmp(u->found, "M")) {
            const char *const text = repaired->claim.text;
            const int open = *text == '(';
            const char *const end = strstr(text, open ? ") (v_a + v_b)" : " (v_a + v_b)");
            snprintf(meant->matrix, LAB_SIDE, "%.*s", end ? (int)(end - text) - open : 0,
                     text + open);
        }
    }
    free(repaired);
    return found;
}

int lab_judge_understood(const struct lab_exercise *exercise,
                         const struct lab_letters_known *letters,
                         const struct lab_understood *u, struct lab_read_claim *to,
                         struct lab_meant *meant)
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
        else if (!mistaken && !holds_as_meant(exercise, u, to) &&
                 find_symbol(exercise, u, to, 0, meant) > 0)
            to->verdict = LAB_READ_SLIP;
        return 0;
    }
    lab_judge_evidence(&u->claim, &trace, LAB_CHARITY, &evidence);
    to->computed = trace.cases ? trace.against.conclusion : trace.found.computed;
    to->expected = trace.cases ? 0 : trace.found.claimed;
    switch (lab_trace_verdict(&trace, LAB_CHARITY)) {
    case LAB_HOLDS:
        to->verdict =
            u->vanishes || (has_constant_query(&u->claim) && strchr(u->text, '~'))
                ? LAB_READ_LIMIT
                : LAB_READ_TRUE;
        if (u->vanishes)
            lab_text_add(&evidence, " True as alpha vanishes beside the scale.");
        break;
    case LAB_LIMIT:
        to->verdict = u->is_limit ? LAB_READ_TRUE : LAB_READ_LIMIT;
        /* A weight by its formula, "n - 1" for "n - 2". */
        if (u->uses & LAB_USES_EXP && trace.unequal && !u->is_limit &&
            find_symbol(exercise, u, to, 1, meant) > 0)
            to->verdict = LAB_READ_SLIP;
        break;
    default:
        if (!trace.cases && (isnan(to->computed) || isnan(to->expected))) {
            to->verdict = LAB_READ_NOT_JUDGED; /* inf/inf, as of exp(1000) */
            lab_text_add(&evidence, " Its numbers are too large to be computed.");
            return 0;
        }
        to->verdict = LAB_READ_FALSE;
        if (has_constant_query(&u->claim) && is_small_for_all_n(exercise, &u->claim)) {
            to->verdict = LAB_READ_LIMIT;
            *to->evidence = '\0';
            struct lab_text small = {to->evidence, sizeof to->evidence, 0};
            lab_text_add(&small, "The error stays below %g for n = 2, 3, 10 and 1000.",
                         LAB_SMALL);
        } else if (holds_as_said(exercise, u, to)) {
            to->verdict = LAB_READ_SLIP;
        } else if (u->mended.letter ? mended_argument(exercise, u, to)
                                    : find_repair(exercise, letters, u, to) > 0)
            to->verdict = LAB_READ_SLIP;
        else if (!holds_as_meant(exercise, u, to) &&
                 find_symbol(exercise, u, to, 0, meant) > 0)
            to->verdict = LAB_READ_SLIP;
    }
    return 0;
}

/* SPDX-License-Identifier: MIT */
/* Query, topic and freedoms of a claim, by what is settled where it stands. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "lab/understanding/chains.h"

int lab_in_word(char c) { return isalnum((unsigned char)c) || c == '_'; }

int lab_has_word(const char *text, const char *word)
{
    const size_t length = strlen(word);
    for (const char *at = text; (at = strstr(at, word)) != NULL; at++)
        if (!(at > text && lab_in_word(at[-1])) && !lab_in_word(at[length]))
            return 1;
    return 0;
}

static int has_scale(const char *text)
{
    return lab_has_word(text, "C") || lab_has_word(text, "beta");
}

int lab_lengths_vary(const struct lab_settled *settled)
{
    return settled->subject == LAB_SUBJECT_MAGNITUDE ||
           settled->subject == LAB_SUBJECT_BOTH;
}

int lab_on_tokens(const struct lab_settled *settled)
{
    return settled->subject == LAB_SUBJECT_PERMUTE ||
           settled->subject == LAB_SUBJECT_POSITIONS;
}

int lab_takes_heads(const struct lab_settled *settled)
{
    return settled->subject == LAB_SUBJECT_HEADS || settled->subject == LAB_SUBJECT_BOTH;
}

/* "c_2" of a head that is alone is "c_1". */
static void as_only_head(char *text)
{
    for (char *at = text; (at = strstr(at, "c_2")) != NULL; at += 3)
        if (!(at > text && lab_in_word(at[-1])) && !lab_in_word(at[3]))
            at[2] = '1';
}

static int put_queries(const struct lab_settled *settled, struct lab_understood *u,
                       char why[100])
{
    const unsigned engine =
        LAB_USES_FIRST | LAB_USES_SECOND | LAB_USES_OUTPUT | LAB_USES_HEADS;
    const int first = !!(u->uses & LAB_USES_FIRST),
              second = !!(u->uses & LAB_USES_SECOND);
    int from[LAB_HEADS] = {0, -1};
    if (u->claim.query[0] || !(u->uses & engine))
        return 0;
    if (lab_takes_heads(settled)) {
        if (second &&
            (first || u->uses & LAB_USES_OUTPUT || lab_has_word(u->text, "c_1"))) {
            snprintf(why, 100, "both heads in one formula");
            return -1;
        }
        from[0] = second ? 2 : 1;
        from[1] = second ? -1 : 2;
        if (second)
            as_only_head(u->text);
    }
    for (int h = 0; h < LAB_HEADS && from[h] >= 0; h++) {
        const char *query = settled->query[from[h]];
        if (!*query && settled->subject == LAB_SUBJECT_COPY && !strstr(u->text, "s_"))
            query = "C k_a";
        /* A claim about one head alone. */
        if (!*query && h == 1 && !(u->uses & (LAB_USES_OUTPUT | LAB_USES_HEADS)))
            break;
        if (!*query) {
            snprintf(why, 100, "no query is given");
            return -1;
        }
        snprintf(u->query[h], LAB_SIDE, "%s", query);
        u->claim.query[h] = u->query[h];
        snprintf(u->meant_query[h], LAB_SIDE, "%s", settled->meant[from[h]]);
    }
    return 0;
}

/* The identity I by the size that its neighbours have. */
static void name_identity(struct lab_understood *u, const char *end)
{
    for (char *at = u->text; (at = strstr(at, " I")) != NULL; at += 2)
        if (!lab_in_word(at[2]) && strlen(u->text) + 3 < sizeof u->text) {
            memmove(at + 4, at + 2, strlen(at + 2) + 1);
            memcpy(at + 2, end, 2);
        }
}

int lab_understood_complete(const struct lab_settled *settled, struct lab_understood *u,
                            char why[100])
{
    struct lab_claim *const claim = &u->claim;
    lab_understood_standard(settled, u);
    claim->text = u->text;
    if (claim->topic == LAB_TOPIC_KEYS && settled->subject == LAB_SUBJECT_EXTRACT)
        claim->topic = LAB_TOPIC_BASIS;
    if (claim->topic == LAB_TOPIC_KEYS && lab_on_tokens(settled)) {
        claim->topic = LAB_TOPIC_TOKENS;
        if (u->uses & LAB_USES_INPUT) {
            snprintf(u->input, sizeof u->input, "%s",
                     *settled->input ? settled->input : "Pi X");
            claim->input = u->input;
        }
    }
    /* The identity beside A^T A has m rows. */
    if (claim->topic == LAB_TOPIC_BASIS && strstr(u->text, "A^T A") &&
        !strstr(u->text, "A A^T"))
        name_identity(u, "_m");
    if (claim->topic == LAB_TOPIC_BASIS && strstr(u->text, "B^T B") &&
        !strstr(u->text, "B B^T") && !strstr(u->text, "A^T A"))
        name_identity(u, "_p");
    if (claim->topic == LAB_TOPIC_BASIS && *settled->meant_matrix) {
        snprintf(u->matrix[0], LAB_SIDE, "%s", settled->matrix);
        snprintf(u->matrix[1], LAB_SIDE, "%s", settled->meant_matrix);
    }
    if (claim->topic != LAB_TOPIC_KEYS)
        return 0;
    if (put_queries(settled, u, why))
        return -1;
    const int scaled = (claim->query[0] && has_scale(claim->query[0])) ||
                       (claim->query[1] && has_scale(claim->query[1])) ||
                       (claim->rival && has_scale(claim->rival)) || has_scale(u->text);
    if (!(u->uses & LAB_USES_LAW) && !strstr(u->text, "E_gamma") &&
        !strstr(u->text, "Var_gamma"))
        claim->range = settled->range;
    if (lab_lengths_vary(settled) || claim->range.on || u->uses & LAB_USES_LENGTH ||
        strstr(u->text, "gamma") || strstr(u->text, "P_inside"))
        claim->magnitude = 1;
    if (scaled && !claim->grows)
        claim->grows = (claim->query[0] && lab_has_word(claim->query[0], "beta")) ||
                               lab_has_word(u->text, "beta")
                           ? "beta"
                           : "C";
    if (scaled)
        claim->free |= LAB_FREE_SCALE;
    /* At alpha = 0 a covariance may be 0, and whatever is claimed of it true. */
    if (strstr(u->text, "Sigma_"))
        claim->noisy = 1;
    else if (settled->subject == LAB_SUBJECT_NOISE && claim->query[0] && !scaled &&
             !lab_has_word(u->text, "alpha") && !strstr(u->text, "VarS_"))
        u->vanishes = 1; /* beside a fixed scale it does, whatever the scale */
    else if (!claim->magnitude &&
             (settled->subject == LAB_SUBJECT_NOISE || lab_has_word(u->text, "alpha")))
        claim->free |= LAB_FREE_ALPHA;
    if (strstr(u->text, "VarS_"))
        claim->free |= LAB_FREE_ALPHA;
    if (claim->magnitude && !claim->range.on)
        claim->free |= LAB_FREE_EVENT;
    if (u->exactly)
        claim->free = 0;
    if (strstr(u->text, "!="))
        claim->free |= LAB_FREE_N;
    claim->called = claim->free;
    if (u->uses & LAB_USES_ROOT && strstr(u->text, "exp"))
        claim->far = 960;
    else if (u->uses & LAB_USES_LENGTH && strstr(u->text, "exp"))
        claim->far = 64;
    return 0;
}

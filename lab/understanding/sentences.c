/* SPDX-License-Identifier: MIT */
/* Claims in words: a sentence that no rule covers is not read. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "lab/understanding/chains.h"
#include "lab/understanding/grammar.h"

static int is_negation(const struct lab_word *token)
{
    static const char *const words[] = {
        "not", "never", "no",    "isn't",  "doesn't", "without", "cannot", "neither",
        "nor", "don't", "can't", "hardly", "won't",   "aren't",  "unless"};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (!token->formula && !strcmp(token->text, words[i]))
            return 1;
    return 0;
}

/* Words that may carry a claim of the exercise. */
static int may_claim(const struct lab_sentence *sentence)
{
    static const char *const words =
        "copy|copies|copying|average|closer|stable|unstable|vary|varies|fluctuat*|"
        "variance|independent|uncorrelated|cancel*|larger|smaller|robust*|equivarian*|"
        "invarian*|orthogonal|perpendicular|align*|dominat*|negligible|increases|"
        "decreases|reduces|probability|concentrates|identical";
    for (int i = 0; i < sentence->count; i++)
        if (!sentence->token[i].formula &&
            lab_in_alternatives(sentence->token[i].text, words, strlen(words)))
            return 1;
    return 0;
}

static unsigned uses_of(const char *text, int heads)
{
    unsigned uses = 0;
    static const char *const law[] = {"V_", "Cov_", "D_", "P_", "off", "Var_", "rest"};
    for (size_t i = 0; i < sizeof law / sizeof law[0]; i++)
        if (strstr(text, law[i]))
            uses |= heads ? LAB_USES_HEADS : LAB_USES_OUTPUT;
    if (strstr(text, "c_short") || strstr(text, "c_long"))
        uses |= LAB_USES_OUTPUT;
    if (strstr(text, "s_") || strstr(text, "alpha_") || strstr(text, "VarS_"))
        uses |= LAB_USES_FIRST;
    if (strstr(text, "alpha_2") || strstr(text, "c_1") || strstr(text, "c_2"))
        uses |= LAB_USES_HEADS;
    if (!strncmp(text, "c ~", 3) || strstr(text, "; c ~"))
        uses |= LAB_USES_OUTPUT;
    return uses;
}

/* A query with the mean of a a little longer. */
static int tilted(const char *query, char to[LAB_SIDE])
{
    const int length =
        snprintf(to, LAB_SIDE, "1.01*(%s) - 0.01*mu_b mu_b^T (%s)", query, query);
    return length > 0 && length < LAB_SIDE ? 0 : -1;
}

/* 1: received, 0: the rule asks for something that is not given, or -1. */
static int apply(struct lab_reader *reader, const struct lab_rule *rule)
{
    const enum lab_subject subject = reader->settled.subject;
    const char *const input = reader->settled.input;
    struct lab_understood u = {
        .claim = {.topic = (enum lab_topic)rule->topic, .grows = rule->grows}};
    char why[100] = "";
    int status;

    if (rule->as)
        reader->settled.subject = rule->as == LAB_SUBJECT_MAGNITUDE &&
                                          lab_subject_shares(subject, LAB_SUBJECT_HEADS)
                                      ? LAB_SUBJECT_BOTH
                                      : rule->as;
    reader->settled.range.on = 0;
    const int heads = rule->on & LAB_ON_HEADS && !(rule->on & LAB_ON(MAGNITUDE));
    if (rule->short_a)
        reader->settled.range = (struct lab_range){1, -INFINITY, 0};
    u.exactly = rule->exactly;
    snprintf(u.text, sizeof u.text, "%s", rule->text ? rule->text : "");
    snprintf(u.exact, sizeof u.exact, "%s", rule->exact ? rule->exact : "");
    snprintf(u.shown, sizeof u.shown, "%s", rule->shown ? rule->shown : "");
    snprintf(u.found, sizeof u.found, "%s", rule->found ? rule->found : "");
    u.uses = uses_of(u.text, heads);
    if (rule->grows)
        u.claim.free = rule->topic == LAB_TOPIC_ROW ? 0 : LAB_FREE_SCALE;
    if (rule->query) {
        const char *const query = reader->settled.query[heads ? 1 : 0];
        if (*rule->query == '@' && !*query)
            goto missing;
        snprintf(u.query[0], LAB_SIDE, "%s", *rule->query == '@' ? query : rule->query);
        u.claim.query[0] = u.query[0];
        if (rule->second && tilted(u.query[0], u.query[1]))
            goto missing;
        if (rule->second)
            u.claim.query[1] = u.query[1];
    }
    if (rule->rival) {
        if (!*reader->settled.single)
            goto missing;
        snprintf(u.rival, LAB_SIDE, "%s", reader->settled.single);
        u.claim.rival = u.rival;
    }
    if (!strcmp(u.text, "@input")) {
        if (!*input)
            goto missing;
        snprintf(u.text, sizeof u.text, "%s = X_moved", input);
        u.uses = 0;
    } else if (u.text[0] == '@') {
        snprintf(u.text, sizeof u.text, "%s",
                 rule->text[1] == 'e' ? "Att_moved = Pi Att" : "Att_moved = Att");
        snprintf(u.input, sizeof u.input, "Pi X");
        u.claim.input = u.input;
        u.claim.topic = LAB_TOPIC_TOKENS;
        u.uses = 0;
    }
    if (!strncmp(u.text, "%tokens ", 8)) {
        memmove(u.text, u.text + 8, strlen(u.text + 8) + 1);
        snprintf(u.input, sizeof u.input, "Pi X");
        u.claim.input = u.input;
        u.claim.topic = LAB_TOPIC_TOKENS;
        u.uses = 0;
    }
    if (rule->argument) {
        u.claim.argument = *rule->argument;
        status = reader->to.claim(reader->to.arg, &u);
    } else if (lab_understood_complete(&reader->settled, &u, why)) {
        status = reader->to.other(reader->to.arg, why);
    } else {
        status = reader->to.claim(reader->to.arg, &u);
    }
    reader->settled.subject = subject;
    reader->settled.range.on = 0;
    return status ? -1 : 1;
missing:
    reader->settled.subject = subject;
    return 0;
}

/* "X Pi is the permuted input". */
static void settle_input(struct lab_reader *reader, const struct lab_sentence *sentence)
{
    for (int i = 0; i < sentence->count; i++) {
        const struct lab_word *const token = &sentence->token[i];
        if (!token->formula)
            continue;
        if (!strcmp(token->text, "XPi") || !strcmp(token->text, "XP"))
            snprintf(reader->settled.input, sizeof reader->settled.input, "X Pi");
        else if (!strcmp(token->text, "PiX") || !strcmp(token->text, "PX"))
            snprintf(reader->settled.input, sizeof reader->settled.input, "Pi X");
    }
}

int lab_sentence_claims(struct lab_reader *reader, int passage)
{
    struct lab_sentence sentence;
    const char *seen[8];
    int found = 0, applied = 0, covered[8][2];

    lab_sentence_open(reader->document, passage, &sentence);
    if (lab_on_tokens(&reader->settled))
        settle_input(reader, &sentence);
    if (reader->surveying)
        return 1;
    const struct lab_rule *rule;
    for (size_t r = 0; (rule = lab_rule(r)) != NULL && found < 8; r++) {
        int first = 0, last = 0, skip = 0;
        if (!(rule->on & (1u << reader->settled.subject)) ||
            !lab_find_pattern(&sentence, rule->pattern, 0, LAB_WORDS_MOST, &first, &last))
            continue;
        for (int i = 0; i < last && !rule->negative; i++)
            skip |= is_negation(&sentence.token[i]) && i >= first - 4;
        for (int i = first > 4 ? first - 4 : 0; i < first && rule->stated; i++)
            skip |=
                lab_is_one_of(&sentence, i, "if|assume|assuming|suppose|when|whenever");
        const char *const key = rule->text ? rule->text : rule->shown;
        for (int i = 0; i < found; i++)
            skip |= !strcmp(seen[i], key) ||
                    (covered[i][0] <= first && last <= covered[i][1]);
        if (skip)
            continue;
        seen[found] = key;
        covered[found][0] = first;
        covered[found++][1] = last;
        const int status = apply(reader, rule);
        if (status < 0)
            return -1;
        applied += status;
    }
    const int worded = lab_worded_claims(reader, &sentence, passage);
    if (worded < 0)
        return -1;
    if (applied || worded)
        return 1;
    return may_claim(&sentence) ? 0 : 2;
}

/* SPDX-License-Identifier: MIT */
/* The texts of an answer, and the claim of its part about them. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lab/grade/probing.h"
#include "lab/setups/pair.h"

/* ---- claims ------------------------------------------------------------------------ */

/* The text with "#" replaced by a number: 0, or -1 where it is too long. */
static int number_text(const char *text, int number, char to[LAB_CLAIM_TEXT])
{
    size_t length = 0;
    for (; *text && length + 1 < LAB_CLAIM_TEXT; text++)
        to[length++] = *text == '#' ? (char)('0' + number) : *text;
    to[length] = 0;
    return *text ? -1 : 0;
}

/* The claim of text `k` where word `w` is chosen. */
static int open_claim(const struct lab_probing *probing, int k, int w,
                      struct lab_asked_claim *own)
{
    const struct lab_word *const word = &probing->word[w];
    const char *const text = word->text ? word->text : probing->claim.text;
    const char *const shows = word->shows ? word->shows : probing->claim.shows[0];
    char why[LAB_WHY];
    own->claim = probing->claim;
    own->claim.relative = 1;
    if (word->query)
        own->claim.query[0] = word->query;
    if (number_text(text ? text : "", k + 1, own->text) ||
        number_text(shows ? shows : "", k + 1, own->shows))
        return -1;
    own->claim.text = text ? own->text : NULL;
    own->claim.shows[0] = shows ? own->shows : NULL;
    return lab_claim_parse(&own->claim, &own->parsed, why) ? -1 : 0;
}

int lab_asked_open(struct lab_asked *asked)
{
    const int words = asked->part->choices ? LAB_WORDS : 1;
    int status = 0;
    asked->claim = calloc((size_t)(words * asked->part->texts), sizeof *asked->claim);
    for (int i = 0; asked->claim && i < words * asked->part->texts && !status; i++)
        status = open_claim(asked->part->probing, i / words, i % words, &asked->claim[i]);
    return asked->claim ? status : -1;
}

/* ---- texts ------------------------------------------------------------------------ */

static int check_shape(const struct lab_value *value, int rows, int columns,
                       struct lab_finding *found)
{
    if ((!rows || value->rows == rows) && (!columns || value->columns == columns))
        return 0;
    snprintf(found->why, sizeof found->why, "%d x %d where %d x %d is asked", value->rows,
             value->columns, rows, columns);
    return 1;
}

int lab_asked_bind(const struct lab_asked *asked, const struct lab_point *point,
                   struct lab_scope *letters)
{
    unsigned needs = 0;
    if (lab_scope_open_known(letters, asked->part->probing->letters, point))
        return -1;
    for (int k = 0; k < asked->part->texts; k++)
        needs |= lab_scope_needs(letters, &asked->formula[k]);
    return lab_scope_fill(letters, needs);
}

int lab_asked_value(const struct lab_asked *asked, int k, struct lab_scope *letters,
                    int rows, int columns, struct lab_value *value,
                    struct lab_finding *found)
{
    struct lab_expression_error error;

    found->error = INFINITY;
    found->computed = found->claimed = NAN;
    if (!lab_expression_evaluate(&asked->formula[k], letters->letter, letters->count,
                                 value, &error))
        return check_shape(value, rows, columns, found);
    snprintf(found->why, sizeof found->why, "column %d: %s", error.column, error.text);
    return 1;
}

/* Text `k`, rows x columns, in the letters of its part. */
static int value_at(const struct lab_asked *asked, int k, const struct lab_point *point,
                    int rows, int columns, struct lab_value *value,
                    struct lab_finding *found)
{
    struct lab_scope letters;
    int status = lab_asked_bind(asked, point, &letters);
    if (!status)
        status = lab_asked_value(asked, k, &letters, rows, columns, value, found);
    lab_scope_close(&letters);
    return status;
}

int lab_asked_number(const struct lab_asked *asked, int k, const struct lab_point *point,
                     double *number, struct lab_finding *found)
{
    struct lab_value value;
    const int status = value_at(asked, k, point, 1, 1, &value, found);
    if (!status)
        *number = value.x[0];
    return status;
}

int lab_asked_query(const struct lab_asked *asked, int k, const struct lab_point *point,
                    struct lab_pair_query *query, struct lab_finding *found)
{
    struct lab_value value;
    const int status = value_at(asked, k, point, 3, 1, &value, found);
    if (status)
        return status;
    *query = (struct lab_pair_query){value.x[0], value.x[1], value.x[2]};
    if (isfinite(query->a + query->b + query->rest))
        return 0;
    snprintf(found->why, sizeof found->why, "the query is not finite");
    return 1;
}

/* ---- what a claim is judged with ---------------------------------------------- */

/* Whether one query is the other times a positive number. */
static int are_parallel(const struct lab_pair_query *x, const struct lab_pair_query *y)
{
    return lab_same_number(x->a * y->b, x->b * y->a) &&
           lab_same_number(x->a * y->rest, x->rest * y->a) &&
           lab_same_number(x->b * y->rest, x->rest * y->b) &&
           x->a * y->a + x->b * y->b + x->rest * y->rest > 0;
}

/* The queries that the part is about: 0, 1 where they make no sense, or -1. */
static int put_queries(const struct lab_asked *asked, const struct lab_point *point,
                       struct lab_put *put, struct lab_finding *found)
{
    const struct lab_probing *const probing = asked->part->probing;
    const struct lab_asked *const own = probing->query ? asked : asked->own;
    struct lab_pair_query query[LAB_HEADS];

    if (!own || probing->claim.query[0])
        return 0;
    put->heads = own->part->texts;
    for (int h = 0; h < put->heads; h++) {
        const int status = lab_asked_query(own, h, point, &query[h], found);
        if (status)
            return status;
        lab_pair_set_query(put->query[h], query[h].a, query[h].b, query[h].rest,
                           point->exercise->overlap);
    }
    if (!probing->query || put->heads < 2 || !are_parallel(&query[0], &query[1]))
        return 0;
    snprintf(found->why, sizeof found->why,
             "the two queries differ by a factor alone: both heads look at the same "
             "keys, and are one");
    return 1;
}

/* x_1 and the others: 0, 1 where a text makes no sense, or -1. */
static int put_texts(const struct lab_asked *asked, const struct lab_point *point,
                     struct lab_put *put, struct lab_finding *found)
{
    const struct lab_probing *const probing = asked->part->probing;
    const int rows = probing->rows ? probing->rows : 1;
    const int columns = probing->columns ? probing->columns : 1;
    struct lab_point at = *point;

    if (probing->texts_at > 0)
        at.scale = probing->texts_at;
    for (int k = 0; !probing->query && k < asked->part->texts; k++) {
        struct lab_value *const value = &put->text[put->texts++];
        *value = (struct lab_value){.rows = 1, .columns = 1, .x = {asked->choice[k]}};
        if (asked->only && asked->only != k + 1)
            *value = (struct lab_value){.rows = rows, .columns = columns};
        const int is_formula =
            !asked->part->choices && (!asked->only || asked->only == k + 1);
        const int status =
            !is_formula ? 0 : value_at(asked, k, &at, rows, columns, value, found);
        if (status)
            return status;
        /* Values have a fourth coordinate, which is 0. */
        if (rows == LAB_SPACE + 1 && columns == 1)
            value->rows = LAB_SPACE;
    }
    return 0;
}

/* ---- claims at a point ------------------------------------------------------------- */

/* Whether a link is about text x. */
static int is_about(const struct lab_link *link, int x)
{
    const char name[] = {'x', '_', (char)('0' + x), 0};
    return lab_expression_uses(&link->formula[0], name) ||
           lab_expression_uses(&link->formula[1], name);
}

/* One finding of all links: the worst decides, and the claim's own numbers are shown. */
static int judge_claim(const struct lab_asked_claim *own, int only,
                       const struct lab_point *point, const struct lab_put *put,
                       struct lab_finding *found)
{
    struct lab_findings findings;
    char why[LAB_WHY] = "";
    const int status = lab_parsed_evaluate(&own->parsed, point, put, &findings, why);

    *found = (struct lab_finding){.computed = NAN, .claimed = NAN, .error = -1};
    if (status == LAB_ILL_FORMED)
        snprintf(found->why, sizeof found->why, "%.200s", why);
    if (status)
        return status < 0 ? -1 : 0;
    for (int i = 0; i < findings.count; i++) {
        if (only && !is_about(&own->parsed.link[i], only))
            continue;
        findings.link[i].error = hypot(findings.link[i].error, findings.spread);
        lab_found_worse(found, &findings.link[i]);
    }
    if (own->claim.shows[0]) {
        found->computed = findings.shown[0];
        found->claimed = findings.shown[1];
    }
    return 0;
}

/* The word of text `k`: its claim, or where it has none, that no other word's holds. */
static int judge_word(const struct lab_asked *asked, int k, const struct lab_point *point,
                      const struct lab_put *put, struct lab_finding *found)
{
    const struct lab_word *const word = asked->part->probing->word;
    const int chosen = asked->choice[k];
    const struct lab_asked_claim *const claim = &asked->claim[k * LAB_WORDS];
    double error = 0;

    if (word[chosen].query)
        return judge_claim(&claim[chosen], 0, point, put, found);
    for (int w = 0; w < LAB_WORDS; w++) {
        if (word[chosen].text ? w != chosen : !word[w].text)
            continue;
        if (judge_claim(&claim[w], 0, point, put, found))
            return -1;
        const int holds = found->error < LAB_TOLERANCE;
        error = fmax(error, word[chosen].text ? !holds : holds);
    }
    found->error = error;
    return 0;
}

int lab_asked_judge(const struct lab_asked *asked, const struct lab_point *point,
                    struct lab_finding *found)
{
    const struct lab_probing *const probing = asked->part->probing;
    struct lab_point at = *point;
    struct lab_put put = {.texts = 0};

    *found = (struct lab_finding){.computed = NAN, .claimed = NAN};
    if (probing->judge)
        return probing->judge(asked, point, found);
    int status =
        probing->solves ? lab_asked_number(asked, 0, point, &at.scale, found) : 0;
    if (!status)
        status = put_queries(asked, &at, &put, found);
    if (!status && !probing->solves)
        status = put_texts(asked, point, &put, found);
    if (status)
        return status < 0 ? -1 : 0;
    if (!asked->part->choices)
        status = judge_claim(asked->claim, asked->only, &at, &put, found);
    else
        found->error = -1;
    for (int k = 0; asked->part->choices && k < asked->part->texts && !status; k++) {
        struct lab_finding here;
        if (asked->only && asked->only != k + 1)
            continue;
        status = judge_word(asked, k, &at, &put, &here);
        lab_found_worse(found, &here);
    }
    if (found->error < probing->forgives)
        found->error = 0;
    return status;
}

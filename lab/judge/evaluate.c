/* SPDX-License-Identifier: MIT */
/* A claim's text: links of formulas, and how far each is from true at a point. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lab/judge/scope.h"

/* Between the blanks; 0, or -1 when it is too long. */
static int copy_side(char *side, const char *text, size_t length)
{
    while (length && *text == ' ') {
        text++;
        length--;
    }
    while (length && text[length - 1] == ' ')
        length--;
    if (!length || length >= LAB_CLAIM_TEXT)
        return -1;
    memcpy(side, text, length);
    side[length] = '\0';
    return 0;
}

/* Splits at = ~ < > != <= >= and ; the count of links, or -1 when it is not a claim. */
static int split(const char *text, struct lab_link *link)
{
    int count = 0;
    for (const char *left = text; *left;) {
        const size_t before = strcspn(left, "=~<>!");
        const char *const sign = left + before;
        const int is_bound = (*sign == '<' || *sign == '>') && sign[1] == '=';
        const char *right = sign + (*sign == '!' || is_bound ? 2 : 1);
        const size_t after = *sign ? strcspn(right, "=~<>!;") : 0;
        if (!*sign || count == LAB_LINKS ||
            copy_side(link[count].side[0], left, before) ||
            copy_side(link[count].side[1], right, after))
            return -1;
        link[count++].sign =
            (char)(is_bound ? *sign == '<' ? LAB_AT_MOST : LAB_AT_LEAST : *sign);
        left = right[after] == ';' ? right + after + 1 : right[after] ? right : "";
    }
    return count;
}

static int parse(const char *text, struct lab_expression *formula, char why[LAB_WHY])
{
    struct lab_expression_error error;
    if (!lab_expression_parse(text, formula, &error))
        return 0;
    snprintf(why, LAB_WHY, "%s: %s", text, error.text);
    return LAB_ILL_FORMED;
}

int lab_claim_parse(const struct lab_claim *claim, struct lab_parsed *parsed,
                    char why[LAB_WHY])
{
    struct lab_given *const given[] = {
        &parsed->query[0], &parsed->query[1], &parsed->rival, &parsed->input,
        &parsed->shows[0], &parsed->shows[1], &parsed->spread};
    const char *const text[] = {claim->query[0], claim->query[1], claim->rival,
                                claim->input,    claim->shows[0], claim->shows[1],
                                claim->spread};
    int status = 0;

    parsed->claim = claim;
    parsed->count = claim->text ? split(claim->text, parsed->link) : 0;
    if (parsed->count < 0)
        return -1;
    for (int i = 0; i < 2 * parsed->count && !status; i++) {
        struct lab_link *const link = &parsed->link[i / 2];
        status = parse(link->side[i % 2], &link->formula[i % 2], why);
    }
    for (int i = 0; i < 7 && !status; i++) {
        given[i]->text = text[i];
        if (text[i])
            status = parse(text[i], &given[i]->formula, why);
    }
    return status;
}

int lab_claim_calls(const struct lab_parsed *parsed, const char *function)
{
    for (int i = 0; i < 2 * parsed->count; i++)
        if (lab_expression_calls(&parsed->link[i / 2].formula[i % 2], function))
            return 1;
    return 0;
}

/* Sums over draws of one link. */
struct sums {
    double square, left, right; /* of the difference and of both sides, weighted */
    double entry[2], most;      /* the entry that adds most to `square` */
};

static double norm(const struct lab_value *value)
{
    double sum = 0;
    for (int i = 0; i < value->rows * value->columns; i++)
        sum += value->x[i] * value->x[i];
    return sqrt(sum);
}

/* A bare 0 is the zero of any shape. */
static void fit_zero(const struct lab_link *link, struct lab_value *left,
                     struct lab_value *right)
{
    if (strcmp(link->side[1], "0") != 0)
        return;
    right->rows = left->rows;
    right->columns = left->columns;
    memset(right->x, 0, sizeof right->x);
}

static int sides(struct lab_scope *scope, const struct lab_link *link,
                 struct lab_value value[2])
{
    for (int s = 0; s < 2; s++)
        if (lab_scope_value(scope, link->side[s], &link->formula[s], &value[s]))
            return LAB_ILL_FORMED;
    fit_zero(link, &value[0], &value[1]);
    if (value[0].rows == value[1].rows && value[0].columns == value[1].columns)
        return 0;
    snprintf(scope->why, LAB_WHY, "%s is %d x %d, %s is %d x %d", link->side[0],
             value[0].rows, value[0].columns, link->side[1], value[1].rows,
             value[1].columns);
    return LAB_ILL_FORMED;
}

/* The difference but for rounding, of numbers that are far above 1. */
static double off_by(double left, double right)
{
    const double off = left - right, size = fmax(fabs(left), fabs(right));
    return left == right ||
                   (size > 1 && isfinite(size) && fabs(off) <= LAB_ROUNDING * size)
               ? 0
               : off;
}

/* Of a bound the entry with the least margin is kept. */
static double matters(char sign, double off, double weight)
{
    switch (sign) {
    case '<':
    case LAB_AT_MOST:
        return off;
    case '>':
    case LAB_AT_LEAST:
        return -off;
    default:
        return weight * off * off;
    }
}

static void add(struct sums *sums, char sign, const struct lab_value value[2],
                double weight)
{
    double square = 0;
    for (int i = 0; i < value[0].rows * value[0].columns; i++) {
        const double off = off_by(value[0].x[i], value[1].x[i]);
        const double most = matters(sign, off, weight);
        square += off * off;
        if (!(most <= sums->most)) {
            sums->most = most;
            sums->entry[0] = value[0].x[i];
            sums->entry[1] = value[1].x[i];
        }
    }
    sums->square += weight * square;
    sums->left += weight * norm(&value[0]) * norm(&value[0]);
    sums->right += weight * norm(&value[1]) * norm(&value[1]);
}

/* Root mean square difference; of two quantities that vanish, the relative one. */
static double difference(const struct sums *sums)
{
    const double off = sqrt(sums->square), left = sqrt(sums->left),
                 right = sqrt(sums->right), size = fmax(left, right);
    return left > 0 && right > 0 && size < LAB_VANISHED ? off / size : off;
}

int lab_same_number(double x, double y)
{
    return x == y ||
           (isfinite(x - y) && fabs(x - y) <= 1e-9 * fmax(fabs(x), fabs(y)) + 1e-12);
}

void lab_found_number(struct lab_finding *found, double computed, double claimed)
{
    const double off = fabs(computed - claimed);
    /* Both may also be rounding errors of 0. */
    const int is_zero = claimed == 0 || fmax(fabs(computed), fabs(claimed)) < 1e-14;
    found->computed = computed;
    found->claimed = claimed;
    found->error = 0;
    if (computed != claimed)
        found->error = is_zero ? off : off / fmax(fabs(computed), 1e-300);
    if (!(found->error >= 0))
        found->error = INFINITY;
}

void lab_found_worse(struct lab_finding *found, const struct lab_finding *other)
{
    const int is_further = other->error == found->error && other->sign == '=' &&
                           isnan(found->claimed) && isnan(other->claimed) &&
                           other->computed > found->computed;
    if (other->error > found->error || is_further || *other->why)
        *found = *other;
}

static void found_distance(struct lab_finding *found, double distance)
{
    found->computed = distance >= 0 ? distance : NAN;
    found->claimed = NAN;
    found->error = !(distance >= 0) ? INFINITY : distance > LAB_TOLERANCE ? distance : 0;
}

static double order_error(char sign, double left, double right, int strict)
{
    const double least =
        strict ? 0 : LAB_ROUNDING + LAB_TOLERANCE * fmax(fabs(left), fabs(right));
    switch (sign) {
    case '<':
        return left < right - least ? 0 : 1;
    case '>':
        return left > right + least ? 0 : 1;
    case LAB_AT_MOST:
        return left <= right + LAB_ROUNDING ? 0 : INFINITY;
    case LAB_AT_LEAST:
        return left >= right - LAB_ROUNDING ? 0 : INFINITY;
    default:
        return fabs(left - right) > LAB_TOLERANCE ? 0 : 1;
    }
}

static void conclude(const struct sums *sums, const struct lab_claim *claim,
                     int is_number, struct lab_finding *found)
{
    const int relative = claim->relative;
    found->computed = sums->entry[0];
    found->claimed = sums->entry[1];
    if (relative && found->sign == '=' && is_number)
        lab_found_number(found, sums->entry[0], sums->entry[1]);
    else if (relative && found->sign == '=')
        found_distance(found, sqrt(sums->square));
    else if (found->sign == '=' || found->sign == '~')
        found->error = difference(sums);
    else
        found->error =
            order_error(found->sign, sums->entry[0], sums->entry[1], claim->strict);
    if (!(found->error >= 0))
        found->error = INFINITY;
}

static int evaluate_link(struct lab_scope *scope, const struct lab_link *link,
                         unsigned needs, struct lab_finding *found)
{
    const int64_t count = needs & LAB_NEEDS_EACH ? scope->draws.count : 1;
    struct sums sums = {.most = -INFINITY};
    struct lab_value value[2];
    for (int64_t x = 0; x < count; x++) {
        if (needs & LAB_NEEDS_EACH)
            lab_scope_draw(scope, x);
        if (sides(scope, link, value))
            return LAB_ILL_FORMED;
        add(&sums, link->sign, value, count > 1 ? scope->draws.draw[x].weight : 1);
    }
    *found = (struct lab_finding){.sign = link->sign,
                                  .of_letters = !(needs & ~(unsigned)LAB_NEEDS_GAMMA),
                                  .drawn = count > 1};
    conclude(&sums, scope->claim, value[0].rows * value[0].columns == 1, found);
    return 0;
}

/* The number of a formula, in the first draw. */
static int evaluate_number(struct lab_scope *scope, const struct lab_given *given,
                           double *number)
{
    struct lab_value value;
    if (!given->text)
        return 0;
    if (scope->draws.count)
        lab_scope_draw(scope, 0);
    const int status = lab_scope_value(scope, given->text, &given->formula, &value);
    if (!status)
        *number = value.x[0];
    return status;
}

int lab_parsed_evaluate(const struct lab_parsed *parsed, const struct lab_point *point,
                        const struct lab_put *put, struct lab_findings *found,
                        char why[LAB_WHY])
{
    const struct lab_given *const numbers[] = {&parsed->shows[0], &parsed->shows[1],
                                               &parsed->spread};
    double *const to[] = {&found->shown[0], &found->shown[1], &found->spread};
    struct lab_scope scope;
    struct lab_value value[2];
    unsigned needs[LAB_LINKS], all = 0;
    int status = lab_scope_open(&scope, parsed, point, put);

    found->count = parsed->count;
    found->shown[0] = found->shown[1] = NAN;
    found->spread = 0;
    for (int i = 0; i < 3; i++)
        if (numbers[i]->text)
            all |= lab_scope_needs(&scope, &numbers[i]->formula);
    for (int i = 0; i < found->count && !status; i++) {
        const struct lab_link *const link = &parsed->link[i];
        needs[i] = lab_scope_needs(&scope, &link->formula[0]) |
                   lab_scope_needs(&scope, &link->formula[1]);
        all |= needs[i];
        /* Shapes are checked before numbers. */
        status = sides(&scope, link, value);
    }
    if (!status)
        status = lab_scope_fill(&scope, all);
    for (int i = 0; i < found->count && !status; i++)
        status = evaluate_link(&scope, &parsed->link[i], needs[i], &found->link[i]);
    for (int i = 0; i < 3 && !status; i++)
        status = evaluate_number(&scope, numbers[i], to[i]);
    if (status == LAB_ILL_FORMED)
        memcpy(why, scope.why, LAB_WHY);
    lab_scope_close(&scope);
    return status;
}

int lab_claim_evaluate(const struct lab_claim *claim, const struct lab_point *point,
                       struct lab_findings *found, char why[LAB_WHY])
{
    struct lab_parsed *const parsed = malloc(sizeof *parsed);
    int status = parsed ? lab_claim_parse(claim, parsed, why) : -1;
    if (!status)
        status = lab_parsed_evaluate(parsed, point, NULL, found, why);
    free(parsed);
    return status;
}

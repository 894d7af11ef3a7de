/* SPDX-License-Identifier: MIT */
/* A claim's text: links of formulas, and how far each is from true at a point. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lab/sheets/scope.h"

/* "left sign right"; the texts are copied. */
struct link {
    char sign;
    char side[2][LAB_CLAIM_TEXT];
    struct lab_expression formula[2];
    unsigned needs;
};

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

/* Splits at = ~ < > != and ; the count of links, or -1 when the text is no claim. */
static int split(const char *text, struct link *link)
{
    int count = 0;
    for (const char *left = text; *left;) {
        const size_t before = strcspn(left, "=~<>!");
        const char *const sign = left + before;
        const char *right = sign + (*sign == '!' ? 2 : 1);
        const size_t after = *sign ? strcspn(right, "=~<>!;") : 0;
        if (!*sign || count == LAB_LINKS ||
            copy_side(link[count].side[0], left, before) ||
            copy_side(link[count].side[1], right, after))
            return -1;
        link[count++].sign = *sign;
        left = right[after] == ';' ? right + after + 1 : right[after] ? right : "";
    }
    return count;
}

static int parse(struct link *link, int count, char *why, size_t size)
{
    struct lab_expression_error error;
    for (int i = 0; i < count; i++)
        for (int s = 0; s < 2; s++)
            if (lab_expression_parse(link[i].side[s], &link[i].formula[s], &error)) {
                snprintf(why, size, "%s: %s", link[i].side[s], error.text);
                return LAB_ILL_FORMED;
            }
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
static void fit_zero(const struct link *link, struct lab_value *left,
                     struct lab_value *right)
{
    if (strcmp(link->side[1], "0") != 0)
        return;
    right->rows = left->rows;
    right->columns = left->columns;
    memset(right->x, 0, sizeof right->x);
}

static int sides(const struct lab_scope *scope, const struct link *link,
                 struct lab_value value[2], char *why, size_t size)
{
    struct lab_expression_error error;
    for (int s = 0; s < 2; s++)
        if (lab_expression_evaluate(&link->formula[s], scope->letter, scope->count,
                                    &value[s], &error)) {
            snprintf(why, size, "%s: %s", link->side[s], error.text);
            return LAB_ILL_FORMED;
        }
    fit_zero(link, &value[0], &value[1]);
    if (value[0].rows == value[1].rows && value[0].columns == value[1].columns)
        return 0;
    snprintf(why, size, "%s is %d x %d, %s is %d x %d", link->side[0], value[0].rows,
             value[0].columns, link->side[1], value[1].rows, value[1].columns);
    return LAB_ILL_FORMED;
}

static void add(struct sums *sums, const struct lab_value value[2], double weight)
{
    double square = 0;
    for (int i = 0; i < value[0].rows * value[0].columns; i++) {
        const double off = value[0].x[i] - value[1].x[i];
        square += off * off;
        if (!(weight * off * off <= sums->most)) {
            sums->most = weight * off * off;
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

static void conclude(const struct link *link, const struct sums *sums,
                     struct lab_found *found)
{
    const double left = sums->entry[0], right = sums->entry[1];
    const double least = LAB_ROUNDING + LAB_TOLERANCE * fmax(fabs(left), fabs(right));
    *found = (struct lab_found){.sign = link->sign,
                                .of_letters = !(link->needs & ~(unsigned)LAB_NEEDS_GAMMA),
                                .measured = left,
                                .expected = right};
    if (link->sign == '<')
        found->error = left < right - least ? 0 : 1;
    else if (link->sign == '>')
        found->error = left > right + least ? 0 : 1;
    else if (link->sign == '!')
        found->error = fabs(left - right) > LAB_TOLERANCE ? 0 : 1;
    else
        found->error = difference(sums);
    if (!(found->error >= 0))
        found->error = INFINITY;
}

static int evaluate_link(struct lab_scope *scope, const struct link *link,
                         struct lab_found *found, char *why, size_t size)
{
    const int64_t count = link->needs & LAB_NEEDS_EACH ? scope->draws.count : 1;
    struct sums sums = {.most = -1};
    struct lab_value value[2];
    for (int64_t x = 0; x < count; x++) {
        if (link->needs & LAB_NEEDS_EACH)
            lab_scope_draw(scope, x);
        if (sides(scope, link, value, why, size))
            return LAB_ILL_FORMED;
        add(&sums, value, count > 1 ? scope->draws.draw[x].weight : 1);
    }
    conclude(link, &sums, found);
    found->drawn = count > 1;
    return 0;
}

int lab_claim_evaluate(const struct lab_claim *claim, const struct lab_point *point,
                       struct lab_findings_at *found, char *why, size_t size)
{
    struct link *const link = malloc(LAB_LINKS * sizeof *link);
    struct lab_scope scope;
    struct lab_value value[2];
    unsigned needs = 0;

    if (!link)
        return -1;
    found->count = split(claim->text, link);
    int status = found->count < 0 ? -1 : lab_scope_open(&scope, claim, point);
    if (!status)
        status = parse(link, found->count, why, size);
    for (int i = 0; i < found->count && !status; i++) {
        link[i].needs = lab_scope_needs(&scope, &link[i].formula[0]) |
                        lab_scope_needs(&scope, &link[i].formula[1]);
        needs |= link[i].needs;
    }
    /* Shapes do not wait for numbers. */
    for (int i = 0; i < found->count && !status; i++)
        status = sides(&scope, &link[i], value, why, size);
    if (!status)
        status = lab_scope_fill(&scope, needs, why, size);
    for (int i = 0; i < found->count && !status; i++)
        status = evaluate_link(&scope, &link[i], &found->link[i], why, size);
    if (found->count >= 0)
        lab_scope_close(&scope);
    free(link);
    return status;
}

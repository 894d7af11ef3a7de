/* SPDX-License-Identifier: MIT */
/* Whether a claim is well formed: shapes of both sides, and letters used twice. */
#include <stdio.h>
#include <string.h>

#include "lab/sheets/judge.h"

/* Sizes are letters, so that equal numbers never hide a difference. */
struct shape {
    char rows, columns;
};

static const struct object {
    const char *name;
    struct shape shape;
} objects[] = {
    {"A", {'d', 'm'}},     {"A^T", {'m', 'd'}},     {"B", {'d', 'p'}},
    {"M", {'d', 'd'}},     {"c", {'m', '1'}},       {"c(R^d)", {'d', '1'}},
    {"v_a", {'d', '1'}},   {"v_b", {'d', '1'}},     {"v_i", {'d', '1'}},
    {"mu_i", {'d', '1'}},  {"m_b", {'d', '1'}},     {"output", {'d', '1'}},
    {"score", {'1', '1'}}, {"alpha_i", {'1', '1'}}, {"beta", {'1', '1'}},
    {"|m_b|", {'1', '1'}}, {"n/(j-1)", {'1', '1'}}, {"a_i^T", {'1', 'd'}},
    {"b_i", {'d', '1'}},   {"d_i", {'1', '1'}},     {"(a_i^Tb_j)_i", {'m', '1'}},
    {"X", {'T', 'd'}},     {"Pi", {'T', 'T'}},      {"W", {'d', 'd'}},
    {"Sigma", {'d', 'd'}},
};

static const char *const meanings[] = {
    [LAB_MEANS_KEYS] = "the number of keys",
    [LAB_MEANS_BASIS] = "the number of basis vectors",
    [LAB_MEANS_SCALE] = "the scale of the query",
    [LAB_MEANS_NOISE] = "the variance of the keys",
    [LAB_MEANS_WEIGHT] = "an attention weight",
    [LAB_MEANS_OUTPUT] = "the output of attention",
    [LAB_MEANS_MEAN] = "the mean of a key",
    [LAB_MEANS_COVARIANCE] = "the covariance of a key",
    [LAB_MEANS_VALUE] = "a value vector",
    [LAB_MEANS_KEY] = "the index of a key",
    [LAB_MEANS_OTHER_KEY] = "the index of another key",
};

/* An unknown name has no shape, and so fits nothing. */
static struct shape shape_of(const struct lab_exercise *exercise, const char *name,
                             size_t length)
{
    for (size_t o = 0; o < sizeof objects / sizeof objects[0]; o++)
        if (strlen(objects[o].name) == length && !memcmp(objects[o].name, name, length)) {
            const struct shape shape = objects[o].shape;
            if (exercise->columns && shape.rows == 'T' && shape.columns == 'd')
                return (struct shape){'d', 'T'};
            return shape;
        }
    return (struct shape){'?', '!'};
}

static int is_number(struct shape shape)
{
    return shape.rows == '1' && shape.columns == '1';
}

/* The shape of a product of names separated by blanks; 0 if its factors do not fit. */
static int shape_of_product(const struct lab_exercise *exercise, const char *product,
                            struct shape *shape, char *why, size_t size)
{
    *shape = (struct shape){'1', '1'};
    for (const char *name = product; *name;) {
        const size_t length = strcspn(name, " ");
        const struct shape next = shape_of(exercise, name, length);
        if (is_number(*shape))
            *shape = next;
        else if (!is_number(next)) {
            if (shape->columns != next.rows) {
                snprintf(why, size, "in %s, %c x %c does not multiply %c x %c", product,
                         shape->rows, shape->columns, next.rows, next.columns);
                return 0;
            }
            shape->columns = next.columns;
        }
        name += length + strspn(name + length, " ");
    }
    return 1;
}

int lab_well_formed(const struct lab_exercise *exercise, const struct lab_claim *claim,
                    char *why, size_t size)
{
    const struct lab_symbol *const symbol = &claim->symbol;
    struct shape left, right;

    if (claim->left && (!shape_of_product(exercise, claim->left, &left, why, size) ||
                        !shape_of_product(exercise, claim->right, &right, why, size)))
        return 0;
    if (claim->left && (left.rows != right.rows || left.columns != right.columns)) {
        snprintf(why, size, "%s is %c x %c, %s is %c x %c", claim->left, left.rows,
                 left.columns, claim->right, right.rows, right.columns);
        return 0;
    }
    if (symbol->letter && symbol->prior != symbol->here) {
        snprintf(why, size, "%s means %s since line %d, here %s", symbol->letter,
                 meanings[symbol->prior], symbol->line, meanings[symbol->here]);
        return 0;
    }
    return 1;
}

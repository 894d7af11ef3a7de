/* SPDX-License-Identifier: MIT */
/*
 * Fuzz the expression parser.  A parsed formula evaluates, or fails with a position; both
 * are repeatable, and values stay within their bounds.
 */
#include "lab/language/expression.h"

#include <string.h>

#include "demand.h"

static void check_error(const struct lab_expression_error *error, size_t size)
{
    demand(error->column >= 1 && (size_t)error->column <= size + 1, "a column");
    demand(*error->text && !strchr(error->text, '\n'), "one line");
    demand(strlen(error->text) < sizeof error->text - 1, "a whole line");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const double x[12] = {1, 2, -3, 0.5, 7, -1, 0.25, 9, 4, 4, 3, 2};
    static const struct lab_letter letters[] = {
        {"C", 1, 1, x}, {"n", 1, 1, x + 4}, {"v", 4, 1, x},    {"w", 4, 1, x + 4},
        {"A", 4, 3, x}, {"S", 3, 3, x + 2}, {"alpha", 1, 1, x}};
    const int count = sizeof letters / sizeof letters[0];
    char *const text = malloc(size + 1);
    struct lab_expression expression;
    struct lab_expression_error error = {0};
    struct lab_value value, again;

    if (!text)
        return 0;
    memcpy(text, data, size);
    text[size] = 0;
    if (lab_expression_parse(text, &expression, &error))
        check_error(&error, size);
    else if (lab_expression_evaluate(&expression, letters, count, &value, &error))
        check_error(&error, size);
    else {
        demand(value.rows >= 1 && value.rows <= LAB_VALUE_SIDE, "rows");
        demand(value.columns >= 1 && value.columns <= LAB_VALUE_SIDE, "columns");
        lab_expression_evaluate(&expression, letters, count, &again, &error);
        demand(again.rows == value.rows && again.columns == value.columns &&
                   !memcmp(again.x, value.x,
                           sizeof(double) * (size_t)(value.rows * value.columns)),
               "the same again");
    }
    free(text);
    return 0;
}

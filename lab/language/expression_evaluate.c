/* SPDX-License-Identifier: MIT */
/* Steps on a stack of values. */
#include <math.h>
#include <string.h>

#include "lab/language/expression_parts.h"

static const struct constant {
    const char *name;
    double value;
} constants[] = {
    {"pi", 3.14159265358979323846}, {"e", 2.71828182845904523536}, {"inf", INFINITY}};

static void set_number(struct lab_value *value, double number)
{
    value->rows = value->columns = 1;
    value->x[0] = number;
}

void lab_place_letters(const struct lab_place *place, int count, const void *room,
                       struct lab_letter *letter)
{
    for (int i = 0; i < count; i++) {
        const void *const x = (const char *)room + place[i].offset;
        letter[i] =
            (struct lab_letter){place[i].name, place[i].rows, place[i].columns, x};
    }
}

static int bind(const char *name, const struct lab_letter *letters, int count,
                struct lab_value *value)
{
    for (int i = 0; i < count; i++)
        if (!strcmp(letters[i].name, name)) {
            value->rows = letters[i].rows;
            value->columns = letters[i].columns;
            memcpy(value->x, letters[i].x,
                   sizeof(double) * (size_t)(value->rows * value->columns));
            return 0;
        }
    for (size_t i = 0; i < sizeof constants / sizeof constants[0]; i++)
        if (!strcmp(constants[i].name, name)) {
            set_number(value, constants[i].value);
            return 0;
        }
    return -1;
}

static int push_letter(const char *name, int column, const struct lab_letter *letters,
                       int count, struct lab_value *value,
                       struct lab_expression_error *error)
{
    if (!bind(name, letters, count, value))
        return 0;
    if (lab_function_find(name) >= 0)
        return lab_expression_fail(error, column, "%s needs its argument in parentheses",
                                   name);
    return lab_expression_fail(error, column, "no letter '%s' here", name);
}

/* An operation on one value, in place. */
static int apply_one(const struct lab_expression_step *step, struct lab_value *x,
                     struct lab_expression_error *error)
{
    if (step->what == LAB_STEP_TRANSPOSE) {
        lab_value_transpose(x);
        return 0;
    }
    if (step->what == LAB_STEP_NEGATE) {
        for (int i = 0; i < x->rows * x->columns; i++)
            x->x[i] = -x->x[i];
        return 0;
    }
    const int function = step->what - LAB_STEP_FUNCTION;
    const int rows = x->rows, columns = x->columns;
    if (!lab_function_apply(function, x))
        return 0;
    return lab_expression_fail(error, step->column, "%s of a %d x %d: it takes a number",
                               lab_function_name(function), rows, columns);
}

static int misfit(const struct lab_expression_step *step, const struct lab_value *x,
                  const struct lab_value *y, struct lab_expression_error *error)
{
    static const char *const why[] = {
        [LAB_STEP_ADD] = "sums need equal shapes",
        [LAB_STEP_SUBTRACT] = "differences need equal shapes",
        [LAB_STEP_MULTIPLY] = "columns and rows must agree",
        [LAB_STEP_DIVIDE] = "only a number divides",
        [LAB_STEP_POWER] = "a square matrix has whole powers, -16 to 16, and any has ^T",
    };
    static const char sign[] = {
        [LAB_STEP_ADD] = '+',    [LAB_STEP_SUBTRACT] = '-', [LAB_STEP_MULTIPLY] = '*',
        [LAB_STEP_DIVIDE] = '/', [LAB_STEP_POWER] = '^',
    };
    return lab_expression_fail(error, step->column, "%d x %d %c %d x %d: %s", x->rows,
                               x->columns, sign[step->what], y->rows, y->columns,
                               why[step->what]);
}

/* An operation on two values, into the first. */
static int apply_two(const struct lab_expression_step *step, struct lab_value *x,
                     const struct lab_value *y, struct lab_expression_error *error)
{
    int status = 0;
    switch (step->what) {
    case LAB_STEP_ADD:
        status = lab_value_add(x, y, 1);
        break;
    case LAB_STEP_SUBTRACT:
        status = lab_value_add(x, y, -1);
        break;
    case LAB_STEP_MULTIPLY:
        status = lab_value_multiply(x, y);
        break;
    case LAB_STEP_DIVIDE:
        status = lab_value_divide(x, y);
        break;
    default:
        status = lab_value_power(x, y);
    }
    return status ? misfit(step, x, y, error) : 0;
}

int lab_expression_evaluate(const struct lab_expression *expression,
                            const struct lab_letter *letters, int count,
                            struct lab_value *value, struct lab_expression_error *error)
{
    struct lab_value stack[LAB_EXPRESSION_STACK + 1]; /* its bottom is never popped */
    int top = 0;

    set_number(&stack[0], 0);
    for (int s = 0; s < expression->steps; s++) {
        const struct lab_expression_step *const step = &expression->step[s];
        int status = 0;
        if (step->what == LAB_STEP_NUMBER)
            set_number(&stack[++top], step->number);
        else if (step->what == LAB_STEP_LETTER)
            status = push_letter(expression->letter[step->letter], step->column, letters,
                                 count, &stack[++top], error);
        else if (step->what >= LAB_STEP_ADD && step->what <= LAB_STEP_POWER) {
            top--;
            status = apply_two(step, &stack[top], &stack[top + 1], error);
        } else
            status = apply_one(step, &stack[top], error);
        if (status)
            return -1;
    }
    memcpy(value, &stack[top], sizeof *value);
    return 0;
}

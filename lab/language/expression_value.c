/* SPDX-License-Identifier: MIT */
/* Arithmetic of numbers, vectors and matrices, and functions of them. */
#include <math.h>
#include <string.h>

#include "lab/language/expression_parts.h"

int lab_value_is_number(const struct lab_value *x)
{
    return x->rows == 1 && x->columns == 1;
}

static int count(const struct lab_value *x) { return x->rows * x->columns; }

int lab_value_add(struct lab_value *x, const struct lab_value *y, double sign)
{
    if (x->rows != y->rows || x->columns != y->columns)
        return -1;
    for (int i = 0; i < count(x); i++)
        x->x[i] += sign * y->x[i];
    return 0;
}

static void scale(struct lab_value *x, double factor)
{
    for (int i = 0; i < count(x); i++)
        x->x[i] *= factor;
}

int lab_value_multiply(struct lab_value *x, const struct lab_value *y)
{
    if (lab_value_is_number(y)) {
        scale(x, y->x[0]);
        return 0;
    }
    const struct lab_value left = *x;
    if (lab_value_is_number(&left)) {
        *x = *y;
        scale(x, left.x[0]);
        return 0;
    }
    if (left.columns != y->rows)
        return -1;
    x->columns = y->columns;
    for (int r = 0; r < x->rows; r++)
        for (int c = 0; c < x->columns; c++) {
            double sum = 0;
            for (int k = 0; k < left.columns; k++)
                sum += left.x[r * left.columns + k] * y->x[k * y->columns + c];
            x->x[r * x->columns + c] = sum;
        }
    return 0;
}

int lab_value_divide(struct lab_value *x, const struct lab_value *y)
{
    if (!lab_value_is_number(y))
        return -1;
    for (int i = 0; i < count(x); i++)
        x->x[i] /= y->x[0];
    return 0;
}

void lab_value_transpose(struct lab_value *x)
{
    const struct lab_value from = *x;
    x->rows = from.columns;
    x->columns = from.rows;
    for (int r = 0; r < x->rows; r++)
        for (int c = 0; c < x->columns; c++)
            x->x[r * x->columns + c] = from.x[c * from.columns + r];
}

static void swap_rows(double *x, int columns, int r, int s)
{
    for (int c = 0; c < columns; c++) {
        const double held = x[r * columns + c];
        x[r * columns + c] = x[s * columns + c];
        x[s * columns + c] = held;
    }
}

static void set_unit(struct lab_value *x)
{
    memset(x->x, 0, sizeof x->x);
    for (int i = 0; i < x->rows; i++)
        x->x[i * x->rows + i] = 1;
}

/* Gauss-Jordan with row pivots; a singular matrix leaves inf and NaN, as 1/0 does. */
static void invert(struct lab_value *x)
{
    const int n = x->rows;
    struct lab_value from = *x;

    set_unit(x);
    for (int c = 0; c < n; c++) {
        int pivot = c;
        for (int r = c + 1; r < n; r++)
            if (fabs(from.x[r * n + c]) > fabs(from.x[pivot * n + c]))
                pivot = r;
        swap_rows(from.x, n, c, pivot);
        swap_rows(x->x, n, c, pivot);
        const double divisor = from.x[c * n + c];
        for (int k = 0; k < n; k++) {
            from.x[c * n + k] /= divisor;
            x->x[c * n + k] /= divisor;
        }
        for (int r = 0; r < n; r++) {
            const double factor = from.x[r * n + c];
            for (int k = 0; r != c && k < n; k++) {
                from.x[r * n + k] -= factor * from.x[c * n + k];
                x->x[r * n + k] -= factor * x->x[c * n + k];
            }
        }
    }
}

int lab_value_power(struct lab_value *x, const struct lab_value *y)
{
    if (!lab_value_is_number(y))
        return -1;
    if (lab_value_is_number(x)) {
        x->x[0] = pow(x->x[0], y->x[0]);
        return 0;
    }
    const double power = y->x[0];
    if (x->rows != x->columns || power != floor(power) ||
        fabs(power) > LAB_EXPRESSION_POWER)
        return -1;
    if (power < 0)
        invert(x);
    if (power == 0)
        set_unit(x);
    const struct lab_value factor = *x;
    for (int k = 1; k < (int)fabs(power); k++)
        lab_value_multiply(x, &factor);
    return 0;
}

/* ---- functions ----------------------------------------------------------------- */

static double normal_distribution(double x) { return 0.5 * erfc(-x / sqrt(2)); }
static double logistic(double x) { return 1 / (1 + exp(-x)); }

static double norm_of(const struct lab_value *x)
{
    double sum = 0;
    for (int i = 0; i < count(x); i++)
        sum += x->x[i] * x->x[i];
    return sqrt(sum);
}

static double sum_of(const struct lab_value *x)
{
    double sum = 0;
    for (int i = 0; i < count(x); i++)
        sum += x->x[i];
    return sum;
}

static double trace_of(const struct lab_value *x)
{
    double sum = 0;
    for (int i = 0; i < x->rows && i < x->columns; i++)
        sum += x->x[i * x->columns + i];
    return sum;
}

/* Of every row, or of a column. */
static void softmax_in_place(struct lab_value *x)
{
    const int rows = x->columns == 1 ? 1 : x->rows, size = count(x) / rows;
    for (int r = 0; r < rows; r++) {
        double *const row = x->x + r * size, top = row[0], sum = 0;
        for (int i = 1; i < size; i++)
            top = fmax(top, row[i]);
        for (int i = 0; i < size; i++)
            sum += row[i] = exp(row[i] - top);
        for (int i = 0; i < size; i++)
            row[i] /= sum;
    }
}

static const struct function {
    const char *name;
    double (*of_number)(double);                  /* or */
    double (*of_value)(const struct lab_value *); /* or */
    void (*in_place)(struct lab_value *);
} functions[] = {
    {"sqrt", sqrt, NULL, NULL},
    {"exp", exp, NULL, NULL},
    {"ln", log, NULL, NULL},
    {"log", log, NULL, NULL},
    {"abs", fabs, NULL, NULL},
    {"sin", sin, NULL, NULL},
    {"cos", cos, NULL, NULL},
    {"tanh", tanh, NULL, NULL},
    {"asin", asin, NULL, NULL},
    {"atan", atan, NULL, NULL},
    {"Phi", normal_distribution, NULL, NULL},
    {"sg", logistic, NULL, NULL},
    {"norm", NULL, norm_of, NULL},
    {"sum", NULL, sum_of, NULL},
    {"tr", NULL, trace_of, NULL},
    {"softmax", NULL, NULL, softmax_in_place},
};

enum { FUNCTIONS = sizeof functions / sizeof functions[0] };

int lab_function_find(const char *name)
{
    for (int f = 0; f < FUNCTIONS; f++)
        if (!strcmp(functions[f].name, name))
            return f;
    return -1;
}

const char *lab_function_name(int function) { return functions[function].name; }

int lab_function_apply(int function, struct lab_value *value)
{
    const struct function *const f = &functions[function];
    if (f->of_number && !lab_value_is_number(value))
        return -1;
    if (f->in_place) {
        f->in_place(value);
        return 0;
    }
    value->x[0] = f->of_number ? f->of_number(value->x[0]) : f->of_value(value);
    value->rows = value->columns = 1;
    return 0;
}

/* SPDX-License-Identifier: MIT */
/*
 * The expression language: values against plain arithmetic, errors with their positions.
 */
#include "support/test.h"

#include <math.h>
#include <string.h>

#include "lab/language/expression.h"

static const double two = 2, three = 3, ten = 10;
static const double x[] = {1, -2, 0.5}, y[] = {4, 3, 2};
static const double a[] = {1, 2, 3, 4, 5, 6}; /* 3 x 2 */
static const double s[] = {4, 7, 2, 6};       /* inverse: .6 -.7 -.2 .4 */
static const struct lab_letter letters[] = {
    {"C", 1, 1, &ten}, {"beta", 1, 1, &three}, {"b", 1, 1, &two}, {"mu_a", 3, 1, x},
    {"mu_b", 3, 1, y}, {"A", 3, 2, a},         {"S", 2, 2, s},
};
enum { LETTERS = sizeof letters / sizeof letters[0] };

static int evaluate(const char *text, struct lab_value *value,
                    struct lab_expression_error *error)
{
    struct lab_expression expression;
    return lab_expression_parse(text, &expression, error) ||
           lab_expression_evaluate(&expression, letters, LETTERS, value, error);
}

TEST(numbers)
{
    static const struct {
        const char *text;
        double value;
    } cases[] = {
        {"1 + 2 * 3", 7},
        {"(1 + 2) * 3", 9},
        {"2 - 3 - 4", -5},
        {"16 / 4 / 2", 2},
        {"-2^2", -4},
        {"2^3^2", 512},
        {"2^-1", 0.5},
        {"--2", 2},
        {"1.5e2 + .5", 150.5},
        {"C", 10},
        {"2 C", 20},
        {"2C^2", 200},
        {"2e^b", 2 * 7.38905609893065},
        {"(1/2) C", 5},
        {"beta b (1 + 1)", 12},
        {"β*3", 9},
        {"C·b − 1", 19},
        {"sqrt(C + 6)", 4},
        {"exp(0) + ln(e)", 2},
        {"abs(-3)", 3},
        {"Phi(0)", 0.5},
        {"sg(0)", 0.5},
        {"sin(pi/2)", 1},
        {"4 atan(1)", 3.14159265358979},
        {"e^{2 b - 4}", 1},
        {"\\frac{C}{b}", 5},
        {"\\frac{1}{2} C", 5},
        {"1 - \\dfrac{1}{2^{b}}", 0.75},
        {"\\sqrt{C + 6}", 4},
        {"\\ln\\frac{C}{10}", 0},
        {"\\Phi\\left(\\frac{0}{b}\\right)", 0.5},
        {"$C \\cdot b \\times 2$", 40},
        {"\\(\\beta\\,b\\)", 6},
        {"\\mathrm{C} - \\mathbf{b}", 8},
        {"\\mu_{a}^{\\top} \\mu_b", -1},
        {"mu_a^{T} \\mathbf{mu}_b", -1},
        {"\\sin(\\pi/2)", 1},
        {"norm(mu_b)", 5.385164807134504},
        {"sum(A)", 21},
        {"tr(S)", 10},
        {"mu_a^T mu_b", -1},
        {"mu_a' * mu_b", -1},
        {"1/(1+e^(-0))", 0.5},
        {"(mu_a^T mu_b)^2", 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct lab_value value;
        struct lab_expression_error error = {0};
        CHECK(!evaluate(cases[i].text, &value, &error), "%s: column %d: %s",
              cases[i].text, error.column, error.text);
        CHECK(value.rows == 1 && value.columns == 1 &&
                  fabs(value.x[0] - cases[i].value) <= 1e-12 * (1 + fabs(cases[i].value)),
              "%s = %.17g", cases[i].text, value.x[0]);
    }
}

TEST(what_is_not_finite)
{
    struct lab_value value;
    struct lab_expression_error error;
    CHECK(!evaluate("1/0", &value, &error) && isinf(value.x[0]), "%g", value.x[0]);
    CHECK(!evaluate("-inf", &value, &error) && value.x[0] == -INFINITY, "%g", value.x[0]);
    CHECK(!evaluate("exp(1000)", &value, &error) && isinf(value.x[0]), "%g", value.x[0]);
    CHECK(!evaluate("ln(-1)", &value, &error) && isnan(value.x[0]), "%g", value.x[0]);
    CHECK(!evaluate("(-8)^(1/3)", &value, &error) && isnan(value.x[0]), "%g", value.x[0]);
    CHECK(!evaluate("(S - S)^-1", &value, &error) && !isfinite(value.x[0]), "%g",
          value.x[0]);
}

TEST(matrices)
{
    static const struct {
        const char *text;
        int rows, columns;
        double x[9];
    } cases[] = {
        {"C (mu_a + mu_b)", 3, 1, {50, 10, 25}},
        {"mu_a - mu_b/2", 3, 1, {-1, -3.5, -0.5}},
        {"-mu_a", 3, 1, {-1, 2, -0.5}},
        {"A^T", 2, 3, {1, 3, 5, 2, 4, 6}},
        {"A^T A", 2, 2, {35, 44, 44, 56}},
        {"A A^T", 3, 3, {5, 11, 17, 11, 25, 39, 17, 39, 61}},
        {"S^-1", 2, 2, {0.6, -0.7, -0.2, 0.4}},
        {"S^T^-1", 2, 2, {0.6, -0.2, -0.7, 0.4}},
        {"S S^-1", 2, 2, {1, 0, 0, 1}},
        {"S^0", 2, 2, {1, 0, 0, 1}},
        {"S^2", 2, 2, {30, 70, 20, 50}},
        {"S^-2", 2, 2, {0.5, -0.7, -0.2, 0.3}},
        {"mu_a*mu_b^T", 3, 3, {4, 3, 2, -8, -6, -4, 2, 1.5, 1}},
        {"A'A", 2, 2, {35, 44, 44, 56}},
        {"μ_a + μ_b", 3, 1, {5, 1, 2.5}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct lab_value value;
        struct lab_expression_error error = {0};
        CHECK(!evaluate(cases[i].text, &value, &error), "%s: column %d: %s",
              cases[i].text, error.column, error.text);
        CHECK(value.rows == cases[i].rows && value.columns == cases[i].columns,
              "%s is %d x %d", cases[i].text, value.rows, value.columns);
        for (int k = 0; k < value.rows * value.columns; k++)
            CHECK(fabs(value.x[k] - cases[i].x[k]) < 1e-12, "%s: entry %d is %.17g",
                  cases[i].text, k, value.x[k]);
    }
}

TEST(errors_name_their_place)
{
    static const struct {
        const char *text;
        int column;
        const char *says;
    } cases[] = {
        {"", 1, "empty"},
        {"   ", 1, "empty"},
        {"1 +", 4, "missing at the end"},
        {"(1 + 2", 7, "')' is missing"},
        {"(1 + 2}", 7, "'}' where ')' should be"},
        {"1 + 2)", 6, "')' where an operation should be"},
        {"1/2 C", 5, "after a division"},
        {"C 2", 3, "write * before it"},
        {"C $ 2", 3, "unexpected '$'"},
        {"\\tilde C", 1, "unexpected '\\tilde'"},
        {"\\frac 1 2", 7, "a number where '{' should be"},
        {"C_{a", 1, "not closed"},
        {"C + \\frac", 10, "'{' is missing"},
        {"\\mathrm{}", 1, "a letter is missing"},
        {"β²", 2, "'²': write ^2"},
        {"C + ½", 5, "unexpected '½'"},
        {"C \xe2\x82", 3, "unexpected byte 0xe2"},
        {"C \x01", 3, "unexpected byte 0x01"},
        {"β + mu_c", 5, "no letter 'mu_c'"},
        {"ln 2", 4, "write * before it"},
        {"ln C", 1, "parentheses"},
        {"mu_a + 1", 6, "3 x 1 + 1 x 1: sums need equal shapes"},
        {"A A", 3, "3 x 2 * 3 x 2: columns and rows must agree"},
        {"mu_a mu_b", 6, "3 x 1 * 3 x 1: columns"},
        {"1/mu_a", 2, "1 x 1 / 3 x 1: only a number divides"},
        {"A^2", 2, "whole powers"},
        {"S^0.5", 2, "whole powers"},
        {"S^17", 2, "whole powers"},
        {"exp(mu_a)", 1, "exp of a 3 x 1: it takes a number"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct lab_value value;
        struct lab_expression_error error = {0};
        CHECK(evaluate(cases[i].text, &value, &error), "'%s' passed", cases[i].text);
        CHECK(error.column == cases[i].column && strstr(error.text, cases[i].says),
              "'%s': column %d: %s", cases[i].text, error.column, error.text);
    }
}

/* `count` times `left`, then "C", then `count` times `right`. */
static int evaluate_nest(const char *left, const char *right, int count,
                         struct lab_expression_error *error)
{
    char text[8000] = "";
    struct lab_value value;
    for (int i = 0; i < count; i++)
        strcat(text, left);
    strcat(text, "C");
    for (int i = 0; i < count; i++)
        strcat(text, right);
    return evaluate(text, &value, error);
}

TEST(sizes_are_bounded)
{
    struct lab_expression_error error;
    CHECK(!evaluate_nest("(", ")", 31, &error), "31 parentheses: %s", error.text);
    CHECK(evaluate_nest("(", ")", 32, &error) && strstr(error.text, "nested"), "%s",
          error.text);
    CHECK(evaluate_nest("-", "", 32, &error) && strstr(error.text, "nested"), "%s",
          error.text);
    CHECK(evaluate_nest("1+(", ")", 16, &error) && strstr(error.text, "operands wait"),
          "%s", error.text);
    CHECK(!evaluate_nest("C+", "", 127, &error), "%s", error.text);
    CHECK(evaluate_nest("C+", "", 128, &error) && strstr(error.text, "more than 256"),
          "%s", error.text);
    CHECK(evaluate_nest("(1)+", "", 300, &error) && strstr(error.text, "1000 bytes"),
          "%s", error.text);
    struct lab_value value;
    CHECK(evaluate("abcdefghijklmnopqrstuvwxyzabcdef", &value, &error) &&
              strstr(error.text, "31 bytes"),
          "%s", error.text);
}

TEST(letters_are_found)
{
    struct lab_expression expression;
    struct lab_expression_error error;
    CHECK(!lab_expression_parse("C (μ_a + mu_b)", &expression, &error), "%s", error.text);
    CHECK(lab_expression_uses(&expression, "C"), "C");
    CHECK(lab_expression_uses(&expression, "mu_a"), "mu_a");
    CHECK(!lab_expression_uses(&expression, "alpha"), "alpha");
}

static double value_of(const struct lab_expression *expression)
{
    struct lab_expression_error error;
    struct lab_value value;
    if (lab_expression_evaluate(expression, letters, LETTERS, &value, &error) ||
        value.rows != 1)
        return NAN;
    return value.x[0];
}

TEST(formulas_in_place_of_letters)
{
    struct lab_expression expression;
    struct lab_expression_error error;

    CHECK(!lab_expression_parse("β b^2 - C/b", &expression, &error), "%s", error.text);
    CHECK(!lab_expression_put(&expression, "b", "C - beta") &&
              fabs(value_of(&expression) - (3 * 49 - 10 / 7.0)) < 1e-12,
          "%g", value_of(&expression));
    CHECK(!lab_expression_put(&expression, "beta", "beta + 1") &&
              fabs(value_of(&expression) - (4 * 36 - 10 / 6.0)) < 1e-12,
          "%g", value_of(&expression));
    CHECK(!lab_expression_put(&expression, "alpha", "C") &&
              fabs(value_of(&expression) - (4 * 36 - 10 / 6.0)) < 1e-12,
          "a letter that is not there");
    CHECK(lab_expression_put(&expression, "C", "C +"), "no formula");
    int full = 0;
    for (int i = 0; i < 20 && !full; i++)
        full = lab_expression_put(&expression, "beta", "beta + beta");
    CHECK(full && expression.steps <= LAB_EXPRESSION_STEPS, "%d steps", expression.steps);
}

/* value_of() has C = 10 and beta = 3. */
TEST(letters_in_place_of_numbers)
{
    struct lab_expression expression;
    struct lab_expression_error error;

    CHECK(!lab_expression_parse("20 beta + 20/4 - 3", &expression, &error), "%s",
          error.text);
    CHECK(lab_expression_largest(&expression) == 20, "%g",
          lab_expression_largest(&expression));
    CHECK(!lab_expression_name(&expression, 20, "C") &&
              fabs(value_of(&expression) - (30 + 2.5 - 3)) < 1e-12,
          "%g", value_of(&expression));
    CHECK(lab_expression_uses(&expression, "C") &&
              lab_expression_largest(&expression) == 4,
          "%g", lab_expression_largest(&expression));
    int full = 0;
    for (int i = 0; i < 2 * LAB_EXPRESSION_LETTERS && !full; i++)
        full = lab_expression_name(&expression, 4, "C");
    CHECK(full && expression.letters <= LAB_EXPRESSION_LETTERS, "%d letters",
          expression.letters);
}

TEST(products_turned_round)
{
    struct lab_expression expression;
    struct lab_expression_error error;

    CHECK(!lab_expression_parse("mu_a mu_b^T", &expression, &error), "%s", error.text);
    CHECK(!lab_expression_reverse(&expression) &&
              fabs(value_of(&expression) - (4 - 6 + 1)) < 1e-12,
          "mu_b^T mu_a, not %g", value_of(&expression));
}

TEST(functions_that_a_formula_calls)
{
    struct lab_expression expression;
    struct lab_expression_error error;

    CHECK(!lab_expression_parse("exp(C) + ln(2)", &expression, &error), "%s", error.text);
    CHECK(lab_expression_calls(&expression, "exp") &&
              lab_expression_calls(&expression, "ln") &&
              !lab_expression_calls(&expression, "sin"),
          "exp and ln");
}

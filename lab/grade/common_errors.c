/* SPDX-License-Identifier: MIT */
/* Common errors: their patterns and names. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "lab/grade/probing.h"

/* ---- slips: a letter or a side that must have been meant otherwise ---------------- */

#define SLIP(question, name, says, ...)                                                  \
    {                                                                                    \
        (question), (name), { .put = {__VA_ARGS__}, .as = (says) }                       \
    }
#define MEAN_FOR_VALUE                                                                   \
    {"mu_a", "v_a"}, { "mu_b", "v_b" }

static const struct slip {
    const char *question, *name;
    struct lab_repair repair;
} slips[] = {
    SLIP("1b-ii", "weight", "m counts basis vectors; keys are counted by n", {"m", "n"}),
    SLIP("1b-ii", "weight", "alpha is a weight; keys are counted by n", {"alpha", "n"}),
    SLIP("1c-i", "scores", "a score is a number: |m| for m", {"m_a", "norm(m_a)"},
         {"m_b", "norm(m_b)"}),
    SLIP("1c-i", "scores", "a score is a number: |mu| for mu", {"mu_a", "norm(mu_a)"},
         {"mu_b", "norm(mu_b)"}),
    SLIP("1c-i", "output", "v, the values, for mu", MEAN_FOR_VALUE),
    SLIP("1c-i", "output", "v, the values, for m", {"m_a", "v_a"}, {"m_b", "v_b"}),
    SLIP("1c-ii", "ends", "v, the values, for mu", MEAN_FOR_VALUE),
    SLIP("1d-i", "outputs", "v, the values, for mu", MEAN_FOR_VALUE),
    SLIP("1d-ii", "output", "v, the values, for mu", MEAN_FOR_VALUE),
    {"2a-i", "moved", {.as = "P on the left, the side that moves rows", .reversed = 1}},
    {"2a-i", "output", {.as = "P on the left, the side that moves rows", .reversed = 1}},
};

/* Replaces the formulas by repaired ones: 1, or 0 if they have nothing to repair. */
static int repair_formulas(struct lab_asked *asked, const struct lab_repair *repair)
{
    int uses = repair->reversed, full = 0;
    for (int k = 0; k < asked->part->texts; k++) {
        struct lab_expression *const formula = &asked->formula[k];
        for (int r = 0; r < LAB_REPAIRS && repair->put[r].from; r++)
            if (lab_expression_uses(formula, repair->put[r].from)) {
                uses = 1;
                full |=
                    lab_expression_put(formula, repair->put[r].from, repair->put[r].to);
            }
        if (repair->reversed)
            full |= lab_expression_reverse(formula);
    }
    return uses && !full;
}

/* Whether the part is judged better than `mark` once it is repaired; or -1. */
static int is_better(const struct lab_asked *asked, const struct lab_repair *repair,
                     enum lab_mark *mark)
{
    struct lab_asked repaired = *asked;
    struct lab_probe_result result;
    if (!repair_formulas(&repaired, repair))
        return 0;
    if (lab_probe(&repaired, &result))
        return -1;
    if (result.mark >= *mark)
        return 0;
    *mark = result.mark;
    return 1;
}

const struct lab_repair *lab_find_slip(const struct lab_asked *asked, enum lab_mark *mark,
                                       int *status)
{
    for (size_t s = 0; s < sizeof slips / sizeof slips[0] && *status >= 0; s++)
        if (!strcmp(slips[s].question, asked->part->question) &&
            !strcmp(slips[s].name, asked->part->name)) {
            *status = is_better(asked, &slips[s].repair, mark);
            if (*status > 0)
                return &slips[s].repair;
        }
    return NULL;
}

/* ---- formulas that are known to be wrong ------------------------------------------- */

#define SIGN_AND_SCORE "sign and score: exp(s_a)/(exp(s_a)+exp(s_b)) = 1/(1+exp(s_b-s_a))"

#define KNOWN(question, name, says, ...)                                                 \
    {                                                                                    \
        (question), (name), {__VA_ARGS__}, (says)                                        \
    }

static const struct known {
    const char *question, *name;
    const char *formula[LAB_GRADE_TEXTS];
    const char *says;
} known[] = {
    KNOWN("1a-i", "weight", "no exponential in the numerator", "s_i/Z"),
    KNOWN("1a-i", "weight", "not divided by the sum", "exp(s_i)"),
    KNOWN("1a-ii", "weight", "no exponential: exp(0) is 1, not 0", "D/(D+n-1)"),
    KNOWN("1b-i", "M",
          "A^T in place of A A^T: it gives coordinates in R^m, not a vector of R^d",
          "A^T"),
    KNOWN("1b-i", "M", "A^T A in place of A A^T: the factors are swapped", "A^T A"),
    KNOWN("1b-i", "M", "A in place of A A^T: the coordinates A^T s are missing", "A"),
    KNOWN("1b-i", "M", "B in place of A: this extracts v_b", "B B^T"),
    KNOWN("1b-i", "coordinates",
          "coordinates c in R^m taken for the vector v_a = A c in R^d", "v_a"),
    KNOWN("1b-ii", "q", "one key only: this copies v_a", "C k_a"),
    KNOWN("1b-ii", "q", "one key only: this copies v_b", "C k_b"),
    KNOWN("1b-ii", "weight", "one wanted key counted in place of two",
          "exp(C)/(exp(C)+n-1)"),
    KNOWN("1b-ii", "weight", "no exponential: softmax exponentiates", "C/(2*C+n-2)"),
    KNOWN("1b-ii", "weight", "scores divided by sqrt(d), which the exercise does not do",
          "exp(C/sqrt(d))/(2*exp(C/sqrt(d))+n-2)"),
    KNOWN("1b-ii", "scale", "a factor 2: two keys are wanted", "ln((n-2)*(1-eps)/eps)"),
    KNOWN("1b-ii", "scale", "the scale of a copy, not of an average",
          "ln((n-1)*(1-eps)/eps)"),
    KNOWN("1c-i", "variance", "the noise of one key in place of both", "2*alpha*C^2"),
    KNOWN("1c-i", "variance", "a standard deviation in place of a variance",
          "2*C*sqrt(alpha)"),
    KNOWN("1c-i", "vanishes",
          "limits in the wrong order: at fixed alpha a growing C destroys the average",
          "alpha"),
    KNOWN("1c-i", "vanishes",
          "limits in the wrong order: at fixed alpha a growing C destroys the average",
          "sqrt(alpha)"),
    KNOWN("1c-i", "vanishes", "limits in the wrong order: C grows before alpha vanishes",
          "1/C"),
    KNOWN("1c-i", "vanishes",
          "C in place of C^2: alpha is a variance, and C enters it squared", "alpha*C"),
    KNOWN("1c-ii", "scores", "both keys vary: only k_a has the larger covariance",
          "gamma*C", "gamma_b*C", "0"),
    KNOWN("1c-ii", "weight",
          "1 + is missing from the two-term softmax, and its sign is turned",
          "1/exp((gamma-gamma_b)*C)"),
    KNOWN("1c-ii", "weight",
          "1 + is missing from the two-term softmax, and its sign is turned",
          "1/exp((gamma-1)*C)"),
    KNOWN("1c-ii", "weight", "sign: this is the weight of k_b", "1/(1+exp((gamma-1)*C))"),
    KNOWN("1c-ii", "weight", SIGN_AND_SCORE, "1/(1+exp(gamma*C))"),
    KNOWN("1c-ii", "weight", SIGN_AND_SCORE, "1/(1+exp(C))"),
    KNOWN("1c-ii", "weight", "k_b counted among the others: its score is C, not 0",
          "exp(gamma*C)/(exp(gamma*C)+n-1)"),
    KNOWN("1c-ii", "variances", "sigma and sigma^2 confused: 1/2 is a variance already",
          "C^2*(1/4+2*alpha)", "2*alpha*C^2"),
    KNOWN("1c-ii", "variances", "sigma and sigma^2 confused: 1/2 is a variance already",
          "C^2/4", "0"),
    KNOWN("1c-ii", "variances", "a factor 2 of alpha: |q|^2 is 2 C^2", "C^2*(1/2+alpha)",
          "alpha*C^2"),
    KNOWN("1c-ii", "limit", "a steady average: the weight becomes a coin toss", "0"),
    KNOWN("1d-ii", "limit", "a factor 1/4: c has half of head 1",
          "Phi(1/sigma)*Phi(-1/sigma)"),
    KNOWN("2a-i", "moved", "P^T in place of P: the inverse permutation", "P^T X"),
    KNOWN("2a-i", "scores", "the scores move with the tokens", "S"),
    KNOWN("2a-i", "scores", "rows alone: the keys move too, so columns do", "P S"),
    KNOWN("2a-i", "scores", "columns alone, and by P in place of P^T", "S P"),
    KNOWN("2a-i", "scores", "columns alone: the queries move too, so rows do", "S P^T"),
    KNOWN("2a-i", "scores", "P^T in place of P: the inverse permutation", "P^T S P"),
    KNOWN("2a-i", "weights", "the weights move with the tokens", "A"),
    KNOWN("2a-i", "weights", "rows alone: the keys move too, so columns do", "P A"),
    KNOWN("2a-i", "weights", "columns alone, and by P in place of P^T", "A P"),
    KNOWN("2a-i", "weights", "columns alone: the queries move too, so rows do", "A P^T"),
    KNOWN("2a-i", "output", "the outputs move with the tokens", "Y"),
    KNOWN("2a-i", "output", "columns are features and stay where they are", "P Y P^T"),
    KNOWN("2a-i", "output", "P^T in place of P: the inverse permutation", "P^T Y"),
    KNOWN("2b-i", "dot", "the sum in place of the difference of the positions",
          "cos(omega_1*(t+u)) + cos(omega_2*(t+u))"),
    KNOWN("3g", "bottleneck", "one pass in place of two", "n m"),
    KNOWN("3g", "bottleneck", "the scores of full attention", "n^2"),
};

/* Whether text `k` has the same value in both. */
static int same_value(const struct lab_asked *asked, const struct lab_asked *other, int k,
                      struct lab_scope *letters)
{
    struct lab_value own, theirs;
    struct lab_finding found = {0};
    if (lab_asked_value(asked, k, letters, 0, 0, &own, &found) ||
        lab_asked_value(other, k, letters, 0, 0, &theirs, &found) ||
        own.rows != theirs.rows || own.columns != theirs.columns)
        return 0;
    for (int i = 0; i < own.rows * own.columns; i++)
        if (!lab_same_number(own.x[i], theirs.x[i]))
            return 0;
    return 1;
}

/* Whether the texts have the same values as known ones in every probe. */
static int matches(const struct lab_asked *asked, const struct known *error)
{
    struct lab_asked other = *asked;
    struct lab_expression_error ignored;
    const int texts = asked->part->texts;
    int same = 1;

    for (int k = 0; k < texts; k++)
        if (lab_expression_parse(error->formula[k], &other.formula[k], &ignored))
            return 0;
    for (int x = 0; x < LAB_PROBES && same; x++) {
        struct lab_point point;
        struct lab_scope letters;
        lab_probe_world(asked, x, &point);
        same = !lab_scope_open_known(&letters, asked->part->probing->letters, &point) &&
               !lab_scope_fill(&letters, LAB_NEEDS_SELF);
        for (int k = 0; k < texts && same; k++)
            same = same_value(asked, &other, k, &letters);
        lab_scope_close(&letters);
    }
    return same;
}

static const struct chosen {
    const char *question, *name;
    int text, choice;
    const char *says;
} chosen[] = {
    {"1a-ii", "condition", 0, 1,
     "a long key: its score may still be small, or negative, for the query at hand"},
    {"1a-ii", "condition", 0, 2, "unscaled query: a score of 1 does not dominate"},
    {"1a-iv", "needs", 0, 0, "unscaled query: a score of 1 does not dominate"},
    {"1c-ii", "spread", 0, 2,
     "the length of k_a enters its score and is multiplied by C"},
    {"1d-ii", "correlation", 0, 0, "fluctuations of one key do not cancel between heads"},
    {"1e", "better", 0, 0, "one head is a coin toss between the two values"},
    {"2b-ii", "same", 0, 1, "periods do not meet: 2 pi is irrational"},
};

/* Whether q_1 and q_2 have a part along mu_a, where the words say otherwise. */
static const char *name_of_heads(const struct lab_asked *asked)
{
    static const char *const says[LAB_HEADS][2] = {
        {"q_1 has no part along mu_a, and so head 1 does not feel gamma",
         "q_1 has a part along mu_a, and so head 1 feels gamma"},
        {"q_2 has no part along mu_a, and so head 2 does not feel gamma",
         "q_2 has a part along mu_a, and so head 2 feels gamma"},
    };
    struct lab_point point;
    lab_probe_world(asked, 4, &point);
    for (int h = 0; h < LAB_HEADS; h++) {
        struct lab_pair_query query;
        struct lab_finding ignored = {0};
        const int is_constant = asked->choice[h];
        if (lab_asked_query(asked->own, h, &point, &query, &ignored))
            return "";
        if ((query.a != 0) == is_constant)
            return says[h][is_constant];
    }
    return "";
}

static const char *name_of_choice(const struct lab_asked *asked)
{
    if (!strcmp(asked->part->name, "heads"))
        return name_of_heads(asked);
    for (size_t c = 0; c < sizeof chosen / sizeof chosen[0]; c++)
        if (!strcmp(chosen[c].question, asked->part->question) &&
            !strcmp(chosen[c].name, asked->part->name) &&
            asked->choice[chosen[c].text] == chosen[c].choice)
            return chosen[c].says;
    return "";
}

/* ---- near misses ---------------------------------------------------------------- */

#define ALPHA_IS_A_VARIANCE                                                              \
    "sigma and sigma^2: alpha is a variance, not a standard deviation"

#define NEAR(letter, formula, says)                                                      \
    {                                                                                    \
        .put = {{(letter), (formula)}}, .as = (says)                                     \
    }

/* Each makes the formula right where the letter stands for something else. */
static const struct lab_repair nears[] = {
    NEAR("n", "n - 2", "a count: right with n - 2 for n"),
    NEAR("n", "n - 1", "a count: right with n - 1 for n"),
    NEAR("n", "n + 1", "a count: right with n + 1 for n"),
    NEAR("n", "n + 2", "a count: right with n + 2 for n"),
    NEAR("sigma2", "sqrt(sigma2)", "sigma^2 in place of sigma"),
    NEAR("sigma", "sqrt(sigma)", "sigma^2 in place of sigma"),
    NEAR("sigma", "sigma^2", "sigma in place of sigma^2"),
    NEAR("alpha", "sqrt(alpha)", ALPHA_IS_A_VARIANCE),
    NEAR("alpha", "alpha^2", ALPHA_IS_A_VARIANCE),
    NEAR("C", "C^2", "C in place of C^2"),
    NEAR("C", "sqrt(C)", "C^2 in place of C"),
};

/* The repair that makes the formula right in every world, or ""; *status -1: memory or
 * the engine. */
static const char *near_miss(const struct lab_asked *asked, int *status)
{
    for (size_t x = 0; x < sizeof nears / sizeof nears[0]; x++) {
        struct lab_asked repaired = *asked;
        if (!repair_formulas(&repaired, &nears[x]))
            continue;
        *status = lab_probe_exact(&repaired);
        if (*status)
            return *status > 0 ? nears[x].as : "";
    }
    return "";
}

/* ---- errors of any number ------------------------------------------------------------
 */

static double is_negative(double computed, double claimed) { return claimed + computed; }
static double is_rest(double computed, double claimed) { return claimed + computed - 1; }
static double is_square(double computed, double claimed)
{
    return claimed - computed * computed;
}
static double is_root(double computed, double claimed)
{
    return claimed * claimed - fabs(computed);
}

/* Whether `zero` of computed and claimed is 0 in every probe. */
static int everywhere(const struct lab_probe_result *result,
                      double (*zero)(double computed, double claimed))
{
    for (int x = 0; x < result->probes; x++) {
        const struct lab_finding *const at = &result->at[x];
        if (!(fabs(zero(at->computed, at->claimed)) <= 1e-9 * (1 + fabs(at->computed))))
            return 0;
    }
    return 1;
}

static int has_constant_ratio(const struct lab_probe_result *result, double *ratio)
{
    *ratio = NAN;
    for (int x = 0; x < result->probes; x++) {
        const struct lab_finding *const at = &result->at[x];
        if (at->computed == 0 && at->claimed == 0)
            continue;
        const double here = at->claimed / at->computed;
        if (isnan(*ratio))
            *ratio = here;
        if (!(fabs(here - *ratio) <= 1e-9 * fabs(*ratio)))
            return 0;
    }
    return isfinite(*ratio) && *ratio != 0;
}

static void name_of_number(const struct lab_probe_result *result, char *name, size_t size)
{
    double ratio;
    if (everywhere(result, is_negative))
        snprintf(name, size, "the sign is turned");
    else if (has_constant_ratio(result, &ratio) && fabs(ratio - 1) < 1e-3)
        snprintf(name, size, "rounded: off by %.2g of it; the exact value is asked",
                 fabs(ratio - 1));
    else if (has_constant_ratio(result, &ratio))
        snprintf(name, size, "off by the constant factor %.4g", ratio);
    else if (everywhere(result, is_rest))
        snprintf(name, size, "one minus what is asked");
    else if (everywhere(result, is_square))
        snprintf(name, size, "the square of what is asked");
    else if (everywhere(result, is_root))
        snprintf(name, size, "the square root of what is asked");
}

/* ---- errors of queries
 * ----------------------------------------------------------------- */

static double length_of(const struct lab_pair_query *query)
{
    return hypot(hypot(query->a, query->b), query->rest);
}

static void name_of_query(const struct lab_asked *asked, char *name, size_t size)
{
    struct lab_point small, large;
    int grows = 0;

    lab_probe_world(asked, 4, &small);
    large = small;
    large.scale = 100 * small.scale;
    for (int k = 0; k < asked->part->texts; k++) {
        struct lab_pair_query x, y;
        struct lab_finding found = {0};
        if (lab_asked_query(asked, k, &small, &x, &found) ||
            lab_asked_query(asked, k, &large, &y, &found))
            return;
        if (lab_same_number(x.a, -x.b) && x.a != 0 && x.rest == 0) {
            snprintf(name, size,
                     "mu_a +- mu_b: the query with the minus copies one value alone");
            return;
        }
        grows += length_of(&y) > 2 * length_of(&x);
    }
    if (grows < asked->part->texts)
        snprintf(name, size,
                 "unscaled query: without C, or a larger number, the other keys keep "
                 "their weight");
}

/* M must not depend on v_a and v_b, since it holds for all of the two spans. */
static int uses_draws(const struct lab_asked *asked)
{
    static const char *const draws[] = {"v_a", "v_b", "s", "c", "c_b"};
    for (size_t d = 0; d < sizeof draws / sizeof draws[0]; d++)
        if (lab_expression_uses(&asked->formula[0], draws[d]))
            return !strcmp(asked->part->name, "M");
    return 0;
}

/* Shapes that fit in the other order of the factors. */
static int name_of_order(const struct lab_asked *asked, char *name, size_t size)
{
    static const struct lab_repair reversed = {.reversed = 1};
    struct lab_asked other = *asked;
    struct lab_probe_result result;
    if (!repair_formulas(&other, &reversed))
        return 0;
    if (lab_probe(&other, &result))
        return -1;
    if (!*result.found.why)
        snprintf(name, size, "factors in the wrong order: rows are moved from the left");
    return 0;
}

int lab_name_error(const struct lab_asked *asked, const struct lab_probe_result *result,
                   char *name, size_t size)
{
    const struct lab_part *const part = asked->part;
    snprintf(name, size, "%s", part->choices ? name_of_choice(asked) : "");
    for (size_t e = 0; !part->choices && e < sizeof known / sizeof known[0]; e++)
        if (!strcmp(known[e].question, part->question) &&
            !strcmp(known[e].name, part->name) && matches(asked, &known[e])) {
            snprintf(name, size, "%s", known[e].says);
            return 0;
        }
    if (part->choices)
        return 0;
    if (part->probing->query) {
        name_of_query(asked, name, size);
        return 0;
    }
    if (!*result->found.why && uses_draws(asked)) {
        snprintf(name, size, "M must not depend on v_a and v_b: it serves all of them");
        return 0;
    }
    if (*result->found.why)
        return name_of_order(asked, name, size);
    int status = 0;
    snprintf(name, size, "%s", near_miss(asked, &status));
    if (!*name && part->probing->number)
        name_of_number(result, name, size);
    return status < 0 ? -1 : 0;
}

/* SPDX-License-Identifier: MIT */
/*
 * Formulas as trees: each is printed with every bracket and compared; the same formula in
 * LaTeX, Unicode and ASCII is one tree.
 */
#include "support/test.h"

#include <stdlib.h>
#include <string.h>

#include "lab/reading/formula.h"

static const char *const relations[] = {"",   "=",    "~=",   "!=",   "<",  ">",
                                        "<=", ">=",   "<<",   ">>",   "->", "in",
                                        "~",  "perp", "prop", "notin"};
static const char *const connectives[] = {"", "=> ", "<=> ", "because ", "where ", "or "};

static struct lab_formula formula;
static char printed[4096];

static void put(const char *text)
{
    const size_t length = strlen(printed);
    snprintf(printed + length, sizeof printed - length, "%s", text);
}

static void print(int n);

/* The children from `n` on, with a separator. */
static void print_all(int n, const char *separator)
{
    for (int c = n; c >= 0; c = formula.node[c].next) {
        if (c != n)
            put(separator);
        print(c);
    }
}

static void print_chain(int n)
{
    for (int c = n; c >= 0; c = formula.node[c].next) {
        print(c);
        if (formula.node[c].next < 0)
            return;
        put(" ");
        put(relations[formula.node[c].after]);
        put(" ");
    }
}

static void print_list(const struct lab_node *node, const char *open,
                       const char *separator, const char *close)
{
    put(node->name);
    put(open);
    print_all(node->child, separator);
    put(close);
}

static void print(int n)
{
    const struct lab_node *const node = &formula.node[n];
    char text[64];

    switch (node->kind) {
    case LAB_NODE_NUMBER:
        snprintf(text, sizeof text, "%g", node->value);
        put(text);
        break;
    case LAB_NODE_LETTER:
        snprintf(text, sizeof text, "%.1s%s", &node->mark, node->name);
        put(text);
        if (node->child >= 0) {
            put("|");
            print(node->child);
        }
        break;
    case LAB_NODE_TEXT:
        print_list(node, "", "", "");
        break;
    case LAB_NODE_DOTS:
        put("...");
        break;
    case LAB_NODE_CHAIN:
        print_chain(node->child);
        break;
    case LAB_NODE_SUM:
        print_list(node, "(", " + ", ")");
        break;
    case LAB_NODE_PRODUCT:
        print_list(node, "", " ", "");
        break;
    case LAB_NODE_MINUS:
        print_list(node, "-", "", "");
        break;
    case LAB_NODE_QUOTIENT:
        print_list(node, "{", " / ", "}");
        break;
    case LAB_NODE_POWER:
        print_list(node, "{", " ^ ", "}");
        break;
    case LAB_NODE_TRANSPOSE:
        print_list(node, "", "", "'");
        break;
    case LAB_NODE_LIMIT:
        print_list(node, "lim(", "; ", ")");
        break;
    case LAB_NODE_MATRIX:
        print_list(node, "matrix", "", "");
        break;
    case LAB_NODE_CASES:
        print_list(node, "cases", "", "");
        break;
    default:
        print_list(node, "(", "; ", ")");
        break;
    }
}

/* The chains of a formula with "; " between them, or "not read: " and the reason. */
static const char *read_with(const char *source, unsigned repairs)
{
    printed[0] = 0;
    if (lab_formula_read(source, 0, strlen(source), repairs, &formula)) {
        put("not read: ");
        put(formula.why);
        return printed;
    }
    for (int c = 0; c < formula.chains; c++) {
        put(c ? "; " : "");
        put(connectives[formula.chain[c].before]);
        print(formula.chain[c].root);
    }
    return printed;
}

static const char *read(const char *source) { return read_with(source, 0); }

struct expected {
    const char *source, *tree;
};

#define ALL(cases)                                                                       \
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases)[0]; i++) {                      \
        const char *const got = read((cases)[i].source);                                 \
        CHECK(!strcmp(got, (cases)[i].tree), "%s\n  is read as %s\n  not %s",            \
              (cases)[i].source, got, (cases)[i].tree);                                  \
    }

TEST(the_same_in_three_spellings)
{
    static const struct expected cases[] = {
        {"q = \\beta (k_a + k_b)", "q = beta (k_a + k_b)"},
        {"q = β(kₐ + k_b)", "q = beta (k_a + k_b)"},
        {"q = beta (k_a + k_b)", "q = beta (k_a + k_b)"},
        {"q = beta*(ka + kb)", "q = beta (k_a + k_b)"},
        {"k_i^\\top q \\gg k_j^T q", "k_i' q >> k_j' q"},
        {"kᵢᵀq ≫ k_jᵀq", "k_i' q >> k_j' q"},
        {"k_i^T q >> k_j^T q", "k_i' q >> k_j' q"},
        {"\\frac{\\exp(c)}{2\\exp(c)+n-2}", "{exp(c) / (2 exp(c) + n + -2)}"},
        {"exp(c)/(2exp(c)+n-2)", "{exp(c) / (2 exp(c) + n + -2)}"},
        {"e^c/(2e^c + n − 2)", "{exp(c) / (2 exp(c) + n + -2)}"},
        {"\\alpha_a \\approx \\frac12", "alpha_a ~= {1 / 2}"},
        {"α_a ≈ 1/2", "alpha_a ~= {1 / 2}"},
        {"alpha_a ~= 1/2", "alpha_a ~= {1 / 2}"},
        {"\\sum_{i=1}^n \\alpha_i v_i", "sum(alpha_i v_i; i = 1; n)"},
        {"\\Sigma_{i=1}^n \\alpha_i v_i", "sum(alpha_i v_i; i = 1; n)"},
        {"\\sum^n_{i=1} \\alpha_i v_i", "sum(alpha_i v_i; i = 1; n)"},
        {"\\sum\\limits_{i=1}^{n} \\alpha_i v_i", "sum(alpha_i v_i; i = 1; n)"},
        {"sum_{i=1}^n alpha_i v_i", "sum(alpha_i v_i; i = 1; n)"},
        {"∑_{i=1}^n αᵢvᵢ", "sum(alpha_i v_i; i = 1; n)"},
        {"\\|\\mu_i\\|^2 \\to \\infty", "{norm(mu_i) ^ 2} -> inf"},
        {"‖μᵢ‖² → ∞", "{norm(mu_i) ^ 2} -> inf"},
        {"||mu_i||^2 -> inf", "{norm(mu_i) ^ 2} -> inf"},
        {"\\langle q, k_a \\rangle \\neq 0", "q' k_a != 0"},
        {"<q, k_a> != 0", "q' k_a != 0"},
        {"⟨q, kₐ⟩ ≠ 0", "q' k_a != 0"},
        {"\\sqrt{d_k}", "sqrt(d_k)"},
        {"√d_k", "sqrt(d_k)"},
        {"sqrt(d_k)", "sqrt(d_k)"},
        {"i \\notin \\{a, b\\}", "i notin {}(a; b)"},
        {"i ∉ {a, b}", "i notin (a; b)"},
    };
    ALL(cases)
}

TEST(sums_and_products)
{
    static const struct expected cases[] = {
        {"a - b + c", "(a + -b + c)"},
        {"-a b", "-a b"},
        {"2 \\alpha C^2", "2 alpha {C ^ 2}"},
        {"Mv_a", "M v_a"},
        {"C(k_a+k_b)", "C (k_a + k_b)"},
        {"\\beta \\times 1 + \\beta \\cdot 0", "(beta 1 + beta 0)"},
        {"1/2 C", "{1 / 2} C"},
        {"e^c/2e^c", "{exp(c) / 2 exp(c)}"},
        {"A'.A = k.q", "A' A = k q"},
        {"k_a' q", "k_a' q"},
        {"k_i.T @ q", "k_i' q"},
        {"i /= j", "i != j"},
        {"a/b/c", "{{a / b} / c}"},
        {"\\frac{Q K^T}{\\sqrt{d}} V", "{Q K' / sqrt(d)} V"},
        {"\\tfrac12\\bigl(a+b\\bigr)", "{1 / 2} (a + b)"},
        {"\\frac n2", "{n / 2}"},
        {"x^{-1} y^{10}", "{x ^ -1} {y ^ 10}"},
        {"k_i^Tq", "k_i' q"},
        {"k^T_a q", "k_a' q"},
        {"(X\\Pi)^{\\top}", "X Pi'"},
        {"|k_i| + |a - b|", "(abs(k_i) + abs((a + -b)))"},
        {"\\mu_a \\pm \\mu_b", "(mu_a + pm(mu_b))"},
        {"50%", "0.5"},
        {"1e-3 n", "0.001 n"},
        {"c_1 a_1 + \\dots + c_m a_m", "(c_1 a_1 + ... + c_m a_m)"},
        {"1 + 0 \\dots + 0", "(1 + 0 + ... + 0)"},
    };
    ALL(cases)
}

TEST(letters)
{
    static const struct expected cases[] = {
        {"\\alpha_{1,a}", "alpha_1_a"},
        {"\\tilde{k}_{\\tilde{a}}^T", "~k_a~'"},
        {"\\hat\\mu", "^mu"},
        {"\\overline{c}", "-c"},
        {"\\mathbf{k}_a", "k_a"},
        {"\\boldsymbol{k_a}", "k_a"},
        {"\\underline{v_j}", "v_j"},
        {"q^{(1)}", "q_1"},
        {"q1", "q_1"},
        {"q^*", "q*"},
        {"B c' = 0", "B 'c = 0"}, /* a mark */
        {"\\beta c' q", "beta 'c q"},
        {"(A c)'", "A c'"},
        {"c_{\\text{new}}", "c_new"},
        {"W_Q", "W_Q"},
        {"\\text{head}_i", "head_i"},
        {"k_a^{\\mathsf{T}} k_b^\\mathrm{T} k^\\intercal", "k_a' k_b' k'"},
        {"\\varepsilon", "eps"},
        {"k_{i \\neq j}", "k_i|i != j"},
        {"𝑘_𝑎", "k_a"},
        {"\\underbrace{A c}_{\\text{in } A} + b", "(A c + b)"},
    };
    ALL(cases)
}

TEST(calls)
{
    static const struct expected cases[] = {
        {"\\text{Var}[S_a]", "Var(S_a)"},
        {"\\operatorname{Cov}(x, y)", "Cov(x; y)"},
        {"\\mathbb{E}[c]", "E(c)"},
        {"P(\\gamma > 1)", "P(gamma > 1)"},
        {"P(X W_Q)", "P X W_Q"},
        {"\\Pr[\\gamma > 1]", "P(gamma > 1)"},
        {"k_a \\sim \\mathcal{N}(\\mu_a, \\alpha I)", "k_a ~ N(mu_a; alpha I)"},
        {"gamma ~ N(1, 1/2)", "gamma ~ N(1; {1 / 2})"},
        {"Q(X\\Pi) = (X\\Pi)W_Q", "Q(X Pi) = X Pi W_Q"},
        {"\\operatorname{softmax}(Q K^T) V", "softmax(Q K') V"},
        {"Attention(X\\Pi)", "Attention(X Pi)"},
        {"M(v_a + v_b)", "M (v_a + v_b)"},
        {"A(A^T A)", "A A' A"},
        {"\\ln n + 10", "(ln(n) + 10)"},
        {"\\exp -\\beta", "exp(-beta)"},
        {"\\exp^{c}", "exp(c)"},
        {"\\max_{j \\neq i} k_j^T q", "max_j(k_j' q)"},
        {"\\sigma(\\gamma C)", "sigma(gamma C)"},
        {"FFN(PX)", "FFN(P X)"},
        {"\\operatorname*{argmax}_i \\alpha_i", "argmax_i(alpha_i)"},
        {"\\text{score}(k, q)", "score(k; q)"},
    };
    ALL(cases)
}

TEST(matrices_and_cases)
{
    static const struct expected cases[] = {
        {"\\begin{bmatrix} c_1 \\\\ \\vdots \\\\ c_m \\end{bmatrix}",
         "matrix(c_1)(...)(c_m)"},
        {"\\begin{pmatrix} | & | \\\\ k_1 & k_2 \\end{pmatrix}",
         "matrix(...; ...)(k_1; k_2)"},
        {"\\left[\\begin{array}{cc} 1 & 0 \\\\ 0 & 1 \\end{array}\\right]",
         "matrix(1; 0)(0; 1)"},
        {"[a_1, \\dots, a_m]", "[](a_1; ...; a_m)"},
        {"[-q-]", "q"},
        {"s = \\begin{cases} 1 & i = a \\\\ 0 & \\text{otherwise} \\end{cases}",
         "s = cases(1; i = a)(0; otherwise)"},
        {"\\begin{cases} 1 & \\text{for } i = a \\text{ where } a > 0 \\end{cases}",
         "cases(1; (i = a; a > 0))"},
        {"f(x) = \\left\\{\\begin{array}{l} 1 \\text{ if } x > 0 \\\\ 0 "
         "\\end{array}\\right.",
         "f(x) = cases(1; x > 0)(0)"},
        {"\\begin{cases} x = 1 \\\\ y = 2 \\quad (z > 0) \\end{cases}",
         "x = 1; y = 2; where z > 0"},
    };
    ALL(cases)
}

TEST(chains)
{
    static const struct expected cases[] = {
        {"0 \\leq \\alpha_i \\leq 1, \\sum \\alpha_i = 1",
         "0 <= alpha_i <= 1; sum(alpha_i) = 1"},
        {"a = b \\Rightarrow c = d", "a = b; => c = d"},
        {"a = b \\iff c = d", "a = b; <=> c = d"},
        {"a = b \\; (\\because c = d)", "a = b; because c = d"},
        {"\\therefore c \\approx v_j", "=> c ~= v_j"},
        {"c = 0 \\text{ for } i \\notin \\{a, b\\}", "c = 0; where i notin {}(a; b)"},
        {"\\alpha_i (i \\neq a, b) \\simeq 0", "alpha_i ~= 0; where i != (a; b)"},
        {"q_1 = a \\quad q_2 = b", "q_1 = a; q_2 = b"},
        {"x, y = 1", "(x; y) = 1"},
        {"i = 1, \\dots, n", "i = (1; ...; n)"},
        {"i = 1 \\dots n", "i = (1; ...; n)"},
        {"x = 1 \\text{ or } y = 2", "x = 1; or y = 2"},
        {"x \\approx 1 \\text{ or } 2", "x ~= or(1; 2)"},
        {"a &= b \\\\ &= c \\\\ &+ d", "a = b = (c + d)"},
        {"= C^2", " = {C ^ 2}"},
        {"c = v_a =", "c = v_a = "},
        {"\\gamma \\to 0.5", "gamma -> 0.5"},
        {"c = a \\to x = 1", "c = a; => x = 1"},
        {"\\lim_{c \\to \\infty} \\alpha = 1", "lim(alpha; c -> inf) = 1"},
        {"\\alpha \\xrightarrow[\\beta \\to \\infty]{} 1",
         "alpha -> 1; where beta -> inf"},
        {"\\alpha \\to_{\\beta \\to \\infty} 1", "alpha -> 1; where beta -> inf"},
        {"a = b \\\\[4pt] c = d", "a = b; c = d"},
        {"a = b \\text{ s.t. } c = d", "a = b; where c = d"},
        {"\\alpha \\xrightarrow{\\beta \\to \\infty} 1", "alpha -> 1; where beta -> inf"},
        {"x = 1 \\text{ for all } i \\text{ except } i = j",
         "x = 1; where i; where i != j"},
        {"x \\not\\in S", "x notin S"},
        {"a \\stackrel{!}{=} b", "a = b"},
        {"\\text{Note that } x = 1", "Note that; x = 1"},
        {"s = v_a + v_b : M = 1", "s = (v_a + v_b); M = 1"},
    };
    ALL(cases)
}

TEST(struck_out)
{
    static const struct expected cases[] = {
        {"a = \\cancel{x} b", "a = b"},
        {"a = ~~x~~ b", "a = b"},
        {"\\cancel{k} = 0", "k = 0"},
    };
    ALL(cases)
    read("a = \\cancel{x} b");
    CHECK(formula.restored == 1 && formula.restore[0].begin == 4 &&
              formula.restore[0].end == 15,
          "%d", formula.restored);
}

/* A document, a formula in it, its tree, and the number of letters that were restored. */
TEST(scanning_errors)
{
    static const struct {
        const char *document, *source, *tree;
        int restored;
    } cases[] = {
        {"$k_a$ $q_1 = Hu$ $q_2 = Hb$", "q_1 = Hu", "q_1 = mu_a", 1},
        {"$k_a$ $q = H_b$", "H_b", "mu_b", 1},
        {"$k_a$ $q = H_b$ $\\mu_a$", "H_b", "H_b", 0},
        {"$k_a, k_i \\sim N(m_i, S)$ $H_a$", "m_a + m_i", "(mu_a + mu_i)", 2},
        {"$k_i \\sim N(m_i, S)$", "m_i", "m_i", 0},
        {"$C = N_n$ $c = N_b$ $v_a$", "N_n + N_b", "(v_a + v_b)", 2},
        {"$x \\sim N(1, 2)$ $v_a$", "N(1, 2)", "N(1; 2)", 0},
        {"$\\mu_n$ $\\mu_a$ $N_n$", "\\mu_n", "mu_a", 1},
        {"$\\mu_n$ $\\mu_a$", "\\mu_n", "mu_n", 0},
        {"$\\mu_1, \\mu_n$ $\\mu_a$ $N_n$", "\\mu_n", "mu_n", 0},
        {"$H_1$ $H_2$", "H_1", "H_1", 0},
        {"$\\nu_a$ $\\nu_b$ $v_a$", "\\nu_a", "v_a", 1},
        {"$\\nu_a$ $\\nu_b$", "\\nu_a", "nu_a", 0},
        {"$V_a$ $V_b$ $v_a$", "V_a", "v_a", 1},
        {"$V_a$ $V_b$ $v_a$ $V$", "V_a", "V_a", 0},
        {"$A$ $A_c$ $c_1$", "M A_c", "M A c", 1},
        {"$A_c$ $c_1$", "A_c", "A_c", 0},
        {"$M = A$ $M_s = v$", "M_s", "M s", 1},
        {"$\\tilde{g}_1$ $\\tilde g$", "\\tilde{g}_1^T k", "q_1' k", 1},
        {"$\\tilde{g}$ $g$", "\\tilde{g}", "~g", 0},
        {"", "k_a^T q = k_b^T q \\Rightarrow k_i^T q", "k_a' q = k_b' q >> k_i' q", 1},
        {"", "a = b \\Rightarrow k_i^T q", "a = b; => k_i' q", 0},
        {"", "A^T A c = I \\quad c = c", "A' A c = I c = c", 1},
        {"", "A^T A = I \\quad c = d", "A' A = I; c = d", 0},
        {"", "(A c) = \\underbrace{A A^T}_c = A c = v", "A c = A A' c = A c = v", 1},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const unsigned repairs =
            lab_formula_repairs(cases[i].document, strlen(cases[i].document));
        const char *const got = read_with(cases[i].source, repairs);
        CHECK(!strcmp(got, cases[i].tree), "%s\n  is read as %s\n  not %s",
              cases[i].source, got, cases[i].tree);
        CHECK(formula.restored == cases[i].restored, "%s: %d restored", cases[i].source,
              formula.restored);
    }
}

TEST(not_read)
{
    static const struct {
        const char *source;
        size_t failed;
        const char *why;
    } cases[] = {
        {"a + \\foo b", 4, "unknown: \\foo"},
        {"(a + b", 6, "a bracket is not closed"},
        {"a + b)", 5, "a sign in a place where none is expected"},
        {"\\begin{cases} 1 & 2", 19, "\\end{..} is missing"},
        {"\\frac{a}", 8, "a letter or a number is missing"},
        {"a * ", 4, "a letter or a number is missing"},
        {"x_", 2, "a subscript that is not of letters"},
        {"()", 1, "brackets with nothing inside"},
        {"|a + b", 6, "a bar is not closed"},
        {"a € b", 2, "unknown: the sign €"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const int status =
            lab_formula_read(cases[i].source, 0, strlen(cases[i].source), 0, &formula);
        CHECK(status == -1 && !strcmp(formula.why, cases[i].why), "%s: %s",
              cases[i].source, formula.why);
        CHECK(formula.failed == cases[i].failed, "%s: at %zu", cases[i].source,
              formula.failed);
    }
}

/* Deep and long input ends with a reason. */
TEST(limits)
{
    static const char *const parts[] = {
        "(",    "x^",      "\\frac",    "a(b=", "|x|a", "\\not",     "a\\to ",
        "x_{",  "\\text{", "\\cancel{", "a,",   "[(",   "\\sum_{i=", "\\begin{cases}",
        "x'''", "1"};
    const size_t size = (size_t)1 << 18;
    char *const auto_free source = malloc(size + 1);

    CHECK(source, "memory");
    for (size_t p = 0; p < sizeof parts / sizeof parts[0]; p++) {
        const size_t length = strlen(parts[p]);
        for (size_t i = 0; i < size; i++)
            source[i] = parts[p][i % length];
        source[size] = 0;
        const int status = lab_formula_read(source, 0, size, 0, &formula);
        CHECK(!status == !*formula.why, "%s: %s", parts[p], formula.why);
    }
}

TEST(places)
{
    const char *const source = "$x$ is $a + \\beta c$";
    CHECK(!lab_formula_read(source, 8, 19, 0, &formula), "%s", formula.why);
    const struct lab_node *const chain = &formula.node[formula.chain[0].root];
    const struct lab_node *const sum = &formula.node[chain->child];
    const struct lab_node *const first = &formula.node[sum->child];
    const struct lab_node *const second = &formula.node[first->next];
    CHECK(chain->begin == 8 && chain->end == 19, "%zu to %zu", chain->begin, chain->end);
    CHECK(first->begin == 8 && first->end == 9, "%zu to %zu", first->begin, first->end);
    CHECK(second->begin == 12 && second->end == 19, "%zu to %zu", second->begin,
          second->end);
}

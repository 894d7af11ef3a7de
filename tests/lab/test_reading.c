/* SPDX-License-Identifier: MIT */
/* The reader of solutions on short texts: what it understands, and what it leaves. */
#include "support/test.h"

#include <stdlib.h>
#include <string.h>

#include "lab/reading/reading.h"

/* ---- one text, one claim --------------------------------------------------------- */

static const struct lab_read_claim *find(const struct lab_reading *reading,
                                         const char *claim)
{
    for (int i = 0; i < reading->claims; i++)
        if (!strcmp(reading->claim[i].claim, claim))
            return &reading->claim[i];
    return NULL;
}

static const char *judged(const char *text, const char *claim, char repair[120])
{
    struct lab_reading reading;
    const char *name = "no reading";
    if (!lab_reading_open(&reading, text, strlen(text))) {
        const struct lab_read_claim *const found = find(&reading, claim);
        name = found ? lab_read_verdict_name(found->verdict) : "not found";
        snprintf(repair, 120, "%s", found ? found->repair : "");
    }
    lab_reading_close(&reading);
    return name;
}

/* The claims of a text, for a failure's message. */
static void show(const char *text, char *to, size_t size)
{
    struct lab_reading reading;
    size_t used = 0;
    to[0] = '\0';
    if (!lab_reading_open(&reading, text, strlen(text)))
        for (int i = 0; i < reading.claims && used < size; i++)
            used += (size_t)snprintf(to + used, size - used, "[%s: %.60s] ",
                                     lab_read_verdict_name(reading.claim[i].verdict),
                                     reading.claim[i].claim);
    lab_reading_close(&reading);
}

#define EXPECT(verdict, claim, text)                                                     \
    do {                                                                                 \
        char repair[120], all[600];                                                      \
        const char *const name = judged(text, claim, repair);                            \
        if (strcmp(name, verdict))                                                       \
            show(text, all, sizeof all);                                                 \
        CHECK(!strcmp(name, verdict), "%s: %s, all of it: %s", claim, name, all);        \
    } while (0)

#define COPY "# Question 1\n\n(a) i)\n\n"
#define AVERAGE "# Question 1\n\n(b) ii)\n\n$q = C (k_a + k_b)$ with $C \\gg 0$.\n\n"
#define ONE "# Question 1\n\n(c) i)\n\n$q = C(\\mu_a + \\mu_b)$\n\n"
#define LONG ONE "(c) ii)\n\n$k_a = \\gamma \\mu_a$, $\\gamma \\sim N(1, 0.5)$.\n\n"
#define TWO "# Question 1\n\n(d) i)\n\n$q_1 = C\\mu_a$, $q_2 = C\\mu_b$\n\n"
#define BOTH TWO "(d) ii)\n\nNow $\\Sigma_a = \\alpha I + \\frac12 \\mu_a\\mu_a^T$.\n\n"

TEST(weights_are_shares)
{
    EXPECT("true", "sum_p = 1", COPY "$\\sum_{i=1}^n \\alpha_i = 1$");
    EXPECT("true", "p_least >= 0; p_most <= 1", COPY "$0 \\le \\alpha_i \\le 1$");
    EXPECT("true", "off_p = 0",
           COPY "$$\\alpha_i = \\frac{\\exp(k_i^T q)}{\\sum_{j=1}^n \\exp(k_j^T q)}$$");
    EXPECT("true", "off_p = 0", COPY "w_i = exp(k_i^T q)/sum_j exp(k_j^T q)");
}

TEST(conditions_for_a_copy)
{
    EXPECT("limit", "c ~ v_a", COPY "$k_j^T q \\gg k_i^T q$ for all $i \\ne j$.");
    EXPECT("limit", "c ~ v_a", COPY "$k_i^T q \\ll k_j^T q$");
    EXPECT("limit", "alpha_a ~ 1; c ~ v_a",
           COPY "Then $\\alpha_j \\gg \\sum_{i \\ne j} \\alpha_i$.");
    EXPECT("false", "norm(k_j) >> norm(k_i), therefore alpha_j ~ 1",
           COPY "The key is long: $k_j \\gg k_i$.");
    EXPECT("false", "norm(k_j) >> norm(k_i), therefore alpha_j ~ 1",
           COPY "The key is long: $\\|k_j\\| \\gg \\|k_i\\|$.");
    EXPECT("limit", "c ~ v_a",
           COPY "If the query is closely aligned with one key, the output is a copy.");
}

TEST(queries_are_answers)
{
    EXPECT("limit", "c ~ (v_a + v_b)/2", AVERAGE);
    EXPECT("limit", "c ~ (v_a + v_b)/2", ONE);
    EXPECT("limit", "c ~ (v_a + v_b)/2", TWO);
    EXPECT("false", "c ~ (v_a + v_b)/2", "# 1\n\n(b) ii)\n\n$q = k_a + k_b$");
    EXPECT("false", "c ~ (v_a + v_b)/2",
           "# 1\n\n(d) i)\n\n$q_1 = C(\\mu_a + \\mu_b)$, $q_2 = C(\\mu_a - \\mu_b)$");
    /* Another letter, and a query that is replaced. */
    EXPECT("limit", "c ~ (v_a + v_b)/2", "# 1\n\n(b) ii)\n\n$q = \\lambda(k_a + k_b)$");
    EXPECT("not found", "c ~ v_a", AVERAGE);
}

TEST(a_query_that_is_replaced_is_no_answer)
{
    static const char text[] = "# 1\n\n(b) ii)\n\nLet $q = k_a + k_b$. "
                               "Too small, so let $q = \\beta(k_a + k_b)$.";
    struct lab_reading reading;
    int answers = 0;
    CHECK(!lab_reading_open(&reading, text, sizeof text - 1), "not open");
    for (int i = 0; i < reading.claims; i++)
        answers += !strcmp(reading.claim[i].claim, "c ~ (v_a + v_b)/2") &&
                   reading.claim[i].verdict == LAB_READ_LIMIT;
    CHECK(answers == 1 && reading.judged == 1, "%d answers, %d judged", answers,
          reading.judged);
    lab_reading_close(&reading);
}

TEST(chains_of_the_average)
{
    EXPECT("true", "s_a = s_b = C", AVERAGE "$k_a^T q = k_b^T q = C$");
    EXPECT("limit", "alpha_a = alpha_b = exp(C)/(n - 2 + 2 exp(C)) ~ 1/2",
           AVERAGE "$$\\alpha_a = \\alpha_b = \\frac{\\exp(C)}{n - 2 + 2\\exp(C)} "
                   "\\approx \\frac12$$");
    EXPECT("false", "alpha_a = exp(C)/(n - 2 + exp(C))",
           AVERAGE "$\\alpha_a = \\frac{e^C}{n - 2 + e^C}$");
    EXPECT("limit", "rest ~ 0", AVERAGE "$\\sum_{i \\ne a,b} \\alpha_i \\approx 0$");
}

TEST(extraction)
{
    EXPECT("true", "(A A^T) (v_a + v_b) = v_a", "# 1\n\n(b) i)\n\n$M = A A^T$");
    EXPECT("false", "A^T (v_a + v_b) = v_a", "# 1\n\n(b) i)\n\n$M = A^T$");
    EXPECT("true", "A^T A = I_m", "# 1\n\n(b) i)\n\n$A^T A = I$ and $A^T B = 0$");
    EXPECT("true", "A^T B = 0", "# 1\n\n(b) i)\n\n$A^T A = I$ and $A^T B = 0$");
    EXPECT("slip", "A c_d = v_a",
           "# 1\n\n(b) i)\n\n$v_a = A c$ $(A \\in \\mathbb{R}^{d \\times m}, c \\in "
           "\\mathbb{R}^d)$, $M = A A^T$");
    EXPECT("slip", "M v_a = v_a iff M (v_a + v_b) = v_a",
           "# 1\n\n(b) i)\n\n$M v_a = v_a \\Leftrightarrow M(v_a + v_b) = v_a$");
}

TEST(noise_of_one_head)
{
    EXPECT("true", "E_gamma = 1; Var_gamma = 0.5", LONG);
    EXPECT("false", "P_inside = 1", LONG "$k_a \\in [0.5\\mu_a, 1.5\\mu_a]$");
    EXPECT("true", "s_a = gamma C", LONG "$k_a^T q = \\gamma C$");
    EXPECT("limit", "alpha_a = exp(gamma C)/(exp(C) + exp(gamma C))",
           LONG "$\\alpha_a = \\frac{\\exp(\\gamma C)}{\\exp(C) + \\exp(\\gamma C)}$");
    EXPECT("limit", "c = v_b", LONG "$\\gamma \\to 0.5$: $c = v_b$");
    EXPECT("limit", "c ~ v_b",
           LONG
           "$c \\approx v_a$ if $\\gamma > 1$ and $c \\approx v_b$ if $\\gamma < 1$.");
    EXPECT("limit", "VarS_a = C^2 (2 alpha + 1/2) ~ C^2/2",
           LONG "$$\\text{Var}[k_a^T q] = C^2(2\\alpha + \\frac12) \\approx "
                "\\frac{C^2}{2}$$");
    EXPECT("true", "P_closer = 1/2",
           LONG "It is equally likely that c will be closer to $v_a$ as to $v_b$.");
    EXPECT("true", "V_1 > V_still", LONG "The output $c$ varies from sample to sample.");
    EXPECT("false", "V_1 = 0", LONG "The output $c$ does not vary.");
}

TEST(cases_are_claims_of_their_own)
{
    static const char text[] = LONG "$$k_i^T q = \\begin{cases} \\gamma C & \\text{for } "
                                    "i = a \\\\ C & \\text{for } i = b "
                                    "\\\\ 1 & \\text{otherwise} \\end{cases}$$";
    EXPECT("true", "s_a = gamma C", text);
    EXPECT("true", "s_b = C", text);
    EXPECT("false", "s_i = 1", text);
    /* A length of k_b, which has no such law. */
    EXPECT("false", "E_gamma_b = 1; Var_gamma_b = 1/2",
           LONG "$\\varepsilon_b \\sim \\mathcal{N}(1, \\frac{1}{2})$");
}

TEST(keys_and_columns_stand_for_all)
{
    EXPECT("limit", "k_i ~ mu_i", ONE "$k_i \\approx \\mu_i$");
    EXPECT("true", "mu_a^T mu_b = 0", ONE "$\\mu_i^T \\mu_j = 0$ for $i \\ne j$");
    EXPECT("true", "B^T B = I_p", "# 1\n\n(b) i)\n\n$M = A A^T$ and $B^T B = I$");
    EXPECT("true", "a_1^T b_2 = 0", "# 1\n\n(b) i)\n\n$M = A A^T$, $a_i^T b_j = 0$");
    EXPECT("true", "(A A^T) (v_a + v_b) = v_a",
           "# 1\n\n(b) i)\n\n$M = \\sum_{i=1}^m a_i a_i^T$");
}

TEST(heads_are_told_apart)
{
    static const char text[] = "# 1\n\n(d) i)\n\n$q_1 = C(\\mu_a + \\mu_b)$, $q_2 = "
                               "C(\\mu_a - \\mu_b)$.\n\nFor $q_1$ "
                               "the weights are equal ($\\alpha_a \\approx \\alpha_b$).";
    EXPECT("true", "alpha_a ~ alpha_b", text);
    EXPECT("false", "alpha_b ~ 1",
           "# 1\n\n(d) i)\n\n$q_1 = \\mu_a$, $q_2 = \\mu_b$, $\\alpha_{2,b} \\approx 1$");
}

TEST(two_heads_under_noise)
{
    EXPECT("true", "V_1 > 0", BOTH "$c_1$ varies with $k_a$.");
    EXPECT("true", "V_2 = 0", BOTH "$c_2$ remains constant.");
    EXPECT("false", "V_2 > 0", BOTH "$c_2$ varies with $k_a$.");
    EXPECT("true", "V_c < V_1", BOTH "Averaging the heads reduces the variance.");
    EXPECT("true", "V_c < V_one",
           "# 1\n\n(c) i)\n\n$q = C(\\mu_a + \\mu_b)$\n\n(d) i)\n\n$q_1 = C\\mu_a$, "
           "$q_2 = C\\mu_b$\n\n(d) ii)\n\nMulti-head attention is more stable than "
           "single-head attention.");
    EXPECT(
        "false", "Cov_12 < 0",
        "# 1\n\n(d) i)\n\n$q_1 = \\beta(\\mu_a + \\mu_b)$, $q_2 = \\beta \\mu_a$\n\n(d) "
        "ii)\n\nThe fluctuations of both heads cancel.");
}

TEST(permutations)
{
    static const char rows[] = "# Permutation\n\nA permutation matrix $P$ moves rows: ";
    static const char columns[] =
        "# Permutation\n\nA permutation matrix $\\Pi$ rearranges the rows. $X\\Pi$ "
        "represents the permuted input.\n\n$$Attention(X\\Pi) = Attention(X)\\Pi$$";
    char text[300];
    snprintf(text, sizeof text, "%s$PX$. $S(PX) = P S(X) P^T$.", rows);
    EXPECT("true", "S_moved = Pi S Pi^T", text);
    snprintf(text, sizeof text, "%s$PX$. $S(PX) = S(X)$.", rows);
    EXPECT("false", "S_moved = S", text);
    EXPECT("slip", "X Pi = X_moved", columns);
    EXPECT(
        "slip", "X Pi W_Q = (X W_Q) Pi",
        "# Permutation\n\nA permutation matrix $\\Pi$. $X\\Pi$ represents the permuted "
        "input.\n\n$$Q(X\\Pi) = (X\\Pi)W_Q = Q(X)\\Pi$$");
    EXPECT("slip", "Att_moved = Att Pi", columns);
}

TEST(a_letter_with_two_meanings_is_a_slip)
{
    EXPECT(
        "slip", "alpha_a = exp(C)/(m - 2 + 2 exp(C))",
        "# 1\n\n(b) i)\n\n$v_a = c_1 a_1 + \\dots + c_m a_m$, $M = A A^T$\n\n(b) "
        "ii)\n\n$q = C(k_a + k_b)$, $\\alpha_a = \\frac{\\exp(C)}{m - 2 + 2\\exp(C)}$");
    EXPECT("slip", "Sigma_a = beta I + (1/2) mu_a mu_a^T",
           "# 1\n\n(c) i)\n\n$k_i \\sim N(\\mu_i, \\alpha I)$, $q = \\beta(\\mu_a + "
           "\\mu_b)$\n\n(c) ii)\n\n$\\Sigma_a = \\beta I + \\frac12 \\mu_a\\mu_a^T$");
    EXPECT("slip", "c ~ (1/2) (mu_a + mu_b)",
           ONE "$c \\approx \\frac12(\\mu_a + \\mu_b)$");
}

/* ---- what is no claim ----------------------------------------------------------------
 */

TEST(goals_assumptions_and_denials_are_no_claims)
{
    EXPECT("not found", "c ~ (1/2) (v_a + v_b)",
           TWO "To achieve $c \\approx \\frac12(v_a + v_b)$, we take two heads.");
    EXPECT("not found", "s_a ~ s_b",
           LONG "$k_a^T q \\approx k_b^T q$ doesn't hold true.");
    EXPECT("limit", "D_share > high",
           LONG "$k_a^T q \\approx k_b^T q$ doesn't hold true.");
    EXPECT("not found", "s_a = C", ONE "(c) ii)\n\nIf $k_a^T q = C$ we are done.");
}

TEST(what_cannot_be_read_is_not_guessed)
{
    struct lab_reading reading;
    static const char text[] =
        COPY "The variance is somewhat robust to larger copies.\n\n"
             "$\\alpha_i = \\frac{$\n";
    CHECK(!lab_reading_open(&reading, text, sizeof text - 1), "not open");
    CHECK(reading.judged == 0, "%d judged", reading.judged);
    int not_read = 0;
    for (int i = 0; i < reading.claims; i++)
        not_read += reading.claim[i].verdict == LAB_READ_NOT_READ;
    CHECK(not_read >= 1 && reading.formulas == 1 && reading.formulas_read == 0,
          "%d not read, %d of %d formulas", not_read, reading.formulas_read,
          reading.formulas);
    lab_reading_close(&reading);
}

TEST(letters_conflicts_and_points_are_shown)
{
    static const char text[] =
        "# 1\n\n(b) ii)\n\n$q = k_a + k_b$: $\\alpha_a = \\frac{e^1}{2e^1 + (n-2)e^0} "
        "\\neq "
        "\\frac12$. So $q = \\lambda (k_a + k_b)$.\n\n(d) i)\n\n$q_1 = \\mu_a$, $q_2 = "
        "\\mu_b$, $\\alpha_{1,a} \\approx 1$\n";
    struct lab_reading reading;
    int scale = 0, inside = 0;
    CHECK(!lab_reading_open(&reading, text, sizeof text - 1), "not open");
    for (int i = 0; i < reading.letters; i++)
        scale |= !strcmp(reading.letter[i].letter, "lambda") &&
                 reading.letter[i].line == 5 &&
                 strstr(reading.letter[i].meaning, "scale") != NULL;
    for (int i = 0; i < reading.conflicts; i++)
        inside |= reading.conflict[i].claim[1] >= 0;
    CHECK(scale, "lambda is no scale");
    CHECK(inside, "line 5 and line 9 do not contradict each other");
    CHECK(reading.of > 0 && reading.questions > 5, "%g points", reading.of);
    for (int i = 0; i < reading.questions; i++)
        CHECK(strcmp(reading.question[i].question, "1b-ii") ||
                  reading.question[i].points > 3,
              "1b-ii has %g points", reading.question[i].points);
    lab_reading_close(&reading);
}

/* ---- any bytes ------------------------------------------------------------------------
 */

TEST(any_bytes_are_a_solution)
{
    static const char pieces[][24] = {
        "$",        "$$",       "\\frac{", "}",        "q_1 = ",
        "\\mu_a",   "\xce\xb1", "\xff",    "(a)",      "\n\n",
        "\\sum_{i", "c ~ v_a",  "\\gg",    "k_a^T q ", "\\begin{cases}",
        "M = ",     "A^T ",     "varies ", "\\\\",     "^{^{",
        "&",        "exp(",     "= ",
    };
    char text[2000];
    uint64_t state = (uint64_t)test_seed();
    for (int round = 0; round < 30; round++) {
        size_t used = 0;
        while (used + 30 < sizeof text) {
            state = state * 6364136223846793005u + 1442695040888963407u;
            const char *const piece =
                pieces[(state >> 33) % (sizeof pieces / sizeof pieces[0])];
            used += (size_t)snprintf(text + used, sizeof text - used, "%s", piece);
        }
        struct lab_reading reading;
        CHECK(!lab_reading_open(&reading, text, used), "round %d", round);
        for (int i = 0; i < reading.claims; i++)
            CHECK(reading.claim[i].end <= used &&
                      reading.claim[i].begin <= reading.claim[i].end,
                  "a claim outside the text");
        lab_reading_close(&reading);
    }
}

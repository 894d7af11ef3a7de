/* SPDX-License-Identifier: MIT */
/* Sheet 004: copy (T1), extraction (T3), average (T4), one head (T9), two heads (T13). */
#include "lab/sheets/sheets.h"

static const struct lab_statement statements[] = {
    {LAB_SAYS("004-1", 7, "definitions of c, alpha"),
     LAB_QUOTES(9, "c = \\sum_{i=1}^n \\alpha_i v_i"),
     .exact = "alpha = softmax of the scores, c = sum alpha_i v_i.",
     .claim = {.text = "off_p = 0; off_c = 0", .grows = "beta"}},
    {LAB_SAYS("004-2", 15, "distribution"),
     LAB_QUOTES(15, "$0 \\leq \\alpha_i \\leq 1$ $\\sum \\alpha_i = 1$"),
     .exact = "Weights are positive and add up to 1, for any finite scores.",
     .claim = {.text = "sum_p = 1", .grows = "beta"}},
    {LAB_SAYS("004-3", 16, "k_i.q << k_j.q, or k_i.q = -inf"),
     LAB_QUOTES(16, "$k_i^T q \\ll k_j^T q$ or $k_i^T q = -\\infty$"),
     .exact = "A gap of ln((n-1)(1-eps)/eps) gives p_j >= 1-eps; with -inf, which no "
              "finite query gives, p_j = 1.",
     .claim = {.query = {"C k_a"},
               .text = "c ~ v_a; p_masked = 1",
               LAB_GROWS(LAB_FREE_SCALE, "the gap")}},
    {LAB_SAYS("004-4", 17, "then c = v_j"),
     LAB_QUOTES(17, "under the condition ii, $c = v_j$"),
     .exact = "c = v_j when the other scores are -inf; else |c - v_j| <= (1-p_j) max|v_i "
              "- v_j|, never 0.",
     .claim = {.query = {"C k_a"},
               .text = "c = v_a; p_masked = 1",
               LAB_GROWS(LAB_FREE_SCALE, "the gap")}},
    {LAB_SAYS("004-5", 18, "other weights are 0; large similarity gives a copy"),
     LAB_QUOTES(18, "The attention weight for the index $i \\neq j$ is 0"),
     .exact =
         "They are (n-1)e^-gap/(1+(n-1)e^-gap) together: positive for finite scores.",
     .claim = {.query = {"C k_a"},
               .text = "alpha_b + rest = 0",
               LAB_GROWS(LAB_FREE_SCALE, "the gap")}},
    {LAB_SAYS("004-6", 24, "V_a=Ac with c in R^d, V_b=Bd with d in R^d"),
     LAB_QUOTES(24, "(A \\in \\mathbb{R}^{d \\times m} \\quad c \\in \\mathbb{R}^d)"),
     .exact = "V_a = A c with c in R^m, V_b = B d with d in R^p.",
     .claim = {.topic = LAB_TOPIC_BASIS, .text = "A c_d = v_a"},
     .repair = {{{"c_d", "c"}}, "in R^m, as A in R^{d x m} in the same line"}},
    {LAB_SAYS("004-7", 28, "M=A^T gives c, hence M=A A^T"),
     LAB_QUOTES(28,
                "\\text{if } M = A^T \\Rightarrow A^T A_c + A^T B_d = I \\quad c = c"),
     .exact = "A^T s = c, so A A^T s = A c = V_a.",
     .claim = {.topic = LAB_TOPIC_BASIS,
               .text = "A^T (v_a + v_b) = c; A A^T (v_a + v_b) = v_a"}},
    {LAB_SAYS("004-8", 34, "q=(k_a+k_b)beta, alpha=e^b/((alpha-2)+2e^b)"),
     LAB_QUOTES(34, "\\alpha_b = \\alpha_a = \\frac{\\exp(\\beta)}{(\\alpha-2) + "
                    "\\exp(\\beta) \\cdot 2} \\approx \\frac{1}{2}"),
     .exact = "alpha_a = alpha_b = e^b/((n-2)+2e^b), near 1/2 once beta >= "
              "ln((n-2)(1-eps)/(2 eps)).",
     .claim = {.query = {"(k_a + k_b) beta"},
               .text = "alpha_a = alpha_b = exp(beta)/((alpha - 2) + 2 exp(beta)) ~ 1/2",
               LAB_GROWS(LAB_FREE_SCALE, "beta"),
               .symbol = {"alpha", LAB_MEANS_WEIGHT, 11, LAB_MEANS_KEYS}},
     .repair = {{{"alpha", "n"}}, "as line 7 counts the keys"}},
    {LAB_SAYS("004-9", 36, "keys N(m_i, Sigma_i), \"Sigma_i^T Sigma_i=0\""),
     LAB_QUOTES(36, "\\Sigma_i^T \\Sigma_i = 0 \\quad (i \\neq j)"),
     .exact =
         "The exercise gives m_i^T m_j = 0 for i != j: another letter and another "
         "index, which is more than one symbol. The product of two covariances alpha "
         "I is alpha^2 I, of i and i as of i and j.",
     .claim = {.text = "Sigma_i^T Sigma_i = 0; Sigma_i^T Sigma_j = 0", .noisy = 1},
     .scan = "The scan may be at fault: the line copies what the exercise gives."},
    {LAB_SAYS("004-10", 42, "k_a = m_a + Sigma_a x = m_a + alpha x"),
     LAB_QUOTES(42, "k_a = (m_a + \\Sigma_a \\cdot x) = m_a + \\alpha \\cdot I \\cdot "
                    "x_a \\approx m_a"),
     .exact = "k_a = m_a + sqrt(alpha) x: covariance alpha I, not alpha^2 I. Both tend "
              "to m_a; the scores need alpha beta^2 << 1.",
     .claim = {.text = "Sigma_i = (alpha I) (alpha I)^T",
               .free = LAB_FREE_ALPHA,
               .called = LAB_FREE_ALPHA}},
    {LAB_SAYS("004-11", 46, "k_a.q = beta m_b, k_b.q = beta m_a"),
     LAB_QUOTES(46, "k_a^T q = \\beta \\cdot m_b \\quad k_b^T q = \\beta \\cdot m_a"),
     .exact = "k_a.q = beta |m_a|^2 = beta, k_b.q = beta, numbers; k_i.q = 0.",
     .claim = {.query = {"(m_a + m_b) beta"},
               .text = "s_a = beta m_b; s_b = beta m_a; s_i = 0",
               LAB_GROWS(LAB_FREE_ALPHA, "beta")},
     .repair = {{{"m_b", "norm(m_b)"}, {"m_a", "norm(m_a)"}}, "as line 48 writes it"}},
    {LAB_SAYS("004-12", 48, "norms 1 so alpha_a ~ alpha_b ~ 1/2"),
     LAB_QUOTES(48, "\\|m_i\\| = 1, \\quad k_a^T q \\approx k_b^T q \\Rightarrow "
                    "\\alpha_a \\approx \\alpha_b \\approx \\frac{1}{2}"),
     .exact = "With k_i.q = 0 of line 46 and beta >= ln((n-2)(1-eps)/(2 eps)); unit "
              "norms alone would not suffice.",
     .claim = {.query = {"(m_a + m_b) beta"},
               .text = "norm(m_a) = 1; s_a ~ s_b; alpha_a ~ alpha_b ~ 1/2",
               LAB_GROWS(LAB_FREE_SCALE | LAB_FREE_ALPHA, "beta")}},
    {LAB_SAYS("004-13", 50, "with high variance k_a.q ~ k_b.q fails"),
     LAB_QUOTES(50, "Under the high variance condition, $k_a^T q \\approx k_b^T q$ "
                    "doesn't hold true"),
     .exact = "Var(k_a.q - k_b.q) = beta^2 (1/2 + 4 alpha). Two scores are near each "
              "other while alpha_a/(alpha_a + alpha_b) hardly moves: its standard "
              "deviation is .086 at beta = .5 and .44 at beta = 10.",
     .claim = {.query = {"(m_a + m_b) beta"},
               .magnitude = 1,
               .text = "D_share > high",
               LAB_GROWS(LAB_FREE_SCALE, "beta")}},
    {LAB_SAYS("004-14", 52, "c = a v_a + b v_b + small rest, a+b ~ 1"),
     LAB_QUOTES(54, "where $\\alpha_a + \\alpha_b \\approx 1$, ϵ_i is a small number"),
     .exact = "The rest weighs (n-2)/(e^beta + e^(gamma beta) + n-2): nothing at n = 2, "
              "little once beta >> ln n.",
     .claim = {.query = {"(m_a + m_b) beta"},
               .magnitude = 1,
               .text = "alpha_a + alpha_b ~ 1; rest ~ 0",
               LAB_GROWS(LAB_FREE_SCALE, "beta")}},
    {LAB_SAYS("004-21", 56, "scores beta, delta beta, of which line 58 takes exp(-beta)"),
     LAB_QUOTES(56, "\\text{if } k_a^T q = \\beta \\quad k_b^T q = \\delta \\beta"),
     .exact =
         "Scores beta and delta beta give alpha_a = 1/(1+e^{(delta-1) beta}); line 58 "
         "is the case delta = -1 alone. In the exercise the length of k_a varies, and "
         "the scores are gamma beta and beta.",
     .claim = {.magnitude = 1,
               .text = "exp(beta)/(exp(beta) + exp(gamma beta)) = exp(beta)/(exp(beta) + "
                       "exp(-beta))",
               .grows = "beta"}},
    {LAB_SAYS("004-15", 56, "scores beta, -beta: alpha_a=1/(1+e^b), alpha_b=1/(1+e^-b)"),
     LAB_QUOTES(58, "\\alpha_a = \\frac{\\exp(\\beta)}{\\exp(\\beta) + \\exp(-\\beta)} = "
                    "\\frac{1}{1 + \\exp(\\beta)}"),
     .exact =
         "alpha_a = 1/(1+e^{-2 beta}), alpha_b = 1/(1+e^{2 beta}): sign and factor 2.",
     .claim = {.query = {"(m_a - m_b) beta"},
               .text =
                   "alpha_a = exp(beta)/(exp(beta) + exp(-beta)) = 1/(1 + exp(beta)); "
                   "alpha_b = exp(-beta)/(exp(beta) + exp(-beta)) = 1/(1 + exp(-beta))",
               LAB_GROWS(LAB_FREE_SCALE, "beta")}},
    {LAB_SAYS("004-16", 62, "beta in .1..2 gives weights ~1.0 or .1"),
     LAB_QUOTES(62, "if β has a high variance (e.g. $0.1 \\sim 2$), $\\alpha_a, "
                    "\\alpha_b \\approx 1.0$ or 0.1"),
     .exact = "1/(1+e^{-2 beta}) runs from .55 at beta = .1 to .98 at beta = 2, and the "
              "other weight from .45 to .02; by the formulas of lines 58 and 60 from "
              ".475 to .12 and from .525 to .88. Head 1 has beta = .1, head 2 has 2.",
     .claim = {.query = {"0.1 (m_a - m_b)", "2 (m_a - m_b)"},
               .text = "alpha_a/(alpha_a + alpha_b) ~ 1; v_a^T c_2/(v_a^T c_2 + v_b^T "
                       "c_2) ~ 1"}},
    {LAB_SAYS("004-17", 66, "q1=mu_a, q2=mu_b (unscaled): scores 1, c1=V_a, c2=V_b"),
     LAB_QUOTES(68, "c_1 = 1 \\cdot V_a = V_a \\quad c_2 = 1 \\cdot V_b = V_b"),
     .exact = "A score of 1 gives the weight e/(e+n-1): .73 at n = 2, .0027 at n = 1000.",
     .claim = {.query = {"mu_a", "mu_b"}, .text = "s_a = 1; c_1 = v_a; c_2 = v_b"},
     .scan = "The scan has Hu for mu_a and Hb for mu_b."},
    {LAB_SAYS("004-18", 70, "alpha_a = beta/(beta+0+..+0) = 1"),
     LAB_QUOTES(70, "\\alpha_a = \\frac{\\beta}{\\beta + 0 \\dots + 0} = 1"),
     .exact = "alpha_a = e^gamma/(e^gamma+n-1): softmax exponentiates, and exp(0) = 1.",
     .claim = {.query = {"mu_a", "mu_b"},
               .magnitude = 1,
               .text = "alpha_a = s_a/(s_a + 0 (n - 1)) = 1"},
     .scan = "The scan has Hk_a for mu_a."},
    {LAB_SAYS("004-20", 72, "alpha_b = 1/(1+0+..+0) = 1"),
     LAB_QUOTES(72, "\\alpha_b = \\frac{1}{1+0 \\dots + 0} = 1"),
     .exact =
         "alpha_b = e/(e+n-1): softmax exponentiates, and exp(0) = 1. It is .73 at n "
         "= 2 and .0027 at n = 1000.",
     .claim = {.query = {"mu_a", "mu_b"}, .text = "alpha_2b = 1/(1 + 0 (n - 1)) = 1"},
     .scan = "The scan has Hk_a for mu_b."},
    {LAB_SAYS("004-19", 74,
              "c=(V_a+V_b)/2 under magnitude noise (its queries are unscaled)"),
     LAB_QUOTES(74, "c = \\frac{1}{2}(V_a + V_b)"),
     .exact = "At scale 1 c is near the mean of all values; a scale C >> ln n and gamma "
              "> 0 are needed.",
     .claim = {.query = {"mu_a", "mu_b"}, .magnitude = 1, .text = "c = (v_a + v_b)/2"}},
};

const struct lab_sheet lab_sheet_004 = {"004", statements,
                                        sizeof statements / sizeof statements[0]};

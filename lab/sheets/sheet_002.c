/* SPDX-License-Identifier: MIT */
/* Sheet 002: copy (T1), average (T4), tokens (T25), one head (T9), mu_a +- mu_b (T16). */
#include "lab/sheets/sheets.h"

static const struct lab_statement statements[] = {
    {LAB_SAYS("002-1", 13, "softmax definition"),
     LAB_QUOTES(
         13, "\\alpha_i = \\frac{\\exp(k_i^\\top q)}{\\sum_{j=1}^n \\exp(k_j^\\top q)}"),
     .exact = "alpha_i = exp(k_i.q) / sum_j exp(k_j.q), for any finite scores.",
     .claim = {.text = "off_p = 0", .grows = "beta"}},
    {LAB_SAYS("002-2", 17, "exp >= 0, sum 1: categorical"),
     LAB_QUOTES(17, "The exponential function ensures that $\\exp(k_i^{\\top}q) \\geq "
                    "0$, so $\\alpha_i \\geq 0$"),
     .exact = "Weights are positive and add up to 1, for any finite scores.",
     .claim = {.text = "sum_p = 1", .grows = "beta"}},
    {LAB_SAYS("002-3", 24, "copy when the key k_j >> k_i is large"),
     LAB_QUOTES(24, "$k_j \\gg k_i$, for $i \\in \\{1, ..., n\\}$ and $i \\neq j$), then "
                    "the dot product between the key and the query will be large"),
     .exact = "The gap of the scores decides. A long key has a large score only if its "
              "angle to q is below 90 degrees; else the longer it is, the less it gets.",
     .claim = {.argument =
                   {.given = "a key 1000 times as long as the two others, q of length 1",
                    .letter = "q",
                    .of = {"mu_a", "mu_b", "-mu_a"},
                    .key = {"1000 mu_a", "mu_b", "mu_i"},
                    .query = "q",
                    .premise = "abs(norm(q) - 1)",
                    .conclusion = "1 - v_a^T p"}}},
    {LAB_SAYS("002-4", 28, "c ~ v_j since alpha_j >> sum others"),
     LAB_QUOTES(28, "almost be a copy of the value v_j due to the fact that $\\alpha_j "
                    "\\gg \\sum_{i \\neq j} \\alpha_i$"),
     .exact = "With r = alpha_j / sum of the others, |c - v_j| <= max|v_i - v_j|/(1+r).",
     .claim = {.query = {"ln(r (n - 1)) k_a"},
               .text = "alpha_a ~ 1; c ~ v_a",
               LAB_GROWS(LAB_FREE_SCALE, "the ratio")}},
    {LAB_SAYS("002-5", 32, "q closely aligned with k_j makes v_j dominate"),
     LAB_QUOTES(32, "when the query q is closely aligned with a specific key k_j , the "
                    "output c becomes dominated by the corresponding value v_j"),
     .exact = "With orthonormal keys, and |q| large enough for a gap of "
              "ln((n-1)(1-eps)/eps): direction alone does not do it.",
     .claim = {.query = {"beta (cos(0.1) k_a + sin(0.1) k_b)"},
               .text = "c ~ v_a",
               .free = LAB_FREE_SCALE,
               .grows = "|q|"}},
    {LAB_SAYS("002-6", 42, "need k_a.q ~ k_b.q >> k_i.q"),
     LAB_QUOTES(44, "k_a^{\\top} q \\approx k_b^{\\top} q \\gg k_i^{\\top} q"),
     .exact = "p_a/p_b = exp(k_a.q - k_b.q): the difference must be near 0, and both "
              "ln((n-2)/(2 eps)) above the rest. Judged with a difference of 1/gap.",
     .claim = {.query = {"(beta + 1/beta) k_a + beta k_b"},
               .text = "c ~ (v_a + v_b)/2",
               LAB_GROWS(LAB_FREE_SCALE, "the gap")}},
    {LAB_SAYS("002-7", 48, "q=beta(k_a+k_b): scores beta, beta, 0"),
     LAB_QUOTES(48, "q = \\beta(k_a + k_b)"), .exact = "For orthonormal keys.",
     .claim = {.query = {"beta (k_a + k_b)"},
               .text = "s_a = beta; s_b = beta; s_i = 0",
               .grows = "beta"}},
    {LAB_SAYS("002-8", 57, "only exp(beta) matters since exp(0)=1 is insignificant"),
     LAB_QUOTES(57, "only $\\exp(\\beta)$ will matter, because $\\exp(0) = 1$ will be "
                    "insignificant"),
     .exact = "There are n-2 terms exp(0): together (n-2)/(2e^beta+n-2) of the mass, so "
              "beta - ln n must be large, not beta alone.",
     .claim = {.query = {"beta (k_a + k_b)"},
               .text = "rest ~ 0",
               LAB_GROWS(LAB_FREE_SCALE, "beta")}},
    {LAB_SAYS("002-9", 59, "alpha = e^b/(n-2+2e^b) ~ 1/2"),
     LAB_QUOTES(59,
                "\\alpha_a = \\alpha_b = \\frac{\\exp(\\beta)}{n - 2 + 2\\exp(\\beta)} "
                "\\approx \\frac{\\exp(\\beta)}{2\\exp(\\beta)} \\approx \\frac{1}{2}"),
     .exact = "The fraction is exact; it is 1/2 to within eps/2 iff beta >= "
              "ln((n-2)(1-eps)/(2 eps)).",
     .claim = {.query = {"beta (k_a + k_b)"},
               .text = "alpha_a = alpha_b = exp(beta)/(n - 2 + 2 exp(beta)) ~ "
                       "exp(beta)/(2 exp(beta)) ~ 1/2",
               LAB_GROWS(LAB_FREE_SCALE, "beta")}},
    {LAB_SAYS("002-10", 63, "Pi rearranges rows of X; X Pi is the permuted input"),
     LAB_QUOTES(63, "A permutation matrix Π rearranges the rows of the input X. If X is "
                    "the input, then $X\\Pi$ represents the permuted input"),
     .exact = "Pi X rearranges rows; X Pi would rearrange columns, and fits only if "
              "there are as many tokens as features.",
     .claim = {.topic = LAB_TOPIC_TOKENS, .text = "X Pi = X_moved"},
     .repair = {{{"X Pi", "Pi X"}}, "the side that moves rows, as the same line says"}},
    {LAB_SAYS("002-11", 66, "(X Pi)W = (X W)Pi"),
     LAB_QUOTES(66, "Q(X\\Pi) = (X\\Pi)W_Q = Q(X)\\Pi"),
     .exact = "(Pi X)W = Pi(X W). X Pi W = X W Pi would need W and Pi to commute.",
     .claim = {.topic = LAB_TOPIC_TOKENS, .text = "(X Pi) W = (X W) Pi"},
     .repair = {{{"(X Pi)", "(Pi X)"}, {"(X W) Pi", "Pi (X W)"}},
                "the side that moves rows, as line 63 says"}},
    {LAB_SAYS("002-26", 72, "S(X Pi) = (Q Pi)(K Pi)^T/sqrt(d)"),
     LAB_QUOTES(72, "S(X\\Pi) = \\frac{Q(X\\Pi)K(X\\Pi)^{\\top}}{\\sqrt{d_k}} = "
                    "\\frac{(Q(X)\\Pi)(K(X)\\Pi)^{\\top}}{\\sqrt{d_k}}"),
     .exact = "S(Pi X) = (Pi Q)(Pi K)^T/sqrt(d) = Pi S(X) Pi^T.",
     .claim = {.topic = LAB_TOPIC_TOKENS,
               .input = "X Pi",
               .text = "S_moved = (X W_Q Pi) (X W_K Pi)^T/sqrt(d)"},
     .repair = {{{"X Pi", "Pi X"}, {"X W_Q Pi", "Pi X W_Q"}, {"X W_K Pi", "Pi X W_K"}},
                "the side that moves rows, as line 63 says"}},
    {LAB_SAYS("002-12", 76, "S(X Pi) = S(X)"),
     LAB_QUOTES(76, "S(X\\Pi) = \\frac{Q(X)K(X)^{\\top}}{\\sqrt{d_k}} = S(X)"),
     .exact = "S(Pi X) = Pi S(X) Pi^T: rows and columns of the scores move.",
     .claim = {.topic = LAB_TOPIC_TOKENS, .input = "X Pi", .text = "S_moved = S"},
     .repair = {{{"X Pi", "Pi X"}}, "the side that moves rows, as line 63 says"}},
    {LAB_SAYS("002-13", 80, "softmax(S(X Pi)) = softmax(S(X)) Pi"),
     LAB_QUOTES(80,
                "\\operatorname{Softmax}(S(X\\Pi)) = \\operatorname{Softmax}(S(X))\\Pi"),
     .exact = "softmax(S(Pi X)) = Pi softmax(S(X)) Pi^T; it also contradicts line 76, by "
              "which nothing would move.",
     .claim = {.topic = LAB_TOPIC_TOKENS, .input = "X Pi", .text = "P_moved = P Pi"},
     .repair = {{{"X Pi", "Pi X"}, {"P Pi", "Pi P"}},
                "the side that moves rows, as line 63 says"}},
    {LAB_SAYS("002-14", 84, "Attention(X Pi) = Attention(X) Pi"),
     LAB_QUOTES(84, "Attention(X\\Pi) = Attention(X)\\Pi"),
     .exact = "Attention(Pi X) = Pi Attention(X) when rows are tokens; X Pi is right "
              "when columns are.",
     .claim = {.topic = LAB_TOPIC_TOKENS, .input = "X Pi", .text = "Att_moved = Att Pi"},
     .repair = {{{"X Pi", "Pi X"}, {"Att Pi", "Pi Att"}},
                "the side that moves rows, as line 63 says"}},
    {LAB_SAYS("002-15", 102, "q=beta(mu_a+mu_b): scores ~ beta, beta, 0"),
     LAB_QUOTES(109, "\\approx \\beta (\\mu_a^{\\mathsf{T}} \\mu_a + "
                     "\\mu_a^{\\mathsf{T}} \\mu_b) = \\beta (1 + 0) = \\beta"),
     .exact = "Each score has variance 2 alpha beta^2 around these: alpha beta^2 << 1.",
     .claim = {.query = {"beta (mu_a + mu_b)"},
               .text = "s_a ~ beta; s_b ~ beta; s_i ~ 0",
               LAB_GROWS(LAB_FREE_ALPHA, "beta")}},
    {LAB_SAYS("002-16", 123, "weights with exp(beta/sqrt(d_k)), beta >> 0"),
     LAB_QUOTES(123, "\\alpha_a = \\alpha_b = "
                     "\\frac{\\exp(\\beta/\\sqrt{d_k})}{\\exp(\\beta/\\sqrt{d_k}) + "
                     "\\exp(\\beta/\\sqrt{d_k}) + \\sum_{i \\notin \\{a,b\\}} \\exp(0)}"),
     .exact = "With scores scaled by 1/sqrt(d) the scale needed is sqrt(d) "
              "ln((n-2)(1-eps)/(2 eps)); line 13 has no such factor. Here d = n.",
     .claim =
         {.query = {"beta (mu_a + mu_b)"},
          .text =
              "alpha_a = alpha_b = exp(beta/sqrt(d))/(2 exp(beta/sqrt(d)) + n - 2) ~ 1/2",
          LAB_GROWS(LAB_FREE_SCALE, "beta"),
          .far = 960}},
    {LAB_SAYS("002-17", 133,
              "c ~ (v_a+v_b)/2; works because q is orthogonal to other mu_i"),
     LAB_QUOTES(137, "This construction works because q is orthogonal to all other μ_i"),
     .exact = "Orthogonality makes the other scores 0; it works because k_a.q = k_b.q "
              "exceeds them by more than ln((n-2)/(2 eps)), as line 125 has it.",
     .claim = {.query = {"beta (mu_a + mu_b)"},
               .text = "s_i ~ 0; c ~ (v_a + v_b)/2",
               LAB_GROWS(LAB_FREE_SCALE | LAB_FREE_ALPHA, "beta")}},
    {LAB_SAYS("002-27", 141, "c becomes unstable as the length of k_a varies"),
     LAB_QUOTES(141, "the behavior of c becomes unstable due to the large variance in "
                     "the magnitude of k_a"),
     .exact = "The output varies at every n and beta, and the weight of v_a has a "
              "standard deviation of .1 or more from a beta on that grows with n.",
     .claim = {.query = {"beta (mu_a + mu_b)"},
               .magnitude = 1,
               .text = "D_1 > high",
               LAB_GROWS(LAB_FREE_SCALE, "beta")}},
    {LAB_SAYS("002-18", 141, "Sigma_a = beta I + mu_a mu_a^T/2"),
     LAB_QUOTES(141, "\\Sigma_a = \\beta I + \\frac{1}{2}(\\mu_a \\mu_a^{\\mathsf{T}})"),
     .exact = "Sigma_a = alpha I + mu_a mu_a^T/2.",
     .claim = {.text = "Sigma_a = beta I + (1/2) mu_a mu_a^T",
               .grows = "beta",
               .symbol = {"beta", LAB_MEANS_SCALE, 102, LAB_MEANS_NOISE}},
     .repair = {{{"beta", "alpha"}}, "as line 107 writes the variance"}},
    {LAB_SAYS("002-19", 145, "larger k_a raises alpha_a, smaller lowers it"),
     LAB_QUOTES(145, "When k_a is larger in a sample, α_a increases"),
     .exact = "alpha_a increases with gamma; with |k_a| = |gamma| only where gamma > 0 "
              "(92% of draws), else a longer k_a lowers it.",
     .claim = {.query = {"beta (mu_a + mu_b)", "beta (1.01 mu_a + mu_b)"},
               .magnitude = 1,
               .text = "P_lowered = 0",
               .free = LAB_FREE_EVENT,
               .grows = "beta"}},
    {LAB_SAYS("002-20", 147, "stable in part i, variance of c larger now"),
     LAB_QUOTES(153, "The variance of c increases due to the variability in k_a"),
     .exact = "At alpha = 0 the variance is 0 in part i and positive now: .195 per "
              "coefficient at beta = 10, n = 2.",
     .claim = {.query = {"beta (mu_a + mu_b)"},
               .magnitude = 1,
               .text = "V_1 > V_still; V_still = 0",
               .grows = "beta"}},
    {LAB_SAYS("002-21", 161, "q1=beta(mu_a+mu_b), q2=beta(mu_a-mu_b)"),
     LAB_QUOTES(161,
                "q_1 = \\beta(\\mu_a + \\mu_b), \\quad q_2 = \\beta(\\mu_a - \\mu_b)"),
     .exact = "Head 2 copies v_a, so c tends to (3 v_a + v_b)/4.",
     .claim = {.query = {"beta (mu_a + mu_b)", "beta (mu_a - mu_b)"},
               .text = "c ~ (v_a + v_b)/2",
               LAB_GROWS(LAB_FREE_SCALE, "beta")}},
    {LAB_SAYS("002-28", 165, "q1 ties a and b: alpha_a ~ alpha_b ~ 1/2"),
     LAB_QUOTES(165, "The query q_1 aligns equally with μ_a and μ_b , ensuring the "
                     "attention weights for v_a and v_b are approximately equal "
                     "$(\\alpha_a \\approx \\alpha_b \\approx \\frac{1}{2})$"),
     .exact =
         "The scores of a and b differ by N(0, 4 alpha beta^2), and beta must exceed "
         "ln((n-2)(1-eps)/(2 eps)).",
     .claim = {.query = {"beta (mu_a + mu_b)"},
               .text = "alpha_a ~ alpha_b ~ 1/2",
               LAB_GROWS(LAB_FREE_SCALE | LAB_FREE_ALPHA, "beta")}},
    {LAB_SAYS("002-22", 166, "q2 is opposed to mu_b yet focuses on the same keys"),
     LAB_QUOTES(166, "The query q_2 aligns oppositely with μ_a and μ_b , providing "
                     "diversity while still focusing on the same keys"),
     .exact =
         "Head 2 gives b the weight e^-beta/(e^beta+e^-beta+n-2), the least of all keys.",
     .claim = {.query = {"beta (mu_a + mu_b)", "beta (mu_a - mu_b)"},
               .text = "alpha_2b ~ alpha_b",
               LAB_GROWS(LAB_FREE_SCALE, "beta")}},
    {LAB_SAYS("002-29", 172, "c1 ~ (v_a+v_b)/2"),
     LAB_QUOTES(172, "c_1 \\approx \\frac{1}{2}(v_a + v_b)"),
     .exact = "Head 1 is the single head of line 102: within eps once beta >= "
              "ln((n-2)(1-eps)/(2 eps)).",
     .claim = {.query = {"beta (mu_a + mu_b)", "beta (mu_a - mu_b)"},
               .text = "c_1 ~ (v_a + v_b)/2",
               LAB_GROWS(LAB_FREE_SCALE, "beta")}},
    {LAB_SAYS("002-23", 172, "c2 ~ c ~ (v_a+v_b)/2"),
     LAB_QUOTES(172, "c_2 \\approx \\frac{1}{2}(v_a + v_b)"),
     .exact = "c2 tends to v_a and c to (3 v_a + v_b)/4.",
     .claim = {.query = {"beta (mu_a + mu_b)", "beta (mu_a - mu_b)"},
               .text = "c_2 ~ (v_a + v_b)/2; c ~ (v_a + v_b)/2",
               LAB_GROWS(LAB_FREE_SCALE, "beta")}},
    {LAB_SAYS("002-24", 186, "with magnitude noise both c1 and c2 vary"),
     LAB_QUOTES(186,
                "its fluctuations in magnitude result in variability in these outputs"),
     .exact = "The score of a is beta gamma in both heads: both variances are positive.",
     .claim = {.query = {"beta (mu_a + mu_b)", "beta (mu_a - mu_b)"},
               .magnitude = 1,
               .text = "V_1 > 0; V_2 > 0",
               .grows = "beta"}},
    {LAB_SAYS("002-30", 190, "c1 is unstable, for alpha_a varies with the length of k_a"),
     LAB_QUOTES(190, "the large variance in k_a 's magnitude causes α_a (the attention "
                     "weight for v_a) to vary significantly. This makes c_1 unstable"),
     .exact = "At n = 10 the weight of v_a has a standard deviation of .1 or more from "
              "beta = 0.89 on, and at n = 1000 from 2.66 on.",
     .claim = {.query = {"beta (mu_a + mu_b)", "beta (mu_a - mu_b)"},
               .magnitude = 1,
               .text = "D_1 > high",
               LAB_GROWS(LAB_FREE_SCALE, "beta")}},
    {LAB_SAYS("002-31", 191, "c2 of q2 = beta(mu_a mu_b) varies with the length of k_a"),
     LAB_QUOTES(191, "$q_2 = \\beta(\\mu_a \\mu_b)$, the same variability in k_a affects "
                     "c_2"),
     .exact = "With q2 = beta(mu_a - mu_b) the score of a is beta gamma, so c2 varies.",
     .claim = {.query = {"beta (mu_a + mu_b)", "beta (mu_a mu_b)"},
               .magnitude = 1,
               .text = "V_2 > 0",
               .grows = "beta"},
     .repair = {{{"mu_a mu_b", "mu_a - mu_b"}}, "as line 161 writes q_2"},
     .scan = "The scan may have lost the minus."},
    {LAB_SAYS("002-25", 195, "the fluctuations of the two heads partially cancel"),
     LAB_QUOTES(195, "the fluctuations in c_1 and c_2 may partially cancel out"),
     .exact = "Cancelling would need a negative covariance. Both heads follow the same "
              "gamma upwards: at n = 10, beta = 10 their covariance is .069, a "
              "correlation of .35. The average varies less all the same, because the "
              "correlation is not full and head 2 varies less.",
     .claim = {.query = {"beta (mu_a + mu_b)", "beta (mu_a - mu_b)"},
               .magnitude = 1,
               .text = "Cov_12 < 0",
               LAB_GROWS(LAB_FREE_SCALE, "beta")}},
    {LAB_SAYS("002-32", 195, "the average of the heads varies less than one head"),
     LAB_QUOTES(195, "reducing the overall variance in c"),
     .exact = "At n = 10, beta = 10 the variance of c is .157 with both heads and .390 "
              "with the first alone. Without any correlation of the heads it would be "
              ".123, with a full one .222.",
     .claim = {.query = {"beta (mu_a + mu_b)", "beta (mu_a - mu_b)"},
               .rival = "beta (mu_a + mu_b)",
               .magnitude = 1,
               .text = "V_c < V_one",
               LAB_GROWS(LAB_FREE_SCALE, "beta")}},
};

const struct lab_sheet lab_sheet_002 = {"002", statements,
                                        sizeof statements / sizeof statements[0]};

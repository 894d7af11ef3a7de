/* SPDX-License-Identifier: MIT */
/* Sheet 003: copy (T1), extraction (T3), average (T4), variances (T7), heads (T13). */
#include "lab/sheets/sheets.h"

static const struct lab_statement statements[] = {
    {LAB_SAYS("003-1", 3, "nonnegative, sums to 1"),
     LAB_QUOTES(3, "All the values of  $\\alpha_i$  are non-negative ( $\\alpha_i \\geq "
                   "0$ ) and their summation is 1"),
     .exact = "Weights are positive and add up to 1, for any finite scores.",
     .claim = {.text = "sum_p = 1", .grows = "C"}},
    {LAB_SAYS("003-2", 5,
              "q much more aligned with k_j, resulting in a much larger k_j.q, "
              "concentrates alpha"),
     LAB_QUOTES(
         5, "resulting in a much larger  $k_j^T q$ , the distribution of  $\\alpha$  "
            "concentrates almost all of its weight on the single component  $\\alpha_j$"),
     .exact =
         "A score larger by ln((n-1)(1-eps)/eps) than every other gives p_j >= 1-eps.",
     .claim = {.query = {"C k_a"},
               .text = "c ~ v_a",
               LAB_GROWS(LAB_FREE_SCALE, "the gap")}},
    {LAB_SAYS("003-3", 6, "\"c = n/(j-1) sum alpha_i ~ sum alpha_i\""),
     LAB_QUOTES(
         6, "c = \\frac{n}{j-1} \\sum_{i=1}^n \\alpha_i \\simeq \\sum_{i=1}^n \\alpha_i"),
     .exact = "c = sum alpha_i v_i ~ v_j. The sum of alpha_i is the number 1.",
     .claim = {.query = {"C k_a"},
               .text =
                   "c = n/(j - 1)*(alpha_a + alpha_b + rest) ~ alpha_a + alpha_b + rest",
               LAB_GROWS(LAB_FREE_SCALE, "the gap")},
     .scan =
         "The scan may be at fault: n/(j-1) looks like a sum from j = 1 to n, and the "
         "values v_i and v_j are missing."},
    {LAB_SAYS("003-4", 7, "lookup/copy intuition"),
     LAB_QUOTES(7, "If the query is highly similar to a specific key, the attention "
                   "mechanism acts as a copying, or lookup system"),
     .exact =
         "With orthonormal keys, and |q| large enough for a gap of ln((n-1)(1-eps)/eps).",
     .claim = {.query = {"C (cos(0.1) k_a + sin(0.1) k_b)"},
               .text = "c ~ v_a",
               .free = LAB_FREE_SCALE,
               .grows = "|q|"}},
    {LAB_SAYS("003-5", 9, "M = A A^T, A^T A=I, A^T B=0, M s=v_a"),
     LAB_QUOTES(9, "$M = A \\cdot A^T$"),
     .exact = "For orthonormal columns of A, perpendicular to those of B.",
     .claim = {.topic = LAB_TOPIC_BASIS,
               .text = "A^T A = I_m; A^T B = 0; A A^T (v_a + v_b) = v_a"},
     .scan = "The scan has d_1 ... d_m for a_1 ... a_m."},
    {LAB_SAYS("003-6", 25, "q=k_a+k_b gives e/(2e+n-2) != 1/2"),
     LAB_QUOTES(
         27,
         "\\alpha_a = \\frac{e^1}{2e^1 + \\sum_{i \\neq a, b} e^0} \\neq \\frac{1}{2}"),
     .exact = "e/(2e+n-2) at every n; it is 1/2 at n = 2, where no other key is left.",
     .claim = {.query = {"k_a + k_b"},
               .text = "alpha_a = exp(1)/(2 exp(1) + n - 2) != 1/2",
               .free = LAB_FREE_N}},
    {LAB_SAYS("003-7", 29, "q=c(k_a+k_b), c very large: ~1/2"),
     LAB_QUOTES(
         31, "\\alpha_a = \\alpha_b = \\frac{e^c}{2e^c + (n-2)e^0} \\simeq \\frac{1}{2}"),
     .exact = "e^c/(2e^c+n-2) is 1/2 to within eps/2 iff c >= ln((n-2)(1-eps)/(2 eps)).",
     .claim = {.query = {"c (k_a + k_b)"},
               .text = "alpha_a = alpha_b = exp(c)/(2 exp(c) + n - 2) ~ 1/2",
               LAB_GROWS(LAB_FREE_SCALE, "c")}},
    {LAB_SAYS("003-8", 34, "q=C(mu_a+mu_b) so \"C ~ (mu_a+mu_b)/2\""),
     LAB_QUOTES(34, "C \\simeq \\frac{1}{2}(\\mu_a + \\mu_b)"),
     .exact = "The output is near (v_a+v_b)/2, values, not means, for C > ln n and alpha "
              "C^2 << 1.",
     .claim = {.query = {"C (mu_a + mu_b)"},
               .text = "c ~ (mu_a + mu_b)/2",
               LAB_GROWS(LAB_FREE_SCALE | LAB_FREE_ALPHA, "C"),
               .symbol = {"mu", LAB_MEANS_MEAN, 33, LAB_MEANS_VALUE}},
     .repair = {{{"mu_a", "v_a"}, {"mu_b", "v_b"}}, "as line 53 writes the output"},
     .scan = "The scan has g with a tilde for q, and C for c."},
    {LAB_SAYS("003-9", 36, "Var S_a = C^2(2alpha+1/2) ~ C^2/2"),
     LAB_QUOTES(41, "= C^2(2\\alpha + \\frac{1}{2}) \\simeq \\frac{C^2}{2}"),
     .exact = "The first is exact; the second drops 2 alpha C^2, which is 0.5 at alpha = "
              "1e-4, C = 50.",
     .claim = {.query = {"C (mu_a + mu_b)"},
               .text = "VarS_a = C^2 (2 alpha + 1/2) ~ C^2/2",
               LAB_GROWS(LAB_FREE_ALPHA, "C")}},
    {LAB_SAYS("003-10", 43, "Var S_b = 2alpha C^2 ~ 0"),
     LAB_QUOTES(43, "= 2\\alpha C^2 \\simeq 0"),
     .exact = "2 alpha C^2 is exact; it is near 0 only if alpha C^2 << 1, however small "
              "alpha is.",
     .claim = {.query = {"C (mu_a + mu_b)"},
               .text = "VarS_b = 2 alpha C^2 ~ 0",
               LAB_GROWS(LAB_FREE_ALPHA, "C")}},
    {LAB_SAYS("003-16", 45, "c = v_1 alpha_1 + ... + v_m alpha_m"),
     LAB_QUOTES(45, "C = v_1 a_1 + v_2 a_2 + \\dots + v_m a_m"),
     .exact = "c = sum alpha_i v_i over all n keys; m is the number of columns of A.",
     .claim = {.text = "off_p = 0; off_c_m = 0",
               .grows = "C",
               .symbol = {"m", LAB_MEANS_BASIS, 9, LAB_MEANS_KEYS}},
     .repair = {{{"off_c_m", "off_c"}}, "as line 3 counts the keys", .says = "m -> n"},
     .scan = "The scan has a_i for alpha_i."},
    {LAB_SAYS("003-11", 45, "c is not a stable mean; single head not robust"),
     LAB_QUOTES(45, "isn't a stable mean"),
     .exact = "The output varies at every n and C, but the weight of v_a has a standard "
              "deviation of .1 or more only from a C on that grows with n. (The query -B "
              "sum of the other means would not feel gamma.)",
     .claim = {.query = {"C (mu_a + mu_b)"},
               .magnitude = 1,
               .text = "D_1 > high",
               LAB_GROWS(LAB_FREE_SCALE, "C")}},
    {LAB_SAYS("003-12", 49, "q1=mu_a (unscaled): S=1 vs 0 so alpha ~ 1"),
     LAB_QUOTES(51, "$\\alpha_{1,a} \\simeq 1$ ,  $\\alpha_{1,\\tilde{a}} \\simeq 0"),
     .exact = "Scores 1 and 0 give e/(e+n-1): .73 at n = 2, .0027 at n = 1000.",
     .claim = {.query = {"mu_a", "mu_b"}, .text = "s_a ~ 1; alpha_a ~ 1; alpha_2b ~ 1"}},
    {LAB_SAYS("003-17", 53, "c ~ (v_a+v_b)/2 (its queries are unscaled)"),
     LAB_QUOTES(53, "$C = \\frac{1}{2}(C_1 + C_2) \\simeq \\frac{1}{2}(v_a + v_b)$"),
     .exact = "At scale 1 each head gives its value the weight e/(e+n-1): .73 at n = 2, "
              ".0027 at n = 1000. Exact at n = 2, where no other key is left.",
     .claim = {.query = {"mu_a", "mu_b"}, .text = "c ~ (v_a + v_b)/2"}},
    {LAB_SAYS("003-13", 57,
              "c1 has high variance and becomes unstable (its queries are unscaled)"),
     LAB_QUOTES(59, "$C_1$  has a high variance and  $C_1$  becomes unstable"),
     .exact =
         "At scale 1 the weight of v_a has standard deviation .135, .157 and .125 at "
         "n = 2, 3 and 10, below .1 from n = 16 on, and .0028 at n = 1000. It is high "
         "among few keys alone, and the sheet has any number of them.",
     .claim = {.query = {"mu_a", "mu_b"}, .magnitude = 1, .text = "D_1 > high"}},
    {LAB_SAYS("003-14", 61, "head 2 unaffected by k_a's noise (orthogonal)"),
     LAB_QUOTES(61, "the noise of  $\\tilde{k}_a$  is negligible to  $C_2$"),
     .exact = "mu_b.k_a = gamma mu_b.mu_a = 0 whatever gamma, at alpha = 0.",
     .claim = {.query = {"mu_a", "mu_b"}, .magnitude = 1, .text = "V_2 = 0"}},
    {LAB_SAYS("003-18", 63, "c2 keeps close to v_b (its queries are unscaled)"),
     LAB_QUOTES(63, "$C_2$  keeps close to  $v_b$  with low variance"),
     .exact = "c2 does not vary, and stays at the weight e/(e+n-1) of v_b: .73 at n = 2, "
              ".0027 at n = 1000.",
     .claim = {.query = {"mu_a", "mu_b"}, .magnitude = 1, .text = "V_2 = 0; c_2 ~ v_b"}},
    {LAB_SAYS("003-15", 65,
              "variance smaller than single-head (its queries are unscaled)"),
     LAB_QUOTES(65, "it makes its variance smaller than single-head attention"),
     .exact = "Smaller than that of one head C(mu_a+mu_b) above a crossover C.",
     .claim = {.query = {"mu_a", "mu_b"},
               .rival = "C (mu_a + mu_b)",
               .magnitude = 1,
               .text = "V_c < V_one",
               LAB_GROWS(LAB_FREE_SCALE, "C")}},
};

const struct lab_sheet lab_sheet_003 = {"003", statements,
                                        sizeof statements / sizeof statements[0]};

/* SPDX-License-Identifier: MIT */
/* Sheet 000: copy (T1), average (T4), one noisy head (T7 - T12), two heads (T13, T14). */
#include "lab/sheets/sheets.h"

static const struct lab_statement statements[] = {
    {LAB_SAYS("000-1", 11,
              "copy of v_i needs k_i.q significantly greater than every other k_j.q"),
     LAB_QUOTES(11, "$k_i^T q$  would have to significantly greater than  $k_j^T q$  for "
                    "any  $j \\neq i$"),
     .exact = "p_i = 1/(1 + sum exp(-gap_j)): within eps of a copy if every gap is at "
              "least ln((n-1)(1-eps)/eps), and only if it is at least ln((1-eps)/eps).",
     .claim = {.query = {"C k_a"},
               .text = "c ~ v_a; alpha_a < sg(C) + 1e-8",
               LAB_GROWS(LAB_FREE_SCALE, "the gap")}},
    {LAB_SAYS("000-2", 15, "q = C(k_a+k_b), C >> 0 gives the average"),
     LAB_QUOTES(15, "q = C(k_a + k_b)"),
     .exact = "The unwanted weight is (n-2)/(2e^C+n-2): at most eps iff C >= "
              "ln((n-2)(1-eps)/(2 eps)); exact at n = 2.",
     .claim = {.query = {"C (k_a + k_b)"},
               .text = "c ~ (v_a + v_b)/2",
               LAB_GROWS(LAB_FREE_SCALE, "C")}},
    {LAB_SAYS("000-3", 22, "q = C(mu_a+mu_b) under Sigma = alpha I"),
     LAB_QUOTES(22, "q = C(\\mu_a + \\mu_b)"),
     .exact = "Average if C >= ln((n-2)(1-eps)/(2 eps)) and alpha C^2 << 1: the scores "
              "of a and b differ by N(0, 4 alpha C^2).",
     .claim = {.query = {"C (mu_a + mu_b)"},
               .text = "c ~ (v_a + v_b)/2",
               LAB_GROWS(LAB_FREE_SCALE | LAB_FREE_ALPHA, "C")}},
    {LAB_SAYS(
         "000-4", 25,
         "Sigma_i = alpha I implies k_a, k_b uncorrelated \"therefore independent\""),
     LAB_QUOTES(25, "keys (random variables)  $k_a$  and  $k_b$  are not correlated, "
                    "therefore independent"),
     .exact = "The covariance of each key says nothing about two keys together; "
              "independence is given by how they are sampled.",
     .claim =
         {.argument = {.given =
                           "k_a = mu_a + sqrt(alpha) u and k_b = mu_b + rho sqrt(alpha) "
                           "u + sqrt((1 - rho^2) alpha) w, u and w standard normal",
                       .letter = "rho",
                       .of = {"0", "0.5", "1", "-1"},
                       .premise = "norm((rho sqrt(alpha) I) (rho sqrt(alpha) I)^T + (1 - "
                                  "rho^2) alpha I - alpha I)/alpha",
                       .conclusion =
                           "norm((sqrt(alpha) I) (rho sqrt(alpha) I)^T)/norm(alpha I)"}}},
    {LAB_SAYS("000-5", 25, "therefore mu_a, mu_b are best estimators and perpendicular"),
     LAB_QUOTES(25, "$\\mu_a$  and  $\\mu_b$  are their best estimators and are also "
                    "perpendicular to each other"),
     .exact = "mu_i is the mean of k_i whatever the noise, and the means are "
              "perpendicular: both are given by the exercise, and \"that means\" claims "
              "more, since neither follows from independence.",
     .claim = {.text = "k_a ~ mu_a; k_b ~ mu_b; mu_a^T mu_b = 0",
               .free = LAB_FREE_ALPHA,
               .called = LAB_FREE_ALPHA,
               .argument = {.given = "keys with independent noise around unit means",
                            .letter = "mu_b",
                            .of = {"mu_i", "(mu_a + mu_i)/sqrt(2)", "mu_a"},
                            .premise = "abs(norm(mu_b) - 1)",
                            .conclusion = "abs(mu_a^T mu_b)"}}},
    {LAB_SAYS("000-6", 27, "k_a ~ N(mu_a, alpha I + mu_a mu_a^T/2)"),
     LAB_QUOTES(
         27, "k_a \\sim \\mathcal{N}(\\mu_a, \\alpha I + \\frac{1}{2}(\\mu_a \\mu_a^T))"),
     .exact = "<mu_a, k_a> ~ N(1, 1/2 + alpha), and variance alpha across mu_a.",
     .claim = {.text = "Sigma_a = alpha I + (1/2) mu_a mu_a^T"}},
    {LAB_SAYS("000-7", 29,
              "\"let k_b point in the same direction as k_a with different norm\""),
     LAB_QUOTES(29, "let  $k_b$  be the key pointing in the same direction as  $k_a$  "
                    "but with different norm"),
     .exact = "k_a lies along mu_a and k_b along mu_b, which are perpendicular: cosine "
              "0. It is k_a that keeps the direction of mu_a.",
     .claim = {.text = "k_a^T k_b/(norm(k_a) norm(k_b)) = 1"}},
    {LAB_SAYS("000-8", 31, "scores eps_a C, eps_b C, 0 with eps_a, eps_b ~ N(1,1/2)"),
     LAB_QUOTES(31, "\\varepsilon_b C & \\text{for } i = b, \\text{ where } "
                    "\\varepsilon_b \\sim \\mathcal{N}(1, \\frac{1}{2})"),
     .exact = "Scores gamma C, C, 0 with gamma ~ N(1, 1/2): only k_a has the larger "
              "variance, Sigma_b = alpha I.",
     .claim = {.query = {"C (mu_a + mu_b)"},
               .magnitude = 1,
               .text = "Var_s_a = C^2/2; Var_s_b = C^2/2",
               .grows = "C"}},
    {LAB_SAYS("000-9", 35, "c = two-term softmax"),
     LAB_QUOTES(35, "c = \\frac{\\exp(\\varepsilon_a C)}{\\exp(\\varepsilon_a C) + "
                    "\\exp(\\varepsilon_b C)} v_a + \\frac{\\exp(\\varepsilon_b "
                    "C)}{\\exp(\\varepsilon_a C) + \\exp(\\varepsilon_b C)} v_b"),
     .exact = "The other n-2 keys add n-2 to the denominator: the two terms are all at n "
              "= 2, and nearly all once C >> ln n.",
     .claim = {.query = {"C (mu_a + mu_b)"},
               .magnitude = 1,
               .text = "c = exp(eps_a C)/(exp(eps_a C) + exp(eps_b C))*v_a + exp(eps_b "
                       "C)/(exp(eps_a C) + exp(eps_b C))*v_b",
               LAB_GROWS(LAB_FREE_SCALE, "C"),
               .far = 64}},
    {LAB_SAYS("000-10", 37, "= v_a/exp((ea-eb)C) + v_b/exp((eb-ea)C)"),
     LAB_QUOTES(37, "= \\frac{1}{\\exp((\\varepsilon_a - \\varepsilon_b)C)} v_a + "
                    "\\frac{1}{\\exp((\\varepsilon_b - \\varepsilon_a)C)} v_b"),
     .exact = "v_a/(1+exp((eb-ea)C)) + v_b/(1+exp((ea-eb)C)): the 1 is missing and the "
              "sign is turned; at ea = eb the printed weights are 1 and 1.",
     .claim = {.query = {"C (mu_a + mu_b)"},
               .text = "alpha_a = exp(eps_a C)/(exp(eps_a C) + exp(eps_b C)) = "
                       "1/exp((eps_a - eps_b) C); alpha_b = exp(eps_b C)/(exp(eps_a C) + "
                       "exp(eps_b C)) = 1/exp((eps_b - eps_a) C)",
               LAB_GROWS(LAB_FREE_SCALE, "C")}},
    {LAB_SAYS("000-11", 39, "equally likely closer to v_a or v_b"),
     LAB_QUOTES(39,
                "Because  $\\varepsilon_a$  and  $\\varepsilon_b$  come from the same "
                "distribution, it is equally likely that c will be closer to  $v_a$  "
                "as to  $v_b$"),
     .exact = "c is closer to v_a iff gamma > 1, at every n and C: probability 1/2, "
              "because gamma is symmetric about 1. The reason given is not so: the "
              "score of b does not vary.",
     .claim = {.query = {"C (mu_a + mu_b)"},
               .magnitude = 1,
               .text = "P_closer = 1/2",
               .because = "Var_s_a = Var_s_b",
               .grows = "C"}},
    {LAB_SAYS("000-12", 39, "c closer to the v whose key is longer"),
     LAB_QUOTES(39, "c will be closer to whichever  $v_i$  has bigger  $|k_i|$"),
     .exact = "c is closer to v_a iff gamma > 1; |k_a| = |gamma| tells the same unless "
              "gamma < -1, probability Phi(-2/sigma) = 0.0023.",
     .claim = {.query = {"C (mu_a + mu_b)"},
               .magnitude = 1,
               .text = "P_shorter = 0",
               .free = LAB_FREE_EVENT,
               .grows = "C"}},
    {LAB_SAYS("000-13", 45, "q1=C1 mu_a, q2=C2 mu_b, C >> 0"),
     LAB_QUOTES(45, "q_1 = C_1 \\mu_a"),
     .exact = "Each head copies its value with weight e^C/(e^C+n-1): within eps once C "
              ">= ln((n-1)(1-eps)/eps).",
     .claim = {.query = {"C mu_a", "C mu_b"},
               .text = "c ~ (v_a + v_b)/2",
               LAB_GROWS(LAB_FREE_SCALE, "C")}},
    {LAB_SAYS("000-14", 51, "k_a.q1=C1 eps_a, k_b.q2=C2 eps_b"),
     LAB_QUOTES(52, "k_b^T q_2 = C_2 \\varepsilon_b"),
     .exact = "k_a.q1 = C1 gamma with gamma ~ N(1, 1/2), but k_b.q2 = C2: eps_b of line "
              "31 has variance 1/2, <mu_b, k_b> has none.",
     .claim = {.query = {"C mu_a", "C mu_b"},
               .magnitude = 1,
               .text = "Var_s_a = C^2/2; Var_s_2b = C^2/2",
               .grows = "C"}},
    {LAB_SAYS("000-15", 56, "c1 = v_a, c2 = v_b"), LAB_QUOTES(56, "c_1 = v_a"),
     .exact = "c2 tends to v_b as C grows; c1 tends to v_a where gamma > 0, and to the "
              "mean of the others where gamma < 0, probability Phi(-1/sigma) = 0.079.",
     .claim = {.query = {"C mu_a", "C mu_b"},
               .magnitude = 1,
               .text = "c_1 = v_a; c_2 = v_b",
               .free = LAB_FREE_SCALE | LAB_FREE_EVENT,
               .called = LAB_FREE_SCALE,
               .grows = "C"}},
    {LAB_SAYS("000-16", 60, "c close to the average across samples"),
     LAB_QUOTES(60, "c = \\frac{1}{2}(c_1 + c_2) \\approx \\frac{1}{2}(v_a + v_b)"),
     .exact = "True of the draws with gamma > 0 once C gamma >> ln n; over all draws the "
              "mean square distance tends to (1-p)/4 (1+1/(n-1)), p = Phi(1/sigma).",
     .claim = {.query = {"C mu_a", "C mu_b"},
               .magnitude = 1,
               .text = "c ~ (v_a + v_b)/2",
               .free = LAB_FREE_SCALE | LAB_FREE_EVENT,
               .called = LAB_FREE_SCALE,
               .grows = "C"}},
};

const struct lab_sheet lab_sheet_000 = {"000", statements,
                                        sizeof statements / sizeof statements[0]};

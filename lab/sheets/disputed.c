/* SPDX-License-Identifier: MIT */
/* The disputes, with the number that decides each position. */
#include "lab/sheets/dispute.h"

#define AT(keys, size) .at = {.n = (keys), .scale = (size)}
#define ONE_HEAD(query_1) .query = {query_1}
#define TWO_HEADS(query_1, query_2) .query = {query_1, query_2}
#define AVERAGE "(v_a + v_b)/2"
/* Scores 10 and -10 among ten keys: the printed weight and the true one. */
#define PRINTED_WEIGHT(formula)                                                          \
    {                                                                                    \
        {formula " at scores 10, -10, n = 10",                                           \
         {ONE_HEAD("beta (mu_a - mu_b)"), .text = formula " = 0"},                       \
         AT(10, 10)},                                                                    \
            {"the weight",                                                               \
             {ONE_HEAD("beta (mu_a - mu_b)"), .text = "alpha_a = 0"},                    \
             AT(10, 10)},                                                                \
    }
/* How far the printed weight of the average is off, with `count` for the keys. */
#define COUNTED_BY(count)                                                                \
    {                                                                                    \
        {"error of the weight at beta = 2, n = 10",                                      \
         {ONE_HEAD("beta (k_a + k_b)"),                                                  \
          .text = "alpha_a ~ exp(beta)/(" count " - 2 + 2 exp(beta))"},                  \
         AT(10, 2)},                                                                     \
    }
#define MOVED(words, formula)                                                            \
    {                                                                                    \
        {words,                                                                          \
         {.topic = LAB_TOPIC_TOKENS, .input = "Pi X", .text = formula},                  \
         AT(10, 1)},                                                                     \
    }
#define COSINE                                                                           \
    {                                                                                    \
        {"cosine of k_a and k_b",                                                        \
         {.text = "k_a^T k_b/(norm(k_a) norm(k_b)) = 0"},                                \
         AT(10, 1)},                                                                     \
    }
#define OFF_AVERAGE(query_1, query_2)                                                    \
    {                                                                                    \
        {"distance of c from the average at scale 10, n = 10",                           \
         {TWO_HEADS(query_1, query_2), .text = "c ~ " AVERAGE},                          \
         AT(10, 10)},                                                                    \
    }

const struct lab_disputed lab_disputed[LAB_DISPUTES] = {
    {"Which matrix extracts v_a from v_a + v_b?",
     {{"A^T", .decided_by = {"001-10", "001-7"}},
      {"A A^T",
       {"003-5", "004-7"},
       .number = {{"distance of A A^T (v_a + v_b) from v_a",
                   {.topic = LAB_TOPIC_BASIS, .text = "A A^T (v_a + v_b) ~ v_a"},
                   AT(10, 1)}}}}},
    {"Does q = mu_a without a scale copy v_a?",
     {{"yes",
       {"001-19", "003-12", "004-17"},
       .number = {{"weight of v_a at q = mu_a, n = 10",
                   {ONE_HEAD("mu_a"), .text = "alpha_a = 1"},
                   AT(10, 1)}}},
      {"no, C >> 0 is needed",
       {"000-13"},
       .number = {{"weight of v_a at q = 10 mu_a, n = 10",
                   {ONE_HEAD("C mu_a"), .text = "alpha_a = 1"},
                   AT(10, 10)}}}}},
    {"Is scale 1 enough for the average of two?",
     {{"one head needs a large scale",
       {"003-7", "000-2"},
       {"003-6"},
       {{"weight of v_a at q = k_a + k_b, n = 10",
         {ONE_HEAD("k_a + k_b"), .text = "alpha_a = 1/2"},
         AT(10, 1)},
        {"at q = 10 (k_a + k_b)",
         {ONE_HEAD("C (k_a + k_b)"), .text = "alpha_a = 1/2"},
         AT(10, 10)}}},
      {"two heads of scale 1 give it",
       {"001-19", "003-17", "004-19"},
       .number = {{"weight of v_a in the mean of the heads, n = 10",
                   {TWO_HEADS("mu_a", "mu_b"), .text = "v_a^T c = 1/2"},
                   AT(10, 1)}}}}},
    {"Does a score of 1 among scores of 0 give a large weight? (sheet 003 against "
     "itself)",
     {{"no, line 27",
       {"003-6"},
       .number = {{"weight of v_a at q = k_a + k_b, n = 10",
                   {ONE_HEAD("k_a + k_b"), .text = "alpha_a = 1/2"},
                   AT(10, 1)}}},
      {"yes, lines 51 and 53",
       {"003-12", "003-17"},
       .number = {{"weight of v_a at q = mu_a, n = 10",
                   {ONE_HEAD("mu_a"), .text = "alpha_a = 1"},
                   AT(10, 1)}}}}},
    {"Which keys vary in magnitude?",
     {{"k_a and k_b",
       {"000-8", "000-14"},
       .number = {{"variance of the score of b over C^2",
                   {ONE_HEAD("C (mu_a + mu_b)"), .magnitude = 1,
                    .text = "Var_s_b/C^2 = 1/2"},
                   AT(10, 10)}}},
      {"k_a alone",
       {"003-10", "001-15"},
       .number =
           {{"variance of the score of a over C^2",
             {ONE_HEAD("C (mu_a + mu_b)"), .magnitude = 1, .text = "Var_s_a/C^2 = 1/2"},
             AT(10, 10)},
            {"of b",
             {ONE_HEAD("C (mu_a + mu_b)"), .magnitude = 1, .text = "Var_s_b/C^2 = 1/2"},
             AT(10, 10)}}}}},
    {"How do k_a and k_b lie?",
     {{"in the same direction", {"000-7"}, .number = COSINE},
      {"orthogonal, scores gamma C and C", {"001-15", "003-14"}, .number = COSINE}}},
    {"How far does gamma go?",
     {{"from .5 to 1.5",
       {"001-13"},
       .number = {{"share of gamma from .5 to 1.5",
                   {.magnitude = 1, .text = "P_inside = 1"},
                   AT(10, 1)}}},
      {"N(1, 1/2), without bounds",
       {"001-14"},
       .number = {{"share of gamma outside [.5, 1.5]",
                   {.magnitude = 1, .text = "1 - P_inside = 0"},
                   AT(10, 1)}}}}},
    {"What are the two weights when the scores of a and b differ?",
     {{"inverse exponentials", {"000-10"}, .number = PRINTED_WEIGHT("1/exp(s_a - s_b)")},
      {"1/(1+e^b) for scores b, -b",
       {"004-15"},
       .number = PRINTED_WEIGHT("1/(1 + exp(s_a))")},
      {"the two-term softmax",
       {"001-16", "000-9"},
       .number = PRINTED_WEIGHT("exp(s_a)/(exp(s_a) + exp(s_b))")}}},
    {"Which two heads give the average?",
     {{"C mu_a and C mu_b", {"000-13"}, .number = OFF_AVERAGE("C mu_a", "C mu_b")},
      {"beta(mu_a+mu_b) and beta(mu_a-mu_b)",
       {"002-21", "002-23"},
       .number = OFF_AVERAGE("beta (mu_a + mu_b)", "beta (mu_a - mu_b)")}}},
    {"Does the noise of k_a reach head 2?",
     {{"not with q2 along mu_b",
       {"003-14"},
       .number = {{"variance of c_2 at q2 = 10 mu_b, n = 10",
                   {TWO_HEADS("C mu_a", "C mu_b"), .magnitude = 1, .text = "V_2 = 0"},
                   AT(10, 10)}}},
      {"yes, with q2 along mu_a - mu_b",
       {"002-24"},
       .number = {{"variance of c_2 at q2 = 10 (mu_a - mu_b), n = 10",
                   {TWO_HEADS("beta (mu_a + mu_b)", "beta (mu_a - mu_b)"), .magnitude = 1,
                    .text = "V_2 = 0"},
                   AT(10, 10)}}},
      {"heads are independent because their queries differ", .decided_by = {"001-21"}}}},
    {"What do two heads do to the noise?",
     {{"fluctuations cancel: a covariance below 0",
       {"002-25"},
       .number = {{"covariance of c_1 and c_2 at beta = 10, n = 10",
                   {TWO_HEADS("beta (mu_a + mu_b)", "beta (mu_a - mu_b)"), .magnitude = 1,
                    .text = "Cov_12 = 0"},
                   AT(10, 10)}}},
      {"the average varies less than one head",
       {"001-23", "002-32"},
       .number = {{"variance of c over that of c_1, n = 10",
                   {TWO_HEADS("mu_a", "mu_b"), .magnitude = 1, .text = "V_c/V_1 = 1"},
                   AT(10, 1)}}}}},
    {"Is c the average under magnitude noise?",
     {{"yes, with unscaled heads",
       {"004-19", "001-22"},
       .number = {{"distance of c from it, n = 10",
                   {TWO_HEADS("mu_a", "mu_b"), .magnitude = 1, .text = "c ~ " AVERAGE},
                   AT(10, 1)}}},
      {"yes where gamma > 0, with heads of scale C",
       {"000-16", "000-15"},
       .number = {{"distance where gamma > 0 at C = 1000, n = 10",
                   {TWO_HEADS("C mu_a", "C mu_b"), .magnitude = 1,
                    .text = "c ~ " AVERAGE},
                   .at = {.n = 10, .scale = 1000, .given_positive = 1}}}},
      {"not with one head",
       {"003-11"},
       {"001-18"},
       {{"deviation of the weight of v_a at C = 10, n = 10",
         {ONE_HEAD("C (mu_a + mu_b)"), .magnitude = 1, .text = "D_1 = 0"},
         AT(10, 10)}}}}},
    {"Do the scores move with the tokens?",
     {{"S stays, line 76",
       {"002-12"},
       .number = MOVED("distance of S(Pi X) from S(X)", "S_moved ~ S")},
      {"softmax(S) moves on one side, line 80",
       {"002-13"},
       .number =
           MOVED("distance of softmax(S(Pi X)) from Pi softmax(S(X))", "P_moved ~ Pi P")},
      {"the output moves with the tokens",
       {"002-14"},
       .number = MOVED("distance of Attention(Pi X) from Pi Attention(X)",
                       "Att_moved ~ Pi Att")}}},
    {"What counts the keys in the weight of the average?",
     {{"n", {"002-9", "003-7"}, .number = COUNTED_BY("n")},
      {"m", {"001-11"}, .number = COUNTED_BY("m")},
      {"alpha", {"004-8"}, .number = COUNTED_BY("alpha_a")}}},
};

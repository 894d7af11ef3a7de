/* SPDX-License-Identifier: MIT */
/* The exercise, question by question: statement, answer, and the figures that show it. */
#include "lab/report/teaching.h"

#include <string.h>

const struct lab_question lab_questions[] = {
    {.id = "1a-i",
     .title = "Why are the weights a distribution?",
     .asks =
         "Why can the weights $p_i$ be read as a categorical probability distribution?",
     .answer = "Exponentials are positive, and the division makes them sum to 1. This is "
               "so for any scores: a head always hands out one unit of weight.",
     .formula = {"p_i = \\frac{e^{s_i}}{\\sum_j e^{s_j}} > 0, \\qquad \\sum_i p_i = 1"},
     .results = "",
     .statements = "001-1 002-1 002-2 003-1 004-1 004-2"},
    {.id = "1a-ii",
     .title = "When does one key take nearly all the weight?",
     .asks = "Under which condition does almost all the weight fall on one key $j$?",
     .answer = "Its score must exceed every other score by a gap $D$ that is larger than "
               "$\\ln n$ by a margin. A large query is not enough, because $n - 1$ other "
               "keys contribute to the denominator.",
     .formula = {"p_j = \\frac{1}{1 + \\sum_{i \\ne j} e^{-(s_j - s_i)}}",
                 "p_j \\ge 1 - \\varepsilon \\quad \\text{if} \\quad D \\ge "
                 "\\ln\\frac{(n-1)(1-\\varepsilon)}{\\varepsilon}"},
     .figure = {{"copy", "weight"}},
     .number = {{"copy", "p_top"}, {"copy", "gap_needed"}},
     .results = "T1",
     .statements = "000-1 001-2 002-3 003-2 004-3"},
    {.id = "1a-iii",
     .title = "What is the output then?",
     .asks = "What is $c$ in that case?",
     .answer = "Nearly $v_j$: it is off by at most the missing weight times the largest "
               "distance between values. In exact arithmetic it never equals $v_j$; in "
               "f32 it does from a gap of $24 \\ln 2 + \\ln(n-1)$ on, where the other "
               "weights are rounded away.",
     .formula =
         {"\\lVert c - v_j \\rVert \\le (1 - p_j) \\max_i \\lVert v_i - v_j \\rVert"},
     .figure = {{"copy", "distance"}},
     .number = {{"copy", "error_norm"},
                {"copy", "error_norm_bound"},
                {"copy", "gap_exact_f32"},
                {"copy", "gap_exact_bf16"}},
     .results = "T1, T2",
     .statements = "001-3 002-4 003-3 004-4"},
    {.id = "1a-iv",
     .title = "What does that mean in words?",
     .asks = "What is the intuition?",
     .answer =
         "A query that matches one key much better than the others looks up the value of "
         "that key. A match is a gap of the scores: another key that is long, at a small "
         "angle, can win even where $q$ points exactly along $k_j$.",
     .formula = {"q = \\beta k_j: \\qquad s_j - s_i = \\tau \\beta (1 - \\lVert k_i "
                 "\\rVert \\cos \\theta_i)"},
     .figure = {{"copy", "cosine"}},
     .results = "T1",
     .statements = "001-4 002-5 003-4 004-5"},
    {.id = "1b-i",
     .title = "Which matrix extracts one value from a sum?",
     .asks =
         "$v_a$ lies in the space of an orthonormal basis $a_1, \\dots, a_m$, and $v_b$ "
         "in a space orthogonal to it. Build a matrix $M$ with $M(v_a + v_b) = v_a$.",
     .answer = "With the $a_i$ as the columns of $A$ it is $M = A A^\\top$; $A^\\top$ "
               "alone gives the $m$ coordinates of $v_a$, not $v_a$. A basis that is not "
               "orthonormal needs the projector, and spaces at an angle need the oblique "
               "projector, with $Q = I - B (B^\\top B)^{-1} B^\\top$.",
     .formula = {"A A^\\top (v_a + v_b) = v_a + 0",
                 "A (A^\\top A)^{-1} A^\\top, \\qquad A (A^\\top Q A)^{-1} A^\\top Q"},
     .figure = {{"extract", "angle"}},
     .number = {{"extract", "error_transpose"},
                {"extract", "error_product"},
                {"extract", "error_product_skewed"},
                {"extract", "error_projector"},
                {"extract", "error_oblique"}},
     .results = "T3",
     .statements = "001-5 001-6 001-7 001-8 001-9 001-10 003-5 004-6 004-7"},
    {.id = "1b-ii",
     .title = "Which query averages two values?",
     .asks = "The keys are orthonormal. Find a query with $c \\approx (v_a + v_b) / 2$.",
     .answer = "Take $q = \\beta(k_a + k_b)$: both keys get the score $\\beta$, every "
               "other key gets 0. The leak $L$ is small once $\\beta$ exceeds $\\ln n$ "
               "by a margin; for $n = 2$ the average is exact at any scale.",
     .formula = {"p_a = p_b = \\frac{e^\\beta}{2 e^\\beta + n - 2}",
                 "L = \\frac{n - 2}{2 e^\\beta + n - 2}",
                 "L \\le \\varepsilon \\iff \\beta \\ge "
                 "\\ln\\frac{(n-2)(1-\\varepsilon)}{2\\varepsilon}"},
     .figure = {{"average", "leak"}, {"average", "scale-needed"}},
     .number = {{"average", "leak"}, {"average", "beta_needed"}, {"average", "p_first"}},
     .results = "T4, T5, T6",
     .statements = "000-2 001-11 002-6 002-7 002-8 002-9 003-6 003-7 004-8"},
    {.id = "1c-i",
     .title = "Which query, when the keys are noisy?",
     .asks = "Keys are random, $k_i \\sim N(\\mu_i, \\alpha I)$, with orthonormal means "
             "and vanishing $\\alpha$. Design a query for the average.",
     .answer =
         "$q = C(\\mu_a + \\mu_b)$ with $C$ above $\\ln n$, and with the limits in the "
         "right order: $\\alpha C^2$ must vanish, not $\\alpha$ alone. At a fixed "
         "$\\alpha$ a larger $C$ amplifies the noise and destroys the average.",
     .formula = {"T^2 = \\mathrm{Var}(s_a - s_b) = 4 \\alpha C^2",
                 "\\ln\\frac{(n-2)(1-\\varepsilon)}{2\\varepsilon} \\le C \\ll "
                 "\\frac{1}{2\\sqrt\\alpha}"},
     .figure = {{"window", "map"}, {"window", "fixed-noise"}},
     .number = {{"window", "mean_w"},
                {"window", "var_w"},
                {"window", "mean_leak"},
                {"window", "mse"}},
     .results = "T7, T8",
     .statements = "000-3 000-4 000-5 001-12 002-15 002-16 002-17 003-8 004-9 004-10 "
                   "004-11 004-12"},
    {.id = "1c-ii",
     .title = "What does noise in the length of a key do?",
     .asks = "Now $\\Sigma_a = \\alpha I + \\frac12 \\mu_a \\mu_a^\\top$, so that the "
             "length of $k_a$ varies. What does $c$ look like over samples, and what is "
             "the effect on its variance?",
     .answer =
         "$c$ moves on the segment between $v_a$ and (nearly) $v_b$: the weight $w = "
         "p_a$ is logit-normal, and at a $C$ that keeps the other keys out it is mostly "
         "near 0 or near 1. The mean of $c$ is the average, but few samples are near it, "
         "and the variance of $w$ rises with $C$ towards that of a coin toss, 1/4.",
     .formula = {"w = \\frac{1}{1 + e^{-Y}}",
                 "Y \\sim N(-\\ln(1 + (n-2) e^{-C}), C^2 \\sigma^2)"},
     .figure = {{"magnitude", "weight-density"}, {"heads", "outputs"}},
     .number = {{"magnitude", "mean_w"},
                {"magnitude", "var_w"},
                {"magnitude", "mean_error"},
                {"magnitude", "p_copy_90"},
                {"magnitude", "modes"}},
     .results = "T9, T10, T11, T12",
     .statements = "000-6 000-7 000-8 000-9 000-10 000-11 000-12 001-13 001-14 001-15 "
                   "001-25 001-16 001-17 001-18 002-27 002-18 002-19 002-20 003-9 003-10 "
                   "003-16 003-11 004-13 004-14 004-21 004-15 004-16"},
    {.id = "1d-i",
     .title = "Which two queries, with two heads?",
     .asks = "Two heads see the same keys, and $c$ is the mean of their outputs. Design "
             "$q_1$ and $q_2$ so that $c \\approx (v_a + v_b) / 2$.",
     .answer =
         "$q_1 = C \\mu_a$ and $q_2 = C \\mu_b$: each head copies one value. The queries "
         "must differ, because equal queries on the same keys give equal outputs.",
     .formula = {"w_1 = \\frac{1}{1 + (n-1) e^{-\\gamma C}}",
                 "w_2 = \\frac{1}{1 + (n-1) e^{-C}}"},
     .figure = {{"heads", "head-1"}},
     .number = {{"heads", "mean_w1"},
                {"heads", "p_head1_loses"},
                {"heads", "coeff_a"},
                {"heads", "coeff_b"}},
     .results = "T13, T16",
     .statements =
         "000-13 001-19 001-26 001-20 002-21 002-28 002-22 002-29 002-23 003-12 "
         "003-17 004-17 004-18 004-20"},
    {.id = "1d-ii",
     .title = "What does the same noise do to two heads?",
     .asks = "With the noise of question 1c-ii: how does $c$ behave, in terms of "
             "$\\mathrm{Var}(c_1)$ and $\\mathrm{Var}(c_2)$? Samples with $k_a^\\top q_1 "
             "< 0$ may be ignored.",
     .answer = "Head 2 does not see the noise, so $\\mathrm{Var}(c_2) = 0$; head 1 "
               "copies $v_a$ as long as $\\gamma C > \\ln(n-1)$, so its variance comes "
               "from the other samples: $\\mathrm{Var}(c_1)$ is 0.10 at $n = 10$, $C = "
               "10$, and 0.04 where $\\gamma > 0$. As $C$ grows, the variance of the "
               "coefficient of $v_a$ becomes 13.8 times smaller than with one head, and "
               "not 0, because $k_a$ points away from its mean in 8% of the samples.",
     .formula = {"\\mathrm{Var}(c) = \\frac{1}{4} \\mathrm{Var}(c_1)",
                 "p = \\Phi(1/\\sigma) = 0.921", "\\frac{1/4}{p(1-p)/4} = 13.8"},
     .figure = {{"heads", "coefficient"}},
     .number = {{"heads", "var_c1"},
                {"heads", "var_c2"},
                {"heads", "coeff_var_one"},
                {"heads", "coeff_var_two"},
                {"heads", "coeff_var_one_given_positive"},
                {"heads", "coeff_var_two_given_positive"}},
     .results = "T13, T14",
     .statements =
         "000-14 000-15 000-16 001-21 001-22 001-23 002-24 002-30 002-31 002-32 "
         "002-25 003-13 003-14 003-18 003-15 004-19"},
    {.id = "1e",
     .title = "Why several heads?",
     .asks = "How do several heads overcome the limits of one?",
     .answer =
         "One head makes one coin toss between the values; two heads make two lookups, "
         "which come nearer to the average once $C$ is above a crossover that grows "
         "with $n$, 2.17 at $n = 10$. There head 1 still loses $v_a$ in half of the "
         "samples; far above $\\ln n$ it does in 8%, where $\\gamma < 0$. For $m$ "
         "values with keys of noisy, positive length the error of $h$ heads tends to "
         "$\\frac1h - \\frac1m$: one head for each value is best.",
     .formula = {"\\mathrm{E} \\lVert c - \\bar v \\rVert^2 \\to \\frac1h - \\frac1m "
                 "\\quad \\text{as} \\quad C \\to \\infty"},
     .figure = {{"one-vs-two", "error"}, {"how-many-heads", "split"}},
     .number = {{"one-vs-two", "mse_one"},
                {"one-vs-two", "mse_two"},
                {"one-vs-two", "best_mse_one"},
                {"one-vs-two", "crossover_C"},
                {"how-many-heads", "mse_given_positive"}},
     .results = "T15, T17, T18, T19",
     .statements = "001-24"},
    {.id = "2a-i",
     .title = "What does a permutation of the tokens do?",
     .asks = "Tokens are the rows of $X$. Show that permuted tokens give permuted "
             "outputs, $Z(PX) = P Z(X)$.",
     .answer = "The scores of permuted tokens are permuted scores, softmax by rows "
               "commutes with permutations, and $P^\\top P = I$ does the rest. The "
               "feed-forward layer acts on each row by itself, so it keeps the symmetry.",
     .formula = {"S(PX) = P S P^\\top",
                 "\\mathrm{softmax}(P S P^\\top) P V = P\\, \\mathrm{softmax}(S) V"},
     .figure = {{"permute", "tokens"}},
     .number = {{"permute", "defect_rows"},
                {"permute", "defect_columns"},
                {"permute", "defect_z"}},
     .results = "T25",
     .statements = "002-10 002-11 002-26 002-12 002-13 002-14"},
    {.id = "2a-ii",
     .title = "Why is that a problem for text?",
     .asks = "Why is this symmetry a problem for text?",
     .answer =
         "Without positions attention treats a text as a bag of words: \"the dog bit the "
         "man\" and \"the man bit the dog\" give every word the same output. A causal "
         "mask or a window tells positions apart and breaks the symmetry.",
     .figure = {{"permute", "masks"}},
     .results = "T25",
     .statements = ""},
    {.id = "2b-i",
     .title = "Do position encodings help?",
     .asks = "Do sinusoids $\\Phi$ help, if attention reads $X + \\Phi$?",
     .answer = "Yes: they stay in place when the tokens move, so $X + \\Phi$ is no "
               "longer symmetric under permutations. The product of two of them depends "
               "on the offset alone.",
     .formula = {"\\varphi_t^\\top \\varphi_{t'} = \\sum_i \\cos(\\omega_i (t - t'))"},
     .figure = {{"positions", "symmetries"}, {"positions", "products"}},
     .number = {{"positions", "equivariance_defect"},
                {"positions", "dot"},
                {"positions", "dot_spread"}},
     .results = "T26",
     .statements = ""},
    {.id = "2b-ii",
     .title = "Can two positions share an encoding?",
     .asks = "Can two positions have the same encoding?",
     .answer = "No, for texts of any length: the first pair of entries turns by 1 radian "
               "at each position, and $2\\pi$ is irrational. Two positions can come "
               "close, since $710 \\approx 113 \\cdot 2\\pi$.",
     .formula = {"\\varphi_t = \\varphi_{t'} \\iff t = t'"},
     .figure = {{"positions", "nearest"}},
     .number = {{"positions", "near_offset"}, {"positions", "near_distance"}},
     .results = "T26",
     .statements = ""},
    {.id = "3g",
     .title = "What do the variants change?",
     .asks =
         "RoPE: show that scores depend on $t_1 - t_2$ only. Synthesizer: why can it not "
         "do in one layer what attention does? Perceiver: what do $m$ latents cost?",
     .answer = "RoPE turns queries and keys by angles proportional to their positions, "
               "and a product of turned vectors sees the difference of the angles alone. "
               "A Synthesizer makes its scores from the query alone and cannot look up a "
               "key by content; $m$ latents between $n$ tokens need $2nm$ scores instead "
               "of $n^2$ and hand at most $m$ values on.",
     .formula = {"(R_{t_1} q)^\\top (R_{t_2} k) = q^\\top R_{t_2 - t_1} k"},
     .figure = {{"positions", "shifts"}, {"variants", "bottleneck"}},
     .number = {{"variants", "attention_hit"},
                {"variants", "synthesizer_hit"},
                {"variants", "attention_scores"},
                {"variants", "bottleneck_scores"},
                {"variants", "bottleneck_rank"}},
     .results = "",
     .statements = ""},
    {.id = "many-keys",
     .title = "Beyond the exercise: many keys",
     .asks = "What becomes of a gap as keys are added?",
     .answer =
         "If all scores lie within a range $D$, the largest weight falls like $e^D / n$. "
         "Weights disperse as the context grows, unless scores grow with $\\ln n$.",
     .formula = {"\\max_i p_i \\le \\frac{1}{1 + (n-1) e^{-D}}"},
     .figure = {{"dispersion", "largest-weight"}},
     .number = {{"dispersion", "max_p"}, {"dispersion", "n_eff"}},
     .results = "T20",
     .statements = ""},
    {.id = "random-scores",
     .title = "Beyond the exercise: random scores",
     .asks = "Why are scores divided by $\\sqrt d$?",
     .answer =
         "Random scores of standard deviation $S$ leave the weights diffuse below $S = "
         "\\sqrt{2 \\ln n}$ and put nearly all weight on a few keys above. Entries of "
         "variance 1 give $S = \\sqrt d$ without scaling, and $S = 1$ with it.",
     .formula = {"H \\approx \\ln n - \\frac{S^2}{2} \\qquad (S < \\sqrt{2 \\ln n})"},
     .figure = {{"phases", "entropy"}},
     .number = {{"phases", "entropy"}, {"phases", "n_eff"}},
     .results = "T22, T23",
     .statements = ""},
    {.id = "few-dimensions",
     .title = "Beyond the exercise: few dimensions",
     .asks = "How many random keys can one query keep apart from its $m$ targets?",
     .answer = "A random key in $d$ dimensions scores higher than $m$ orthonormal "
               "targets of one query with probability $P$, so about $1/P$ keys are too "
               "many. With one head for each target this never happens.",
     .formula = {"P = \\frac12 I_{1 - 1/m}(\\frac{d-1}{2}, \\frac12)"},
     .figure = {{"capacity", "orthonormal-targets"}},
     .number = {{"capacity", "success"},
                {"capacity", "collision_size"},
                {"capacity", "success_heads"}},
     .results = "T21",
     .statements = ""},
    {.id = NULL}};

/* Nonzero if a list of words separated by spaces has this one. */
static int has_word(const char *list, const char *word)
{
    const size_t length = strlen(word);
    for (const char *at = list; (at = strstr(at, word)); at += length)
        if ((at == list || at[-1] == ' ') && (at[length] == ' ' || !at[length]))
            return 1;
    return 0;
}

const struct lab_question *lab_question_of(const char *statement)
{
    for (const struct lab_question *question = lab_questions; question->id; question++)
        if (has_word(question->statements, statement))
            return question;
    return NULL;
}

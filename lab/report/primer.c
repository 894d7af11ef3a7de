/* SPDX-License-Identifier: MIT */
/* The opening: the exercise, five things to remember, the glossary. */
#include "lab/report/teaching.h"

#include <stddef.h>

const char *const lab_exercise_text[] = {
    "Attention is a weighted mean. A query $q$ gives each of $n$ keys $k_i$ a score, the "
    "scores become weights by softmax, and the output $c$ is the mean of the values "
    "$v_i$ with these weights:",
    "A well-known exercise studies this formula. It asks for queries that copy one "
    "value, or average two of them, $v_a$ and $v_b$; then it makes the keys noisy, and "
    "asks what becomes of the average with one head and with two. A second part is about "
    "the order of the tokens.",
    NULL};

const char *const lab_exercise_formula[] = {
    "s_i = \\tau\\, k_i^\\top q, \\quad p_i = \\frac{e^{s_i}}{\\sum_j e^{s_j}}, \\quad c "
    "= \\sum_i p_i v_i",
    NULL};

const struct lab_thing lab_things[LAB_THINGS] = {
    {"Only gaps between scores count.",
     "A copy takes a gap of $\\ln n$ and a margin. A large query, a small angle or a "
     "long key is not enough by itself."},
    {"An average is a tie between scores.",
     "$q = \\beta(k_a + k_b)$ makes the tie, and the leak to the other keys falls like "
     "$n e^{-\\beta} / 2$."},
    {"The scale that shuts the others out amplifies the noise of the tie.",
     "With noise in the keys the two scores differ by a normal variable of variance "
     "$C^2(4\\alpha + \\sigma^2)$. A difference of a few units is no average but a "
     "choice."},
    {"One head tosses a coin, two heads look up.",
     "When the length of $k_a$ varies, one head returns $v_a$ or $v_b$ and rarely their "
     "mean. Two heads, one for each value, return both, and fail only when $k_a$ is "
     "short or points away."},
    {"Attention does not know the order of its tokens.",
     "Permuted tokens give permuted outputs. Positions or a mask have to break the "
     "symmetry."},
};

const struct lab_term lab_glossary[] = {
    {"$a, b$", "the two wanted items"},
    {"$n$, $d$", "number of keys; number of columns of a key"},
    {"$s_i$, $\\tau$", "score of key $i$; factor of all scores, 1 in the exercise and $1 "
                       "/ \\sqrt d$ in real models"},
    {"$p_i$, $w$", "weight of key $i$; $w = p_a$ is the weight of $v_a$"},
    {"$\\beta$, $C$",
     "scale of a query: $q = \\beta(k_a + k_b)$, $q = C(\\mu_a + \\mu_b)$"},
    {"gap, $D$", "how far the score of the wanted key exceeds the next one"},
    {"leak, $L$",
     "weight outside the wanted items; $\\varepsilon$ is a leak that is small enough"},
    {"$\\mu_i$", "mean of key $i$; the means are orthonormal"},
    {"$\\alpha$", "variance of the noise in every entry of every key (isotropic noise)"},
    {"$\\gamma$, $\\sigma^2$",
     "length of $k_a$ along its mean, $\\gamma = \\mu_a^\\top k_a$; its variance, 1/2 in "
     "the exercise (noise in the length)"},
    {"$T^2$", "variance of $s_a - s_b$"},
    {"logit-normal", "law of $1 / (1 + e^{-Y})$ with a normal $Y$: two peaks, near 0 and "
                     "near 1, if $Y$ varies much"},
    {"coin toss", "the weight is 0 or 1 with equal chance; its variance is then 1/4, the "
                  "largest possible"},
    {"head",
     "one query with its weights and its output; several heads are averaged here"},
    {"mse", "mean squared distance of $c$ from the average that is wanted"},
    {"$\\Phi$", "distribution function of the standard normal law"},
    {"$H$, $n_{\\text{eff}}$",
     "entropy $-\\sum p \\ln p$ in nats; effective number of keys $1 / \\sum p^2$"},
    {"theory",
     "the value of the formula, exact at the finite $n$ unless a row says otherwise"},
    {"measured", "the result of the engine"},
    {"se, $z$", "standard error of a measurement, 0 where nothing is random; $z = "
                "(\\text{measured} - \\text{theory}) / \\text{se}$"},
    {NULL, NULL}};

/* SPDX-License-Identifier: MIT */
/* True statements beside claims, by what a claim is about. */
#include <stdio.h>
#include <string.h>

#include "lab/understanding/chains.h"

#define ON(subject) (1u << LAB_SUBJECT_##subject)
#define UNSCALED                                                                         \
    "At scale 1 a score of 1 among scores of 0 has the weight e/(e + n - 1): .73 at n "  \
    "= 2, .0027 at n = 1000."

/* With `query` the text holds at those queries alone: 1 the usual one, 2 unscaled heads.
 */
static const struct standard {
    unsigned on;
    const char *begins; /* the claim */
    int query;
    const char *exact;
} standards[] = {
    {ON(AVERAGE) | ON(NOISE), "alpha_", 1,
     "alpha_a = alpha_b = exp(C)/(2 exp(C) + n - 2)"},
    {ON(AVERAGE) | ON(NOISE), "s_", 1, "s_a = s_b = C and s_i = 0"},
    {ON(MAGNITUDE), "alpha_", 1,
     "alpha_a = exp(gamma C)/(exp(gamma C) + exp(C) + n - 2), alpha_b the same with "
     "exp(C) "
     "above"},
    {ON(MAGNITUDE), "s_", 1, "s_a = gamma C, s_b = C and s_i = 0"},
    {ON(MAGNITUDE), "c =", 1,
     "c = alpha_a v_a + alpha_b v_b + ..., with alpha_a = exp(gamma C)/(exp(gamma C) + "
     "exp(C) + n - 2)"},
    {ON(MAGNITUDE), "VarS_", 1, "VarS_a = C^2 (1/2 + 2 alpha), VarS_b = 2 alpha C^2"},
    {ON(HEADS) | ON(BOTH), "alpha_", 2, UNSCALED},
    {ON(HEADS) | ON(BOTH), "c", 2, UNSCALED},
    {~0u, "Var_gamma_b", 0, "The length of k_b does not vary: Sigma_b = alpha I"},
    {~0u, "E_gamma_b", 0, "The length of k_b does not vary: Sigma_b = alpha I"},
    {~0u, "Var_s_b", 0, "The length of k_b does not vary: its score is C in every draw"},
    {~0u, "Sigma_a", 0, "Sigma_a = alpha I + (1/2) mu_a mu_a^T"},
    {~0u, "Sigma_i =", 0,
     "Sigma_i = alpha I: k_i = mu_i + sqrt(alpha) x, x standard normal"},
    {~0u, "P_inside", 0, "gamma is in [0.5, 1.5] with probability 0.52"},
    {ON(EXTRACT), "c = v_a", 0, "A c = v_a: c has m entries, v_a has d"},
    {ON(EXTRACT), "A^T", 0, "A^T v_a = c, the m coordinates of v_a = A c"},
    {ON(PERMUTE), "S_moved", 0, "S(Pi X) = Pi S(X) Pi^T"},
    {ON(PERMUTE), "P_moved", 0, "softmax(S(Pi X)) = Pi softmax(S(X)) Pi^T"},
    {ON(PERMUTE), "Att_moved", 0, "Attention(Pi X) = Pi Attention(X)"},
    {ON(PERMUTE), "X Pi", 0, "Pi X rearranges rows"},
};

static int is_usual(const char *query)
{
    static const char *const usual[] = {"C (k_a + k_b)",    "beta (k_a + k_b)",
                                        "C (mu_a + mu_b)",  "beta (mu_a + mu_b)",
                                        "(k_a + k_b) beta", "(mu_a + mu_b) beta"};
    for (size_t i = 0; i < sizeof usual / sizeof usual[0]; i++)
        if (!strcmp(query, usual[i]))
            return 1;
    return 0;
}

void lab_understood_standard(const struct lab_settled *settled, struct lab_understood *u)
{
    for (size_t i = 0; i < sizeof standards / sizeof standards[0]; i++) {
        const struct standard *const s = &standards[i];
        if (*u->exact || !(s->on & 1u << settled->subject) ||
            strncmp(u->text, s->begins, strlen(s->begins)) != 0)
            continue;
        if ((s->query == 1 && !is_usual(settled->query[0])) ||
            (s->query == 2 && (strcmp(settled->query[1], "mu_a") != 0 ||
                               strcmp(settled->query[2], "mu_b") != 0)))
            continue;
        snprintf(u->exact, sizeof u->exact, "%s", s->exact);
    }
}

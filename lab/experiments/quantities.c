/* SPDX-License-Identifier: MIT */
/*
 * Every quantity that an experiment prints, in one sentence with its formula.  The
 * letters are those of docs/NOTATION.md.
 */
#include "lab/experiments/experiment.h"

#include <string.h>

/* The same over the draws with gamma > 0, to which the exercise restricts itself. */
#define GIVEN_POSITIVE(name)                                                             \
    {                                                                                    \
        name "_given_positive",                                                          \
            name " over the draws with gamma > 0 alone, as the exercise asks."           \
    }

#define END                                                                              \
    {                                                                                    \
        NULL, NULL                                                                       \
    }

static const struct lab_quantity copy[] = {
    {"p_top", "Weight of the wanted key: p_j = 1/(1 + (n-1) e^-D), where D = tau beta (1 "
              "- norm cosine) is the gap between its score and the others'."},
    {"error_norm", "Distance of the output from the wanted value: |c - v_j| = (1 - p_j) "
                   "sqrt(n/(n-1)) for orthonormal values."},
    {"error_norm_bound", "|c - v_j| against its bound for values of any kind, (1 - p_j) "
                         "max |v_i - v_j|; the maximum is sqrt(2) here."},
    {"gap_needed", "The gap that leaves eps of the weight to the others, D = "
                   "ln((n-1)(1-eps)/eps), found by a search on the engine."},
    {"p_top_unequal",
     "Weight of the wanted key when the others trail by unequal gaps D_i, which grow "
     "evenly from D to D + |D| + 1: p_j = 1/(1 + sum e^(-D_i))."},
    {"p_top_unequal_upper",
     "p_top_unequal against the bound that the nearest rival alone sets, 1/(1 + e^-D)."},
    {"leak_unequal_upper", "1 - p_top_unequal against its bound if every rival were as "
                           "near as the nearest: 1 - 1/(1 + (n-1) e^-D)."},
    {"gap_exact_f32",
     "The largest gap at which the f32 weight of the wanted key is below 1; at most 24 "
     "ln 2 + ln(n-1), the bound for the worst order of summation."},
    {"gap_exact_f32_two_keys",
     "gap_exact_f32 with two keys, where there is one order only: 24 ln 2 (25 ln 2 on "
     "the kernel set ref, which rounds once)."},
    {"gap_zero_f32",
     "The largest gap at which the f32 weights of the others are not 0 yet: 126 ln 2 "
     "(150 ln 2 on the kernel set ref, which keeps subnormal weights)."},
    {"gap_exact_bf16",
     "The largest gap at which the bf16 output is not v_j yet: ln(2^9 - 1) + ln(n-1), "
     "where 1 - p_j is 2^-9, half the spacing of bf16 below 1."},
    END};

static const struct lab_quantity extract[] = {
    {"error_transpose",
     "|2 M c - v_a| with M = A^T, which has m rows and gives coordinates of v_a, not "
     "v_a; they stand in the first m entries."},
    {"error_product", "|2 M c - v_a| with M = A A^T and an orthonormal basis A: at 90 "
                      "degrees what is left is the leak of the average."},
    {"error_product_skewed", "|2 M c - v_a| with M = A A^T and a basis A of the same "
                             "space that is not orthonormal."},
    {"error_projector",
     "|2 M c - v_a| with M = A (A^T A)^-1 A^T, from the basis that is not orthonormal."},
    {"error_oblique", "|2 M c - v_a| with M = A (A^T Q A)^-1 A^T Q, Q = I - B (B^T B)^-1 "
                      "B^T, which is right at any angle between A and B."},
    {"error_leak", "|2 M c - v_a| with the projector when no other value has a part in "
                   "A: the leak (n-2)/(2 e^beta + n - 2)."},
    END};

static const struct lab_quantity average[] = {
    {"leak", "Weight outside the m wanted keys: L = (n-m)/(m e^(tau beta) + n - m), and "
             "(n-m)/(e^(tau beta) + n - m) with --w."},
    {"beta_needed", "The scale at which the leak is eps, ln((n-m)(1-eps)/(m eps))/tau "
                    "without --w, found by a search on the engine."},
    {"p_first", "Weight of the first wanted key: (1 - L)/m, or (1 - L) w_1 with --w."},
    {"error_norm", "Distance of the output from the average wanted, L sqrt(w_1^2 + ... + "
                   "w_m^2 + 1/(n-m)) for orthonormal values; w_i = 1/m without --w."},
    {"leak_pinv", "The leak with random keys, which are not orthogonal, and q = pinv(K) "
                  "s, which gives them the same scores: L again (shown for n up to 64)."},
    END};

static const struct lab_quantity window[] = {
    {"mean_w", "Mean of w = p_a, the weight of v_a, over draws of the keys."},
    {"var_w",
     "Variance of w; 0 is a steady average, 1/4 a coin toss between v_a and v_b."},
    {"mean_leak", "Mean weight outside a and b."},
    {"mse", "E|c - (v_a + v_b)/2|^2, the mean squared distance from the average, for "
            "orthonormal values."},
    {"var_share", "Variance of the share p_a/(p_a + p_b) = 1/(1 + e^-Y), Y ~ N(0, T^2), "
                  "T^2 = tau^2 C^2 (4 alpha + sigma2)."},
    {"abs_dev_share", "E|p_a/(p_a + p_b) - 1/2|, nearly atan(T sqrt(pi/8))/pi."},
    {"p_share_outside_10_90", "Probability that the share p_a/(p_a + p_b) is below 0.1 "
                              "or above 0.9: 2 Phi(-ln(9)/T)."},
    {"var_score_gap", "Variance of the difference of the two scores, ln(p_a/p_b): T^2 = "
                      "tau^2 C^2 (4 alpha + sigma2)."},
    {"leak_at_lower_end", "Leak without noise at the lower end of the window, C = "
                          "ln((n-2)(1-eps)/(2 eps))/tau: it is eps there."},
    {"var_share_at_upper_end", "var_share at the upper end of the window, C = 1/(2 tau "
                               "sqrt(alpha)), where isotropic noise gives T = 1."},
    END};

static const struct lab_quantity magnitude[] = {
    {"mean_w", "Mean of w = p_a over draws of k_a: w = 1/(1 + e^-Y), Y ~ N(-ln(1 + (n-2) "
               "e^-C), C^2 sigma2) at tau = 1 and alpha = 0."},
    {"var_w",
     "Variance of w; 0 is a steady average, 1/4 a coin toss between v_a and v_b."},
    {"mean_abs_dev", "E|w - 1/2|, the mean distance of w from one half."},
    {"mean_error", "E|c - (v_a + v_b)/2|, the mean distance of the output from the "
                   "average, for orthonormal values."},
    {"p_outside_10_90", "Probability that w is below 0.1 or above 0.9; below 0.1 the "
                        "rest is with v_b or leaks."},
    {"p_copy_90", "Probability that one of v_a and v_b holds more than 90% of the "
                  "weight: max(p_a, p_b) > 0.9."},
    {"modes", "Peaks of the density of w inside (0, 1), 1 or 2; for n = 2 there are two "
              "where C^2 sigma2 > 2."},
    {"off_segment", "Mean distance of p_b from its value on the segment from v_a to u = "
                    "(e^C v_b + sum of the others)/(e^C + n - 2): 0."},
    {"mean_w_part_i",
     "mean_w without noise in the length (sigma2 = 0), as in question 1c-i."},
    {"var_w_part_i", "var_w without noise in the length (sigma2 = 0)."},
    {"mean_abs_dev_part_i", "mean_abs_dev without noise in the length (sigma2 = 0)."},
    END};

static const struct lab_quantity heads[] = {
    {"mean_w1", "Mean of w1, head 1's weight of v_a; for q_1 = C mu_a, w1 = 1/(1 + "
                "e^-Y), Y ~ N(C - ln(n-1), C^2 sigma2)."},
    {"var_w1", "Variance of w1."},
    {"p_head1_loses", "Probability that head 1 gives v_a less than half of its weight, "
                      "Phi((ln(n-1)/C - 1)/sigma) for q_1 = C mu_a."},
    {"var_c1", "Total variance of head 1's output, E|c_1 - E c_1|^2."},
    {"var_c2", "Total variance of head 2's output; 0 where the noise of k_a does not "
               "reach it, as with q_2 = C mu_b."},
    {"cov_c1_c2", "E<c_1 - E c_1, c_2 - E c_2>; 0 where the heads vary independently."},
    {"coeff_a", "Mean coefficient of v_a in c = (c_1 + c_2)/2; 1/2 is wanted."},
    {"coeff_b", "Mean coefficient of v_b in c; 1/2 is wanted."},
    {"coeff_var_one", "Variance of the coefficient of v_a with the one head C (mu_a + "
                      "mu_b) on the same keys."},
    {"coeff_var_two",
     "Variance of the coefficient of v_a in c, the mean of the two heads."},
    {"mse_one", "E|c - (v_a + v_b)/2|^2 of the one head, for orthonormal values."},
    {"mse_two", "E|c - (v_a + v_b)/2|^2 of the two heads."},
    GIVEN_POSITIVE("mean_w1"),
    GIVEN_POSITIVE("var_w1"),
    GIVEN_POSITIVE("p_head1_loses"),
    GIVEN_POSITIVE("var_c1"),
    GIVEN_POSITIVE("var_c2"),
    GIVEN_POSITIVE("cov_c1_c2"),
    GIVEN_POSITIVE("coeff_a"),
    GIVEN_POSITIVE("coeff_b"),
    GIVEN_POSITIVE("coeff_var_one"),
    GIVEN_POSITIVE("coeff_var_two"),
    GIVEN_POSITIVE("mse_one"),
    GIVEN_POSITIVE("mse_two"),
    {"crossover_C", "The scale C above which two heads have the smaller mse."},
    END};

static const struct lab_quantity one_vs_two[] = {
    {"mse_one",
     "E|c - (v_a + v_b)/2|^2 of one head C (mu_a + mu_b), for orthonormal values."},
    {"coeff_var_one", "Variance of the coefficient of v_a with one head."},
    GIVEN_POSITIVE("mse_one"),
    GIVEN_POSITIVE("coeff_var_one"),
    {"mse_two", "E|c - (v_a + v_b)/2|^2 of two heads, C mu_a and C mu_b."},
    {"coeff_var_two", "Variance of the coefficient of v_a with two heads."},
    GIVEN_POSITIVE("mse_two"),
    GIVEN_POSITIVE("coeff_var_two"),
    {"best_C_one", "The scale at which one head comes nearest to the average."},
    {"best_mse_one", "The least mse of one head over all scales, that at best_C_one."},
    {"crossover_C",
     "The scale C above which two heads have the smaller mse, found on the engine."},
    {"mse_one_limit", "mse_one as C grows, measured at C = 10^4: 1/2, from a fair coin."},
    {"mse_two_limit", "mse_two as C grows, measured at C = 10^4: (1 - p)/4 (1 + "
                      "1/(n-1)), p = Phi(1/sigma)."},
    END};

static const struct lab_quantity how_many_heads[] = {
    {"mse", "E|c - mean of the m wanted values|^2 of h heads, for orthonormal values."},
    {"mse_given_positive",
     "mse over the draws in which every wanted key has a positive length."},
    {"mse_given_positive_limit",
     "mse_given_positive as C grows, measured at C = 10^4: 1/h - 1/m."},
    {"mse_limit",
     "mse as C grows, measured at C = 10^4, with the keys that point backwards counted."},
    {"mse_first_order", "mse_limit at h = m, to first order in the probability 1 - p "
                        "that a key points backwards: ((1 - p)/m)(1 + 1/(n-1))."},
    {"mse_at_best_C", "mse with random keys in 64/h dimensions for each head, at the "
                      "best of 16 scales; no formula is known."},
    {"p_rival_beats_targets",
     "Probability that a random unit key scores higher than the k = m/h targets of a "
     "head in e = d/h dimensions: I_{1-1/k}((e-1)/2, 1/2)/2."},
    END};

static const struct lab_quantity remedies[] = {
    {"var_a", "Variance of the coefficient of v_a in c."},
    {"bias_a", "Mean coefficient of v_a, less the 1/2 that is wanted."},
    {"bias_b", "Mean coefficient of v_b, less the 1/2 that is wanted."},
    {"mse", "E|c - (v_a + v_b)/2|^2, for orthonormal values."},
    {"fallback_b", "Mean coefficient of v_b over the draws in which k_a points backwards "
                   "(gamma < 0): what c falls back to."},
    {"fallback_others", "Mean coefficient of all other values together over the draws in "
                        "which k_a points backwards."},
    END};

static const struct lab_quantity permute[] = {
    {"defect_rows", "Largest entry of |Att(PX) - P Att(X)|, the rows of X permuted: 0 to "
                    "rounding where rows are tokens and nothing is masked."},
    {"defect_columns", "Largest entry of |Att(X Pi) - Att(X) Pi|, the columns of X "
                       "permuted: far from 0 where columns are features."},
    {"defect_scores", "Largest entry of |S(PX) - P S P^T|, the scores before the mask."},
    {"defect_weights",
     "Largest entry of |softmax(S(PX)) - P softmax(S) P^T|, the weights with the mask."},
    {"defect_z", "Largest entry of |Z(PX) - P Z(X)|, the feed-forward layer included."},
    {"rows_same_bits", "Share of the rows of Att(PX) that equal those of P Att(X) bit "
                       "for bit; sums in another order are rounded otherwise."},
    {"defect_mask_moved", "defect_rows when the mask is permuted with the tokens, M to P "
                          "M P^T: 0 to rounding."},
    END};

static const struct lab_quantity positions[] = {
    {"equivariance_defect", "Largest entry of |Att(PX) - P Att(X)| while positions stay "
                            "in place: 0 only without positions."},
    {"shift_defect", "Largest change of the output when every position is shifted by "
                     "--offset: 0 to rounding with RoPE and without positions."},
    {"dot", "phi_t^T phi_t' of two encodings that are --offset apart: sum_i cos(omega_i "
            "(t - t'))."},
    {"dot_spread", "How much dot varies with t: not at all."},
    {"near_offset", "The offset below T at which two encodings are nearest."},
    {"near_distance",
     "|phi_t - phi_t'| at near_offset, the smallest distance of two encodings among T."},
    END};

static const struct lab_quantity dispersion[] = {
    {"max_p", "Weight of one key that leads the n - 1 others by D: the bound 1/(1 + "
              "(n-1) e^-D), which it attains."},
    {"entropy", "Entropy, -sum p ln p in nats, of the row in which one key leads by D."},
    {"n_eff",
     "Effective number of keys, 1/sum p^2, of the row in which one key leads by D."},
    {"max_p_random", "Largest weight in any row of random scores within the range D, "
                     "against the bound of max_p."},
    END};

static const struct lab_quantity phases[] = {
    {"entropy", "Mean entropy, -sum p ln p in nats, of n random N(0, S^2) scores; ln n "
                "is the most."},
    {"entropy_limit",
     "entropy against ln n - S^2/2, its form for many keys below S = sqrt(2 ln n)."},
    {"sum_p2", "Mean of sum p^2: 1/n if weights are equal, 1 if one key has all."},
    {"n_eff", "Effective number of keys, 1 over the mean of sum p^2."},
    {"n_eff_limit",
     "n_eff against n e^(-S^2), its form for many keys where S^2 < (ln n)/2."},
    {"below_floor", "How far the entropy falls below its floor for scores of that norm, "
                    "on average: never."},
    {"entropy_spike", "Entropy of one spike whose centred scores have the norm S "
                      "sqrt(n): it attains the floor."},
    {"sum_p2_limit",
     "sum_p2 against 1 - sqrt(2 ln n)/S, its form for many keys above S = sqrt(2 ln n)."},
    END};

static const struct lab_quantity capacity[] = {
    {"success", "Probability that none of the n - m random keys scores higher than a "
                "target of one query: (1 - P)^(n-m), P as in p_beaten."},
    {"p_beaten", "P, the probability that one random unit key scores higher than m "
                 "orthonormal targets of one query: I_{1-1/m}((d-1)/2, 1/2)/2."},
    {"collision_size", "Number of random keys of which one is expected to score higher "
                       "than the targets: 1/P, P as in p_beaten."},
    {"success_heads", "Probability that every target leads in a head of its own: 1."},
    {"success_random_naive",
     "success with random targets and their sum as the query; no formula is known."},
    {"success_random_pinv", "success with random targets and the query pinv(K) 1, which "
                            "gives them equal scores; no formula is known."},
    {"member_spread", "Root mean square deviation of the random targets' scores from 1, "
                      "in units of beta, with their sum as the query: sqrt((m-1)/d)."},
    {"member_spread_pinv", "Largest such deviation with the query pinv(K) 1: 0."},
    END};

static const struct lab_quantity variants[] = {
    {"attention_hit", "How often attention puts most weight on the key that matches, "
                      "wherever it stands: always if beta > 0."},
    {"synthesizer_hit", "How often a Synthesizer, whose scores know the query alone, "
                        "puts most weight on the key that matches: 1 in n."},
    {"synthesizer_key_effect",
     "Largest change of the Synthesizer's weights when every key is replaced: 0."},
    {"attention_scores", "Scores that n tokens need directly: n^2."},
    {"attention_error", "|I - R|^2 of the map R from tokens to outputs when every token "
                        "looks for itself, directly."},
    {"bottleneck_scores", "Scores by way of m latents: 2 n m."},
    {"bottleneck_error", "|I - R|^2 by way of m latents; never less than n - m."},
    {"bottleneck_rank", "Rank of R by way of m latents: at most m."},
    {"bottleneck_copied", "n - |I - R|^2, or 0 where R is further from I than no output "
                          "at all: how many tokens are handed through, at most m."},
    {"softmax_max",
     "Largest softmax weight when a and b have the score beta and the others 0."},
    {"softmax_entropy",
     "Entropy, -sum p ln p in nats, of the softmax weights at these scores."},
    {"softmax_n_eff",
     "Effective number of keys, 1/sum p^2, of the softmax weights at these scores."},
    {"sigmoid_max", "Largest sigmoid weight 1/(1 + n e^-s) at the same scores, divided "
                    "by the sum of the weights."},
    {"sigmoid_entropy", "Entropy of the sigmoid weights divided by their sum."},
    {"sigmoid_n_eff",
     "Effective number of keys of the sigmoid weights divided by their sum."},
    {"sigmoid_sum", "Sum of the sigmoid weights, which need not be 1."},
    {"softmax_var_a",
     "Variance of the softmax weight of a when the length of k_a varies."},
    {"softmax_var_b", "Variance of the softmax weight of b when the length of k_a "
                      "varies: the keys compete."},
    {"sigmoid_var_a",
     "Variance of the sigmoid weight of a when the length of k_a varies."},
    {"sigmoid_var_b", "Variance of the sigmoid weight of b when the length of k_a "
                      "varies: 0, each key is weighed alone."},
    END};

static const struct {
    const char *experiment;
    const struct lab_quantity *quantities;
} tables[] = {
    {"copy", copy},
    {"extract", extract},
    {"average", average},
    {"window", window},
    {"magnitude", magnitude},
    {"heads", heads},
    {"one-vs-two", one_vs_two},
    {"how-many-heads", how_many_heads},
    {"remedies", remedies},
    {"permute", permute},
    {"positions", positions},
    {"dispersion", dispersion},
    {"phases", phases},
    {"capacity", capacity},
    {"variants", variants},
};

const struct lab_quantity *lab_quantities(const char *experiment)
{
    static const struct lab_quantity none = END;

    for (size_t t = 0; t < sizeof tables / sizeof *tables; t++)
        if (!strcmp(tables[t].experiment, experiment))
            return tables[t].quantities;
    return &none;
}

const char *lab_quantity_meaning(const char *experiment, const char *quantity)
{
    const struct lab_quantity *known = lab_quantities(experiment);

    while (known->name && strcmp(known->name, quantity) != 0)
        known++;
    return known->name ? known->meaning : NULL;
}

/* SPDX-License-Identifier: MIT */
/*
 * Closed forms of attend: softmax attention over noisy keys, as functions of plain
 * numbers, in double. libattend_theory needs libm only; of attend.h it uses types only.
 *
 * The model. n keys k_i with orthonormal means mu_i, orthonormal values v_i; a and b are
 * the two wanted items.  A query q gives the scores s_i = tau <q, k_i>, the weights p =
 * softmax(s) and the output c = sum p_i v_i.  Keys are independent,
 *
 *     k_i ~ N(mu_i, alpha I + sigma2_i mu_i mu_i^T),    gamma_i = <mu_i, k_i>.
 *
 * C or beta is the scale of a query, `leak` the weight outside the wanted set.
 *
 * Sizes (n, m, d, h) are doubles with integer values, so that n = 1e12 is possible.  A
 * function without a word such as bound, limit, small, large, arcsin, arctan, probit or
 * first_order in its name is exact at finite size, except for rounding and a quadrature
 * error below 1e-10.  Arguments outside the stated domain, or NaN, give NaN; a function
 * that returns an int gives -1.  The functions print nothing, have no state, and may be
 * called from several threads at once.
 *
 * T1 ..  T26 are the results of docs/THEORY.md, which has their derivations.
 */
#ifndef ATTEND_THEORY_H
#define ATTEND_THEORY_H

#include <stdint.h>

#include "attend.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- special functions -------------------------------------------------- */

/* 1 / (1 + e^-x), without overflow, for every x. */
ATTEND_API double attend_theory_logistic(double x);
/* ln(p / (1 - p)); -inf at 0, +inf at 1.  0 <= p <= 1. */
ATTEND_API double attend_theory_logit(double p);
/* The standard normal distribution: P(Z <= x), for every x. */
ATTEND_API double attend_theory_normal_cdf(double x);
/* Its inverse; -inf at 0, +inf at 1.  0 <= p <= 1. */
ATTEND_API double attend_theory_normal_quantile(double p);
/* Regularised incomplete beta function I_x(a, b).  a, b > 0, 0 <= x <= 1. */
ATTEND_API double attend_theory_beta(double a, double b, double x);

/* ---- copying one value (T1, T2) ----------------------------------------- */

/* Weight of a key that leads each of the n - 1 others by `gap`, +-inf too.  n >= 1. */
ATTEND_API double attend_theory_copy_weight(double n, double gap);
/* The same with a gap for each of `count` >= 0 others: 1 / (1 + sum e^-gap). */
ATTEND_API double attend_theory_copy_weight_gaps(const double *gaps, int64_t count);
/* Bounds on the weight when `gap` is the smallest of the n - 1 gaps.  n >= 2. */
ATTEND_API double attend_theory_copy_weight_lower_bound(double n, double gap);
ATTEND_API double attend_theory_copy_weight_upper_bound(double n, double gap);
/* Smallest common gap whose weight is 1 - eps: ln((n-1)(1-eps)/eps); -inf for n = 1. */
ATTEND_API double attend_theory_copy_gap_needed(double n, double eps); /* 0 < eps < 1 */
/* Bound on |c - v_j|: (1 - weight) * the largest |v_i - v_j|.  0 <= weight <= 1. */
ATTEND_API double attend_theory_copy_error_bound(double weight, double largest_distance);
/* |c - v_j| for orthonormal values and equal gaps: (1 - p_j) sqrt(1 + 1/(n-1)). */
ATTEND_API double attend_theory_copy_error(double n, double gap); /* n >= 2 */

/*
 * Floating point, formats F64, F32, F16 and BF16 as such, round to nearest.  Gap above
 * which 1 + (n-1) e^-gap rounds to 1; above which the correctly rounded weight is 1;
 * above which e^-gap rounds to 0 (or is flushed to it, with flush != 0).  n >= 2.
 */
ATTEND_API double attend_theory_gap_sum_exact(double n, attend_dtype format);
ATTEND_API double attend_theory_gap_weight_exact(double n, attend_dtype format);
ATTEND_API double attend_theory_gap_underflow(attend_dtype format, int flush);

/* ---- extraction (T3) ---------------------------------------------------- */

/*
 * Matrices are row-major: A is d x m, B is d x p, M is d x d. 0, or -1 if a size is not
 * positive, memory is exhausted, or columns are linearly dependent (M is not written).
 * Properties of M: M v_a = v_a for v_a in span A, and M v_b = 0 for v_b in span B where
 *   _orthonormal  A^T A = I and A^T B = 0:  M = A A^T;
 *   _projector    A^T B = 0:                M = A (A^T A)^-1 A^T;
 *   _oblique      span A and span B meet in 0 only: M = A (A^T Q A)^-1 A^T Q,
 *                 Q = I - B (B^T B)^-1 B^T.
 */
ATTEND_API int attend_theory_extract_orthonormal(const double *A, int64_t d, int64_t m,
                                                 double *M);
ATTEND_API int attend_theory_extract_projector(const double *A, int64_t d, int64_t m,
                                               double *M);
ATTEND_API int attend_theory_extract_oblique(const double *A, int64_t m, const double *B,
                                             int64_t p, int64_t d, double *M);
/*
 * |2 M c - v_a| / |v_a| when c is the average of a and b at query scale beta (score
 * beta) and M removes every other value: |2 p_a - 1|, which is the leak.  n >= 2.
 */
ATTEND_API double attend_theory_extract_error(double n, double beta);

/* ---- averages (T4, T5, T6) ---------------------------------------------- */

/*
 * q = (beta / tau) sum of m keys, so that m scores are beta and n - m are 0.  Weight of
 * one wanted key, and leak.  1 <= m <= n, any beta, +-inf too.
 */
ATTEND_API double attend_theory_average_weight(double n, double m, double beta);
ATTEND_API double attend_theory_average_leak(double n, double m, double beta);
/*
 * Smallest query scale with leak <= eps, when scores are tau times products: divided by
 * tau, so tau = 1/sqrt(d) multiplies it by sqrt(d). 0 < eps < 1, tau > 0; -inf for n = m,
 * where every scale suffices.
 */
ATTEND_API double attend_theory_average_scale_needed(double n, double m, double eps,
                                                     double tau);
/*
 * Weights w_i > 0 on m keys, sum 1: coefficient[i] = (beta + ln w_i) / tau.  0, or -1.
 * Its leak (n-m) / (e^beta + n - m), and the smallest beta / tau with leak <= eps.
 */
ATTEND_API int attend_theory_weighted_query(const double *w, int64_t m, double beta,
                                            double tau, double *coefficient);
ATTEND_API double attend_theory_weighted_leak(double n, double m, double beta);
ATTEND_API double attend_theory_weighted_scale_needed(double n, double m, double eps,
                                                      double tau);
/*
 * The shortest q with <q, k_i> = score[i] for n linearly independent keys, rows of the n
 * x d matrix K: pinv(K) score. 0, or -1 if keys are dependent or memory is exhausted.
 */
ATTEND_API int attend_theory_query_for_scores(const double *K, int64_t n, int64_t d,
                                              const double *score, double *q);

/* ---- the law of one weight (T9 - T12) ----------------------------------- */

/*
 * A weight w = logistic(Y), Y ~ N(mean, sd^2) given Y > floor; floor = -inf: no
 * condition. sd = 0 is a constant: densities are then NaN.
 */
typedef struct attend_theory_law {
    double mean, sd, floor;
} attend_theory_law;

/*
 * q = C (mu_a + mu_b), alpha = 0, only key a of magnitude noise sigma2: law of p_a among
 * all n keys.  n >= 2, sigma2 >= 0, finite C.
 */
ATTEND_API attend_theory_law attend_theory_law_one_head(double n, double C,
                                                        double sigma2);
/*
 * p_a / (p_a + p_b) for the same query, any n, alpha >= 0: Y ~ N(0, C^2 (4 alpha +
 * sigma2)).  At n = 2 this is p_a itself.
 */
ATTEND_API attend_theory_law attend_theory_law_pair(double C, double sigma2,
                                                    double alpha);
/* q = C mu_a: law of p_a, Y ~ N(C - ln(n-1), C^2 sigma2).  n >= 2, sigma2 >= 0. */
ATTEND_API attend_theory_law attend_theory_law_two_heads(double n, double C,
                                                         double sigma2);
/*
 * The same law given gamma_a > 0, for law_one_head and law_two_heads with C > 0 and
 * this sigma2 > 0: floor = mean - sd / sqrt(sigma2).
 */
ATTEND_API attend_theory_law attend_theory_law_given_positive(attend_theory_law law,
                                                              double sigma2);

/* Moments, by quadrature.  sd >= 0. */
ATTEND_API double attend_theory_weight_mean(attend_theory_law law);
ATTEND_API double attend_theory_weight_variance(attend_theory_law law);
ATTEND_API double
attend_theory_weight_abs_deviation(attend_theory_law law); /* E|w - 1/2| */
/* P(w <= x), and its inverse; 0 <= x, probability <= 1. */
ATTEND_API double attend_theory_weight_cdf(attend_theory_law law, double x);
ATTEND_API double attend_theory_weight_quantile(attend_theory_law law,
                                                double probability);
/* Density at 0 <= w <= 1; 0 at the ends.  sd > 0. */
ATTEND_API double attend_theory_weight_density(attend_theory_law law, double w);
/* P(w < delta or w > 1 - delta).  0 < delta <= 1/2. */
ATTEND_API double attend_theory_weight_outside(attend_theory_law law, double delta);
/*
 * Modes of the density inside (0, 1), smallest first; returns their number, 1 or 2; 1 at
 * the transition. sd > 0 and no floor, else -1.
 */
ATTEND_API int attend_theory_weight_modes(attend_theory_law law, double mode[2]);
/*
 * The C above which law_one_head(n, C, sigma2) has two modes: sqrt(2 / sigma2) at n = 2.
 * n >= 2, sigma2 > 0.
 */
ATTEND_API double attend_theory_bimodal_scale(double n, double sigma2);

/* Approximations for mean 0, no floor, T = sd >= 0. */
ATTEND_API double attend_theory_weight_variance_small(double T);  /* T^2 / 16 */
ATTEND_API double attend_theory_weight_variance_large(double T);  /* two terms in 1/T */
ATTEND_API double attend_theory_weight_variance_arcsin(double T); /* within 6.2% */
ATTEND_API double attend_theory_weight_abs_deviation_arctan(double T); /* within 2.8% */
/* E logistic(Y), any mean, by Phi(l mean / sqrt(1 + l^2 sd^2)), l^2 = pi/8. */
ATTEND_API double attend_theory_weight_mean_probit(attend_theory_law law);
/* The T with weight_variance(0, T) = variance.  0 <= variance < 1/4. */
ATTEND_API double attend_theory_spread_for_variance(double variance);

/*
 * Two scores `margin` >= 0 apart, each with independent noise of standard deviation sd >=
 * 0: probability that their order changes.  NaN if both are 0.
 */
ATTEND_API double attend_theory_swap_probability(double margin, double sd);

/* ---- order of limits: the usable window (T8) ---------------------------- */

/*
 * q = C (mu_a + mu_b), tau = 1. _scale_min: smallest C with leak <= eps; -inf for n = 2.
 * _scale_max and _alpha_max: largest C at this noise, largest alpha at this C, for which
 * Var p_a/(p_a+p_b) <= variance; +inf without noise, 0 (alpha) if sigma2 alone exceeds
 * it. 0 < variance < 1/4, alpha, sigma2 >= 0, C > 0.
 */
ATTEND_API double attend_theory_window_scale_min(double n, double eps);
ATTEND_API double attend_theory_window_scale_max(double alpha, double sigma2,
                                                 double variance);
ATTEND_API double attend_theory_window_alpha_max(double C, double sigma2,
                                                 double variance);
/* The rules of thumb: C << 1/(2 sqrt alpha) and alpha << 1/(4 ln^2(n / 2 eps)). */
ATTEND_API double attend_theory_window_scale_limit(double alpha);         /* alpha >= 0 */
ATTEND_API double attend_theory_window_alpha_limit(double n, double eps); /* n > 2 eps */

/* ---- heads on noisy keys (T7, T13 - T16, T18, T19) ---------------------- */

/* Keys are of three kinds: a, b, and the n - 2 others, which are alike. */
enum { ATTEND_THEORY_A = 0, ATTEND_THEORY_B = 1, ATTEND_THEORY_REST = 2 };

typedef struct attend_theory_scene {
    double n;         /* >= 2 */
    double tau;       /* > 0 */
    double alpha;     /* >= 0 */
    double sigma2[3]; /* magnitude noise of a, of b, of each other key; >= 0 */
    double softcap;   /* 0: none; else scores are softcap tanh(s / softcap) */
    int positive;     /* 1: conditional on gamma_a > 0 */
} attend_theory_scene;

/* The exercise: tau 1, alpha 0, only key a noisy, no softcap. */
ATTEND_API attend_theory_scene attend_theory_scene_exercise(double n, double sigma2,
                                                            int positive);

/* q = a mu_a + b mu_b + rest * (sum of the other means). */
typedef struct attend_theory_query {
    double a, b, rest;
} attend_theory_query;

/*
 * Moments of an output c = sum coefficient_i v_i with orthonormal values.  Index: a, b,
 * one other. total_variance = E|c - E c|^2; mse = E|c - (v_a + v_b)/2|^2.
 */
typedef struct attend_theory_output {
    double mean[3], variance[3];
    double total_variance, mse;
} attend_theory_output;

/*
 * One head.  Exact for every scene with score standard deviations up to 2000, and beyond
 * under the conditions of heads() with alpha = 0; all fields NaN otherwise.
 */
ATTEND_API attend_theory_output attend_theory_head(const attend_theory_scene *scene,
                                                   attend_theory_query query);
/*
 * The mean of the outputs of `heads` >= 1 heads that see the same keys.  Exact when
 * alpha = 0 and no query of nonzero `rest` meets sigma2[REST] > 0, or when the heads'
 * scores are independent (score_covariance 0 for every pair and key); all fields NaN
 * otherwise.
 */
ATTEND_API attend_theory_output attend_theory_heads(const attend_theory_scene *scene,
                                                    const attend_theory_query *query,
                                                    int heads);
/* E <c1 - E c1, c2 - E c2> of two heads if heads() is exact, else NaN. */
ATTEND_API double attend_theory_heads_covariance(const attend_theory_scene *scene,
                                                 attend_theory_query q1,
                                                 attend_theory_query q2);
/*
 * P(p_a <= x) in one head, 0 <= x <= 1; x = 1/2 is "head 1 loses".  alpha = 0, and
 * sigma2[REST] = 0 or query.rest = 0; NaN otherwise.
 */
ATTEND_API double attend_theory_head_cdf(const attend_theory_scene *scene,
                                         attend_theory_query query, double x);
/* Cov and correlation of s_i in head 1 and head 2, i of kind `key`; no softcap. */
ATTEND_API double attend_theory_score_covariance(const attend_theory_scene *scene,
                                                 attend_theory_query q1,
                                                 attend_theory_query q2, int key);
ATTEND_API double
attend_theory_score_correlation(const attend_theory_scene *scene, attend_theory_query q1,
                                attend_theory_query q2,
                                int key); /* NaN if a score has no noise */
/* Var(s_x - s_y) for two different keys of kinds x and y. */
ATTEND_API double attend_theory_score_gap_variance(const attend_theory_scene *scene,
                                                   attend_theory_query query, int x,
                                                   int y);

/* C -> inf of q = C (mu_a + mu_b) and of the heads C mu_a, C mu_b; sigma2 >= 0. */
ATTEND_API attend_theory_output attend_theory_one_head_limit(double sigma2, int positive);
ATTEND_API attend_theory_output attend_theory_two_heads_limit(double n, double sigma2,
                                                              int positive);

/*
 * C -> inf of q = C (mu_a + mu_b) at fixed noise: alpha on every key, sigma2 on key a.
 * The key of the largest score has all weight, so mean[i] is the probability of key i
 * (T8). alpha = 0: one_head_limit. n >= 2.
 */
ATTEND_API attend_theory_output attend_theory_window_limit(double n, double alpha,
                                                           double sigma2);

/* The exercise's scene: mse of one head, of two heads, at the same C >= 0, or +inf. */
ATTEND_API double attend_theory_mse_one(double n, double C, double sigma2, int positive);
ATTEND_API double attend_theory_mse_two(double n, double C, double sigma2, int positive);
/* P(head 1 loses) = P(w1 < 1/2), q1 = C mu_a, C > 0 or inf: Phi((ln(n-1)/C - 1)/sigma).
 */
ATTEND_API double attend_theory_head_loses(double n, double C, double sigma2,
                                           int positive);
/*
 * The C with the smallest mse, 0 <= C <= 1000, and through `mse`, if not NULL, that mse;
 * +inf with the limit's mse if that is the smallest. n >= 2, sigma2 >= 0.
 */
ATTEND_API double attend_theory_best_scale_one(double n, double sigma2, int positive,
                                               double *mse);
ATTEND_API double attend_theory_best_scale_two(double n, double sigma2, int positive,
                                               double *mse);
/*
 * Two heads have the smaller mse for every C in (result, 1000]; 0: for every C > 0; NaN:
 * not at 1000. n >= 3, sigma2 > 0.
 */
ATTEND_API double attend_theory_crossover_scale(double n, double sigma2, int positive);

/*
 * One head on keys k_i / |k_i| (QK-norm).  alpha = 0, else NaN: k_i becomes mu_i times
 * the sign of gamma_i.
 */
ATTEND_API attend_theory_output attend_theory_unit_keys(const attend_theory_scene *scene,
                                                        attend_theory_query query);
/* Its limit for q = C (mu_a + mu_b), only key a noisy: variance p (1 - p) / 4. */
ATTEND_API attend_theory_output attend_theory_unit_keys_limit(double sigma2,
                                                              int positive);
/* q = -B sum of the others: the query {0, 0, -B}, and |q| = B sqrt(n - 2). */
ATTEND_API attend_theory_query attend_theory_suppression_query(double B);
ATTEND_API double attend_theory_suppression_norm(double n, double B);

/* ---- m targets, h heads (T17) ------------------------------------------- */

/*
 * Every target of magnitude noise sigma2, alpha = 0, C -> inf, h groups of m/h targets,
 * one head C * (sum of its targets' means) each.  Mean squared distance to the mean of
 * the targets.  h divides m, else NaN.
 *   _positive     every gamma > 0: 1/h - 1/m;
 *   _flips        with sign flips among n >= m keys, sigma2 > 0;
 *   _first_order  h = m, to first order in 1 - p: ((1-p)/m)(1 + 1/(n-1)).
 */
ATTEND_API double attend_theory_groups_mse_positive(double m, double h);
ATTEND_API double attend_theory_groups_mse_flips(double m, double h, double n,
                                                 double sigma2);
ATTEND_API double attend_theory_groups_mse_first_order(double m, double n, double sigma2);
/* The divisor h of m <= 1e6 with the least groups_mse_flips. */
ATTEND_API double attend_theory_best_heads(double m, double n, double sigma2);

/* ---- many keys (T20 - T23) ---------------------------------------------- */

/* Largest possible weight of n logits within `range` >= 0 of each other. n >= 1. */
ATTEND_API double attend_theory_dispersion_bound(double n, double range);
/* The smallest range for a weight, 1/n <= weight <= 1, of one of n >= 2 keys. */
ATTEND_API double attend_theory_dispersion_range_needed(double n, double weight);

/*
 * P(<k, u> > 1/sqrt(m)) for a random unit vector k and a fixed one u in d dimensions: the
 * score of a key exceeds those of m orthonormal targets. 0 for m = 1, 1/2 for m = inf. d
 * >= 2, m >= 1.
 */
ATTEND_API double attend_theory_collision_probability(double d, double m);
ATTEND_API double attend_theory_collision_size(double d, double m); /* 1 / probability */

/*
 * n independent logits N(0, S^2).  Exact means, by quadrature: of the entropy and of
 * sum p^2.  1 <= n <= 1e15, 0 <= S <= 1000.
 */
ATTEND_API double attend_theory_random_entropy(double n, double S);
ATTEND_API double attend_theory_random_sum_squares(double n, double S);
/*
 * Large n, to leading order in ln n: entropy ln n - S^2/2 (0 if frozen, where it is of
 * order 1), N_eff = n e^-S^2 for S^2 < (ln n)/2.
 */
ATTEND_API double attend_theory_random_entropy_limit(double n, double S);
ATTEND_API double attend_theory_random_keys_limit(double n, double S); /* NaN above it */
/* Frozen, S > sqrt(2 ln n): E sum p^2 = 1 - sqrt(2 ln n)/S; NaN below. */
ATTEND_API double attend_theory_random_sum_squares_limit(double n, double S);
ATTEND_API double attend_theory_freezing_spread(double n); /* sqrt(2 ln n) */

/*
 * Least entropy of n keys whose centred logits have norm r >= 0, attained by one spike.
 * n >= 2, or n = 1 and r = 0.
 */
ATTEND_API double attend_theory_entropy_floor(double n, double r);

/* ---- any row: the delta method (T24) ------------------------------------ */

/*
 * First order in the variances.  p: n weights; v: n x dv values, row-major; variance: of
 * each score's independent noise.  `covariance` is dv x dv, `bias` dv.  0, or -1.
 */
ATTEND_API int attend_theory_delta_covariance(const double *p, const double *v,
                                              const double *variance, int64_t n,
                                              int64_t dv, double *covariance);
ATTEND_API int attend_theory_delta_bias(const double *p, const double *v,
                                        const double *variance, int64_t n, int64_t dv,
                                        double *bias);
/*
 * Jacobian dc/dq, dv x d: tau Cov_p(v, k).  Query noise Sigma gives J Sigma J^T.
 */
ATTEND_API int attend_theory_delta_jacobian(const double *p, const double *v,
                                            const double *K, int64_t n, int64_t dv,
                                            int64_t d, double tau, double *jacobian);
/* Exact: variance of each entry of c from value noise of this variance. */
ATTEND_API double attend_theory_value_noise(const double *p, int64_t n, double variance);
/* Exact: entropy of softmax(beta s), and dH / d ln beta = -Var_p(beta s); beta s finite.
 */
ATTEND_API double attend_theory_entropy(const double *score, int64_t n, double beta);
ATTEND_API double attend_theory_entropy_slope(const double *score, int64_t n,
                                              double beta);

/* ---- order of tokens (T25, T26) ----------------------------------------- */

/*
 * out = P X and out = X Pi for the n x d matrix X: row (column) i of `out` is row
 * (column) order[i] of X. 0, or -1 if `order` is not a permutation; out != X.
 */
ATTEND_API int attend_theory_permute_rows(const double *X, int64_t n, int64_t d,
                                          const int64_t *order, double *out);
ATTEND_API int attend_theory_permute_columns(const double *X, int64_t n, int64_t d,
                                             const int64_t *order, double *out);

/*
 * Sinusoidal encoding: phi[2i] = sin(w_i t), phi[2i+1] = cos(w_i t), w_i = 1e4^(-2i/d),
 * i < d/2.  d even, >= 2; -1 otherwise.
 */
ATTEND_API int attend_theory_sinusoid(double t, int64_t d, double *phi);
/* <phi_t, phi_t'> and |phi_t - phi_t'| for t' - t = offset. */
ATTEND_API double attend_theory_sinusoid_dot(int64_t d, double offset);
ATTEND_API double attend_theory_sinusoid_distance(int64_t d, double offset);
/*
 * The offset in 1 ..  T-1 whose encoding is nearest to that of 0, the smallest such
 * offset, and through `distance`, if not NULL, the distance.  T >= 2, else -1.
 */
ATTEND_API int64_t attend_theory_sinusoid_nearest(int64_t d, int64_t T, double *distance);

#ifdef __cplusplus
}
#endif

#endif

/* SPDX-License-Identifier: MIT */
/*
 * Expected statistics of a row, and their error bounds.
 *
 * Let s_j be the exact scores of the keys that count (score above -inf, no sink), p_j
 * their softmax, m = s_top the largest, e_j the bound of bound.h for key j, and r u with
 * r = 6 + c(nk) the part of e_j that is sums and exponentials.  Statistics depend on
 * differences of scores only, so errors are taken relative to the largest score, whose
 * weight before normalising is 1 exactly:
 *
 *     x_j = e_j + e_top                  for j other than top, 0 for top
 *     D_j = p_j (e^x_j - 1) + f_j,       f_j = min(f, p_j e^x_j): weights that vanish
 *     T_j = (D_j + p_j sum D) / W,       W = sum p_j e^-x_j
 *
 * T_j bounds the error of p_j.  What is summed with these weights besides is positive
 * and gains at most 4 r u of its size.  With h_j = -ln p_j and y_j = s_j - sum p s:
 *
 *     a mean F = sum p f
 *         sum T_j |f_j - F| + 4 r u (F + sum T_j |f_j - F|)
 *     entropy H
 *         E + 4 r u (H + E) with E = sum T_j |h_j - H| + sum T_j^2 / p_j: the second sum
 *         bounds the divergence of both laws
 *     exp H
 *         exp H (e^(bound of H) - 1)
 *     N_eff = 1 / S
 *         N_eff Q / (S - Q) + 4 r u N_eff with Q = sum 2 p T + T^2
 *     variance of s
 *         sum T_j y_j^2 + (sum T_j |y_j|)^2 + sum (p_j + T_j)(2 |y_j| x_j + x_j^2)
 *         + 4 r u sum p (s - m)^2
 *     raw mean
 *         mean e_j + 2 r u mean |s_j|
 *     raw variance
 *         mean of 2 |s_j - mean| z_j + z_j^2 with z_j = e_j + the bound of the raw mean,
 *         + 4 r u of itself
 *     max, margin, top
 *         by order: the k-th largest of numbers known to +-b lies between the k-th
 *         largest of the lower and of the upper ends
 *     |c|
 *         C = the norm over columns of the bound of a mean of v, and 2^-8 sum p |v| for
 *         bf16, as for O
 *     sum p^2 g |v - c|^2
 *         sum (2 p T + T^2) g |v - c|^2, the same for a change of c by C,
 *         4 (r + dv) u sum p^2 g (|v| + |c|)^2 since the square is multiplied out, and
 *         2^-7 sum p^2 g |v||c| for bf16
 *
 * each plus half a unit of the format it is written in.  Means of norms of v also gain
 * dv u.  A key is named by its rank where it stands clear of all others, and may be any
 * where it does not.  Nothing is claimed of numbers that may lie beyond 2^100, of raw
 * moments, values and noise whose squares are, of the noise of keys where |q|^2 is, and
 * of values where a key of score -inf holds one that is not finite.
 */
#ifndef CHECK_DENSE_STATS_H
#define CHECK_DENSE_STATS_H

#include "check/bound.h"
#include "check/dense.h"
#include "check/dense_row.h"

/* Number of doubles of scratch memory for the statistics of a row. */
int64_t check_stats_room(int64_t nk);

/* Fill the expected statistics of row (b, h, i), whose scores are known. */
void check_dense_stats(const struct check_problem *p, const struct check_model *models,
                       int64_t b, int64_t h, int64_t i, const struct check_row *scores,
                       double *room, struct check_expect *expect);

#endif

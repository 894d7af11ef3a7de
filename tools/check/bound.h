/* SPDX-License-Identifier: MIT */
/*
 * The error bound, derived.
 *
 * Let u = 2^-24 (2^-53 for f64 inputs) and, for a row, s_j its exact scores,
 * P_j its exact weights, m the largest score (the sink's included), and
 *
 *     a_j = |scale| sum_c |q_c| |k_jc| + |bias_j|
 *           + |alibi| max(|j - position|, |j - anchor|).
 *
 * A kernel counts ALiBi from the anchor, the last key that the row sees by causal rule,
 * window and key length (the first for a negative slope), and |m| stands for the
 * larger of |m| and |m - alibi (anchor - position)|.
 * The result of a kernel is the exact one for weights P_j e^t_j, renormalised,
 * where |t_j| <= e_j and e_j collects, for each key,
 *
 *     (d + 8) u a_j         the dot product in any order (d u), scale, softcap,
 *                           ln 2 units, bias and ALiBi: 8 roundings of size a_j
 *     4 u (a_j + |m|)       the argument s_j - m of the exponential and its unit;
 *                           over successive maxima these errors telescope
 *     6 u                   the exponential, 3 units in the last place
 *     c(nk) u               the sums: c = 128 + 8 ceil(nk / 128) + 16: within a
 *                           block of 128 keys, per block an exponential and two
 *                           roundings to rescale and combine, then the division
 *     f (1 + |scale|) (d + sum|q| + sum|k_j| + sum|q||k_j|)
 *                           underflow in the dot product, f = 2^-126 (2^-1022)
 *
 * (a sink is a key with a = |sink| and V = 0).  Put D_j = P_j (e^e_j - 1) + f,
 * where the f is for weights below 2^-126 of the largest, which become 0,
 * D = sum D_j, and W = sum P_j e^-e_j, the least the sum of weights can be.  As the
 * numerator and the denominator of O are perturbed independently,
 *
 *     |O - O_exact|     <=  (sum_j D_j |V_j| + D |O|) / W
 *                           + 2^-8 sum_j P_j |V_j| (1 + D) / W      (bf16 inputs only:
 *                             the numerator's P may be rounded to bf16)
 *     |LSE - LSE_exact| <=  max(ln(1 + D), -ln W) + 2 u (1 + |LSE|)
 *     |P_j - P_exact_j| <=  (D_j + D P_j) / W
 *
 * each plus half a unit of the result's own format, and for O plus nk underflows
 * in P V.  O also lies in the hull of V, so its error never exceeds
 * 2 max|V_j| (1 + c u).  With small e_j the first line is the familiar
 * 2 e sum P|V|; written with D_j it stays sharp when keys of weight 0 have huge
 * scores, such as a bias of finfo.min.
 *
 * The result is compared with an evaluation in double whose own error is far below
 * u = 2^-24.  Where the kernel works in double too, the bound is doubled, and c(nk)
 * is at least nk + 16, as plain sums have it.
 *
 * No claim is made where f32 arithmetic may overflow: sum|q||k|, |scale| sum|q||k| or
 * |scale| sum|q| (the scale may go into q) above 2^100, a_j above the largest float,
 * or sum_j |V_j| above 2^118.
 */
#ifndef CHECK_BOUND_H
#define CHECK_BOUND_H

#include "check/check_problem.h"

struct check_model {
    double u;       /* of the arithmetic */
    double c;       /* c(nk) */
    double flush;   /* f */
    double p_round; /* rounding of P before P V */
    double product; /* absolute error of one product in P V by underflow */
    double slack;   /* 2 where the comparison has the same error as the kernel */
    double d;
    attend_dtype out_dtype, lse_dtype;
};

/* The model of a kernel set, or of `ref`, which computes in double for all inputs. */
struct check_model check_model_of(const struct check_problem *p, int is_ref);

/* |m|, where `shift` is alibi (anchor - position). */
double check_bound_row_max(double m, double shift);
/* e_j; `tiny` is the factor of f above. */
double check_bound_score(const struct check_model *model, double a, double m,
                         double tiny);
/*
 * D_j without its f, and P_j e^-e, from the exact P_j and its logarithm (for P_j that
 * underflow).  For small e the safe estimates e + e^2 and 1 - e are used: this is the
 * inner loop of every check.
 */
double check_bound_excess(double p, double log_p, double e);
double check_bound_least(double p, double e);

/* A row: D, W; a column of it: sum D_j|V_j|, sum P_j|V_j|, max|V_j|, and the exact O. */
double check_bound_out(const struct check_model *model, double total, double least,
                       double spread, double mean, double largest, double out,
                       int64_t nk);
double check_bound_lse(const struct check_model *model, double total, double least,
                       double lse);
double check_bound_weight(const struct check_model *model, double total, double least,
                          double excess, double weight);

#endif

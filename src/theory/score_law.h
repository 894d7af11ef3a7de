/* SPDX-License-Identifier: MIT */
/*
 * The law of one key's score, for exact means over many independent keys.  With Z = sum
 * of e^s over the keys,
 *
 *     E p_i^k = 1/(k-1)! integral of t^(k-1) E[e^(k s_i) e^(-t e^s_i)]
 *                                     prod_{j != i} E[e^(-t e^s_j)] dt,
 *
 * so that n keys cost one integral over t of one-dimensional ones.
 */
#ifndef ATTEND_THEORY_SCORE_LAW_H
#define ATTEND_THEORY_SCORE_LAW_H

/*
 * `keys` >= 1 keys with independent scores cap(Y), Y ~ N(mean, sd^2) given lo < Y < hi,
 * and kept with probability Phi(gate_slope (Y - gate_centre)); cap(y) = softcap tanh(y /
 * softcap), or y for softcap 0. gate_slope 0: all are kept.  With sd 0, interval and gate
 * have no effect.
 */
struct attendi_theory_score_kind {
    double keys, mean, sd;
    double lo, hi;
    double softcap;
    double gate_centre, gate_slope;
};

/* `keys` keys with scores N(mean, sd^2), without interval, gate and softcap. */
struct attendi_theory_score_kind attendi_theory_plain_kind(double keys, double mean,
                                                           double sd);

/*
 * E p and E p^2 of one key of each kind, in a softmax over all keys of all kinds, to
 * about 1e-12.  Returns 0, or -1 if out of memory, if an interval is empty, or if sd is
 * not in 0 .. 2000.
 */
int attendi_theory_score_moments(const struct attendi_theory_score_kind *kinds, int count,
                                 double *mean, double *second);
/* E p and Var p, the variance with a relative error of about 1e-12. */
int attendi_theory_score_variances(const struct attendi_theory_score_kind *kinds,
                                   int count, double *mean, double *variance);
/* The mean entropy of a softmax over the keys of one kind; NaN on failure, as above. */
double attendi_theory_score_entropy(const struct attendi_theory_score_kind *kind);

#endif

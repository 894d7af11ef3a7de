/* SPDX-License-Identifier: MIT */
/* Integrals of several smooth functions, and their means under a normal law. */
#ifndef ATTEND_THEORY_QUADRATURE_H
#define ATTEND_THEORY_QUADRATURE_H

enum { THEORY_INTEGRANDS_MAX = 8, THEORY_TRANSITIONS_MAX = 512 };

/*
 * Target error: `relative` to the integral of |f|, or `absolute`, whichever is larger.
 * An absolute target avoids refining rounding noise.
 */
struct attendi_theory_accuracy {
    double relative, absolute;
};

/* Writes the values of all functions at x to f. */
typedef void (*attendi_theory_integrand)(void *arg, double x, double *f);

/*
 * result[k] = integral of f[k], k < count, over [breaks[0], breaks[points - 1]].  The
 * breaks are sorted and mark points where a function is not smooth, or changes on a scale
 * much shorter than the interval.  Adaptive Gauss-Kronrod, in bounded time.  NaN if out
 * of memory.
 */
void attendi_theory_integrate(attendi_theory_integrand f, void *arg, int count,
                              const double *breaks, int points,
                              struct attendi_theory_accuracy accuracy, double *result);

/* A transition between two smooth pieces of an integrand. */
struct attendi_theory_transition {
    double centre, width; /* width > 0 */
};

/*
 * result[k] = E[f[k](Y) | Y > floor], Y ~ N(mean, sd^2), for functions that are smooth
 * except at the transitions, and with |f| <= 1 for an absolute accuracy. sd = 0: f(mean).
 * All NaN if P(Y > floor) is 0.
 */
void attendi_theory_normal_mean(attendi_theory_integrand f, void *arg, int count,
                                double mean, double sd, double floor,
                                const struct attendi_theory_transition *transitions,
                                int transition_count,
                                struct attendi_theory_accuracy accuracy, double *result);

/* Nodes and weights of the Gauss-Legendre rule with THEORY_PANEL points on [-1, 1]. */
enum { THEORY_PANEL = 20 };
void attendi_theory_panel(double node[THEORY_PANEL], double weight[THEORY_PANEL]);

/* For qsort() of doubles. */
int attendi_theory_ascending(const void *x, const void *y);

#endif

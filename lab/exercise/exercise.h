/* SPDX-License-Identifier: MIT */
/*
 * The mathematics that sheets and answers are judged in: softmax through
 * attend_forward() and keys with their noise; world.h has the rest.  Its constants are
 * the exercise's; whoever changes one sees which statements depended on it.
 */
#ifndef LAB_EXERCISE_H
#define LAB_EXERCISE_H

#include <stdint.h>

#include "attend/attend.h"
#include "lab/measure/forward.h"

struct lab_exercise {
    attend_context *ctx; /* NULL: what needs the engine cannot be told */
    double tau;          /* 1: score = tau <q, k> */
    int root_d;          /* 0; 1: and divided by sqrt(d), d = n */
    double overlap;      /* 0: <mu_a, mu_b> */
    double sigma2;       /* 1/2: variance of key a along mu_a */
    double sigma2_b;     /* 0: of key b along mu_b */
    double isotropic;    /* 1: alpha is multiplied by it */
    double floor;        /* 0: isotropic variance that is left when alpha vanishes */
    int deviation;       /* 0: alpha is a variance; 1: a standard deviation */
    double unit;         /* 1: length of a query that is written without a scale */
    double sink;         /* -inf: a logit that joins the denominator alone */
    double zero;         /* 0: added to a score of 0; -inf: exp(0) counts as 0 */
    int mirror_a;        /* 0; 1: head 2 sees mu_a turned round */
    int mirror_b;        /* 0; 1: head 2 sees mu_b turned round */
    double shear;        /* 0: <a_1, a_2> of the basis A */
    double stray;        /* 0: length of a part of v_a outside A and B */
    int columns;         /* 0: rows of X are tokens; 1: columns are */
    uint64_t seed;
};

/* The exercise's exercise; 0, or -1.  Close it in any case. */
int lab_exercise_open(struct lab_exercise *exercise);
/* The same world with a borrowed context: not to be closed. */
struct lab_exercise lab_exercise_sound(attend_context *ctx);
void lab_exercise_close(struct lab_exercise *exercise);

/* Where a claim is tested. */
struct lab_point {
    int64_t n;
    double scale;       /* C, beta, |q|, a gap or a ratio, by the claim */
    double alpha;       /* isotropic variance of every key */
    int given_positive; /* 1: only draws with <mu_a, k_a> > 0 */
    double gamma, eps;  /* of the claims that name them */
    int number;         /* among the points of an answer, for whatever else differs */
    const struct lab_exercise *exercise;
};

/* tau and root_d together; alpha with isotropic, floor and deviation. */
double lab_point_tau(const struct lab_point *point);
double lab_point_alpha(const struct lab_point *point);

/* q = a mu_a + b mu_b + rest times the sum of the other means. */
struct lab_pair_query {
    double a, b, rest;
};

/* The problem through the engine, with the exercise's sink. */
int lab_exercise_forward(const struct lab_exercise *exercise, struct lab_problem problem);
/* Weights of `n` keys (rows of length d) for one query.  All return 0, or -1. */
int lab_exercise_softmax(const struct lab_exercise *exercise, int64_t n, int64_t d,
                         const double *keys, const double *query, double *weights);
/* The same of scores, -inf included: a key with that score is not seen. */
int lab_exercise_softmax_scores(const struct lab_exercise *exercise, int64_t n,
                                const double *scores, double *weights);

/*
 * Scores of `count` pairs of a query and a key (rows of length d), times `scale`: the
 * logarithm of the sum over one key is its score.
 */
int lab_exercise_scores(const struct lab_exercise *exercise, int64_t count, int64_t d,
                        const double *queries, const double *keys, double scale,
                        double *scores);

/* Weight of a, of b, and of all the others together; n keys, without noise. */
struct lab_pair_weights {
    double a, b, others;
    double squares; /* sum of the squares of the others' weights */
};

/* With k_a = gamma mu_a. */
int lab_exercise_pair(const struct lab_exercise *exercise, int64_t n, double gamma,
                      struct lab_pair_query query, struct lab_pair_weights *weights);
/* Distance of the output from x v_a + y v_b, values orthonormal. */
double lab_pair_distance(const struct lab_pair_weights *weights, double x, double y);

/* ---- draws --------------------------------------------------------------- */

/* Traces of the covariance of outputs, values orthonormal; c is their mean. */
struct lab_spread {
    double head[2], mean; /* of head 1, head 2 and c */
    double cross;         /* between the heads */
};

/* One or two heads over the draws of lab_world_heads(). */
struct lab_drawn {
    int64_t count;
    struct lab_spread spread;
    double weight_mean; /* of v_a in head 1 */
    double to_average;  /* |c - (v_a + v_b)/2|, root mean square */
};

int lab_exercise_draw(const struct lab_point *point, int magnitude, int heads,
                      const struct lab_pair_query *queries, struct lab_drawn *drawn);

/* q1^T Sigma_a q2 (key 0), q1^T Sigma_b q2 (key 1), times tau^2. */
double lab_exercise_score_covariance(const struct lab_exercise *exercise, double alpha,
                                     int key, struct lab_pair_query q1,
                                     struct lab_pair_query q2);

#endif

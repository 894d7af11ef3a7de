/* SPDX-License-Identifier: MIT */
/*
 * The mathematics that sheets and answers are judged in: softmax through
 * attend_forward() and keys with their noise; world.h has the rest.  Its constants are
 * the exercise's; a change of one shows which statements depend on it.
 */
#ifndef LAB_EXERCISE_H
#define LAB_EXERCISE_H

#include <stdint.h>

#include "attend/attend.h"
#include "lab/measure/forward.h"

struct lab_exercise {
    attend_context *ctx; /* NULL: nothing that needs the engine can be computed */
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

/* Opens the default exercise: 0, or -1.  Close it in any case. */
int lab_exercise_open(struct lab_exercise *exercise);
/* The default exercise with a borrowed context, which it does not destroy. */
struct lab_exercise lab_exercise_default(attend_context *ctx);
void lab_exercise_close(struct lab_exercise *exercise);

/* A point at which a claim is tested. */
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

#endif

/* SPDX-License-Identifier: MIT */
/* The quantities behind the letters of the sheets: heads, bases, tokens. */
#ifndef LAB_WORLD_H
#define LAB_WORLD_H

#include <stddef.h>

#include "lab/exercise/exercise.h"

/* ---- heads --------------------------------------------------------------- */

/*
 * Vectors have three coordinates: along mu_a, along what mu_b has besides, and along the
 * others, which are alike.  Values are orthonormal, so that the same three serve for an
 * output: the weights of v_a and v_b, and the length of all the others' part.
 */
enum { LAB_SPACE = 3, LAB_HEADS = 2 };

struct lab_head {
    double output[LAB_SPACE];
    double rest;             /* weight of all the others together */
    double score[LAB_SPACE]; /* of k_a, k_b and one of the others */
};

/* A draw of the keys. */
struct lab_draw {
    double weight; /* they add up to 1 */
    double gamma, gamma_b;
    double key[LAB_SPACE][LAB_SPACE]; /* k_a, k_b and one of the others */
    struct lab_head head[LAB_HEADS];
};

struct lab_draws {
    int64_t count;
    struct lab_draw *draw;
};

/*
 * The keys of a point, with the scores and weights of each head's query.  With
 * `magnitude` the length of k_a has its law, as nodes of a quadrature.  With
 * alpha > 0 keys are drawn.  `query` has LAB_SPACE numbers a head.  heads = 0: keys
 * alone, without the engine.  Free draws->draw in any case.
 */
int lab_world_heads(const struct lab_point *point, int magnitude, int heads,
                    const double *query, struct lab_draws *draws);
/* k_a = gamma mu_a alone. */
int lab_world_heads_at(const struct lab_point *point, double gamma, int heads,
                       const double *query, struct lab_draws *draws);
/* Nodes of gamma and gamma_b, weights set; count, or -1. */
int64_t lab_world_law(const struct lab_point *point, int magnitude,
                      struct lab_draw **draw);

/* Offsets in a draw: entry i of head h's output, and head h's score of key i. */
#define LAB_DRAW_OUTPUT(h, i)                                                            \
    (offsetof(struct lab_draw, head) + (h) * sizeof(struct lab_head) +                   \
     offsetof(struct lab_head, output) + (i) * sizeof(double))
#define LAB_DRAW_SCORE(h, i)                                                             \
    (offsetof(struct lab_draw, head) + (h) * sizeof(struct lab_head) +                   \
     offsetof(struct lab_head, score) + (i) * sizeof(double))
/* Covariance of two numbers of every draw, given by their offsets. */
double lab_draws_covariance(const struct lab_draws *draws, size_t x, size_t y);
/* Trace of the covariance of the outputs of two heads. */
double lab_draws_trace(const struct lab_draws *draws, size_t h, size_t g);

/* Traces of the covariance of outputs, values orthonormal; c is their mean. */
struct lab_spread {
    double head[2], mean; /* of head 1, head 2 and c */
    double cross;         /* between the heads */
};

/* The same of one or two heads. */
struct lab_spread lab_draws_spread(const struct lab_draws *draws, int heads);

/* mu_a, mu_b and a third mean, as rows. */
void lab_world_means(const struct lab_exercise *exercise,
                     double mean[LAB_SPACE][LAB_SPACE]);

/* ---- extraction ---------------------------------------------------------- */

enum { LAB_WORLD_D = 7, LAB_WORLD_M = 3, LAB_WORLD_P = 2 };

/*
 * A (d x m) and B (d x p), row-major, columns orthonormal and A perpendicular to B;
 * v_a = A c, v_b = B e.
 */
struct lab_world_basis {
    double a[LAB_WORLD_D][LAB_WORLD_M], b[LAB_WORLD_D][LAB_WORLD_P];
    double c[LAB_WORLD_M], e[LAB_WORLD_P];
    double va[LAB_WORLD_D], vb[LAB_WORLD_D];
};

void lab_world_basis(const struct lab_exercise *exercise, struct lab_world_basis *basis);

/* ---- tokens -------------------------------------------------------------- */

/* Not as many features as tokens, so that a permutation fits on one side alone. */
enum { LAB_WORLD_TOKENS = 6, LAB_WORLD_FEATURES = 5 };

/* X and the results of attention over it, in the exercise's layout of X. */
struct lab_world_tokens {
    double x[LAB_WORLD_TOKENS * LAB_WORLD_FEATURES];
    double w[3][LAB_WORLD_FEATURES * LAB_WORLD_FEATURES]; /* of q, k and v */
    double permutation[LAB_WORLD_TOKENS * LAB_WORLD_TOKENS];
};

void lab_world_tokens(const struct lab_exercise *exercise,
                      struct lab_world_tokens *sequence);
/* Scores / sqrt(d), their softmax by rows, and attention of another X. */
struct lab_world_self {
    double scores[LAB_WORLD_TOKENS * LAB_WORLD_TOKENS];
    double weights[LAB_WORLD_TOKENS * LAB_WORLD_TOKENS];
    double out[LAB_WORLD_TOKENS * LAB_WORLD_FEATURES];
};

int lab_world_self(const struct lab_exercise *exercise,
                   const struct lab_world_tokens *sequence, const double *x,
                   struct lab_world_self *self);

#endif

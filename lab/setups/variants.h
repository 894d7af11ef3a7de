/* SPDX-License-Identifier: MIT */
/* Variants of attention, made of calls of the engine. */
#ifndef LAB_VARIANTS_H
#define LAB_VARIANTS_H

#include "lab/measure/forward.h"
#include "lab/measure/moments.h"
#include "lab/measure/session.h"

/*
 * Synthesizer: scores are made from the query alone, here its bias.  The one of n keys
 * that matches the query stands at a place drawn anew in every trial.
 */
enum {
    LAB_ATTENTION_HIT,   /* 1: the largest weight is that of the key */
    LAB_SYNTHESIZER_HIT, /* the same of the Synthesizer's */
    LAB_KEY_EFFECT,      /* the largest change of its weights by other keys */
    LAB_SEARCH_VALUES
};
int lab_synthesizer_measure(struct lab_session *session, int64_t n, double beta,
                            int64_t trials, struct lab_moments *moments);

/*
 * Bottleneck: each of n tokens, the axes, looks for itself; directly (m = 0), or by way
 * of m latents that each look for one of the first m tokens and are then looked up.
 */
struct lab_bottleneck {
    double error; /* |I - R|^2 of the map R, the sum of squares */
    double rank;
    double scores; /* weights that the engine made for it */
};
int lab_bottleneck_measure(struct lab_session *session, attend_context *ctx, int64_t n,
                           int64_t m, double beta, struct lab_bottleneck *map);
/* The theory of its error. */
double lab_bottleneck_error(double n, double m, double beta);

/*
 * Sigmoid attention: every key is weighed by itself, w_i = logistic(s_i - ln n).
 * `scratch` has 2 n numbers.
 */
int lab_sigmoid_measure(struct lab_session *session, attend_context *ctx, int64_t n,
                        const double *score, double *scratch, double *sum,
                        struct lab_row_stats *stats);

/* Weights of keys a, of score beta (1 + N(0, sigma2)), b, of score beta, among n. */
enum { LAB_SOFTMAX_A, LAB_SOFTMAX_B, LAB_SIGMOID_A, LAB_SIGMOID_B, LAB_NOISE_VALUES };
int lab_noisy_weights_measure(struct lab_session *session, int64_t n, double beta,
                              double sigma2, uint64_t stream, int64_t trials,
                              struct lab_moments *moments);

#endif

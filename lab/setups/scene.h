/* SPDX-License-Identifier: MIT */
/*
 * A scene: n keys k_i ~ N(mu_i, alpha I + s_i mu_i mu_i^T) with
 * orthonormal means mu_i, s_i = sigma2 for the noisy keys and 0 for the others;
 * values v_i orthonormal; the first `wanted` keys are the wanted ones (0 is the
 * exercise's a, 1 its b).  Heads have the queries
 *
 *     q_h = sum_{i < wanted} query[h][i] mu_i + rest_query[h] sum_{i >= wanted} mu_i
 *
 * and weigh the same keys with scores tau <q_h, k_i>.  Every trial draws the keys and
 * goes through attend_forward().
 */
#ifndef LAB_SCENE_H
#define LAB_SCENE_H

#include "attend/theory.h"
#include "lab/measure/session.h"
#include "lab/measure/moments.h"

enum { LAB_WANTED_MAX = 16, LAB_HEADS_MAX = 16 };
enum { LAB_ENTRIES_MAX = 1 << 22 };

enum lab_noisy { LAB_NOISY_NONE, LAB_NOISY_A, LAB_NOISY_WANTED, LAB_NOISY_ALL };

struct lab_scene {
    int64_t n;
    int64_t d; /* n or more; 0: n */
    int wanted, heads;
    double sigma2, alpha, tau;
    enum lab_noisy noisy;
    double query[LAB_HEADS_MAX][LAB_WANTED_MAX];
    double rest_query[LAB_HEADS_MAX];
    int unit_keys;         /* 1: k -> k / |k| before use (QK-norm) */
    double softcap;        /* 0: none */
    int independent_noise; /* 1: every head sees keys drawn anew */
    int averaged;          /* c is the mean of the first so many heads; 0: of all */
    int plain;             /* 1: squares are not needed, and NaN: saves half the work */
    int scores;            /* 1: the scores of the wanted keys are needed, too */
};

/* Two wanted keys. */
#define LAB_SCENE(keys, queries, length_noise, key_noise, factor, ...)                   \
    ((struct lab_scene){.n = (int64_t)(keys),                                            \
                        .wanted = 2,                                                     \
                        .heads = queries,                                                \
                        .sigma2 = length_noise,                                          \
                        .alpha = key_noise,                                              \
                        .tau = factor,                                                   \
                        __VA_ARGS__})

/*
 * One trial.  `weight[h][i]` is head h's weight of wanted key i, `others[h]` its
 * weight of all the others together, squares[h] the sum of the squares of its weights of
 * the others.  `coefficient` is of v_i in c, the mean of the heads' outputs,
 * `others_squared` the sum of the squares of the coefficients of the unwanted values, so
 * that |c - mean of the wanted values|^2 =
 * sum_i (coefficient[i] - 1/wanted)^2 + others_squared.  `gamma[i]` = <mu_i, k_i>, of
 * head 0's keys where every head has its own.  `score[h][i]` = tau <q_h, k_i>, before
 * any softcap: where both weights of a pair underflow, scores still differ.
 */
struct lab_outcome {
    double weight[LAB_HEADS_MAX][LAB_WANTED_MAX];
    double others[LAB_HEADS_MAX], squares[LAB_HEADS_MAX];
    double score[LAB_HEADS_MAX][LAB_WANTED_MAX];
    double coefficient[LAB_WANTED_MAX], others_squared;
    double gamma[LAB_WANTED_MAX];
};

/*
 * |c - (v_a + v_b)/2|^2 of the coefficients of v_a and v_b, and others_squared; the most
 * it can be is that of c = another value.
 */
double lab_pair_error(double a, double b, double others_squared);
#define LAB_PAIR_ERROR_MAX 1.5

/* C (mu_a + mu_b) for one head; C mu_a and C mu_b for two. */
void lab_scene_set_pair(struct lab_scene *scene, double C);
/* Sets the queries of heads 0 .. count - 1, of a scene with two wanted keys. */
void lab_scene_set_queries(struct lab_scene *scene, const attend_theory_query *queries,
                           int count);

/* The scene as theory has it; `positive`: given <mu_a, k_a> > 0.  Two wanted keys. */
attend_theory_scene lab_scene_law(const struct lab_scene *scene, int positive);
attend_theory_query lab_scene_query(const struct lab_scene *scene, int head);
/* c, the mean of the averaged heads' outputs. */
attend_theory_output lab_scene_theory(const struct lab_scene *scene, int positive);

/*
 * Numbers to average; NaN leaves this trial out of that number's moments.  Called from
 * several threads at once: `arg` is only read.
 */
typedef void (*lab_observe)(void *arg, const struct lab_outcome *outcome, double *values);

/*
 * `trials` trials on the session's threads, moments of `count` numbers in `moments` and,
 * for those whose histogram is not NULL, their histograms: the same for any number of
 * threads.  When the session is cancelled, the results so far.  Measurements with
 * different streams are independent.  0, or -1 after lab_fail().
 *
 * How keys are represented.  Where the unwanted keys are equal in score (alpha = 0, and
 * no magnitude noise that a query sees) they stand as one key with a bias of
 * ln(n - wanted), in double.  Where alpha > 0 all n d entries are drawn, in float, up to
 * n d = LAB_ENTRIES_MAX.  Else keys are drawn in the space that the queries span, which
 * has the same law, in double; unit_keys with alpha > 0, which need the whole key, are
 * then refused.
 */
int lab_scene_measure(struct lab_session *session, const struct lab_scene *scene,
                      uint64_t stream, int64_t trials, lab_observe observe, void *arg,
                      int count, struct lab_moments *moments,
                      struct lab_histogram *const *histograms);

/*
 * Values of a trial that most scenes with two wanted keys measure, each with its theory.
 */
enum {
    LAB_WEIGHT_A,      /* head 0's weight of key a */
    LAB_LEAK,          /* its weight of the keys other than a and b */
    LAB_COEFFICIENT_A, /* of v_a in c */
    LAB_COEFFICIENT_B,
    LAB_ERROR, /* |c - (v_a + v_b)/2|^2 */
    LAB_PAIR_VALUES
};
/* The same over the trials with gamma > 0 alone: LAB_GIVEN_POSITIVE(LAB_ERROR). */
#define LAB_GIVEN_POSITIVE(value) ((int)LAB_PAIR_VALUES + (int)(value))

/* The first `count` of them: LAB_PAIR_VALUES, or twice as many. */
void lab_pair_observe(const struct lab_outcome *outcome, int count, double *values);
/* The mean or the variance of a value; `output` is that of its trials. */
double lab_pair_theory(const struct lab_scene *scene, const attend_theory_output *output,
                       int value, int is_variance);

#endif

/* SPDX-License-Identifier: MIT */
/* `attend lab place`: rows and figures of the heads of a layer. */
#ifndef LAB_PLACE_ROWS_H
#define LAB_PLACE_ROWS_H

#include "lab/experiments/experiment.h"
#include "lab/place/place.h"

/* ---- fragile pairs ------------------------------------------------------------- */

/*
 * The two keys of largest weight of a row, under noise in their lengths: how often they
 * change places, and how often one of them holds more than nine tenths of what both have.
 *
 * Theory is exact (T12): the share of the first key is logistic(Y), Y ~ N(s_1 - s_2,
 * T^2), T = noise sqrt(s_1^2 + s_2^2).  Measured: the keys are multiplied by 1 + noise x
 * and given to attend_forward().
 */
struct lab_pairs {
    int64_t count, d;
    const double *q; /* [count][d] */
    const double *k; /* [count][2][d] */
    double scale, noise;
    int64_t trials;
    uint64_t stream;
};

struct lab_pair {
    double margin, score_noise; /* s_1 - s_2 and T */
    double swap_theory, outside_theory;
    struct lab_moments swap, outside; /* of 0s and 1s */
};

/*
 * Fills pairs->count of them.  0, or -1 after lab_fail(); a cancelled session leaves
 * fewer trials.
 */
int lab_pairs_measure(struct lab_session *session, const struct lab_pairs *pairs,
                      struct lab_pair *to);

/* ---- rows and figures ------------------------------------------------------------ */

/* Rows have b, h and noise, which the run sets. */
extern const struct lab_experiment lab_place_tensors;

/* Points of heads seen so far. */
struct lab_place_figures {
    struct lab_figure *phase, *entropy, *window, *pairs;
    struct lab_series *spread, *condensed, *law, *usable, *leaks, *noisy, *swap;
    double keys_most, entropy_most, window_least, window_most, swap_most;
};
/* With pairs != 0 there is a figure of them. */
void lab_place_figures_open(struct lab_run *run, int pairs,
                            struct lab_place_figures *figures);
/* Draws the curves of theory over the range of the points. */
void lab_place_figures_close(struct lab_place_figures *figures);

/* A head, and which of its rows are looked at one by one. */
struct lab_place_sample {
    int64_t b, h;
    const struct lab_place_row *rows; /* [count] */
    int64_t count;
    int64_t *chosen; /* indices, in order */
    int64_t chosen_count;
};
/* Sets chosen[0 .. chosen_count - 1], at most `wanted` rows that count. */
void lab_place_choose(struct lab_place_sample *sample, int64_t wanted);

/*
 * The rows of a head; `pairs`, if not NULL, are of the chosen rows.  *head gets the
 * results.  0, or -1 after lab_fail(); nothing is emitted once the session is cancelled.
 */
int lab_place_emit(struct lab_run *run, const struct lab_place_sample *sample,
                   const struct lab_pairs *pairs, struct lab_place_figures *figures,
                   struct lab_place_head *head);

#endif

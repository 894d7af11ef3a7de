/* SPDX-License-Identifier: MIT */
/* `attend lab transfer`: its rows and figures, of synthetic heads and of tensors. */
#ifndef LAB_TRANSFER_ROWS_H
#define LAB_TRANSFER_ROWS_H

#include "lab/experiments/experiment.h"
#include "lab/place/transfer.h"

/* Synthetic heads: an experiment like others, performed by lab_perform(). */
extern const struct lab_experiment lab_transfer_synthetic;

/* Heads of tensors: rows have b, h and format, and a run's ctx is the caller's. */
extern const struct lab_experiment lab_transfer_tensors;

/* Means over heads of lab_transfer_sums, relative to the output where that is a length.
 */
struct lab_transfer_errors {
    double statistic, delta, score_noise; /* predicted */
    struct lab_estimate measured, delta_measured, score_measured;
};

/* The words of both experiments. */
#define LAB_TRANSFER_SHOWS                                                               \
    "The error that rounded keys leave in the output of a head, predicted from its "     \
    "weights and values, beside the error measured with rounded keys.  The prediction "  \
    "is of first order: it needs a score_noise well below 1."

/* Nonzero if the run's --format includes it. */
int lab_transfer_wants(const struct lab_run *run, int format);
void lab_transfer_emit(struct lab_run *run, const struct lab_setting *at,
                       const struct lab_transfer_errors *errors);

/* Predicted against measured errors, a point a head. */
struct lab_transfer_figure {
    struct lab_series *series[LAB_KEY_FORMATS];
    struct lab_figure *figure;
    double least, most;
};
void lab_transfer_figure_open(struct lab_run *run, const char *points,
                              struct lab_transfer_figure *figure);
void lab_transfer_figure_add(struct lab_transfer_figure *figure, int format,
                             const struct lab_transfer_errors *errors);
/* Draws the diagonal. */
void lab_transfer_figure_close(struct lab_transfer_figure *figure);

/*
 * Rows of head (b, h); `rows` of its rows are looked at one by one.  0, or -1 after
 * lab_fail().
 */
int lab_transfer_tensor(struct lab_run *run, int64_t b, int64_t h,
                        const struct lab_transfer_head *head, int64_t rows,
                        struct lab_transfer_figure *figure);

/* ---- synthetic heads -------------------------------------------------------------- */

/*
 * Synthetic heads.  n random keys of length sqrt(d), random values, scale 1/sqrt(d); S is
 * the spread of the scores of keys that are not wanted.
 */
enum lab_head_kind {
    LAB_HEAD_DIFFUSE,   /* random queries, S below sqrt(2 ln n) */
    LAB_HEAD_CONDENSED, /* random queries, S above it */
    LAB_HEAD_COPY,      /* q = S k_a: its score is S sqrt(d) */
    LAB_HEAD_AVERAGE,   /* q = S (k_a + k_b) / sqrt(2): theirs are near S sqrt(d/2) */
    LAB_HEAD_KINDS
};

struct lab_synthetic {
    enum lab_head_kind kind;
    int64_t n, d, rows;
    double S;
    uint64_t seed, stream;
};

/* A typical S of each kind of head: 1, 2 sqrt(2 ln n), 1.5, 2. */
double lab_synthetic_spread(enum lab_head_kind kind, double n);
/* Numbers of the tensors of a head: q, k, v in this order, [rows][d], [n][d], [n][d]. */
int64_t lab_synthetic_size(const struct lab_synthetic *head);
/* Head `number` of its seed and stream. */
void lab_synthetic_draw(const struct lab_synthetic *head, uint64_t number,
                        double *tensors);

#endif

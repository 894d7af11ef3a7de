/* SPDX-License-Identifier: MIT */
/*
 * Synthetic heads.  n random keys of length sqrt(d), random values, scale 1/sqrt(d); S is
 * the spread of the scores of keys that are not wanted.
 */
#ifndef LAB_TRANSFER_HEADS_H
#define LAB_TRANSFER_HEADS_H

#include <stdint.h>

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

/* An S that makes a head what it is called: 1, 2 sqrt(2 ln n), 1.5, 2. */
double lab_synthetic_spread(enum lab_head_kind kind, double n);
/* Numbers of the tensors of a head: q, k, v in this order, [rows][d], [n][d], [n][d]. */
int64_t lab_synthetic_size(const struct lab_synthetic *head);
/* Head `number` of its seed and stream. */
void lab_synthetic_draw(const struct lab_synthetic *head, uint64_t number,
                        double *tensors);

#endif

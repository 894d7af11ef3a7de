/* SPDX-License-Identifier: MIT */
/*
 * Claims that several sheets make, each as an error at a point of the grid: how far what
 * is claimed is from what the engine or plain linear algebra gives.  See lab_read.
 */
#ifndef LAB_CLAIMS_H
#define LAB_CLAIMS_H

#include "lab/sheets/judge.h"

#define LAB_CLAIM(name)                                                                  \
    int lab_claim_##name(const struct lab_point *point, struct lab_found *reading)

/* The first fields of a statement: its id, its line on the sheet, and what it says. */
#define LAB_SAYS(name, where, words) .id = (name), .line = (where), .says = (words)

/* The first fields of a claim: how it is read, what is free, and the scale's name. */
#define LAB_READS(reads, frees, name) .read = (reads), .free = (frees), .grows = (name)

/* The claim `measured` = `expected`. */
void lab_reading_equal(struct lab_found *reading, double measured, double expected);
/* The claim that `measured` is above, or below, `bound`. */
void lab_reading_above(struct lab_found *reading, double measured, double bound);
void lab_reading_below(struct lab_found *reading, double measured, double bound);

/* ---- weights ----------------------------------------------------------- */

LAB_CLAIM(distribution); /* weights are in 0..1 and add up to 1 */
LAB_CLAIM(definition);   /* weights are exp(s_i) / sum exp(s_j) */
LAB_CLAIM(copy);         /* c = v_j; scale = gap of the scores */
LAB_CLAIM(copy_ratio);   /* c = v_j; scale = p_j / sum of the other weights */
LAB_CLAIM(copy_aligned); /* c = v_j; q within 0.1 rad of k_j, scale = |q| */

/* ---- the query C (mu_a + mu_b) without magnitude noise ------------------- */

LAB_CLAIM(pair);         /* c = (v_a + v_b) / 2, at alpha too */
LAB_CLAIM(pair_formula); /* p_a = p_b = e^C / (n - 2 + 2 e^C) */
LAB_CLAIM(pair_half);    /* that, and p_a = 1/2 */
LAB_CLAIM(pair_scores);  /* scores are C, C, 0, at alpha too */

/* ---- the heads C mu_a and C mu_b; unscaled: mu_a and mu_b ---------------- */

LAB_CLAIM(two_heads);    /* c = (v_a + v_b) / 2, without magnitude noise */
LAB_CLAIM(two_unscaled); /* c1 = v_a and c2 = v_b, unscaled, without magnitude noise */

/* ---- magnitude noise on k_a ---------------------------------------------- */

LAB_CLAIM(noise_law);       /* Var <mu_a, k_a> = alpha + 1/2, mean 1 */
LAB_CLAIM(noise_both);      /* Var of both wanted scores is C^2 / 2 */
LAB_CLAIM(two_term);        /* p_a = e^(s_a) / (e^(s_a) + e^(s_b)) */
LAB_CLAIM(one_head_spread); /* c of one head is off (v_a + v_b) / 2 */
LAB_CLAIM(steadier);        /* heads mu_a, mu_b vary less than one head at scale C */
LAB_CLAIM(pair_leak);       /* the weight of unwanted keys is 0 */

/* ---- extraction ---------------------------------------------------------- */

LAB_CLAIM(projector);   /* A A^T s = v_a, A^T A = I, A^T B = 0 */
LAB_CLAIM(coordinates); /* A c = v_a, c the coordinates A^T v_a */

#endif

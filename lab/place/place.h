/* SPDX-License-Identifier: MIT */
/*
 * Where a head of real tensors lies on the maps of the laboratory, from the statistics of
 * its rows.
 *
 * Phase (T22).  S is the standard deviation of the scores of a row over its n keys.
 * Random scores condense on a few keys above S = sqrt(2 ln n).
 *
 * Window (T8).  C is the mean of the two largest scores above the mean of the others: the
 * scale of the query C (mu_a + mu_b) that gives such a row.  Every key is multiplied by
 * 1 + noise x, x standard normal, as `attend stats --noise` means it; then the difference
 * of the two largest scores s_1, s_2 has the standard deviation T = noise sqrt(s_1^2 +
 * s_2^2).  The isotropic noise that does the same is alpha = T^2 / (4 C^2), so the window
 * of usable scales ln n < C < 1 / (2 sqrt alpha) means C > ln n and T < 1.
 *
 * A pair is fragile where noise moves the difference of its scores by more than their
 * margin: T > s_1 - s_2, a swap in more than Phi(-1) = 0.16 of all cases (T12).
 */
#ifndef LAB_PLACE_H
#define LAB_PLACE_H

#include <stdint.h>

/* A row, as attend_stat names its statistics. */
struct lab_place_row {
    double keys, max, margin, top_weight, entropy, n_eff, raw_mean, raw_variance;
};

/* Positions of one row on the maps. */
struct lab_place_point {
    double spread, freezing;   /* S and sqrt(2 ln n) */
    double scale, scale_min;   /* C and ln n; NaN for two keys, without others */
    double score_noise, alpha; /* T, and the noise that it stands for */
    double scale_max;          /* 1 / (2 sqrt alpha) */
    double leak, leak_theory;  /* 1 - p_1 - p_2, and its prediction from C and n */
};

/* Nonzero if a row has two keys or more, and no NaN or infinity. */
int lab_place_counts(const struct lab_place_row *row);
struct lab_place_point lab_place_row(const struct lab_place_row *row, double noise);

/* Means over the rows of a head that count; of the window, over those of three keys. */
struct lab_place_head {
    int64_t rows, window_rows;
    double keys;
    struct lab_place_point mean;
    double condensed, usable, fragile; /* shares of rows */
};
struct lab_place_head lab_place_head(const struct lab_place_row *rows, int64_t count,
                                     double noise);
/* By the means: S > sqrt(2 ln n), C > ln n, T < 1. */
int lab_place_is_condensed(const struct lab_place_head *head);
int lab_place_is_sharp(const struct lab_place_head *head);
int lab_place_is_steady(const struct lab_place_head *head);

/* Entropy and sum p^2 of a row beside the means of random scores of its S and n. */
struct lab_place_law {
    double entropy, entropy_law, squares, squares_law;
};
struct lab_place_law lab_place_law(const struct lab_place_row *row);

/* ---- sampling ------------------------------------------------------------------- */

/*
 * Whether row `index` of `count` is one of the `wanted` that lie evenly among them; of
 * few rows, all are.
 */
static inline int lab_is_sampled(int64_t index, int64_t count, int64_t wanted)
{
    return wanted >= count || (index + 1) * wanted / count > index * wanted / count;
}

#endif

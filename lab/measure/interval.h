/* SPDX-License-Identifier: MIT */
/*
 * Intervals for numbers that rest on few events, where a standard error says too little.
 * Both cover what they estimate with the probability of |z| <= 4 or more: all but
 * LAB_MISS of the time.
 */
#ifndef LAB_INTERVAL_H
#define LAB_INTERVAL_H

#include <stdint.h>

/* 2 Phi(-4), both sides together. */
#define LAB_MISS 6.334248366623996e-5

struct lab_interval {
    double low, high;
};

/* Of a probability, after `events` of `trials`: Clopper and Pearson. */
struct lab_interval lab_interval_probability(int64_t events, int64_t trials);
/*
 * Of a mean of `trials` independent values within [0, 1], whatever their law, by the
 * bound of Chernoff and Hoeffding: all x with trials KL(mean, x) <= ln(2 / LAB_MISS).
 */
struct lab_interval lab_interval_mean(double mean, int64_t trials);

#endif

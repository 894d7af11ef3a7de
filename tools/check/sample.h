/* SPDX-License-Identifier: MIT */
/* Random problems over every option of attend_forward(). */
#ifndef CHECK_SAMPLE_H
#define CHECK_SAMPLE_H

#include "check/check_problem.h"

struct check_sample_options {
    int64_t max_length; /* of nq and nk */
    int64_t max_rows;   /* of nq, if not 0 */
    int64_t min_keys;   /* of nk, if not 0: then all lengths up to the largest alike */
    int64_t max_width;  /* of d and dv */
    int64_t max_heads;  /* of hkv and of the group, and of nb */
    int tame;           /* unit normal values and the default scale only */
};

/*
 * Problem `seed`.  Sizes reach from 0 to the limits, small ones more often; the
 * contents are unit normal, or, unless tame, sometimes spread over many powers of
 * two.  Scores stay in the range where the bound holds.
 */
struct check_problem check_sample(uint64_t seed,
                                  const struct check_sample_options *options);

/* A problem of the shape given, contiguous, without options; q, k, v unit normal. */
struct check_problem check_sample_shape(uint64_t seed, attend_dtype dtype, int64_t nb,
                                        int64_t hq, int64_t hkv, int64_t nq, int64_t nk,
                                        int64_t d, int64_t dv);

/*
 * Unit normal values, or these times powers of two up to 2^+-spread, rounded to
 * `dtype`, and alike along the axes that the layout broadcasts.
 */
double *check_sample_values(struct check_random *random, attend_dtype dtype,
                            const int64_t size[4], const struct check_layout *layout,
                            double spread);
/* Such q, k and v, in a problem of known sizes and layouts. */
void check_sample_inputs(struct check_problem *p, struct check_random *random,
                         double spread);

/* Add a random bias; a scale, softcap, slopes and sinks at random. */
void check_sample_bias(struct check_problem *p, struct check_random *random, int tame);
void check_sample_scores(struct check_problem *p, struct check_random *random, int tame);

/* Adds a random statistics request. */
void check_sample_stats(struct check_problem *p, struct check_random *random);

/* Random layouts for every tensor; broadcast = 0 keeps strides of 0 out. */
void check_sample_layouts(struct check_problem *p, struct check_random *random,
                          int broadcast);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * Random numbers by number: the x-th of a stream is a function of seed, stream and x
 * alone (Random123's Threefry), so who draws it, when, and on which machine is the same.
 */
#ifndef LAB_RANDOM_H
#define LAB_RANDOM_H

#include <stdint.h>

/* Words `first` .. `first + count - 1` of a stream, each uniform over 32 bits. */
void lab_random_words(uint64_t seed, uint64_t stream, uint64_t first, uint32_t *out,
                      int64_t count);

/* The same for independent standard normals; none is beyond 6.67. */
void lab_random_normals(uint64_t seed, uint64_t stream, uint64_t first, float *out,
                        int64_t count);

/* The same times `sd`. */
void lab_random_noise(uint64_t seed, uint64_t stream, uint64_t first, float sd,
                      float *out, int64_t count);

/* The name of the instruction set that the numbers are made with on this machine. */
const char *lab_random_isa(void);

#endif

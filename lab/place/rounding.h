/* SPDX-License-Identifier: MIT */
/*
 * Rounding of keys to narrow formats, as a cache would store them: to nearest, ties to
 * even, saturating.  Results are doubles with exactly the values of the format; scales
 * are kept in double.
 */
#ifndef LAB_ROUNDING_H
#define LAB_ROUNDING_H

#include <stdint.h>

/* Whole numbers -levels .. levels; NaN stays. */
double lab_round_int(double x, double levels);

/*
 * E4M3: 4 bits of exponent, 3 of fraction, no infinity, largest 448, smallest 2^-9.
 * Beyond 448 rounding saturates.
 */
#define LAB_E4M3_MAX 448.0
double lab_round_e4m3(double x);

/* bfloat16: 8 significant bits, the exponents of f32; beyond the largest, infinity. */
double lab_round_bf16(double x);

enum lab_key_format {
    LAB_KEYS_INT8, /* a scale for each key: its largest entry is 127 */
    LAB_KEYS_FP8,  /* E4M3, one scale: the head's largest entry is 448 */
    LAB_KEYS_BF16, /* no scale */
    LAB_KEY_FORMATS
};

/* "int8", "fp8", "bf16" */
extern const char *const lab_key_format_name[LAB_KEY_FORMATS];

/*
 * Rounds n keys of d entries to `rounded`.  `variance` gets the variance that rounding
 * is expected to add to each entry: a twelfth of the square of the step there, 0 where
 * the format holds the entry.  NaN and infinity stay, and count for no scale.
 */
void lab_round_keys(enum lab_key_format format, const double *k, int64_t n, int64_t d,
                    double *rounded, double *variance);

#endif

/* SPDX-License-Identifier: MIT */
/* Which rows of a head are looked at one by one. */
#ifndef LAB_SAMPLING_H
#define LAB_SAMPLING_H

#include <stdint.h>

/*
 * Whether row `index` of `count` is one of the `wanted` that lie evenly among them; of
 * few rows, all are.
 */
static inline int lab_is_sampled(int64_t index, int64_t count, int64_t wanted)
{
    return wanted >= count || (index + 1) * wanted / count > index * wanted / count;
}

#endif

/* SPDX-License-Identifier: MIT */
/* A pair of query and key as the header defines it, in double. */
#ifndef ATTEND_REF_REF_SCORE_H
#define ATTEND_REF_REF_SCORE_H

#include <stdbool.h>

#include "core/problem.h"

bool attendi_ref_sees(const struct problem *p, int64_t b, int64_t h, int64_t i,
                      int64_t j);
double attendi_ref_score(const struct problem *p, int64_t b, int64_t h, int64_t i,
                         int64_t j);
/* P of the inspection pass, from its LSE. */
double attendi_ref_weight(const struct problem *p, int64_t b, int64_t h, int64_t i,
                          int64_t j);

#endif

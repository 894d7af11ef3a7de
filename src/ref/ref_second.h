/* SPDX-License-Identifier: MIT */
/* The second pass as the header defines it, pair by pair. */
#ifndef ATTEND_REF_REF_SECOND_H
#define ATTEND_REF_REF_SECOND_H

#include <stddef.h>

#include "core/second_request.h"

size_t attendi_ref_second_scratch(const struct problem *p);
void attendi_ref_second(const struct problem *p, const struct second_item *item,
                        void *scratch);

#endif

/* SPDX-License-Identifier: MIT */
/* The inspection pass as the header defines it, pair by pair. */
#ifndef ATTEND_REF_REF_INSPECT_H
#define ATTEND_REF_REF_INSPECT_H

#include <stddef.h>

#include "core/inspect_request.h"

size_t attendi_ref_inspect_scratch(const struct problem *p);
void attendi_ref_inspect(const struct problem *p, const struct inspect_item *item,
                         void *scratch);

#endif

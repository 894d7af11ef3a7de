/* SPDX-License-Identifier: MIT */
#ifndef PAGE_ANSWERS_H
#define PAGE_ANSWERS_H

#include "lab/door/json.h"

/* The entry "parts": the parts of the exercise. */
void page_parts_put(struct lab_json *json);

#endif

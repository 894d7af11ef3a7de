/* SPDX-License-Identifier: MIT */
#ifndef PAGE_ANSWERS_H
#define PAGE_ANSWERS_H

#include "lab/door/json.h"

/* The entry "parts": what is asked for, part by part. */
void page_parts_put(struct lab_json *json);

#endif

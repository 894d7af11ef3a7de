/* SPDX-License-Identifier: MIT */
/* A solution that was read, as members of objects that the caller begins and ends. */
#ifndef LAB_OBJECTS_READING_H
#define LAB_OBJECTS_READING_H

#include "lab/door/json.h"
#include "lab/reading/reading.h"

/* A claim. */
void lab_json_claim(struct lab_json *json, const struct lab_read_claim *claim);
/* What a solution has besides its claims: letters, contradictions, points, coverage. */
void lab_json_reading(struct lab_json *json, const struct lab_reading *reading);

#endif

/* SPDX-License-Identifier: MIT */
/* Points of a solution: its claims as answers to the parts of lab/grade. */
#ifndef LAB_MARKING_H
#define LAB_MARKING_H

#include "lab/grade/grade.h"
#include "lab/reading/reading.h"
#include "lab/understanding/understanding.h"

enum { LAB_FOUND = 200 };

/* Texts of the answers that were found; "": none. */
struct lab_found_answers {
    char text[LAB_GRADE_PARTS][LAB_GRADE_TEXTS][LAB_FOUND];
};

/* Notes what the claim answers; a later answer replaces an earlier one. */
void lab_marking_note(struct lab_found_answers *found, enum lab_subject subject,
                      const struct lab_settled *settled,
                      const struct lab_understood *understood);
/* Grades them and fills in the points of the reading; 0, or -1. */
int lab_marking_grade(const struct lab_found_answers *found, struct lab_reading *reading);

#endif

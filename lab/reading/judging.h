/* SPDX-License-Identifier: MIT */
/* Verdicts of claims that were understood, conflicts between them, and points. */
#ifndef LAB_JUDGING_H
#define LAB_JUDGING_H

#include "lab/reading/reading.h"
#include "lab/understanding/understanding.h"

/* Fills in verdict, evidence, repair, exact and the numbers that decide; 0, or -1. */
int lab_judge_understood(const struct lab_exercise *exercise,
                         const struct lab_letters_known *letters,
                         const struct lab_understood *understood,
                         struct lab_read_claim *to);
/* Fills in the conflicts of a reading whose claims are judged; 0, or -1. */
int lab_reading_conflicts(struct lab_reading *reading);

#endif

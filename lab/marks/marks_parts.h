/* SPDX-License-Identifier: MIT */
/* The parts of a marked page. */
#ifndef LAB_MARKS_PARTS_H
#define LAB_MARKS_PARTS_H

#include "lab/marks/marks_sheet.h"

/* Verdicts whose notes are closed at first. */
int marks_is_quiet(enum lab_read_verdict verdict);
/* The notes of the claims from .. to - 1. */
void marks_write_notes(const struct marks_sheet *sheet, int number, int from, int to,
                       FILE *out);
/* Points, coverage, contradictions and letters. */
void marks_write_summary(const struct lab_marked *marked, int number, FILE *out);

#endif

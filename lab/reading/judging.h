/* SPDX-License-Identifier: MIT */
/* Verdicts of claims that were understood, conflicts between them, and points. */
#ifndef LAB_JUDGING_H
#define LAB_JUDGING_H

#include "lab/reading/reading.h"
#include "lab/understanding/understanding.h"

/* Queries and M of an answer with a slip, repaired; "": none. */
struct lab_meant {
    char query[LAB_HEADS][LAB_SIDE], matrix[LAB_SIDE];
};

/* Where a symbol is repaired; EXACT: in the text, and the claim is then exact. */
enum lab_symbol_where { LAB_SYMBOL_TEXT, LAB_SYMBOL_EXACT, LAB_SYMBOL_QUERY };

/* The claim that is true with one symbol for another, and the repair in words: 1, 0, or
 * -1. */
int lab_symbol_repair(const struct lab_exercise *exercise, const struct lab_claim *claim,
                      enum lab_symbol_where where, struct lab_repaired *repaired,
                      char as[120]);

/* Fills in verdict, evidence, repair, exact and the numbers that decide; 0, or -1. */
int lab_judge_understood(const struct lab_exercise *exercise,
                         const struct lab_letters_known *letters,
                         const struct lab_understood *understood,
                         struct lab_read_claim *to, struct lab_meant *meant);
/* Fills in the conflicts of a reading whose claims are judged; 0, or -1. */
int lab_reading_conflicts(struct lab_reading *reading);

#endif

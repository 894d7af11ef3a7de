/* SPDX-License-Identifier: MIT */
/* A solution given back marked, as a page: its lines, with verdicts in the margin. */
#ifndef LAB_MARKS_H
#define LAB_MARKS_H

#include <stdio.h>

#include "lab/reading/reading.h"

struct lab_marked {
    const char *name; /* of the file */
    const char *source;
    size_t size;
    struct lab_reading reading;
};

/*
 * A <section> of one solution, the `number`th of its page: summary, sheet, margin.  0, or
 * -1 for memory.
 */
int lab_marks_section(const struct lab_marked *marked, int number, FILE *out);
/* A page of its own with all of them, without script or requests. */
int lab_marks_page(const struct lab_marked *marked, int count, FILE *out);

/* The last line of a claim, which begins on claim->line. */
int lab_marks_last_line(const struct lab_marked *marked,
                        const struct lab_read_claim *claim);
/* Whether the passage of a claim is that of another claim too. */
int lab_marks_is_part(const struct lab_reading *reading,
                      const struct lab_read_claim *claim);

#endif

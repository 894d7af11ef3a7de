/* SPDX-License-Identifier: MIT */
/* Disputes between the sheets: positions, their sheets, and the deciding numbers. */
#ifndef LAB_DISPUTE_H
#define LAB_DISPUTE_H

#include "lab/sheets/sheets.h"

enum { LAB_SIDES = 3, LAB_VOICES = 3, LAB_DECIDERS = 2 };

/* A number at a point.  Of "p = q" it is p, of "p ~ q" the distance of p and q. */
struct lab_decider {
    const char *what; /* NULL: none */
    struct lab_claim claim;
    struct lab_point at; /* without its exercise */
};

/* A position stands if all statements of `decided_by` do. */
struct lab_side {
    const char *says;
    const char *decided_by[LAB_VOICES], *also[LAB_VOICES]; /* ids of statements */
    /* None: the reason is that of the first deciding statement. */
    struct lab_decider number[LAB_DECIDERS];
};

struct lab_disputed {
    const char *question;
    struct lab_side side[LAB_SIDES];
};

extern const struct lab_disputed lab_disputed[LAB_DISPUTES];

#endif

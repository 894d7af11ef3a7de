/* SPDX-License-Identifier: MIT */
/* Two queries by name or as text, "2a-b,3b", and weights as text, "3,2,1". */
#ifndef LAB_QUERIES_H
#define LAB_QUERIES_H

#include "attend/theory.h"

enum { LAB_QUERIES = 2 };

/*
 * coefficient = fixed + C * scaled, of mu_a and mu_b.  `scaled` is 0 in queries that do
 * not depend on C.
 */
struct lab_queries {
    struct {
        double fixed[2], scaled[2];
    } head[LAB_QUERIES];
    int depends_on_scale;
};

/*
 * "means": C mu_a, C mu_b; "plus-minus": C (mu_a + mu_b), C (mu_a - mu_b); "unscaled":
 * mu_a, mu_b; else two sums of terms, separated by a comma, a term being a sign, a
 * decimal number and a C, all of which may be left out, and an a or a b.  0, or -1 with
 * the reason in `why`.
 */
int lab_queries_parse(const char *text, struct lab_queries *queries, char *why,
                      unsigned long size);
attend_theory_query lab_query_at(const struct lab_queries *queries, int head, double C);

/*
 * At most `most` positive numbers with commas between, scaled to sum 1, into w.  Their
 * number, 0 for no text, -1 for another text.
 */
int lab_weights_parse(const char *text, int most, double *w);

#endif

/* SPDX-License-Identifier: MIT */
/* Encodings of positions, compared on the engine: every product is a score of it. */
#ifndef LAB_ENCODINGS_H
#define LAB_ENCODINGS_H

#include "lab/measure/session.h"

enum lab_positions { LAB_SINUSOID, LAB_ROPE, LAB_NO_POSITIONS };

enum { LAB_ENCODINGS_MAX = 1024 };

/* Space for two sets of encodings of one kind and d columns, and their products. */
struct lab_encodings {
    struct lab_session *session;
    enum lab_positions kind;
    int64_t d;
    attend_context *ctx; /* of one thread */
    double *a, *b, *dot; /* (LAB_ENCODINGS_MAX, d) twice, (LAB_ENCODINGS_MAX) */
};

/* 0, or -1 after lab_fail(); to be closed in either case. */
int lab_encodings_open(struct lab_session *session, enum lab_positions kind, int64_t d,
                       struct lab_encodings *e);
void lab_encodings_close(struct lab_encodings *e);

/*
 * Encodings of `count` <= LAB_ENCODINGS_MAX positions from `first` on into phi
 * (count, d): sinusoids, or the row 1, 0, 1, 0, ... rotated by rotary positions, so
 * that scores of rows so rotated are the products of encodings.
 */
void lab_encode(const struct lab_encodings *e, int64_t first, int64_t count, double *phi);

/*
 * dot[i] = <a[i], b[i]>, rows of d: the LSE of a query that sees one key is its score.
 * The second: <phi_t, phi_0> for `count` positions t from `first` on, into e->dot.
 */
int lab_encodings_dot(const struct lab_encodings *e, int64_t count, const double *a,
                      const double *b, double *dot);
int lab_encodings_dot_first(struct lab_encodings *e, int64_t first, int64_t count);

/*
 * The offset in 1 .. T-1 whose encoding is nearest to that of 0, by trying all, and how
 * near; -1 after lab_fail().
 */
int64_t lab_encodings_nearest(struct lab_encodings *e, int64_t T, double *distance);

/*
 * Attention on `tokens` <= LAB_POSITIONS_MAX random tokens of d columns with positions 0,
 * 1, ...: max|Att(PX) - P Att(X)|, where positions stay, and max|Att - Att at positions +
 * offset|.  0, or -1 after lab_fail().
 */
enum { LAB_POSITIONS_MAX = 256 };
int lab_positions_defects(struct lab_session *session, attend_context *ctx,
                          enum lab_positions kind, int64_t tokens, int64_t d,
                          int64_t offset, double *permuted, double *shifted);

#endif

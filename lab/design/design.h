/* SPDX-License-Identifier: MIT */
/*
 * Design of queries: from keys, wanted items and the noise, one query or several, with
 * their effect by theory and on the engine.
 */
#ifndef LAB_DESIGN_H
#define LAB_DESIGN_H

#include <stddef.h>
#include <stdint.h>

#include "attend/attend.h"
#include "lab/measure/session.h"

enum { LAB_DESIGN_ITEMS_MAX = 16 };

/* The keys with magnitude noise: the first item, the items, or all. */
enum lab_design_noisy { LAB_DESIGN_ALL, LAB_DESIGN_ITEMS, LAB_DESIGN_A };

/* Keys are means: key i is drawn as mu_i (1 + sigma z) + sqrt(alpha) N(0, I). */
struct lab_design_request {
    const double *keys; /* [n][d] */
    int64_t n, d;
    const int64_t *items;  /* m different indices, 0 .. n-1 */
    const double *weights; /* of the items, positive, sum 1; NULL: equal */
    int m;                 /* 1 .. LAB_DESIGN_ITEMS_MAX */
    int heads;             /* divides m; 0: the number of least error.  1 with weights */
    double eps;            /* leak of each head, 0 < eps < 1 */
    double tau, sigma2, alpha;
    int noisy;    /* enum lab_design_noisy: keys of magnitude noise */
    double scale; /* NaN: the smallest with leak <= eps */
    int64_t trials;
    struct lab_session session; /* its seed, threads, progress and stop */
};

/* One number: by theory and on the engine. */
struct lab_design_row {
    char quantity[32];
    int64_t item;     /* -1: of the whole */
    double predicted; /* NaN: there is no formula */
    double measured;  /* NaN: not measured */
    double se;        /* 0 without chance */
    int rare;         /* few events: to be judged by [low, high] */
    double low, high;
    int is_approximate; /* the prediction neglects the correlation of the heads */
};

enum { LAB_DESIGN_ROWS_MAX = 8 + 3 * LAB_DESIGN_ITEMS_MAX };

/* A number of heads, at the given scale or else at that of the requested leak. */
struct lab_design_choice {
    int heads;
    double scale, mse; /* mse: predicted mean squared error */
};

struct lab_design {
    int heads;
    int64_t done;       /* performed trials, at most the requested number */
    double *queries;    /* [heads][d]; freed by lab_design_free() */
    double scale;       /* of the first head: q = scale * (sum of its items, for equal
                           weights and orthonormal keys) */
    double norm;        /* of the longest query */
    const char *method; /* "every key" or "items only": which scores are prescribed */
    struct lab_design_row row[LAB_DESIGN_ROWS_MAX];
    int rows;
    /* By number of heads, for the divisors of m. */
    struct lab_design_choice choice[LAB_DESIGN_ITEMS_MAX];
    int choices;
    int is_noisy;
    int best; /* index of the choice with the least error; without noise the first */
};

/* Unit vectors of random direction, [n][d]. */
void lab_design_random_keys(uint64_t seed, int64_t n, int64_t d, double *keys);

/* EINVAL for an impossible design.  The design is to be freed in any case. */
attend_status lab_design_make(const struct lab_design_request *request,
                              struct lab_design *design, attend_error *err);
void lab_design_free(struct lab_design *design);

/* Trials of a check that takes some seconds at most. */
int64_t lab_design_trials(int64_t n, int64_t d);
/* (measured - predicted) / se; NaN without chance, and where the row is rare. */
double lab_design_z(const struct lab_design_row *row);
/* Advice on the number of heads, in one line. */
void lab_design_advice(const struct lab_design *design, char *text, size_t size);

#endif

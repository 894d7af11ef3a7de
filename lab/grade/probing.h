/* SPDX-License-Identifier: MIT */
/* How a part is judged: worlds, letters bound in them, and readings. */
#ifndef LAB_PROBING_H
#define LAB_PROBING_H

#include "lab/grade/grade.h"
#include "lab/language/expression.h"
#include "lab/sheets/exercise.h"

/* Where a claim is tested. */
struct lab_world {
    int64_t n;
    double scale; /* C, or a gap of scores, or |q| */
    double alpha, gamma, eps;
    int given_positive; /* 1: only draws with gamma > 0 */
    int number;         /* of the probe, for whatever else may differ */
};

/* Letters with room for their values. */
struct lab_letters {
    int count, numbers, matrices;
    struct lab_letter letter[40];
    double number[40];
    struct lab_value matrix[12];
};

void lab_letters_number(struct lab_letters *letters, const char *name, double value);
/* Row-major. */
void lab_letters_matrix(struct lab_letters *letters, const char *name, int rows,
                        int columns, const double *x);

/* A letter read as another: what a slip of the pen would have meant. */
struct lab_repair {
    const char *from[2], *to[2]; /* NULL: no more; to "norm": the length of `from` */
    int reversed;                /* products in the other order */
    const char *tells;
};

/* A number read as another: what a near miss has in its place. */
struct lab_near {
    const char *letter;
    double (*turn)(double value);
    const char *says;
};

/* An answered part while it is judged. */
struct lab_asked {
    const struct lab_exercise *exercise;
    const struct lab_part *part;
    struct lab_expression formula[LAB_GRADE_TEXTS];
    int choice[LAB_GRADE_TEXTS];
    const struct lab_repair *repair; /* NULL: none */
    const struct lab_near *near;     /* NULL: none */
    /* The query or queries that the part is about: the student's, or the solution's. */
    const struct lab_asked *own;
    int own_is_given;
};

/* What was found in one world. */
struct lab_found {
    double computed, claimed; /* claimed NaN: computed is a distance that should be 0 */
    double error;  /* 0 where the claim is exact; relative where numbers are compared */
    char why[240]; /* not empty: the claim makes no sense here */
};

enum lab_vary { LAB_VARY_ALPHA = 1, LAB_VARY_GAMMA = 2, LAB_VARY_EPS = 4 };
enum lab_frees {
    LAB_FREES_SCALE = 1,
    LAB_FREES_ALPHA = 2,
    LAB_FREES_EVENT = 4,
    LAB_FREES_EPS = 8 /* eps falls and n grows */
};

struct lab_probing {
    void (*bind)(const struct lab_asked *asked, const struct lab_world *world,
                 struct lab_letters *letters);
    /* 0, or -1: memory or the engine. */
    int (*read)(const struct lab_asked *asked, const struct lab_world *world,
                struct lab_found *found);
    unsigned vary, free;
    double far;        /* scale at the end of its way */
    const char *grows; /* what the scale is called; NULL: the claim has none */
    /* What the two numbers are; NULL: "computed" and "claimed", or "off by". */
    const char *measures, *against;
    int pairless; /* 1: says nothing at n = 2 */
    int number;   /* 1: the claim is a formula of one number */
    int query;    /* 1: the texts are queries */
    int alone;    /* 1: n has no part in it */
};

/*
 * The value of text `k` in the letters, after the repair; -1 with `why` set when its
 * shapes do not fit or it is not rows x columns (0: any).
 */
int lab_asked_value(const struct lab_asked *asked, int k,
                    const struct lab_letters *letters, int rows, int columns,
                    struct lab_value *value, struct lab_found *found);
/* Text `k` as a number in this world: the same with the part's own letters. */
int lab_asked_number(const struct lab_asked *asked, int k, const struct lab_world *world,
                     double *number, struct lab_found *found);
/* Text `k` as a query a mu_a + b mu_b. */
int lab_asked_query(const struct lab_asked *asked, int k, const struct lab_world *world,
                    struct lab_pair_query *query, struct lab_found *found);

/* <k, q> of d entries as the engine has it. */
int lab_engine_score(const struct lab_exercise *exercise, int d, const double *k,
                     const double *q, double *score);
/* The exercise of a world: other bases and tokens, the same engine. */
struct lab_exercise lab_world_exercise(const struct lab_asked *asked,
                                       const struct lab_world *world);
/* Where the exercise is drawn. */
struct lab_point lab_world_point(const struct lab_world *world,
                                 const struct lab_exercise *exercise);
/* The letters of questions 1c to 1e. */
void lab_bind_noise(const struct lab_asked *asked, const struct lab_world *world,
                    struct lab_letters *letters);
/* Text `k` as x v_a + y v_b; -1 with `why` set where it is none. */
int lab_asked_output(const struct lab_asked *asked, int k, const struct lab_world *world,
                     double *x, double *y, struct lab_found *found);
/*
 * Root mean square distance of the output from the average, over draws where there is
 * noise; computed is the mean weight of v_a.
 */
int lab_noisy_distance(const struct lab_asked *own, const struct lab_world *world,
                       struct lab_found *found);
double lab_distance(const double *x, const double *y, int count);
/* A distance that should be 0. */
void lab_found_distance(struct lab_found *found, double distance);

/* The claim that two numbers are equal; a claimed 0 is compared absolutely. */
void lab_found_number(struct lab_found *found, double computed, double claimed);
/* Keeps the worse of two. */
void lab_found_worse(struct lab_found *found, const struct lab_found *other);
/* 1 if two numbers differ by rounding. */
int lab_same_number(double x, double y);

/* ---- the verdict of the worlds -------------------------------------------- */

enum { LAB_PROBES = 14 };

struct lab_probe_result {
    enum lab_mark mark; /* right, limit or wrong */
    struct lab_world worst;
    struct lab_found found; /* there */
    struct lab_world last;  /* the last world on the way to a limit */
    struct lab_found found_last;
    double residual; /* largest error at the far end */
    unsigned needs;  /* of enum lab_frees */
    int probes;
    struct lab_found at[LAB_PROBES];
};

void lab_probe_world(const struct lab_asked *asked, int number, struct lab_world *world);
int lab_probe(const struct lab_asked *asked, struct lab_probe_result *result);
/* "n = 10, C = 2" of what the part depends on. */
void lab_world_words(const struct lab_asked *asked, const struct lab_world *world,
                     char *text, size_t size);

/* ---- errors that have a name ------------------------------------------------ */

/* Sets `name` of a claim that is not right, or leaves it empty.  0, or -1: memory or the
 * engine. */
int lab_name_error(const struct lab_asked *asked, const struct lab_probe_result *result,
                   char *name, size_t size);
/* Repairs to try, in order; NULL when there are no more. */
const struct lab_repair *lab_repair_of(const struct lab_part *part, int index);

/* ---- how the parts are read -------------------------------------------------- */

extern const struct lab_probing lab_probe_softmax, lab_probe_sum, lab_probe_bounds,
    lab_probe_copy_condition, lab_probe_copy_weight, lab_probe_copy_output,
    lab_probe_copy_needs, lab_probe_extract, lab_probe_coordinates, lab_probe_pair_query,
    lab_probe_pair_scores, lab_probe_pair_weight, lab_probe_pair_limit,
    lab_probe_pair_scale, lab_probe_noise_query, lab_probe_noise_scores,
    lab_probe_noise_output, lab_probe_vanishes, lab_probe_difference_variance,
    lab_probe_magnitude_scores, lab_probe_magnitude_weight, lab_probe_score_variances,
    lab_probe_closer, lab_probe_ends, lab_probe_spread, lab_probe_one_head_limit,
    lab_probe_heads_queries, lab_probe_heads_outputs, lab_probe_heads_vary,
    lab_probe_heads_correlation, lab_probe_heads_compared, lab_probe_heads_output,
    lab_probe_heads_lose, lab_probe_heads_limit, lab_probe_better, lab_probe_moved,
    lab_probe_moved_scores, lab_probe_moved_weights, lab_probe_moved_output,
    lab_probe_order, lab_probe_positions, lab_probe_sinusoids, lab_probe_positions_same,
    lab_probe_rotary, lab_probe_synthesizer, lab_probe_bottleneck;

#endif

/* SPDX-License-Identifier: MIT */
/* How a part is judged: its letters, and what the engine makes of its claims. */
#ifndef LAB_PROBING_H
#define LAB_PROBING_H

#include "lab/exercise/world.h"
#include "lab/grade/grade.h"
#include "lab/judge/limits.h"
#include "lab/language/expression.h"

/* The letters of a question. */
struct lab_topic {
    const struct lab_place *place;
    int count, all; /* letters that answers may use, then those of the judge alone */
    size_t size;    /* of the struct that they lie in */
    int (*fill)(const struct lab_point *point, void *room); /* 0, or -1 */
};

extern const struct lab_topic lab_letters_softmax, lab_letters_gap, lab_letters_copy,
    lab_letters_basis, lab_letters_pair, lab_letters_noise, lab_letters_tokens,
    lab_letters_positions, lab_letters_variants;

/* Letters with room for their values; they point into it. */
enum { LAB_LETTERS_ROOM = 3200 };
struct lab_letters {
    int count;
    struct lab_letter letter[24];
    _Alignas(double) unsigned char room[LAB_LETTERS_ROOM];
};

/* 0, or -1: memory or the engine. */
int lab_letters_bind(struct lab_letters *letters, const struct lab_topic *topic,
                     const struct lab_point *point);

/* An answered part while it is judged. */
struct lab_asked {
    const struct lab_exercise *exercise;
    const struct lab_part *part;
    struct lab_expression formula[LAB_GRADE_TEXTS];
    int choice[LAB_GRADE_TEXTS];
    /* The part of the queries that it is about: the student's, or the solution's. */
    const struct lab_asked *own;
    int own_is_given;
};

enum lab_vary { LAB_VARY_ALPHA = 1, LAB_VARY_GAMMA = 2, LAB_VARY_EPS = 4 };

/* A part at a point, and what the engine makes of it there. */
struct lab_probe {
    const struct lab_asked *asked;
    const struct lab_point *point;
    /* To be compared with the texts. */
    struct {
        double number[LAB_GRADE_TEXTS];
        double spread; /* what noise adds to the error of every number */
        struct lab_pair_weights weights[LAB_GRADE_TEXTS];
    } to;
    struct lab_finding found;
};

/* What the texts of a part claim. */
enum lab_claims {
    LAB_CLAIMS_OTHER,   /* `compute` also compares, and sets `found` */
    LAB_CLAIMS_NUMBERS, /* each a number */
    LAB_CLAIMS_OUTPUTS  /* each an output x v_a + y v_b: `weights` */
};

struct lab_probing {
    enum lab_claims claims;
    const struct lab_topic *letters;
    /* The letter that the text should equal; NULL: see `compute`. */
    const char *computed;
    /* 0, -1 for memory or the engine, or 1 with found.why for what makes no sense. */
    int (*compute)(struct lab_probe *probe);
    unsigned vary, free; /* of enum lab_vary and enum lab_free */
    double far;          /* scale at the end of its way */
    const char *grows;   /* what the scale is called; NULL: the claim has none */
    /* What the two numbers are; NULL: "computed" and "claimed", or "off by". */
    const char *measures, *against;
    int pairless; /* 1: says nothing at n = 2 */
    int number;   /* 1: the claim is a formula of one number */
    int query;    /* 1: the texts are queries */
    int alone;    /* 1: n has no part in it */
};

/* The first fields of a part, and how it is judged. */
#define LAB_ASKS(of, part, words) .question = (of), .name = (part), .asks = (words)
#define LAB_JUDGED(...)                                                                  \
    .probing = &(const struct lab_probing) { __VA_ARGS__ }

/* The parts of each group of questions. */
enum {
    LAB_PARTS_COPY = 7,
    LAB_PARTS_EXTRACT = 2,
    LAB_PARTS_PAIR = 10,
    LAB_PARTS_MAGNITUDE = 7,
    LAB_PARTS_HEADS = 9,
    LAB_PARTS_TOKENS = 11
};
extern const struct lab_part lab_parts_copy[LAB_PARTS_COPY],
    lab_parts_extract[LAB_PARTS_EXTRACT], lab_parts_pair[LAB_PARTS_PAIR],
    lab_parts_magnitude[LAB_PARTS_MAGNITUDE], lab_parts_heads[LAB_PARTS_HEADS],
    lab_parts_tokens[LAB_PARTS_TOKENS];

/* ---- texts at a point --------------------------------------------------------- */

/*
 * The value of text `k` in the letters; -1 with `why` set when its
 * shapes do not fit or it is not rows x columns (0: any).
 */
int lab_asked_value(const struct lab_asked *asked, int k,
                    const struct lab_letters *letters, int rows, int columns,
                    struct lab_value *value, struct lab_finding *found);
/* Text `k` as a number at this point: the same with the part's own letters. */
int lab_asked_number(const struct lab_asked *asked, int k, const struct lab_point *point,
                     double *number, struct lab_finding *found);
/* Text `k` as a query a mu_a + b mu_b. */
int lab_asked_query(const struct lab_asked *asked, int k, const struct lab_point *point,
                    struct lab_pair_query *query, struct lab_finding *found);

/* The same of a probe.  Text `k` as a number, and as an output x v_a + y v_b. */
int lab_probe_number(struct lab_probe *probe, int k, double *number);
int lab_probe_output(struct lab_probe *probe, int k, double *x, double *y);
/* The query that the part is about; 1 with `why` set where it makes no sense. */
int lab_own_query(struct lab_probe *probe, struct lab_pair_query *query);
/* Weights for k_a = gamma mu_a; 0, or -1. */
int lab_probe_pair(const struct lab_probe *probe, double gamma,
                   struct lab_pair_query query, struct lab_pair_weights *weights);
/* Compares the texts with what is computed of them; 0, or -1. */
int lab_probe_compare(struct lab_probe *probe);

/* Random scores of n keys and their weights: of the first key, and over all. */
struct lab_random_row {
    double n, score, exp_sum, weight, sum, least, most;
};
int lab_random_row(const struct lab_point *point, struct lab_random_row *row);
/* Tokens X, what attention makes of them, and the same of the permuted tokens P X. */
struct lab_moved_tokens {
    struct lab_world_tokens sequence;
    double moved[LAB_WORLD_TOKENS * LAB_WORLD_FEATURES];
    struct lab_world_self self, self_moved;
};
int lab_moved_tokens(const struct lab_point *point, struct lab_moved_tokens *tokens);
/* Two positions that differ from world to world, and the features of their embeddings. */
enum { LAB_POSITION_D = 4 };
double lab_position_t(const struct lab_point *point);
double lab_position_u(const struct lab_point *point);

/*
 * Root mean square distance of the output from the average, over draws where there is
 * noise; computed is the mean weight of v_a.  0, -1 or 1, as `compute`.
 */
int lab_noisy_distance(const struct lab_asked *own, const struct lab_point *point,
                       struct lab_finding *found);
/* Var s_i of a key with isotropic noise alone. */
double lab_isotropic_variance(const struct lab_point *point, struct lab_pair_query query);
/* Scores of k_a = gamma mu_a, k_b and another key. */
int lab_score_keys(const struct lab_point *point, double gamma, const double *q,
                   double *scores);
/* Parts 1c-i, vanishes, and 1c-ii, limit. */
int lab_compute_vanishes(struct lab_probe *probe);
int lab_compare_one_limit(struct lab_probe *probe);

/* ---- comparisons ---------------------------------------------------------------- */

/* The exercise of a point: other bases and tokens, the same engine. */
struct lab_exercise lab_point_exercise(const struct lab_point *point);
double lab_distance(const double *x, const double *y, int count);
/* A weight, what is wanted of it, and the distance of the output from it. */
struct lab_finding lab_found_weight(double weight, double wanted, double distance);
/* `is` is the right choice of words; it stands beside two numbers that decide. */
struct lab_finding lab_found_choice(const struct lab_probe *probe, int is,
                                    double computed, double claimed);
/* A distance that should be 0. */
void lab_found_distance(struct lab_finding *found, double distance);

/* The claim that two numbers are equal; a claimed 0 is compared absolutely. */
void lab_found_number(struct lab_finding *found, double computed, double claimed);
/* Keeps the worse of two. */
void lab_found_worse(struct lab_finding *found, const struct lab_finding *other);
/* 1 if two numbers differ by rounding. */
int lab_same_number(double x, double y);

/* ---- the verdict of the worlds -------------------------------------------- */

enum { LAB_PROBES = 14 };

struct lab_probe_result {
    enum lab_mark mark; /* right, limit or wrong */
    struct lab_point worst;
    struct lab_finding found; /* there */
    struct lab_point last;    /* the last point on the way to a limit */
    struct lab_finding found_last;
    struct lab_limit limit;
    int probes;
    struct lab_finding at[LAB_PROBES];
};

void lab_probe_world(const struct lab_asked *asked, int number, struct lab_point *point);
int lab_probe(const struct lab_asked *asked, struct lab_probe_result *result);
/* "n = 10, C = 2" of what the part depends on. */
void lab_world_words(const struct lab_asked *asked, const struct lab_point *point,
                     struct lab_text *text);

/* ---- errors that have a name ------------------------------------------------ */

/* Sets `name` of a claim that is not right, or leaves it empty.  0, or -1: memory or the
 * engine. */
int lab_name_error(const struct lab_asked *asked, const struct lab_probe_result *result,
                   char *name, size_t size);
/*
 * The first repair of a slip of this part under which it is judged better than `mark`,
 * which is then set; NULL: none.  *status is -1 for memory or the engine.
 */
const struct lab_repair *lab_find_slip(const struct lab_asked *asked, enum lab_mark *mark,
                                       int *status);

#endif

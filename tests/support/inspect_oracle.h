/* SPDX-License-Identifier: MIT */
/*
 * Requests of attend_inspect for tests: all outputs, and P by dense evaluation in double
 * with a tolerance for each element.
 */
#ifndef TESTS_INSPECT_ORACLE_H
#define TESTS_INSPECT_ORACLE_H

#include "oracle.h"

typedef struct ask {
    problem p; /* its v and outputs are not used */
    attend_inspection want;
} ask;

/* ---- rules ---------------------------------------------------------------- */

typedef enum rule_kind {
    RULE_PLAIN,
    RULE_CAUSAL,
    RULE_BOTTOM_RIGHT,
    RULE_OFFSET,
    RULE_WINDOW,
    RULE_LENGTHS,
    RULE_MASK,
    RULE_MASK_OF_KEYS,
    RULE_BIAS,
    RULE_ALIBI,
    RULE_SINKS,
    RULE_SOFTCAP,
    RULE_SCALE,
    RULE_ALL,
    RULE_KINDS
} rule_kind;

void random_mask(problem *p, uint64_t *random, int64_t rows);

/* ---- requests ------------------------------------------------------------- */

/* The LSE of every row, densely; the sink's share in it if there is one. */
void ask_lse(ask *a, int with_sink);
void ask_pooled(ask *a, int64_t block);
void ask_zoom(ask *a, int64_t i, int64_t rows, int64_t j, int64_t columns);
void ask_columns(ask *a, int64_t last);
/* `count` random probes. */
void ask_probes(ask *a, int64_t count, uint64_t seed);
/* Normal q and k under a rule, with an exact LSE; no outputs yet. */
ask ask_make(shape n, attend_dtype dtype, rule_kind kind, uint64_t seed);
void ask_free(ask *a);
/* Requests all outputs, with sizes that are not aligned to tiles and work items. */
void ask_everything(ask *a, int64_t block);

enum { ASK_OUTPUTS = 5 };

attend_tensor *ask_output(attend_inspection *want, int at);

extern const char *const output_names[ASK_OUTPUTS + 1]; /* the last: probes */

/* Poisons the outputs, which must be contiguous. */
void ask_poison(ask *a);
/* Poisons the outputs and runs; 0 on a failure. */
int ask_run(ask *a, attend_context *ctx);

/* ---- P, densely ----------------------------------------------------------- */

/* P and, in units of the arithmetic, the relative error that its score allows. */
typedef struct dense_map {
    double *p, *error; /* [nb][hq][nq][nk] */
} dense_map;

dense_map map_make(const ask *a);
void map_free(dense_map *map);

int agrees(const char *what, double got, double want, double error, int64_t b, int64_t h,
           int64_t i, int64_t j);
int probes_agree(const ask *a, const dense_map *map);
/* Compares all requested outputs with the dense P. */
int ask_agrees(ask *a, const dense_map *map);
/* Runs and compares. */
int ask_check(ask *a, attend_context *ctx);

/* ---- the same bits -------------------------------------------------------- */

typedef struct answers {
    void *bits[ASK_OUTPUTS + 1];
} answers;

answers answers_copy(ask *a);
void answers_free(answers *copy);
/* Compares the outputs present in both; reports the first difference. */
int answers_are_same(ask *a, const answers *want);
/* Whether no output was written after ask_poison(). */
int answers_are_poisoned(ask *a);

#endif

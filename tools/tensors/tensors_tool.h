/* SPDX-License-Identifier: MIT */
/*
 * Exercises in code: tensors that a student's program has written, compared with the
 * engine within the bound of docs/NUMERICS.md, and with the results of usual slips,
 * which are computed from the same inputs.
 */
#ifndef TOOLS_TENSORS_TOOL_H
#define TOOLS_TENSORS_TOOL_H

#include "attend/layer.h"
#include "check/bound.h"
#include "check/call.h"
#include "check/check_problem.h"
#include "lab/door/json_read.h"

/* ---- exercises -------------------------------------------------------------------- */

enum {
    TENSORS_TASKS = 64,
    TENSORS_WANTED = 16,
    TENSORS_WHY = 320,     /* bytes of a message */
    TENSORS_MOST = 1 << 20 /* scores of a task and numbers of a tensor, at most */
};

enum tensors_kind {
    TENSORS_ATTENTION, /* the result is the output of attention */
    TENSORS_COPY,      /* the result is a query that copies the value of one key */
    TENSORS_AVERAGE    /* the same for the mean of several */
};

/* Order of the axes in files; PACKED: the columns of all heads side by side, (b, l, hd).
 */
enum tensors_layout { TENSORS_BHLD, TENSORS_BLHD, TENSORS_PACKED };

/* Texts are those of the file. */
struct tensors_task {
    const char *name, *q, *k, *v, *mask, *out; /* mask NULL: none */
    enum tensors_kind kind;
    enum tensors_layout layout;
    int64_t heads, kv_heads; /* of PACKED */
    double scale;            /* NaN: 1/sqrt(d) */
    attend_causal causal;
    attend_layer_rotary rotary;
    double base;
    int64_t wanted[TENSORS_WANTED]; /* keys of COPY and AVERAGE */
    int wanted_count;
    double tolerance; /* of their weights */
    double points;
};

struct tensors_exercise {
    struct lab_json_tree tree;
    struct tensors_task task[TENSORS_TASKS];
    int count;
};

/*
 * Reads exercise.json: 0, or -1 with the place and the reason in why[TENSORS_WHY].  To be
 * freed in either case.
 */
int tensors_exercise_read(const char *bytes, size_t length,
                          struct tensors_exercise *exercise, char *why);
/* The exercise of a folder without a file: out.npy, and causal.npy if it is there. */
void tensors_exercise_default(int has_causal, struct tensors_exercise *exercise);
void tensors_exercise_free(struct tensors_exercise *exercise);

/* ---- inputs ----------------------------------------------------------------------- */

struct tensors_problem {
    struct check_problem p; /* in f64, q and k not rotated */
    enum tensors_layout layout;
    int rank; /* of q in its file, and of the output */
    int is_usual_scale;
    attend_layer_rotary rotary;
    double base;
    attend_dtype dtype; /* of q in its file */
};

/*
 * Reads the inputs of a task from a folder.  TOOL_OK, or another status with a message.
 * To be freed in either case.
 */
int tensors_problem_open(const char *folder, const struct tensors_task *task,
                         struct tensors_problem *problem);
void tensors_problem_free(struct tensors_problem *problem);

/* A student's tensor. */
struct tensors_given {
    int ndim;
    int64_t size[4];
    int64_t count;
    attend_dtype dtype;
    double *value; /* contiguous */
};

/* 0, or -1 with the reason in why[TENSORS_WHY].  To be freed in either case. */
int tensors_given_open(const char *folder, const char *spec, struct tensors_given *given,
                       char *why);

/* ---- results and slips ------------------------------------------------------------ */

/* The arithmetic that a result is compared with. */
struct tensors_level {
    const char *name;       /* "float32" */
    attend_dtype dtype;     /* of its numbers */
    double u, flush;        /* of sums, and its smallest numbers: docs/NUMERICS.md */
    double step;            /* rounding after every operation; 0: only that of u */
    int is_rooted;          /* sums of n terms are rounded to it, by sqrt(n) roundings */
    double largest, lowest; /* exp() is infinite above, 0 below */
};
enum { TENSORS_LEVELS = 4 };
/* The finest first. */
extern const struct tensors_level tensors_levels[TENSORS_LEVELS];

/* Conditions for a slip to differ from the right result. */
enum {
    NEEDS_HIDDEN = 1 << 0,     /* some key is hidden */
    NEEDS_CAUSAL = 1 << 1,     /* by the causal rule alone */
    NEEDS_UNEQUAL = 1 << 2,    /* nq != nk */
    NEEDS_SQUARE = 1 << 3,     /* nq == nk */
    NEEDS_HEADS = 1 << 4,      /* hq > 1 */
    NEEDS_GROUPS = 1 << 5,     /* hq > hkv > 1 */
    NEEDS_OWN_KEYS = 1 << 6,   /* hq == hkv */
    NEEDS_SAME_WIDTH = 1 << 7, /* d == dv */
    NEEDS_ROTARY = 1 << 8,
    NEEDS_PACKED = 1 << 9,       /* the layout */
    NEEDS_SPLIT = 1 << 10,       /* another layout */
    NEEDS_SCALE = 1 << 11,       /* other than 1 */
    NEEDS_USUAL_SCALE = 1 << 12, /* that of 1/sqrt(d), d > 1 */
    NEEDS_OTHER_SCALE = 1 << 13, /* given, and not 1/sqrt(d) */
    NEEDS_NO_MASK = 1 << 14,     /* no mask of a file */
    NEEDS_BATCHES = 1 << 15,     /* nb > 1 */
    NEEDS_POSITION = 1 << 16,    /* the first query is not at position 0 */
    NEEDS_MATRICES = 1 << 17,    /* nb hq > 1 */
    NEEDS_PAIRS = 1 << 18,       /* rotary positions, d > 2 */
    NEEDS_TURN = 1 << 19         /* a layout other than BHLD */
};

/* A result that differs from the right one in what is set here; all zero: the right one.
 */
struct tensors_slip {
    const char *name, *words; /* "your result is that of ..." */
    unsigned needs;
    enum tensors_scale {
        SCALE_RIGHT,
        SCALE_NONE,
        SCALE_TWICE,
        SCALE_INVERSE,
        SCALE_MODEL,
        SCALE_USUAL
    } scale;
    enum tensors_softmax {
        OVER_KEYS,
        OVER_QUERIES,
        OVER_HEADS,
        OVER_BATCHES,
        OVER_MATRIX,     /* all scores of a head */
        OVER_ALL,        /* all scores */
        QUERIES_OF_ROWS, /* exp(s_ij - m_i), divided by its sum over i */
        LOST_SUM,        /* exp(s_ij), divided by the sum of row j: keepdims is missing */
        LOST_SUM_OF_ROWS, /* the same for exp(s_ij - m_i) */
        LOST_BOTH,        /* the same for exp(s_ij - m_j) */
        NO_SOFTMAX,
        NO_SUM,      /* exponentials that are not divided by their sum */
        NO_SUBTRACT, /* overflow and underflow of exp() */
        TWICE
    } softmax;
    enum tensors_mask {
        MASK_RIGHT,
        MASK_NONE,
        MASK_INVERTED,
        MASK_TRANSPOSED,
        MASK_ADDED,  /* 0 and 1, added */
        MASK_ZEROES, /* hidden scores are 0 */
        MASK_AFTER   /* hidden weights are 0, the others as without a mask */
    } mask;
    int shift;           /* of the causal rule, in keys */
    int is_other_corner; /* top-left for bottom-right, and the reverse */
    enum tensors_swap { SWAP_NONE, SWAP_QK, SWAP_KV, SWAP_QV, V_IS_K, V_IS_ONE } swap;
    int is_repeated; /* query head h reads key head h % hkv */
    enum tensors_split {
        SPLIT_RIGHT,
        SPLIT_RAW,
        SPLIT_INTERLEAVED,
        SPLIT_AXES,
        SPLIT_NOT
    } split;
    enum tensors_merge {
        MERGE_RIGHT,
        MERGE_RAW,
        MERGE_OTHER,
        MERGE_INTERLEAVED,
        MERGE_MEAN,
        MERGE_SUM,
        MERGE_TRANSPOSED
    } merge;
    enum tensors_rotate {
        ROTATE_RIGHT,
        ROTATE_NONE,
        ROTATE_OTHER, /* pairs for halves, and the reverse */
        ROTATE_Q,
        ROTATE_K,
        ROTATE_V_TOO,
        ROTATE_BACK,
        ROTATE_WHOLE /* before heads are split */
    } rotate;
    int rotate_shift;        /* of the queries' positions */
    int rotate_zero;         /* queries are counted from 0 */
    double base_power, base; /* another base: a power of the right one, or itself */
};

extern const struct tensors_slip tensors_slips[];
extern const int tensors_slip_count;
int tensors_slip_applies(const struct tensors_problem *problem,
                         const struct tensors_slip *slip);

/* The problem of a slip: b h l d, rotated, masks expanded. */
struct tensors_variant {
    struct check_problem p;
    double *visible;            /* (nb, hq, nq, nk); NULL: all */
    attend_layer_rotary rotary; /* NONE: not rotated */
    double base;
    int is_whole;        /* rotated across heads */
    int64_t first_query; /* position of query 0 */
};
/* To be freed. */
struct tensors_variant tensors_variant_of(const struct tensors_problem *problem,
                                          const struct tensors_slip *slip);
void tensors_variant_free(struct tensors_variant *variant);
/* A new array: the axes of x (size) in another order. */
double *tensors_permuted(const double *x, const int64_t size[4], const int order[4]);

/* Error of a score: e_j of docs/NUMERICS.md, and those of a level and of rotation. */
struct tensors_errors {
    const struct tensors_variant *variant;
    const struct tensors_level *level;
    struct check_model model;
    double *q_norm, *k_norm, *frequency; /* of pairs of columns; NULL: not rotated */
};
struct tensors_errors tensors_errors_of(const struct tensors_variant *variant,
                                        const struct tensors_level *level,
                                        attend_dtype out);
void tensors_errors_free(struct tensors_errors *errors);
/* |s|, a_j, the largest score and the factor of underflow are those of bound.h. */
double tensors_error(const struct tensors_errors *errors, const int64_t at[4], double s,
                     double size, double top, double tiny);

/* A result with its bound, as it stands in a file; a negative bound: not compared. */
struct tensors_result {
    int ndim;
    int64_t size[4];
    int64_t count;
    double *value, *bound;
};
void tensors_result_free(struct tensors_result *result);

struct tensors_engine {
    attend_context *ctx;
    struct check_blocks blocks;
};

/* Value and bound of the weighted sum in (b, hq, nq, dv), of slips that the engine lacks.
 */
void tensors_weigh(const struct tensors_errors *errors, const struct tensors_slip *slip,
                   double *value, double *bound);
/* TOOL_OK, or another status with a message.  To be freed in either case. */
int tensors_evaluate(struct tensors_engine *engine, const struct tensors_problem *problem,
                     const struct tensors_slip *slip, const struct tensors_level *level,
                     attend_dtype out, struct tensors_result *result);

/* ---- verdicts ------------------------------------------------------------------- */

enum tensors_mark {
    TENSORS_RIGHT,
    TENSORS_LOOSE, /* within the bound of an arithmetic coarser than the file's; of 16
                      bits only for numbers of that format */
    TENSORS_SLIP,  /* the result of one of the usual slips */
    TENSORS_WRONG,
    TENSORS_UNREAD /* no tensor, or not of the right shape or type */
};
const char *tensors_mark_name(enum tensors_mark mark);
const char *tensors_mark_words(enum tensors_mark mark);

enum { TENSORS_NAMED = 8, TENSORS_SLIPS = 80 };

/* A slip beside the right result of a task. */
enum tensors_effect {
    TENSORS_NONE,     /* it cannot be made */
    TENSORS_DISTINCT, /* its result is another one */
    TENSORS_EQUAL     /* its result is the same on these inputs */
};

struct tensors_verdict {
    enum tensors_mark mark;
    double points;
    double difference; /* largest, to the right result; NaN: there is none */
    double bound;      /* at the number that comes closest to it, or exceeds it most */
    const char *level; /* name of the arithmetic; NULL: none */
    const char *slip[TENSORS_NAMED]; /* names; "too-short" and the like for queries */
    int slips;
    double slip_difference;
    char message[1000];
    enum tensors_effect effect[TENSORS_SLIPS]; /* of each slip */
};

/* TOOL_OK, or another status with a message. */
int tensors_judge(struct tensors_engine *engine, const char *inputs, const char *folder,
                  const struct tensors_task *task, struct tensors_verdict *verdict);
/* The same for queries that copy or average. */
int tensors_judge_query(struct tensors_engine *engine, const char *inputs,
                        const char *folder, const struct tensors_task *task,
                        struct tensors_verdict *verdict);

/* ---- an exercise to start from ---------------------------------------------------- */

/* Writes exercise.json and its inputs to a new folder; TOOL_OK or not. */
int tensors_make(const char *folder, uint64_t seed);

#endif

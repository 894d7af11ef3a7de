/* SPDX-License-Identifier: MIT */
/*
 * A problem for attend_forward() as plain values, with the strides separate, in its
 * layouts.  Laws edit contents or layouts and run both problems.
 */
#ifndef CHECK_PROBLEM_H
#define CHECK_PROBLEM_H

#include <stddef.h>
#include <stdint.h>

#include "attend/stats.h"
#include "check/numbers.h"

/* Tensors of a problem, inputs first. */
enum {
    CHECK_Q,
    CHECK_K,
    CHECK_V,
    CHECK_MASK,
    CHECK_BIAS,
    CHECK_INPUTS,
    CHECK_OUT = CHECK_INPUTS,
    CHECK_LSE,
    CHECK_WEIGHTS,
    CHECK_ROWS,
    CHECK_TOP_WEIGHTS,
    CHECK_DISTANCES,
    CHECK_CLASS_MASS,
    CHECK_TENSORS
};

/*
 * The layout of a tensor in memory.  All zero: contiguous in the order b, h, l, d,
 * followed by an unreadable page.
 */
struct check_layout {
    unsigned char order;     /* 0: b h l d, 1: b l h d, 2: b h d l, 3: d l h b */
    unsigned char skip[4];   /* elements left out between neighbours on each axis */
    unsigned char pad;       /* elements left out after the innermost axis */
    unsigned char negative;  /* bit a: axis a runs backwards */
    unsigned char broadcast; /* bit a: axis a has stride 0; inputs only */
    unsigned char at_start;  /* begins right after an unreadable page instead */
};

/* The requested statistics; 0: not requested. */
struct check_request {
    attend_dtype dtype;
    int columns;
    attend_stat column[ATTEND_STAT_COUNT];
    int top, bins, class_count;
    int32_t *classes; /* [nb][nk] or NULL */
};

struct check_problem {
    uint64_t seed; /* for messages */
    attend_dtype dtype, out_dtype, bias_dtype;
    int64_t nb, hq, hkv, nq, nk, d, dv;
    /*
     * Contiguous b h l d, representable in their dtype.  A mask or bias is of
     * (nb or 1, hq or 1, nq or 1, nk or 1), or NULL.
     */
    union {
        struct {
            double *q, *k, *v, *mask, *bias;
        };
        double *input[CHECK_INPUTS];
    };
    int64_t mask_size[4], bias_size[4];
    int scale_is_set;
    double scale, softcap;
    attend_causal causal;
    int64_t *causal_offset; /* [nb] or NULL */
    int64_t window_left, window_right;
    int64_t *key_lengths;  /* [nb] or NULL */
    double *alibi, *sinks; /* [hq] or NULL */
    int wants_lse, wants_weights;
    struct check_request stats;
    struct check_layout layout[CHECK_TENSORS];
};

/* Shape and dtype of tensor `which` (a CHECK_ name). */
void check_tensor_shape(const struct check_problem *p, int which, int64_t size[4]);
attend_dtype check_tensor_dtype(const struct check_problem *p, int which);
int64_t check_count(const int64_t size[4]);
/* Whether output `which` is requested. */
int check_wants(const struct check_problem *p, int which);

double check_scale(const struct check_problem *p);
int64_t check_position(const struct check_problem *p, int64_t b, int64_t i);
/* Whether row (b, h, i) sees a key; a bias of -inf does not hide it. */
int check_sees(const struct check_problem *p, int64_t b, int64_t h, int64_t i, int64_t j);
/* Row i of batch b sees keys *first .. *end - 1 at most, mask aside; 0 if none. */
int check_key_range(const struct check_problem *p, int64_t b, int64_t i, int64_t *first,
                    int64_t *end);
/* Whether a row sees keys, mask aside, of more than one split of `keys` keys. */
int check_spans(const struct check_problem *p, int64_t keys);
/*
 * The key from which ALiBi counts: the last (first, for a negative slope) that the row
 * sees by causal rule, window and key length; the row's position if there is none.
 */
int64_t check_anchor(const struct check_problem *p, int64_t b, int64_t h, int64_t i);
/* An element of a mask or bias of `size`, broadcast. */
double check_broadcast(const double *values, const int64_t size[4], int64_t b, int64_t h,
                       int64_t i, int64_t j);

/* Copy the first slice along every axis that `layout` broadcasts. */
void check_repeat(double *values, const int64_t size[4],
                  const struct check_layout *layout);

void check_problem_free(struct check_problem *p);
/* A deep copy; the caller frees it, as with all that return a problem. */
struct check_problem check_problem_copy(const struct check_problem *p);
/*
 * The problem over keys index[0 .. n-1] of p, in that order: K, V, mask and bias
 * follow; causal offsets, windows, key lengths and ALiBi are left to the caller.
 */
struct check_problem check_problem_keys(const struct check_problem *p,
                                        const int64_t *index, int64_t n);
/* The same over keys from .. end - 1. */
struct check_problem check_problem_range(const struct check_problem *p, int64_t from,
                                         int64_t end);
/* Batch b with the `hq` query heads from h and the key/value heads they read, alone. */
struct check_problem check_problem_heads(const struct check_problem *p, int64_t b,
                                         int64_t h, int64_t hq);
/* Replace the mask by one of the full shape, or (1, 1, 1, nk) where there was none. */
void check_expand_mask(struct check_problem *p);
/* Express top-left and bottom-right as an offset, which does not depend on nk. */
void check_causal_to_offset(struct check_problem *p);
/* Remove all that depends on a key's index: causal rule, window, key lengths, ALiBi. */
void check_drop_positions(struct check_problem *p);
/* Ask for no statistics. */
void check_drop_stats(struct check_problem *p);
/* Give every tensor the plain layout. */
void check_plain_layouts(struct check_problem *p);

/* Describes everything except the contents in one line. */
void check_describe(const struct check_problem *p, char *text, size_t size);

#endif

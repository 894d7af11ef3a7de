/* SPDX-License-Identifier: MIT */
/*
 * The memory of a call's operands: no output overlaps an input or another output.
 * Addresses are compared and never read, so memory of a device is checked too.
 */
#ifndef ATTEND_CORE_OPERANDS_H
#define ATTEND_CORE_OPERANDS_H

#include <stdbool.h>

#include "attend/attend.h"

struct operand {
    const char *name;
    bool is_output;
    uintptr_t data, low, high;    /* the first, lowest and highest byte */
    size_t element;               /* bytes */
    const int64_t *size, *stride; /* of the caller's view; NULL: contiguous */
};

/* Above the number of operands of any call. */
enum { OPERANDS_MOST = 24 };

struct problem;

/* Starts from count = 0.  Refers to the caller's views, which must outlive it. */
struct operands {
    int count;
    struct operand at[OPERANDS_MOST];
};

/* Adds a validated view; an empty view is ignored. */
void attendi_add_input(struct operands *all, const char *name, const attend_view *view);
void attendi_add_output(struct operands *all, const char *name,
                        const attend_tensor *tensor);
/* The same for `count` contiguous elements; `data` may be NULL. */
void attendi_add_input_array(struct operands *all, const char *name, const void *data,
                             int64_t count, size_t element);
void attendi_add_output_array(struct operands *all, const char *name, const void *data,
                              int64_t count, size_t element);

/* The inputs of a problem: tensors, and the arrays of its rule. */
void attendi_problem_add_inputs(const struct problem *p, struct operands *all);
/* The outputs of a statistics request, and its classes. */
void attendi_stats_add_operands(const struct problem *p, struct operands *all);

/*
 * EINVAL for an output that certainly overlaps another operand: the first, lowest or
 * highest byte of one is a byte of an element of the other.  Exact for tensors without
 * gaps.  Tensors that interleave are accepted.
 */
attend_status attendi_operands_check(const struct operands *all, attend_error *err);

/* The same for one more input, parts[index].field, without adding it. */
attend_status attendi_part_check(const struct operands *all, int64_t index,
                                 const char *field, const attend_view *view,
                                 attend_error *err);

/*
 * Whether output and view are the same tensor (data, dtype, strides), for calls in place.
 */
bool attendi_is_same_tensor(const attend_tensor *tensor, const attend_view *view);

/* EINVAL for fewer parts than `least`, or if `parts` is NULL. */
attend_status attendi_parts_check(const void *parts, int64_t count, int64_t least,
                                  attend_error *err);

/* EINVAL unless `data` is aligned; NULL is valid. */
attend_status attendi_array_check(const char *name, const void *data, size_t alignment,
                                  attend_error *err);

#endif

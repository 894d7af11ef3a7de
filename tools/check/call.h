/* SPDX-License-Identifier: MIT */
/*
 * Runs a problem through attend_forward() in memory that detects stray accesses: inputs
 * end at (or begin right after) an unreadable page and have NaN between their elements;
 * outputs are poisoned before the call, and memory between and around their elements is
 * examined after it.
 */
#ifndef CHECK_CALL_H
#define CHECK_CALL_H

#include "check/check_problem.h"

/*
 * One block per tensor and array of a problem, reused from call to call.
 * `exact` takes them from malloc() at their exact size instead, for a sanitizer
 * to watch.  Start from zero otherwise; release with check_blocks_free().
 */
enum { CHECK_BLOCKS = CHECK_TENSORS + 6 };
struct check_blocks {
    int exact;
    struct {
        unsigned char *base; /* `room` usable bytes between two unreadable pages */
        size_t room;
    } block[CHECK_BLOCKS];
    attend_rule rule; /* of the problem that was placed last */
    attend_io io;     /* its inputs; no outputs */
    /* Replaces attend_forward() if the call reads copies; NULL: it reads these blocks. */
    attend_status (*forward)(struct check_blocks *blocks, attend_context *ctx,
                             const attend_rule *rule, const attend_io *io,
                             attend_error *err);
};
void check_blocks_free(struct check_blocks *blocks);
/* Whether this system has unreadable pages: WebAssembly has none. */
int check_has_guards(void);

/*
 * Contiguous values, converted exactly; NULL if not requested.  In the order of the
 * tensors from CHECK_OUT; top_keys belong to top_weights.
 */
enum { CHECK_TOP_KEYS = CHECK_TENSORS - CHECK_OUT, CHECK_OUTPUTS };
struct check_outputs {
    union {
        struct {
            double *out, *lse, *weights, *rows, *top_weights, *distances, *class_mass;
            double *top_keys;
        };
        double *values[CHECK_OUTPUTS];
    };
};

extern const char *const check_output_names[CHECK_OUTPUTS];
/* The tensor with the shape of an output. */
int check_output_shape(int output);
void check_outputs_free(struct check_outputs *outputs);

/*
 * Returns 1 and outputs that the caller frees, or 0 and the reason: the call
 * failed, or it wrote outside its outputs.
 */
int check_call(struct check_blocks *blocks, attend_context *ctx,
               const struct check_problem *p, struct check_outputs *outputs, char *reason,
               size_t reason_size);

/* The same in two steps, for several calls of a problem that is placed once. */
void check_place(struct check_blocks *blocks, const struct check_problem *p);
int check_call_placed(struct check_blocks *blocks, attend_context *ctx,
                      const struct check_problem *p, struct check_outputs *outputs,
                      char *reason, size_t reason_size);

/*
 * From now on a stray access ends the process with status 1 and one line on standard
 * error that names the running problem.
 */
void check_report_faults(void);

#endif

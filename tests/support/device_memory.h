/* SPDX-License-Identifier: MIT */
/* Tensors in the memory of a GPU between guards, and the driver functions for tests. */
#ifndef TESTS_DEVICE_MEMORY_H
#define TESTS_DEVICE_MEMORY_H

#include "check/call.h"
#include "problems.h"
#include "test.h"

#include <stdint.h>

struct test_driver {
    int (*allocate)(uintptr_t *memory, size_t size);
    int (*release)(uintptr_t memory);
    int (*copy_in)(uintptr_t to, const void *from, size_t size);
    int (*copy_out)(void *to, uintptr_t from, size_t size);
    int (*retain)(void **ctx, int device);
    int (*set_current)(void *ctx);
    int (*stream_create)(void **stream, unsigned flags);
    int (*capture_begin)(void *stream, int mode);
    int (*capture_end)(void *stream, void **graph);
    int (*instantiate)(void **exec, void *graph, unsigned long long flags);
    int (*graph_launch)(void *exec, void *stream);
    int (*stream_wait)(void *stream);
};
/* The driver's functions, once it is open. */
extern struct test_driver driver;
/* 0 without a GPU; ends the program where the GPU cannot be used. */
int open_driver(void);

/* The list of GPUs, or the reason why there is none. */
const char *why_not(void);

/* A test that needs a GPU. */
#define DEVICE_TEST(name)                                                                \
    static void name##_there(void);                                                      \
    TEST(name)                                                                           \
    {                                                                                    \
        if (!device_runs())                                                              \
            SKIP("no GPU here: %s", why_not());                                          \
        name##_there();                                                                  \
    }                                                                                    \
    static void name##_there(void)

/* The number of problems: `all` times the scale of the tests. */
int problems(int all);
/*
 * The number of repetitions: `all` times the scale, or 2 on the emulator, which has no
 * races.
 */
int repetitions(int all);

enum { GUARD = 4096 };

/* Memory of the device between guards, filled with `fill`. */
uintptr_t device_block(size_t size, int fill);
void device_free(uintptr_t block);
int guards_hold(uintptr_t block, size_t size, int fill);

/*
 * attend_forward() on copies of the blocks in the memory of a GPU, with the same
 * alignment up to 256 bytes; `forward` of struct check_blocks.  Also fails if the call
 * wrote outside of a block.
 */
attend_status device_forward(struct check_blocks *blocks, attend_context *ctx,
                             const attend_rule *rule, const attend_io *io,
                             attend_error *err);

/* bf16, random; outputs between guards of 0xff. */
struct device_problem {
    int64_t nb, hq, hkv, nq, nk, d;
    attend_rule rule;
    attend_io io;
    uintptr_t q, k, v, out, lse;
    size_t out_size, lse_size;
};
struct device_problem device_problem(int64_t nb, int64_t hq, int64_t hkv, int64_t nq,
                                     int64_t nk, int64_t d);
void free_problem(struct device_problem *p);
attend_context *device_context(attend_order order);
/* attend_forward() to its end; 0 after a reported failure. */
int device_run(attend_context *ctx, const attend_rule *rule, const attend_io *io);
/* O and LSE one after the other. */
unsigned char *results(const struct device_problem *p);

#endif

/* SPDX-License-Identifier: MIT */
/* Copies tensors in host memory to the device and back. */
#ifndef ATTEND_CUDA_STAGING_H
#define ATTEND_CUDA_STAGING_H

#include "cuda/host/device.h"

enum { STAGED_MOST = 40 };

/* A range of host memory, and its offset `at` in the staging memory. */
struct staged_span {
    void *host;
    size_t size, at;
    bool is_output, copy_in;
};

struct staging {
    struct staged_span span[STAGED_MOST];
    int count;
    size_t total;
};

/* Records to combine: `count` per row; record x starts at split start[x]. */
struct record_list {
    attend_tensor data; /* (nb, hq, nq, count (dv + 2)) */
    const int64_t *start;
    int64_t count;
};

/*
 * Copies everything that `p` and `records` point to to the device, and redirects their
 * pointers.  `records` may be NULL.
 */
attend_status attendi_stage_in(struct staging *s, struct cuda_device *d,
                               struct problem *p, struct record_list *records,
                               attend_error *err);
/* Copies the outputs back and waits. */
attend_status attendi_stage_out(const struct staging *s, struct cuda_device *d,
                                attend_error *err);

#endif

/* SPDX-License-Identifier: MIT */
/* Tensors in host memory for a problem that is computed on a device. */
#ifndef ATTEND_CUDA_STAGING_H
#define ATTEND_CUDA_STAGING_H

#include "cuda/host/device.h"

enum { STAGED_MOST = 40 };

/* A stretch of host memory and where it lies on the device. */
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

/* Records of rows that are to be combined: `count` for each, from splits start[] on. */
struct record_list {
    attend_tensor data; /* (nb, hq, nq, count (dv + 2)) */
    const int64_t *start;
    int64_t count;
};

/*
 * Copies all that `p` points at to the device and makes it point there, and so with
 * `records`; NULL: none.
 */
attend_status attendi_stage_in(struct staging *s, struct cuda_device *d,
                               struct problem *p, struct record_list *records,
                               attend_error *err);
/* Copies the outputs back, and waits for them. */
attend_status attendi_stage_out(const struct staging *s, struct cuda_device *d,
                                attend_error *err);

#endif

/* SPDX-License-Identifier: MIT */
/* `attend bench --mpi`: attention over the ranks of a launcher, and its traffic. */
#ifndef BENCH_BENCH_RANKS_H
#define BENCH_BENCH_RANKS_H

#include "attend/attend.h"

struct bench_ranks_request {
    const char *pattern; /* of cases */
    attend_dtype dtype;  /* 0: each case's own */
    int as_json;
    const char *trace; /* FILE: this rank's times are written to FILE.RANK; NULL: not */
};

/* TOOL_OK, or another status with a message; rank 0 prints. */
int bench_ranks(attend_context *ctx, const struct bench_ranks_request *request);

#endif

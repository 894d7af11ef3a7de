/* SPDX-License-Identifier: MIT */
/* `attend bench --device`: cases on a GPU, timed on its stream. */
#ifndef GPU_GPU_BENCH_H
#define GPU_GPU_BENCH_H

#include "bench/bench_case.h"

struct bench_device_request {
    const char *pattern, *device;
    attend_dtype dtype; /* 0: bf16 and f16 */
    double seconds;
    attend_order order;
    int as_json, only_list;
};

/* Whether the pattern matches a case. */
int bench_device_has(const char *pattern);

/* Prints a line for each case and type.  TOOL_OK, or another status with a message. */
int bench_device(const struct bench_device_request *request);

#endif

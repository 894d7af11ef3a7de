/* SPDX-License-Identifier: MIT */
/* Output of `attend bench`, as text and as JSON. */
#ifndef TOOLS_BENCH_REPORT_H
#define TOOLS_BENCH_REPORT_H

#include "bench/timing.h"

/* The line above the results, and their common settings. */
void bench_print_head(const attend_context *ctx);
void bench_print_result(const struct bench_case *shape, attend_dtype dtype,
                        const struct bench_result *result);
/* These return the status to exit with. */
int bench_print_result_json(const attend_context *ctx, const struct bench_case *shape,
                            attend_dtype dtype, const struct bench_result *result);

/* A number, or a dash where there is none. */
void bench_print_number(int width, int digits, double value);

void bench_print_case_head(void);
void bench_print_case(const struct bench_case *shape);
int bench_print_case_json(const struct bench_case *shape);

#endif

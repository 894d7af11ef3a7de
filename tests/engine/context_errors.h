/* SPDX-License-Identifier: MIT */
/* Wrong inputs of attend_forward, one at a time, and what the error must name. */
#ifndef TESTS_CONTEXT_ERRORS_H
#define TESTS_CONTEXT_ERRORS_H

#include "support/problems.h"

/* Expects no context of these options, and an error that names both words. */
void expect_no_context(const attend_options *options, attend_status want,
                       const char *field, const char *text);
void check_wrong_fields(attend_context *ctx);
void check_wrong_combinations(attend_context *ctx);

#endif

/* SPDX-License-Identifier: MIT */
/* Invalid inputs of attend_forward, one at a time, and the words of their errors. */
#ifndef TESTS_CONTEXT_ERRORS_H
#define TESTS_CONTEXT_ERRORS_H

#include "support/problems.h"

/* Expects that no context is created, with both words in the message. */
void expect_no_context(const attend_options *options, attend_status want,
                       const char *field, const char *text);
void check_wrong_fields(attend_context *ctx);
void check_wrong_combinations(attend_context *ctx);

#endif

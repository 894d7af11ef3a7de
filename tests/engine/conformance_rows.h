/* SPDX-License-Identifier: MIT */
/* The rows of test_conformance.c, one function each. */
#ifndef TESTS_CONFORMANCE_ROWS_H
#define TESTS_CONFORMANCE_ROWS_H

#include "support/oracle.h"

typedef void conformance_row(attend_context *ctx, attend_dtype dtype);

#define ROW(number, name, ...) conformance_row row_##number##_##name;
#define INSTEAD ROW
#include "conformance.inc"
#undef INSTEAD
#undef ROW

#endif

/* SPDX-License-Identifier: MIT */
/* Small words every part uses. */
#ifndef ATTEND_BASE_BASE_H
#define ATTEND_BASE_BASE_H

#include <stddef.h>
#include <stdint.h>

#define ARRAY_LEN(a) (sizeof(a) / sizeof((a)[0]))

/* Scratch and its pieces start at a cache line, which is also the widest vector. */
#define ATTENDI_ALIGN 64

static inline int64_t min_i64(int64_t a, int64_t b) { return a < b ? a : b; }
static inline int64_t max_i64(int64_t a, int64_t b) { return a > b ? a : b; }
static inline int64_t ceil_div_i64(int64_t a, int64_t b) { return a / b + (a % b != 0); }

#endif

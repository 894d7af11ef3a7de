/* SPDX-License-Identifier: MIT */
/* An allocator for tests that counts allocations and fails on request. */
#ifndef TESTS_COUNTING_H
#define TESTS_COUNTING_H

#include <attend/attend.h>

#include <stdlib.h>
#include <string.h>

enum { BLOCKS_MAX = 64 };

/* Fails allocation number `fail_at`, counted from 0. */
typedef struct counting {
    void *block[BLOCKS_MAX];
    int live, calls, refused, misused;
    int fail_at; /* -1: never */
    int sticky;  /* refuse every later one too */
} counting;

attend_options counting_options(counting *c, const char *isa, int threads);

#endif

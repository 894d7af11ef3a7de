/* SPDX-License-Identifier: MIT */
/* A problem in shards of its keys, computed separately and combined. */
#ifndef TESTS_SHARDING_H
#define TESTS_SHARDING_H

#include "problems.h"

enum { SHARDS_MAX = 16 };

int64_t random_below(uint64_t *state, int64_t n);

/* Shards in the order in which they are combined. */
typedef struct sharding {
    int64_t count;
    attend_partials parts[SHARDS_MAX];
} sharding;

void sharding_free(sharding *s);
/* Keys first .. first + keys - 1 of a problem, with room for their records. */
attend_partials shard_make(const problem *p, int64_t first, int64_t keys, int reduce);
/* Random shards, some of them empty, in a random order. */
sharding sharding_make(const problem *p, uint64_t *state);
/* The rule and the inputs of a shard. */
attend_rule shard_rule(const problem *p, const attend_partials *part);
attend_io shard_io(const problem *p, const attend_partials *part);
int shard_run(const problem *p, attend_context *ctx, const attend_partials *part);
/* Combines into the outputs of the problem, poisoned before. */
int sharding_combine(const problem *p, attend_context *ctx, const sharding *s);
int sharding_run(const problem *p, attend_context *ctx, const sharding *s);
/*
 * Whether an output has the bits in `want`, or NaN where `want` has NaN; `within` > 0:
 * whether it is within that distance, relative to 1 + |want|.
 */
int same_or_near(const attend_tensor *got, const void *want, double within);
/* Tolerance of a combined result: `ref` rounds its records. */
double nearness(const problem *p, const attend_context *ctx);
/* Whether combined shards give the result of one call over all keys. */
int sharding_is_whole(const problem *p, attend_context *ctx, const sharding *s,
                      const result *whole);

#endif

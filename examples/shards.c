/* SPDX-License-Identifier: MIT */
/*
 * One query of a long sequence whose keys are on several machines: each computes the
 * partials of its shard, a few kilobytes, and combined they have the bits of one call
 * over all keys.  Here the machines take turns.
 */
#include <attend/attend.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { HEADS = 4, NK = 10000, D = 32, MACHINES = 3, RECORD = D + 2, RECORDS_MAX = 16 };

static float q[HEADS][D], k[HEADS][NK][D], v[HEADS][NK][D];
static float records[MACHINES][HEADS][RECORDS_MAX * RECORD];

/* Query and keys first .. first + keys - 1 of every head. */
static attend_io inputs(int64_t first, int64_t keys)
{
    attend_io io = attend_io_default();

    io.q = attend_view_dense(q, ATTEND_F32, 1, HEADS, 1, D);
    io.k = (attend_view){k[0][first], ATTEND_F32, {1, HEADS, keys, D}, {0, NK * D, D, 1}};
    io.v = (attend_view){v[0][first], ATTEND_F32, {1, HEADS, keys, D}, {0, NK * D, D, 1}};
    return io;
}

/* One machine's part: whole splits of keys, except at the end of the sequence. */
static attend_status shard(attend_context *ctx, const attend_rule *rule, int machine,
                           attend_partials *part, attend_error *err)
{
    const int64_t splits = (NK + ATTEND_SPLIT_KEYS - 1) / ATTEND_SPLIT_KEYS;
    const int64_t first = machine * splits / MACHINES * ATTEND_SPLIT_KEYS;
    const int64_t next = (machine + 1) * splits / MACHINES * ATTEND_SPLIT_KEYS;

    *part = attend_partials_default();
    part->first_key = first;
    part->keys = (next < NK ? next : NK) - first;
    part->all_keys = NK;
    part->reduce = 1;
    const int64_t columns = RECORD * attend_partials_records(first, part->keys, 1);
    part->data = (attend_tensor){records[machine],
                                 ATTEND_F32,
                                 {1, HEADS, 1, columns},
                                 {0, RECORDS_MAX * RECORD, 0, 1}};
    const attend_io io = inputs(first, part->keys);
    printf("machine %d: keys %lld to %lld, %lld bytes for each head\n", machine,
           (long long)first, (long long)(first + part->keys - 1),
           (long long)(columns * (int64_t)sizeof(float)));
    return attend_forward_partials(ctx, rule, &io, part, err);
}

static attend_status run(attend_context *ctx, float *combined, float *whole,
                         attend_error *err)
{
    const attend_tensor out = {combined, ATTEND_F32, {1, HEADS, 1, D}, {0, D, 0, 1}};
    attend_rule rule = attend_rule_default();
    attend_partials parts[MACHINES];
    attend_status status = ATTEND_OK;

    rule.causal = ATTEND_CAUSAL_BOTTOM_RIGHT; /* the query is the last of the sequence */
    for (int machine = 0; machine < MACHINES && status == ATTEND_OK; machine++)
        status = shard(ctx, &rule, machine, &parts[machine], err);
    if (status == ATTEND_OK)
        status = attend_combine(ctx, &rule, parts, MACHINES, &out, NULL, err);
    if (status != ATTEND_OK)
        return status;
    attend_io io = inputs(0, NK);
    io.out = out;
    io.out.data = whole;
    return attend_forward(ctx, &rule, &io, err);
}

int main(void)
{
    static float combined[HEADS * D], whole[HEADS * D];

    for (int h = 0; h < HEADS; h++)
        for (int c = 0; c < D; c++) {
            q[h][c] = (float)cos(1.0 + 5 * h + 3 * c);
            for (int j = 0; j < NK; j++) {
                k[h][j][c] = (float)sin(2.0 + h + 7 * j + 3 * c);
                v[h][j][c] = (float)sin(3.0 + h + 11 * j + c);
            }
        }

    attend_context *ctx = NULL;
    attend_error err;
    if (attend_context_create(&ctx, NULL, &err) != ATTEND_OK ||
        run(ctx, combined, whole, &err) != ATTEND_OK) {
        fprintf(stderr, "shards: %s\n", err.message);
        attend_context_destroy(ctx);
        return 1;
    }
    const int is_ref = strcmp(attend_context_isa(ctx), "ref") == 0;
    attend_context_destroy(ctx);
    const int same = memcmp(combined, whole, sizeof whole) == 0;
    printf("combined: %s bits of one call over all keys\n", same ? "the" : "not the");
    return !same && !is_ref; /* `ref` promises no bits */
}

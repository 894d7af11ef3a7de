/* SPDX-License-Identifier: MIT */
/* attend_forward_partials and attend_combine: refusals, memory. */
#define _GNU_SOURCE
#include "support/counting.h"
#include "support/sharding.h"

enum { S = ATTEND_SPLIT_KEYS, NK = 3000, SHARDS = 3, COLUMNS = 3 + 2 };

/* Three shards of one problem, computed. */
typedef struct request {
    problem p;
    sharding s;
    attend_rule rule; /* of shard 1 */
    attend_io io;
    attend_partials part;
    const attend_partials *parts;
    int64_t count;
    attend_tensor out, lse;
} request;

static request request_make(attend_context *ctx, attend_dtype dtype)
{
    request r = {.p = problem_make((shape){1, 2, 1, 4, NK, 4, 3}, dtype, 1),
                 .count = SHARDS};

    r.p.io.weights.data = NULL;
    r.s = (sharding){.count = SHARDS,
                     .parts = {shard_make(&r.p, 2 * S, NK - 2 * S, 0),
                               shard_make(&r.p, S, S, 1), shard_make(&r.p, 0, S, 0)}};
    for (int x = 0; x < SHARDS; x++)
        shard_run(&r.p, ctx, &r.s.parts[x]);
    r.part = r.s.parts[1];
    r.rule = shard_rule(&r.p, &r.part);
    r.io = shard_io(&r.p, &r.part);
    r.out = r.p.io.out;
    r.lse = r.p.io.lse;
    poison(&r.out);
    poison(&r.lse);
    return r;
}

static void request_free(request *r)
{
    sharding_free(&r->s);
    problem_free(&r->p);
}

static int all_ones(const attend_tensor *tensor)
{
    const unsigned char *const bytes = tensor->data;

    for (size_t at = 0; at < bytes_of(tensor->size, tensor->dtype); at++)
        if (bytes[at] != 0xff)
            return 0;
    return 1;
}

/* ---- refusals ------------------------------------------------------------ */

/* One wrong thing each; what the message must name. */
typedef struct refusal {
    void (*spoil)(request *r);
    const char *field, *value;
} refusal;

static const int64_t lengths_beyond[] = {NK + 1};

#define SPOIL(name, statement)                                                           \
    static void name(request *r) { statement; }
SPOIL(part_size, r->part.struct_size = 8)
SPOIL(part_first, r->part.first_key = 1000)
SPOIL(part_first_below, r->part.first_key = -S)
SPOIL(part_keys, r->part.keys = 512)
SPOIL(part_all, r->part.all_keys = 2 * S - 1)
SPOIL(part_end, r->part.keys = r->io.k.size[2] = r->io.v.size[2] = S - 1)
SPOIL(part_data, r->part.data.data = NULL)
SPOIL(part_records, r->part.data.size[3] = 2 * COLUMNS)
SPOIL(part_rows, r->part.data.size[2] = 5)
SPOIL(part_dtype, r->part.data.dtype = ATTEND_F64)
SPOIL(part_step, r->part.data.stride[3] = 2)
SPOIL(part_out, r->io.out = r->p.io.out)
SPOIL(part_lse, r->io.lse = r->p.io.lse)
SPOIL(part_weights, r->io.weights = r->p.io.lse)
SPOIL(part_lengths, r->rule.key_lengths = lengths_beyond)
SPOIL(part_mask,
      r->rule.mask = attend_view_dense(r->p.io.out.data, ATTEND_BOOL, 1, 1, 1, NK))

static void part_stats(request *r)
{
    static attend_stats stats;

    r->io.stats = &stats;
}

static const refusal of_forward[] = {
    {part_size, "partials.struct_size", "8"},
    {part_first, "partials.first_key", "1000"},
    {part_first_below, "partials.first_key", "-1024"},
    {part_keys, "partials.keys", "512"},
    {part_all, "partials.all_keys", "2047"},
    {part_end, "partials.keys", "1023"},
    {part_data, "partials.data.data", "NULL"},
    {part_records, "partials.data.size[3]", "10"},
    {part_rows, "partials.data.size[2]", "5"},
    {part_dtype, "partials.data.dtype", "f64"},
    {part_step, "partials.data.stride[3]", "2"},
    {part_out, "io.out.data", "set"},
    {part_lse, "io.lse.data", "set"},
    {part_weights, "io.weights.data", "set"},
    {part_stats, "io.stats", "set"},
    {part_lengths, "key_lengths[0]", "3001"},
    {part_mask, "mask.size[3]", "3000"},
};

SPOIL(few_parts, r->count = -1)
SPOIL(no_parts, r->parts = NULL)
SPOIL(shard_first, r->s.parts[1].first_key = 5)
SPOIL(shard_all, r->s.parts[2].all_keys = NK + 1)
SPOIL(shard_twice, r->s.parts[1].first_key = 0)
SPOIL(shard_records, r->s.parts[0].data.size[3] = COLUMNS + 1)
SPOIL(shard_dtype, r->s.parts[2].data.dtype = ATTEND_F64)
SPOIL(shard_step, r->s.parts[0].data.stride[3] = 3)
SPOIL(out_heads, r->out.size[1] = r->lse.size[1] = 3)
SPOIL(out_dtype, r->out.dtype = ATTEND_F64)
SPOIL(out_step, r->out.stride[2] = 0)
SPOIL(lse_dtype, r->lse.dtype = ATTEND_F64)
SPOIL(lse_size, r->lse.size[2] = 3)

static const refusal of_combine[] = {
    {few_parts, "count", "-1"},
    {no_parts, "parts", "NULL"},
    {shard_first, "parts[1].first_key", "5"},
    {shard_all, "parts[2].all_keys", "3001"},
    {shard_twice, "overlap", "parts[1]"},
    {shard_records, "parts[0].data.size[3]", "6"},
    {shard_dtype, "parts[2].data.dtype", "f64"},
    {shard_step, "parts[0].data.stride[3]", "3"},
    {out_heads, "parts[0].data.size[1]", "3"},
    {out_dtype, "out.dtype", "f64"},
    {out_step, "out.stride[2]", "0"},
    {lse_dtype, "lse.dtype", "f64"},
    {lse_size, "lse.size[2]", "3"},
    {part_lengths, "key_lengths[0]", "3001"},
};

/* Calls with one thing wrong: EINVAL, a message, nothing written. */
static void refuse(attend_context *ctx, const refusal *wrong, int combines)
{
    request r = request_make(ctx, ATTEND_F32);
    const attend_tensor data = r.part.data, out = r.out, lse = r.lse;
    attend_error err = {.status = ATTEND_OK};
    attend_status status;

    r.parts = r.s.parts;
    if (!combines)
        poison(&data);
    wrong->spoil(&r);
    if (combines)
        status = attend_combine(ctx, &r.rule, r.parts, r.count, &r.out, &r.lse, &err);
    else
        status = attend_forward_partials(ctx, &r.rule, &r.io, &r.part, &err);
    if (status != ATTEND_EINVAL || !strstr(err.message, wrong->field) ||
        !strstr(err.message, wrong->value))
        test_fail(__FILE__, __LINE__, "refused", "%s: \"%s\" does not name %s and %s",
                  attend_status_name(status), err.message, wrong->field, wrong->value);
    if ((!combines && !all_ones(&data)) || !all_ones(&out) || !all_ones(&lse))
        test_fail(__FILE__, __LINE__, "nothing is written", "%s", wrong->field);
    request_free(&r);
}

static void refuse_all(attend_context *ctx)
{
    for (size_t n = 0; n < sizeof of_forward / sizeof of_forward[0]; n++)
        refuse(ctx, &of_forward[n], 0);
    for (size_t n = 0; n < sizeof of_combine / sizeof of_combine[0]; n++)
        refuse(ctx, &of_combine[n], 1);
}

TEST(errors_name_field_and_value) { for_each_set(refuse_all, 1); }

TEST(null_is_refused)
{
    attend_context *const ctx = open_set("scalar", 1);
    request r = request_make(ctx, ATTEND_F32);
    attend_error err;

    CHECK(attend_forward_partials(NULL, NULL, &r.io, &r.part, &err) == ATTEND_EINVAL,
          "ctx");
    CHECK(attend_forward_partials(ctx, NULL, NULL, &r.part, &err) == ATTEND_EINVAL, "io");
    CHECK(attend_forward_partials(ctx, NULL, &r.io, NULL, &err) == ATTEND_EINVAL,
          "partials");
    CHECK(attend_combine(NULL, NULL, r.s.parts, 3, &r.out, NULL, &err) == ATTEND_EINVAL,
          "ctx");
    CHECK(attend_combine(ctx, NULL, r.s.parts, 3, NULL, NULL, &err) == ATTEND_EINVAL,
          "out");
    CHECK(attend_combine(ctx, NULL, r.s.parts, 3, &r.out, NULL, NULL) == ATTEND_OK,
          "no rule, no lse, no err");
    request_free(&r);
    attend_context_destroy(ctx);
}

/* ---- memory -------------------------------------------------------------- */

/* One shard and a combination in a context whose allocation n fails; how many did. */
static int life_with_failure(const char *isa, attend_context *plain, attend_dtype dtype,
                             int n)
{
    counting c = {.fail_at = n};
    const attend_options options = counting_options(&c, isa, 2);
    attend_context *ctx = NULL;
    request r = request_make(plain, dtype);
    int fine = 1;

    if (attend_context_create(&ctx, &options, NULL) == ATTEND_OK) {
        attend_error err = {.status = ATTEND_OK};
        poison(&r.part.data);
        attend_status status =
            attend_forward_partials(ctx, &r.rule, &r.io, &r.part, &err);
        fine = status == ATTEND_OK ||
               (status == ATTEND_ENOMEM && err.message[0] && all_ones(&r.part.data));
        /* With what one context left, or the other where that failed. */
        if (status != ATTEND_OK)
            fine = fine && shard_run(&r.p, plain, &r.part);
        status = attend_combine(ctx, &r.rule, r.s.parts, r.count, &r.out, &r.lse, &err);
        fine = fine && (status == ATTEND_OK || (status == ATTEND_ENOMEM &&
                                                all_ones(&r.out) && all_ones(&r.lse)));
        c.fail_at = -1;
        fine = fine && shard_run(&r.p, ctx, &r.part) && sharding_combine(&r.p, ctx, &r.s);
        const int calls = c.calls;
        fine = fine && shard_run(&r.p, ctx, &r.part) &&
               sharding_combine(&r.p, ctx, &r.s) && c.calls == calls;
        attend_context_destroy(ctx);
    }
    request_free(&r);
    if (!fine || c.live != 0 || c.misused) {
        test_fail(__FILE__, __LINE__, "a clean life", "allocation %d, %d blocks left", n,
                  c.live);
        return -1;
    }
    return c.refused;
}

static void fail_every_allocation(attend_context *ctx)
{
    for (int dtype = 0; dtype < FLOAT_DTYPES; dtype++) {
        int n = 0, refused;
        while ((refused = life_with_failure(attend_context_isa(ctx), ctx,
                                            float_dtypes[dtype], n)) > 0)
            n++;
        CHECK(refused == 0 && n >= 2 && n < 100, "%d allocations in a life", n);
    }
}

TEST(every_allocation_may_fail) { for_each_set(fail_every_allocation, 2); }

int main(void)
{
    RUN(errors_name_field_and_value);
    RUN(null_is_refused);
    RUN(every_allocation_may_fail);
    return test_finish();
}

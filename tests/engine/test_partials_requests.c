/* SPDX-License-Identifier: MIT */
/* attend_forward_partials, attend_combine and attend_reduce: refusals, memory. */
#include "support/counting.h"
#include "support/sharding.h"

enum { S = ATTEND_SPLIT_KEYS, NK = 3000, SHARDS = 3, COLUMNS = 3 + 2 };

/* Three shards of one problem, computed. */
typedef struct request {
    problem p;
    sharding s;
    attend_rule rule; /* of shard 1 */
    attend_io io;
    attend_partials part, to; /* `to`: for records of all keys */
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
    r.to = shard_make(&r.p, 0, NK, 1);
    r.rule = shard_rule(&r.p, &r.part);
    r.io = shard_io(&r.p, &r.part);
    r.out = r.p.io.out;
    r.lse = r.p.io.lse;
    poison(&r.out);
    poison(&r.lse);
    poison(&r.to.data);
    return r;
}

static void request_free(request *r)
{
    free(r->to.data.data);
    sharding_free(&r->s);
    problem_free(&r->p);
}

/* ---- refusals ------------------------------------------------------------ */

static const int64_t lengths_beyond[] = {NK + 1};
static attend_stats no_stats;

enum call { FORWARD, COMBINE, REDUCE };

/* Expects EINVAL with a message, and unchanged outputs. */
static void expect_refusal(attend_context *ctx, const request *r, const request *sound,
                           enum call call, const char *field, const char *value)
{
    attend_error err = {.status = ATTEND_OK};
    const attend_status status =
        call == FORWARD ? attend_forward_partials(ctx, &r->rule, &r->io, &r->part, &err)
        : call == COMBINE
            ? attend_combine(ctx, &r->rule, r->parts, r->count, &r->out, &r->lse, &err)
            : attend_reduce(ctx, r->parts, r->count, &r->to, &err);

    CHECK(is_refused(status, ATTEND_EINVAL, &err, field, value), "call %d", call);
    CHECK((call != FORWARD || is_poisoned(&sound->part.data)) &&
              is_poisoned(&sound->to.data) && is_poisoned(&sound->out) &&
              is_poisoned(&sound->lse),
          "%s: written", field);
}

/* The valid request after `wrong` is refused with these words. */
#define REFUSES(field, value, wrong)                                                     \
    do {                                                                                 \
        request r = sound;                                                               \
        r.parts = r.s.parts;                                                             \
        wrong;                                                                           \
        expect_refusal(ctx, &r, &sound, call, field, value);                             \
    } while (0)

static void refuse_forward(attend_context *ctx)
{
    const enum call call = FORWARD;
    auto_request sound = request_make(ctx, ATTEND_F32);

    poison(&sound.part.data);
    REFUSES("partials.struct_size", "8", r.part.struct_size = 8);
    REFUSES("partials.first_key", "1000", r.part.first_key = 1000);
    REFUSES("partials.first_key", "-1024", r.part.first_key = -S);
    REFUSES("partials.keys", "512", r.part.keys = 512);
    REFUSES("partials.all_keys", "2047", r.part.all_keys = 2 * S - 1);
    REFUSES("partials.keys", "1023",
            r.part.keys = r.io.k.size[2] = r.io.v.size[2] = S - 1);
    REFUSES("partials.data.data", "NULL", r.part.data.data = NULL);
    REFUSES("partials.data.size[3]", "10", r.part.data.size[3] = 2 * COLUMNS);
    REFUSES("partials.data.size[2]", "5", r.part.data.size[2] = 5);
    REFUSES("partials.data.dtype", "f64", r.part.data.dtype = ATTEND_F64);
    REFUSES("partials.data.stride[3]", "2", r.part.data.stride[3] = 2);
    REFUSES("out.data", "set", r.io.out = r.p.io.out);
    REFUSES("lse.data", "set", r.io.lse = r.p.io.lse);
    REFUSES("weights.data", "set", r.io.weights = r.p.io.lse);
    REFUSES("stats.struct_size", "(0)", r.io.stats = &no_stats);
    REFUSES("key_lengths[0]", "3001", r.rule.key_lengths = lengths_beyond);
    REFUSES("mask.size[3]", "3000",
            r.rule.mask = attend_view_dense(r.p.io.out.data, ATTEND_BOOL, 1, 1, 1, NK));
}

static void refuse_combine(attend_context *ctx)
{
    const enum call call = COMBINE;
    auto_request sound = request_make(ctx, ATTEND_F32);

    REFUSES("count", "-1", r.count = -1);
    REFUSES("parts", "NULL", r.parts = NULL);
    REFUSES("parts[1].first_key", "5", r.s.parts[1].first_key = 5);
    REFUSES("parts[2].all_keys", "3001", r.s.parts[2].all_keys = NK + 1);
    REFUSES("overlap", "parts[1]", r.s.parts[1].first_key = 0);
    REFUSES("parts[0].data.size[3]", "6", r.s.parts[0].data.size[3] = COLUMNS + 1);
    REFUSES("parts[2].data.dtype", "f64", r.s.parts[2].data.dtype = ATTEND_F64);
    REFUSES("parts[0].data.stride[3]", "3", r.s.parts[0].data.stride[3] = 3);
    REFUSES("parts[0].data.size[1]", "3", r.out.size[1] = r.lse.size[1] = 3);
    REFUSES("out.dtype", "f64", r.out.dtype = ATTEND_F64);
    REFUSES("out.stride[2]", "0", r.out.stride[2] = 0);
    REFUSES("lse.dtype", "f64", r.lse.dtype = ATTEND_F64);
    REFUSES("lse.size[2]", "3", r.lse.size[2] = 3);
    REFUSES("key_lengths[0]", "3001", r.rule.key_lengths = lengths_beyond);
}

static void refuse_reduce(attend_context *ctx)
{
    const enum call call = REDUCE;
    auto_request sound = request_make(ctx, ATTEND_F32);

    REFUSES("count", "0", r.count = 0);
    REFUSES("parts", "NULL", r.parts = NULL);
    REFUSES("to.reduce", "0", r.to.reduce = 0);
    REFUSES("to.data.data", "NULL", r.to.data.data = NULL);
    REFUSES("to.data.size[3]", "(1)", r.to.data.size[3] = 1);
    REFUSES("to.all_keys", "3001", (r.to.keys = 2 * S, r.to.all_keys = NK + 1));
    REFUSES("parts[1].all_keys", "3001", r.s.parts[1].all_keys = NK + 1);
    REFUSES("parts[2].data.dtype", "f64", r.s.parts[2].data.dtype = ATTEND_F64);
    REFUSES("overlap", "parts[1]", r.s.parts[1].first_key = 0);
    /* Shards 0 and 1 are outside of these targets, after and before their keys. */
    REFUSES("parts[0]", "2048 to 2999", r.to.keys = 2 * S);
    REFUSES("parts[2]", "0 to 1023", (r.to.first_key = S, r.to.keys = NK - S));
}

TEST_ON_SETS(errors_name_field_and_value, ctx, 1)
{
    refuse_forward(ctx);
    refuse_combine(ctx);
    refuse_reduce(ctx);
}

TEST(null_is_refused)
{
    auto_context const ctx = open_set("scalar", 1);
    auto_request r = request_make(ctx, ATTEND_F32);
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
    CHECK(attend_reduce(NULL, r.s.parts, 3, &r.to, &err) == ATTEND_EINVAL, "ctx");
    CHECK(attend_reduce(ctx, r.s.parts, 3, NULL, &err) == ATTEND_EINVAL, "to");
    CHECK(attend_reduce(ctx, r.s.parts, 3, &r.to, NULL) == ATTEND_OK, "no err");
}

/* ---- memory -------------------------------------------------------------- */

/*
 * One shard and a combination in a context whose allocation n fails; returns the number
 * of failures.
 */
static int life_with_failure(const char *isa, attend_context *plain, attend_dtype dtype,
                             int n)
{
    counting c = {.fail_at = n};
    const attend_options options = counting_options(&c, isa, 2);
    attend_context *ctx = NULL;
    auto_request r = request_make(plain, dtype);
    int fine = 1;

    if (attend_context_create(&ctx, &options, NULL) == ATTEND_OK) {
        attend_error err = {.status = ATTEND_OK};
        poison(&r.part.data);
        attend_status status =
            attend_forward_partials(ctx, &r.rule, &r.io, &r.part, &err);
        fine = status == ATTEND_OK ||
               (status == ATTEND_ENOMEM && err.message[0] && is_poisoned(&r.part.data));
        /* With the partials of either context that succeeded. */
        if (status != ATTEND_OK)
            fine = fine && shard_run(&r.p, plain, &r.part);
        status = attend_combine(ctx, &r.rule, r.s.parts, r.count, &r.out, &r.lse, &err);
        fine = fine &&
               (status == ATTEND_OK ||
                (status == ATTEND_ENOMEM && is_poisoned(&r.out) && is_poisoned(&r.lse)));
        c.fail_at = -1;
        fine = fine && shard_run(&r.p, ctx, &r.part) && sharding_combine(&r.p, ctx, &r.s);
        const int calls = c.calls;
        fine = fine && shard_run(&r.p, ctx, &r.part) &&
               sharding_combine(&r.p, ctx, &r.s) && c.calls == calls;
        attend_context_destroy(ctx);
    }
    if (!fine || c.live != 0 || c.misused) {
        test_fail(__FILE__, __LINE__, "a clean life", "allocation %d, %d blocks left", n,
                  c.live);
        return -1;
    }
    return c.refused;
}

TEST_ON_SETS(every_allocation_may_fail, ctx, 2)
{
    for (int dtype = 0; dtype < FLOAT_DTYPES; dtype++) {
        int n = 0, refused;
        while ((refused = life_with_failure(attend_context_isa(ctx), ctx,
                                            float_dtypes[dtype], n)) > 0)
            n++;
        CHECK(refused == 0 && n >= 2 && n < 100, "%d allocations in a life", n);
    }
}

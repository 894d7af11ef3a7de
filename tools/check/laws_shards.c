/* SPDX-License-Identifier: MIT */
/*
 * Shards of the keys, computed apart and combined in any order: the bits of one call
 * over all keys.  `ref` rounds its records to f32: it is held to a kernel's bound.
 */
#include <math.h>
#include <stdlib.h>

#include "check/check.h"

enum { SHARDS_MAX = 8 };

struct sharding {
    int count;
    attend_partials part[SHARDS_MAX]; /* without data */
    struct check_problem of[SHARDS_MAX];
};

/* Cuts at random splits, some shards empty, in a random order. */
static struct sharding cut_keys(const struct check_problem *p,
                                struct check_random *random)
{
    const int64_t splits = (p->nk + ATTEND_SPLIT_KEYS - 1) / ATTEND_SPLIT_KEYS;
    struct sharding s = {.count = (int)check_random_int(random, 1, SHARDS_MAX)};
    int64_t from = 0;

    for (int t = 0; t < s.count; t++) {
        const int64_t to =
            t == s.count - 1 ? splits : check_random_int(random, from, splits);
        const int64_t first = from * ATTEND_SPLIT_KEYS, end = to * ATTEND_SPLIT_KEYS;
        const int place = (int)check_random_int(random, 0, t);

        s.part[t] = s.part[place];
        s.of[t] = s.of[place];
        s.part[place] = attend_partials_default();
        s.part[place].first_key = first;
        s.part[place].keys = to > from ? (end < p->nk ? end : p->nk) - first : 0;
        s.part[place].all_keys = p->nk;
        s.part[place].reduce = check_random_int(random, 0, 1);
        s.of[place] = check_problem_range(p, first, first + s.part[place].keys);
        from = to;
    }
    return s;
}

static attend_status compute_part(struct check_run *run, attend_context *ctx,
                                  const struct check_problem *p, attend_partials *part,
                                  attend_error *error)
{
    const struct check_blocks *const blocks = &run->blocks;

    check_place(&run->blocks, p);
    part->data = check_new_tensor(
        p, check_tensor_dtype(p, CHECK_LSE),
        attend_partials_records(part->first_key, part->keys, part->reduce) * (p->dv + 2),
        NULL);
    return attend_forward_partials(ctx, &blocks->rule, &blocks->io, part, error);
}

/* All shards and their combination, into `outputs`, which the caller frees. */
static attend_status compute_shards(struct check_run *run, attend_context *ctx,
                                    const struct check_problem *p,
                                    const struct sharding *s,
                                    struct check_outputs *outputs, attend_error *error)
{
    attend_partials parts[SHARDS_MAX];
    attend_tensor out = check_new_tensor(p, p->out_dtype, p->dv, NULL);
    attend_tensor lse = check_new_tensor(p, check_tensor_dtype(p, CHECK_LSE), 1, NULL);
    attend_status status = ATTEND_OK;

    for (int t = 0; t < s->count; t++) {
        parts[t] = s->part[t];
        if (status == ATTEND_OK)
            status = compute_part(run, ctx, &s->of[t], &parts[t], error);
    }
    if (status == ATTEND_OK) {
        check_place(&run->blocks, p);
        status =
            attend_combine(ctx, &run->blocks.rule, parts, s->count, &out, &lse, error);
    }
    *outputs = (struct check_outputs){.out = check_tensor_values(&out),
                                      .lse = check_tensor_values(&lse)};
    for (int t = 0; t < s->count; t++)
        free(parts[t].data.data);
    free(out.data);
    free(lse.data);
    return status;
}

static void shards_of_set(struct check_run *run, struct check_set *set,
                          const struct check_problem *p, const struct sharding *s)
{
    struct check_outputs whole, got;
    attend_error error = {.message = ""};
    struct check_worst worst = {0};

    if (!check_try(run, set, set->ctx, p, &whole))
        return;
    const attend_status status = compute_shards(run, set->ctx, p, s, &got, &error);
    if (status == ATTEND_OK && set->model == CHECK_REF) {
        struct check_expect expect = check_dense(p);
        check_compare(p, &expect, CHECK_KERNELS, &got, &worst);
        check_expect_free(&expect);
    } else if (status == ATTEND_OK) {
        check_same_outputs(p, &whole, p, &got, NULL, &worst);
    }
    if (status == ATTEND_OK)
        check_note(set, worst.ratio, p, worst.where);
    else
        check_note(set, INFINITY, p, error.message);
    check_outputs_free(&got);
    check_outputs_free(&whole);
}

void check_law_shards(struct check_run *run)
{
    const struct check_sample_options options = {
        .max_length = 12000, .max_rows = 7, .max_width = 24, .max_heads = 2};

    for (int64_t n = 0; n < check_cases(run, 30); n++) {
        struct check_problem p = check_sample(check_case_seed(run, 54, n), &options);
        struct check_random random = {.seed = p.seed, .next = 1u << 30};

        check_drop_stats(&p);
        p.wants_lse = 1;
        p.wants_weights = 0;
        struct sharding s = cut_keys(&p, &random);
        for (int set = 0; set < run->count; set++)
            shards_of_set(run, &run->sets[set], &p, &s);
        for (int t = 0; t < s.count; t++)
            check_problem_free(&s.of[t]);
        check_problem_free(&p);
    }
}

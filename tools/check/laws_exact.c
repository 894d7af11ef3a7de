/* SPDX-License-Identifier: MIT */
/* The laws that hold bit for bit. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check/check.h"

/* The first problem of case n, with its salt, that has a row and a key. */
static struct check_problem sample(const struct check_run *run, uint64_t salt, int64_t n,
                                   const struct check_sample_options *options)
{
    for (uint64_t attempt = 0;; attempt++) {
        struct check_problem p =
            check_sample(check_case_seed(run, salt, n) + 50000u * attempt, options);
        if (p.nb * p.hq * p.nq * p.nk > 0)
            return p;
        check_problem_free(&p);
    }
}

struct check_problem check_law_sample(const struct check_run *run, uint64_t salt,
                                      int64_t n, int64_t max_length)
{
    const struct check_sample_options any = {
        .max_length = max_length, .max_width = 72, .max_heads = 3};
    const struct check_sample_options split = {.min_keys = CHECK_SPLIT_KEYS + 1,
                                               .max_length = 4 * CHECK_SPLIT_KEYS + 8,
                                               .max_rows = 24,
                                               .max_width = 72,
                                               .max_heads = 2};

    return sample(run, salt, n, n % 5 % 2 ? &split : &any);
}

/* Few rows over many keys, as in decoding, whose keys may be split among workers. */
static struct check_problem sample_few_rows(const struct check_run *run, uint64_t salt,
                                            int64_t n)
{
    const struct check_sample_options options = {
        .max_length = 3000, .max_rows = 5, .max_width = 72, .max_heads = 3};

    return sample(run, salt, n, &options);
}

int check_same_bits(double a, double b)
{
    return (isnan(a) && isnan(b)) || memcmp(&a, &b, sizeof a) == 0;
}

void check_same_outputs(const struct check_problem *pa, const struct check_outputs *a,
                        const struct check_problem *pb, const struct check_outputs *b,
                        const unsigned char *skip, struct check_worst *worst)
{
    for (int t = 0; t < CHECK_OUTPUTS; t++) {
        const double *const x = a->values[t], *const y = b->values[t];
        int64_t sa[4], sb[4];
        check_tensor_shape(pa, check_output_shape(t), sa);
        check_tensor_shape(pb, check_output_shape(t), sb);
        const int64_t columns = sa[3] > sb[3] ? sa[3] : sb[3];
        const int64_t count =
            x != NULL && y != NULL ? sa[0] * sa[1] * sa[2] * columns : 0;
        for (int64_t at = 0; at < count; at++) {
            const int64_t r = at / columns, c = at % columns;
            const double of_a = c < sa[3] ? x[r * sa[3] + c] : 0.0;
            const double of_b = c < sb[3] ? y[r * sb[3] + c] : 0.0;
            if ((skip != NULL && skip[r]) || check_same_bits(of_a, of_b) ||
                !check_is_worse(worst, INFINITY))
                continue;
            check_say_element(worst, pa, t, r, c);
            check_say(worst, "%.17g and %.17g", of_a, of_b);
        }
    }
}

/* Compare the bits of two calls on a set, each problem in a context. */
static void compare_calls(struct check_run *run, struct check_set *set,
                          attend_context *ctx_a, const struct check_problem *pa,
                          attend_context *ctx_b, const struct check_problem *pb,
                          const unsigned char *skip)
{
    struct check_outputs a, b;
    struct check_worst worst = {0};

    if (!check_try(run, set, ctx_a, pa, &a))
        return;
    if (check_try(run, set, ctx_b, pb, &b)) {
        check_same_outputs(pa, &a, pb, &b, skip, &worst);
        check_note(set, worst.ratio, pa, worst.where);
        check_outputs_free(&b);
    }
    check_outputs_free(&a);
}

void check_compare_bits(struct check_run *run, const struct check_problem *pa,
                        const struct check_problem *pb, const unsigned char *skip)
{
    for (int s = 0; s < run->count; s++)
        compare_calls(run, &run->sets[s], run->sets[s].ctx, pa, run->sets[s].ctx, pb,
                      skip);
}

/* Whether any row of the group of head g sees key j. */
static int group_sees(const struct check_problem *p, int64_t b, int64_t g, int64_t j)
{
    const int64_t group = p->hq / p->hkv;

    for (int64_t h = g * group; h < (g + 1) * group; h++)
        for (int64_t i = 0; i < p->nq; i++)
            if (check_sees(p, b, h, i, j))
                return 1;
    return 0;
}

/*
 * Fills K and V of keys of one batch and head with Inf and NaN, most of them hidden from
 * all rows, a few visible to some. spoilt[j]: key j is one of them.
 */
static void spoil_keys(struct check_problem *p, struct check_random *random, int64_t b,
                       int64_t g, unsigned char *spoilt)
{
    static const double values[] = {NAN, INFINITY, -INFINITY, 3e4, -3e4, 0.0};
    const int64_t head = b * p->hkv + g;

    for (int64_t j = 0; j < p->nk; j++) {
        spoilt[j] = check_random_chance(random, 0.8) &&
                    (check_random_chance(random, 0.03) || !group_sees(p, b, g, j));
        if (!spoilt[j])
            continue;
        const double value = values[check_random_int(random, 0, 5)];
        for (int64_t c = 0; c < p->d; c++)
            p->k[(head * p->nk + j) * p->d + c] = value;
        for (int64_t c = 0; c < p->dv; c++)
            p->v[(head * p->nk + j) * p->dv + c] = values[check_random_int(random, 0, 5)];
    }
}

/* Marks rows of batch b and group g that see a non-finite key. */
static void mark_touched(const struct check_problem *p, int64_t b, int64_t g,
                         const unsigned char *spoilt, unsigned char *touched)
{
    const int64_t group = p->hq / p->hkv;

    for (int64_t h = g * group; h < (g + 1) * group; h++)
        for (int64_t i = 0; i < p->nq; i++)
            for (int64_t j = 0; j < p->nk; j++)
                if (spoilt[j] && check_sees(p, b, h, i, j))
                    touched[(b * p->hq + h) * p->nq + i] = 1;
}

void check_law_masked(struct check_run *run, struct check_case *c)
{
    struct check_problem *const p = &c->p;
    unsigned char *const touched =
        check_memory((size_t)(p->nb * p->hq * p->nq), sizeof *touched);
    unsigned char *const spoilt = check_memory((size_t)p->nk, sizeof *spoilt);

    p->layout[CHECK_K].broadcast = p->layout[CHECK_V].broadcast = 0;
    struct check_problem other = check_problem_copy(p);
    for (int64_t b = 0; b < p->nb; b++)
        for (int64_t g = 0; g < p->hkv; g++) {
            spoil_keys(&other, &c->random, b, g, spoilt);
            mark_touched(p, b, g, spoilt, touched);
        }
    check_compare_bits(run, p, &other, touched);
    free(touched);
    free(spoilt);
    check_problem_free(&other);
}

static struct check_problem first_keys(const struct check_problem *p, int64_t n)
{
    struct check_problem shorter = check_problem_range(p, 0, n);

    for (int64_t b = 0; b < p->nb && p->key_lengths != NULL; b++)
        shorter.key_lengths[b] = p->key_lengths[b] < n ? p->key_lengths[b] : n;
    return shorter;
}

/* The same problem with keys n .. nk - 1 hidden by the key lengths or by the mask. */
static struct check_problem hide_suffix(const struct check_problem *p, int64_t n,
                                        int by_mask)
{
    struct check_problem hidden = check_problem_copy(p);

    if (by_mask) {
        check_expand_mask(&hidden);
        const int64_t rows = check_count(hidden.mask_size) / p->nk;
        for (int64_t r = 0; r < rows; r++)
            for (int64_t j = n; j < p->nk; j++)
                hidden.mask[r * p->nk + j] = 0.0;
        return hidden;
    }
    if (hidden.key_lengths == NULL) {
        hidden.key_lengths = check_memory((size_t)p->nb, sizeof *hidden.key_lengths);
        for (int64_t b = 0; b < p->nb; b++)
            hidden.key_lengths[b] = p->nk;
    }
    for (int64_t b = 0; b < p->nb; b++)
        if (hidden.key_lengths[b] > n)
            hidden.key_lengths[b] = n;
    return hidden;
}

void check_law_suffix(struct check_run *run, struct check_case *c)
{
    struct check_problem *const p = &c->p;

    check_causal_to_offset(p);
    if (c->n % 2 == 0) { /* ALiBi counts from the last key, masked or not */
        free(p->alibi);
        p->alibi = NULL;
    }
    const int64_t keep = check_random_int(&c->random, 0, p->nk);
    struct check_problem shorter = first_keys(p, keep);
    struct check_problem hidden = hide_suffix(p, keep, c->n % 2 == 0);
    check_compare_bits(run, &shorter, &hidden, NULL);
    check_problem_free(&hidden);
    check_problem_free(&shorter);
}

/* Rows of one batch and group of heads, as outputs of their own. */
static struct check_outputs take_group(const struct check_problem *p,
                                       const struct check_outputs *all, int64_t b,
                                       int64_t h)
{
    const int64_t rows = p->hq / p->hkv * p->nq, from = (b * p->hq + h) * p->nq;
    struct check_outputs part = {0};

    for (int t = 0; t < CHECK_OUTPUTS; t++) {
        int64_t size[4];
        if (all->values[t] == NULL)
            continue;
        check_tensor_shape(p, check_output_shape(t), size);
        const size_t count = (size_t)(rows * size[3]);
        part.values[t] = check_memory(count, sizeof *part.values[t]);
        memcpy(part.values[t], all->values[t] + from * size[3],
               count * sizeof *part.values[t]);
    }
    return part;
}

void check_law_batch(struct check_run *run, struct check_case *c)
{
    struct check_problem *const p = &c->p;
    const int64_t group = p->hq / p->hkv, b = check_random_int(&c->random, 0, p->nb - 1);
    const int64_t h = check_random_int(&c->random, 0, p->hkv - 1) * group;
    struct check_problem alone = check_problem_heads(p, b, h, group);

    check_plain_layouts(&alone);
    for (int s = 0; s < run->count; s++) {
        struct check_set *const set = &run->sets[s];
        struct check_outputs all, own;
        struct check_worst worst = {0};
        if (!check_try(run, set, set->ctx, p, &all))
            continue;
        struct check_outputs part = take_group(p, &all, b, h);
        if (check_try(run, set, set->ctx, &alone, &own)) {
            check_same_outputs(&alone, &part, &alone, &own, NULL, &worst);
            check_note(set, worst.ratio, p, worst.where);
            check_outputs_free(&own);
        }
        check_outputs_free(&part);
        check_outputs_free(&all);
    }
    check_problem_free(&alone);
}

/*
 * Weights are computed on the prefill path only, so few rows take another path with
 * weights than without.
 */
void check_law_alone(struct check_run *run)
{
    for (int64_t n = 0; n < check_cases(run, 60); n++) {
        struct check_problem among = sample_few_rows(run, 40, n), alone = among;

        among.wants_weights = 1;
        alone.wants_weights = 0;
        check_compare_bits(run, &among, &alone, NULL);
        check_problem_free(&among);
    }
}

static void threads_of_set(struct check_run *run, struct check_set *set, int threads)
{
    attend_context *one = NULL, *many = NULL;
    attend_error error;

    if (check_context(set, 1, &one, &error) != ATTEND_OK) {
        check_note(set, INFINITY, NULL, error.message);
        return;
    }
    if (check_context(set, threads, &many, &error) != ATTEND_OK)
        check_note(set, INFINITY, NULL, error.message);
    for (int64_t n = 0; many != NULL && n < check_cases(run, 18); n++) {
        const uint64_t salt = 13 + (uint64_t)threads;
        struct check_problem p =
            n % 2 ? sample_few_rows(run, salt, n) : check_law_sample(run, salt, n, 200);
        p.wants_weights = p.wants_weights && n % 2 == 0;
        compare_calls(run, set, one, &p, many, &p, NULL);
        check_problem_free(&p);
    }
    attend_context_destroy(one);
    attend_context_destroy(many);
}

void check_law_threads(struct check_run *run)
{
    static const int threads[] = {2, 3, 7};

    for (int s = 0; s < run->count; s++)
        for (int t = 0; t < 3; t++)
            threads_of_set(run, &run->sets[s], threads[t]);
}

void check_law_strides(struct check_run *run, struct check_case *c)
{
    struct check_problem *const p = &c->p;
    struct check_problem other = check_problem_copy(p);

    check_plain_layouts(p);
    check_sample_layouts(&other, &c->random, 0);
    check_compare_bits(run, &other, p, NULL);
    check_problem_free(&other);
}

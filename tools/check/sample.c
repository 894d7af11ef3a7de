/* SPDX-License-Identifier: MIT */
#include "check/sample.h"

#include <math.h>
#include <string.h>

static const attend_dtype dtypes[] = {ATTEND_F32, ATTEND_F16, ATTEND_BF16, ATTEND_F64};

double *check_sample_values(struct check_random *random, attend_dtype dtype,
                            const int64_t size[4], const struct check_layout *layout,
                            double spread)
{
    const int64_t count = check_count(size);
    double *const values = check_memory((size_t)count, sizeof *values);

    for (int64_t at = 0; at < count; at++) {
        double value = check_random_normal(random);
        if (spread > 0.0)
            value *= exp2(rint((2.0 * check_random_unit(random) - 1.0) * spread));
        values[at] = check_round(dtype, value);
    }
    check_repeat(values, size, layout);
    return values;
}

static struct check_layout random_layout(struct check_random *random, int broadcast)
{
    struct check_layout layout = {.at_start = check_random_chance(random, 0.3) ? 1 : 0};

    switch (check_random_int(random, 0, 7)) {
    case 0:
    case 1:
        break;
    case 2:
        layout.order = 1;
        break;
    case 3:
        layout.pad = (unsigned char)check_random_int(random, 1, 9);
        break;
    case 4:
        layout.skip[check_random_int(random, 0, 3)] =
            (unsigned char)check_random_int(random, 1, 3);
        layout.pad = (unsigned char)check_random_int(random, 0, 3);
        break;
    case 5:
        layout.negative = (unsigned char)check_random_int(random, 1, 15);
        layout.order = (unsigned char)check_random_int(random, 0, 1);
        break;
    case 6:
        layout.order = (unsigned char)check_random_int(random, 2, 3);
        break;
    default:
        if (broadcast)
            layout.broadcast = (unsigned char)check_random_int(random, 1, 15);
        else
            layout.order = (unsigned char)check_random_int(random, 0, 3);
        layout.skip[3] = (unsigned char)check_random_int(random, 0, 1);
        break;
    }
    return layout;
}

void check_sample_layouts(struct check_problem *p, struct check_random *random,
                          int broadcast)
{
    for (int t = 0; t < CHECK_TENSORS; t++)
        p->layout[t] = random_layout(random, broadcast && t < CHECK_OUT);
}

/* 0 .. limit: a few zeros and ones, mostly below limit / 4, the rest up to it. */
static int64_t length(struct check_random *random, int64_t limit)
{
    const double u = check_random_unit(random);

    if (u < 0.04)
        return check_random_int(random, 0, 1);
    return check_random_int(random, 1, u < 0.75 ? (limit + 3) / 4 : limit);
}

static void sample_sizes(struct check_problem *p, struct check_random *random,
                         const struct check_sample_options *options)
{
    p->nb = check_random_int(random, 1, options->max_heads);
    p->hkv = check_random_int(random, 1, options->max_heads);
    p->hq = p->hkv * check_random_int(random, 1, options->max_heads);
    p->nq = length(random, options->max_rows ? options->max_rows : options->max_length);
    p->nk = options->min_keys
                ? check_random_int(random, options->min_keys, options->max_length)
                : length(random, options->max_length);
    p->d = length(random, options->max_width);
    p->dv = check_random_chance(random, 0.5) ? p->d : length(random, options->max_width);
    if (check_random_chance(random, 0.02))
        p->nb = 0;
    if (check_random_chance(random, 0.02))
        p->hq = 0;
}

static void sample_positions(struct check_problem *p, struct check_random *random)
{
    const int64_t reach = p->nq > p->nk ? p->nq : p->nk;

    p->causal = (attend_causal)check_random_int(random, 0, 3);
    if (p->causal == ATTEND_CAUSAL_OFFSET) {
        p->causal_offset = check_memory((size_t)p->nb, sizeof *p->causal_offset);
        for (int64_t b = 0; b < p->nb; b++)
            p->causal_offset[b] = check_random_int(random, -p->nq - 2, reach + 2);
    }
    p->window_left = p->window_right = -1;
    if (check_random_chance(random, 0.3))
        p->window_left = check_random_int(random, 0, reach);
    if (check_random_chance(random, 0.2))
        p->window_right = check_random_int(random, 0, reach);
    if (check_random_chance(random, 0.02))
        p->window_left = INT64_MAX;
    if (check_random_chance(random, 0.25)) {
        p->key_lengths = check_memory((size_t)p->nb, sizeof *p->key_lengths);
        for (int64_t b = 0; b < p->nb; b++)
            p->key_lengths[b] =
                check_random_chance(random, 0.1) ? 0 : check_random_int(random, 0, p->nk);
    }
}

static void broadcast_size(const struct check_problem *p, struct check_random *random,
                           int64_t size[4])
{
    const int64_t full[4] = {p->nb, p->hq, p->nq, p->nk};
    const int64_t axes = check_random_int(random, 0, 15);

    for (int a = 0; a < 4; a++)
        size[a] = axes >> a & 1 ? full[a] : 1;
}

static void sample_mask(struct check_problem *p, struct check_random *random)
{
    const double density = check_random_unit(random);

    broadcast_size(p, random, p->mask_size);
    p->mask = check_memory((size_t)check_count(p->mask_size), sizeof *p->mask);
    for (int64_t at = 0; at < check_count(p->mask_size); at++)
        p->mask[at] = check_random_chance(random, density + 0.1);
    check_repeat(p->mask, p->mask_size, &p->layout[CHECK_MASK]);
}

void check_sample_bias(struct check_problem *p, struct check_random *random, int tame)
{
    p->bias_dtype = dtypes[check_random_int(random, 0, 3)];
    broadcast_size(p, random, p->bias_size);
    p->bias = check_sample_values(random, p->bias_dtype, p->bias_size,
                                  &p->layout[CHECK_BIAS], 0.0);

    /* The value that other code uses for masks: here a number, with a weight of 0. */
    const attend_dtype narrow = p->dtype == ATTEND_F64 || p->bias_dtype != ATTEND_F64
                                    ? p->bias_dtype
                                    : ATTEND_F32;
    const double lowest =
        check_random_chance(random, 0.5) ? -INFINITY : -check_largest(narrow);
    if (!tame || check_random_chance(random, 0.3))
        for (int64_t at = 0; at < check_count(p->bias_size); at++)
            if (p->bias[at] > 1.0)
                p->bias[at] = lowest;
}

void check_sample_scores(struct check_problem *p, struct check_random *random, int tame)
{
    if (!tame && check_random_chance(random, 0.5)) {
        static const double scales[] = {0.0, -0.3, 1.0, 4.0, 0x1p-20, -2.0};
        p->scale_is_set = 1;
        p->scale = scales[check_random_int(random, 0, 5)];
    }
    if (check_random_chance(random, 0.2))
        p->softcap = tame ? 30.0 : 1.0 + 50.0 * check_random_unit(random);
    if (check_random_chance(random, 0.2)) {
        p->alibi = check_memory((size_t)p->hq, sizeof *p->alibi);
        for (int64_t h = 0; h < p->hq; h++)
            p->alibi[h] = tame ? exp2(-(double)check_random_int(random, 0, 9))
                               : check_random_normal(random) * 0.25;
    }
    if (check_random_chance(random, 0.2)) {
        p->sinks = check_memory((size_t)p->hq, sizeof *p->sinks);
        for (int64_t h = 0; h < p->hq; h++)
            p->sinks[h] = check_random_chance(random, 0.1) ? -INFINITY
                                                           : check_random_normal(random);
    }
}

void check_sample_inputs(struct check_problem *p, struct check_random *random,
                         double spread)
{
    for (int t = CHECK_Q; t <= CHECK_V; t++) {
        int64_t size[4];
        check_tensor_shape(p, t, size);
        p->input[t] = check_sample_values(random, p->dtype, size, &p->layout[t],
                                          t == CHECK_V ? spread : spread / 4.0);
    }
}

/* A few columns in any order, or all of them. */
static void sample_columns(struct check_request *stats, struct check_random *random)
{
    stats->columns = check_random_chance(random, 0.4)
                         ? ATTEND_STAT_COUNT
                         : (int)check_random_int(random, 0, ATTEND_STAT_COUNT);
    for (int c = 0; c < ATTEND_STAT_COUNT; c++) {
        const int64_t at = check_random_int(random, 0, c);
        stats->column[c] = stats->column[at];
        stats->column[at] = (attend_stat)c;
    }
}

void check_sample_stats(struct check_problem *p, struct check_random *random)
{
    struct check_request *const stats = &p->stats;

    stats->dtype = check_random_chance(random, 0.5) ? ATTEND_F32 : ATTEND_F64;
    sample_columns(stats, random);
    if (check_random_chance(random, 0.5))
        stats->top = (int)check_random_int(random, 1, ATTEND_TOP_MAX);
    if (check_random_chance(random, 0.5))
        stats->bins = (int)check_random_int(random, 1, 12);
    if (!check_random_chance(random, 0.5))
        return;
    stats->class_count = (int)check_random_int(random, 1, 9);
    stats->classes = check_memory((size_t)(p->nb * p->nk), sizeof *stats->classes);
    for (int64_t at = 0; at < p->nb * p->nk; at++)
        stats->classes[at] =
            (int32_t)check_random_int(random, -1, stats->class_count - 1);
}

struct check_problem check_sample(uint64_t seed,
                                  const struct check_sample_options *options)
{
    struct check_random random = {.seed = seed};
    struct check_problem p = {.seed = seed};

    p.dtype = dtypes[check_random_int(&random, 0, 3)];
    p.out_dtype =
        p.dtype != ATTEND_F64 && check_random_chance(&random, 0.3) ? ATTEND_F32 : p.dtype;
    p.bias_dtype = ATTEND_F32;
    sample_sizes(&p, &random, options);
    if (check_random_chance(&random, 0.7))
        check_sample_layouts(&p, &random, 1);
    sample_positions(&p, &random);
    if (check_random_chance(&random, 0.35))
        sample_mask(&p, &random);
    if (check_random_chance(&random, 0.35))
        check_sample_bias(&p, &random, options->tame);
    check_sample_scores(&p, &random, options->tame);
    p.wants_lse = check_random_chance(&random, 0.7);
    p.wants_weights = check_random_chance(&random, 0.3);
    check_sample_inputs(
        &p, &random, !options->tame && check_random_chance(&random, 0.25) ? 12.0 : 0.0);
    if (check_random_chance(&random, 0.35))
        check_sample_stats(&p, &random);
    return p;
}

struct check_problem check_sample_shape(uint64_t seed, attend_dtype dtype, int64_t nb,
                                        int64_t hq, int64_t hkv, int64_t nq, int64_t nk,
                                        int64_t d, int64_t dv)
{
    struct check_random random = {.seed = seed};
    struct check_problem p = {.seed = seed,
                              .dtype = dtype,
                              .out_dtype = dtype,
                              .bias_dtype = ATTEND_F32,
                              .nb = nb,
                              .hq = hq,
                              .hkv = hkv,
                              .nq = nq,
                              .nk = nk,
                              .d = d,
                              .dv = dv,
                              .window_left = -1,
                              .window_right = -1,
                              .wants_lse = 1};

    check_sample_inputs(&p, &random, 0.0);
    return p;
}

/* SPDX-License-Identifier: MIT */
/*
 * Fuzz whole problems: bytes become shapes, strides, options and contents (raw bit
 * patterns included), and every kernel set that runs is compared with the dense
 * evaluation under the bound.  One byte selects the splits, default or small, and the
 * number of threads.  Each tensor is allocated at its exact size, so that a sanitizer
 * finds out-of-bounds reads.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check/check.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Maximum length of an axis, and the factor of nk that makes several splits. */
enum { LENGTH_MAX = 40, KEYS_TIMES = 10 };

/* The remaining input; bytes past its end are 0. */
struct bytes {
    const uint8_t *at, *end;
};

static int64_t take(struct bytes *in) { return in->at < in->end ? *in->at++ : 0; }

static int64_t take_signed(struct bytes *in) { return (int8_t)take(in); }

static int64_t take_size(struct bytes *in) { return take(in) % (LENGTH_MAX + 1); }

static struct check_layout take_layout(struct bytes *in, int is_output)
{
    struct check_layout layout = {0};
    const int64_t kind = take(in);

    if (kind < 128)
        return layout;
    layout.order = kind & 3;
    layout.pad = kind >> 2 & 7;
    layout.negative = take(in) & 15;
    const int64_t more = take(in);
    layout.skip[more & 3] = more >> 2 & 3;
    layout.broadcast = is_output ? 0 : more >> 4 & 15;
    return layout;
}

/*
 * Contents: raw patterns of the dtype from the input, raw patterns at random, small
 * integers, or normal numbers.
 */
static double *take_values(struct bytes *in, attend_dtype dtype, const int64_t shape[4],
                           const struct check_layout *layout)
{
    const int64_t count = check_count(shape), kind = take(in);
    double *const values = check_memory((size_t)count, sizeof *values);
    struct check_random random = {.seed = (uint64_t)take(in)};

    for (int64_t at = 0; at < count; at++) {
        uint64_t bits = check_random_bits(&random);
        if ((kind & 3) == 0 && in->at < in->end)
            for (size_t byte = 0; byte < attend_dtype_size(dtype); byte++)
                bits = bits << 8 | (uint64_t)take(in);
        values[at] = (kind & 3) <= 1   ? check_load(&bits, dtype, 0)
                     : (kind & 3) == 2 ? (double)((int64_t)(bits >> 60) - 8)
                                       : check_round(dtype, check_random_normal(&random));
    }
    check_repeat(values, shape, layout);
    return values;
}

static void take_shape(struct bytes *in, int64_t times, struct check_problem *p)
{
    static const attend_dtype dtypes[] = {ATTEND_F32, ATTEND_BF16, ATTEND_F16,
                                          ATTEND_F64};
    const int64_t types = take(in), heads = take(in);

    p->dtype = dtypes[types & 3];
    p->bias_dtype = dtypes[types >> 2 & 3];
    p->out_dtype = types & 16 && p->dtype != ATTEND_F64 ? ATTEND_F32 : p->dtype;
    p->wants_lse = (types >> 5 & 1) != 0;
    p->wants_weights = (types >> 6 & 1) != 0;
    p->nb = heads & 3;
    p->hkv = 1 + (heads >> 2 & 1);
    p->hq = p->hkv * (heads >> 4 & 3);
    p->nq = take_size(in);
    p->nk = take_size(in) * times;
    p->nk += times > 1 ? take(in) % times : 0;
    p->d = take_size(in);
    p->dv = take_size(in);
}

static void take_rule(struct bytes *in, int64_t times, struct check_problem *p)
{
    const int64_t flags = take(in), more = take(in);

    p->causal = (attend_causal)(flags & 3);
    p->window_left = flags & 4 ? take(in) % 48 * times : -1;
    p->window_right = flags & 8 ? take(in) % 48 * times : -1;
    p->scale_is_set = (flags & 16) != 0;
    p->scale = p->scale_is_set ? (double)take_signed(in) / 16.0 : 0.0;
    p->softcap = flags & 32 ? 0.25 + (double)take(in) / 4.0 : 0.0;
    if (p->causal == ATTEND_CAUSAL_OFFSET) {
        p->causal_offset = check_memory((size_t)p->nb, sizeof *p->causal_offset);
        for (int64_t b = 0; b < p->nb; b++)
            p->causal_offset[b] = take_signed(in) * times;
    }
    if (more & 1) {
        p->key_lengths = check_memory((size_t)p->nb, sizeof *p->key_lengths);
        for (int64_t b = 0; b < p->nb; b++)
            p->key_lengths[b] = take(in) * times % (p->nk + 1);
    }
    if (more & 2) {
        p->alibi = check_memory((size_t)p->hq, sizeof *p->alibi);
        for (int64_t h = 0; h < p->hq; h++)
            p->alibi[h] = (double)take_signed(in) / 32.0;
    }
    if (more & 4) {
        p->sinks = check_memory((size_t)p->hq, sizeof *p->sinks);
        for (int64_t h = 0; h < p->hq; h++) {
            const int64_t sink = take_signed(in);
            p->sinks[h] = sink == -128 ? -INFINITY : (double)sink / 4.0;
        }
    }
}

/* Statistics: none, a few columns or more, or all. */
static void take_stats(struct bytes *in, struct check_problem *p)
{
    const int64_t flags = take(in);
    struct check_request *const stats = &p->stats;

    if (!(flags & 1))
        return;
    stats->dtype = flags & 2 ? ATTEND_F64 : ATTEND_F32;
    stats->columns =
        flags & 4 ? ATTEND_STAT_COUNT : (int)(take(in) % (ATTEND_STAT_COUNT + 1));
    const int64_t first = take(in);
    for (int c = 0; c < ATTEND_STAT_COUNT; c++)
        stats->column[c] = (attend_stat)((first + c) % ATTEND_STAT_COUNT);
    stats->top = flags & 8 ? (int)(1 + take(in) % ATTEND_TOP_MAX) : 0;
    stats->bins = flags & 16 ? (int)(1 + take(in) % 8) : 0;
    if (!(flags & 32))
        return;
    stats->class_count = (int)(1 + take(in) % 5);
    stats->classes = check_memory((size_t)(p->nb * p->nk), sizeof *stats->classes);
    for (int64_t at = 0; at < p->nb * p->nk; at++)
        stats->classes[at] = (int32_t)(take(in) % (stats->class_count + 1)) - 1;
}

static void take_plane_size(struct bytes *in, const struct check_problem *p,
                            int64_t size[4])
{
    const int64_t full[4] = {p->nb, p->hq, p->nq, p->nk}, axes = take(in);

    for (int a = 0; a < 4; a++)
        size[a] = axes >> a & 1 ? full[a] : 1;
}

/* nk and the windows may be `times` as large as other sizes. */
static struct check_problem take_problem(struct bytes *in, int64_t times)
{
    struct check_problem p = {0};
    int64_t size[4];

    take_shape(in, times, &p);
    take_rule(in, times, &p);
    take_stats(in, &p);
    for (int t = 0; t < CHECK_TENSORS; t++)
        p.layout[t] = take_layout(in, t >= CHECK_OUT);
    const int64_t planes = take(in);
    if (planes & 1) {
        take_plane_size(in, &p, p.mask_size);
        p.mask = take_values(in, ATTEND_BOOL, p.mask_size, &p.layout[CHECK_MASK]);
        for (int64_t at = 0; at < check_count(p.mask_size); at++)
            p.mask[at] = p.mask[at] > 0.0;
    }
    if (planes & 2) {
        take_plane_size(in, &p, p.bias_size);
        p.bias = take_values(in, p.bias_dtype, p.bias_size, &p.layout[CHECK_BIAS]);
    }
    check_tensor_shape(&p, CHECK_Q, size);
    p.q = take_values(in, p.dtype, size, &p.layout[CHECK_Q]);
    check_tensor_shape(&p, CHECK_K, size);
    p.k = take_values(in, p.dtype, size, &p.layout[CHECK_K]);
    check_tensor_shape(&p, CHECK_V, size);
    p.v = take_values(in, p.dtype, size, &p.layout[CHECK_V]);
    return p;
}

static const int threads[] = {1, 3};

/*
 * The kernel sets with default or forced splits, on threads[many] threads.  Contexts are
 * created once per process, since creating them is not under test.
 */
static struct check_run *opened(int split, int many)
{
    static struct check_run runs[2][2];
    struct check_run *const run = &runs[split][many];
    attend_error error = {.message = ""};

    if (run->count == 0) {
        if (check_open(run, NULL, split ? CHECK_SPLIT : CHECK_PLAIN, threads[many],
                       &error) != ATTEND_OK) {
            fprintf(stderr, "fuzz_forward: %s\n", error.message);
            abort();
        }
        run->blocks.exact = 1;
    }
    return run;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct bytes in = {data, data + size};
    const int64_t how = take(&in);
    struct check_run *const run = opened(how & 1, how >> 1 & 1);
    struct check_problem p = take_problem(&in, how & 4 ? KEYS_TIMES : 1);

    for (int s = 0; s < run->count; s++)
        run->sets[s].tally = (struct check_tally){.ok = 1};
    check_all(run, &p);
    for (int s = 0; s < run->count; s++)
        if (!run->sets[s].tally.ok) {
            fprintf(stderr, "%s, %d threads: %s\n", run->sets[s].label,
                    threads[how >> 1 & 1], run->sets[s].tally.detail);
            abort();
        }
    check_problem_free(&p);
    return 0;
}

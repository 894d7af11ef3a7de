/* SPDX-License-Identifier: MIT */
#include "check/check_problem.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Columns of tensor `which`, mask and bias apart. */
static int64_t columns_of(const struct check_problem *p, int which)
{
    switch (which) {
    case CHECK_Q:
    case CHECK_K:
        return p->d;
    case CHECK_V:
    case CHECK_OUT:
        return p->dv;
    case CHECK_LSE:
        return 1;
    case CHECK_ROWS:
        return p->stats.columns;
    case CHECK_TOP_WEIGHTS:
        return p->stats.top;
    case CHECK_DISTANCES:
        return p->stats.bins;
    case CHECK_CLASS_MASS:
        return p->stats.class_count;
    default:
        return p->nk;
    }
}

void check_tensor_shape(const struct check_problem *p, int which, int64_t size[4])
{
    const int of_keys = which == CHECK_K || which == CHECK_V;

    if (which == CHECK_MASK || which == CHECK_BIAS) {
        memcpy(size, which == CHECK_MASK ? p->mask_size : p->bias_size, 4 * sizeof *size);
        return;
    }
    size[0] = p->nb;
    size[1] = of_keys ? p->hkv : p->hq;
    size[2] = of_keys ? p->nk : p->nq;
    size[3] = columns_of(p, which);
}

int check_wants(const struct check_problem *p, int which)
{
    return which == CHECK_OUT       ? 1
           : which == CHECK_LSE     ? p->wants_lse
           : which == CHECK_WEIGHTS ? p->wants_weights
                                    : columns_of(p, which) > 0;
}

attend_dtype check_tensor_dtype(const struct check_problem *p, int which)
{
    switch (which) {
    case CHECK_MASK:
        return ATTEND_BOOL;
    case CHECK_BIAS:
        return p->bias_dtype;
    case CHECK_OUT:
        return p->out_dtype;
    case CHECK_LSE:
    case CHECK_WEIGHTS:
        return p->dtype == ATTEND_F64 ? ATTEND_F64 : ATTEND_F32;
    case CHECK_ROWS:
    case CHECK_TOP_WEIGHTS:
    case CHECK_DISTANCES:
    case CHECK_CLASS_MASS:
        return p->stats.dtype;
    default:
        return p->dtype;
    }
}

int64_t check_count(const int64_t size[4])
{
    return size[0] * size[1] * size[2] * size[3];
}

double check_scale(const struct check_problem *p)
{
    return p->scale_is_set ? p->scale : p->d > 0 ? 1.0 / sqrt((double)p->d) : 1.0;
}

int64_t check_position(const struct check_problem *p, int64_t b, int64_t i)
{
    return p->causal == ATTEND_CAUSAL_BOTTOM_RIGHT ? i + p->nk - p->nq
           : p->causal == ATTEND_CAUSAL_OFFSET     ? i + p->causal_offset[b]
                                                   : i;
}

double check_broadcast(const double *values, const int64_t size[4], int64_t b, int64_t h,
                       int64_t i, int64_t j)
{
    const int64_t index[4] = {b, h, i, j};
    int64_t at = 0;

    for (int axis = 0; axis < 4; axis++)
        at = at * size[axis] + (size[axis] == 1 ? 0 : index[axis]);
    return values[at];
}

static int64_t larger(int64_t a, int64_t b) { return a > b ? a : b; }

static int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }

int check_key_range(const struct check_problem *p, int64_t b, int64_t i, int64_t *first,
                    int64_t *end)
{
    /* No position is further than this from a key: the sums below cannot overflow. */
    const int64_t far = INT64_C(1) << 40, position = check_position(p, b, i);

    *first = 0;
    *end = p->nk;
    if (p->causal != ATTEND_CAUSAL_NONE)
        *end = smaller(*end, position + 1);
    if (p->window_left >= 0)
        *first = larger(*first, position - smaller(p->window_left, far));
    if (p->window_right >= 0)
        *end = smaller(*end, position + smaller(p->window_right, far) + 1);
    if (p->key_lengths != NULL)
        *end = smaller(*end, p->key_lengths[b]);
    return *first < *end;
}

int check_sees(const struct check_problem *p, int64_t b, int64_t h, int64_t i, int64_t j)
{
    int64_t first, end;

    return check_key_range(p, b, i, &first, &end) && j >= first && j < end &&
           (p->mask == NULL || check_broadcast(p->mask, p->mask_size, b, h, i, j) != 0.0);
}

int64_t check_anchor(const struct check_problem *p, int64_t b, int64_t h, int64_t i)
{
    int64_t first, end;

    if (!check_key_range(p, b, i, &first, &end))
        return check_position(p, b, i);
    return p->alibi != NULL && p->alibi[h] < 0.0 ? first : end - 1;
}

int check_spans(const struct check_problem *p, int64_t keys)
{
    int64_t first, end;

    for (int64_t b = 0; b < p->nb; b++)
        for (int64_t i = 0; i < p->nq && p->hq > 0; i++)
            if (check_key_range(p, b, i, &first, &end) &&
                first / keys != (end - 1) / keys)
                return 1;
    return 0;
}

void check_repeat(double *values, const int64_t size[4],
                  const struct check_layout *layout)
{
    int64_t at = 0, index[4];

    for (index[0] = 0; index[0] < size[0]; index[0]++)
        for (index[1] = 0; index[1] < size[1]; index[1]++)
            for (index[2] = 0; index[2] < size[2]; index[2]++)
                for (index[3] = 0; index[3] < size[3]; index[3]++) {
                    int64_t from = 0;
                    for (int a = 0; a < 4; a++)
                        from =
                            from * size[a] + (layout->broadcast >> a & 1 ? 0 : index[a]);
                    values[at++] = values[from];
                }
}

void check_problem_free(struct check_problem *p)
{
    for (int t = 0; t < CHECK_INPUTS; t++)
        free(p->input[t]);
    free(p->causal_offset);
    free(p->key_lengths);
    free(p->alibi);
    free(p->sinks);
    free(p->stats.classes);
    *p = (struct check_problem){0};
}

static void *copy_of(const void *from, int64_t count, size_t size)
{
    if (from == NULL)
        return NULL;

    void *const to = check_memory((size_t)count, size);
    memcpy(to, from, (size_t)count * size);
    return to;
}

struct check_problem check_problem_copy(const struct check_problem *p)
{
    struct check_problem copy = *p;

    for (int t = 0; t < CHECK_INPUTS; t++) {
        int64_t size[4];
        check_tensor_shape(p, t, size);
        copy.input[t] = copy_of(p->input[t], check_count(size), sizeof *p->input[t]);
    }
    copy.causal_offset = copy_of(p->causal_offset, p->nb, sizeof *p->causal_offset);
    copy.key_lengths = copy_of(p->key_lengths, p->nb, sizeof *p->key_lengths);
    copy.alibi = copy_of(p->alibi, p->hq, sizeof *p->alibi);
    copy.sinks = copy_of(p->sinks, p->hq, sizeof *p->sinks);
    copy.stats.classes =
        copy_of(p->stats.classes, p->nb * p->nk, sizeof *p->stats.classes);
    return copy;
}

/* Keeps slices index[0 .. n-1] of an axis; a mask or bias that has but one stays. */
static void pick(struct check_problem *p, int which, int axis, const int64_t *index,
                 int64_t n)
{
    double *const from = p->input[which];
    int64_t size[4], rows = 1, columns = 1;

    check_tensor_shape(p, which, size);
    if (from == NULL || (which >= CHECK_MASK && size[axis] == 1))
        return;
    for (int a = 0; a < 4; a++)
        *(a < axis ? &rows : &columns) *= a == axis ? 1 : size[a];
    double *const to = check_memory((size_t)(rows * n * columns), sizeof *to);
    for (int64_t r = 0; r < rows; r++)
        for (int64_t j = 0; j < n; j++)
            memcpy(to + (r * n + j) * columns,
                   from + (r * size[axis] + index[j]) * columns,
                   (size_t)columns * sizeof *to);
    free(from);
    p->input[which] = to;
    if (which >= CHECK_MASK)
        (which == CHECK_MASK ? p->mask_size : p->bias_size)[axis] = n;
}

struct check_problem check_problem_keys(const struct check_problem *p,
                                        const int64_t *index, int64_t n)
{
    struct check_problem part = check_problem_copy(p);
    const int32_t *const classes = p->stats.classes;

    for (int t = CHECK_K; t < CHECK_INPUTS; t++)
        pick(&part, t, t >= CHECK_MASK ? 3 : 2, index, n);
    if (classes != NULL) {
        free(part.stats.classes);
        part.stats.classes = check_memory((size_t)(p->nb * n), sizeof *classes);
    }
    for (int64_t at = 0; classes != NULL && at < p->nb * n; at++)
        part.stats.classes[at] = classes[at / n * p->nk + index[at % n]];
    part.nk = n;
    return part;
}

/* from .. from + n - 1 */
static int64_t *indices(int64_t from, int64_t n)
{
    int64_t *const index = check_memory((size_t)n, sizeof *index);

    for (int64_t j = 0; j < n; j++)
        index[j] = from + j;
    return index;
}

struct check_problem check_problem_range(const struct check_problem *p, int64_t from,
                                         int64_t end)
{
    int64_t *const index = indices(from, end - from);
    const struct check_problem part = check_problem_keys(p, index, end - from);

    free(index);
    return part;
}

struct check_problem check_problem_heads(const struct check_problem *p, int64_t b,
                                         int64_t h, int64_t hq)
{
    struct check_problem part = check_problem_copy(p);
    const int64_t group = p->hq / p->hkv, hkv = hq < group ? 1 : hq / group;
    int64_t *const heads = indices(h, hq), *const key_heads = indices(h / group, hkv);

    for (int t = 0; t < CHECK_INPUTS; t++)
        pick(&part, t, 0, &b, 1);
    part.nb = 1;
    for (int t = 0; t < CHECK_INPUTS; t++)
        if (t == CHECK_K || t == CHECK_V)
            pick(&part, t, 1, key_heads, hkv);
        else
            pick(&part, t, 1, heads, hq);
    free(heads);
    free(key_heads);
    part.hq = hq;
    part.hkv = hkv;
    if (part.causal_offset != NULL)
        part.causal_offset[0] = p->causal_offset[b];
    if (part.key_lengths != NULL)
        part.key_lengths[0] = p->key_lengths[b];
    for (int64_t j = 0; part.stats.classes != NULL && j < p->nk; j++)
        part.stats.classes[j] = p->stats.classes[b * p->nk + j];
    for (int64_t r = 0; part.alibi != NULL && r < hq; r++)
        part.alibi[r] = p->alibi[h + r];
    for (int64_t r = 0; part.sinks != NULL && r < hq; r++)
        part.sinks[r] = p->sinks[h + r];
    return part;
}

void check_expand_mask(struct check_problem *p)
{
    const int full = p->mask != NULL;
    const int64_t size[4] = {full ? p->nb : 1, full ? p->hq : 1, full ? p->nq : 1, p->nk};
    double *const mask = check_memory((size_t)check_count(size), sizeof *mask);
    int64_t at = 0;

    for (int64_t b = 0; b < size[0]; b++)
        for (int64_t h = 0; h < size[1]; h++)
            for (int64_t i = 0; i < size[2]; i++)
                for (int64_t j = 0; j < size[3]; j++)
                    mask[at++] =
                        full ? check_broadcast(p->mask, p->mask_size, b, h, i, j) : 1.0;
    free(p->mask);
    p->mask = mask;
    memcpy(p->mask_size, size, sizeof size);
    p->layout[CHECK_MASK] = (struct check_layout){0};
}

void check_causal_to_offset(struct check_problem *p)
{
    if (p->causal == ATTEND_CAUSAL_NONE || p->causal == ATTEND_CAUSAL_OFFSET)
        return;

    p->causal_offset = check_memory((size_t)p->nb, sizeof *p->causal_offset);
    for (int64_t b = 0; b < p->nb; b++)
        p->causal_offset[b] = check_position(p, b, 0);
    p->causal = ATTEND_CAUSAL_OFFSET;
}

void check_drop_positions(struct check_problem *p)
{
    free(p->causal_offset);
    free(p->key_lengths);
    free(p->alibi);
    p->causal = ATTEND_CAUSAL_NONE;
    p->causal_offset = NULL;
    p->key_lengths = NULL;
    p->alibi = NULL;
    p->window_left = p->window_right = -1;
}

void check_drop_stats(struct check_problem *p)
{
    free(p->stats.classes);
    p->stats = (struct check_request){.dtype = ATTEND_F32};
}

void check_plain_layouts(struct check_problem *p)
{
    memset(p->layout, 0, sizeof p->layout);
}

struct line {
    char *text;
    size_t size, used;
};

__attribute__((format(printf, 2, 3))) static void say(struct line *line,
                                                      const char *format, ...)
{
    va_list args;

    va_start(args, format);
    const int n =
        vsnprintf(line->text + line->used, line->size - line->used, format, args);
    va_end(args);
    if (n > 0)
        line->used += (size_t)n;
    if (line->used >= line->size)
        line->used = line->size - 1;
}

void check_describe(const struct check_problem *p, char *text, size_t size)
{
    static const char *const causal[] = {"none", "top-left", "bottom-right", "offset"};
    static const char *const names[] = {"q",   "k", "v",    "mask", "bias", "out",
                                        "lse", "p", "rows", "top",  "bins", "classes"};
    struct line line = {text, size, 0};

    text[0] = '\0';
    say(&line, "seed %llu %s->%s nb %d hq %d hkv %d nq %d nk %d d %d dv %d",
        (unsigned long long)p->seed, attend_dtype_name(p->dtype),
        attend_dtype_name(p->out_dtype), (int)p->nb, (int)p->hq, (int)p->hkv, (int)p->nq,
        (int)p->nk, (int)p->d, (int)p->dv);
    say(&line, " scale %.9g causal %s", check_scale(p), causal[p->causal]);
    if (p->causal_offset != NULL && p->nb > 0)
        say(&line, " %lld..", (long long)p->causal_offset[0]);
    if (p->window_left >= 0 || p->window_right >= 0)
        say(&line, " window %lld,%lld", (long long)p->window_left,
            (long long)p->window_right);
    if (p->key_lengths != NULL && p->nb > 0)
        say(&line, " lengths %lld..", (long long)p->key_lengths[0]);
    if (p->softcap > 0.0)
        say(&line, " softcap %g", p->softcap);
    if (p->mask != NULL)
        say(&line, " mask %dx%dx%dx%d", (int)p->mask_size[0], (int)p->mask_size[1],
            (int)p->mask_size[2], (int)p->mask_size[3]);
    if (p->bias != NULL)
        say(&line, " bias %s %dx%dx%dx%d", attend_dtype_name(p->bias_dtype),
            (int)p->bias_size[0], (int)p->bias_size[1], (int)p->bias_size[2],
            (int)p->bias_size[3]);
    say(&line, "%s%s%s%s", p->alibi != NULL ? " alibi" : "",
        p->sinks != NULL ? " sinks" : "", p->wants_lse ? " lse" : "",
        p->wants_weights ? " weights" : "");
    if (p->stats.columns + p->stats.top + p->stats.bins + p->stats.class_count > 0)
        say(&line, " stats %s columns %d top %d bins %d classes %d",
            attend_dtype_name(p->stats.dtype), p->stats.columns, p->stats.top,
            p->stats.bins, p->stats.class_count);
    for (int t = 0; t < CHECK_TENSORS; t++) {
        const struct check_layout *const l = &p->layout[t];
        if (memcmp(l, &(struct check_layout){0}, sizeof *l) != 0)
            say(&line, " %s:o%d/s%d%d%d%d/p%d/n%x/b%x%s", names[t], l->order, l->skip[0],
                l->skip[1], l->skip[2], l->skip[3], l->pad, l->negative, l->broadcast,
                l->at_start ? "/start" : "");
    }
}

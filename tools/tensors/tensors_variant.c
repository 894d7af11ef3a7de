/* SPDX-License-Identifier: MIT */
/* The problem that a slip computes. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tensors/tensors_tool.h"

double *tensors_permuted(const double *x, const int64_t size[4], const int order[4])
{
    const int64_t stride[4] = {size[1] * size[2] * size[3], size[2] * size[3], size[3],
                               1};
    double *const y = check_memory((size_t)check_count(size), sizeof *y);
    int64_t at[4], to = 0;

    for (at[0] = 0; at[0] < size[order[0]]; at[0]++)
        for (at[1] = 0; at[1] < size[order[1]]; at[1]++)
            for (at[2] = 0; at[2] < size[order[2]]; at[2]++)
                for (at[3] = 0; at[3] < size[order[3]]; at[3]++) {
                    int64_t from = 0;
                    for (int a = 0; a < 4; a++)
                        from += at[a] * stride[order[a]];
                    y[to++] = x[from];
                }
    return y;
}

static const int swapped[4] = {0, 2, 1, 3};

static void permute(double **x, const int64_t size[4], const int order[4])
{
    double *const y = tensors_permuted(*x, size, order);

    free(*x);
    *x = y;
}

/* ---- heads ------------------------------------------------------------------------ */

/* The columns of the heads of q, k and v as a slip reads them. */
static void split(struct check_problem *p, const struct tensors_slip *slip)
{
    for (int t = CHECK_Q; t <= CHECK_V && slip->split; t++) {
        int64_t size[4];
        check_tensor_shape(p, t, size);
        permute(&p->input[t], size, swapped); /* (b, l, h, d) */
        if (slip->split == SPLIT_INTERLEAVED)
            permute(&p->input[t], (int64_t[4]){size[0], size[2], size[3], size[1]},
                    (int[4]){0, 3, 1, 2});
    }
    if (slip->split == SPLIT_AXES) {
        const int64_t heads = p->hq;
        p->hq = p->hkv = p->nq;
        p->nq = p->nk = heads;
    } else if (slip->split == SPLIT_NOT) {
        p->d *= p->hkv;
        p->dv *= p->hkv;
        p->hq = p->hkv = 1;
    }
}

/* The heads of k or v, `size`, for every query head, in the order 0, 1, 0, 1. */
static void repeat(double **x, const int64_t size[4], int64_t heads)
{
    const int64_t head = size[2] * size[3];
    double *const y = check_memory((size_t)(size[0] * heads * head), sizeof *y);

    for (int64_t b = 0; b < size[0]; b++)
        for (int64_t h = 0; h < heads; h++)
            memcpy(y + (b * heads + h) * head, *x + (b * size[1] + h % size[1]) * head,
                   (size_t)head * sizeof *y);
    free(*x);
    *x = y;
}

/* ---- scale and mask --------------------------------------------------------------- */

static double scale_of(const struct check_problem *p, const struct tensors_slip *slip)
{
    switch (slip->scale) {
    case SCALE_NONE:
        return 1.0;
    case SCALE_TWICE:
        return p->scale * p->scale;
    case SCALE_INVERSE:
        return 1.0 / p->scale;
    case SCALE_MODEL:
        return p->scale / sqrt((double)p->hq);
    case SCALE_USUAL:
        return 1.0 / sqrt((double)p->d);
    default:
        return p->scale;
    }
}

/* The causal rule of a slip, as an offset. */
static void move_causal(struct check_problem *p, const struct tensors_slip *slip)
{
    if (p->causal == ATTEND_CAUSAL_NONE)
        return;
    if (slip->is_other_corner)
        p->causal = p->causal == ATTEND_CAUSAL_TOP_LEFT ? ATTEND_CAUSAL_BOTTOM_RIGHT
                                                        : ATTEND_CAUSAL_TOP_LEFT;
    check_causal_to_offset(p);
    for (int64_t b = 0; b < p->nb; b++)
        p->causal_offset[b] += slip->shift;
}

/* Whether a query sees a key, for all of them, changed as a slip has it. */
static double *visible(const struct check_problem *p, const struct tensors_slip *slip)
{
    double *const seen =
        check_memory((size_t)(p->nb * p->hq * p->nq * p->nk), sizeof *seen);
    double *to = seen;

    for (int64_t b = 0; b < p->nb; b++)
        for (int64_t h = 0; h < p->hq; h++)
            for (int64_t i = 0; i < p->nq; i++)
                for (int64_t j = 0; j < p->nk; j++)
                    *to++ = slip->mask == MASK_TRANSPOSED ? check_sees(p, b, h, j, i)
                            : slip->mask == MASK_INVERTED ? !check_sees(p, b, h, i, j)
                                                          : check_sees(p, b, h, i, j);
    return seen;
}

static void expand_mask(struct tensors_variant *variant, const struct tensors_slip *slip)
{
    struct check_problem *const p = &variant->p;
    const int hides = p->causal != ATTEND_CAUSAL_NONE || p->mask != NULL;

    if (hides && slip->mask != MASK_NONE)
        variant->visible = visible(p, slip);
    check_drop_positions(p);
    free(p->mask);
    p->mask = NULL;
    if (slip->mask == MASK_ADDED) {
        p->bias = variant->visible;
        p->bias_dtype = ATTEND_F64;
        const int64_t size[4] = {p->nb, p->hq, p->nq, p->nk};
        memcpy(p->bias_size, size, sizeof size);
        variant->visible = NULL;
    }
}

/* ---- rotation --------------------------------------------------------------------- */

static void rotate(const struct tensors_variant *variant, double *x,
                   const int64_t size[4], int64_t first, int sign)
{
    const int64_t t = size[2], d = size[3];
    int64_t *const positions = check_memory((size_t)t, sizeof *positions);
    const attend_tensor rows = {
        x, ATTEND_F64, {size[0], size[1], t, d}, {size[1] * t * d, t * d, d, 1}};

    for (int64_t l = 0; l < t; l++)
        positions[l] = sign * (first + l);
    attend_layer_rotate(variant->rotary, variant->base, positions, &rows, NULL);
    free(positions);
}

/* Across the columns of all heads. */
static void rotate_whole(const struct tensors_variant *variant, double **x,
                         const int64_t size[4], int64_t first)
{
    permute(x, size, swapped);
    rotate(variant, *x, (int64_t[4]){size[0], 1, size[2], size[1] * size[3]}, first, 1);
    permute(x, (int64_t[4]){size[0], size[2], size[1], size[3]}, swapped);
}

static void rotate_inputs(struct tensors_variant *variant,
                          const struct tensors_slip *slip)
{
    const enum tensors_rotate how = slip->rotate;
    struct check_problem *const p = &variant->p;

    if (variant->rotary == ATTEND_LAYER_ROTARY_NONE)
        return;
    if (how == ROTATE_OTHER)
        variant->rotary = variant->rotary == ATTEND_LAYER_ROTARY_PAIRS
                              ? ATTEND_LAYER_ROTARY_HALVES
                              : ATTEND_LAYER_ROTARY_PAIRS;
    if (slip->base_power > 0)
        variant->base = pow(variant->base, slip->base_power);
    if (slip->base > 0)
        variant->base = slip->base;
    if (slip->rotate_zero)
        variant->first_query = 0;
    variant->first_query += slip->rotate_shift;
    variant->is_whole = how == ROTATE_WHOLE;
    for (int t = CHECK_Q; t <= CHECK_V; t++) {
        const int64_t first = t == CHECK_Q ? variant->first_query : 0;
        int64_t size[4];
        check_tensor_shape(p, t, size);
        if (how == ROTATE_NONE || (how == ROTATE_Q && t != CHECK_Q) ||
            (how == ROTATE_K && t != CHECK_K) || (how != ROTATE_V_TOO && t == CHECK_V))
            continue;
        if (how == ROTATE_WHOLE)
            rotate_whole(variant, &p->input[t], size, first);
        else
            rotate(variant, p->input[t], size, first, how == ROTATE_BACK ? -1 : 1);
    }
    if (how == ROTATE_NONE)
        variant->rotary = ATTEND_LAYER_ROTARY_NONE;
}

/* ---- operands ------------------------------------------------------------------- */

static void exchange(double **a, double **b)
{
    double *const kept = *a;

    *a = *b;
    *b = kept;
}

/* Values that make the output the weights themselves. */
static void set_identity(struct check_problem *p)
{
    const int64_t heads = p->nb * p->hkv, n = p->nk;

    free(p->v);
    p->dv = n;
    p->v = check_memory((size_t)(heads * n * n), sizeof *p->v);
    for (int64_t at = 0; at < heads * n * n; at++)
        p->v[at] = at / n % n == at % n;
}

static void swap_operands(struct check_problem *p, const struct tensors_slip *slip)
{
    if (slip->swap == SWAP_QK)
        exchange(&p->q, &p->k);
    if (slip->swap == SWAP_KV)
        exchange(&p->k, &p->v);
    if (slip->swap == SWAP_QV)
        exchange(&p->q, &p->v);
    if (slip->swap == V_IS_K) {
        const size_t count = (size_t)(p->nb * p->hkv * p->nk * p->d);
        free(p->v);
        p->dv = p->d;
        p->v = check_memory(count, sizeof *p->v);
        memcpy(p->v, p->k, count * sizeof *p->v);
    }
    if (slip->swap == V_IS_ONE)
        set_identity(p);
}

struct tensors_variant tensors_variant_of(const struct tensors_problem *problem,
                                          const struct tensors_slip *slip)
{
    struct tensors_variant variant = {.p = check_problem_copy(&problem->p),
                                      .rotary = problem->rotary,
                                      .base = problem->base,
                                      .first_query = check_position(&problem->p, 0, 0)};
    struct check_problem *const p = &variant.p;

    split(p, slip);
    p->scale = scale_of(p, slip);
    move_causal(p, slip);
    expand_mask(&variant, slip);
    rotate_inputs(&variant, slip);
    swap_operands(p, slip);
    if (slip->is_repeated) {
        repeat(&p->k, (int64_t[4]){p->nb, p->hkv, p->nk, p->d}, p->hq);
        repeat(&p->v, (int64_t[4]){p->nb, p->hkv, p->nk, p->dv}, p->hq);
        p->hkv = p->hq;
    }
    return variant;
}

void tensors_variant_free(struct tensors_variant *variant)
{
    check_problem_free(&variant->p);
    free(variant->visible);
}

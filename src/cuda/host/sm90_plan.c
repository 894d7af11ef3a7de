/* SPDX-License-Identifier: MIT */
#include "cuda/host/sm90_plan.h"

#include <float.h>
#include <math.h>

#include "base/error.h"
#include "core/tensor.h"
#include "cuda/host/tensor_maps.h"

enum { WIDTH_MOST = 256, WARP_ROWS = 16 };
/* Bytes of K and V that should stay in the cache while tiles of the same heads run. */
#define SECTION_BYTES ((int64_t)32 << 20)
/* CTAs of the non-finite kernel, which usually has no work. */
enum { NONFINITE_CTAS = 44 };
#define SIZE_MOST ((int64_t)1 << 29)
/* From so many keys on, splits of decoding have 2048 keys, below 1024. */
#define SPLIT_WIDE_FROM ((int64_t)1 << 16)

static int64_t width_of(const struct problem *p)
{
    const int64_t most = max_i64(p->d, p->dv);

    return most <= 64 ? 64 : most <= 128 ? 128 : 256;
}

/* Whether scores are modified before the row max. */
static bool has_score_mod(const struct problem *p)
{
    return p->bias.data || p->alibi || p->softcap != 0;
}

/* Keys of a block. */
static int block_keys(const struct problem *p)
{
    return width_of(p) == 256 || has_score_mod(p) ? 64 : 128;
}

/* Whether three warpgroups share a tile, not two. */
static bool is_tall(const struct problem *p, const struct sm90_plan *plan)
{
    return plan->path == SM90_PREFILL && width_of(p) == 64 && !plan->masked &&
           !plan->stats;
}

/* Wide keys with values half as wide: d up to 192, dv up to 128, as in DeepSeek's MLA. */
static bool is_d192(const struct problem *p, const struct sm90_plan *plan)
{
    return plan->path == SM90_PREFILL && !plan->masked && !plan->stats && p->d > 128 &&
           p->d <= 192 && p->dv <= 128;
}

/* Rows of a tile. */
static int tile_rows(const struct problem *p, const struct sm90_plan *plan)
{
    return plan->path == SM90_DECODE ? 64 : is_tall(p, plan) ? 192 : SM90_TILE_ROWS;
}

/* Whether scores are the scaled product only, with a positive scale. */
static bool rule_is_plain(const struct problem *p)
{
    return !p->mask.data && !has_score_mod(p);
}

/* Whether the first position is known on the host, or is the caller's array unchanged. */
static bool positions_fit(const struct problem *p)
{
    return p->first_query == 0 ||
           (p->causal != ATTEND_CAUSAL_OFFSET && p->first_query <= SIZE_MOST &&
            p->first_query >= -SIZE_MOST);
}

static bool numbers_fit(const struct cuda_device *d, const struct problem *p)
{
    const double c = p->scale * 1.4426950408889634;

    return d->hopper && p->fast && (p->dtype == ATTEND_F16 || p->dtype == ATTEND_BF16) &&
           c > FLT_MIN && c < 1e30 && positions_fit(p) &&
           (p->softcap == 0 || (p->softcap > 1e-30 && p->softcap < 1e30));
}

static enum sm90_path path_of(const struct cuda_device *d, const struct problem *p)
{
    if (!numbers_fit(d, p) || p->shard || p->weights.data)
        return SM90_NONE;
    if (p->nq == 1 && !rule_is_plain(p))
        return SM90_NONE;
    if (p->d < 1 || p->d > WIDTH_MOST || p->dv < 1 || p->dv > WIDTH_MOST || p->nk < 1 ||
        p->nq < 1 || p->nk > SIZE_MOST || p->nq > SIZE_MOST ||
        p->nb * p->hq >
            SIZE_MOST / max_i64(p->nq, ceil_div_i64(p->nk, SM90_SPLIT_LEAST)) ||
        p->nb * p->hq == 0 || (has_score_mod(p) && width_of(p) > 128))
        return SM90_NONE;
    return p->nq == 1 && p->group <= 64 ? SM90_DECODE : SM90_PREFILL;
}

static const attend_view *input(const struct problem *p, int x)
{
    return x == 0 ? &p->q : x == 1 ? &p->k : &p->v;
}

/* Keys of a split of decoding: of nk alone, so that no other row changes a row's bits. */
static int64_t split_keys(const struct cuda_device *d, const struct problem *p)
{
    return d->decode_split ? d->decode_split : p->nk < SPLIT_WIDE_FROM ? 1024 : 2048;
}

static int64_t splits_of(const struct cuda_device *d, const struct problem *p)
{
    return ceil_div_i64(p->nk, split_keys(d, p));
}

/* Floats of a record: reference and sum, then columns in fours. */
static int64_t record_length(const struct problem *p)
{
    return SM90_RECORD_HEAD + ceil_div_i64(p->dv, 4) * 4;
}

/*
 * Whether the fused kernels compute all requested statistics.  Not for a single query:
 * decoding does not fuse them, and groups that are too large for decoding must have the
 * same bits.
 */
static bool fuses_stats(const struct problem *p)
{
    const unsigned left =
        STATS_ROWS | STATS_RAW | STATS_TOP | STATS_SINK | STATS_DISTANCE;
    const unsigned not_left = 1u << ATTEND_STAT_RAW_MEAN | 1u << ATTEND_STAT_RAW_VARIANCE;

    return p->stats.needs != STATS_NONE && p->nq > 1 && !has_score_mod(p) &&
           width_of(p) <= 128 && !(p->stats.needs & ~left) &&
           !(p->stats.wanted & not_left) && !p->stats.raw.data && p->stats.top <= 2;
}

/* ---- masks --------------------------------------------------------------------- */

/*
 * Sets the steps between tiles of the packed mask; 0 for axes that the mask broadcasts.
 */
static void set_mask(const struct problem *p, struct sm90_rules *r)
{
    const int64_t blocks = ceil_div_i64(p->nq, SM90_TILE_ROWS);
    const bool heads = p->hq > 1 && p->mask.stride[1] != 0;
    const bool batches = p->nb > 1 && p->mask.stride[0] != 0;
    const bool bounds = p->key_lengths || p->causal == ATTEND_CAUSAL_OFFSET;

    r->units = (int)ceil_div_i64(p->nk, SM90_UNIT);
    r->block_keys = block_keys(p);
    r->list_length = 1 + (int)ceil_div_i64(p->nk, block_keys(p));
    r->bits_step[1] = heads ? blocks : 0;
    r->bits_step[0] = batches ? blocks * (heads ? p->hq : 1) : 0;
    r->bits_tiles = (int)(blocks * (heads ? p->hq : 1) * (batches ? p->nb : 1));
    r->list_step[1] = r->bits_step[1];
    r->list_step[0] = batches || bounds ? blocks * (heads ? p->hq : 1) : 0;
    r->list_tiles = (int)(blocks * (heads ? p->hq : 1) * (batches || bounds ? p->nb : 1));
}

static void plan_mask(const struct problem *p, struct sm90_plan *plan, size_t *total)
{
    struct sm90_rules r = {.on = 1};

    set_mask(p, &r);
    plan->bits_at = attendi_cuda_take(
        total, (int64_t)r.bits_tiles * r.units * SM90_TILE_THREADS * 8, 1);
    plan->states_at = attendi_cuda_take(total, (int64_t)r.bits_tiles * r.units, 1);
    plan->lists_at = attendi_cuda_take(
        total, (int64_t)r.list_tiles * r.list_length * (int64_t)sizeof(int), 1);
}

void attendi_sm90_plan(const struct cuda_device *d, const struct problem *p,
                       struct sm90_plan *plan, size_t *total)
{
    *plan = (struct sm90_plan){.path = path_of(d, p)};
    if (plan->path == SM90_NONE)
        return;
    plan->masked = !rule_is_plain(p);
    plan->stats = plan->path == SM90_PREFILL && fuses_stats(p);
    if (p->mask.data)
        plan_mask(p, plan, total);
    for (int x = 0; x < 3; x++) {
        const attend_view *const view = input(p, x);

        plan->packs[x] = !attendi_tma_takes(view->data, view->size, view->stride);
        if (plan->packs[x])
            plan->pack_at[x] = attendi_cuda_take(total, attendi_packed_count(view), 2);
    }
    if (plan->path == SM90_DECODE && splits_of(d, p) > 1)
        plan->records_at = attendi_cuda_take(
            total, p->nb * p->hq * splits_of(d, p) * record_length(p), sizeof(float));
}

/* The rows of a group of heads as rows of one head, for nq = 1. */
static void fold_heads(struct sm90_tensor *t, int64_t group)
{
    t->stride[2] = t->stride[1];
    t->stride[1] *= group;
}

/* ---- the launch ----------------------------------------------------------------------
 */

struct sm90_call {
    cu_tensor_map q, k, v, out;
    struct sm90_launch a;
};

/* Sets the bounds of visible keys for the kernel. */
static void set_bounds(const struct problem *p, struct sm90_launch *a)
{
    const bool causal = p->causal != ATTEND_CAUSAL_NONE;
    const bool right = causal || p->window_right >= 0;
    /* The last row of a bottom-right problem sees the last key. */
    const bool all = p->nq == 1 && p->causal == ATTEND_CAUSAL_BOTTOM_RIGHT &&
                     p->window_left < 0 && p->first_query >= 0;

    a->bounded = (right || p->window_left >= 0) && !all;
    a->key_lengths = p->key_lengths;
    a->may_hide = a->bounded || p->key_lengths;
    a->offset =
        p->first_query + (p->causal == ATTEND_CAUSAL_BOTTOM_RIGHT ? p->nk - p->nq : 0);
    a->causal_offset = p->causal == ATTEND_CAUSAL_OFFSET ? p->causal_offset : NULL;
    a->reach = causal ? 1 : right ? p->window_right + 1 : -1;
    a->behind = p->window_left;
    a->step = p->nq > 1;
}

static int64_t section_heads(const struct problem *p)
{
    const int64_t head = p->nk * (p->d + p->dv) * 2;
    int64_t heads = 1;

    while (2 * heads * head <= SECTION_BYTES && heads < p->nb * p->hkv)
        heads *= 2;
    return heads * p->group;
}

static void set_shape(const struct cuda_device *d, const struct problem *p,
                      const struct sm90_plan *plan, struct sm90_launch *a)
{
    const bool folds = plan->path == SM90_DECODE;

    a->nb = (int)p->nb;
    a->heads = (int)(folds ? p->hkv : p->hq);
    a->group = (int)(folds ? 1 : p->group);
    a->rows = (int)(folds ? p->group : p->nq);
    a->nk = (int)p->nk;
    a->d = (int)p->d;
    a->dv = (int)p->dv;
    a->splits = folds ? (int)splits_of(d, p) : 1;
    a->split_keys = (int)split_keys(d, p);
    a->record = (int)record_length(p);
    a->row_blocks = (int)ceil_div_i64(a->rows, tile_rows(p, plan));
    a->section = (int)section_heads(p);
    a->tiles = a->nb * a->heads * a->row_blocks * a->splits;
    a->c = (float)(p->scale * 1.4426950408889634);
    a->scale = p->scale;
    a->sinks = p->sinks;
}

static void set_rules(const struct problem *p, const struct sm90_plan *plan,
                      char *workspace, struct sm90_launch *a)
{
    struct sm90_rules *const r = &a->rules;

    r->on = plan->masked != 0;
    r->score_mod = has_score_mod(p);
    r->scale = (float)p->scale;
    r->cap = (float)p->softcap;
    r->alibi = p->alibi;
    if (r->score_mod) /* scores are nats */
        a->c = 1.4426950408889634f;
    if (p->bias.data) {
        r->bias_type = (int)p->bias.dtype;
        r->bias = attendi_sm90_tensor(p->bias.data, p->bias.stride);
        for (int x = 0; x < 4; x++)
            r->bias.stride[x] *= (int64_t)attend_dtype_size(p->bias.dtype);
    }
    if (!p->mask.data)
        return;
    set_mask(p, r);
    r->mask = attendi_sm90_tensor(p->mask.data, p->mask.stride);
    r->bits = (uint32_t *)(void *)(workspace + plan->bits_at);
    r->states = (uint8_t *)(workspace + plan->states_at);
    r->lists = (int *)(void *)(workspace + plan->lists_at);
    a->may_hide = 1;
}

static void set_outputs(const struct problem *p, bool folds, struct sm90_launch *a)
{
    a->out = attendi_sm90_tensor(p->out.data, p->out.stride);
    a->out_float = p->out.dtype == ATTEND_F32;
    a->lse = p->lse.data;
    for (int x = 0; x < 3; x++)
        a->lse_stride[x] = p->lse.stride[x];
    if (folds) {
        fold_heads(&a->out, p->group);
        a->lse_stride[2] = a->lse_stride[1];
        a->lse_stride[1] *= p->group;
    }
}

/* Allocates counters that are 0 before and after each launch. */
static attend_status take_control(struct cuda_device *d, struct sm90_launch *a,
                                  attend_error *err)
{
    const size_t tiles = 2 * (size_t)(a->may_hide ? a->tiles : 0);
    const size_t size = (SM90_CONTROL_COUNT + 2 * tiles) * sizeof(int);

    if (d->control.size < size) {
        TRY(attendi_cuda_reserve(d, &d->control, size, err));
        TRY(attendi_driver_check(&d->driver,
                                 d->driver.fill(d->control.at, 0, size, d->stream),
                                 "clearing memory", err));
    }
    /* The flags have a fixed place; the list after them is not zeroed by the kernels. */
    a->control = (int *)d->control.at;
    a->flags = a->control + SM90_CONTROL_COUNT;
    a->list = a->flags + (d->control.size / sizeof(int) - SM90_CONTROL_COUNT) / 2;
    return ATTEND_OK;
}

static attend_status describe(struct cuda_device *d, const struct problem *p,
                              const struct sm90_plan *plan, struct sm90_call *call,
                              attend_error *err)
{
    struct sm90_launch *const a = &call->a;
    const int64_t q[4] = {p->nb, a->heads, a->rows, p->d};
    const int64_t out[4] = {p->nb, a->heads, a->rows, p->dv};
    const int keys = is_d192(p, plan) ? 128 : block_keys(p);

    TRY(attendi_map_tensor(d, p->dtype, &a->q, q, tile_rows(p, plan), &call->q, err));
    TRY(attendi_map_tensor(d, p->dtype, &a->k, p->k.size, keys, &call->k, err));
    TRY(attendi_map_tensor(d, p->dtype, &a->v, p->v.size, keys, &call->v, err));
    call->out = call->q; /* unused, but has to be valid */
    a->out_tma = plan->path == SM90_PREFILL && !a->out_float &&
                 attendi_tma_stores(a->out.data, out, a->out.stride);
    return a->out_tma
               ? attendi_map_tensor(d, p->dtype, &a->out, out, WARP_ROWS, &call->out, err)
               : ATTEND_OK;
}

/* The kernel for an element type, given the one for f16. */
static enum kernel_name of_type(enum kernel_name first, const struct problem *p)
{
    return (enum kernel_name)((int)first + (p->dtype == ATTEND_BF16));
}

/* The kernel for a width and an element type, given the one for 64 columns and f16. */
static enum kernel_name of_width(enum kernel_name first, const struct problem *p)
{
    return of_type((enum kernel_name)((int)first + 2 * (int)(width_of(p) / 128)), p);
}

/* The kernel of a plan, and the one that computes its listed tiles again. */
static enum kernel_name first_kernel(const struct problem *p,
                                     const struct sm90_plan *plan)
{
    if (is_d192(p, plan))
        return of_type(KERNEL_sm90_prefill_d192_f16, p);
    return of_width(plan->path == SM90_DECODE     ? KERNEL_sm90_decode_d64_f16
                    : has_score_mod(p)            ? KERNEL_sm90_score_mod_d64_f16
                    : plan->stats && plan->masked ? KERNEL_sm90_stats_masked_d64_f16
                    : plan->stats                 ? KERNEL_sm90_stats_d64_f16
                    : plan->masked                ? KERNEL_sm90_masked_d64_f16
                                                  : KERNEL_sm90_prefill_d64_f16,
                    p);
}

static enum kernel_name nonfinite_kernel(const struct problem *p,
                                         const struct sm90_plan *plan)
{
    const bool wide = width_of(p) == 256;

    return of_type(plan->path == SM90_DECODE
                       ? (wide ? KERNEL_sm90_decode_nonfinite_d256_f16
                               : KERNEL_sm90_decode_nonfinite_d128_f16)
                   : has_score_mod(p) ? KERNEL_sm90_score_mod_nonfinite_d128_f16
                   : is_d192(p, plan) ? KERNEL_sm90_nonfinite_d192_f16
                   : is_tall(p, plan) ? KERNEL_sm90_nonfinite_d64_f16
                   : wide             ? KERNEL_sm90_nonfinite_d256_f16
                                      : KERNEL_sm90_nonfinite_d128_f16,
                   p);
}

static attend_status prepare_mask(struct cuda_device *d, struct sm90_launch *a,
                                  attend_error *err)
{
    void *parameters[] = {a};

    if (!a->rules.bits)
        return ATTEND_OK;
    TRY(attendi_cuda_launch(d, KERNEL_sm90_mask,
                            (int64_t)a->rules.bits_tiles * a->rules.units,
                            SM90_TILE_THREADS, SM90_MASK_SHARED, parameters, err));
    return attendi_cuda_launch(d, KERNEL_sm90_lists, a->rules.list_tiles, 32, 0,
                               parameters, err);
}

static attend_status combine_records(struct cuda_device *d, const struct problem *p,
                                     struct sm90_launch *a, attend_error *err)
{
    void *parameters[] = {a};

    return attendi_cuda_launch(
        d, p->dtype == ATTEND_F16 ? KERNEL_sm90_combine_f16 : KERNEL_sm90_combine_bf16,
        (int64_t)a->nb * a->heads * a->rows,
        32 * (int)min_i64(SM90_COMBINE_WARPS, a->splits),
        SM90_COMBINE_SHARED * sizeof(float), parameters, err);
}

static attend_status launch_all(struct cuda_device *d, const struct problem *p,
                                const struct sm90_plan *plan, struct sm90_call *call,
                                attend_error *err)
{
    const bool decodes = plan->path == SM90_DECODE;
    const int threads = decodes ? 256 : is_tall(p, plan) ? 512 : 384;
    const int64_t blocks = min_i64(call->a.tiles, d->sm_count);
    void *parameters[] = {&call->q, &call->k, &call->v, &call->out, &call->a};

    TRY(prepare_mask(d, &call->a, err));
    TRY(attendi_cuda_launch(d, first_kernel(p, plan), blocks, threads, SM90_SHARED,
                            parameters, err));
    if (call->a.may_hide)
        TRY(attendi_cuda_launch(d, nonfinite_kernel(p, plan),
                                min_i64(blocks, NONFINITE_CTAS), threads, SM90_SHARED,
                                parameters, err));
    return call->a.splits > 1 ? combine_records(d, p, &call->a, err) : ATTEND_OK;
}

attend_status attendi_sm90_run(struct cuda_device *d, const struct problem *p,
                               const struct sm90_plan *plan, char *workspace,
                               double *sums, attend_error *err)
{
    const bool folds = plan->path == SM90_DECODE;
    struct sm90_call call = {.a = {.records = NULL}};
    struct sm90_tensor *const to[3] = {&call.a.q, &call.a.k, &call.a.v};

    for (int x = 0; x < 3; x++)
        TRY(attendi_pack_input(d, input(p, x), plan->packs[x] != 0,
                               workspace + plan->pack_at[x], to[x], err));
    if (folds) {
        fold_heads(&call.a.q, p->group);
        call.a.records = (float *)(void *)(workspace + plan->records_at);
    }
    set_shape(d, p, plan, &call.a);
    set_bounds(p, &call.a);
    set_rules(p, plan, workspace, &call.a);
    call.a.stats = (struct sm90_row_sums){
        .sums = sums, .length = p->stats.sums_length, .top = p->stats.top};
    set_outputs(p, folds, &call.a);
    TRY(take_control(d, &call.a, err));
    TRY(describe(d, p, plan, &call, err));
    return launch_all(d, p, plan, &call, err);
}

/* ---- columns
 * --------------------------------------------------------------------------- */

/* Queries of a block, keys of a tile, threads. */
enum {
    COLUMN_ROWS = 128,
    COLUMN_KEYS = 256,
    COLUMN_THREADS = 640,
    COLUMN_WIDTH_MOST = 128
};

void attendi_sm90_plan_columns(const struct cuda_device *d, const struct problem *p,
                               struct sm90_plan *plan, size_t *total)
{
    const struct inspection *const s = p->inspection;
    const int64_t padded_rows = ceil_div_i64(p->nq, COLUMN_ROWS) * COLUMN_ROWS;

    *plan = (struct sm90_plan){.path = SM90_NONE};
    if (!numbers_fit(d, p) || !rule_is_plain(p) ||
        !(s->column_mass.data || s->column_max.data) || s->column_last.data || p->d < 1 ||
        p->d > COLUMN_WIDTH_MOST || p->nk < 1 || p->nq < 1 || p->nk > SIZE_MOST ||
        p->nq > SIZE_MOST || p->nb * p->hq == 0 ||
        p->nb * p->hq > SIZE_MOST / ceil_div_i64(p->nk, COLUMN_KEYS))
        return;
    plan->path = SM90_COLUMNS;
    for (int x = 0; x < 2; x++) {
        const attend_view *const view = input(p, x);

        plan->packs[x] = !attendi_tma_takes(view->data, view->size, view->stride);
        if (plan->packs[x])
            plan->pack_at[x] = attendi_cuda_take(total, attendi_packed_count(view), 2);
    }
    plan->records_at =
        attendi_cuda_take(total, p->nb * p->hq * padded_rows * (int64_t)sizeof(float), 1);
}

static struct sm90_columns columns_of(const struct problem *p, float *bits)
{
    const struct inspection *const s = p->inspection;
    struct sm90_launch bounds = {.nb = 0};
    struct sm90_columns a = {
        .nb = (int)p->nb,
        .heads = (int)p->hq,
        .group = (int)p->group,
        .nq = (int)p->nq,
        .nk = (int)p->nk,
        .key_blocks = (int)ceil_div_i64(p->nk, COLUMN_KEYS),
        .lse_double = s->lse.dtype == ATTEND_F64,
        .c = (float)(p->scale * 1.4426950408889634),
        .lse = attendi_sm90_tensor(s->lse.data, s->lse.stride),
        .mass = attendi_sm90_tensor(s->column_mass.data, s->column_mass.stride),
        .most = attendi_sm90_tensor(s->column_max.data, s->column_max.stride),
        .bits = bits,
        .padded = ceil_div_i64(p->nq, COLUMN_ROWS) * COLUMN_ROWS};

    set_bounds(p, &bounds);
    a.bounded = bounds.bounded;
    a.offset = bounds.offset;
    a.reach = bounds.reach;
    a.behind = bounds.behind;
    a.causal_offset = bounds.causal_offset;
    a.key_lengths = bounds.key_lengths;
    a.count = p->nb * p->hq * a.padded;
    a.tiles = a.nb * a.heads * a.key_blocks;
    return a;
}

attend_status attendi_sm90_columns(struct cuda_device *d, const struct problem *p,
                                   const struct sm90_plan *plan, char *workspace,
                                   attend_error *err)
{
    struct sm90_columns a =
        columns_of(p, (float *)(void *)(workspace + plan->records_at));
    struct sm90_tensor q, k;
    cu_tensor_map q_map, k_map;
    void *lse[] = {&a}, *parameters[] = {&k_map, &q_map, &a};
    const enum kernel_name first = KERNEL_sm90_columns_d64_f16;

    TRY(attendi_pack_input(d, &p->q, plan->packs[0] != 0, workspace + plan->pack_at[0],
                           &q, err));
    TRY(attendi_pack_input(d, &p->k, plan->packs[1] != 0, workspace + plan->pack_at[1],
                           &k, err));
    TRY(attendi_map_tensor(d, p->dtype, &q, p->q.size, COLUMN_ROWS, &q_map, err));
    TRY(attendi_map_tensor(d, p->dtype, &k, p->k.size, COLUMN_KEYS, &k_map, err));
    TRY(attendi_cuda_launch(d, KERNEL_sm90_lse,
                            min_i64(ceil_div_i64(a.count, 256), 4 * 1024), 256, 0, lse,
                            err));
    return attendi_cuda_launch(
        d,
        (enum kernel_name)((int)first + (p->d > 64 ? 2 : 0) + (p->dtype == ATTEND_BF16)),
        min_i64(a.tiles, d->sm_count), COLUMN_THREADS, SM90_SHARED, parameters, err);
}

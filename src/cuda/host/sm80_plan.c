/* SPDX-License-Identifier: MIT */
#include "cuda/host/sm80_plan.h"

#include <float.h>

#include "base/error.h"
#include "core/tensor.h"
#include "cuda/host/tensor_maps.h"
#include "cuda/sm80/sm80.h"

enum { WIDTH_MOST = 256, PACK_THREADS = 256, PACK_BLOCKS = 4096 };
#define SIZE_MOST ((int64_t)1 << 29)
#define LOG2_E 1.4426950408889634
#define LN_2 0.69314718055994531

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

static bool numbers_fit(const struct problem *p)
{
    const double c = p->scale * LOG2_E;

    return (p->dtype == ATTEND_F16 || p->dtype == ATTEND_BF16) && c > FLT_MIN &&
           c < 1e30 && (p->softcap == 0 || (p->softcap > 1e-30 && p->softcap < 1e30));
}

static bool sizes_fit(const struct problem *p)
{
    const int64_t heads = p->nb * p->hq;

    return p->d >= 1 && p->d <= WIDTH_MOST && p->dv >= 1 && p->dv <= WIDTH_MOST &&
           p->nk >= 1 && p->nk <= SIZE_MOST && p->nq >= 1 && p->nq <= SIZE_MOST &&
           heads >= 1 &&
           heads <= SIZE_MOST / max_i64(ceil_div_i64(p->nq, SM80_ROWS_RULES),
                                        ceil_div_i64(p->nk, SM80_SPLIT));
}

static enum sm80_path path_of(const struct cuda_device *d, const struct problem *p)
{
    if (!d->sm80 || !p->fast || p->shard || p->weights.data || !numbers_fit(p) ||
        !sizes_fit(p))
        return SM80_NONE;
    if (p->nq == 1)
        return SM80_DECODE;
    return p->mask.data || has_score_mod(p) || width_of(p) == 256 ? SM80_RULES
                                                                  : SM80_PREFILL;
}

/* Whether rows are contiguous and start at multiples of 16 bytes. */
static bool has_chunks(const void *data, const int64_t size[4], const int64_t stride[4])
{
    if ((uintptr_t)data % 16 != 0 || (size[3] > 1 && stride[3] != 1))
        return false;
    for (int a = 0; a < 3; a++)
        if (size[a] > 1 && stride[a] % 8 != 0)
            return false;
    return true;
}

static const attend_view *input(const struct problem *p, int x)
{
    return x == 0 ? &p->q : x == 1 ? &p->k : &p->v;
}

static int64_t splits_of(const struct problem *p)
{
    return ceil_div_i64(p->nk, SM80_SPLIT);
}

void attendi_sm80_plan(const struct cuda_device *d, const struct problem *p,
                       struct sm80_plan *plan, size_t *total)
{
    *plan = (struct sm80_plan){.path = path_of(d, p)};
    if (plan->path == SM80_NONE)
        return;
    for (int x = 0; x < 3; x++) {
        const attend_view *const view = input(p, x);

        plan->packs[x] = !has_chunks(view->data, view->size, view->stride);
        if (plan->packs[x])
            plan->pack_at[x] = attendi_cuda_take(total, attendi_packed_count(view), 2);
    }
    if (plan->path == SM80_DECODE)
        plan->records_at = attendi_cuda_take(
            total, p->nb * p->hq * splits_of(p) * (p->dv + 2), sizeof(float));
}

/* Queues a dense copy of an input, and points the view to it. */
static attend_status pack(struct cuda_device *d, attend_view *view, char *to,
                          attend_error *err)
{
    struct sm80_pack a = {.from = *view,
                          .padded = attendi_padded_columns(view),
                          .count = attendi_packed_count(view),
                          .to = (uint16_t *)(void *)to};
    void *parameters[] = {&a};

    view->data = to;
    view->stride[3] = 1;
    view->stride[2] = a.padded;
    view->stride[1] = view->stride[2] * view->size[2];
    view->stride[0] = view->stride[1] * view->size[1];
    return attendi_cuda_launch(d, KERNEL_sm80_pack,
                               min_i64(ceil_div_i64(a.count, PACK_THREADS), PACK_BLOCKS),
                               PACK_THREADS, 0, parameters, err);
}

/* Launch configuration of a path. */
struct shape {
    enum kernel_name first; /* the instance for d64 and f16; others follow it */
    int rows, threads, slots;
};

static struct shape shape_of(enum sm80_path path)
{
    switch (path) {
    case SM80_PREFILL:
        return (struct shape){KERNEL_sm80_prefill_d64_f16, SM80_ROWS, SM80_THREADS,
                              SM80_SLOTS};
    case SM80_DECODE:
        return (struct shape){KERNEL_sm80_decode_d64_f16, SM80_DECODE_ROWS,
                              SM80_DECODE_THREADS, SM80_DECODE_SLOTS};
    case SM80_NONE:
    case SM80_RULES:
        break;
    }
    return (struct shape){KERNEL_sm80_rules_d64_f16, SM80_ROWS_RULES, SM80_THREADS,
                          SM80_SLOTS};
}

/* Keys of a block, as in the SM80_KERNEL lines. */
static int64_t block_keys(const struct problem *p)
{
    return width_of(p) == 256 ? 32 : 64;
}

/* Whether the mask can be read two keys at a time. */
static bool has_pairs(const attend_view *mask)
{
    const int64_t *const stride = mask->stride;

    return mask->data && (uintptr_t)mask->data % 2 == 0 && stride[3] == 1 &&
           stride[0] % 2 == 0 && stride[1] % 2 == 0 && stride[2] % 2 == 0;
}

static void set_launch(const struct problem *p, const struct sm80_plan *plan,
                       const struct shape *shape, struct sm80_launch *a)
{
    const bool pack_gqa = plan->path == SM80_DECODE;

    a->pack_gqa = pack_gqa;
    a->splits = pack_gqa ? (int)splits_of(p) : 0;
    a->row_blocks = (int)ceil_div_i64(pack_gqa ? p->group : p->nq, shape->rows);
    a->items =
        (int)(p->nb * (pack_gqa ? p->hkv * a->splits : p->hq) * (int64_t)a->row_blocks);
    a->score_mod = has_score_mod(p);
    a->mask_pairs = has_pairs(&p->mask);
    a->plain = plan->path == SM80_PREFILL;
    a->unit = a->plain ? LN_2 : a->score_mod ? 1 : p->scale;
    a->c = (float)(a->score_mod ? LOG2_E : p->scale * LOG2_E);
    a->vector_store = p->out.dtype != ATTEND_F32 && p->dv % 8 == 0 &&
                      has_chunks(p->out.data, p->out.size, p->out.stride);
}

attend_status attendi_sm80_run(struct cuda_device *d, const struct problem *p,
                               const struct sm80_plan *plan, char *workspace,
                               attend_error *err)
{
    const struct shape shape = shape_of((enum sm80_path)plan->path);
    const int64_t width = width_of(p);
    struct sm80_launch a = {.p = *p};
    attend_view *const inputs[3] = {&a.p.q, &a.p.k, &a.p.v};
    void *parameters[] = {&a};

    set_launch(p, plan, &shape, &a);
    a.records = (float *)(void *)(workspace + plan->records_at);
    for (int x = 0; x < 3; x++)
        if (plan->packs[x])
            TRY(pack(d, inputs[x], workspace + plan->pack_at[x], err));
    TRY(attendi_cuda_launch(
        d,
        (enum kernel_name)((int)shape.first + 2 * (int)(width / 128) +
                           (p->dtype == ATTEND_BF16)),
        a.items, shape.threads,
        (size_t)SM80_SHARED(width, shape.rows, block_keys(p), shape.slots), parameters,
        err));
    return a.splits == 0 ? ATTEND_OK
                         : attendi_cuda_launch(d, KERNEL_sm80_combine, p->nb * p->hq,
                                               SM80_COMBINE_THREADS, 0, parameters, err);
}

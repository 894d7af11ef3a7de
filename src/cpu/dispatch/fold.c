/* SPDX-License-Identifier: MIT */
#include "cpu/dispatch/fold.h"

#include <stdbool.h>

/* Whether one stride leads through all queries of all batches. */
static bool is_foldable(const void *data, const int64_t stride[4], int64_t nq)
{
    return !data || nq == 1 || stride[0] == nq * stride[2];
}

static void fold(int64_t size[4], int64_t stride[4], int64_t nb, int64_t nq)
{
    if (nq == 1)
        stride[2] = stride[0];
    size[0] = 1;
    size[2] = nb * nq;
}

/* Whether every row sees all keys, whatever its batch and position. */
static bool rows_see_all(const struct problem *p)
{
    if (p->key_lengths || p->causal == ATTEND_CAUSAL_OFFSET || p->alibi)
        return false;
    if (p->nq == 1) {
        const struct key_range keys = attendi_key_range(p, 0, 0);
        return keys.lo == 0 && keys.hi == p->nk;
    }
    return p->causal == ATTEND_CAUSAL_NONE && p->window_left < 0 && p->window_right < 0;
}

void attendi_fold_batches(struct problem *p)
{
    const int64_t nb = p->nb, nq = p->nq;

    if (nb < 2 || nq == 0 || p->k.stride[0] != 0 || p->v.stride[0] != 0 || p->shard ||
        p->inspection || p->stats.needs || !rows_see_all(p))
        return;
    if (!is_foldable(p->q.data, p->q.stride, nq) ||
        !is_foldable(p->out.data, p->out.stride, nq) ||
        !is_foldable(p->lse.data, p->lse.stride, nq) ||
        !is_foldable(p->weights.data, p->weights.stride, nq) ||
        !is_foldable(p->mask.data, p->mask.stride, nq) ||
        !is_foldable(p->bias.data, p->bias.stride, nq))
        return;
    fold(p->q.size, p->q.stride, nb, nq);
    fold(p->out.size, p->out.stride, nb, nq);
    fold(p->lse.size, p->lse.stride, nb, nq);
    fold(p->weights.size, p->weights.stride, nb, nq);
    fold(p->mask.size, p->mask.stride, nb, nq);
    fold(p->bias.size, p->bias.stride, nb, nq);
    p->k.size[0] = p->v.size[0] = 1;
    p->nb = 1;
    p->nq = nb * nq;
    p->first_query = 0;
    p->causal = ATTEND_CAUSAL_NONE;
    p->window_left = p->window_right = -1;
}

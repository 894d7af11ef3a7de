/* SPDX-License-Identifier: MIT */
#include "ref/ref_score.h"

#include <math.h>

#include "core/inspect_store.h"
#include "core/tensor.h"

static double dot(const struct problem *p, int64_t b, int64_t h, int64_t i, int64_t j)
{
    const void *q = attendi_view_row(&p->q, b, h, i);
    const void *k = attendi_view_row(&p->k, b, h / p->group, j);
    double sum = 0.0;

    for (int64_t c = 0; c < p->d; c++)
        sum += attendi_load(q, p->q.dtype, c * p->q.stride[3]) *
               attendi_load(k, p->k.dtype, c * p->k.stride[3]);
    return sum;
}

bool attendi_ref_sees(const struct problem *p, int64_t b, int64_t h, int64_t i, int64_t j)
{
    const struct key_range range = attendi_key_range(p, b, i);

    if (j < range.lo || j >= range.hi)
        return false;
    return !p->mask.data || attendi_load(attendi_view_row(&p->mask, b, h, i), ATTEND_BOOL,
                                         j * p->mask.stride[3]) != 0.0;
}

double attendi_ref_score(const struct problem *p, int64_t b, int64_t h, int64_t i,
                         int64_t j)
{
    double s = p->scale * dot(p, b, h, i, j);

    if (p->softcap > 0.0)
        s = p->softcap * tanh(s / p->softcap);
    if (p->bias.data)
        s += attendi_load(attendi_view_row(&p->bias, b, h, i), p->bias.dtype,
                          j * p->bias.stride[3]);
    if (p->alibi)
        s += p->alibi[h] * (double)(j - attendi_position(p, b, i));
    return s;
}

double attendi_ref_weight(const struct problem *p, int64_t b, int64_t h, int64_t i,
                          int64_t j)
{
    const double lse = attendi_inspect_lse(p, b, h, i);

    if (lse == -INFINITY || !attendi_ref_sees(p, b, h, i, j))
        return 0.0;
    return exp(attendi_ref_score(p, b, h, i, j) - lse);
}

/* SPDX-License-Identifier: MIT */
/* Hidden values that are not finite, for the non-finite kernel. */
#ifndef ATTEND_CUDA_SM90_NONFINITE_CUH
#define ATTEND_CUDA_SM90_NONFINITE_CUH

#include "cuda/sm90/sm90_rules.cuh"
#include "cuda/sm90/sm90_softmax.cuh"

/* Replaces Inf and NaN of a block of V by 0; x: index of the thread. */
template <class C> DEVICE void make_finite(uint32_t v, int thread)
{
#pragma unroll 1
    for (int x = thread; x < C::VBYTES / 4; x += 128 * C::GROUPS) {
        uint32_t a = (uint32_t)load_shared(v + 4 * x);
        if ((a & 0x7fff) >= element<typename C::E>::inf)
            a &= 0xffff0000;
        if ((a >> 16 & 0x7fff) >= element<typename C::E>::inf)
            a &= 0x0000ffff;
        store_shared(v + 4 * x, (int)a);
    }
    copy_fence();
}

/* Whether rows first .. last have a key of block j hidden from one of them. */
template <class C>
DEVICE bool hides(const sm90_launch &p, const tile_of &t, int first, int last, int entry)
{
    const int j = index_of<C>(entry), keys = C::BN;
    return entry != j || (j + 1) * keys > row_end(p, t, first) ||
           j * keys < row_begin(p, t, last);
}

template <class C>
DEVICE float score_of(const sm90_launch &p, const tile_of &t, int row, int key)
{
    typedef typename C::E E;
    const E *q = (const E *)p.q.data + t.b * p.q.stride[0] + t.h * p.q.stride[1] +
                 row * p.q.stride[2];
    const E *k = (const E *)p.k.data + t.b * p.k.stride[0] +
                 t.h / p.group * p.k.stride[1] + key * p.k.stride[2];
    float s = 0;

    for (int c = 0; c < p.d; c++)
        s = __fmaf_rn(element<E>::wide(q[c * p.q.stride[3]]),
                      element<E>::wide(k[c * p.k.stride[3]]), s);
    if (C::SCORE_MOD && p.rules.score_mod)
        s = finish_score(p, t, row, key, s);
    return s;
}

/*
 * Sums of a thread with Inf or NaN: one bit for +Inf and one for -Inf; NaN sets both.
 * Bits avoid unrolling the loop over columns, since sums are in registers.
 */
template <int N> struct nonfinite_sums {
    uint32_t plus[N / 32], minus[N / 32];

    DEVICE nonfinite_sums()
    {
#pragma unroll
        for (int x = 0; x < N / 32; x++)
            plus[x] = minus[x] = 0;
    }
    /* The products of value(i) for each sum i with the weights of the two rows. */
    template <class F>
    DEVICE void add(const float (&weight)[2], const bool (&sees)[2], F value)
    {
#pragma unroll
        for (int word = 0; word < N / 32; word++)
#pragma unroll 1
            for (int i = 0; i < 32; i++) {
                const float x = value(32 * word + i), y = x * weight[(i >> 1) & 1];
                if (sees[(i >> 1) & 1] && !(fabsf(x) < CUDART_INF_F)) {
                    plus[word] |= (uint32_t)!(y < 0) << i;
                    minus[word] |= (uint32_t)!(y > 0) << i;
                }
            }
    }
    DEVICE void add_to(float (&O)[N]) const
    {
#pragma unroll
        for (int i = 0; i < N; i++) {
            if (plus[i / 32] >> i % 32 & 1)
                O[i] += CUDART_INF_F;
            if (minus[i / 32] >> i % 32 & 1)
                O[i] -= CUDART_INF_F;
        }
    }
};

/* Adds Inf and NaN of blocks with hidden keys to the rows that see them. */
template <class C, int N>
DEVICE void add_not_finite(const sm90_launch &p, const tile_of &t, float (&O)[N],
                           const softmax &st, const int (&row)[2], int lane)
{
    typedef typename C::E E;
    const int top = t.block * C::BM, last = min(top + C::BM, p.rows) - 1;
    nonfinite_sums<N> sums;

#pragma unroll 1
    for (int n = t.from; n < t.to; n++) {
        const int entry = block_of<C>(p, t.list, n), j = index_of<C>(entry);
        if (!hides<C>(p, t, top, last, entry))
            continue;
#pragma unroll 1
        for (int key = j * C::BN; key < min((j + 1) * C::BN, p.nk); key++) {
            const E *v = (const E *)p.v.data + t.b * p.v.stride[0] +
                         t.h / p.group * p.v.stride[1] + key * p.v.stride[2] +
                         2 * (lane & 3) * p.v.stride[3];
            /* The value for sum i of the thread. */
            auto value = [&](int i) {
                const int column = 8 * (i / 4) + (i & 1);
                return column + 2 * (lane & 3) < p.dv
                           ? element<E>::wide(v[column * p.v.stride[3]])
                           : 0.f;
            };
            float none = 0;
#pragma unroll 1
            for (int i = 0; i < N; i += 4)
                none += value(i) * 0.f + value(i + 1) * 0.f;
            if (none == none)
                continue;
            float weight[2] = {0, 0};
            bool sees[2];
#pragma unroll
            for (int r = 0; r < 2; r++) {
                const int i = row[r];
                const float m = st.m[r];
                sees[r] = i < p.rows && key >= row_begin(p, t, i) &&
                          key < row_end(p, t, i) &&
                          (!C::MASKED || mask_shows(p, t, i, key));
                if (sees[r])
                    weight[r] = ex2_score<C>(score_of<C>(p, t, i, key),
                                             m == -CUDART_INF_F ? 0.f : m, p.c);
            }
            sums.add(weight, sees, value);
        }
    }
    sums.add_to(O);
}

#endif

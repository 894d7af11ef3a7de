/* SPDX-License-Identifier: MIT */
/* The softmax of a block of scores; see the top of sm90.cuh. */
#ifndef ATTEND_CUDA_SM90_SOFTMAX_CUH
#define ATTEND_CUDA_SM90_SOFTMAX_CUH

#include "cuda/sm90/sm90_tiles.cuh"

/* The two rows of a thread; four threads share a row. */
struct softmax {
    float m[2], l[2]; /* the reference, and the sum of this thread's weights */
    bool lazy[2];
};

/*
 * The reference for a score, in units of log 2 (score times c), so that one FMA gives the
 * exponent.  With score_mod in nats: the lowest float, which models add to hide keys,
 * overflows times log2 e.
 */
template <class C> DEVICE float reference_of(float score, float c)
{
    return C::SCORE_MOD ? score : score * c;
}
template <class C> DEVICE float reference_bits(float bits)
{
    return C::SCORE_MOD ? bits * 0.693147180559945309417f : bits;
}
/* 2 to the difference of two references, and of a score and a reference. */
template <class C> DEVICE float ex2_between(float a, float b, float c)
{
    return ex2(C::SCORE_MOD ? (a - b) * c : a - b);
}
template <class C> DEVICE float ex2_score(float score, float m, float c)
{
    return ex2(C::SCORE_MOD ? (score - m) * c : __fmaf_rn(score, c, -m));
}

DEVICE void largest_of_four(float (&x)[2])
{
#pragma unroll
    for (int r = 0; r < 2; r++) {
        x[r] = fmaxf(x[r], __shfl_xor_sync(~0u, x[r], 1));
        x[r] = fmaxf(x[r], __shfl_xor_sync(~0u, x[r], 2));
    }
}

template <int N> DEVICE void largest_of_block(const float (&S)[N], float (&x)[2])
{
    float a[2][2] = {{S[0], S[1]}, {S[2], S[3]}};
#pragma unroll
    for (int i = 4; i < N; i++)
        a[(i >> 1) & 1][i & 1] = fmaxf(a[(i >> 1) & 1][i & 1], S[i]);
    x[0] = fmaxf(a[0][0], a[0][1]);
    x[1] = fmaxf(a[1][0], a[1][1]);
}

/* Whether the weights of rows with largest scores `most` span more than 2^160. */
template <int N>
DEVICE void find_wide(const float (&S)[N], const float (&most)[2], float c,
                      bool (&wide)[2])
{
    float least[2] = {-CUDART_INF_F, -CUDART_INF_F};

#pragma unroll
    for (int i = 0; i < N; i++)
        if (i % 16 < 4)
            least[(i >> 1) & 1] =
                fmaxf(least[(i >> 1) & 1], S[i] > -CUDART_INF_F ? -S[i] : -CUDART_INF_F);
    largest_of_four(least);
#pragma unroll
    for (int r = 0; r < 2; r++)
        wide[r] = (most[r] + least[r]) * c > 160.f;
}

/*
 * The first block: sets the reference, and whether the row is lazy, by the minimum of a
 * quarter of its scores.
 */
template <class C, int N>
DEVICE void start_rows(const float (&S)[N], float (&most)[2], softmax &st, float c,
                       bool safe)
{
    bool wide[2];

    largest_of_four(most);
    find_wide(S, most, c, wide);
#pragma unroll
    for (int r = 0; r < 2; r++) {
        st.m[r] = reference_of<C>(most[r], c) -
                  reference_bits<C>(element<typename C::E>::raised);
        st.l[r] = 0;
        st.lazy[r] = safe || wide[r];
    }
}

/*
 * Raises references that a score exceeds by 2^8; true if any of the warp was raised.
 * `most`: the largest scores of the thread.
 */
template <class C>
DEVICE bool raise_reference(float (&most)[2], softmax &st, float c, bool all,
                            float (&scale)[2])
{
    const float raised = reference_bits<C>(element<typename C::E>::raised);
    const float far = reference_bits<C>(8.f);

    scale[0] = scale[1] = 1.f;
    if (!__any_sync(~0u, reference_of<C>(most[0], c) - raised > st.m[0] + far ||
                             reference_of<C>(most[1], c) - raised > st.m[1] + far))
        return false;
    largest_of_four(most);
#pragma unroll
    for (int r = 0; r < 2; r++) {
        const float m = reference_of<C>(most[r], c) - raised;
        const bool none = C::MASKED && st.m[r] == -CUDART_INF_F;
        if ((all || none || st.lazy[r]) && m > st.m[r] + far) {
            scale[r] = ex2_between<C>(st.m[r], m, c);
            st.m[r] = m;
            st.l[r] *= scale[r];
        }
    }
    return true;
}

/* Turns scores into weights; true if rows were rescaled.  `lost`: a sum overflowed. */
template <class C, int N>
DEVICE bool softmax_block(float (&S)[N], softmax &st, float c, float (&scale)[2],
                          bool &lost)
{
    constexpr float limit = element<typename C::E>::limit;
    float m[2], sum[2][2] = {{0, 0}, {0, 0}};

#pragma unroll
    for (int r = 0; r < 2; r++)
        m[r] = st.m[r] == -CUDART_INF_F ? 0.f : st.m[r];
#pragma unroll
    for (int i = 0; i < N; i++) {
        const int r = (i >> 1) & 1;
        S[i] = ex2_score<C>(S[i], m[r], c);
        sum[r][i & 1] += S[i];
    }
    sum[0][0] += sum[0][1];
    sum[1][0] += sum[1][1];
    const bool over = __any_sync(~0u, !(sum[0][0] < limit && sum[1][0] < limit));
    if (over) {
        float most[2] = {sum[0][0], sum[1][0]};
        float by[2] = {1.f, 1.f};
        /* Not for a NaN score: the row is NaN in any case. */
        if (sum[0][0] >= 1e38f || sum[1][0] >= 1e38f)
            lost = true;
        largest_of_four(most);
#pragma unroll
        for (int r = 0; r < 2; r++)
            if (most[r] >= limit && most[r] < 1e38f) {
                const int e = (__float_as_int(most[r]) >> 23 & 255) - 127;
                by[r] = __int_as_float((127 - e) << 23);
                st.m[r] += reference_bits<C>((float)e);
                st.l[r] *= by[r];
                sum[r][0] *= by[r];
                scale[r] *= by[r];
            }
#pragma unroll
        for (int i = 0; i < N; i++)
            S[i] *= by[(i >> 1) & 1];
    }
    st.l[0] += sum[0][0];
    st.l[1] += sum[1][0];
    return over;
}

template <class C, int N>
DEVICE void pack_weights(const float (&S)[N], uint32_t (&P)[N / 2])
{
#pragma unroll
    for (int i = 0; i < N / 2; i++)
        P[i] = element<typename C::E>::pack(S[2 * i], S[2 * i + 1]);
}

/*
 * Hides scores of keys outside begin .. end - 1, relative to the thread's first column.
 */
template <int N>
DEVICE void hide(float (&S)[N], const int (&begin)[2], const int (&end)[2], bool left)
{
#pragma unroll
    for (int i = 0; i < N; i++) {
        const int column = 8 * (i / 4) + (i & 1), r = (i >> 1) & 1;
        if (column >= end[r])
            S[i] = -CUDART_INF_F;
    }
    if (left) {
#pragma unroll
        for (int i = 0; i < N; i++) {
            const int column = 8 * (i / 4) + (i & 1), r = (i >> 1) & 1;
            if (column < begin[r])
                S[i] = -CUDART_INF_F;
        }
    }
}

#endif

/* SPDX-License-Identifier: MIT */
/*
 * Row statistics beside the softmax.  All sums are relative to the row's reference, as
 * its weights are, and follow it when it moves, so the bits of O are those of a pass
 * without statistics.  A thread keeps sums and its own two largest scores for each of its
 * two rows; four threads make a row at the end.
 */
#ifndef ATTEND_CUDA_SM90_MEASURE_CUH
#define ATTEND_CUDA_SM90_MEASURE_CUH

#include "core/row_sums.h"
#include "cuda/sm90_softmax.cuh"

/* The second largest score of a row, from the two largest of each of its threads. */
DEVICE float second_of_row(float first, float second)
{
#pragma unroll
    for (int x = 1; x <= 2; x *= 2) {
        const float a = __shfl_xor_sync(~0u, first, x);
        const float b = __shfl_xor_sync(~0u, second, x);
        second = fmaxf(fminf(first, a), fmaxf(second, b));
        first = fmaxf(first, a);
    }
    return second;
}

/*
 * The two largest scores of a row's keys in a thread, as they are compared, and the keys;
 * and how many keys are seen, where a rule hides single ones.  They wait in shared
 * memory, a word of every thread side by side.
 */
template <class C> struct largest {
    float score[2];
    int key[2];

    static DEVICE uint32_t word(uint32_t at, int r, int x)
    {
        return at + (5 * r + x) * 4 * 128 * C::GROUPS;
    }
    DEVICE void load(uint32_t at, int r)
    {
#pragma unroll
        for (int x = 0; x < 2; x++) {
            score[x] = __int_as_float(load_shared(word(at, r, x)));
            key[x] = load_shared(word(at, r, 2 + x));
        }
    }
    DEVICE void store(uint32_t at, int r) const
    {
#pragma unroll
        for (int x = 0; x < 2; x++) {
            store_shared(word(at, r, x), __float_as_int(score[x]));
            store_shared(word(at, r, 2 + x), key[x]);
        }
    }
    /* A later call has the earlier key, which goes first among equals. */
    DEVICE void insert(float s, int at)
    {
        const bool first = s >= score[0], second = s >= score[1];
        key[1] = first ? key[0] : second ? at : key[1];
        score[1] = first ? score[0] : second ? s : score[1];
        key[0] = first ? at : key[0];
        score[0] = first ? s : score[0];
    }
    static DEVICE bool precedes(float a, int i, float b, int j)
    {
        return a > b || (a == b && i >= 0 && (j < 0 || i < j));
    }
    /* Of all four threads of a row. */
    DEVICE void merge()
    {
#pragma unroll
        for (int x = 1; x <= 2; x *= 2) {
            float s[2];
            int k[2];
#pragma unroll
            for (int y = 0; y < 2; y++) {
                s[y] = __shfl_xor_sync(~0u, score[y], x);
                k[y] = __shfl_xor_sync(~0u, key[y], x);
            }
            if (precedes(s[0], k[0], score[0], key[0])) {
                const bool own = precedes(score[0], key[0], s[1], k[1]);
                score[1] = own ? score[0] : s[1];
                key[1] = own ? key[0] : k[1];
                score[0] = s[0];
                key[0] = k[0];
            } else if (precedes(s[0], k[0], score[1], key[1])) {
                score[1] = s[0];
                key[1] = k[0];
            }
        }
    }
};

template <class C> struct measures {
    float spread[2], squares[2], far[2]; /* sums of t e, e^2, |gap| e; t = log2 e */
    float bar[2];                        /* the second largest score of the row */
    float sink1[2], sink4[2];

    DEVICE void clear(uint32_t tops)
    {
        const largest<C> none = {{-CUDART_INF_F, -CUDART_INF_F}, {-1, -1}};
#pragma unroll
        for (int r = 0; r < 2; r++) {
            spread[r] = squares[r] = far[r] = sink1[r] = sink4[r] = 0;
            bar[r] = -CUDART_INF_F;
            none.store(tops, r);
            store_shared(none.word(tops, r, 4), 0);
        }
    }
    /* The reference moved by `bits` while the sum was l: t fell by that much. */
    DEVICE void move(int r, float bits, float by, float l)
    {
        spread[r] = l > 0 ? by * (spread[r] - bits * l) : 0.f;
        squares[r] *= by * by;
        far[r] *= by;
    }
    DEVICE void raise(const softmax &before, const softmax &st, const float (&scale)[2])
    {
#pragma unroll
        for (int r = 0; r < 2; r++)
            if (scale[r] != 1.f)
                move(r, st.m[r] - before.m[r], scale[r], before.l[r]);
    }
    /* Keys 0 to 3 are the first columns of the block that comes last. */
    template <int N> DEVICE void take_sinks(const float (&S)[N], int lane)
    {
#pragma unroll
        for (int r = 0; r < 2; r++) {
            sink1[r] = (lane & 3) == 0 ? S[2 * r] : 0.f;
            sink4[r] = (lane & 3) < 2 ? S[2 * r] + S[2 * r + 1] : 0.f;
        }
    }
    /*
     * The scores of columns from .. from + count - 1, the largest of which is `most`.  As
     * a rule no other reaches the row's second largest, `least`.
     */
    template <int N>
    static DEVICE void take_part(const float (&S)[N], int from, int count,
                                 largest<C> &top, int r, float most, float least, int at)
    {
        float rest = -CUDART_INF_F;
        int first = 0, equal = 0;
#pragma unroll
        for (int i = from + count - 1; i >= from; i--)
            if (((i >> 1) & 1) == r) {
                const bool is = S[i] == most;
                first = is ? 8 * (i / 4) + (i & 1) : first;
                equal += is;
                rest = is ? rest : fmaxf(rest, S[i]);
            }
        if (!__any_sync(~0u, rest >= least || (equal > 1 && most >= least))) {
            if (most > -CUDART_INF_F)
                top.insert(most, at + first);
            return;
        }
#pragma unroll
        for (int i = from + count - 1; i >= from; i--)
            if (((i >> 1) & 1) == r && S[i] > -CUDART_INF_F)
                top.insert(S[i], at + 8 * (i / 4) + (i & 1));
    }
    /*
     * The largest scores of a block go to `most`; those that reach the row's second
     * largest so far are kept with their keys, which count from `at`, the thread's first.
     */
    template <int N>
    DEVICE void take_largest(const float (&S)[N], uint32_t tops, int at, float (&most)[2])
    {
        constexpr int PARTS = 4, PART = N / PARTS;
#pragma unroll
        for (int r = 0; r < 2; r++) {
            float part[PARTS];
#pragma unroll
            for (int x = 0; x < PARTS; x++) {
                part[x] = S[x * PART + 2 * r];
#pragma unroll
                for (int i = x * PART; i < (x + 1) * PART; i++)
                    if (((i >> 1) & 1) == r)
                        part[x] = fmaxf(part[x], S[i]);
            }
            most[r] = fmaxf(fmaxf(part[0], part[1]), fmaxf(part[2], part[3]));
            const float least = fmaxf(bar[r], -3.402823466e38f);
            if (!__any_sync(~0u, most[r] >= least))
                continue;
            largest<C> top;
            top.load(tops, r);
#pragma unroll
            for (int x = PARTS - 1; x >= 0; x--)
                if (__any_sync(~0u, part[x] >= least))
                    take_part(S, x * PART, PART, top, r, part[x], least, at);
            top.store(tops, r);
            bar[r] = second_of_row(top.score[0], top.score[1]);
        }
    }
};

/* Keys that a rule leaves to a row. */
template <class C, int N> DEVICE void count_keys(const float (&S)[N], uint32_t tops)
{
#pragma unroll
    for (int r = 0; r < 2; r++) {
        const uint32_t at = largest<C>::word(tops, r, 4);
        int count = load_shared(at);
#pragma unroll
        for (int i = 0; i < N; i++)
            if (((i >> 1) & 1) == r)
                count += S[i] > -CUDART_INF_F;
        store_shared(at, count);
    }
}

/* Sums of |gap| e of a block whose keys lie on both sides of a row. */
template <int N> DEVICE float far_of_block(const float (&S)[N], int r, float gap)
{
    float far = 0;
#pragma unroll
    for (int i = 0; i < N; i++)
        if (((i >> 1) & 1) == r)
            far = __fmaf_rn(fabsf(gap - (float)(8 * (i / 4) + (i & 1))), S[i], far);
    return far;
}

/* Sums of e log2 e from the weights alone: 0 where a key is hidden. */
template <int N> DEVICE float spread_of_block(const float (&S)[N], int r)
{
    float spread = 0;
#pragma unroll
    for (int i = 0; i < N; i++)
        if (((i >> 1) & 1) == r && S[i] > 0)
            spread = __fmaf_rn(__log2f(S[i]), S[i], spread);
    return spread;
}

/*
 * weigh() with sums; the arithmetic of S, st, scale and lost is the same.  The position
 * of a row is row step + at.
 */
template <class C, int N>
DEVICE bool weigh_measured(const sm90_launch &p, int at, float (&S)[N], softmax &st,
                           measures<C> &ms, float c, float (&scale)[2], bool &lost,
                           int first, int key, int lane)
{
    constexpr float limit = element<typename C::E>::limit;
    float m[2], sum[2][2] = {{0, 0}, {0, 0}}, spread[2] = {0, 0}, squares[2] = {0, 0},
                columns[2] = {0, 0};

#pragma unroll
    for (int r = 0; r < 2; r++)
        m[r] = st.m[r] == -CUDART_INF_F ? 0.f : st.m[r];
#pragma unroll
    for (int i = 0; i < N; i++) {
        const int r = (i >> 1) & 1;
        const float bits = __fmaf_rn(S[i], c, -m[r]);
        S[i] = ex2(bits);
        sum[r][i & 1] += S[i];
        spread[r] = __fmaf_rn(bits, S[i], spread[r]);
        squares[r] = __fmaf_rn(S[i], S[i], squares[r]);
        columns[r] = __fmaf_rn((float)(8 * (i / 4) + (i & 1)), S[i], columns[r]);
    }
    sum[0][0] += sum[0][1];
    sum[1][0] += sum[1][1];
    if (__any_sync(~0u, spread[0] != spread[0] || spread[1] != spread[1])) {
        spread[0] = spread_of_block(S, 0); /* a weight of 0 times -inf */
        spread[1] = spread_of_block(S, 1);
    }
    /* Gaps to the thread's first key; of one sign for all keys of most blocks. */
    const int top = first - (lane >> 2);
    const bool before = p.reach == 1 || key + C::BN - 1 <= top * p.step + at;
    const bool after = key >= (top + 15) * p.step + at;
#pragma unroll
    for (int r = 0; r < 2; r++) {
        const float gap = (float)((first + 8 * r) * p.step + at - key - 2 * (lane & 3));
        const float signed_far = __fmaf_rn(gap, sum[r][0], -columns[r]);
        columns[r] = before ? signed_far : after ? -signed_far : far_of_block(S, r, gap);
    }
    const bool over = __any_sync(~0u, !(sum[0][0] < limit && sum[1][0] < limit));
    if (over) {
        float most[2] = {sum[0][0], sum[1][0]};
        float by[2] = {1.f, 1.f};
        if (!(sum[0][0] < 1e38f && sum[1][0] < 1e38f))
            lost = true;
        largest_of_four(most);
#pragma unroll
        for (int r = 0; r < 2; r++)
            if (most[r] >= limit && most[r] < 1e38f) {
                const int e = (__float_as_int(most[r]) >> 23 & 255) - 127;
                by[r] = __int_as_float((127 - e) << 23);
                ms.move(r, (float)e, by[r], st.l[r]);
                spread[r] = by[r] * (spread[r] - (float)e * sum[r][0]);
                squares[r] *= by[r] * by[r];
                columns[r] *= by[r];
                st.m[r] += (float)e;
                st.l[r] *= by[r];
                sum[r][0] *= by[r];
                scale[r] *= by[r];
            }
#pragma unroll
        for (int i = 0; i < N; i++)
            S[i] *= by[(i >> 1) & 1];
    }
#pragma unroll
    for (int r = 0; r < 2; r++) {
        st.l[r] += sum[r][0];
        ms.spread[r] += spread[r];
        ms.squares[r] += squares[r];
        ms.far[r] += columns[r];
    }
    return over;
}

DEVICE float sum_of_four(float x)
{
    x += __shfl_xor_sync(~0u, x, 1);
    return x + __shfl_xor_sync(~0u, x, 2);
}

/* The record of a row: relative to its largest score, in double. */
template <class C>
DEVICE void write_measures(const sm90_launch &p, float m, float l, const measures<C> &ms,
                           const largest<C> &top, int r, double keys, double *to)
{
    const double bits = (double)m - (double)top.score[0] * (double)p.c;
    const double by = exp2(bits), ln2 = 0.693147180559945309417;

    for (int x = 0; x < p.measures.length; x++)
        to[x] = 0;
    to[ROW_KEYS] = keys;
    if (!(l < CUDART_INF_F)) { /* a score that is no number, or +inf */
        to[ROW_MAX] = CUDART_NAN;
        return;
    }
    to[ROW_MAX] = top.key[0] < 0 ? -CUDART_INF : top.score[0] * p.scale;
    if (top.key[0] < 0)
        return;
    to[ROW_REST] = fmax(l * by - 1, 0.0);
    to[ROW_SPREAD] = fmin(ln2 * by * (ms.spread[r] + bits * l), 0.0);
    to[ROW_SQUARES] = by * by * ms.squares[r];
    to[ROW_SINK1] = by * ms.sink1[r];
    to[ROW_SINK4] = by * ms.sink4[r];
    to[ROW_DISTANCE] = by * ms.far[r];
    for (int x = 0; x < p.measures.top; x++) {
        to[ROW_FIXED + x] = top.key[x] < 0 ? -CUDART_INF : top.score[x] * p.scale;
        to[ROW_FIXED + p.measures.top + x] = top.key[x];
    }
}

/* st.l is the row's already. */
template <class C>
DEVICE void leave_measures(const sm90_launch &p, const tile_of &t, const softmax &st,
                           measures<C> &ms, uint32_t tops, const int (&row)[2], int lane)
{
#pragma unroll
    for (int r = 0; r < 2; r++) {
        ms.spread[r] = sum_of_four(ms.spread[r]);
        ms.squares[r] = sum_of_four(ms.squares[r]);
        ms.far[r] = sum_of_four(ms.far[r]);
        ms.sink1[r] = sum_of_four(ms.sink1[r]);
        ms.sink4[r] = sum_of_four(ms.sink4[r]);
        largest<C> top;
        top.load(tops, r);
        top.merge();
        const float counted = sum_of_four((float)load_shared(top.word(tops, r, 4)));
        if ((lane & 3) != 0 || row[r] >= p.rows)
            continue;
        const int seen = max(0, row_end(p, t, row[r]) - row_begin(p, t, row[r]));
        write_measures(
            p, st.m[r], st.l[r], ms, top, r, p.rules.on ? counted : (float)seen,
            p.measures.sums +
                ((int64_t)(t.b * p.heads + t.h) * p.rows + row[r]) * p.measures.length);
    }
}

#endif

/* SPDX-License-Identifier: MIT */
/*
 * Row statistics beside the softmax.  All sums are relative to the row's reference, as
 * its weights are, and follow it when it moves, so the bits of O are those of a pass
 * without statistics.  A thread keeps sums and its own two largest scores for each of its
 * two rows; four threads make a row at the end.
 */
#ifndef ATTEND_CUDA_SM90_STATS_CUH
#define ATTEND_CUDA_SM90_STATS_CUH

#include "core/row_sums.h"
#include "cuda/sm90/sm90_softmax.cuh"

/*
 * Layout of the largest scores of a thread in shared memory.  A part is eight scores of a
 * row, of 32 adjacent columns; a thread keeps, for each of its two rows, the two parts
 * with the largest maxima: their scores, and the key of the first column.  The second
 * largest score of a row is in the first of the two, or is the maximum of the second.  A
 * word besides counts keys, where a rule hides single ones.
 */
enum {
    TOP_FIRST_KEY = 32, /* after eight scores */
    TOP_COUNT = 36,
    TOP_FIRST = 40, /* the maximum of the first part */
    TOP_LAST = 44,  /* where the second part is: 0 or TOP_PART */
    TOP_PART = 48,
    TOP_ROW = 2 * TOP_PART,
    TOP_THREAD = 2 * TOP_ROW + 16 /* threads begin in different banks */
};

static_assert(TOP_THREAD == SM90_TOP_BYTES, "as sm90.h has it");
static_assert(TOP_FIRST_KEY == 32, "as store_part() has it");

/* store_if_ge() of the eight scores of a part in the register layout of a product. */
DEVICE void store_part(float a, float b, uint32_t at, const float *s, int key)
{
    store_if_ge(a, b, at, s[0], s[1], s[4], s[5], s[8], s[9], s[12], s[13], key);
}
DEVICE void load_four(uint32_t at, float (&x)[8], int from)
{
    const uint4 y = load_shared_4(at);

    x[from] = __uint_as_float(y.x);
    x[from + 1] = __uint_as_float(y.y);
    x[from + 2] = __uint_as_float(y.z);
    x[from + 3] = __uint_as_float(y.w);
}

/* The second largest score of a row, from two of each of its threads. */
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

/* The maximum of scores of a row, in the layout of a product, compared as integers. */
DEVICE float largest_of_eight(const float *s)
{
    const int a =
        __vimax3_s32(__float_as_int(s[0]), __float_as_int(s[1]), __float_as_int(s[4]));
    const int b =
        __vimax3_s32(__float_as_int(s[5]), __float_as_int(s[8]), __float_as_int(s[9]));
    const int c = max(__float_as_int(s[12]), __float_as_int(s[13]));

    return __int_as_float(__vimax3_s32(a, b, c));
}

/* The two largest scores of a row, in the units of the comparison, and their keys. */
struct largest {
    float score[2];
    int key[2];

    /* Later calls have earlier keys; of equal scores the earlier key is first. */
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
    /* Loads a thread's parts, the one with later keys first. */
    DEVICE void load(uint32_t at)
    {
        const int key_of[2] = {load_shared(at + TOP_FIRST_KEY),
                               load_shared(at + TOP_PART + TOP_FIRST_KEY)};
        const int later = key_of[1] > key_of[0];

        score[0] = score[1] = -CUDART_INF_F;
        key[0] = key[1] = -1;
#pragma unroll 1
        for (int x = 0; x < 2; x++) {
            const uint32_t part = at + (x ^ later) * TOP_PART;
            const int first_key = x ^ later ? key_of[1] : key_of[0];
            float s[8];
            if (first_key < 0)
                continue;
            load_four(part, s, 0);
            load_four(part + 16, s, 4);
#pragma unroll
            for (int i = 7; i >= 0; i--)
                if (s[i] > -CUDART_INF_F)
                    insert(s[i], first_key + 8 * (i / 2) + (i & 1));
        }
    }
    /* Merges the four threads of a row. */
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

template <class C> struct row_stats {
    float spread[2], squares[2], far[2]; /* sums of t e, e^2, |gap| e; t = log2 e */
    float second[2]; /* threshold of a part: at most the row's second largest score */
    float sink1[2], sink4[2];

    DEVICE void clear(uint32_t tops)
    {
#pragma unroll
        for (int r = 0; r < 2; r++) {
            spread[r] = squares[r] = far[r] = sink1[r] = sink4[r] = 0;
            second[r] = -3.402823466e38f;
            store_shared(tops + r * TOP_ROW + TOP_FIRST, __float_as_int(second[r]));
            store_shared(tops + r * TOP_ROW + TOP_LAST, 0);
            store_shared(tops + r * TOP_ROW + TOP_FIRST_KEY, -1);
            store_shared(tops + r * TOP_ROW + TOP_PART + TOP_FIRST_KEY, -1);
            store_shared(tops + r * TOP_ROW + TOP_COUNT, 0);
        }
    }
    /* The reference grew by `bits` and the sum is l: t decreases by bits * l. */
    DEVICE void move(int r, float bits, float by, float l)
    {
        spread[r] = l > 0 ? by * (spread[r] - bits * l) : 0.f;
        squares[r] = squares[r] * by * by;
        far[r] *= by;
    }
    DEVICE void raise(const softmax &before, const softmax &st, const float (&scale)[2])
    {
#pragma unroll
        for (int r = 0; r < 2; r++)
            if (scale[r] != 1.f)
                move(r, st.m[r] - before.m[r], scale[r], before.l[r]);
    }
    /* Keys 0 to 3 are the first columns of the last block in processing order. */
    template <int N> DEVICE void take_sinks(const float (&S)[N], int lane)
    {
#pragma unroll
        for (int r = 0; r < 2; r++) {
            sink1[r] = (lane & 3) == 0 ? S[2 * r] : 0.f;
            sink4[r] = (lane & 3) < 2 ? S[2 * r] + S[2 * r + 1] : 0.f;
        }
    }
    /*
     * Stores parts of a row whose maxima reach `second`, from the last part to the first.
     * A part replaces the second; if it is at least the first, the two slots exchange
     * roles.
     */
    template <int N>
    DEVICE void take_parts(const float (&S)[N], int r, const float *part, uint32_t top,
                           int at)
    {
        float first = __int_as_float(load_shared(top + TOP_FIRST));
        int last = load_shared(top + TOP_LAST);
#pragma unroll
        for (int x = N / 16 - 1; x >= 0; x--) {
            store_part(part[x], second[r], top + last, S + 16 * x + 2 * r, at + 32 * x);
            last ^= part[x] >= fmaxf(first, second[r]) ? TOP_PART : 0;
            second[r] = fmaxf(second[r], fminf(first, part[x]));
            first = fmaxf(first, part[x]);
        }
        store_shared(top + TOP_FIRST, __float_as_int(first));
        store_shared(top + TOP_LAST, last);
    }
    /*
     * Stores parts of a block whose maxima reach the second largest of the row.  Keys are
     * relative to `at`, the thread's first key.  Non-negative floats compare as integers:
     * once all rows have positive maxima, parts use a three-way integer maximum.
     */
    template <int N> DEVICE void take_largest(const float (&S)[N], uint32_t tops, int at)
    {
        constexpr int PARTS = N / 16;
        float part[2][PARTS], most[2];
        if (__any_sync(~0u, !(second[0] > 0 && second[1] > 0))) {
#pragma unroll
            for (int x = 0; x < 2 * PARTS; x++) {
                const float *const s = S + 16 * (x / 2) + 2 * (x & 1);
                part[x & 1][x / 2] = fmaxf(fmaxf(fmaxf(s[0], s[1]), fmaxf(s[4], s[5])),
                                           fmaxf(fmaxf(s[8], s[9]), fmaxf(s[12], s[13])));
            }
        } else {
#pragma unroll
            for (int x = 0; x < 2 * PARTS; x++)
                part[x & 1][x / 2] = largest_of_eight(S + 16 * (x / 2) + 2 * (x & 1));
        }
#pragma unroll
        for (int r = 0; r < 2; r++) {
            most[r] = part[r][0];
#pragma unroll
            for (int x = 1; x < PARTS; x++)
                most[r] = fmaxf(most[r], part[r][x]);
        }
        const bool any[2] = {__any_sync(~0u, most[0] >= second[0]) != 0,
                             __any_sync(~0u, most[1] >= second[1]) != 0};
#pragma unroll
        for (int r = 0; r < 2; r++)
            if (any[r])
                take_parts(S, r, part[r], tops + r * TOP_ROW, at);
    }
    /* The threshold of a part, from all threads of a row. */
    DEVICE void share(uint32_t tops)
    {
        float first[2];
#pragma unroll
        for (int r = 0; r < 2; r++)
            first[r] = __int_as_float(load_shared(tops + r * TOP_ROW + TOP_FIRST));
#pragma unroll
        for (int r = 0; r < 2; r++)
            second[r] = second_of_row(first[r], second[r]);
    }
};

/* Counts the visible keys of a row. */
template <int N> DEVICE void count_keys(const float (&S)[N], uint32_t tops)
{
#pragma unroll
    for (int r = 0; r < 2; r++) {
        const uint32_t at = tops + r * TOP_ROW + TOP_COUNT;
        int count = load_shared(at);
#pragma unroll
        for (int i = 0; i < N; i++)
            if (((i >> 1) & 1) == r)
                count += S[i] > -CUDART_INF_F;
        store_shared(at, count);
    }
}

/* Sums of |gap| e of a block with keys on both sides of the row's position. */
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

template <int N> DEVICE float squares_of_block(const float (&S)[N], int r)
{
    float squares = 0;
#pragma unroll
    for (int i = 0; i < N; i++)
        if (((i >> 1) & 1) == r)
            squares = __fmaf_rn(S[i], S[i], squares);
    return squares;
}

/*
 * softmax_block() with sums; the arithmetic of S, st, scale and lost is the same.  The
 * position of a row is row step + at.
 */
template <class C, int N>
DEVICE bool softmax_block_stats(const sm90_launch &p, int at, float (&S)[N], softmax &st,
                                row_stats<C> &ms, float c, float (&scale)[2], bool &lost,
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
    /* Gaps to the thread's first key; in most blocks all have one sign. */
    auto gap_of = [&](int r) {
        return (float)((first + 8 * r) * p.step + at - key - 2 * (lane & 3));
    };
    const int top = first - (lane >> 2);
    const bool before = p.reach == 1 || key + C::BN - 1 <= top * p.step + at;
    const bool after = key >= (top + 15) * p.step + at;
#pragma unroll
    for (int r = 0; r < 2; r++) {
        const float signed_far = __fmaf_rn(gap_of(r), sum[r][0], -columns[r]);
        columns[r] = before  ? signed_far
                     : after ? -signed_far
                             : far_of_block(S, r, gap_of(r));
    }
    const bool over = __any_sync(~0u, !(sum[0][0] < limit && sum[1][0] < limit));
    if (over) {
        float most[2] = {sum[0][0], sum[1][0]};
        float by[2] = {1.f, 1.f};
        if (sum[0][0] >= 1e38f || sum[1][0] >= 1e38f)
            lost = true;
        largest_of_four(most);
#pragma unroll
        for (int r = 0; r < 2; r++)
            if (most[r] >= limit && most[r] < 1e38f) {
                const int e = (__float_as_int(most[r]) >> 23 & 255) - 127;
                by[r] = __int_as_float((127 - e) << 23);
                ms.move(r, (float)e, by[r], st.l[r]);
                spread[r] = by[r] * (spread[r] - (float)e * sum[r][0]);
                squares[r] = squares[r] * by[r] * by[r];
                columns[r] *= by[r];
                st.m[r] += (float)e;
                st.l[r] *= by[r];
                sum[r][0] *= by[r];
                scale[r] *= by[r];
            }
#pragma unroll
        for (int i = 0; i < N; i++)
            S[i] *= by[(i >> 1) & 1];
#pragma unroll
        for (int r = 0; r < 2; r++)
            if (!(squares[r] < CUDART_INF_F && fabsf(spread[r]) < CUDART_INF_F &&
                  fabsf(columns[r]) < CUDART_INF_F)) {
                /* Squares overflow at weights of 2^64, other sums near FLT_MAX. */
                squares[r] = squares_of_block(S, r);
                spread[r] = spread_of_block(S, r);
                columns[r] = far_of_block(S, r, gap_of(r));
            }
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

/* 2^x within 2^-22, for |x| < 1000. */
DEVICE double exp2_of(double x)
{
    const float whole = rintf(fminf(fmaxf((float)x, -1000.f), 1000.f));

    return (double)ex2((float)(x - (double)whole)) *
           __hiloint2double((1023 + (int)whole) << 20, 0);
}

/* The record of a row: relative to its largest score, in double. */
template <class C>
DEVICE void write_row_stats(const sm90_launch &p, float m, float l,
                            const row_stats<C> &ms, const largest &top, int r,
                            double keys, double *to)
{
    const double bits = (double)m - (double)top.score[0] * (double)p.c;
    const double by = exp2_of(bits), ln2 = 0.693147180559945309417;

    for (int x = 0; x < p.stats.length; x++)
        to[x] = 0;
    to[ROW_KEYS] = keys;
    if (!(l < CUDART_INF_F)) { /* a NaN or +inf score */
        to[ROW_MAX] = CUDART_NAN;
        return;
    }
    to[ROW_MAX] = top.key[0] < 0 ? -CUDART_INF : top.score[0] * p.scale;
    if (top.key[0] < 0)
        return;
    if (keys > 1) { /* a single key has neither */
        to[ROW_REST] = fmax(l * by - 1, 0.0);
        to[ROW_SPREAD] = fmin(ln2 * by * (ms.spread[r] + bits * l), 0.0);
    }
    to[ROW_SQUARES] = by * by * ms.squares[r];
    to[ROW_SINK1] = by * ms.sink1[r];
    to[ROW_SINK4] = by * ms.sink4[r];
    to[ROW_DISTANCE] = by * ms.far[r];
#pragma unroll
    for (int x = 0; x < 2; x++) {
        if (x >= p.stats.top)
            break;
        to[ROW_FIXED + x] = top.key[x] < 0 ? -CUDART_INF : top.score[x] * p.scale;
        to[ROW_FIXED + p.stats.top + x] = top.key[x];
    }
}

/* st.l is that of the row. */
template <class C>
DEVICE void store_stats(const sm90_launch &p, const tile_of &t, const softmax &st,
                        row_stats<C> &ms, uint32_t tops, const int (&row)[2], int lane)
{
#pragma unroll
    for (int r = 0; r < 2; r++) {
        ms.spread[r] = sum_of_four(ms.spread[r]);
        ms.squares[r] = sum_of_four(ms.squares[r]);
        ms.far[r] = sum_of_four(ms.far[r]);
        ms.sink1[r] = sum_of_four(ms.sink1[r]);
        ms.sink4[r] = sum_of_four(ms.sink4[r]);
        largest top;
        top.load(tops + r * TOP_ROW);
        top.merge();
        const float counted =
            sum_of_four((float)load_shared(tops + r * TOP_ROW + TOP_COUNT));
        if ((lane & 3) != 0 || row[r] >= p.rows)
            continue;
        const int seen = max(0, row_end(p, t, row[r]) - row_begin(p, t, row[r]));
        write_row_stats(
            p, st.m[r], st.l[r], ms, top, r, p.rules.on ? counted : (float)seen,
            p.stats.sums +
                ((int64_t)(t.b * p.heads + t.h) * p.rows + row[r]) * p.stats.length);
    }
}

#endif

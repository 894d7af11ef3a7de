/* SPDX-License-Identifier: MIT */
/*
 * Not a header: the vector loops of cpu/merge/merge_rows.h, in double.  Products and sums
 * are not fused: sets without FMA have the same bits.
 */

/* Vectors of floats at a time; no gain for short vectors. */
enum { MERGE_VECTORS = F32_LEN > 4 ? 4 : 1 };

/*
 * Prefetch distance in a part, whose rows are usually adjacent: 8 parts are more streams
 * than hardware prefetches. 8 parts of f32, one thread, where a plain read has 20 GB/s:
 * no prefetch 11.8 GB/s, 1 KB 14.5, 2 KB 15.5, 4 KB 15.5; into L1 12 to 13.
 */
#define PREFETCH_BYTES 2048

/* sum += weight x, for `n` vectors of floats and as many columns from column c on. */
static ALWAYS_INLINE void merge_add(const struct merge_part *part, int64_t c, vec *sum,
                                    const int n, const attend_dtype dtype)
{
    const vec weight = vec_set1(part->weight);
    const int bytes = 1 << attendi_dtype_shift(dtype);

    UNROLL
    for (int v = 0; v < n; v++, c += F32_LEN) {
        const char *const ahead = (const char *)part->row + c * bytes + PREFETCH_BYTES;
        vec x[2];

        PREFETCH_L2(ahead);
        if (F32_LEN * bytes > LINE)
            PREFETCH_L2(ahead + LINE);
        if (dtype == ATTEND_F64) {
            x[0] = vec_load((const double *)part->row + c);
            x[1] = vec_load((const double *)part->row + c + VLEN);
        } else if (dtype == ATTEND_F32) {
            vec_from_f32(f32_load((const float *)part->row + c), x);
        } else if (dtype == ATTEND_F16) {
            vec_from_f32(f32_load_f16((const uint16_t *)part->row + c), x);
        } else {
            vec_from_f32(f32_load_bf16((const uint16_t *)part->row + c), x);
        }
        sum[2 * v] = vec_add(sum[2 * v], vec_mul(weight, x[0]));
        sum[2 * v + 1] = vec_add(sum[2 * v + 1], vec_mul(weight, x[1]));
    }
}

static ALWAYS_INLINE void merge_store(const struct merge_run *run, int64_t c,
                                      const vec x[2])
{
    if (run->out_dtype == ATTEND_F64) {
        vec_store((double *)run->out + c, x[0]);
        vec_store((double *)run->out + c + VLEN, x[1]);
    } else if (run->out_dtype == ATTEND_F32) {
        f32_store((float *)run->out + c, vec_to_f32(x));
    } else if (run->out_dtype == ATTEND_F16) {
        f32_store_f16((uint16_t *)run->out + c, vec_to_f32(x));
    } else {
        f32_store_bf16((uint16_t *)run->out + c, vec_to_f32(x));
    }
}

static ALWAYS_INLINE void merge_vectors(const struct merge_run *run, double *sums,
                                        int64_t c, const int n)
{
    vec sum[2 * MERGE_VECTORS];

    UNROLL
    for (int v = 0; v < 2 * n; v++)
        sum[v] = run->begins ? vec_set1(0) : vec_load(sums + (c - run->first) + v * VLEN);
    for (const struct merge_part *part = run->part; part < run->part + run->count; part++)
        if (part->dtype == ATTEND_F32)
            merge_add(part, c, sum, n, ATTEND_F32);
        else if (part->dtype == ATTEND_BF16)
            merge_add(part, c, sum, n, ATTEND_BF16);
        else if (part->dtype == ATTEND_F16)
            merge_add(part, c, sum, n, ATTEND_F16);
        else
            merge_add(part, c, sum, n, ATTEND_F64);
    UNROLL
    for (int v = 0; v < n; v++)
        if (run->stores)
            merge_store(run, c + v * F32_LEN, sum + 2 * v);
    UNROLL
    for (int v = 0; v < 2 * n; v++)
        if (!run->stores)
            vec_store(sums + (c - run->first) + v * VLEN, sum[v]);
}

static void merge(const struct merge_run *run, double *sums)
{
    int64_t c = run->first;

    for (; run->in_order && c + MERGE_VECTORS * F32_LEN <= run->end;
         c += MERGE_VECTORS * F32_LEN)
        merge_vectors(run, sums, c, MERGE_VECTORS);
    for (; run->in_order && c + F32_LEN <= run->end; c += F32_LEN)
        merge_vectors(run, sums, c, 1);
    attendi_merge_columns(run, sums, c, run->end);
}

/*
 * x = n ln 2 + r, |r| <= ln 2 / 2, with ln 2 in two parts; the product of n and the first
 * part is exact. e^r by its series, with a remainder below 2^-57.
 */
static void merge_exp(double *x, int64_t count)
{
    static const double terms[] = {0x1.6124613a86d09p-33,
                                   0x1.1eed8eff8d898p-29,
                                   0x1.ae64567f544e4p-26,
                                   0x1.27e4fb7789f5cp-22,
                                   0x1.71de3a556c734p-19,
                                   0x1.a01a01a01a01ap-16,
                                   0x1.a01a01a01a01ap-13,
                                   0x1.6c16c16c16c17p-10,
                                   0x1.1111111111111p-7,
                                   0x1.5555555555555p-5,
                                   0x1.5555555555555p-3,
                                   0x1p-1,
                                   0x1p0,
                                   0x1p0};

    for (int64_t i = 0; i < count; i += VLEN) {
        const vec a = vec_load(x + i), y = vec_max(a, vec_set1(-1000));
        const vec n = vec_nearest(vec_mul(y, vec_set1(LOG2_E)));
        const vec high = vec_sub(y, vec_mul(n, vec_set1(0x1.62e42feep-1)));
        const vec r = vec_sub(high, vec_mul(n, vec_set1(0x1.a39ef35793c76p-33)));
        vec p = vec_set1(terms[0]);

        UNROLL
        for (size_t t = 1; t < ARRAY_LEN(terms); t++)
            p = vec_add(vec_mul(p, r), vec_set1(terms[t]));
        const vec e = vec_times_pow2(p, vec_max(n, vec_set1(-1022)));
        /* a - a: max() has replaced NaN by a number. */
        vec_store(x + i, vec_keep_ge(a, vec_set1(-708), vec_add(e, vec_sub(a, a))));
    }
}

/* SPDX-License-Identifier: MIT */
/* Not a header: rows of memory of any dtype and stride into lanes and back. */

/* attend_dtype_size as a constant expression. */
static ALWAYS_INLINE int64_t dtype_bytes(const attend_dtype dtype)
{
    return (int64_t)1 << attendi_dtype_shift(dtype);
}

/* Whether a vector of this dtype is loaded and stored by one instruction sequence. */
static inline bool loads_whole(attend_dtype dtype)
{
    return dtype == REAL_DTYPE ||
           (sizeof(REAL) == 4 && (dtype == ATTEND_F16 || dtype == ATTEND_BF16));
}

static inline vec load_whole(const void *from, attend_dtype dtype)
{
#ifdef WIDENS_HALVES
    if (dtype == ATTEND_F16)
        return f32_load_f16(from);
    if (dtype == ATTEND_BF16)
        return f32_load_bf16(from);
#endif
    (void)dtype;
    return vec_load(from);
}

static inline void store_whole(void *to, attend_dtype dtype, vec x)
{
#ifdef WIDENS_HALVES
    if (dtype == ATTEND_F16) {
        f32_store_f16(to, x);
        return;
    }
    if (dtype == ATTEND_BF16) {
        f32_store_bf16(to, x);
        return;
    }
#endif
    (void)dtype;
    vec_store(to, x);
}

/* A vector in memory, as numbers or bits. */
union lanes {
    REAL real[VLEN];
    uint16_t half[VLEN];
};

/* load_lanes and store_lanes for strides and partial vectors. */
static __attribute__((noinline)) vec load_some(const void *row, attend_dtype dtype,
                                               int64_t step, int64_t c, int64_t n)
{
    union lanes lanes = {.real = {0}};

    if (step == 1 && loads_whole(dtype)) {
        const int64_t bytes = dtype_bytes(dtype);

        memcpy(&lanes, (const char *)row + c * bytes, (size_t)(n * bytes));
        return load_whole(&lanes, dtype);
    }
    for (int64_t x = 0; x < n; x++)
        lanes.real[x] = to_real(attendi_load(row, dtype, (c + x) * step));
    return vec_load(lanes.real);
}

static __attribute__((noinline)) void
store_some(void *row, attend_dtype dtype, int64_t step, int64_t c, int64_t n, vec x)
{
    union lanes lanes;

    if (step == 1 && loads_whole(dtype)) {
        const int64_t bytes = dtype_bytes(dtype);

        store_whole(&lanes, dtype, x);
        memcpy((char *)row + c * bytes, &lanes, (size_t)(n * bytes));
        return;
    }
    vec_store(lanes.real, x);
    for (int64_t y = 0; y < n; y++)
        attendi_store(row, dtype, (c + y) * step, (double)lanes.real[y]);
}

/* Elements c .. c + n - 1 of a row, 0 in the lanes past n. */
static inline vec load_lanes(const void *row, attend_dtype dtype, int64_t step, int64_t c,
                             int64_t n)
{
    if (n == VLEN && step == 1 && loads_whole(dtype))
        return load_whole((const char *)row + c * dtype_bytes(dtype), dtype);
    return load_some(row, dtype, step, c, n);
}

static inline void store_lanes(void *row, attend_dtype dtype, int64_t step, int64_t c,
                               int64_t n, vec x)
{
    if (n == VLEN && step == 1 && loads_whole(dtype))
        store_whole((char *)row + c * dtype_bytes(dtype), dtype, x);
    else
        store_some(row, dtype, step, c, n, x);
}

/* Sign masks of keys j .. j + n - 1: set for hidden keys. */
static inline vec load_mask(const unsigned char *row, int64_t step, int64_t j, int64_t n)
{
    unsigned char bytes[VLEN];

    if (n == VLEN && step == 1)
        return vec_mask_zero_bytes(row + j);
    for (int64_t x = 0; x < VLEN; x++)
        bytes[x] = x < n ? row[(j + x) * step] : 1;
    return vec_mask_zero_bytes(bytes);
}

/* Two loops: GCC does not unroll a loop of 24 iterations and would keep acc in memory. */
static ALWAYS_INLINE void zero_sums(vec *acc, const int rows, const int nv)
{
    for (int i = 0; i < rows; i++)
        for (int v = 0; v < nv; v++)
            acc[i * nv + v] = vec_set1(0);
}

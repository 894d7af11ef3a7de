/* SPDX-License-Identifier: MIT */
/*
 * Not a header: rows of memory of any dtype and stride into lanes and back.
 * Parameters: forward_tmpl.h.
 */

/* Elements c .. c + n - 1 of a row, 0 in the lanes past n. */
static inline VEC N(load_lanes)(const void *row, attend_dtype dtype, int64_t step,
                                int64_t c, int64_t n)
{
    if (n == VLEN && step == 1) {
        if (dtype == REAL_DTYPE)
            return V(load)((const REAL *)row + c);
#ifdef WIDENS_HALVES
        if (dtype == ATTEND_F16)
            return V(load_f16)((const uint16_t *)row + c);
        if (dtype == ATTEND_BF16)
            return V(load_bf16)((const uint16_t *)row + c);
#endif
    }
    REAL lanes[VLEN];

    for (int64_t x = 0; x < VLEN; x++)
        lanes[x] = x < n ? N(narrow)(attendi_load(row, dtype, (c + x) * step)) : 0;
    return V(load)(lanes);
}

static inline void N(store_lanes)(void *row, attend_dtype dtype, int64_t step, int64_t c,
                                  int64_t n, VEC x)
{
    if (n == VLEN && step == 1) {
        if (dtype == REAL_DTYPE) {
            V(store)((REAL *)row + c, x);
            return;
        }
#ifdef WIDENS_HALVES
        if (dtype == ATTEND_F16) {
            V(store_f16)((uint16_t *)row + c, x);
            return;
        }
        if (dtype == ATTEND_BF16) {
            V(store_bf16)((uint16_t *)row + c, x);
            return;
        }
#endif
    }
    REAL lanes[VLEN];

    V(store)(lanes, x);
    for (int64_t y = 0; y < n; y++)
        attendi_store(row, dtype, (c + y) * step, (double)lanes[y]);
}

/* Marks of the mask's keys j .. j + n - 1: those the row does not see. */
static inline VEC N(load_marks)(const unsigned char *row, int64_t step, int64_t j,
                                int64_t n)
{
    unsigned char bytes[VLEN];

    if (n == VLEN && step == 1)
        return V(mark_zero_bytes)(row + j);
    for (int64_t x = 0; x < VLEN; x++)
        bytes[x] = x < n ? row[(j + x) * step] : 1;
    return V(mark_zero_bytes)(bytes);
}

/* Two loops: GCC unrolls no loop of 24 turns, and would keep acc in memory. */
static ALWAYS_INLINE void N(zero)(VEC *acc, const int rows, const int nv)
{
    for (int i = 0; i < rows; i++)
        for (int v = 0; v < nv; v++)
            acc[i * nv + v] = V(set1)(0);
}

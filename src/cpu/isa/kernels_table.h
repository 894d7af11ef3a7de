/* SPDX-License-Identifier: MIT */
/* Not a header: the table of a translation unit, its only global name. */

#ifndef ELEMENT_F64
static void exp2_floats(const float *x, float *y, int64_t n)
{
    int64_t i = 0;

    for (; i + VLEN <= n; i += VLEN)
        vec_store(y + i, vec_exp2(vec_load(x + i)));
    for (; i < n; i++) {
        float lanes[VLEN];

        vec_store(lanes, vec_exp2(vec_set1(x[i])));
        y[i] = lanes[0];
    }
}
#endif

extern const struct kernels KERNELS;
const struct kernels KERNELS = {
    .tile_rows = BR,
    .tiles_max = TILES_MAX,
    .split_keys = SPLIT,
    .block_keys = BC,
    .scratch_size = scratch_size,
    .partial_size = partial_size,
    .forward = forward,
    .finish = finish,
    .inspect_scratch = inspect_scratch,
    .inspect = inspect_columns,
#ifdef ELEMENT_F64
    .merge = merge,
    .merge_exp = merge_exp,
#else
    .exp2 = exp2_floats,
#endif
};

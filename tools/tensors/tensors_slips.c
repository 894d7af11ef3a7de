/* SPDX-License-Identifier: MIT */
/* The usual slips: a line for each, and when it differs from the right result. */
#include <math.h>

#include "tensors/tensors_tool.h"

const struct tensors_slip tensors_slips[] = {
    /* scale */
    {"no-scale", "scores that are not scaled", NEEDS_SCALE, .scale = SCALE_NONE},
    {"scale-d", "scores divided by d, not by sqrt(d)", NEEDS_USUAL_SCALE,
     .scale = SCALE_TWICE},
    {"scale-times", "scores multiplied by sqrt(d), not divided", NEEDS_USUAL_SCALE,
     .scale = SCALE_INVERSE},
    {"scale-model", "scores divided by the root of all heads' columns, h d",
     NEEDS_USUAL_SCALE | NEEDS_HEADS, .scale = SCALE_MODEL},
    {"scale-usual", "the scale 1/sqrt(d), not the one that is asked for",
     NEEDS_OTHER_SCALE, .scale = SCALE_USUAL},
    /* softmax */
    {"softmax-queries", "softmax over queries", 0, .softmax = OVER_QUERIES},
    {"softmax-heads", "softmax over heads", NEEDS_HEADS, .softmax = OVER_HEADS},
    {"softmax-batches", "softmax over batches", NEEDS_BATCHES, .softmax = OVER_BATCHES},
    {"softmax-matrix", "softmax over all scores of a head at once", 0,
     .softmax = OVER_MATRIX},
    {"softmax-all", "softmax over the scores of all heads and batches at once",
     NEEDS_MATRICES, .softmax = OVER_ALL},
    {"softmax-mixed", "exponentials with the max over keys and the sum over queries", 0,
     .softmax = QUERIES_OF_ROWS},
    {"sum-broadcast", "exponentials in which the sum of row j divides column j",
     NEEDS_SQUARE, .softmax = LOST_SUM},
    {"sum-broadcast-max",
     "exponentials with the row max subtracted, in which the sum of row j divides column "
     "j",
     NEEDS_SQUARE, .softmax = LOST_SUM_OF_ROWS},
    {"max-broadcast", "softmax in which max and sum of row j are those of column j",
     NEEDS_SQUARE, .softmax = LOST_BOTH},
    {"softmax-twice", "softmax applied twice", 0, .softmax = TWICE},
    {"no-softmax", "scores in place of weights, without softmax", 0,
     .softmax = NO_SOFTMAX},
    {"no-sum", "exponentials that are not divided by their sum", 0, .softmax = NO_SUM},
    {"no-subtract",
     "exponentials of scores without the row max subtracted: they overflow", 0,
     .softmax = NO_SUBTRACT},
    /* masks */
    {"no-mask", "attention without the mask", NEEDS_HIDDEN, .mask = MASK_NONE},
    {"mask-after", "a mask after softmax, on weights that are not normalised again",
     NEEDS_HIDDEN, .mask = MASK_AFTER},
    {"mask-added", "a mask of 0 and 1 that is added to the scores", NEEDS_HIDDEN,
     .mask = MASK_ADDED},
    {"mask-zeroes", "hidden scores of 0 in place of -inf", NEEDS_HIDDEN,
     .mask = MASK_ZEROES},
    {"mask-inverted", "an inverted mask: hidden keys are seen, the others not",
     NEEDS_HIDDEN, .mask = MASK_INVERTED},
    {"mask-transposed", "a transposed mask", NEEDS_HIDDEN | NEEDS_SQUARE,
     .mask = MASK_TRANSPOSED},
    {"causal-strict", "a causal mask that hides a query's own key", NEEDS_CAUSAL,
     .shift = -1},
    {"causal-ahead", "a causal mask that shows one key too many", NEEDS_CAUSAL,
     .shift = 1},
    {"causal-corner", "a causal mask from the other corner", NEEDS_CAUSAL | NEEDS_UNEQUAL,
     .is_other_corner = 1},
    /* operands */
    {"swap-qk", "queries and keys swapped", NEEDS_SQUARE | NEEDS_OWN_KEYS,
     .swap = SWAP_QK},
    {"swap-kv", "keys and values swapped", NEEDS_SAME_WIDTH, .swap = SWAP_KV},
    {"swap-qv", "queries and values swapped",
     NEEDS_SQUARE | NEEDS_OWN_KEYS | NEEDS_SAME_WIDTH, .swap = SWAP_QV},
    {"keys-averaged", "keys averaged in place of values", 0, .swap = V_IS_K},
    {"weights-alone", "weights without the values", 0, .swap = V_IS_ONE},
    {"scores-alone", "scores without softmax and values", 0, .softmax = NO_SOFTMAX,
     .swap = V_IS_ONE},
    /* heads */
    {"heads-read", "heads split by a reshape without a transpose",
     NEEDS_TURN | NEEDS_HEADS, .split = SPLIT_RAW},
    {"heads-reshaped", "heads split and merged by reshapes without a transpose",
     NEEDS_TURN | NEEDS_HEADS, .split = SPLIT_RAW, .merge = MERGE_RAW},
    {"heads-written", "heads merged by a reshape without a transpose",
     NEEDS_HEADS | NEEDS_TURN, .merge = MERGE_RAW},
    {"heads-memory", "(b, h, l, d) memory in a result of (b, l, h, d)", NEEDS_HEADS,
     .merge = MERGE_OTHER},
    {"heads-strided", "heads of every h-th column, split and merged so",
     NEEDS_PACKED | NEEDS_HEADS | NEEDS_OWN_KEYS, .split = SPLIT_INTERLEAVED,
     .merge = MERGE_INTERLEAVED},
    {"heads-strided-read", "heads split into every h-th column",
     NEEDS_PACKED | NEEDS_HEADS | NEEDS_OWN_KEYS, .split = SPLIT_INTERLEAVED},
    {"heads-strided-written", "heads merged into every h-th column",
     NEEDS_PACKED | NEEDS_HEADS, .merge = MERGE_INTERLEAVED},
    {"heads-axes", "attention over heads: the axes of heads and positions swapped",
     NEEDS_SPLIT | NEEDS_SQUARE | NEEDS_OWN_KEYS | NEEDS_HEADS | NEEDS_NO_MASK,
     .split = SPLIT_AXES},
    {"heads-one", "one head of all columns", NEEDS_PACKED | NEEDS_HEADS | NEEDS_OWN_KEYS,
     .split = SPLIT_NOT},
    {"heads-one-model", "one head of all columns, scaled by their number",
     NEEDS_PACKED | NEEDS_HEADS | NEEDS_OWN_KEYS | NEEDS_USUAL_SCALE, .split = SPLIT_NOT,
     .scale = SCALE_USUAL},
    {"heads-mean", "the mean of the heads in place of their concatenation", NEEDS_HEADS,
     .merge = MERGE_MEAN},
    {"heads-sum", "the sum of the heads in place of their concatenation", NEEDS_HEADS,
     .merge = MERGE_SUM},
    {"groups-repeated",
     "key heads repeated as a whole (0, 1, 0, 1), not each (0, 0, 1, 1)", NEEDS_GROUPS,
     .is_repeated = 1},
    {"transposed", "the right numbers, transposed", 0, .merge = MERGE_TRANSPOSED},
    /* rotary positions */
    {"no-rotary", "queries and keys that are not rotated", NEEDS_ROTARY,
     .rotate = ROTATE_NONE},
    {"rotary-pairing",
     "rotary positions with the other pairing of columns: "
     "neighbours for halves, or the reverse",
     NEEDS_PAIRS, .rotate = ROTATE_OTHER},
    {"rotary-q", "queries rotated, keys not", NEEDS_ROTARY, .rotate = ROTATE_Q},
    {"rotary-k", "keys rotated, queries not", NEEDS_ROTARY, .rotate = ROTATE_K},
    {"rotary-v", "values rotated too", NEEDS_ROTARY | NEEDS_SAME_WIDTH,
     .rotate = ROTATE_V_TOO},
    {"rotary-back", "rotation by the negative angle", NEEDS_ROTARY,
     .rotate = ROTATE_BACK},
    {"rotary-whole", "rotation before the columns are split into heads",
     NEEDS_ROTARY | NEEDS_PACKED | NEEDS_HEADS, .rotate = ROTATE_WHOLE},
    {"rotary-late", "queries' positions one too large beside those of keys", NEEDS_ROTARY,
     .rotate_shift = 1},
    {"rotary-early", "queries' positions one too small beside those of keys",
     NEEDS_ROTARY, .rotate_shift = -1},
    {"rotary-zero", "queries' positions counted from 0, not from the end of the keys",
     NEEDS_ROTARY | NEEDS_POSITION, .rotate_zero = 1},
    {"rotary-half", "frequencies base^(-i/d), not base^(-2 i/d)", NEEDS_PAIRS,
     .base_power = 0.5},
    {"rotary-double", "frequencies base^(-4 i/d), not base^(-2 i/d)", NEEDS_PAIRS,
     .base_power = 2},
    {"rotary-1e3", "rotary positions of base 1000", NEEDS_PAIRS, .base = 1e3},
    {"rotary-1e4", "rotary positions of base 10000", NEEDS_PAIRS, .base = 1e4},
    {"rotary-1e5", "rotary positions of base 100000", NEEDS_PAIRS, .base = 1e5},
    {"rotary-5e5", "rotary positions of base 500000", NEEDS_PAIRS, .base = 5e5},
    {"rotary-1e6", "rotary positions of base 1000000", NEEDS_PAIRS, .base = 1e6},
};
const int tensors_slip_count = sizeof tensors_slips / sizeof *tensors_slips;
_Static_assert(sizeof tensors_slips / sizeof *tensors_slips <= TENSORS_SLIPS,
               "a verdict has room for all");

/* Whether a causal rule or a mask hides a key from a query. */
static int hides(const struct check_problem *p)
{
    for (int64_t b = 0; b < p->nb; b++)
        for (int64_t h = 0; h < p->hq; h++)
            for (int64_t i = 0; i < p->nq; i++)
                for (int64_t j = 0; j < p->nk; j++)
                    if (!check_sees(p, b, h, i, j))
                        return 1;
    return 0;
}

/* Whether no tensor of a slip is larger than some of the right result's. */
static int fits(const struct check_problem *p, const struct tensors_slip *slip)
{
    const double nb = (double)p->nb, heads = (double)p->hq, nk = (double)p->nk;

    return (slip->swap != V_IS_ONE || nb * (double)p->hkv * nk * nk <= TENSORS_MOST) &&
           (slip->split != SPLIT_AXES || nb * nk * heads * heads <= TENSORS_MOST) &&
           (!slip->is_repeated ||
            nb * heads * nk * (double)(p->d + p->dv) <= 8.0 * TENSORS_MOST);
}

int tensors_slip_applies(const struct tensors_problem *problem,
                         const struct tensors_slip *slip)
{
    const struct check_problem *const p = &problem->p;
    const unsigned needs = slip->needs;
    const struct {
        unsigned need;
        int holds;
    } conditions[] = {
        {NEEDS_CAUSAL, p->causal != ATTEND_CAUSAL_NONE},
        {NEEDS_UNEQUAL, p->nq != p->nk},
        {NEEDS_SQUARE, p->nq == p->nk},
        {NEEDS_HEADS, p->hq > 1},
        {NEEDS_GROUPS, p->hq > p->hkv && p->hkv > 1},
        {NEEDS_OWN_KEYS, p->hq == p->hkv},
        {NEEDS_SAME_WIDTH, p->d == p->dv},
        {NEEDS_ROTARY, problem->rotary != ATTEND_LAYER_ROTARY_NONE},
        {NEEDS_PAIRS, problem->rotary != ATTEND_LAYER_ROTARY_NONE && p->d > 2},
        {NEEDS_PACKED, problem->layout == TENSORS_PACKED},
        {NEEDS_TURN, problem->layout != TENSORS_BHLD},
        {NEEDS_SPLIT, problem->layout != TENSORS_PACKED},
        {NEEDS_SCALE, p->scale != 1.0},
        {NEEDS_USUAL_SCALE, problem->is_usual_scale && p->d > 1},
        {NEEDS_OTHER_SCALE, !problem->is_usual_scale},
        {NEEDS_NO_MASK, p->mask == NULL},
        {NEEDS_BATCHES, p->nb > 1},
        {NEEDS_MATRICES, p->nb * p->hq > 1},
        {NEEDS_POSITION, check_position(p, 0, 0) != 0},
        {NEEDS_HIDDEN, !(needs & NEEDS_HIDDEN) || hides(p)},
    };

    for (size_t c = 0; c < sizeof conditions / sizeof *conditions; c++)
        if ((needs & conditions[c].need) && !conditions[c].holds)
            return 0;
    return slip->base != problem->base && fits(p, slip);
}

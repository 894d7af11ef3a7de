/* SPDX-License-Identifier: MIT */
/*
 * Not a header: the softmax of a decode item with statistics.  Scores are transposed,
 * rows in the lanes, and take the prefill path of a tile of one vector: statistics have
 * one implementation, and the same bits for few rows and for many.
 */

/*
 * Scores of keys j0 + a .. j0 + e - 1 to weights in s->s, in the layout of keep_weights.
 */
static void decode_accum(struct state *s, struct rows *g, int64_t j0, int64_t a,
                         int64_t e, int edge)
{
    REAL *const lanes = s->s;

    s->s = s->work;
    decode_scores(s, g, j0, a, e);
    s->s = lanes;
    transpose_scores(s, g, s->work, a, e);
    prefill_row_max(s, g, a, e);
    prefill_rule(s, g, j0, a, e, edge);
    begin_stat(s, j0, a, e);
    open_stat(s, g, j0, a, e);
    prefill_weigh(s, g, j0, a, e, edge);
    close_stat(s, g, j0, a, e, 0);
}

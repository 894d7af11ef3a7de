/* SPDX-License-Identifier: MIT */
/*
 * Not a header: pairs of neighbouring bf16 in the 32 bits of a lane, for all bf16
 * products. pairs_<isa>.h has the instructions.
 */
#define PAIRS(n) (((n) + 1) / 2)

/* Bytes of Q packed by pack_q_pairs. */
static size_t q_size(const struct problem *p)
{
    return (size_t)ceil_div_i64(p->d, 2 * VLEN) * VLEN * BR * sizeof(uint32_t);
}

/* Q[c / 2][r] = columns c and c + 1 of row r; 0 past the last, to a whole vector. */
static void pack_q_pairs(const struct state *s, struct rows *g)
{
    const struct problem *p = s->p;

    for (int64_t r0 = 0; r0 < g->width; r0 += VLEN)
        for (int64_t c = 0; c < p->d; c += 2 * VLEN) {
            vec x[VLEN];

            for (int r = 0; r < VLEN; r++) {
                const int64_t row = min_i64(r0 + r, g->rows - 1);
                x[r] = load_row_pairs(
                    attendi_view_row(&p->q, s->item->b, g->head[row], g->query[row]),
                    p->q.stride[3], c, p->d);
            }
            vec_transpose(x);
            for (int64_t y = 0; y < VLEN; y++)
                vec_store(g->q + (c / 2 + y) * BR + r0, x[y]);
        }
}

/*
 * Weights of keys x and x + 1 as pairs, in place: row x / 2 is written after row x is
 * read.
 */
enum { KEEPS_WEIGHTS = 0 };

static inline void keep_weights(const struct state *s, int64_t x, int64_t r, vec even,
                                vec odd)
{
    store_pairs(s->s + x / 2 * BR + r, even, odd);
}

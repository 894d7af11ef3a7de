/* SPDX-License-Identifier: MIT */
/*
 * Batches that share K and V: the bits of batches with copies of them.  test_schedule.c
 * has the problems whose batches are folded.
 */
#include "support/problems.h"
#include "support/test.h"

enum { RULES = 7, DRAWN = 5 };

static int64_t below(uint64_t *random, int64_t n)
{
    return (int64_t)(random_unit(random) * (double)n);
}

/* All batches of K and V: copies of the first. */
static void copy_first_batch(const attend_view *view)
{
    const size_t bytes = bytes_of(
        (int64_t[]){1, view->size[1], view->size[2], view->size[3]}, view->dtype);

    for (int64_t b = 1; b < view->size[0]; b++)
        memcpy((char *)(uintptr_t)view->data + (size_t)b * bytes, view->data, bytes);
}

/* (b, h, l, d) in the memory of (b, l, h, d). */
static void set_blhd(const int64_t size[4], int64_t stride[4])
{
    stride[0] = size[1] * size[2] * size[3];
    stride[1] = size[3];
    stride[2] = size[1] * size[3];
}

static void set_rule(problem *p, int rule, uint64_t *random)
{
    switch (rule) {
    case 1:
        p->rule.causal = ATTEND_CAUSAL_BOTTOM_RIGHT;
        break;
    case 2:
        p->rule.window_left = below(random, 2 * p->n.nk);
        p->rule.causal = ATTEND_CAUSAL_BOTTOM_RIGHT;
        break;
    case 3:
        problem_mask(p, p->n.nb, 1, 1, p->n.nk);
        for (int64_t b = 0; b < p->n.nb; b++)
            hide_keys(p, b, 0, 0, below(random, p->n.nk), p->n.nk);
        break;
    case 4:
        problem_bias(p, ATTEND_F32, p->n.nb, p->n.hq, 1, p->n.nk);
        fill_normal(&p->rule.bias, random_bits(random));
        break;
    case 5:
        problem_key_lengths(p)[below(random, p->n.nb)] = below(random, p->n.nk);
        break;
    case 6:
        p->rule.softcap = 3;
        break;
    default:
        break;
    }
}

TEST_ON_SETS(shared_keys_have_the_bits_of_copies, ctx, 3)
{
    uint64_t random = test_seed() + 77;
    const int64_t drawn = test_count(DRAWN);

    for (int64_t x = 0; x < RULES + drawn; x++) {
        const int64_t group = 1 + below(&random, 4), hkv = 1 + below(&random, 3);
        const int64_t nq = below(&random, 3) ? 1 : 1 + below(&random, 40);
        auto_problem p = problem_make(
            (shape){2 + below(&random, 4), hkv * group, hkv, nq, 1 + below(&random, 1400),
                    1 + below(&random, 80), 1 + below(&random, 80)},
            float_dtypes[below(&random, FLOAT_DTYPES)], random_bits(&random));
        set_rule(&p, (int)(x < RULES ? x : below(&random, RULES)), &random);
        if (below(&random, 2)) {
            set_blhd(p.io.q.size, p.io.q.stride);
            set_blhd(p.io.out.size, p.io.out.stride);
        }
        copy_first_batch(&p.io.k);
        copy_first_batch(&p.io.v);
        auto_result copied = result_of(&p, ctx);
        p.io.k.stride[0] = p.io.v.stride[0] = 0;
        CHECK(problem_gives(&p, ctx, &copied), "problem %d", (int)x);
    }
}

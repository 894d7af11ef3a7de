/* SPDX-License-Identifier: MIT */
#include "random_problem.h"

#include "sharding.h"

static int64_t *own_offsets(problem *p, uint64_t *state, int64_t least, int64_t most)
{
    int64_t *const offsets = problem_own(p, (size_t)p->n.nb * sizeof *offsets);

    for (int64_t b = 0; b < p->n.nb; b++)
        offsets[b] = least + random_below(state, most - least + 1);
    return offsets;
}

double *own_heads(problem *p, uint64_t *state, double size)
{
    double *const heads = problem_own(p, (size_t)p->n.hq * sizeof *heads);

    for (int64_t h = 0; h < p->n.hq; h++)
        heads[h] = size * random_normal(state);
    return heads;
}

int chance(uint64_t *state, double of) { return random_unit(state) <= of; }

/* Any combination of rules. */
static void random_rule(problem *p, uint64_t *state)
{
    attend_rule *const rule = &p->rule;
    const int64_t nk = p->n.nk;

    rule->causal = (attend_causal)random_below(state, 4);
    if (rule->causal == ATTEND_CAUSAL_OFFSET)
        rule->causal_offset = own_offsets(p, state, -3, nk + 3);
    if (chance(state, 0.3))
        rule->window_left = random_below(state, nk + 1);
    if (chance(state, 0.2))
        rule->window_right = random_below(state, nk + 1);
    if (chance(state, 0.3))
        rule->key_lengths = own_offsets(p, state, 0, nk);
    if (chance(state, 0.4)) {
        const int64_t rows = chance(state, 0.5) ? p->n.nq : 1;
        problem_mask(p, chance(state, 0.5) ? p->n.nb : 1, 1, rows,
                     chance(state, 0.9) ? nk : 1);
        for (int64_t at = 0; at < count_of(rule->mask.size); at++)
            check_store((void *)(uintptr_t)rule->mask.data, ATTEND_BOOL, at,
                        chance(state, at / 700 % 3 == 0 ? 0.01 : 0.7));
    }
    if (chance(state, 0.3)) {
        problem_bias(p, chance(state, 0.5) ? ATTEND_F32 : ATTEND_BF16, 1, p->n.hq, 1, nk);
        fill_normal(&rule->bias, random_bits(state));
        view_set(&rule->bias, 0, 0, 0, nk / 2, -INFINITY);
    }
    if (chance(state, 0.4))
        rule->alibi = own_heads(p, state, chance(state, 0.5) ? 0.02 : 1.0);
    if (chance(state, 0.3))
        rule->sinks = own_heads(p, state, 3.0);
    rule->softcap = chance(state, 0.2) ? 20.0 : 0.0;
}

/* Few rows and many, one split and many; dtypes in turn. */
problem random_problem(int n, uint64_t *state)
{
    static const int64_t keys[] = {1, 700, 1024, 1025, 2048, 3000, 4099, 5120, 9001};
    static const int64_t queries[] = {1, 1, 3, 9, 20, 53};
    const int64_t hkv = 1 + random_below(state, 2), d = random_below(state, 24);
    const shape size = {.nb = 1 + random_below(state, 2),
                        .hq = hkv * (1 + random_below(state, 3)),
                        .hkv = hkv,
                        .nq = queries[random_below(state, 6)],
                        .nk = keys[random_below(state, 9)],
                        .d = d,
                        .dv = chance(state, 0.1) ? 0 : 1 + random_below(state, 24)};
    problem p = problem_lean(size, float_dtypes[n % FLOAT_DTYPES], random_bits(state));

    if (p.dtype != ATTEND_F32 && chance(state, 0.3))
        p.io.out = own_tensor(&p, ATTEND_F32, size.nb, size.hq, size.nq, size.dv);
    random_rule(&p, state);
    return p;
}

/* SPDX-License-Identifier: MIT */
/*
 * Statistics of key positions, on every kernel set: with equal weights, distances, bins,
 * classes and nearest keys are counts.
 */
#include "stats_fixture.h"

static attend_context *ctx;

/*
 * Equal weights over keys lo .. hi - 1: position statistics are counts divided by the
 * number of keys.
 */
static int places_are_right(const problem *p, const struct check_problem *dense,
                            int64_t i, char *wrong, size_t size)
{
    const int64_t at = check_position(dense, 0, i);
    double keys = 0.0, far = 0.0, ln = 0.0, bin[4] = {0}, of_class[2] = {0},
           near[5] = {0};

    for (int64_t j = 0; j < p->n.nk; j++) {
        if (!check_sees(dense, 0, 0, i, j))
            continue;
        const int64_t away = llabs(at - j);
        keys += 1.0;
        far += (double)away;
        ln += log1p((double)away);
        bin[away >= 7 ? 3 : away >= 3 ? 2 : away >= 1] += 1.0;
        if (j % 3 > 0)
            of_class[j % 3 - 1] += 1.0;
        near[0] += j < 1;
        near[1] += j < 4;
        for (int y = 0; y < 3; y++)
            near[2 + y] += j == at - y;
    }
    const double share = keys > 0.0 ? 1.0 / keys : 0.0;
    const double want[7] = {near[0], near[1], near[2], near[3], near[4], far, ln};
    for (int x = 0; x < 7; x++) {
        const attend_stat stat = (attend_stat)(ATTEND_STAT_SINK1 + x);
        if (!is_near(stat_of(p, stat, 0, 0, i), want[x] * share, 2e-6)) {
            snprintf(wrong, size, "row %lld %s %.9g want %.9g", (long long)i,
                     attend_stat_name(stat), stat_of(p, stat, 0, 0, i), want[x] * share);
            return 0;
        }
    }
    for (int x = 0; x < 6; x++) {
        const double got = x < 4 ? tensor_get(&p->io.stats->distances, 0, 0, i, x)
                                 : tensor_get(&p->io.stats->class_mass, 0, 0, i, x - 4);
        if (!is_near(got, (x < 4 ? bin[x] : of_class[x - 4]) * share, 2e-6)) {
            snprintf(wrong, size, "row %lld bin or class %d: %.9g", (long long)i, x, got);
            return 0;
        }
    }
    return stat_of(p, ATTEND_STAT_KEYS, 0, 0, i) == keys;
}

static void places(attend_causal causal, int64_t offset, int64_t left, int64_t right)
{
    auto_problem p = problem_even((shape){1, 1, 1, 45, 300, 4, 2}, ATTEND_F32);
    char wrong[128] = "keys";

    p.rule.causal = causal;
    p.rule.causal_offset = causal == ATTEND_CAUSAL_OFFSET ? &offset : NULL;
    p.rule.window_left = left;
    p.rule.window_right = right;
    own_stats(&p, 0, 4, 2);
    int right_all = run_stats(&p, ctx);
    auto_check_problem dense = dense_problem(&p);
    for (int64_t i = 0; i < 45 && right_all; i++)
        right_all = places_are_right(&p, &dense, i, wrong, sizeof wrong);
    CHECK(right_all, "causal %d offset %lld window %lld %lld: %s", (int)causal,
          (long long)offset, (long long)left, (long long)right, wrong);
}

TEST(places_follow_the_position_of_the_query)
{
    static const int64_t offsets[] = {0, 1, -20, 95, 260, 299, 1000};

    for (int w = 0; w < 2; w++) {
        const int64_t left = w ? 11 : -1;
        places(ATTEND_CAUSAL_NONE, 0, left, w ? 5 : -1);
        places(ATTEND_CAUSAL_TOP_LEFT, 0, left, -1);
        places(ATTEND_CAUSAL_BOTTOM_RIGHT, 0, left, -1);
        for (int x = 0; x < 7; x++)
            places(ATTEND_CAUSAL_OFFSET, offsets[x], left, -1);
    }
}

/* A single bin has all weight, and the last of many has no upper end. */
TEST(the_last_bin_is_open)
{
    static const int64_t offset[] = {((int64_t)1 << 40) + 100};

    for (int bins = 1; bins <= 64; bins += 21) {
        auto_problem p = problem_even((shape){1, 1, 1, 20, 33, 4, 2}, ATTEND_F32);
        p.rule.causal = ATTEND_CAUSAL_OFFSET;
        p.rule.causal_offset = offset;
        attend_stats *const stats = own_stats(&p, 0, bins, 0);
        const int ran = run_stats(&p, ctx), at = bins > 41 ? 40 : bins - 1;
        const double mass = tensor_get(&stats->distances, 0, 0, 3, at);
        CHECK(ran && floats_apart(mass, 1.0) <= 1, "bins %d: %.9g", bins, mass);
    }
}

int main(void) { return run_on_every_set(&ctx, NULL); }

/* SPDX-License-Identifier: MIT */
/* The documented accuracy of entropy, participation and distances. */
#include "stats_fixture.h"

#include "check/check.h"
#include "check/sample.h"

static int is_stated(attend_stat stat)
{
    return stat == ATTEND_STAT_ENTROPY || stat == ATTEND_STAT_KEYS_EFF ||
           stat == ATTEND_STAT_N_EFF || stat == ATTEND_STAT_DISTANCE ||
           stat == ATTEND_STAT_LOG_DISTANCE;
}

/*
 * Up to 512 keys, unit normal inputs and every option but ALiBi, whose scores of
 * hundreds f32 rounds by more, and biases of finfo.min.
 */
static struct check_problem tame_problem(uint64_t seed)
{
    const struct check_sample_options options = {
        .max_length = 512, .max_rows = 40, .max_width = 128, .max_heads = 2, .tame = 1};
    struct check_problem p = check_sample(seed, &options);

    free(p.alibi);
    p.alibi = NULL;
    for (int64_t at = 0; p.bias != NULL && at < check_count(p.bias_size); at++)
        if (p.bias[at] < -1000.0)
            p.bias[at] = -INFINITY;
    check_drop_stats(&p);
    p.stats.dtype = ATTEND_F64;
    p.stats.columns = ATTEND_STAT_COUNT;
    memcpy(p.stats.column, every_stat, sizeof every_stat);
    p.stats.top = ATTEND_TOP_MAX;
    return p;
}

/* The largest relative error of the statistics above, over all rows. */
static double worst_error(const struct check_problem *p, const struct check_outputs *got,
                          const struct check_expect *want, attend_stat *stat)
{
    double worst = 0.0;

    for (int64_t at = 0; at < p->nb * p->hq * p->nq * ATTEND_STAT_COUNT; at++) {
        const attend_stat x = every_stat[at % ATTEND_STAT_COUNT];
        const double value = want->rows.value[at];
        if (!is_stated(x) || check_same_bits(got->rows[at], value) ||
            got->rows[at] == value)
            continue;
        const double error = fabs(got->rows[at] - value) / fabs(value);
        if (!(error <= worst)) {
            worst = isnan(error) ? INFINITY : error; /* NaN counts as the largest error */
            *stat = x;
        }
    }
    return worst;
}

TEST(entropy_participation_and_distances_within_1e_minus_5)
{
    struct check_run run;
    attend_error error = {.message = ""};
    double worst[CHECK_SETS_MAX] = {0};
    attend_stat stat[CHECK_SETS_MAX] = {0};
    const char *failed = NULL;

    CHECK(check_open(&run, NULL, CHECK_BOTH, 0, &error) == ATTEND_OK, "%s",
          error.message);
    for (uint64_t seed = 1; seed <= 60; seed++) {
        auto_check_problem p = tame_problem(seed + 600000);
        auto_check_expect want = check_dense(&p);
        for (int s = 0; s < run.count; s++) {
            struct check_outputs got;
            attend_stat which = ATTEND_STAT_KEYS;
            if (!check_try(&run, &run.sets[s], run.sets[s].ctx, &p, &got)) {
                failed = run.sets[s].label;
                continue;
            }
            const double here = worst_error(&p, &got, &want, &which);
            if (here > worst[s]) {
                worst[s] = here;
                stat[s] = which;
            }
            check_outputs_free(&got);
        }
    }
    for (int s = 0; s < run.count; s++) {
        printf("  %-16s worst %.3g, of %s\n", run.sets[s].label, worst[s],
               attend_stat_name(stat[s]));
        if (!(worst[s] <= 1e-5))
            failed = run.sets[s].label;
        if (run.sets[s].split && run.sets[s].tally.split == 0)
            failed = "no problem had splits";
    }
    check_close(&run);
    CHECK(failed == NULL, "%s", failed);
}

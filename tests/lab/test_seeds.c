/* SPDX-License-Identifier: MIT */
/*
 * Standard errors are right: over many seeds the z of every exact row has a standard
 * deviation of 1.  Some of the rows at several parameters; from TEST_WHOLE on, all of
 * them, and every row of every experiment, sweeps and all.  The seeds are always 1, 2,
 * ...: what has passed once passes again.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "lab/measure/moments.h"
#include "lab/performed.h"

/* z of each row over the seeds; a row is identified by its number. */
static struct {
    struct row_of_seeds {
        const char *quantity;
        struct lab_moments z;
        int rare, missed; /* seeds in which it was rare, and theory lay outside */
    } row[PERFORMED_ROWS];
    int64_t rare, missed; /* over all rows */
    int compared, off;
} seen;

/* 1.5e-6 on either side, and 1e-6 for the mean: in less than one of a thousand choices of
 * the seeds is any of 250 rows off. */
static const double tail = 1.5e-6, mean_limit = 4.9;

static void add_rows(void)
{
    for (int r = 0; r < lab.count; r++) {
        const struct lab_row *const row = &lab.row[r];
        const double z = lab_row_z(row);
        if (!seen.row[r].quantity)
            seen.row[r].quantity = row->quantity;
        CHECK(!strcmp(seen.row[r].quantity, row->quantity), "row %d: %s, then %s", r,
              seen.row[r].quantity, row->quantity);
        if (row->kind != LAB_EXACT || isnan(row->theory))
            continue;
        if (isfinite(z))
            lab_moments_add(&seen.row[r].z, z);
        seen.row[r].rare += row->rare;
        seen.row[r].missed += row->rare && lab_row_differs(row);
    }
}

/* Rows without rare events: all their z have the same distribution. */
static void compare_rows(int seeds, struct limits sd)
{
    for (int r = 0; r < lab.count; r++) {
        const struct row_of_seeds *const row = &seen.row[r];
        seen.rare += row->rare;
        seen.missed += row->missed;
        if (row->rare || row->z.count < seeds)
            continue;
        const double is = sqrt(lab_estimate_variance(&row->z).value);
        seen.compared++;
        if (is >= sd.low && is <= sd.high &&
            fabs(row->z.mean) * sqrt(seeds) <= mean_limit)
            continue;
        printf("z over %d seeds: mean %.3f, sd %.3f: %s\n", seeds, row->z.mean, is,
               describe(&lab.row[r]));
        seen.off++;
    }
}

static void try_seeds(const char *name, const char *flags, int64_t trials, int sweeps)
{
    const int seeds = seeds_taken();
    int rows = 0;

    memset(seen.row, 0, sizeof seen.row);
    for (int seed = 1; seed <= seeds; seed++) {
        PERFORM_AS(name, .flags = flags, .trials = trials, .seed = (uint64_t)seed,
                   .sweeps = sweeps);
        CHECK(lab.count <= PERFORMED_ROWS && (seed == 1 || lab.count == rows),
              "%s: %d rows, then %d", name, rows, lab.count);
        rows = lab.count;
        add_rows();
    }
    compare_rows(seeds, limits_of_sd(seeds, tail));
}

/* Minimum numbers of rows, and of intervals, whose misses are as rare as stated. */
static void check_seen(int least)
{
    const double expected = (double)seen.rare * LAB_MISS;

    CHECK(seen.compared > least, "%d rows", seen.compared);
    CHECK(seen.off == 0, "%d of %d rows", seen.off, seen.compared);
    CHECK(seen.rare > 0, "no interval");
    CHECK((double)seen.missed <= expected + 4 * sqrt(expected) + 1, "%lld of %lld",
          (long long)seen.missed, (long long)seen.rare);
}

TEST(z_at_several_parameters)
{
    /* The first rows of each experiment, and this fraction of the others. */
    static const struct {
        const char *name, *flags;
        int64_t trials;
        double share;
    } runs[] = {
        {"window", "", 2000, 1},
        {"window", "alpha=0.3 C=2 n=40", 1000, 0.3},
        {"window", "alpha=1 C=1000 n=10", 2000, 0}, /* 1 s per seed */
        {"window", "alpha=0.001 sigma2=0.5 n=2 tau=0.25 C=30", 2000, 0.3},
        {"magnitude", "", 4000, 1},
        {"magnitude", "n=1000 C=3 sigma2=0.1", 4000, 0.3},
        {"magnitude", "n=2 C=1 alpha=0.02", 4000, 0.3},
        {"magnitude", "n=12 C=7 alpha=0.05", 2000, 0.3},
        {"heads", "queries=plus-minus C=2", 4000, 1},
        {"heads", "", 4000, 0.3},
        {"heads", "noisy=all n=30 C=6", 4000, 0.3},
        {"heads", "alpha=0.02 n=12 C=5", 2000, 0.3},
        {"one-vs-two", "", 4000, 1},
        {"one-vs-two", "n=1000 C=7 sigma2=0.1", 4000, 0.3},
        {"how-many-heads", "m=8 h=2 C=20", 2000, 1},
        {"how-many-heads", "", 2000, 0.3},
        {"how-many-heads", "m=4 h=8 groups=copies noise=independent", 1000, 0.3},
        {"remedies", "", 4000, 1},
        {"remedies", "remedy=suppression noisy=all", 2000, 0.3},
        {"remedies", "remedy=qk-norm", 4000, 0.3},
        {"remedies", "remedy=cap alpha=0.01", 2000, 0.3},
        {"phases", "n=128 d=8", 400, 1},
        {"phases", "n=128 d=8 scale=off", 400, 0.3},
        {"capacity", "n=64", 400, 1},
        {"capacity", "n=64 m=4 d=16", 400, 0.3},
        {"variants", "", 4000, 1},
        {"variants", "beta=2 n=5", 4000, 0.3},
    };

    for (size_t x = 0; x < sizeof runs / sizeof runs[0]; x++)
        if (runs[x].share >= 1 || test_draws(runs[x].share))
            try_seeds(runs[x].name, runs[x].flags, runs[x].trials, 0);
    CHECK(seen.compared <= 250, "%d rows", seen.compared);
    check_seen(50);
}

static void z_of_every_row(void)
{
    memset(&seen, 0, sizeof seen);
    for (int e = 0; lab_experiments[e]; e++) {
        const int64_t most = lab_experiments[e]->trials / 4;
        const int before = seen.compared;
        if (most == 0)
            continue;
        try_seeds(lab_experiments[e]->name, "", most < 4000 ? most : 4000, 1);
        printf("%s: %d rows\n", lab_experiments[e]->name, seen.compared - before);
        fflush(stdout);
    }
    check_seen(300);
}

/* From tables of chi-square: 0.025 and 0.975 with 9 and with 4 degrees of freedom. */
TEST(limits_are_quantiles)
{
    const struct limits ten = limits_of_sd(10, 0.025), five = limits_of_sd(5, 0.025);

    CHECK(fabs(9 * ten.low * ten.low - 2.700389) < 1e-5, "%g", ten.low);
    CHECK(fabs(9 * ten.high * ten.high - 19.022768) < 1e-5, "%g", ten.high);
    CHECK(fabs(4 * five.low * five.low - 0.484419) < 1e-5, "%g", five.low);
    CHECK(fabs(4 * five.high * five.high - 11.143287) < 1e-5, "%g", five.high);
}

int main(void)
{
    test_run_all();
    if (test_scale() >= TEST_WHOLE)
        RUN(z_of_every_row);
    return test_finish();
}

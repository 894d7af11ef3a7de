/* SPDX-License-Identifier: MIT */
/*
 * Standard errors are right: over many seeds the z of every exact row has a standard
 * deviation of 1.  Ten seeds of the rows at several parameters; with ATTEND_TEST_SEEDS=N,
 * N seeds of every row of every experiment, sweeps and all; ATTEND_TEST_EXPERIMENT names
 * a single one.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lab/experiments/experiment.h"
#include "lab/measure/interval.h"
#include "support/test.h"

/* Rows of one experiment, told apart by quantity and parameters. */
enum { ROWS_MAX = 1024, NAME = 240 };

struct kept {
    char name[NAME];
    struct lab_moments z;
    int rare, missed; /* seeds in which it was rare, and in which theory lay outside */
};

static struct {
    struct kept row[ROWS_MAX];
    int count;
    int64_t rare, missed; /* over all rows */
} lab;

static void name_row(const struct lab_row *row, char *name)
{
    int used = snprintf(name, NAME, "%s", row->quantity);

    for (int p = 0; p < row->param_count && used < NAME; p++)
        used += row->params[p].text
                    ? snprintf(name + used, (size_t)(NAME - used), " %s=%s",
                               row->params[p].name, row->params[p].text)
                    : snprintf(name + used, (size_t)(NAME - used), " %s=%g",
                               row->params[p].name, row->params[p].number);
}

static void keep_row(void *user, const struct lab_row *row)
{
    char name[NAME];
    int r = 0;

    (void)user;
    if (row->kind != LAB_EXACT || isnan(row->theory))
        return;
    name_row(row, name);
    while (r < lab.count && strcmp(lab.row[r].name, name))
        r++;
    if (r == ROWS_MAX)
        return;
    if (r == lab.count) {
        lab.row[lab.count++] = (struct kept){.rare = 0};
        memcpy(lab.row[r].name, name, sizeof name);
    }
    if (isfinite(lab_row_z(row)))
        lab_moments_add(&lab.row[r].z, lab_row_z(row));
    lab.row[r].rare += row->rare;
    lab.row[r].missed += row->rare && lab_row_differs(row);
}

/* Flags as on the command line: "n=3 remedy=qk-norm". */
static void set_flags(struct lab_run *run, const char *flags, char *copy, size_t size)
{
    snprintf(copy, size, "%s", flags);
    for (char *word = strtok(copy, " "); word; word = strtok(NULL, " ")) {
        char *const value = strchr(word, '=');
        *value = '\0';
        for (int f = 0; f < run->experiment->flag_count; f++)
            if (!strcmp(run->experiment->flags[f].name, word)) {
                run->numbers[f] = strtod(value + 1, NULL);
                if (run->experiment->flags[f].text)
                    run->texts[f] = value + 1;
            }
    }
}

static int perform(const char *name, const char *flags, int seeds, int64_t trials,
                   int sweeps)
{
    char copy[160];

    lab.count = 0;
    for (int seed = 1; seed <= seeds; seed++) {
        struct lab_run run;
        lab_run_init(&run, lab_find(name));
        run.row = keep_row;
        run.trials = trials;
        run.sweeps = sweeps;
        run.session.seed = (uint64_t)seed;
        run.session.threads = 2;
        set_flags(&run, flags, copy, sizeof copy);
        if (lab_perform(&run))
            return -1;
    }
    return 0;
}

/* Standard deviations of z over the seeds that are taken for 1. */
struct limits {
    double low, high, mean;
};

/*
 * Rows that were never rare: all their z are drawn from one law.  Returns how many there
 * are; those off the limits are named and counted.
 */
static int check_rows(const char *name, int seeds, struct limits limits, int *off)
{
    int compared = 0;

    for (int r = 0; r < lab.count; r++) {
        const struct kept *const row = &lab.row[r];
        lab.rare += row->rare;
        lab.missed += row->missed;
        if (row->rare || row->z.count < seeds)
            continue;
        const double sd = sqrt(lab_estimate_variance(&row->z).value);
        compared++;
        if (sd >= limits.low && sd <= limits.high && fabs(row->z.mean) <= limits.mean)
            continue;
        printf("%s: %s: z over %d seeds: mean %.3f, sd %.3f\n", name, row->name, seeds,
               row->z.mean, sd);
        (*off)++;
    }
    return compared;
}

/*
 * Nine degrees of freedom and up to 300 rows: each limit of the standard deviation is
 * passed with probability 1.5e-6, that of the mean, 4.9/sqrt(10), with 1e-6, so that all
 * together give a false alarm in less than one of a thousand choices of the ten seeds.
 */
static const struct limits ten = {.low = 0.166, .high = 2.21, .mean = 1.55};

TEST(z_over_ten_seeds)
{
    static const struct {
        const char *name, *flags;
        int64_t trials;
    } runs[] = {
        {"window", "", 2000},
        {"window", "alpha=0.3 C=2 n=40", 1000},
        {"window", "alpha=1 C=1000 n=10", 2000},
        {"window", "alpha=0.001 sigma2=0.5 n=2 tau=0.25 C=30", 2000},
        {"magnitude", "", 4000},
        {"magnitude", "n=1000 C=3 sigma2=0.1", 4000},
        {"magnitude", "n=2 C=1 alpha=0.02", 4000},
        {"magnitude", "n=12 C=7 alpha=0.05", 2000},
        {"heads", "", 4000},
        {"heads", "queries=plus-minus C=2", 4000},
        {"heads", "noisy=all n=30 C=6", 4000},
        {"heads", "alpha=0.02 n=12 C=5", 2000},
        {"one-vs-two", "", 4000},
        {"one-vs-two", "n=1000 C=7 sigma2=0.1", 4000},
        {"how-many-heads", "", 2000},
        {"how-many-heads", "m=8 h=2 C=20", 2000},
        {"how-many-heads", "m=4 h=8 groups=copies noise=independent", 1000},
        {"remedies", "", 4000},
        {"remedies", "remedy=suppression noisy=all", 2000},
        {"remedies", "remedy=qk-norm", 4000},
        {"remedies", "remedy=cap alpha=0.01", 2000},
        {"phases", "n=128 d=8", 400},
        {"phases", "n=128 d=8 scale=off", 400},
        {"capacity", "n=64", 400},
        {"capacity", "n=64 m=4 d=16", 400},
        {"variants", "", 4000},
        {"variants", "beta=2 n=5", 4000},
    };
    int compared = 0, off = 0;

    for (size_t x = 0; x < sizeof runs / sizeof runs[0]; x++) {
        CHECK(perform(runs[x].name, runs[x].flags, 10, runs[x].trials, 0) == 0, "%s",
              runs[x].name);
        compared += check_rows(runs[x].name, 10, ten, &off);
    }
    CHECK(compared > 150 && compared <= 300, "%d rows", compared);
    CHECK(off == 0, "%d of %d rows", off, compared);
}

/* sd of 150: within 4.3 of its own standard errors. */
static const struct limits many = {.low = 0.75, .high = 1.25, .mean = 0.4};

TEST(z_over_many_seeds)
{
    const int seeds = atoi(getenv("ATTEND_TEST_SEEDS"));
    const char *const only = getenv("ATTEND_TEST_EXPERIMENT");
    int compared = 0, off = 0;

    for (int e = 0; lab_experiments[e]; e++) {
        const struct lab_experiment *const experiment = lab_experiments[e];
        const int64_t most = experiment->trials / 4, trials = most < 20000 ? most : 20000;
        if (trials == 0 || (only && strcmp(only, experiment->name)))
            continue;
        CHECK(perform(experiment->name, "", seeds, trials, 1) == 0, "%s",
              experiment->name);
        fflush(stdout);
        const int own = check_rows(experiment->name, seeds, many, &off);
        printf("%s: %d rows\n", experiment->name, own);
        compared += own;
    }
    CHECK(only || compared > 300, "%d rows", compared);
    CHECK(off == 0, "%d of %d rows", off, compared);
}

/* Intervals miss as seldom as they say, or less. */
TEST(intervals_miss_seldom)
{
    const double expected = (double)lab.rare * LAB_MISS;

    CHECK((double)lab.missed <= expected + 4 * sqrt(expected) + 1, "%lld of %lld",
          (long long)lab.missed, (long long)lab.rare);
}

int main(void)
{
    if (getenv("ATTEND_TEST_SEEDS"))
        RUN(z_over_many_seeds);
    else
        RUN(z_over_ten_seeds);
    RUN(intervals_miss_seldom);
    return test_finish();
}

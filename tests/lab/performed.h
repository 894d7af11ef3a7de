/* SPDX-License-Identifier: MIT */
/* Performs an experiment and keeps its rows, for the tests of the laboratory. */
#ifndef TESTS_PERFORMED_H
#define TESTS_PERFORMED_H

#include <stdint.h>

#include "lab/experiments/experiment.h"
#include "support/test.h"

enum { PERFORMED_ROWS = 1024 };

struct performed {
    struct lab_run run;
    struct lab_row row[PERFORMED_ROWS];
    int count; /* may exceed PERFORMED_ROWS: further rows are dropped */
    struct lab_figures figures;
};

/* The last performed experiment.  The caller that requested figures frees them. */
extern struct performed lab;

/*
 * Settings; 0 or NULL selects the default of the command line, 2 threads and no sweeps.
 */
struct performing {
    const char *flags; /* as on the command line, without dashes: "n=3 remedy=qk-norm" */
    int64_t trials;
    uint64_t seed;
    int threads, sweeps, figures;
    const volatile sig_atomic_t *stop;
};

/* The rows are in `lab`.  0, or -1 with words in lab.run.session.error. */
int perform_as(const char *name, struct performing how);
int perform(const char *name, const char *flags, int64_t trials);

/* The first row of a quantity, which is at the given parameters; NULL: none. */
const struct lab_row *find_row(const char *quantity);
/* NaN where there is no such row. */
double measured(const char *quantity);
double theory(const char *quantity);

/* The first row without a measurement or in disagreement with theory; NULL: none. */
const struct lab_row *disagreement(void);
/* A row as text; the last three strings stay valid. */
const char *describe(const struct lab_row *row);

/* Whether there are rows, and each agrees with its theory. */
#define CHECK_ROWS()                                                                     \
    do {                                                                                 \
        const struct lab_row *const off = disagreement();                                \
        CHECK(lab.count > 0 && lab.count <= PERFORMED_ROWS, "%d rows", lab.count);       \
        CHECK(!off, "%s", describe(off));                                                \
    } while (0)

/* CHECK() that the experiment succeeds. */
#define PERFORM(name, flags, trials)                                                     \
    CHECK(!perform(name, flags, trials), "%s %s: %s", name, flags, lab.run.session.error)

#define PERFORM_AS(name, ...)                                                            \
    CHECK(!perform_as(name, (struct performing){__VA_ARGS__}), "%s: %s", name,           \
          lab.run.session.error)

/*
 * Between these lies the standard deviation of `seeds` values of z, except with
 * probability p on either side: quantiles of chi-square with seeds - 1 degrees of
 * freedom.
 */
struct limits {
    double low, high;
};
struct limits limits_of_sd(int seeds, double p);
/* Number of seeds: 10 at scale 1, up to 150, at least 3. */
int seeds_taken(void);

#endif

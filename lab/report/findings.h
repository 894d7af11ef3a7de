/* SPDX-License-Identifier: MIT */
/*
 * All results of the laboratory: every experiment performed, every statement of the
 * sheets judged.  The report and the summary show it.
 */
#ifndef LAB_FINDINGS_H
#define LAB_FINDINGS_H

#include "lab/experiments/experiment.h"
#include "lab/sheets/sheets.h"

/* One experiment performed.  Rows own the names of their quantities. */
struct lab_result {
    const struct lab_experiment *experiment;
    struct lab_row *row;
    int count, capacity;
    int own; /* rows with the run's own parameters, which come first */
    int64_t trials;
    struct lab_figures figures;
    char error[256]; /* "" when it was performed */
    int short_of_memory;
};

struct lab_findings {
    uint64_t seed;
    int64_t trials; /* no measurement takes more */
    int threads;
    const struct lab_peers *peers; /* NULL: none */
    struct lab_result *result;
    int count;
    struct lab_judgement *judgement;
    int judged;
    struct lab_dispute *dispute; /* LAB_DISPUTES of them */
};

/* Reports progress: item `done` of `total`, named `what`, has begun. */
typedef void (*lab_findings_progress)(void *user, const char *what, int done, int total);

/*
 * Fills `findings`, whose seed, trials and threads are set.  0, also where an
 * experiment failed, with the error in its result; -1 when out of memory or the run
 * was cancelled.  Free it in any case.
 */
int lab_findings_gather(struct lab_findings *findings, const volatile sig_atomic_t *stop,
                        lab_findings_progress progress, void *user);
void lab_findings_free(struct lab_findings *findings);

/* Numbers of rows by their standing. */
struct lab_totals {
    struct lab_count rows;
    int figures, failures;
    int verdicts[4]; /* by enum lab_verdict */
};

void lab_totals_add(struct lab_totals *totals, const struct lab_result *result);
struct lab_totals lab_totals_of(const struct lab_findings *findings);

/* Nonzero if a row has both a theory and a measurement. */
int lab_row_compared(const struct lab_row *row);
/* The first row of the experiment's headline that was compared; NULL: none. */
const struct lab_row *lab_result_headline(const struct lab_result *result);

/* ---- output ---------------------------------------------------------------- */

/* One self-contained HTML page; 0, or -1 when writing failed. */
int lab_report_write(const struct lab_findings *findings, FILE *out);
/* A line for each experiment, then the verdicts, in at most 80 columns. */
int lab_summary_write(const struct lab_findings *findings, FILE *out);

#endif

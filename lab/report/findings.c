/* SPDX-License-Identifier: MIT */
#define _POSIX_C_SOURCE 200809L

#include "lab/report/findings.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* State of the callbacks of a run. */
struct session {
    struct lab_result *result;
    lab_findings_progress progress;
    void *user;
    int number, total;
};

static void keep_row(void *user, const struct lab_row *row)
{
    struct session *const session = user;
    struct lab_result *const result = session->result;
    if (result->count == result->capacity) {
        const int capacity = result->capacity ? 2 * result->capacity : 64;
        struct lab_row *wider =
            realloc(result->row, (size_t)capacity * sizeof *result->row);
        result->short_of_memory |= !wider;
        if (!wider)
            return;
        result->row = wider;
        result->capacity = capacity;
    }
    char *const quantity = strdup(row->quantity);
    result->short_of_memory |= !quantity;
    if (!quantity)
        return;
    if (result->own == result->count && row->is_own)
        result->own++;
    result->row[result->count] = *row;
    result->row[result->count++].quantity = quantity;
}

static void keep_going(void *user, int64_t done, int64_t total)
{
    const struct session *const session = user;
    (void)done;
    (void)total;
    if (session->progress)
        session->progress(session->user, session->result->experiment->name,
                          session->number, session->total);
}

static void perform(struct lab_findings *findings, struct session *session,
                    const volatile sig_atomic_t *stop)
{
    struct lab_result *const result = session->result;
    struct lab_run run;
    lab_run_init(&run, result->experiment);
    run.session.seed = findings->seed;
    run.session.threads = findings->threads;
    run.session.peers = findings->peers;
    if (run.trials > findings->trials)
        run.trials = findings->trials;
    run.sweeps = 1;
    run.row = keep_row;
    run.session.progress = keep_going;
    run.session.user = session;
    run.session.stop = stop;
    run.figures = &result->figures;
    result->trials = run.trials;
    if (lab_perform(&run))
        memcpy(result->error, run.session.error, sizeof result->error);
}

static int judge(struct lab_findings *findings, const volatile sig_atomic_t *stop,
                 const struct session *session)
{
    findings->judgement = calloc(LAB_STATEMENTS, sizeof *findings->judgement);
    findings->dispute = calloc(LAB_DISPUTES, sizeof *findings->dispute);
    if (!findings->judgement || !findings->dispute)
        return -1;
    if (session->progress)
        session->progress(session->user, "sheets", session->number, session->total);
    if (lab_sheets_judge_all(NULL, LAB_CHARITY, findings->threads, findings->judgement) ||
        (stop && *stop))
        return -1;
    findings->judged = LAB_STATEMENTS;
    for (int i = 0; i < LAB_DISPUTES; i++)
        if (lab_sheets_dispute(i, findings->judgement, &findings->dispute[i]))
            return -1;
    return 0;
}

int lab_findings_gather(struct lab_findings *findings, const volatile sig_atomic_t *stop,
                        lab_findings_progress progress, void *user)
{
    int count = 0;
    while (lab_experiments[count])
        count++;
    /* One more, so that no experiment at all is not taken for a lack of memory. */
    findings->result = calloc((size_t)count + 1, sizeof *findings->result);
    if (!findings->result)
        return -1;
    struct session session = {.progress = progress, .user = user, .total = count + 1};
    for (int e = 0; e < count; e++) {
        struct lab_result *const result = &findings->result[findings->count++];
        result->experiment = lab_experiments[e];
        session.result = result;
        session.number = e;
        keep_going(&session, 0, 0);
        perform(findings, &session, stop);
        if (result->short_of_memory || (stop && *stop))
            return -1;
    }
    session.number = count;
    return judge(findings, stop, &session);
}

void lab_findings_free(struct lab_findings *findings)
{
    for (int e = 0; e < findings->count; e++) {
        struct lab_result *const result = &findings->result[e];
        for (int i = 0; i < result->count; i++)
            free((char *)result->row[i].quantity);
        free(result->row);
        lab_figures_free(&result->figures);
    }
    free(findings->result);
    free(findings->judgement);
    free(findings->dispute);
    *findings = (struct lab_findings){0};
}

int lab_row_compared(const struct lab_row *row)
{
    return !isnan(row->theory) && !isnan(row->measured);
}

const struct lab_row *lab_result_headline(const struct lab_result *result)
{
    const char *const wanted = result->experiment->headline;
    const struct lab_row *first = NULL;
    for (int i = 0; i < result->count; i++) {
        const struct lab_row *const row = &result->row[i];
        if (!lab_row_compared(row))
            continue;
        if (!wanted || !strcmp(row->quantity, wanted))
            return row;
        if (!first)
            first = row;
    }
    return first;
}

void lab_totals_add(struct lab_totals *totals, const struct lab_result *result)
{
    for (int i = 0; i < result->count; i++)
        lab_count_row(&totals->rows, &result->row[i]);
    totals->figures += result->figures.count;
    totals->failures += *result->error != '\0';
}

struct lab_totals lab_totals_of(const struct lab_findings *findings)
{
    struct lab_totals totals = {0};
    for (int e = 0; e < findings->count; e++)
        lab_totals_add(&totals, &findings->result[e]);
    for (int i = 0; i < findings->judged; i++)
        totals.verdicts[findings->judgement[i].verdict]++;
    return totals;
}

/* ---- on a terminal --------------------------------------------------------- */

static void write_result(const struct lab_result *result, FILE *out)
{
    struct lab_totals totals = {0};
    char exact[32], bounds[32];
    lab_totals_add(&totals, result);
    snprintf(exact, sizeof exact, "%d/%d", totals.rows.within, totals.rows.exact);
    snprintf(bounds, sizeof bounds, "%d/%d", totals.rows.held, totals.rows.bounds);
    fprintf(out, "%-15s %7s %6s %5d  ", result->experiment->name, exact, bounds,
            totals.rows.shown);
    const struct lab_row *const row = lab_result_headline(result);
    if (*result->error)
        fprintf(out, "failed: %s", result->error);
    else if (row && row->se > 0)
        fprintf(out, "%-14s %-9.4g %.4g \302\261 %.1g", row->quantity, row->theory,
                row->measured, row->se);
    else if (row)
        fprintf(out, "%-14s %-9.4g %.4g", row->quantity, row->theory, row->measured);
    fputc('\n', out);
}

int lab_summary_write(const struct lab_findings *findings, FILE *out)
{
    const struct lab_totals totals = lab_totals_of(findings);
    const struct lab_count *const rows = &totals.rows;
    fprintf(out, "%-15s %7s %6s %5s  %-14s %-9s %s\n", "experiment", "exact", "bounds",
            "shown", "for example", "theory", "measured");
    for (int e = 0; e < findings->count; e++)
        write_result(&findings->result[e], out);
    fprintf(out,
            "\nwithin 4 se of theory: %d of %d rows; bounds held: %d of %d;\n"
            "limits and first-order forms: %d\n",
            rows->within, rows->exact, rows->held, rows->bounds, rows->shown);
    if (!findings->judged)
        return ferror(out) ? -1 : 0;
    fprintf(out, "%d statements of the sheets:", findings->judged);
    for (int verdict = LAB_HOLDS; verdict <= LAB_SLIP; verdict++)
        fprintf(out, "%s %d %s", verdict ? "," : "", totals.verdicts[verdict],
                lab_verdict_word((enum lab_verdict)verdict));
    fprintf(out, "\nthe sheets contradict each other on %d points: attend sheets\n",
            LAB_DISPUTES);
    return ferror(out) ? -1 : 0;
}

/* SPDX-License-Identifier: MIT */
/* `attend report`: every experiment and every statement, on a page and in a summary. */
#define _POSIX_C_SOURCE 200809L

#include "lab_tool.h"
#include "shared/commands.h"

#include <stdio.h>

#include "lab/report/findings.h"
#include "shared/flags.h"
#include "shared/progress_line.h"
#include "shared/text_file.h"

static const char help_text[] =
    "usage: attend report [-o FILE] [--seed N] [--trials N] [--threads N]\n"
    "\n"
    "Performs every experiment of 'attend lab', judges every statement of the sheets,\n"
    "and prints a summary: for each experiment how many exact laws agree with theory,\n"
    "how many bounds are held and how many limits are shown, with one of the rows, then\n"
    "the verdicts. With -o it also writes one self-contained HTML page: the exercise\n"
    "question by question, with answers, formulas, plots and numbers, then all rows and\n"
    "the verdicts. It appears when it is complete.\n"
    "\n"
    "options:\n"
    "@21 output seed trials threads help\n"
    "\n"
    "exit status: 1 when an experiment could not be performed; rows that do not agree\n"
    "are part of the findings.\n"
    "\n"
    "example:\n"
    "  attend report -o report.html\n";

static void on_progress(void *user, const char *what, int done, int total)
{
    struct progress_line *const progress = user;

    progress->what = what;
    progress_line_update(progress, done, total);
}

static int gather(struct lab_findings *findings)
{
    struct progress_line progress;

    tool_catch_stop();
    progress_line_start(&progress, "report", NULL);
    const int failed = lab_findings_gather(findings, &tool_stop, on_progress, &progress);
    progress_line_clear(&progress);
    if (tool_stop) {
        lab_summary_write(findings, stdout);
        return tool_fail("report", tool_finish_output("report", TOOL_STOPPED),
                         "stopped in the last experiment shown: no page is written");
    }
    return failed ? tool_fail("report", TOOL_FAILED, "out of memory") : TOOL_OK;
}

static int print_summary(const struct lab_findings *findings, double seconds,
                         const char *path)
{
    lab_summary_write(findings, stdout);
    printf("seed %llu, %d threads, %.1f s\n", (unsigned long long)findings->seed,
           findings->threads, seconds);
    if (path)
        printf("the report: %s\n", path);
    return tool_finish_output("report", TOOL_OK);
}

/* Everything after the flags; with a page if `path` is not NULL. */
static int make(struct lab_findings *findings, const char *path)
{
    const double started = tool_seconds();
    tool_text page = {.path = path};
    int status = path ? tool_text_open("report", "-o", path, &page) : TOOL_OK;

    if (!status)
        status = gather(findings);
    if (!status && path && lab_report_write(findings, page.stream))
        status = tool_fail("report", TOOL_FAILED, "'%s' could not be written", path);
    if (!status)
        status = print_summary(findings, tool_seconds() - started, path);
    if (!status && path)
        status = tool_text_commit("report", &page);
    tool_text_discard(&page);
    const int failures = status ? 0 : lab_totals_of(findings).failures;
    if (failures)
        status = tool_fail("report", TOOL_FAILED, "%d of %d experiments failed", failures,
                           findings->count);
    return status;
}

int cmd_report(int argc, char **argv)
{
    struct lab_findings findings = {.trials = 40000};
    const char *path = NULL;
    int64_t seed = 1;
    const struct tool_flag flags[] = {
        FLAG_LINE(const char *, "output", tool_read_text, &path, .letter = 'o',
                  .takes = "FILE", .help = "write the page to FILE"),
        FLAG_INT64("seed", &seed, 0, INFINITY, "N", "seed of the random numbers (1)"),
        FLAG_INT64("trials", &findings.trials, 100, 1000000000, "N",
                   "most trials of a measurement (40000)"),
        FLAG_THREADS(&findings.threads,
                     "threads; the numbers do not depend on them (every core)"),
    };

    int status = tool_read_flags("report", argc, argv, FLAG_TABLE(flags), help_text);
    if (!status)
        status = tool_choose_threads("report", &findings.threads);
    if (status)
        return status;
    findings.seed = (uint64_t)seed;
    findings.peers = lab_rank_peers();
    status = make(&findings, path);
    lab_findings_free(&findings);
    return status;
}

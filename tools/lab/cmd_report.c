/* SPDX-License-Identifier: MIT */
/* `attend report`: every experiment and every statement, on a page and in a summary. */
#define _POSIX_C_SOURCE 200809L

#include "shared/commands.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lab/findings.h"

static const char help_text[] =
    "usage: attend report [-o FILE] [--seed N] [--trials N] [--threads N]\n"
    "\n"
    "Performs every experiment of 'attend lab', judges every statement of the sheets,\n"
    "and prints a summary: for each experiment how many rows agree with theory and the\n"
    "first of them, then the verdicts. With -o it also writes one self-contained HTML\n"
    "page with all plots, rows and verdicts; the page appears when it is complete.\n"
    "\n"
    "options:\n"
    "  -o, --output FILE  write the page to FILE\n"
    "  --seed N           seed of the random numbers (1)\n"
    "  --trials N         most trials of a measurement (40000)\n"
    "  --threads N        threads; the numbers do not depend on them (every core)\n"
    "  --help             this text\n"
    "\n"
    "exit status: 1 when an experiment could not be performed; rows that do not agree\n"
    "are part of the findings.\n"
    "\n"
    "example:\n"
    "  attend report -o report.html\n";

enum { OPT_OUTPUT, OPT_SEED, OPT_TRIALS, OPT_THREADS, OPT_HELP, OPTIONS };
static void on_progress(void *user, const char *what, int done, int total)
{
    tool_progress *const progress = user;

    progress->what = what;
    tool_progress_update(progress, done, total);
}

/* The words with "-o" written out. */
static int parse_words(int argc, char **argv, tool_option *options)
{
    static char output[] = "--output";
    char **const words = malloc(((size_t)argc + 1) * sizeof *words);

    if (!words)
        return tool_fail("report", TOOL_FAILED, "out of memory");
    for (int i = 0; i < argc; i++)
        words[i] = strcmp(argv[i], "-o") ? argv[i] : output;
    words[argc] = NULL;
    const int status = tool_parse_options("report", argc, words, options, OPTIONS);
    free(words);
    return status;
}

static int parse_numbers(const tool_option *options, struct lab_findings *findings)
{
    int64_t seed = 1, trials = 40000, threads = 0;
    int status = TOOL_OK;

    if (options[OPT_SEED].value)
        status = tool_parse_int("report", "--seed", options[OPT_SEED].value, 0, INT64_MAX,
                                &seed);
    if (!status && options[OPT_TRIALS].value)
        status = tool_parse_int("report", "--trials", options[OPT_TRIALS].value, 100,
                                1000000000, &trials);
    if (!status && options[OPT_THREADS].value)
        status = tool_parse_int("report", "--threads", options[OPT_THREADS].value, 1,
                                TOOL_THREADS_MAX, &threads);
    if (!status) {
        attend_options wanted = attend_options_default();
        attend_context *ctx;
        wanted.threads = (int)threads;
        status = tool_create_context("report", &wanted, &ctx);
        threads = status ? 0 : attend_context_threads(ctx);
        attend_context_destroy(ctx);
    }
    findings->seed = (uint64_t)seed;
    findings->trials = trials;
    findings->threads = (int)threads;
    return status;
}

static int gather(struct lab_findings *findings)
{
    tool_progress progress;

    tool_catch_stop();
    tool_progress_start(&progress, "report");
    const int failed = lab_findings_gather(findings, &tool_stop, on_progress, &progress);
    tool_progress_finish(&progress);
    if (tool_stop)
        return tool_fail("report", TOOL_STOPPED, "stopped before it was complete");
    return failed ? tool_fail("report", TOOL_FAILED, "out of memory") : TOOL_OK;
}

/* Everything after the options; with a page if `page` is not NULL. */
static int make(struct lab_findings *findings, tool_text *page)
{
    const double started = tool_seconds();
    int status = gather(findings);

    if (!status && page && lab_report_write(findings, page->stream))
        status =
            tool_fail("report", TOOL_FAILED, "'%s' could not be written", page->path);
    if (status) {
        if (page)
            tool_text_discard(page);
        return status;
    }
    if (page)
        status = tool_text_commit("report", page);
    if (status)
        return status;
    lab_summary_write(findings, stdout);
    printf("seed %llu, %d threads, %.1f s\n", (unsigned long long)findings->seed,
           findings->threads, tool_seconds() - started);
    if (page)
        printf("the report: %s\n", page->path);
    const int failures = lab_tally_all(findings).failures;
    status = tool_finish_output("report", TOOL_OK);
    if (!status && failures)
        status = tool_fail("report", TOOL_FAILED, "%d of %d experiments failed", failures,
                           findings->count);
    return status;
}

int cmd_report(int argc, char **argv)
{
    tool_option options[OPTIONS] = {
        [OPT_OUTPUT] = {.name = "output", .takes_value = 1},
        [OPT_SEED] = {.name = "seed", .takes_value = 1},
        [OPT_TRIALS] = {.name = "trials", .takes_value = 1},
        [OPT_THREADS] = {.name = "threads", .takes_value = 1},
        [OPT_HELP] = {.name = "help"},
    };
    struct lab_findings findings = {.count = 0};
    tool_text page;

    int status = parse_words(argc, argv, options);
    if (status)
        return status;
    if (options[OPT_HELP].value) {
        fputs(help_text, stdout);
        return tool_finish_output("report", TOOL_OK);
    }
    status = parse_numbers(options, &findings);
    const char *const path = options[OPT_OUTPUT].value;
    if (!status && path)
        status = tool_text_open("report", "-o", path, &page);
    if (!status)
        status = make(&findings, path ? &page : NULL);
    lab_findings_free(&findings);
    return status;
}

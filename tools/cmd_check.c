/* SPDX-License-Identifier: MIT */
/* `attend check`: the numerical checks on this machine, every kernel set it can run. */
#include "shared/commands.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "check/check.h"
#include "shared/flags.h"
#include "shared/json_line.h"
#include "shared/progress_line.h"

static const char help_text[] =
    "usage: attend check [--json] [--isa NAME] [--device NAME] [--threads N] [--seed N]\n"
    "                    [--effort X]\n"
    "\n"
    "Checks the arithmetic on this machine: for every kernel set that runs here,\n"
    "the error of 2^x, of hostile and of random problems against a dense evaluation in\n"
    "double, as a share of the derived bound (below 1 is right), and the laws that\n"
    "attention obeys, bit for bit where that is promised.  All but 2^x and\n"
    "inspection runs twice: as it is, and as NAME/split with splits of few keys, so "
    "that\n"
    "short problems take every path of long ones.  Takes some 20 seconds.\n"
    "\n"
    "options:\n"
    "@16 isa device threads seed effort json help\n"
    "\n"
    "Exit status 1 if a check fails; the message names the problem that shows it.\n"
    "\n"
    "example: the worst case of each kernel set\n"
    "  attend check --json | jq -s 'group_by(.set)[] | max_by(.worst_over_bound)'\n";

/* At effort 1 the check `exp2` takes one float in this many. */
enum { EXP2_STEP = 5 };

struct progress {
    struct progress_line line;
    int done;
};

struct request {
    const char *isa, *device;
    int threads, as_json;
    int64_t seed;
    double effort;
};

static void on_progress(void *user)
{
    struct progress *const progress = user;

    progress_line_update(&progress->line, progress->done, check_test_count);
}

static int open_run(const struct request *request, struct check_run *run)
{
    attend_error error;
    const char *const forced = getenv("ATTEND_ISA");
    const char *const isa = request->device     ? request->device
                            : request->isa      ? request->isa
                            : forced && *forced ? forced
                                                : NULL;
    const attend_status opened =
        check_open(run, isa, CHECK_BOTH, request->threads, &error);
    if (opened != ATTEND_OK)
        return tool_fail("check", tool_status(opened), "%s%s",
                         request->device ? "--device: "
                         : request->isa  ? "--isa: "
                         : isa           ? "ATTEND_ISA: "
                                         : "",
                         error.message);
    run->seed = (uint64_t)request->seed;
    run->effort = request->effort;
    run->exp2_step = (int64_t)fmax(1.0, EXP2_STEP / request->effort);
    return TOOL_OK;
}

static int print_as_json(const char *test, const struct check_set *set)
{
    struct lab_json json;

    tool_open_json(&json);
    lab_json_put(&json, "set:s split:b test:s cases:l worst_over_bound:r ok:b", set->name,
                 set->split, test, (int64_t)set->tally.cases, set->tally.worst,
                 set->tally.ok);
    return tool_print_json("check", &json);
}

static void print_as_text(const check_test *test, const struct check_set *set)
{
    printf("%-16s %-11s %9lld  %9.3g  %s\n", set->label, test->name,
           (long long)set->tally.cases, set->tally.worst,
           set->tally.ok ? "ok" : "FAILED");
    if (!set->tally.ok)
        printf("    %s: %s\n    %s\n", test->name, test->what, set->tally.detail);
}

/* The sets of this build that were left out, if none was asked for by name. */
static void print_skipped(const struct check_run *run)
{
    attend_isa isa = attend_isa_default();

    for (int index = 0; attend_isa_get(index, &isa) == ATTEND_OK; index++)
        if (!isa.runs && run->all)
            printf("%-16s SKIPPED: this machine cannot run it; needs %s\n", isa.name,
                   isa.needs);
}

/* All tests over their sets; counts the results and returns how many are not ok. */
static int perform_all(struct check_run *run, struct progress *progress, int as_json,
                       int *status, int *results, char *first, size_t first_size)
{
    int failed = 0;

    *results = 0;
    if (!as_json) {
        print_skipped(run);
        printf("%-16s %-11s %9s  %9s\n", "set", "test", "cases", "err/bound");
    }
    for (int t = 0; t < check_test_count; t++) {
        progress->done = t;
        check_perform(run, &check_tests[t]);
        progress_line_clear(&progress->line);
        const int sets = check_set_count(run, &check_tests[t]);
        *results += sets;
        for (int s = 0; s < sets && *status == TOOL_OK; s++) {
            const struct check_set *const set = &run->sets[s];
            if (!set->tally.ok && failed++ == 0)
                snprintf(first, first_size, "%s on %s: %s", check_tests[t].name,
                         set->label, set->tally.detail);
            if (as_json)
                *status = print_as_json(check_tests[t].name, set);
            else
                print_as_text(&check_tests[t], set);
        }
        fflush(stdout);
    }
    return failed;
}

int cmd_check(int argc, char **argv)
{
    struct request request = {.seed = 1, .effort = 1.0};
    const struct tool_flag flags[] = {
        FLAG_TEXT("isa", &request.isa, "NAME",
                  "this kernel set only (default: ATTEND_ISA, else all that run here)"),
        FLAG_TEXT("device", &request.device, "NAME",
                  "this device in place of the CPU: cuda or cuda:N; without 2^x"),
        FLAG_THREADS(&request.threads,
                     "threads of every call (default 1: the problems are small; the law\n"
                     "of threads has its own)"),
        FLAG_INT64("seed", &request.seed, 0, INFINITY, "N",
                   "other random problems (default 1)"),
        FLAG_REAL("effort", &request.effort, 0.01, 1000.0, "X",
                  "multiplies the number of random problems (default 1); a few of each\n"
                  "kind are always the same"),
        FLAG_SWITCH("json", &request.as_json,
                    "one JSON object per line: set, split, test, cases,\n"
                    "worst_over_bound, ok; laws that hold bit for bit have\n"
                    "worst_over_bound 0, null if not"),
    };
    struct progress progress = {.done = 0};
    struct check_run run;
    char first[1200] = "";
    int results;

    int status = tool_read_flags("check", argc, argv, FLAG_TABLE(flags), help_text);
    if (!status)
        status = open_run(&request, &run);
    if (status)
        return status;
    check_report_faults();
    progress_line_start(&progress.line, "checking", NULL);
    run.progress = on_progress;
    run.progress_user = &progress;
    const int failed = perform_all(&run, &progress, request.as_json, &status, &results,
                                   first, sizeof first);
    progress_line_clear(&progress.line);
    check_close(&run);
    if (status)
        return status;
    if (failed > 0)
        return tool_fail("check", TOOL_FAILED, "%d of %d failed; %s", failed, results,
                         first);
    if (!request.as_json)
        printf("all %d ok\n", results);
    return tool_finish_output("check", TOOL_OK);
}

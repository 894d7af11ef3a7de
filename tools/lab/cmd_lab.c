/* SPDX-License-Identifier: MIT */
/* `attend lab`: the experiments, predictions of theory beside measurements. */
#define _POSIX_C_SOURCE 200809L

#include "lab_tool.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lab/figures/figure.h"
#include "shared/commands.h"
#include "shared/help.h"
#include "shared/progress_line.h"
#include "shared/ranks.h"
#include "shared/text_file.h"

struct session {
    struct lab_request *request;
    struct lab_printer printer;
    struct progress_line progress;
};

static void on_row(void *user, const struct lab_row *row)
{
    struct session *const session = user;

    progress_line_clear(&session->progress);
    lab_print_row(&session->printer, row);
    if (session->printer.failed)
        tool_stop = 1;
}

static void on_progress(void *user, int64_t done, int64_t total)
{
    struct session *const session = user;

    session->request->done = done;
    session->request->total = total;
    progress_line_update(&session->progress, done, total);
}

/* Experiments on files, with flags of their own. */
static const struct {
    const char *name, *title;
    int (*command)(int argc, char **argv);
} tools[] = {
    {"place", "Heads of tensors on the maps of the laboratory", lab_place_command},
    {"transfer", "Rounded keys: the error of a head, predicted and measured",
     lab_transfer_command},
};
enum { TOOLS = sizeof tools / sizeof tools[0] };

/* Runs estimated above this print a warning.  The estimate is good to a factor of 2. */
#define SLOW_SECONDS 120

/* A line before a long run: how long, and how to end it. */
static void on_slow(void *user, double seconds)
{
    const struct session *const session = user;
    const struct lab_run *const run = &session->request->run;
    const int64_t heads = session->request->heads;
    const double whole =
        heads ? seconds * (double)heads : fmax(seconds, lab_seconds(run));

    if (whole <= SLOW_SECONDS)
        return;
    fprintf(stderr, "attend %s: this takes about %.0f minutes, ",
            session->printer.command, round(whole / 60));
    if (heads)
        fprintf(stderr,
                "%.2g s for every head; Ctrl-C ends it with what it has, --trials N and "
                "--rows N make it shorter\n",
                seconds);
    else
        fprintf(
            stderr,
            "%.2g s for every 1000 trials of the first rows; Ctrl-C ends it with what "
            "it has, %s it shorter\n",
            1000 * seconds / (double)run->trials,
            run->sweeps ? "--trials N and --no-sweep make" : "a smaller --trials makes");
}

void lab_work_timed(struct lab_request *request, double seconds)
{
    struct lab_session *const session = &request->run.session;

    if (session->slow)
        session->slow(session->user, seconds);
    session->slow = NULL;
}

static const char list_head[] =
    "usage: attend lab NAME [OPTION]...\n"
    "       attend lab NAME --help\n"
    "\n"
    "Runs an experiment: theory beside what the engine measures.\n"
    "\n"
    "experiments:\n";

static const char list_tail[] =
    "\n"
    "In brackets: the questions of the exercise that an experiment answers.\n"
    "\n"
    "Exact laws are judged by |z| <= 4, bounds by being held; of limits and\n"
    "first-order forms the distance is shown and nothing is claimed.  Rows of few\n"
    "events are marked rare and judged by an interval, low to high, that covers as\n"
    "often as |z| <= 4.  'attend lab NAME --help' says more.\n"
    "\n"
    "with tensors of your own:\n";

static const char list_example[] = "\n"
                                   "example:\n"
                                   "  attend lab magnitude --C 10 --n 10\n";

/* The list as --help prints it. */
static char *list_text(void)
{
    char *text = NULL;
    size_t size;
    FILE *const list = open_memstream(&text, &size);

    if (!list)
        return NULL;
    fputs(list_head, list);
    for (int e = 0; lab_experiments[e]; e++)
        fprintf(list, "  %-15s %s%s%s%s\n", lab_experiments[e]->name,
                lab_experiments[e]->title, *lab_experiments[e]->answers ? " (" : "",
                lab_experiments[e]->answers, *lab_experiments[e]->answers ? ")" : "");
    fputs(list_tail, list);
    for (int t = 0; t < TOOLS; t++)
        fprintf(list, "  %-15s %s\n", tools[t].name, tools[t].title);
    fputs(list_example, list);
    return fclose(list) ? NULL : text;
}

/* In the manual, after the list: the common flags, and the experiments on files. */
static void print_manual(void)
{
    char name[16], help[] = "--help";
    struct lab_request request = {.unit = "trials"};

    puts(".Ss Options of every experiment");
    lab_run_init(&request.run, lab_find("magnitude"));
    lab_read_flags("lab", 2, (char *[]){name, help}, &request);
    for (int t = 0; t < TOOLS; t++) {
        printf(".Ss lab %s\n", tools[t].name);
        snprintf(name, sizeof name, "%s", tools[t].name);
        tools[t].command(2, (char *[]){name, help});
    }
}

static int list_experiments(void)
{
    char *const text = list_text();

    if (!text)
        return tool_fail("lab", TOOL_FAILED, "out of memory");
    tool_print_help(text, NULL, 0);
    free(text);
    if (tool_help_form == TOOL_HELP_MANUAL)
        print_manual();
    for (int e = 0; tool_help_form == TOOL_HELP_WORDS && lab_experiments[e]; e++)
        puts(lab_experiments[e]->name);
    for (int t = 0; tool_help_form == TOOL_HELP_WORDS && t < TOOLS; t++)
        puts(tools[t].name);
    return tool_finish_output("lab", TOOL_HELPED);
}

static int unknown_experiment(const char *name)
{
    char names[1024];
    size_t used = 0;

    names[0] = '\0';
    for (int e = 0; lab_experiments[e] && used < sizeof names; e++)
        used += (size_t)snprintf(names + used, sizeof names - used, "%s%s", e ? " " : "",
                                 lab_experiments[e]->name);
    for (int t = 0; t < TOOLS && used < sizeof names; t++)
        used += (size_t)snprintf(names + used, sizeof names - used, " %s", tools[t].name);
    return tool_fail("lab", TOOL_USAGE, "unknown experiment '%s': it is one of %s", name,
                     names);
}

/* The lines below the rows of a table. */
static void print_end(const struct lab_request *request, const struct lab_count *count)
{
    const struct lab_run *const run = &request->run;
    char text[160];

    if (request->format != LAB_TABLE)
        return;
    lab_count_text(count, text, sizeof text);
    printf("\n%s\n", text);
    tool_print_wrapped(*run->conclusion ? run->conclusion : run->experiment->shows, 0);
}

static int perform(const char *command, struct lab_request *request)
{
    struct lab_run *const run = &request->run;
    struct session session = {
        .request = request,
        .printer = {.command = command, .run = run, .format = request->format}};
    const int status = tool_choose_threads(command, &run->session.threads);

    if (status)
        return status;
    run->row = on_row;
    run->session.progress = on_progress;
    run->session.slow = on_slow;
    run->session.user = &session;
    run->session.stop = &tool_stop;
    run->session.peers = lab_rank_peers();
    tool_catch_stop();
    progress_line_start(&session.progress, run->experiment->name,
                        request->work ? NULL : request->unit);
    const int failed =
        request->work ? request->work(request, request->work_user) : lab_perform(run);
    run->session.user = NULL;
    progress_line_clear(&session.progress);
    if (session.printer.failed)
        return session.printer.failed;
    if (failed)
        return tool_fail(command, run->session.refused ? TOOL_USAGE : TOOL_FAILED, "%s",
                         run->session.error);
    print_end(request, &session.printer.count);
    return tool_finish_output(command, TOOL_OK);
}

static int perform_with_figures(const char *command, struct lab_request *request)
{
    struct lab_figures figures = {.count = 0};
    tool_text file;
    int status = tool_text_open(command, "--svg", request->svg, &file);

    if (status)
        return status;
    request->run.figures = &figures;
    status = perform(command, request);
    if (!status && lab_figures_svg(&figures, file.stream))
        status = tool_fail(command, TOOL_FAILED, "'%s' could not be written", file.path);
    if (status)
        tool_text_discard(&file);
    else
        status = tool_text_commit(command, &file);
    request->run.figures = NULL;
    lab_figures_free(&figures);
    return status;
}

int lab_request_perform(const char *command, struct lab_request *request)
{
    const int status =
        request->svg ? perform_with_figures(command, request) : perform(command, request);

    if (!tool_stop || status != TOOL_OK)
        return status;
    return tool_fail(command, TOOL_STOPPED,
                     "stopped after %" PRId64 " of %" PRId64
                     " %s: the rows show what was measured up to then",
                     request->done, request->total, request->unit);
}

int cmd_lab(int argc, char **argv)
{
    struct lab_request request = {.unit = "trials"};
    char command[64];

    if (argc < 2 || !strcmp(argv[1], "--help") || !strcmp(argv[1], "-h"))
        return argc > 2
                   ? tool_fail("lab", TOOL_USAGE, "unexpected argument '%s'", argv[2])
                   : list_experiments();
    for (int t = 0; t < TOOLS; t++)
        if (!strcmp(argv[1], tools[t].name))
            return ranks.mpi ? tool_fail("lab", TOOL_USAGE,
                                         "%s does not run under a launcher of MPI",
                                         tools[t].name)
                             : tools[t].command(argc - 1, argv + 1);
    const struct lab_experiment *const experiment = lab_find(argv[1]);
    if (!experiment)
        return unknown_experiment(argv[1]);
    snprintf(command, sizeof command, "lab %s", experiment->name);
    lab_run_init(&request.run, experiment);
    const int status = lab_read_flags(command, argc - 1, argv + 1, &request);
    return status ? status : lab_request_perform(command, &request);
}

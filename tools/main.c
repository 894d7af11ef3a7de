/* SPDX-License-Identifier: MIT */
/* The program `attend`: finds the command. */
#define _POSIX_C_SOURCE 200809L

#include "shared/commands.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "shared/help.h"
#include "shared/ranks.h"

static const struct command {
    const char *name;
    int (*run)(int argc, char **argv);
    const char *summary;
    int takes_ranks; /* runs under a launcher of MPI */
} commands[] = {
    {"run", cmd_run, "compute attention of tensors in .npy and .safetensors files", 1},
    {"stats", cmd_stats, "print statistics, maps and head classes", 1},
    {"info", cmd_info, "print build, CPU features and kernel sets", 0},
    {"check", cmd_check, "check the numbers of every kernel set on this machine", 0},
    {"bench", cmd_bench, "time attention beside the limits of this machine", 1},
    {"lab", cmd_lab, "run an experiment: theory beside what the engine measures", 1},
    {"sheets", cmd_sheets, "judge the statements of five solution sheets", 0},
    {"judge", cmd_judge, "mark solutions as they were written, claim by claim", 0},
    {"grade", cmd_grade, "grade answers to the exercise by evaluating them", 0},
    {"design", cmd_design, "find the query for a purpose, and check it", 0},
    {"report", cmd_report, "run every experiment and write a page with plots", 1},
    {"page", cmd_page, "write the page that has all of this in a browser", 0},
};

enum { COMMANDS = sizeof commands / sizeof commands[0] };

static const char help_head[] = "attend: exact softmax attention.\n"
                                "\n"
                                "usage: attend COMMAND [OPTION]...\n"
                                "       attend help COMMAND\n"
                                "       attend --version\n"
                                "\n"
                                "commands:\n";

static const char help_tail[] =
    "\n"
    "exit status: 0 done, 1 the work or a check failed, 2 bad usage or input (one\n"
    "line on standard error with the reason).\n"
    "\n"
    "example: causal attention of three files\n"
    "  attend run --q q.npy --k k.npy --v v.npy --out o.npy --causal top-left\n"
    "\n"
    "'attend COMMAND --help' describes a command.\n";

static void list_commands(FILE *to)
{
    for (int c = 0; c < COMMANDS; c++)
        fprintf(to, "  %-10s%s\n", commands[c].name, commands[c].summary);
}

static int print_help(void)
{
    fputs(help_head, stdout);
    list_commands(stdout);
    fputs(help_tail, stdout);
    return TOOL_HELPED;
}

/* Prints the help of a command in the form that was chosen. */
static int run_help(const struct command *command)
{
    char name[16], option[] = "--help";

    snprintf(name, sizeof name, "%s", command->name);
    return command->run(2, (char *[]){name, option, NULL});
}

/* attend(1): standard input, in which every "@usage" and "@commands" is replaced. */
static int print_manual(void)
{
    char line[1024];
    int status = TOOL_HELPED;

    while (fgets(line, sizeof line, stdin)) {
        const int is_usage = !strcmp(line, "@usage\n");
        if (!is_usage && strcmp(line, "@commands\n") != 0) {
            fputs(line, stdout);
            continue;
        }
        tool_help_form = is_usage ? TOOL_HELP_USAGE : TOOL_HELP_MANUAL;
        for (int c = 0; c < COMMANDS && status == TOOL_HELPED; c++) {
            if (!is_usage) {
                fputs(".Sh ", stdout);
                for (const char *letter = commands[c].name; *letter; letter++)
                    putchar(*letter - 'a' + 'A');
                putchar('\n');
            }
            status = run_help(&commands[c]);
        }
    }
    return status;
}

/* NULL, with a message, when there is no such command. */
static const struct command *find_command(const char *name)
{
    const char *names[COMMANDS + 1];

    for (int c = 0; c < COMMANDS; c++) {
        if (!strcmp(name, commands[c].name))
            return &commands[c];
        names[c] = commands[c].name;
    }
    names[COMMANDS] = "help";
    const char *const nearest = tool_nearest(name, names, COMMANDS + 1);
    const char *const what = *name == '-' ? "option" : "command";
    if (nearest)
        tool_fail("", TOOL_USAGE, "unknown %s '%s': did you mean '%s'?", what, name,
                  nearest);
    else
        tool_fail("", TOOL_USAGE, "unknown %s '%s': see 'attend --help'", what, name);
    return NULL;
}

/* For completion: the commands, or the flags of one, or of an experiment. */
static int print_words(int argc, char **argv)
{
    char option[] = "--help";

    for (int c = 0; c < COMMANDS && argc < 2; c++)
        puts(commands[c].name);
    if (argc < 2)
        return TOOL_HELPED;
    const struct command *const command = find_command(argv[1]);
    if (!command)
        return TOOL_USAGE;
    tool_help_form = TOOL_HELP_WORDS;
    return argc == 2 ? run_help(command)
                     : command->run(3, (char *[]){argv[1], argv[2], option, NULL});
}

static int help(int argc, char **argv)
{
    if (argc < 2 || !strcmp(argv[1], "help") || !strcmp(argv[1], "--help"))
        return print_help();
    if (!strcmp(argv[1], "--manual") && argc == 2)
        return print_manual();
    if (!strcmp(argv[1], "--words") && argc <= 4)
        return print_words(argc - 1, argv + 1);
    if (argc > 2)
        return tool_fail("", TOOL_USAGE, "help takes one command, got '%s' as well",
                         argv[2]);
    const struct command *const command = find_command(argv[1]);
    return command ? run_help(command) : TOOL_USAGE;
}

/*
 * A closed standard stream is opened the wrong way round, so that using it fails and no
 * file of ours gets its number.
 */
static void hold_standard_streams(void)
{
    for (int fd = 0; fd < 3; fd++)
        if (fcntl(fd, F_GETFD) < 0 && errno == EBADF)
            open("/dev/null", fd == 0 ? O_WRONLY : O_RDONLY);
}

/* Starts the command; under a launcher, as one of its ranks. */
static int start(const struct command *command, int argc, char **argv)
{
    int rank;

    if (!ranks_are_started(&rank))
        return command->run(argc, argv);
    if (!command->takes_ranks)
        return tool_fail(command->name, TOOL_USAGE,
                         "does not run under a launcher of MPI");
    int status = ranks_join();
    if (status)
        return status;
    status = ranks_compare(argc, argv);
    return ranks_leave(status ? status : command->run(argc, argv));
}

static int perform(int argc, char **argv)
{
    if (argc < 2) {
        tool_fail("", TOOL_USAGE, "no command: see 'attend --help'; there are");
        if (!tool_failure_taker)
            list_commands(stderr);
        return TOOL_USAGE;
    }
    if (!strcmp(argv[1], "help") || !strcmp(argv[1], "--help") || !strcmp(argv[1], "-h"))
        return help(argc - 1, argv + 1);
    if (!strcmp(argv[1], "--version")) {
        if (argc > 2)
            return tool_fail("", TOOL_USAGE, "unexpected argument '%s'", argv[2]);
        printf("attend %s\n", attend_version());
        return TOOL_HELPED;
    }
    const struct command *const command = find_command(argv[1]);
    return command ? start(command, argc - 1, argv + 1) : TOOL_USAGE;
}

int main(int argc, char **argv)
{
    /* A file that may not grow is a failed write, which removes what was begun. */
    signal(SIGXFSZ, SIG_IGN);
    hold_standard_streams();
    int status = ranks_begin();
    if (!status)
        status = perform(argc, argv);
    ranks_end(status);
    return status == TOOL_HELPED ? tool_finish_output("", TOOL_OK) : status;
}

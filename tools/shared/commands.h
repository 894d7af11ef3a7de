/* SPDX-License-Identifier: MIT */
/* The commands of `attend`. */
#ifndef TOOLS_COMMANDS_H
#define TOOLS_COMMANDS_H

/*
 * Each takes argv[0] = its own name and returns the exit status of the process, or
 * TOOL_HELPED.
 */
int cmd_run(int argc, char **argv);
int cmd_stats(int argc, char **argv);
int cmd_info(int argc, char **argv);
int cmd_check(int argc, char **argv);
int cmd_bench(int argc, char **argv);
int cmd_lab(int argc, char **argv);
int cmd_sheets(int argc, char **argv);
int cmd_judge(int argc, char **argv);
int cmd_grade(int argc, char **argv);
int cmd_report(int argc, char **argv);
int cmd_page(int argc, char **argv);
int cmd_design(int argc, char **argv);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * The files that a command writes: under temporary names until all is done, and gone if
 * the command ends before, by a signal or by itself.  One set at a time.
 */
#ifndef TOOLS_OUTPUT_FILES_H
#define TOOLS_OUTPUT_FILES_H

#include "io/io.h"
#include "tool.h"

/*
 * io_outputs_prepare(); TOOL_OK or TOOL_USAGE with a message.  Of several ranks, one
 * makes the files and all write them.
 */
int output_files_prepare(const char *command, struct io_output *outputs, int count);
/*
 * Gives the files their names; TOOL_OK or TOOL_USAGE with a message and none of them.  Of
 * several ranks all call it, with a status: if that of one is not TOOL_OK, no file
 * appears.
 */
int output_files_commit(const char *command, int status);
void output_files_abort(void);
/*
 * Also remove this file if the command ends before its time; NULL: no more.  Call it
 * after output_files_prepare().
 */
void output_files_guard(const char *temporary);

#endif

/* SPDX-License-Identifier: MIT */
/* JSON on standard output, an object a line. */
#ifndef TOOLS_JSON_LINE_H
#define TOOLS_JSON_LINE_H

#include "lab/door/json.h"
#include "tool.h"

/*
 * Ends the object that `json` holds, which lab_json_open() and a bracket began, and
 * prints it as a line.  TOOL_OK, or TOOL_FAILED with a message.  tool_finish_output() is
 * left to the caller.
 */
int tool_put_json(const char *command, struct lab_json *json);
/* A text of lab_json_close() as a line, which is freed. */
int tool_put_text(const char *command, char *text);
/* tool_put_json() and tool_finish_output(). */
int tool_print_json(const char *command, struct lab_json *json);
/* Begins one, of 12 digits. */
void tool_open_json(struct lab_json *json);

#endif

/* SPDX-License-Identifier: MIT */
/* JSON on standard output, an object a line. */
#ifndef TOOLS_JSON_LINE_H
#define TOOLS_JSON_LINE_H

#include <jansson.h>

#include "tool.h"

/* Digits of a number: 17 read back as the number printed. */
enum { JSON_LINE_DIGITS = 12, JSON_LINE_EXACT = 17 };

/* `value`, or null when it is not finite. */
json_t *tool_json_real(double value);
/* `text`, or with '?' for every byte above 0x7f when it is not UTF-8. */
json_t *tool_json_string(const char *text);

/*
 * Print `object` as a line and release it; NULL means that there was no memory for it.
 * TOOL_OK, or TOOL_FAILED with a message.  tool_finish_output() is left to the caller.
 */
int tool_put_json(const char *command, json_t *object, int digits);
/* The same with 12 digits, and tool_finish_output(). */
int tool_print_json(const char *command, json_t *object);

#endif

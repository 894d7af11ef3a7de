/* SPDX-License-Identifier: MIT */
/* Help texts: the text of a command with the descriptions of its flags. */
#ifndef TOOLS_HELP_H
#define TOOLS_HELP_H

#include "flags.h"

/*
 * Forms of tool_print_help(): the whole text for a terminal; the first paragraph, without
 * "usage: "; all after it in mdoc(7); or for each flag a line for completion, "--name",
 * a tab, and the words that its value may be, "@file" for the name of a file, or "-" for
 * a flag without a value.
 */
enum tool_help_form {
    TOOL_HELP_TEXT,
    TOOL_HELP_USAGE,
    TOOL_HELP_MANUAL,
    TOOL_HELP_WORDS
};
extern enum tool_help_form tool_help_form;

/*
 * A line "@18 json out" of `text` stands for the flags of these names, with their help in
 * column 18; other lines are printed as they are.
 */
void tool_print_help(const char *text, const struct tool_flag *flags, int count);

#endif

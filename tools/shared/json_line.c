/* SPDX-License-Identifier: MIT */
#include "json_line.h"

#include <stdio.h>
#include <stdlib.h>

void tool_open_json(struct lab_json *json)
{
    lab_json_open(json, LAB_JSON_SHORT);
    lab_json_begin(json, '{');
}

int tool_put_text(const char *command, char *text)
{
    if (!text)
        return tool_fail(command, TOOL_FAILED, "out of memory for the JSON output");
    puts(text);
    free(text);
    return TOOL_OK;
}

int tool_put_json(const char *command, struct lab_json *json)
{
    lab_json_end(json, '}');
    return tool_put_text(command, lab_json_close(json));
}

int tool_print_json(const char *command, struct lab_json *json)
{
    const int status = tool_put_json(command, json);

    return status ? status : tool_finish_output(command, TOOL_OK);
}

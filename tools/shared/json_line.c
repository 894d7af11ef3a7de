/* SPDX-License-Identifier: MIT */
#define _POSIX_C_SOURCE 200809L

#include "json_line.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

json_t *tool_json_real(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

json_t *tool_json_string(const char *text)
{
    json_t *string = json_string(text);

    if (string)
        return string;
    char *ascii = strdup(text);
    if (!ascii)
        return NULL;
    for (char *c = ascii; *c; c++)
        if ((unsigned char)*c > 0x7f)
            *c = '?';
    string = json_string(ascii);
    free(ascii);
    return string;
}

int tool_put_json(const char *command, json_t *object, int digits)
{
    char *text = object ? json_dumps(object, (size_t)JSON_REAL_PRECISION(digits)) : NULL;

    json_decref(object);
    if (!text)
        return tool_fail(command, TOOL_FAILED, "out of memory for the JSON output");
    puts(text);
    free(text);
    return TOOL_OK;
}

int tool_print_json(const char *command, json_t *object)
{
    const int status = tool_put_json(command, object, JSON_LINE_DIGITS);

    return status ? status : tool_finish_output(command, TOOL_OK);
}

/* SPDX-License-Identifier: MIT */
#include "run_tool.h"

#include <string.h>

const char *const run_output_name[RUN_OUTPUTS] = {
    [RUN_OUT] = "out", [RUN_LSE] = "lse", [RUN_WEIGHTS] = "weights"};

enum {
    OPT_OUTPUT = INPUTS_OPTIONS,
    OPT_OUT_DTYPE = OPT_OUTPUT + RUN_OUTPUTS,
    OPT_FORCE,
    OPT_JSON,
    OPT_HELP,
    OPTIONS
};

/*
 * Outputs that would overwrite each other or an input.  Tensors of different
 * names may share a new .safetensors file.
 */
static int check_outputs(const struct run_args *args)
{
    for (int x = 0; x < RUN_OUTPUTS; x++) {
        const char *const output = args->output[x];
        const int status =
            output ? inputs_check_output(&args->inputs, run_output_name[x], output)
                   : TOOL_OK;
        if (status)
            return status;
        for (int y = 0; output && y < x; y++) {
            const char *const other = args->output[y];
            if (!other || !inputs_is_same_file(output, other))
                continue;
            const char *const name = output + inputs_path_length(output);
            if (!*name || !strcmp(name, other + inputs_path_length(other)))
                return tool_fail("run", TOOL_USAGE, "--%s and --%s both name %s",
                                 run_output_name[y], run_output_name[x], output);
        }
    }
    return TOOL_OK;
}

static int parse_out_dtype(const tool_option *option, struct run_args *args)
{
    static const char *const choices[] = {"same", "f32", NULL};

    if (option->value)
        args->out_is_f32 =
            tool_parse_choice("run", "--out-dtype", option->value, choices, "same, f32");
    return args->out_is_f32 < 0 ? TOOL_USAGE : TOOL_OK;
}

int run_args_parse(int argc, char **argv, struct run_args *args)
{
    tool_option options[OPTIONS] = {
        [OPT_OUT_DTYPE] = {.name = "out-dtype", .takes_value = 1},
        [OPT_FORCE] = {.name = "force"},
        [OPT_JSON] = {.name = "json"},
        [OPT_HELP] = {.name = "help"},
    };

    *args = (struct run_args){.out_is_f32 = 0};
    inputs_options(options);
    for (int x = 0; x < RUN_OUTPUTS; x++)
        options[OPT_OUTPUT + x] =
            (tool_option){.name = run_output_name[x], .takes_value = 1};

    int status = tool_parse_options("run", argc, argv, options, OPTIONS);
    if (status)
        return status;
    for (int x = 0; x < RUN_OUTPUTS; x++)
        args->output[x] = options[OPT_OUTPUT + x].value;
    args->is_forced = options[OPT_FORCE].value != NULL;
    args->wants_json = options[OPT_JSON].value != NULL;
    args->wants_help = options[OPT_HELP].value != NULL;
    if (args->wants_help)
        return TOOL_OK;
    if ((status = inputs_args_read("run", options, &args->inputs)) ||
        (status = inputs_require(&args->inputs, INPUT_V)))
        return status;
    if (!args->output[RUN_OUT])
        return tool_fail("run", TOOL_USAGE, "--out is missing: see 'attend run --help'");
    if ((status = parse_out_dtype(&options[OPT_OUT_DTYPE], args)))
        return status;
    return check_outputs(args);
}

void run_args_free(struct run_args *args) { inputs_args_free(&args->inputs); }

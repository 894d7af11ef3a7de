/* SPDX-License-Identifier: MIT */
#include "run_tool.h"

#include <string.h>

const char *const run_output_name[RUN_OUTPUTS] = {
    [RUN_OUT] = "out", [RUN_LSE] = "lse", [RUN_WEIGHTS] = "weights"};

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
            const char *const name = output + io_path_length(output);
            if (!*name || !strcmp(name, other + io_path_length(other)))
                return tool_fail("run", TOOL_USAGE, "--%s and --%s both name %s",
                                 run_output_name[y], run_output_name[x], output);
        }
    }
    return TOOL_OK;
}

int run_args_read(int argc, char **argv, struct run_args *args, const char *help)
{
    struct tool_flag flags[] = {
        [INPUTS_FLAGS] =
            FLAG_NEEDED("out", &args->output[RUN_OUT], "F",
                        "write the output here, in the layout and rank of q"),
        FLAG_TEXT("lse", &args->output[RUN_LSE], "F",
                  "write ln sum exp(score), sinks included: (b, hq, nq), f32\n"
                  "(f64 for f64)"),
        FLAG_TEXT("weights", &args->output[RUN_WEIGHTS], "F",
                  "write the softmax: (b, hq, nq, nk), f32 (f64 for f64)"),
        FLAG_CHOICE("out-dtype", &args->out_is_f32, "same, f32", "same|f32",
                    "dtype of the output (default same); .npy cannot hold bf16"),
        FLAG_SWITCH("force", &args->is_forced,
                    "write weights of more than 2^28 elements all the same"),
        FLAG_SWITCH("json", &args->wants_json,
                    "report as one JSON object on standard output"),
    };

    *args = (struct run_args){.out_is_f32 = 0};
    inputs_flags("run", &args->inputs, flags);
    flags[INPUT_V].is_needed = 1;
    const int status = tool_read_flags("run", argc, argv, FLAG_TABLE(flags), help);
    return status ? status : check_outputs(args);
}

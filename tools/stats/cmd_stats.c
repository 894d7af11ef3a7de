/* SPDX-License-Identifier: MIT */
/* `attend stats`: statistics of attention over tensors in files. */
#include "stats_tool.h"

#include <stdlib.h>

#include "shared/commands.h"
#include "shared/output_files.h"
#include "shared/ranks.h"
#include "shared/text_file.h"

static const char help_text[] =
    "usage: attend stats --q F --k F [--v F] [OPTION]...\n"
    "\n"
    "Prints exact statistics of the weights of every query, from the pass that computes\n"
    "attention, and a class for every head.\n"
    "With sinks they are of the weights over the keys alone, which sum to 1.  A query\n"
    "that sees no key counts nowhere; means are over the others.\n"
    "\n"
    "The table has a line for every head: the keys that a query sees, the entropy H of\n"
    "its weights by ln of their number (1 for even attention), exp H, N_eff = 1 / sum\n"
    "of squared weights, the largest weight, the margin between the two largest scores,\n"
    "the weights of the first key, of the query's own position and of the one before,\n"
    "the mean distance |position - key|, and the head's character with the reason:\n"
    "  fragile pair    2 keys hold > 0.9, and noise in their lengths may swap them\n"
    "  diffuse         H / ln n > 0.9\n"
    "  previous token  weight > 0.5 on the position before\n"
    "  sink            weight > 0.3 on the first key\n"
    "  local           typical distance < sqrt(n) and n / 8, n the keys\n"
    "  copy            largest weight > 0.9\n"
    "  average         N_eff keys, at most 8, hold > 0.9\n"
    "  frozen          sd of the scores > sqrt(2 ln n)\n"
    "  mixed           none of these; the first that holds is shown\n"
    "\n"
    "tensors and rules, as in 'attend run':\n"
    "  --q F --k F         queries and keys, FILE.npy or FILE.safetensors:NAME\n"
    "  --v F               values, for value_norm and cancellation; may be left out\n"
    "  --layout --dtype --scale --softcap --bias --alibi --sinks --causal --window-left\n"
    "  --window-right --key-lengths --mask --threads --isa --device\n"
    "\n"
    "what to show:\n"
    "@22 rows top columns last zoom map noise json out help\n"
    "\n"
    "Under mpirun, ranks share the rows and the keys, with the same numbers.  Files\n"
    "appear whole or not at all.  Memory grows with the number of queries and of keys,\n"
    "never with their product.\n"
    "\n"
    "example: the heads of a causal layer, as numbers and as a picture\n"
    "  attend stats --q x.safetensors:q --k x.safetensors:k --causal top-left \\\n"
    "      --columns --map heads.png\n";

/* Files being written: the picture, and those of output_files.h. */
struct files {
    tool_text picture;
    struct stats_outputs *outputs;
};

/* Reports files that cannot be written before the work. */
static int open_files(const struct stats_args *args, struct files *files)
{
    const int status =
        output_files_prepare("stats", files->outputs->output, files->outputs->count);

    if (status || !args->map)
        return status;
    const int failed = tool_text_open("stats", "--map", args->map, &files->picture);
    if (failed)
        output_files_abort();
    else
        output_files_guard(files->picture.temporary);
    return failed;
}

static int fill_files(const struct stats_args *args, const struct stats_result *result,
                      struct files *files)
{
    if (ranks.rank > 0)
        return TOOL_OK; /* rank 0 has the numbers */
    stats_outputs_fill(files->outputs);
    return args->map ? stats_map_draw(result, files->picture.stream) : TOOL_OK;
}

/* Gives the files their names. */
static int commit_files(const struct stats_args *args, struct files *files)
{
    const int status = output_files_commit("stats", TOOL_OK);

    return status || !args->map ? status : tool_text_commit("stats", &files->picture);
}

static void close_files(struct files *files)
{
    tool_text_discard(&files->picture);
    output_files_guard(NULL);
    output_files_abort();
}

static int report(const struct stats_args *args, const struct stats_result *result,
                  const attend_context *ctx, double seconds)
{
    if (args->wants_json) {
        const int status = stats_print_json(args, result);

        return status ? status : tool_finish_output("stats", TOOL_OK);
    }
    stats_print_tables(args, result);
    printf("\n");
    if (args->map)
        printf("%s: cells of %lld x %lld weights; ", args->map,
               (long long)result->inspection.pooled_block,
               (long long)result->inspection.pooled_block);
    if (args->out)
        printf("%s; ", args->out);
    tool_print_timing(seconds, ctx);
    return tool_finish_output("stats", TOOL_OK);
}

static int compute(const void *user, struct inputs *inputs, attend_context *ctx,
                   struct progress_line *line)
{
    const struct stats_args *const args = user;
    struct stats_result result;
    const double start = tool_seconds();
    int status = stats_args_check(args, inputs);

    if (status)
        return status;
    struct files files = {.outputs = calloc(1, sizeof *files.outputs)};
    status = stats_prepare(args, inputs, &result);
    if (!status && !files.outputs)
        status = tool_fail("stats", TOOL_FAILED, "out of memory");
    status = ranks_agree(status);
    if (!status) {
        if (args->out)
            stats_outputs_list(args, inputs, &result, files.outputs);
        status = open_files(args, &files);
    }
    if (!status)
        status = stats_compute(args, inputs, ctx, line, &result);
    if (!status)
        status = fill_files(args, &result, &files);
    /* Files get their names last: a report that cannot be written leaves none. */
    if (!status && ranks.rank == 0)
        status = report(args, &result, ctx, tool_seconds() - start);
    status = ranks_agree(status);
    if (!status)
        status = commit_files(args, &files);
    close_files(&files);
    free(files.outputs);
    stats_result_free(&result);
    return status;
}

int cmd_stats(int argc, char **argv)
{
    struct stats_args args;

    int status = stats_args_read(argc, argv, &args, help_text);
    if (!status)
        status = inputs_perform(&args.inputs, &args, compute);
    inputs_args_free(&args.inputs);
    return status;
}

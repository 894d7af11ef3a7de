/* SPDX-License-Identifier: MIT */
/* `attend design`: queries for a purpose, predicted and verified. */
#include "design_tool.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/io.h"
#include "shared/commands.h"
#include "shared/progress_line.h"

static const char help_text[] =
    "usage: attend design copy|average|weights|heads [OPTION]...\n"
    "\n"
    "Designs the query of an attention head, or the queries of several, shows what they\n"
    "do by theory, and checks it on the engine.\n"
    "\n"
    "  copy       c = v_i:                                 --items 3\n"
    "  average    c = mean of the items' values, one head: --items 3,7\n"
    "  weights    c = weighted mean, one head:             --items 3,7 --weights "
    "0.8,0.2\n"
    "  heads      the mean by several heads, each for its share of the items\n"
    "\n"
    "keys:\n"
    "@22 keys n d items weights\n"
    "\n"
    "what is asked of the queries:\n"
    "@22 eps tau C heads\n"
    "\n"
    "noise: key i is drawn as k_i (1 + sqrt(sigma2) z) + sqrt(alpha) N(0, I)\n"
    "@22 sigma2 noisy alpha trials seed threads\n"
    "\n"
    "output:\n"
    "@22 out json help\n"
    "\n"
    "Where n <= d and the keys are independent, every other key gets the score 0: q =\n"
    "pinv(K) s.  Else q lies in the span of the items, and whatever the others score is\n"
    "taken into account.  leak: weight that a head gives to keys outside its own share,\n"
    "without noise; mean_leak: weight outside all items in the mean of the heads, over\n"
    "the draws; p_flip: some other key outweighs an item; p_lopsided: noise drives the\n"
    "weights of two items apart by a factor above 9; mse: mean squared distance from\n"
    "what is wanted, for orthonormal values.\n"
    "\n"
    "se and z are those of the sample; where it holds few events the row is rare, and\n"
    "theory is to lie between low and high, which cover as often as |z| <= 4.\n"
    "\n"
    "example: the exercise, as in 'attend lab magnitude --n 10 --C 10'\n"
    "  attend design average --n 10 --items 3,7 --sigma2 0.5 --noisy a --C 10\n";

/* Reports the design, and writes the queries if that succeeds. */
static int report(const struct design_args *args, const struct lab_design *design)
{
    struct io_output output = {.spec = args->out,
                               .dtype = IO_F64,
                               .ndim = 2,
                               .size = {design->heads, args->request.d}};
    struct io_outputs set = {.count = 0};
    struct io_error err;

    if (!args->out)
        return design_report(args, design);
    if (io_outputs_prepare(&set, &output, 1, &err))
        return tool_fail("design", TOOL_USAGE, "--out: %s", err.message);
    memcpy(output.data, design->queries,
           (size_t)(design->heads * args->request.d) * sizeof(double));
    const int status = design_report(args, design);
    if (status)
        io_outputs_abort(&set);
    else if (io_outputs_commit(&set, &err))
        return tool_fail("design", TOOL_USAGE, "--out: %s", err.message);
    return status;
}

static void on_slow(void *user, double seconds)
{
    (void)user;
    if (seconds > 60)
        fprintf(stderr,
                "attend design: the check takes about %.0f minutes; Ctrl-C ends it with "
                "what it has, --trials N makes it shorter\n",
                ceil(seconds / 60));
}

static int run(struct design_args *args)
{
    struct lab_design design = {.heads = 0};
    attend_error err;
    double *keys = NULL;

    struct progress_line progress;
    struct lab_session *const session = &args->request.session;
    int status = tool_choose_threads("design", &session->threads);
    if (!status)
        status = design_keys_open(args, &keys);
    if (status)
        return status;
    tool_catch_stop();
    progress_line_start(&progress, "design", "trials");
    session->progress = progress_line_update;
    session->slow = on_slow;
    session->user = &progress;
    session->stop = &tool_stop;
    const attend_status made = lab_design_make(&args->request, &design, &err);
    progress_line_clear(&progress);
    session->user = NULL;
    status = made ? tool_fail("design", tool_status(made), "%s", err.message)
                  : report(args, &design);
    lab_design_free(&design);
    free(keys);
    if (!status && tool_stop)
        status = tool_fail("design", TOOL_STOPPED,
                           "stopped after %" PRId64 " of %" PRId64
                           " trials: the rows show what was measured up to then",
                           design.done, args->request.trials);
    return status;
}

int cmd_design(int argc, char **argv)
{
    struct design_args args;

    if (argc == 2 && (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h")))
        return design_args_read(2, (char *[]){(char[]){"copy"}, argv[1]}, &args,
                                help_text);
    if (argc < 2)
        return tool_fail("design", TOOL_USAGE,
                         "no task: attend design copy|average|weights|heads "
                         "[OPTION]...");
    const int status = design_args_read(argc - 1, argv + 1, &args, help_text);
    return status ? status : run(&args);
}

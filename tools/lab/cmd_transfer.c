/* SPDX-License-Identifier: MIT */
/* `attend lab transfer`: effect of rounded keys on heads, synthetic or of tensors. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lab/place/transfer_rows.h"
#include "lab_tool.h"
#include "shared/inputs.h"

static const char help_text[] =
    "usage: attend lab transfer [OPTION]...\n"
    "       attend lab transfer --q F --k F --v F [OPTION]...\n"
    "\n"
    "Rounds the keys of a head and compares the error of its output with what its "
    "weights\n"
    "and values predict to first order: of synthetic heads, or of every head of "
    "tensors.\n"
    "\n"
    "formats, to nearest and ties to even:\n"
    "  int8   -127 .. 127 times a scale of each key: its largest entry / 127\n"
    "  fp8    E4M3 times one scale: the head's largest entry / 448\n"
    "  bf16   without a scale\n"
    "\n"
    "synthetic heads: n random keys of length sqrt(d), random values, 16 queries, scale\n"
    "1 / sqrt(d)\n"
    "  --head WORD     diffuse|condensed|copy|average; default diffuse\n"
    "  --S X           spread of the scores of keys that are not wanted; default 1,\n"
    "                  2 sqrt(2 ln n), 1.5 and 2 for the four heads\n"
    "  --n N --d N     keys, and entries of a key and of a value; default 256 and 64\n"
    "@18 trials seed no-sweep\n"
    "\n"
    "tensors and rules, as in 'attend run'; scores are scale <q, k> alone:\n"
    "  --q F --k F --v F  FILE.npy or FILE.safetensors:NAME\n"
    "  --layout --dtype --scale --causal --window-left --window-right --key-lengths\n"
    "  --mask\n"
    "@18 rows\n"
    "\n"
    "options:\n"
    "  --format WORD   all|int8|fp8|bf16; default all\n"
    "@18 threads json csv svg help\n"
    "\n"
    "quantities, predicted beside measured:\n"
    "  error_statistic  root mean square of |c' - c| over that of |c|, c' with rounded\n"
    "                   keys; predicted by the statistic key_noise of every row times\n"
    "                   the mean variance of the rounding error of an entry\n"
    "  error_delta      the same, predicted by T24: sum p_j^2 e_j^2 |v_j - c|^2, e_j^2 "
    "=\n"
    "                   scale^2 sum_c q_c^2 u_jc, u_jc the variance for this entry: a\n"
    "                   twelfth of the square of its step, 0 where it is held exactly\n"
    "  score_noise      root mean square of the error of the scores, weighted by p\n"
    "Predictions are of first order in score_noise.  Distances are shown, and nothing "
    "is\n"
    "claimed.  Above a score_noise of 0.3 do not rely on them.\n"
    "\n"
    "example:\n"
    "  attend lab transfer --head average --format fp8 --json --no-sweep\n";

enum { ROWS_MAX = 1 << 20 };

struct transfer_args {
    struct lab_request request;
    struct inputs_args inputs;
    int64_t rows;
};

/* ---- flags --------------------------------------------------------------- */

/* Options that keep scores equal to scale <q, k>. */
static const char *const input_names[] = {
    "q",     "k",      "v",           "mask",         "layout",      "dtype",
    "scale", "causal", "window-left", "window-right", "key-lengths", NULL};

/* The first of the flags that is given, without its dashes; NULL: none is. */
static const char *given(int argc, char **argv, const char *const *names)
{
    for (; *names; names++)
        for (int a = 1; a < argc; a++) {
            const size_t length = strlen(*names);
            if (!strncmp(argv[a], "--", 2) && !strncmp(argv[a] + 2, *names, length) &&
                (argv[a][2 + length] == '\0' || argv[a][2 + length] == '='))
                return *names;
        }
    return NULL;
}

static int check_together(int argc, char **argv, const struct transfer_args *args)
{
    static const char *const of_synthetic[] = {"head",   "S",    "n",        "d",
                                               "trials", "seed", "no-sweep", NULL};
    static const char *const of_rows[] = {"rows", NULL};
    const char *const input = given(argc, argv, input_names);
    const char *const tensors = input ? input : given(argc, argv, of_rows);
    const char *const synthetic = given(argc, argv, of_synthetic);

    if (!tensors)
        return TOOL_OK;
    for (int i = INPUT_Q; i <= INPUT_V; i++)
        if (!args->inputs.file[i])
            return tool_fail("lab transfer", TOOL_USAGE, "--%s needs --%s", tensors,
                             input_name[i]);
    if (synthetic)
        return tool_fail("lab transfer", TOOL_USAGE,
                         "--%s is of synthetic heads: not with --q", synthetic);
    return TOOL_OK;
}

static int read_args(int argc, char **argv, struct transfer_args *args)
{
    struct tool_flag flags[LAB_COMMON_FLAGS + LAB_PARAMS_MAX + INPUTS_FLAGS + 1];
    struct lab_run *const run = &args->request.run;
    const struct tool_flag rows =
        FLAG_INT64("rows", &args->rows, 1, ROWS_MAX, "N",
                   "rows of a head, evenly spaced, for error_delta and score_noise,\n"
                   "which need their weights (default 64)");
    struct lab_common common;
    int count = LAB_COMMON_FLAGS;

    lab_run_init(run, &lab_transfer_synthetic);
    lab_common_flags(&args->request, &common,
                     &(struct lab_common_help){
                         .trials = "heads drawn (default 200)",
                         .svg = "predicted against measured errors as an SVG file"},
                     flags);
    lab_own_flags(run, flags + count);
    count += run->experiment->flag_count;
    count += lab_input_flags("lab transfer", input_names, &args->inputs, flags + count);
    flags[count++] = rows;
    int status = tool_read_flags("lab transfer", argc, argv, flags, count, help_text);
    if (!status)
        status = lab_common_settle("lab transfer", &common, &args->request);
    args->inputs.threads = run->session.threads;
    return status ? status : check_together(argc, argv, args);
}

/* ---- heads of tensors ---------------------------------------------------- */

struct transfer_work {
    const struct transfer_args *args;
    const struct inputs *inputs;
    attend_context *ctx;
    double *q, *k, *v;
};

static void copy_head(const struct inputs *inputs, enum input which,
                      const attend_view *view, int64_t b, int64_t h, double *to)
{
    const int64_t at = b * view->stride[0] + h * view->stride[1];

    for (int64_t l = 0; l < view->size[2]; l++)
        for (int64_t c = 0; c < view->size[3]; c++)
            *to++ = input_read_value(&inputs->tensor[which],
                                     at + l * view->stride[2] + c * view->stride[3]);
}

/* The rule of head (b, h) alone. */
static attend_rule rule_of(const struct inputs *inputs, int64_t b, int64_t h)
{
    attend_rule rule = inputs->rule;
    attend_view *const mask = &rule.mask;

    if (rule.causal_offset)
        rule.causal_offset += b;
    if (rule.key_lengths)
        rule.key_lengths += b;
    if (mask->data)
        mask->data = (const unsigned char *)mask->data +
                     (mask->size[0] > 1 ? b * mask->stride[0] : 0) +
                     (mask->size[1] > 1 ? h * mask->stride[1] : 0);
    mask->size[0] = mask->size[1] = 1;
    return rule;
}

static int transfer_head(struct lab_run *run, const struct transfer_work *work,
                         int64_t index, struct lab_transfer_figure *figure)
{
    const attend_io *const io = &work->inputs->io;
    const int64_t hq = io->q.size[1], b = index / hq, h = index % hq;
    const int64_t hk = h / (hq / io->k.size[1]);
    const attend_rule rule = rule_of(work->inputs, b, h);
    const struct lab_transfer_head head = {.nq = io->q.size[2],
                                           .nk = io->k.size[2],
                                           .d = io->q.size[3],
                                           .dv = io->v.size[3],
                                           .q = work->q,
                                           .k = work->k,
                                           .v = work->v,
                                           .rule = &rule};

    copy_head(work->inputs, INPUT_Q, &io->q, b, h, work->q);
    copy_head(work->inputs, INPUT_K, &io->k, b, hk, work->k);
    copy_head(work->inputs, INPUT_V, &io->v, b, hk, work->v);
    return lab_transfer_tensor(run, b, h, &head, work->args->rows, figure);
}

static int transfer_heads(struct lab_request *request, void *user)
{
    const struct transfer_work *const work = user;
    struct lab_run *const run = &request->run;
    const int64_t heads = request->heads;
    struct lab_transfer_figure figure;
    int64_t done = 0;
    int failed = 0;

    run->ctx = work->ctx;
    lab_transfer_figure_open(run, "A point is a head.", &figure);
    for (; done < heads && !failed && !tool_stop; done += !tool_stop) {
        const double began = lab_now();
        failed = transfer_head(run, work, done, &figure);
        lab_work_timed(request, lab_now() - began);
        lab_report_progress(&run->session, done + 1, heads);
    }
    lab_transfer_figure_close(&figure);
    free(run->scratch);
    run->scratch = NULL;
    request->done = done;
    request->total = heads;
    return failed;
}

/* A head without rows, keys or columns has no error. */
static int check_sizes(const struct inputs *inputs)
{
    const attend_io *const io = &inputs->io;
    const attend_view *const views[] = {&io->q, &io->k, &io->v};

    for (int x = 0; x < 3; x++)
        for (int axis = 0; axis < 4; axis++)
            if (views[x]->size[axis] < 1)
                return INPUTS_FAIL_SHAPE(
                    inputs, (enum input)(INPUT_Q + x), "%s",
                    "an axis is 0: heads need rows, keys and columns");
    return TOOL_OK;
}

static int transfer_tensors(const void *user, struct inputs *inputs, attend_context *ctx,
                            struct progress_line *line)
{
    struct transfer_args *const args = *(struct transfer_args *const *)user;
    const attend_io *const io = &inputs->io;
    int status = check_sizes(inputs);

    if (status)
        return status;
    struct transfer_work work = {
        .args = args,
        .inputs = inputs,
        .ctx = ctx,
        .q = tool_zeros(io->q.size[2] * io->q.size[3], sizeof *work.q),
        .k = tool_zeros(io->k.size[2] * io->k.size[3], sizeof *work.k),
        .v = tool_zeros(io->v.size[2] * io->v.size[3], sizeof *work.v)};

    *line = (struct progress_line){.is_enabled = 0}; /* heads are counted, not pieces */
    if (!work.q || !work.k || !work.v)
        status = tool_fail("lab transfer", TOOL_FAILED, "out of memory for a head");
    if (!status) {
        args->request.work = transfer_heads;
        args->request.heads = io->q.size[0] * io->q.size[1];
        args->request.work_user = &work;
        status = lab_request_perform("lab transfer", &args->request);
    }
    free(work.q);
    free(work.k);
    free(work.v);
    return status;
}

/* A run of the experiment on tensors, with the flags of that on synthetic heads. */
static void become_tensors(struct transfer_args *args)
{
    struct lab_run *const run = &args->request.run;
    const struct lab_run read = *run;

    lab_run_init(run, &lab_transfer_tensors);
    run->session = read.session;
    for (int f = 0; f < run->experiment->flag_count; f++)
        if (!strcmp(run->experiment->flags[f].name, "format"))
            run->texts[f] = lab_text(&read, "format");
    args->request.unit = "heads";
}

int lab_transfer_command(int argc, char **argv)
{
    struct transfer_args args = {.request = {.unit = "trials"}, .rows = 64};
    struct transfer_args *const self = &args;
    int status = read_args(argc, argv, &args);

    if (!status && args.inputs.file[INPUT_Q]) {
        become_tensors(&args);
        status = inputs_perform(&args.inputs, &self, transfer_tensors);
    } else if (!status) {
        status = lab_request_perform("lab transfer", &args.request);
    }
    inputs_args_free(&args.inputs);
    return status;
}

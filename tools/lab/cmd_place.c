/* SPDX-License-Identifier: MIT */
/* `attend lab place`: heads of real tensors on the maps of the laboratory. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "attend/stats.h"
#include "lab_tool.h"
#include "place_files.h"

static const char help_text[] =
    "usage: attend lab place --stats FILE.safetensors [--q F --k F] [OPTION]...\n"
    "\n"
    "Places every head of a layer on the maps of the laboratory, from the statistics of\n"
    "its rows that 'attend stats --out' wrote.  Rows of two keys or more count; rows "
    "with\n"
    "no key, one key, NaN or infinity are left out.  A causal row has its own n.\n"
    "\n"
    "options:\n"
    "@18 stats\n"
    "  --q F --k F     the tensors that it was written of, FILE.npy or\n"
    "                  FILE.safetensors:NAME, to measure fragile pairs; FILE then needs\n"
    "                  the two best keys of each row: 'attend stats --top 2 --out FILE'\n"
    "  --layout --dtype --scale  of q and k, as in 'attend run'\n"
    "@18 noise rows trials seed no-sweep threads json csv svg help\n"
    "\n"
    "quantities, means over the rows of a head:\n"
    "  rows             how many rows count\n"
    "  keys             n, the keys that a row sees\n"
    "  spread           S, standard deviation of the scores of a row over its keys\n"
    "  freezing_spread  sqrt(2 ln n): random scores of larger S condense on a few keys\n"
    "  condensed_share  rows with S > sqrt(2 ln n)\n"
    "  scale            C, mean of the two largest scores above the mean of the others:\n"
    "                   the C of a query C (mu_a + mu_b); rows of three keys or more\n"
    "  scale_min        ln n: below it, other keys leak into the average of two\n"
    "  scale_max        1 / (2 sqrt alpha) = C / T: above it, noise decides\n"
    "  alpha            T^2 / (4 C^2), the isotropic noise that makes the same T\n"
    "  score_noise      T = noise sqrt(s_1^2 + s_2^2), sd of the difference of the two\n"
    "                   largest scores\n"
    "  usable_share     rows with ln n < C < 1 / (2 sqrt alpha)\n"
    "  fragile_share    rows whose two largest scores are closer than T\n"
    "  entropy          of the chosen rows, beside the mean for random scores of the\n"
    "                   same S and n\n"
    "  sum_squares      the same for sum p^2 = 1 / N_eff\n"
    "  leak             weight outside the best two, beside (n - 2) / (2 e^C + n - 2)\n"
    "  p_swap           the best two keys change places, by theory and by the engine\n"
    "  p_outside_10_90  one of them holds more than 0.9 of what both have\n"
    "Laws of random scores and of the exercise are not claimed of a real head: their\n"
    "distance is shown.  p_swap and p_outside_10_90 are exact; z tests them.\n"
    "\n"
    "example:\n"
    "  attend stats --q q.npy --k k.npy --causal top-left --top 2 --out s.safetensors\n"
    "  attend lab place --stats s.safetensors --q q.npy --k k.npy --svg place.svg\n";

enum { ROWS_MAX = 1 << 20 };

struct place_args {
    struct lab_request request;
    struct inputs_args inputs;
    const char *stats;
    int64_t rows;
};

/* The state of the loop over heads. */
struct place_work {
    const struct place_args *args;
    const struct inputs *inputs; /* NULL: no pairs */
    struct place_stats stats;
    struct lab_place_row *rows; /* [nq] */
    int64_t *chosen;            /* [wanted] */
    double *q, *k;              /* of the pairs of a head */
    struct lab_place_head *found;
    struct lab_place_figures figures;
};

/* ---- flags --------------------------------------------------------------- */

static const char *const input_names[] = {"q", "k", "layout", "dtype", "scale", NULL};

static int read_args(int argc, char **argv, struct place_args *args)
{
    struct tool_flag flags[LAB_COMMON_FLAGS + INPUTS_FLAGS + 3];
    struct lab_run *const run = &args->request.run;
    struct lab_common common;
    double noise = ATTEND_HEAD_NOISE;
    const struct tool_flag own[] = {
        FLAG_NEEDED("stats", &args->stats, "FILE",
                    "what 'attend stats --out FILE' wrote"),
        FLAG_REAL("noise", &noise, 0, INFINITY, "X",
                  "every key is multiplied by 1 + X x, x standard normal: the\n"
                  "relative sd of the lengths of keys, as in 'attend stats'\n"
                  "(default 0.1)"),
        FLAG_INT64("rows", &args->rows, 1, ROWS_MAX, "N",
                   "rows of a head, evenly spaced, that are compared with the law of\n"
                   "random scores and whose pairs are measured (default 16)"),
    };

    lab_run_init(run, &lab_place_tensors);
    run->trials = 2000;
    lab_common_flags(&args->request, &common,
                     &(struct lab_common_help){
                         .trials = "noisy copies of each pair (default 2000)",
                         .no_sweep = "accepted; nothing here is swept",
                         .svg = "the maps, one below the other, as one SVG file"},
                     flags);
    memcpy(flags + LAB_COMMON_FLAGS, own, sizeof own);
    const int count = lab_input_flags("lab place", input_names, &args->inputs,
                                      flags + LAB_COMMON_FLAGS + 3);
    int status = tool_read_flags("lab place", argc, argv, flags,
                                 LAB_COMMON_FLAGS + 3 + count, help_text);
    if (!status)
        status = lab_common_settle("lab place", &common, &args->request);
    if (status)
        return status;
    lab_set(run, "noise", noise);
    args->inputs.threads = run->session.threads;
    const int has_q = args->inputs.file[INPUT_Q] != NULL;
    if (has_q != (args->inputs.file[INPUT_K] != NULL))
        return tool_fail("lab place", TOOL_USAGE, "--%s needs --%s", has_q ? "q" : "k",
                         has_q ? "k" : "q");
    return TOOL_OK;
}

/* ---- heads --------------------------------------------------------------- */

static int read_head(struct lab_run *run, const struct place_work *work, int64_t index,
                     struct lab_place_sample *sample)
{
    const struct place_stats *const stats = &work->stats;

    *sample = (struct lab_place_sample){.b = index / stats->hq,
                                        .h = index % stats->hq,
                                        .rows = work->rows,
                                        .count = stats->nq,
                                        .chosen = work->chosen};
    place_stats_rows(stats, sample->b, sample->h, work->rows);
    lab_place_choose(sample, work->args->rows);
    return work->inputs ? place_pairs_read(&run->session, stats, work->inputs, sample,
                                           work->q, work->k)
                        : 0;
}

static int place_head(struct lab_run *run, struct place_work *work, int64_t index)
{
    struct lab_place_sample sample;

    if (read_head(run, work, index, &sample))
        return -1;
    if (!work->inputs)
        return lab_place_emit(run, &sample, NULL, &work->figures, &work->found[index]);
    const struct lab_pairs pairs = {.count = sample.chosen_count,
                                    .d = work->inputs->io.q.size[3],
                                    .q = work->q,
                                    .k = work->k,
                                    .scale = place_scale(work->inputs),
                                    .noise = lab_real(run, "noise"),
                                    .trials = run->trials,
                                    .stream = (uint64_t)index};
    return lab_place_emit(run, &sample, &pairs, &work->figures, &work->found[index]);
}

/* A line a head, in words. */
static void print_summary(const struct place_work *work, int64_t heads)
{
    printf("\n%3s %3s %17s %10s %9s  %s\n", "b", "h", "S / sqrt(2 ln n)", "C / ln n", "T",
           "which is");
    for (int64_t x = 0; x < heads; x++) {
        const struct lab_place_head *const head = &work->found[x];
        const struct lab_place_point *const mean = &head->mean;
        printf("%3lld %3lld ", (long long)(x / work->stats.hq),
               (long long)(x % work->stats.hq));
        if (head->rows == 0) {
            puts("no row has two keys of finite score");
            continue;
        }
        printf("%17.3f %10.3f %9.3f  %s, %s, %.0f%% of pairs fragile\n",
               mean->spread / mean->freezing, mean->scale / mean->scale_min,
               mean->score_noise, lab_place_is_condensed(head) ? "condensed" : "spread",
               head->window_rows == 0      ? "two keys, no leak"
               : !lab_place_is_sharp(head) ? "leaks"
               : lab_place_is_steady(head) ? "in the window"
                                           : "noise decides",
               100 * head->fragile);
    }
}

static int place_heads(struct lab_request *request, void *user)
{
    struct place_work *const work = user;
    const int64_t heads = request->heads;
    struct lab_place_sample sample;
    int64_t done = 0;
    int failed = 0;

    /* Mismatches are reported before the first row. */
    for (int64_t x = 0; x < heads && work->inputs; x++)
        if (read_head(&request->run, work, x, &sample))
            return -1;
    lab_place_figures_open(&request->run, work->inputs != NULL, &work->figures);
    for (; done < heads && !failed && !tool_stop; done += !tool_stop) {
        const double began = lab_now();
        failed = place_head(&request->run, work, done);
        lab_work_timed(request, lab_now() - began);
    }
    lab_place_figures_close(&work->figures);
    request->done = done;
    request->total = heads;
    if (!failed && request->format == LAB_TABLE)
        print_summary(work, done);
    return failed;
}

/* ---- memory and files ---------------------------------------------------- */

static int allocate(struct place_work *work)
{
    const struct place_stats *const stats = &work->stats;
    const int64_t wanted = work->args->rows < stats->nq ? work->args->rows : stats->nq;
    const int64_t d = work->inputs ? work->inputs->io.q.size[3] : 0;

    work->rows = tool_zeros(stats->nq, sizeof *work->rows);
    work->chosen = tool_zeros(wanted, sizeof *work->chosen);
    work->q = tool_zeros(wanted * d, sizeof *work->q);
    work->k = tool_zeros(2 * wanted * d, sizeof *work->k);
    work->found = tool_zeros(stats->nb * stats->hq, sizeof *work->found);
    if (work->rows && work->chosen && work->q && work->k && work->found)
        return TOOL_OK;
    return tool_fail("lab place", TOOL_FAILED, "out of memory for %lld rows",
                     (long long)stats->nq);
}

static int place(struct place_args *args, const struct inputs *inputs)
{
    struct place_work work = {.args = args, .inputs = inputs};
    int status = place_stats_open("lab place", args->stats, inputs != NULL, &work.stats);

    if (!status && inputs)
        status = place_pairs_check(&work.stats, inputs);
    if (!status)
        status = allocate(&work);
    if (!status) {
        args->request.work = place_heads;
        args->request.heads = work.stats.nb * work.stats.hq;
        args->request.work_user = &work;
        status = lab_request_perform("lab place", &args->request);
    }
    free(work.rows);
    free(work.chosen);
    free(work.q);
    free(work.k);
    free(work.found);
    place_stats_close(&work.stats);
    return status;
}

static int place_with_inputs(const void *user, struct inputs *inputs, attend_context *ctx,
                             struct progress_line *line)
{
    (void)ctx;
    (void)line;
    return place(*(struct place_args *const *)user, inputs);
}

int lab_place_command(int argc, char **argv)
{
    struct place_args args = {.request = {.unit = "heads"}, .rows = 16};
    struct place_args *const self = &args;
    int status = read_args(argc, argv, &args);

    if (!status)
        status = args.inputs.file[INPUT_Q]
                     ? inputs_perform(&args.inputs, &self, place_with_inputs)
                     : place(&args, NULL);
    inputs_args_free(&args.inputs);
    return status;
}

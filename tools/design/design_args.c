/* SPDX-License-Identifier: MIT */
#include "design_tool.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "shared/flags.h"

enum { KEYS_MAX = 65536 };

static int count_part(const char *flag, int64_t index)
{
    return index < LAB_DESIGN_ITEMS_MAX
               ? TOOL_OK
               : tool_fail("design", TOOL_USAGE, "--%s: more than %d", flag,
                           LAB_DESIGN_ITEMS_MAX);
}

static int take_item(void *user, const char *word, int64_t x)
{
    struct design_args *const args = user;
    int status = count_part("items", x);

    if (!status)
        status =
            tool_parse_int("design", "items", word, 0, KEYS_MAX - 1, &args->items[x]);
    for (int y = 0; y < x && !status; y++)
        if (args->items[x] == args->items[y])
            return tool_fail("design", TOOL_USAGE, "--items: %s is there twice", word);
    args->m = (int)x + 1;
    return status;
}

static int take_weight(void *user, const char *word, int64_t x)
{
    struct design_args *const args = user;
    const int status = count_part("weights", x);

    args->weight_count = (int)x + 1;
    return status
               ? status
               : tool_parse_between("design", "weights", word, 0, 1, &args->weights[x]);
}

static int read_items(const char *command, const struct tool_flag *flag)
{
    const struct design_args *const args = flag->to;
    const int status = tool_split(command, flag->name, flag->value, take_item, flag->to);

    if (!status && args->m > 1 && !strcmp(args->task, "copy"))
        return tool_fail(command, TOOL_USAGE,
                         "--items: %s: one item can be copied; see 'average'",
                         flag->value);
    return status;
}

static int read_weights(const char *command, const struct tool_flag *flag)
{
    return tool_split(command, flag->name, flag->value, take_weight, flag->to);
}

static int read_tau(const char *command, const struct tool_flag *flag)
{
    struct design_args *const args = flag->to;

    args->tau_is_sqrt = !strcmp(flag->value, "sqrt");
    return args->tau_is_sqrt ? TOOL_OK
                             : tool_parse_real(command, flag->name, flag->value, flag->lo,
                                               flag->hi, &args->request.tau);
}

static int check_weights(struct design_args *args)
{
    double sum = 0;

    if (args->weight_count != args->m)
        return tool_fail("design", TOOL_USAGE, "--weights: %d of them for %d items",
                         args->weight_count, args->m);
    for (int x = 0; x < args->m; x++)
        sum += args->weights[x];
    if (!(fabs(sum - 1) <= 1e-6))
        return tool_fail("design", TOOL_USAGE, "--weights: the sum is %.9g, not 1", sum);
    for (int x = 0; x < args->m; x++)
        args->weights[x] /= sum;
    return TOOL_OK;
}

/* Validates items, weights and heads for the task. */
static int check_wanted(struct design_args *args)
{
    const int is_weights = !strcmp(args->task, "weights");
    const int is_heads = !strcmp(args->task, "heads");
    int *const heads = &args->request.heads;

    if (args->m == 0) {
        args->m = strcmp(args->task, "copy") ? 2 : 1;
        args->items[1] = 1;
    }
    if (is_weights != (args->weight_count > 0))
        return tool_fail("design", TOOL_USAGE,
                         is_weights ? "--weights is needed: positive numbers of sum 1"
                                    : "--weights goes with 'attend design weights'");
    if (*heads && !is_heads)
        return tool_fail("design", TOOL_USAGE, "--heads goes with 'attend design heads'");
    if (*heads > args->m)
        return tool_fail("design", TOOL_USAGE, "--heads: %d is outside 1..%d", *heads,
                         args->m);
    if (*heads && args->m % *heads)
        return tool_fail("design", TOOL_USAGE, "--heads: %d does not divide the %d items",
                         *heads, args->m);
    if (!is_heads)
        *heads = 1;
    return is_weights ? check_weights(args) : TOOL_OK;
}

static int check_sizes(struct design_args *args)
{
    const int is_orthonormal = !strcmp(args->keys, "orthonormal");

    args->is_file = !is_orthonormal && strcmp(args->keys, "random") != 0;
    if (args->is_file && (args->n || args->d))
        return tool_fail("design", TOOL_USAGE,
                         "--%s: the file of --keys says it; give one of them",
                         args->n ? "n" : "d");
    if (!args->is_file) {
        args->n = args->n ? args->n : 10;
        args->d = args->d ? args->d : args->n;
    }
    if (is_orthonormal && args->d < args->n)
        return tool_fail("design", TOOL_USAGE,
                         "--d: %" PRId64 " dimensions do not hold %" PRId64
                         " orthonormal keys; see --keys random",
                         args->d, args->n);
    if (args->n * args->d > DESIGN_ENTRIES_MAX)
        return tool_fail("design", TOOL_USAGE,
                         "--n: %" PRId64 " keys of %" PRId64
                         " entries are more than %" PRId64 " numbers",
                         args->n, args->d, DESIGN_ENTRIES_MAX);
    return TOOL_OK;
}

static int check_task(const char *task)
{
    enum { TASKS = 4 };
    static const char *const tasks[TASKS] = {"copy", "average", "weights", "heads"};

    for (int x = 0; x < TASKS; x++)
        if (!strcmp(task, tasks[x]))
            return TOOL_OK;
    const char *const nearest = tool_nearest(task, tasks, TASKS);
    return tool_fail("design", TOOL_USAGE,
                     "'%s' is not one of copy, average, weights, heads%s%s%s", task,
                     nearest ? ": did you mean '" : "", nearest ? nearest : "",
                     nearest ? "'?" : "");
}

int design_args_read(int argc, char **argv, struct design_args *args, const char *help)
{
    struct lab_design_request *const request = &args->request;
    int64_t seed = 1;
    const struct tool_flag flags[] = {
        FLAG_TEXT("keys", &args->keys, "orthonormal|random|F",
                  "unit vectors of the axes (default), random unit\n"
                  "vectors, or the rows of a matrix (n, d) in FILE.npy or\n"
                  "FILE.safetensors:NAME"),
        FLAG_INT64("n", &args->n, 1, KEYS_MAX, "N", "keys, 1..65536 (default 10)"),
        FLAG_INT64("d", &args->d, 1, KEYS_MAX, "D", "dimensions, 1..65536 (default n)"),
        FLAG_INT64("trials", &request->trials, 100, 100000000, "N",
                   "draws for the check, 100..100000000 (default 20000, fewer for\n"
                   "large n d)"),
        FLAG_INT64("seed", &seed, 0, INFINITY, "N", "default 1"),
        FLAG_THREADS(&request->session.threads,
                     "default: every core; the numbers are the same"),
        FLAG_BETWEEN("eps", &request->eps, 0, 1, "X",
                     "weight that may leak to other keys, 0 < X < 1 (default 0.01)"),
        FLAG_REAL("C", &request->scale, 0, 1e6, "X",
                  "scale of the query instead of the smallest for --eps"),
        FLAG_REAL("sigma2", &request->sigma2, 0, 100, "X",
                  "of the magnitude (default 0)"),
        FLAG_REAL("alpha", &request->alpha, 0, 100, "X",
                  "isotropic, on every key (default 0)"),
        FLAG_LINE(void, "tau", read_tau, args, .lo = 1e-6, .hi = 1e6, .takes = "X|sqrt",
                  .help = "scores are tau <q, k>; sqrt: 1/sqrt(d) (default 1)"),
        FLAG_CHOICE("noisy", &request->noisy, "all, items, a", "all|items|a",
                    "every key (default), the items, or the first item alone, as\n"
                    "in 'attend lab' and in the exercise"),
        FLAG_LINE(void, "items", read_items, args, .takes = "I[,I...]",
                  .help = "which keys are wanted, from 0; at most 16\n"
                          "(default 0 for copy, 0,1 otherwise)"),
        FLAG_LINE(void, "weights", read_weights, args, .takes = "W[,W...]",
                  .help = "of the items: positive, sum 1"),
        FLAG_INT("heads", &request->heads, 1, LAB_DESIGN_ITEMS_MAX, "H",
                 "for heads: a divisor of the number of items (default: the\n"
                 "number with the least predicted error; without noise 1)"),
        FLAG_TEXT("out", &args->out, "F",
                  "write the queries (heads, d), f64, to FILE.npy or\n"
                  "FILE.safetensors:NAME"),
        FLAG_SWITCH("json", &args->wants_json, "one JSON object, with the queries in it"),
    };

    *args = (struct design_args){
        .task = argv[0],
        .keys = "orthonormal",
        .request = {.eps = 0.01, .tau = 1, .scale = NAN},
    };
    int status = check_task(argv[0]);
    if (!status)
        status = tool_read_flags("design", argc, argv, FLAG_TABLE(flags), help);
    if (!status)
        status = check_sizes(args);
    if (!status)
        status = check_wanted(args);
    request->session.seed = (uint64_t)seed;
    return status;
}

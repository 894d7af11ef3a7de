/* SPDX-License-Identifier: MIT */
#define _POSIX_C_SOURCE 200809L

#include "design_tool.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { KEYS_MAX = 65536 };

enum {
    OPT_KEYS,
    OPT_N,
    OPT_D,
    OPT_ITEMS,
    OPT_WEIGHTS,
    OPT_EPS,
    OPT_TAU,
    OPT_C,
    OPT_HEADS,
    OPT_SIGMA2,
    OPT_NOISY,
    OPT_ALPHA,
    OPT_TRIALS,
    OPT_SEED,
    OPT_THREADS,
    OPT_OUT,
    OPT_JSON,
    OPT_HELP,
    OPTIONS
};

static int parse_integer(const char *flag, const tool_option *option, int64_t lo,
                         int64_t hi, int64_t *value)
{
    return option->value ? tool_parse_int("design", flag, option->value, lo, hi, value)
                         : TOOL_OK;
}

/* A number in lo..hi; with `open`, the ends are outside. */
static int parse_real(const char *flag, const char *text, double lo, double hi, int open,
                      double *value)
{
    double number;
    const int status = tool_parse_double("design", flag, text, &number);

    if (status)
        return status;
    if (number < lo || number > hi || (open && !(number > lo && number < hi)))
        return tool_fail("design", TOOL_USAGE,
                         open ? "%s: %s is not above %g and below %g"
                              : "%s: %s is outside %g..%g",
                         flag, text, lo, hi);
    *value = number;
    return TOOL_OK;
}

/* Calls `take` for each part of a list; returns the number of parts, or -1. */
static int parse_list(struct design_args *args, const char *flag, const char *text,
                      int (*take)(struct design_args *args, const char *word, int x))
{
    char *const words = strdup(text);
    char *word = words;
    int count = 0, status = words ? TOOL_OK : TOOL_FAILED;

    while (!status && word) {
        char *const comma = strchr(word, ',');
        if (comma)
            *comma = '\0';
        if (count == LAB_DESIGN_ITEMS_MAX)
            status = tool_fail("design", TOOL_USAGE, "%s: more than %d", flag,
                               LAB_DESIGN_ITEMS_MAX);
        else
            status = take(args, word, count++);
        word = comma ? comma + 1 : NULL;
    }
    free(words);
    return status ? -1 : count;
}

static int take_item(struct design_args *args, const char *word, int x)
{
    const int status =
        tool_parse_int("design", "--items", word, 0, KEYS_MAX - 1, &args->items[x]);

    for (int y = 0; y < x && !status; y++)
        if (args->items[x] == args->items[y])
            return tool_fail("design", TOOL_USAGE, "--items: %s is there twice", word);
    return status;
}

static int take_weight(struct design_args *args, const char *word, int x)
{
    return parse_real("--weights", word, 0, 1, 1, &args->weights[x]);
}

static int parse_weights(struct design_args *args, const char *text)
{
    double sum = 0;
    const int count = parse_list(args, "--weights", text, take_weight);

    if (count < 0)
        return TOOL_USAGE;
    if (count != args->m)
        return tool_fail("design", TOOL_USAGE, "--weights: %d of them for %d items",
                         count, args->m);
    for (int x = 0; x < count; x++)
        sum += args->weights[x];
    if (!(fabs(sum - 1) <= 1e-6))
        return tool_fail("design", TOOL_USAGE, "--weights: the sum is %.9g, not 1", sum);
    for (int x = 0; x < count; x++)
        args->weights[x] /= sum;
    args->has_weights = 1;
    return TOOL_OK;
}

/* Which items, which weights, how many heads: what the task makes of them. */
static int parse_wanted(struct design_args *args, const tool_option *options)
{
    const int is_copy = !strcmp(args->task, "copy");
    const int is_weights = !strcmp(args->task, "weights");
    const int is_heads = !strcmp(args->task, "heads");
    const char *const items = options[OPT_ITEMS].value;
    int64_t heads = is_heads ? 0 : 1;

    args->m = parse_list(args, "--items",
                         items     ? items
                         : is_copy ? "0"
                                   : "0,1",
                         take_item);
    if (args->m < 0)
        return TOOL_USAGE;
    if (is_copy && args->m > 1)
        return tool_fail("design", TOOL_USAGE,
                         "--items: %s: one item can be copied; see 'average'", items);
    if (!is_weights != !options[OPT_WEIGHTS].value)
        return tool_fail("design", TOOL_USAGE,
                         is_weights ? "--weights is needed: positive numbers of sum 1"
                                    : "--weights goes with 'attend design weights'");
    if (options[OPT_HEADS].value && !is_heads)
        return tool_fail("design", TOOL_USAGE, "--heads goes with 'attend design heads'");
    int status = parse_integer("--heads", &options[OPT_HEADS], 1, args->m, &heads);
    if (!status && heads > 0 && args->m % heads)
        status = tool_fail("design", TOOL_USAGE,
                           "--heads: %" PRId64 " does not divide the %d items", heads,
                           args->m);
    if (!status && is_weights)
        status = parse_weights(args, options[OPT_WEIGHTS].value);
    args->request.heads = (int)heads;
    return status;
}

static int parse_noise(struct design_args *args, const tool_option *options)
{
    struct lab_design_request *const request = &args->request;
    const struct {
        int option;
        const char *flag;
        double lo, hi;
        int open;
        double *value;
    } reals[] = {{OPT_EPS, "--eps", 0, 1, 1, &request->eps},
                 {OPT_C, "--C", 0, 1e6, 0, &request->scale},
                 {OPT_SIGMA2, "--sigma2", 0, 100, 0, &request->sigma2},
                 {OPT_ALPHA, "--alpha", 0, 100, 0, &request->alpha}};
    const char *const tau = options[OPT_TAU].value, *const noisy =
                                                        options[OPT_NOISY].value;

    for (size_t x = 0; x < sizeof reals / sizeof reals[0]; x++) {
        const char *const text = options[reals[x].option].value;
        const int status = text ? parse_real(reals[x].flag, text, reals[x].lo,
                                             reals[x].hi, reals[x].open, reals[x].value)
                                : TOOL_OK;
        if (status)
            return status;
    }
    args->tau_is_sqrt = tau && !strcmp(tau, "sqrt");
    if (tau && !args->tau_is_sqrt) {
        const int status = parse_real("--tau", tau, 1e-6, 1e6, 0, &request->tau);
        if (status)
            return status;
    }
    request->items_only = noisy && !strcmp(noisy, "items");
    if (noisy && !request->items_only && strcmp(noisy, "all"))
        return tool_fail("design", TOOL_USAGE, "--noisy: '%s' is not one of all, items",
                         noisy);
    return TOOL_OK;
}

static int parse_sizes(struct design_args *args, const tool_option *options)
{
    int64_t seed = 1, threads = 0;
    const int status =
        parse_integer("--n", &options[OPT_N], 1, KEYS_MAX, &args->n) ||
        parse_integer("--d", &options[OPT_D], 1, KEYS_MAX, &args->d) ||
        parse_integer("--trials", &options[OPT_TRIALS], 100, 100000000,
                      &args->request.trials) ||
        parse_integer("--seed", &options[OPT_SEED], 0, INT64_MAX, &seed) ||
        parse_integer("--threads", &options[OPT_THREADS], 1, TOOL_THREADS_MAX, &threads);

    if (status)
        return TOOL_USAGE;
    const int is_file =
        strcmp(args->keys, "orthonormal") != 0 && strcmp(args->keys, "random") != 0;
    if (is_file && (args->n || args->d))
        return tool_fail("design", TOOL_USAGE,
                         "--%s: the file of --keys says it; give one of them",
                         args->n ? "n" : "d");
    if (!is_file) {
        args->n = args->n ? args->n : 10;
        args->d = args->d ? args->d : args->n;
    }
    if (!strcmp(args->keys, "orthonormal") && args->d < args->n)
        return tool_fail("design", TOOL_USAGE,
                         "--d: %" PRId64 " dimensions do not hold %" PRId64
                         " orthonormal keys; see --keys random",
                         args->d, args->n);
    if (args->n * args->d > DESIGN_ENTRIES_MAX)
        return tool_fail("design", TOOL_USAGE,
                         "--n: %" PRId64 " keys of %" PRId64
                         " entries are more than %" PRId64 " numbers",
                         args->n, args->d, DESIGN_ENTRIES_MAX);
    args->request.seed = (uint64_t)seed;
    args->request.threads = (int)threads;
    return TOOL_OK;
}

int design_args_parse(int argc, char **argv, struct design_args *args)
{
    tool_option options[OPTIONS] = {
        [OPT_KEYS] = {.name = "keys", .takes_value = 1},
        [OPT_N] = {.name = "n", .takes_value = 1},
        [OPT_D] = {.name = "d", .takes_value = 1},
        [OPT_ITEMS] = {.name = "items", .takes_value = 1},
        [OPT_WEIGHTS] = {.name = "weights", .takes_value = 1},
        [OPT_EPS] = {.name = "eps", .takes_value = 1},
        [OPT_TAU] = {.name = "tau", .takes_value = 1},
        [OPT_C] = {.name = "C", .takes_value = 1},
        [OPT_HEADS] = {.name = "heads", .takes_value = 1},
        [OPT_SIGMA2] = {.name = "sigma2", .takes_value = 1},
        [OPT_NOISY] = {.name = "noisy", .takes_value = 1},
        [OPT_ALPHA] = {.name = "alpha", .takes_value = 1},
        [OPT_TRIALS] = {.name = "trials", .takes_value = 1},
        [OPT_SEED] = {.name = "seed", .takes_value = 1},
        [OPT_THREADS] = {.name = "threads", .takes_value = 1},
        [OPT_OUT] = {.name = "out", .takes_value = 1},
        [OPT_JSON] = {.name = "json"},
        [OPT_HELP] = {.name = "help"},
    };
    enum { TASKS = 4 };
    static const char *const tasks[TASKS] = {"copy", "average", "weights", "heads"};
    int is_known = 0;

    *args = (struct design_args){.task = argv[0]};
    for (int x = 0; x < TASKS && !is_known; x++)
        is_known = !strcmp(argv[0], tasks[x]);
    if (!is_known) {
        const char *const nearest = tool_nearest(argv[0], tasks, TASKS);
        return tool_fail("design", TOOL_USAGE,
                         "'%s' is not one of copy, average, weights, heads%s%s%s",
                         argv[0], nearest ? ": did you mean '" : "",
                         nearest ? nearest : "", nearest ? "'?" : "");
    }
    args->request = (struct lab_design_request){.eps = 0.01, .tau = 1, .scale = NAN};
    int status = tool_parse_options("design", argc, argv, options, OPTIONS);
    args->wants_help = options[OPT_HELP].value != NULL;
    if (status || args->wants_help)
        return status;
    args->keys = options[OPT_KEYS].value ? options[OPT_KEYS].value : "orthonormal";
    args->out = options[OPT_OUT].value;
    args->wants_json = options[OPT_JSON].value != NULL;
    status = parse_sizes(args, options);
    if (!status)
        status = parse_noise(args, options);
    return status ? status : parse_wanted(args, options);
}

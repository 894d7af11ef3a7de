/* SPDX-License-Identifier: MIT */
/* Flags of an experiment: read, and explained by --help. */
#include "lab_tool.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Most trials of a measurement: 2^53 would be the limit of counting in double. */
static const double trials_max = 1e12;

enum {
    OPT_SEED,
    OPT_TRIALS,
    OPT_THREADS,
    OPT_NO_SWEEP,
    OPT_JSON,
    OPT_CSV,
    OPT_SVG,
    OPT_HELP,
    COMMON
};

static const tool_option common[COMMON] = {
    [OPT_SEED] = {.name = "seed", .takes_value = 1},
    [OPT_TRIALS] = {.name = "trials", .takes_value = 1},
    [OPT_THREADS] = {.name = "threads", .takes_value = 1},
    [OPT_NO_SWEEP] = {.name = "no-sweep"},
    [OPT_JSON] = {.name = "json"},
    [OPT_CSV] = {.name = "csv"},
    [OPT_SVG] = {.name = "svg", .takes_value = 1},
    [OPT_HELP] = {.name = "help"},
};

/* The whole of `text` as a finite decimal number: no blanks, hexadecimal or "nan". */
static int read_number(const char *text, double *number)
{
    const char *const digits = text + (*text == '-' || *text == '+');
    char *end;

    if (digits[strspn(digits, "0123456789.eE+-")] || !strspn(digits, "0123456789."))
        return -1;
    *number = strtod(text, &end);
    return end != text && !*end && isfinite(*number) ? 0 : -1;
}

/* "a number from 0 to 1000", "a whole number of 2 or more" */
static void describe_range(char *out, size_t size, int whole, double min, double max)
{
    const char *const what = whole ? "a whole number" : "a number";

    if (isfinite(max))
        snprintf(out, size, "%s from %.15g to %.15g", what, min, max);
    else if (isfinite(min))
        snprintf(out, size, "%s of %.15g or more", what, min);
    else
        snprintf(out, size, "%s", what);
}

static int parse_number(const char *command, const char *name, const char *text,
                        int whole, double min, double max, double *value)
{
    char allowed[96];

    if (read_number(text, value) == 0 && *value >= min && *value <= max &&
        (!whole || *value == floor(*value)))
        return TOOL_OK;
    describe_range(allowed, sizeof allowed, whole, min, max);
    return tool_fail(command, TOOL_USAGE, "--%s: '%s' is not allowed, only %s", name,
                     text, allowed);
}

/* Whether `word` is one of "a|b|c". */
static int is_choice(const char *choices, const char *word)
{
    const size_t length = strlen(word);

    for (const char *c = choices; c; c = strchr(c, '|')) {
        c += *c == '|';
        if (!strncmp(c, word, length) && (c[length] == '|' || !c[length]))
            return length > 0;
    }
    return 0;
}

static int parse_flag(const char *command, const struct lab_flag *flag, const char *text,
                      struct lab_run *run, int index)
{
    switch (flag->type) {
    case LAB_REAL:
    case LAB_INTEGER:
        return parse_number(command, flag->name, text, flag->type == LAB_INTEGER,
                            flag->min, flag->max, &run->numbers[index]);
    case LAB_CHOICE:
        if (!is_choice(flag->choices, text))
            return tool_fail(command, TOOL_USAGE, "--%s: '%s' is not one of %s",
                             flag->name, text, flag->choices);
        break;
    case LAB_TEXT:
        break;
    }
    run->texts[index] = text;
    return TOOL_OK;
}

static int parse_seed(const char *command, const char *text, uint64_t *seed)
{
    char *end;

    errno = 0;
    const uintmax_t number = strtoumax(text, &end, 10);
    if (text[strspn(text, "0123456789")] || errno || number > UINT64_MAX)
        return tool_fail(command, TOOL_USAGE,
                         "--seed: '%s' is not allowed, only a whole number from 0 to "
                         "%" PRIu64,
                         text, UINT64_MAX);
    *seed = number;
    return TOOL_OK;
}

static int parse_common(const char *command, const tool_option *options,
                        struct lab_request *request)
{
    struct lab_run *const run = &request->run;
    double number = 0;
    int status = TOOL_OK;

    if (options[OPT_SEED].value)
        status = parse_seed(command, options[OPT_SEED].value, &run->seed);
    if (!status && options[OPT_TRIALS].value) {
        status = parse_number(command, "trials", options[OPT_TRIALS].value, 1, 1,
                              trials_max, &number);
        run->trials = status ? 0 : (int64_t)number;
    }
    if (!status && options[OPT_THREADS].value) {
        status = parse_number(command, "threads", options[OPT_THREADS].value, 1, 1,
                              TOOL_THREADS_MAX, &number);
        request->threads = status ? 0 : (int)number;
    }
    if (!status && options[OPT_JSON].value && options[OPT_CSV].value)
        status = tool_fail(command, TOOL_USAGE,
                           "--json and --csv exclude each other: give one of them");
    run->sweeps = !options[OPT_NO_SWEEP].value;
    request->format = options[OPT_JSON].value  ? LAB_JSON
                      : options[OPT_CSV].value ? LAB_CSV
                                               : LAB_TABLE;
    request->svg = options[OPT_SVG].value;
    request->help = options[OPT_HELP].value != NULL;
    return status;
}

int lab_parse(const char *command, int argc, char **argv, struct lab_request *request)
{
    const struct lab_experiment *const experiment = request->run.experiment;
    const int flags = experiment->flag_count;
    tool_option options[COMMON + LAB_PARAMS_MAX];

    memcpy(options, common, sizeof common);
    for (int f = 0; f < flags; f++)
        options[COMMON + f] =
            (tool_option){.name = experiment->flags[f].name, .takes_value = 1};
    int status = tool_parse_options(command, argc, argv, options, COMMON + flags);
    if (!status)
        status = parse_common(command, options, request);
    for (int f = 0; f < flags && !status; f++)
        if (options[COMMON + f].value)
            status = parse_flag(command, &experiment->flags[f], options[COMMON + f].value,
                                &request->run, f);
    return status;
}

static void print_flag(const struct lab_flag *flag)
{
    char name[48], range[128] = "", preset[64] = "";

    snprintf(name, sizeof name, "--%s %s", flag->name,
             flag->type == LAB_REAL      ? "X"
             : flag->type == LAB_INTEGER ? "N"
                                         : "WORD");
    switch (flag->type) {
    case LAB_REAL:
    case LAB_INTEGER:
        describe_range(range, sizeof range, flag->type == LAB_INTEGER, flag->min,
                       flag->max);
        if (!isnan(flag->preset))
            snprintf(preset, sizeof preset, "; default %.15g", flag->preset);
        break;
    case LAB_CHOICE:
        snprintf(range, sizeof range, "%s", flag->choices);
        snprintf(preset, sizeof preset, "; default %s", flag->text);
        break;
    case LAB_TEXT:
        if (flag->text)
            snprintf(preset, sizeof preset, "; default %s", flag->text);
        break;
    }
    printf("  %-14s  ", name);
    lab_print_wrapped(flag->help, 18);
    if (*range || *preset)
        printf("  %-14s  %s%s\n", "", range, *range ? preset : preset + 2);
}

static const char common_help[] =
    "  --no-sweep      only the rows of exactly these parameters\n"
    "  --threads N     threads; the numbers are the same for any (default: every core)\n"
    "  --json          one JSON object per line: experiment, params, quantity, theory,\n"
    "                  measured, se, z, and kind where the theory is a bound, "
    "first-order\n"
    "                  or asymptotic; null where there is no finite number\n"
    "  --csv           the same as comma-separated values with a header\n"
    "  --svg FILE      the figures, one below the other, as one SVG file\n"
    "  --help          this text\n"
    "\n"
    "Quantities are those of orthonormal keys and values; since only scores and\n"
    "coefficients count, keys of equal score may stand as one key with a bias, and keys\n"
    "may be drawn in the space that the queries span.\n"
    "\n"
    "Rows for exactly the parameters given come first, then sweeps.  se is the standard\n"
    "error of what was measured (0: nothing random in it), z = (measured - theory) / "
    "se.\n"
    "The laboratory reports and does not judge: the exit status is 0 whatever z is, 2 "
    "for\n"
    "bad usage, 130 after Ctrl-C, when the rows show what was measured up to then.\n";

void lab_print_help(const struct lab_experiment *experiment)
{
    printf("usage: attend lab %s [OPTION]...\n\n%s.\n", experiment->name,
           experiment->title);
    lab_print_wrapped(experiment->shows, 0);
    if (*experiment->answers)
        printf("Answers questions %s of the exercise.\n", experiment->answers);
    puts("\noptions:");
    for (int f = 0; f < experiment->flag_count; f++)
        print_flag(&experiment->flags[f]);
    if (experiment->trials > 0)
        printf(
            "  --trials N      trials of the rows of exactly these parameters (default "
            "%" PRId64 ")\n"
            "  --seed N        other random numbers (default 1)\n",
            experiment->trials);
    else
        puts("  --seed N        other random inputs, where there are any (default 1)\n"
             "  --trials N      accepted; nothing here is a mean over trials");
    fputs(common_help, stdout);
    printf("\nexample:\n  attend lab %s --json", experiment->name);
    for (int f = 0; f < experiment->flag_count && f < 2; f++) {
        const struct lab_flag *const flag = &experiment->flags[f];
        if (flag->type == LAB_CHOICE || flag->type == LAB_TEXT)
            printf(" --%s %s", flag->name, flag->text ? flag->text : "");
        else if (!isnan(flag->preset))
            printf(" --%s %.15g", flag->name, flag->preset);
    }
    putchar('\n');
}

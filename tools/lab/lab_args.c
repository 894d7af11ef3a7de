/* SPDX-License-Identifier: MIT */
/* Flags of an experiment: read, and explained by --help. */
#include "lab_tool.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "shared/help.h"

/* Most trials of a measurement: 2^53 would be the limit of counting in double. */
static const double trials_max = 1e12;

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

/* Stores a double. */
static int read_number(const char *command, const struct tool_flag *flag, int whole)
{
    double number;
    char allowed[96];

    if (!tool_parse_number(flag->value, &number) && number >= flag->lo &&
        number <= flag->hi && (!whole || number == floor(number))) {
        *(double *)flag->to = number;
        return TOOL_OK;
    }
    describe_range(allowed, sizeof allowed, whole, flag->lo, flag->hi);
    return tool_fail(command, TOOL_USAGE, "--%s: '%s' is not allowed, only %s",
                     flag->name, flag->value, allowed);
}

static int read_real(const char *command, const struct tool_flag *flag)
{
    return read_number(command, flag, 0);
}

static int read_whole(const char *command, const struct tool_flag *flag)
{
    return read_number(command, flag, 1);
}

static int read_word(const char *command, const struct tool_flag *flag)
{
    if (tool_parse_choice(command, flag->name, flag->value, flag->choices) < 0)
        return TOOL_USAGE;
    return tool_read_text(command, flag);
}

static int read_seed(const char *command, const struct tool_flag *flag)
{
    const char *const text = flag->value;

    errno = 0;
    const uintmax_t number = strtoumax(text, NULL, 10);
    if (text[strspn(text, "0123456789")] || errno || number > UINT64_MAX)
        return tool_fail(command, TOOL_USAGE,
                         "--seed: '%s' is not allowed, only a whole number from 0 to "
                         "%" PRIu64,
                         text, UINT64_MAX);
    *(uint64_t *)flag->to = number;
    return TOOL_OK;
}

static struct tool_flag to_tool_flag(const struct lab_flag *flag, struct lab_run *run,
                                     int index)
{
    const int is_number = flag->type == LAB_REAL || flag->type == LAB_INTEGER;

    return (struct tool_flag){.name = flag->name,
                              .read = flag->type == LAB_REAL      ? read_real
                                      : flag->type == LAB_INTEGER ? read_whole
                                      : flag->type == LAB_CHOICE  ? read_word
                                                                  : tool_read_text,
                              .to = is_number ? (void *)&run->numbers[index]
                                              : (void *)&run->texts[index],
                              .lo = flag->min,
                              .hi = flag->max,
                              .choices = flag->choices};
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
        if (flag->text && *flag->text)
            snprintf(preset, sizeof preset, "; default %s", flag->text);
        break;
    }
    printf("  %-14s  ", name);
    tool_print_wrapped(flag->help, 18);
    if (*range || *preset)
        printf("  %-14s  %s%s\n", "", range, *range ? preset : preset + 2);
}

/* After the experiment's own flags. */
static const char common_help[] =
    "@18 no-sweep threads json csv svg help\n"
    "\n"
    "Quantities are those of orthonormal keys and values; since only scores and\n"
    "coefficients count, keys of equal score may stand as one key with a bias, and keys\n"
    "may be drawn in the space that the queries span.\n"
    "\n"
    "Rows for exactly the parameters given come first, then sweeps.  se is the standard\n"
    "error of what was measured, from the sample alone (0: nothing random in it), and z "
    "=\n"
    "(measured - theory) / se.  What is claimed of a row depends on its kind:\n"
    "\n"
    "  exact        holds when |z| <= 4; without chance, when both are equal to "
    "rounding\n"
    "  bound        holds when measured does not exceed theory; where theory is 0, when\n"
    "               measured is 0 to rounding\n"
    "  asymptotic,  a limit, a first-order form: the distance from it is shown,\n"
    "  first-order  |measured - theory| / |theory|, and nothing is claimed\n"
    "\n"
    "A row is rare when the sample holds fewer than 25 events of what it counts, or "
    "when\n"
    "a mean or a variance rests on fewer than 25 trials.  It then has an interval from\n"
    "low to high in place of z, and holds when theory lies in it.  The interval covers\n"
    "as often as |z| <= 4, all but 6.3e-5 of the time: by Clopper and Pearson for a\n"
    "probability, by Chernoff's bound for a mean of numbers of known range.  A mean of\n"
    "numbers without a known range is not judged.\n"
    "\n"
    "Keys with isotropic noise are drawn and weighed in f32, and its rounding is added\n"
    "to the tolerance.  Rows whose standard deviation is below ten times that rounding\n"
    "have no z, and numbers below it are not judged.\n"
    "\n"
    "Before a run of more than two minutes, its estimated time is printed on standard\n"
    "error.  Ctrl-C ends it with the rows that were measured up to then.\n"
    "The exit status is 0 whatever holds, 2 for bad usage, 130 after Ctrl-C.\n";

static void print_quantities(const struct lab_experiment *experiment)
{
    puts("\nquantities:");
    for (const struct lab_quantity *known = lab_quantities(experiment->name); known->name;
         known++) {
        printf("  %s\n      ", known->name);
        tool_print_wrapped(known->meaning, 6);
    }
}

static void print_help(const struct lab_experiment *experiment,
                       const struct tool_flag *flags, int count)
{
    char common[sizeof common_help + 32];

    snprintf(common, sizeof common, "@18 %s\n%s",
             experiment->trials > 0 ? "trials seed" : "seed trials", common_help);
    /* The manual lists the common flags, completion the names of the experiments. */
    if (tool_help_form != TOOL_HELP_TEXT) {
        tool_print_help(common, flags, count);
        return;
    }
    printf("usage: attend lab %s [OPTION]...\n\n%s.\n", experiment->name,
           experiment->title);
    tool_print_wrapped(experiment->shows, 0);
    if (*experiment->answers)
        printf("Answers questions %s of the exercise.\n", experiment->answers);
    puts("\noptions:");
    for (int f = 0; f < experiment->flag_count; f++)
        print_flag(&experiment->flags[f]);
    tool_print_help(common, flags, count);
    print_quantities(experiment);
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

void lab_common_flags(struct lab_request *request, struct lab_common *common,
                      const struct lab_common_help *help,
                      struct tool_flag flags[LAB_COMMON_FLAGS])
{
    const char *const seed = help->seed ? help->seed : "other random numbers (default 1)";
    const char *const no_sweep =
        help->no_sweep ? help->no_sweep : "only the rows of exactly these parameters";
    const char *const json =
        help->json ? help->json : "one JSON object per line, as in other experiments";
    const struct tool_flag all[LAB_COMMON_FLAGS] = {
        FLAG_NUMBER(uint64_t, "seed", read_seed, &request->run.session.seed, 0, 0, "N",
                    seed),
        FLAG_NUMBER(double, "trials", read_whole, &common->trials, 1, trials_max, "N",
                    help->trials),
        FLAG_NUMBER(double, "threads", read_whole, &common->threads, 1, TOOL_THREADS_MAX,
                    "N",
                    "threads; the numbers are the same for any (default: every core)"),
        FLAG_SWITCH("no-sweep", &common->no_sweep, no_sweep),
        FLAG_SWITCH("json", &common->as_json, json),
        FLAG_SWITCH("csv", &common->as_csv,
                    "the same as comma-separated values with a header"),
        FLAG_TEXT("svg", &request->svg, "FILE", help->svg),
    };

    memcpy(flags, all, sizeof all);
    *common = (struct lab_common){.trials = (double)request->run.trials};
}

int lab_common_settle(const char *command, const struct lab_common *common,
                      struct lab_request *request)
{
    if (common->as_json && common->as_csv)
        return tool_fail(command, TOOL_USAGE,
                         "--json and --csv exclude each other: give one of them");
    request->run.trials = (int64_t)common->trials;
    request->run.session.threads = (int)common->threads;
    request->run.sweeps = !common->no_sweep;
    request->format = common->as_json ? LAB_JSON : common->as_csv ? LAB_CSV : LAB_TABLE;
    return TOOL_OK;
}

void lab_own_flags(struct lab_run *run, struct tool_flag *flags)
{
    for (int f = 0; f < run->experiment->flag_count; f++)
        flags[f] = to_tool_flag(&run->experiment->flags[f], run, f);
}

int lab_input_flags(const char *command, const char *const *names,
                    struct inputs_args *inputs, struct tool_flag *flags)
{
    struct tool_flag all[INPUTS_FLAGS];
    int count = 0;

    inputs_flags(command, inputs, all);
    for (int f = 0; f < INPUTS_FLAGS; f++)
        for (const char *const *name = names; *name; name++)
            if (!strcmp(all[f].name, *name)) {
                flags[count] = all[f];
                flags[count++].is_needed = 0;
            }
    return count;
}

int lab_read_flags(const char *command, int argc, char **argv,
                   struct lab_request *request)
{
    const struct lab_experiment *const experiment = request->run.experiment;
    struct tool_flag flags[LAB_COMMON_FLAGS + LAB_PARAMS_MAX + 1];
    const int count = LAB_COMMON_FLAGS + experiment->flag_count;
    struct lab_common common;
    char trials[96];

    snprintf(trials, sizeof trials,
             tool_help_form == TOOL_HELP_MANUAL
                 ? "trials of the rows of exactly these parameters"
                 : "trials of the rows of exactly these parameters (default %" PRId64 ")",
             experiment->trials);
    const struct lab_common_help drawn = {
        .trials = trials,
        .json = "one JSON object per line: experiment, params, quantity, theory,\n"
                "measured, se, z, kind, holds, rare, low, high, distance; null where\n"
                "there is no finite number or nothing is claimed",
        .svg = "the figures, one below the other, as one SVG file"};
    struct lab_common_help help = drawn;
    if (experiment->trials == 0) {
        help.trials = "accepted; nothing here is a mean over trials";
        help.seed = "other random inputs, where there are any (default 1)";
    }
    lab_common_flags(request, &common, &help, flags);
    lab_own_flags(&request->run, flags + LAB_COMMON_FLAGS);
    const int status = tool_read_flags(command, argc, argv, flags, count, NULL);
    flags[count] = tool_flag_help;
    if (status == TOOL_HELPED)
        print_help(experiment, flags, count + 1);
    return status ? status : lab_common_settle(command, &common, request);
}

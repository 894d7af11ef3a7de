/* SPDX-License-Identifier: MIT */
/* `attend info`: capabilities of the build and the machine, and the chosen kernel set. */
#include "shared/commands.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shared/flags.h"
#include "shared/json_line.h"

static const char help_text[] =
    "usage: attend info [--isa NAME] [--threads N] [--json]\n"
    "\n"
    "Prints the version, the CPU features that matter, the kernel sets of this build "
    "and\n"
    "which of them run here, the GPUs or why there is none, and which set and how many\n"
    "threads 'attend run' would use with the same options and environment, and why.\n"
    "\n"
    "options:\n"
    "@16 isa threads json help\n"
    "\n"
    "example: every kernel set that runs here\n"
    "  attend info --json | jq -r '.kernel_sets[] | select(.runs) | .name'\n";

/* The choices of a context with the given options. */
struct choice {
    char isa[32];
    int threads;
    const char *isa_reason, *threads_reason;
};

static int choose(const attend_options *wanted, struct choice *choice)
{
    attend_context *ctx;
    const int status = tool_create_context("info", wanted, &ctx);

    if (status)
        return status;
    snprintf(choice->isa, sizeof choice->isa, "%s", attend_context_isa(ctx));
    choice->threads = attend_context_threads(ctx);
    attend_context_destroy(ctx);

    const char *const forced = getenv("ATTEND_ISA");
    choice->isa_reason = wanted->isa         ? "forced by --isa"
                         : forced && *forced ? "forced by ATTEND_ISA"
                                             : "best that runs here";
    const char *const omp = getenv("OMP_NUM_THREADS");
    choice->threads_reason = wanted->threads ? "set by --threads"
                             : omp && atoi(omp) == choice->threads
                                 ? "set by OMP_NUM_THREADS"
                                 : "every core this process may use";
    return TOOL_OK;
}

/* The words of a text separated by blanks, as a list. */
static void put_words(struct lab_json *json, const char *key, const char *text)
{
    lab_json_key(json, key);
    lab_json_begin(json, '[');
    for (text += strspn(text, " "); *text; text += strspn(text, " ")) {
        char word[64];

        snprintf(word, sizeof word, "%.*s", (int)strcspn(text, " "), text);
        lab_json_text(json, word);
        text += strcspn(text, " ");
    }
    lab_json_end(json, ']');
}

static int print_as_json(const char *features, const char *devices,
                         const struct choice *choice)
{
    struct lab_json json;

    tool_open_json(&json);
    lab_json_put(&json, "version:s", attend_version());
    put_words(&json, "cpu_features", features);
    lab_json_put(&json, "kernel_sets:[");
    for (int i = 0; i < attend_isa_count(); i++) {
        attend_isa isa = attend_isa_default();
        if (attend_isa_get(i, &isa) != ATTEND_OK)
            continue;
        lab_json_put(&json, "{ name:s", isa.name);
        put_words(&json, "needs", isa.needs);
        lab_json_put(&json, "runs:b }", isa.runs);
    }
    lab_json_put(&json, "] devices:s isa:s isa_reason:s threads:i threads_reason:s",
                 devices, choice->isa, choice->isa_reason, choice->threads,
                 choice->threads_reason);
    return tool_print_json("info", &json);
}

static int print_as_text(const char *features, const char *devices,
                         const struct choice *choice)
{
    printf("attend %s\n", attend_version());
    printf("CPU features   %s\n", *features ? features : "(none that matter)");
    printf("kernel sets    ");
    for (int i = 0; i < attend_isa_count(); i++) {
        attend_isa isa = attend_isa_default();
        if (attend_isa_get(i, &isa) != ATTEND_OK)
            continue;
        printf("%s%-11s %-7s %s%s\n", i ? "               " : "", isa.name,
               isa.runs ? "runs" : "cannot", *isa.needs ? "needs " : "on any CPU",
               isa.needs);
    }
    printf("devices        %s\n", devices);
    printf("chosen         %s: %s\n", choice->isa, choice->isa_reason);
    printf("threads        %d: %s\n", choice->threads, choice->threads_reason);
    return tool_finish_output("info", TOOL_OK);
}

int cmd_info(int argc, char **argv)
{
    attend_options wanted = attend_options_default();
    int wants_json = 0;
    const struct tool_flag flags[] = {
        FLAG_TEXT("isa", &wanted.isa, "NAME",
                  "as if forced for a run (so does the variable ATTEND_ISA)"),
        FLAG_THREADS(&wanted.threads,
                     "as if given for a run (so does the variable OMP_NUM_THREADS)"),
        FLAG_SWITCH("json", &wants_json,
                    "one JSON object: version, cpu_features, kernel_sets (name, needs,\n"
                    "runs), devices, isa, isa_reason, threads, threads_reason"),
    };
    struct choice choice = {.threads = 0};
    char features[512], devices[2048];

    int status = tool_read_flags("info", argc, argv, FLAG_TABLE(flags), help_text);
    if (!status)
        status = choose(&wanted, &choice);
    if (status)
        return status;
    attend_cpu_features(features, sizeof features);
    attend_devices(devices, sizeof devices);
    return wants_json ? print_as_json(features, devices, &choice)
                      : print_as_text(features, devices, &choice);
}

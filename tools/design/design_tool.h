/* SPDX-License-Identifier: MIT */
/* The parts of `attend design`: arguments, keys, the report. */
#ifndef TOOLS_DESIGN_TOOL_H
#define TOOLS_DESIGN_TOOL_H

#include "lab/design/design.h"
#include "shared/tool.h"

/* Entries of the keys: 256 MiB. */
#define DESIGN_ENTRIES_MAX ((int64_t)1 << 25)

struct design_args {
    const char *task; /* "copy", "average", "weights" or "heads" */
    const char *keys; /* "orthonormal", "random" or the spec of a file */
    const char *out;  /* NULL: not given */
    int64_t n, d;     /* 0: not given */
    int64_t items[LAB_DESIGN_ITEMS_MAX];
    double weights[LAB_DESIGN_ITEMS_MAX];
    int m, weight_count;               /* items; weight_count is 0 or m */
    int is_file;                       /* whether `keys` names one */
    int tau_is_sqrt;                   /* 1/sqrt(d) */
    struct lab_design_request request; /* the fields that do not depend on keys */
    int wants_json;
};

/* tool_read_flags(), and refuses flags that exclude each other; argv[0] is the task. */
int design_args_read(int argc, char **argv, struct design_args *args, const char *help);

/* The requested keys, in args->request, to be freed; TOOL_OK or a status and message. */
int design_keys_open(struct design_args *args, double **keys);

/* Prints the design. */
int design_report(const struct design_args *args, const struct lab_design *design);

#endif

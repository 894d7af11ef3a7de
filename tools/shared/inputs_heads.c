/* SPDX-License-Identifier: MIT */
/* ALiBi slopes and sink logits: one number per query head. */
#include "inputs.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "check/numbers.h"

double input_read_value(const struct io_tensor *tensor, int64_t offset)
{
    return check_load(tensor->data, input_dtype(tensor->dtype), offset);
}

/*
 * The usual slopes: 2^(-8 (h + 1) / n) for a power of two n.  Any other hq takes
 * those of the next smaller n, then every other one of those for 2 n.
 */
static void fill_slopes(double *slopes, int64_t hq)
{
    int64_t n = 1;

    while (n <= hq / 2)
        n *= 2;
    for (int64_t h = 0; h < hq; h++)
        slopes[h] = h < n ? exp2(-8.0 * (double)(h + 1) / (double)n)
                          : exp2(-4.0 * (double)(2 * (h - n) + 1) / (double)n);
}

/* hq doubles, to be freed; NULL with a message. */
static double *allocate_heads(const struct inputs *p)
{
    double *const values = tool_zeros(p->io.q.size[1], sizeof *values);

    if (!values)
        tool_fail(p->command, TOOL_FAILED, "out of memory for %" PRId64 " heads",
                  p->io.q.size[1]);
    return values;
}

static int read_heads(const struct inputs *p, enum input which, double **values)
{
    const struct io_tensor *const t = &p->tensor[which];
    const int64_t hq = p->io.q.size[1];
    const int status = inputs_check_float(p, which);

    if (status)
        return status;
    if (t->ndim != 1 || t->size[0] != hq)
        return INPUTS_FAIL_SHAPE(p, which, "(hq,) = (%" PRId64 ",) is needed", hq);
    *values = allocate_heads(p);
    if (!*values)
        return TOOL_FAILED;
    for (int64_t h = 0; h < hq; h++)
        (*values)[h] = input_read_value(t, h * t->stride[0]);
    return TOOL_OK;
}

int inputs_open_heads(const struct inputs_args *args, struct inputs *p)
{
    int status = TOOL_OK;

    if (args->alibi_is_auto) {
        p->alibi = allocate_heads(p);
        if (!p->alibi)
            return TOOL_FAILED;
        fill_slopes(p->alibi, p->io.q.size[1]);
    } else if (args->file[INPUT_ALIBI]) {
        status = read_heads(p, INPUT_ALIBI, &p->alibi);
    }
    if (!status && args->file[INPUT_SINKS])
        status = read_heads(p, INPUT_SINKS, &p->sinks);
    p->rule.alibi = p->alibi;
    p->rule.sinks = p->sinks;
    return status;
}

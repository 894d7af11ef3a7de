/* SPDX-License-Identifier: MIT */
/* The tensors of `attend stats --out`. */
#include "stats_tool.h"

#include <stdio.h>

_Static_assert((int)STATS_OUTPUTS_MAX <= (int)IO_MAX_OUTPUTS, "one set holds them all");

/* A tensor (b, h, l, d) to be written under a name, without axis `drop`. */
struct entry {
    const char *name;
    enum io_dtype dtype;
    int drop; /* an axis that has one element by its nature, or 4 */
    attend_tensor source;
};

static void add(const struct stats_args *args, const struct inputs *inputs,
                const struct entry *entry, struct stats_outputs *outputs)
{
    struct io_output *const output = &outputs->output[outputs->count];
    char *const spec = outputs->spec[outputs->count];

    if (!entry->source.data)
        return;
    snprintf(spec, sizeof outputs->spec[0], "%s:%s", args->out, entry->name);
    *output = (struct io_output){.spec = spec, .dtype = entry->dtype};
    /* Input without b, or without b and h, gives outputs without them. */
    for (int a = 4 - inputs->rank; a < 4; a++)
        if (a != entry->drop)
            output->size[output->ndim++] = entry->source.size[a];
    outputs->source[outputs->count++] = entry->source;
}

/* Column c of the statistics of rows. */
static attend_tensor column_of(const struct stats_result *r, int c)
{
    attend_tensor column = r->rows.rows;

    column.data = (double *)column.data + c * column.stride[3];
    column.size[3] = 1;
    return column;
}

void stats_outputs_list(const struct stats_args *args, const struct inputs *inputs,
                        const struct stats_result *r, struct stats_outputs *outputs)
{
    const enum io_dtype exact = inputs->io.q.dtype == ATTEND_F64 ? IO_F64 : IO_F32;
    attend_tensor top = r->rows.top_weights, keys;

    if (!args->top)
        top.data = NULL;
    top.size[3] = args->top;
    keys = top;
    keys.data = r->rows.top_keys;
    const struct entry others[] = {
        {"top_weights", exact, 4, top},
        {"top_keys", IO_I64, 4, keys},
        {"column_mass", exact, 2, r->inspection.column_mass},
        {"column_max", exact, 2, r->inspection.column_max},
        {"column_last", exact, 2, r->inspection.column_last},
        {"map", exact, 4, r->inspection.pooled},
        {"zoom", exact, 4, r->inspection.zoom},
    };

    outputs->count = 0;
    for (int c = 0; c < r->columns; c++) {
        const struct entry entry = {attend_stat_name(r->column[c]), exact, 3,
                                    column_of(r, c)};
        add(args, inputs, &entry, outputs);
    }
    for (size_t x = 0; x < sizeof others / sizeof others[0]; x++)
        add(args, inputs, &others[x], outputs);
}

static void write_element(const struct io_output *output, int64_t to,
                          const attend_tensor *source, const int64_t at[4])
{
    if (output->dtype == IO_I64)
        ((int64_t *)output->data)[to] =
            ((const int64_t *)
                 source->data)[at[0] * source->stride[0] + at[1] * source->stride[1] +
                               at[2] * source->stride[2] + at[3]];
    else if (output->dtype == IO_F64)
        ((double *)output->data)[to] = stats_element(source, at[0], at[1], at[2], at[3]);
    else
        ((float *)output->data)[to] =
            (float)stats_element(source, at[0], at[1], at[2], at[3]);
}

void stats_outputs_fill(struct stats_outputs *outputs)
{
    for (int x = 0; x < outputs->count; x++) {
        const attend_tensor *const source = &outputs->source[x];
        int64_t at[4], to = 0;

        for (at[0] = 0; at[0] < source->size[0]; at[0]++)
            for (at[1] = 0; at[1] < source->size[1]; at[1]++)
                for (at[2] = 0; at[2] < source->size[2]; at[2]++)
                    for (at[3] = 0; at[3] < source->size[3]; at[3]++)
                        write_element(&outputs->output[x], to++, source, at);
    }
}

/* SPDX-License-Identifier: MIT */
/* The parts of `attend stats`: arguments, computation, and forms of output. */
#ifndef TOOLS_STATS_TOOL_H
#define TOOLS_STATS_TOOL_H

#include <attend/stats.h>
#include <stdio.h>

#include "shared/inputs.h"

/* Queries first .. end - 1 by keys key_first .. key_end - 1. */
struct stats_zoom {
    int is_wanted;
    int64_t first, end, key_first, key_end;
};

struct stats_args {
    struct inputs_args inputs;
    const char *out, *map; /* file names, NULL: not given */
    int top;               /* 0: not given */
    int64_t last;          /* 0: not given */
    struct stats_zoom zoom;
    double noise;
    int wants_rows, wants_columns, wants_json;
};

/*
 * tool_read_flags(), and refuses flags that exclude each other; only the command line is
 * examined.  args->inputs must be freed in any case.
 */
int stats_args_read(int argc, char **argv, struct stats_args *args, const char *help);
/* Checks the flags against the sizes of the problem. */
int stats_args_check(const struct stats_args *args, const struct inputs *inputs);

/* The first columns, which are printed for a row. */
enum { STATS_COLUMN_KEYS, STATS_COLUMN_MAX, STATS_COLUMN_LSE, STATS_ROW_COLUMNS = 14 };

/* Results.  Tensors that were not requested have no data. */
struct stats_result {
    int64_t nb, hq, nq, nk;
    attend_stat column[ATTEND_STAT_COUNT];
    int columns;
    /* Of the rows: column after column, each (nb, hq, nq), f64; top_weights f64 too. */
    attend_stats rows;
    attend_inspection inspection; /* f32, f64 for f64 inputs; `pooled` is the map */
    void *output;                 /* O, which is computed but not shown */
};

/*
 * Allocates the results and computes them.  TOOL_OK or another status with a
 * message; *result must be freed in any case.
 */
int stats_prepare(const struct stats_args *args, const struct inputs *inputs,
                  struct stats_result *result);
int stats_compute(const struct stats_args *args, const struct inputs *inputs,
                  attend_context *ctx, struct progress_line *line,
                  struct stats_result *result);
/* The same on the ranks of a launcher; the numbers are on rank 0. */
int stats_compute_on_ranks(const struct stats_args *args, const struct inputs *inputs,
                           attend_context *ctx, struct stats_result *result);
void stats_result_free(struct stats_result *result);

/* Element (b, h, l, d) of an f32 or f64 tensor. */
double stats_element(const attend_tensor *tensor, int64_t b, int64_t h, int64_t l,
                     int64_t d);

/* One head: means over the rows that attend_head_read() counts, and its character. */
struct stats_head {
    attend_head head;
    double mean[ATTEND_STAT_COUNT]; /* of the columns; NaN without rows */
    attend_character character;
    char reason[160];
};
void stats_head_read(const struct stats_result *result, double noise, int64_t b,
                     int64_t h, struct stats_head *to);

/* ---- what comes out ----------------------------------------------------- */

/* The tensors of --out: their files and their data. */
enum { STATS_OUTPUTS_MAX = ATTEND_STAT_COUNT + 7 };
struct stats_outputs {
    struct io_output output[STATS_OUTPUTS_MAX];
    char spec[STATS_OUTPUTS_MAX][4096 + 64];
    attend_tensor source[STATS_OUTPUTS_MAX];
    int count;
};
/* Makes the list; *result is prepared, and need not be computed. */
void stats_outputs_list(const struct stats_args *args, const struct inputs *inputs,
                        const struct stats_result *result, struct stats_outputs *outputs);
/* Writes the numbers to the files, now prepared. */
void stats_outputs_fill(struct stats_outputs *outputs);

/* Side by side panels of the map, `columns` of them in a row. */
int64_t stats_map_columns(int64_t heads);
/* Queries, and keys, that one cell of the map stands for. */
int64_t stats_map_block(int64_t heads, int64_t nq, int64_t nk);
/* Draws the map of every head as PNG; TOOL_OK or TOOL_FAILED with a message. */
int stats_map_draw(const struct stats_result *result, FILE *file);

/* On standard output; TOOL_OK or TOOL_FAILED with a message. */
int stats_print_json(const struct stats_args *args, const struct stats_result *result);
void stats_print_tables(const struct stats_args *args, const struct stats_result *result);

/* Largest zoom that is printed as a table. */
enum { STATS_ZOOM_ROWS = 64, STATS_ZOOM_KEYS = 16 };

#endif

/* SPDX-License-Identifier: MIT */
/* Input of `attend lab place`: the file of `attend stats --out`, and pairs of keys. */
#ifndef TOOLS_PLACE_FILES_H
#define TOOLS_PLACE_FILES_H

#include "io/io.h"
#include "lab/place/place_rows.h"
#include "shared/inputs.h"

/* The statistics that a row is placed by, in the order of struct lab_place_row. */
enum { PLACE_COLUMNS = 8 };

struct place_stats {
    const char *command, *path;
    struct io_tensor column[PLACE_COLUMNS];
    struct io_tensor top_keys; /* opened if pairs are requested */
    int64_t nb, hq, nq;
};

/*
 * Opens FILE.safetensors; with wants_pairs its top_keys too.  TOOL_OK, or TOOL_USAGE with
 * a message.  *stats must be closed in any case.
 */
int place_stats_open(const char *command, const char *path, int wants_pairs,
                     struct place_stats *stats);
void place_stats_close(struct place_stats *stats);

/* The rows of head (b, h): nq of them. */
void place_stats_rows(const struct place_stats *stats, int64_t b, int64_t h,
                      struct lab_place_row *rows);

/* TOOL_OK if q and k can be those of the statistics, else TOOL_USAGE with a message. */
int place_pairs_check(const struct place_stats *stats, const struct inputs *inputs);
/*
 * The best two keys of the chosen rows with their queries, into q [chosen][d] and
 * k [chosen][2][d].  0, or -1 after lab_misuse() where the scores are not those of the
 * file.
 */
int place_pairs_read(struct lab_session *session, const struct place_stats *stats,
                     const struct inputs *inputs, const struct lab_place_sample *sample,
                     double *q, double *k);
/* The factor of <q, k>. */
double place_scale(const struct inputs *inputs);

#endif

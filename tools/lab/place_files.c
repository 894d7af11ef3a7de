/* SPDX-License-Identifier: MIT */
#include "place_files.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "attend/stats.h"
#include "lab/measure/frames.h"

static const attend_stat columns[PLACE_COLUMNS] = {
    ATTEND_STAT_KEYS,       ATTEND_STAT_MAX,         ATTEND_STAT_MARGIN,
    ATTEND_STAT_TOP_WEIGHT, ATTEND_STAT_ENTROPY,     ATTEND_STAT_N_EFF,
    ATTEND_STAT_RAW_MEAN,   ATTEND_STAT_RAW_VARIANCE};
_Static_assert(sizeof(struct lab_place_row) == PLACE_COLUMNS * sizeof(double),
               "a row is its columns");

static int fail_shape(const struct place_stats *stats, const char *name,
                      const struct io_tensor *tensor, const char *reason)
{
    return tool_fail(stats->command, TOOL_USAGE, "--stats: %s: '%s' has shape %s: %s",
                     stats->path, name, shape_text(tensor->size, tensor->ndim).text,
                     reason);
}

/* `hint`: how the tensor gets into the file. */
static int open_tensor(const struct place_stats *stats, const char *name,
                       const char *hint, struct io_tensor *tensor)
{
    char spec[4096 + 64];
    struct io_error err;

    if ((size_t)snprintf(spec, sizeof spec, "%s:%s", stats->path, name) >= sizeof spec)
        return tool_fail(stats->command, TOOL_USAGE, "--stats: the name is too long");
    if (io_tensor_open(tensor, spec, 0, &err))
        return tool_fail(stats->command, TOOL_USAGE, "--stats: %s; %s", err.message,
                         hint);
    return TOOL_OK;
}

static int open_column(struct place_stats *stats, int x)
{
    struct io_tensor *const t = &stats->column[x];
    const struct io_tensor *const first = &stats->column[0];
    const char *const name = attend_stat_name(columns[x]);
    const int status =
        open_tensor(stats, name, "it should be what 'attend stats --out' wrote", t);

    if (status)
        return status;
    if (t->dtype != IO_F32 && t->dtype != IO_F64)
        return tool_fail(stats->command, TOOL_USAGE,
                         "--stats: %s: '%s' has dtype %s: f32 or f64 is needed",
                         stats->path, name, input_dtype_name(t->dtype));
    if (t->ndim < 1 || t->ndim > 3)
        return fail_shape(stats, name, t, "(b, hq, nq), (hq, nq) or (nq,) is needed");
    if (t->ndim != first->ndim ||
        memcmp(t->size, first->size, (size_t)t->ndim * sizeof t->size[0]))
        return fail_shape(stats, name, t, "it is not that of 'keys'");
    return TOOL_OK;
}

static int open_top_keys(struct place_stats *stats)
{
    struct io_tensor *const t = &stats->top_keys;
    const struct io_tensor *const keys = &stats->column[0];
    const int status =
        open_tensor(stats, "top_keys",
                    "--q and --k need it: write it with 'attend stats --top 2 --out'", t);

    if (status)
        return status;
    if (t->dtype != IO_I64)
        return tool_fail(stats->command, TOOL_USAGE,
                         "--stats: %s: 'top_keys' has dtype %s, not int64", stats->path,
                         input_dtype_name(t->dtype));
    if (t->ndim != keys->ndim + 1 ||
        memcmp(t->size, keys->size, (size_t)keys->ndim * sizeof t->size[0]))
        return fail_shape(stats, "top_keys", t, "it is not that of 'keys' and an axis");
    if (t->size[keys->ndim] < 2)
        return fail_shape(stats, "top_keys", t,
                          "two keys are needed: write them with 'attend stats --top 2'");
    return TOOL_OK;
}

int place_stats_open(const char *command, const char *path, int wants_pairs,
                     struct place_stats *stats)
{
    static const char end[] = ".safetensors";
    const size_t length = strlen(path), end_length = sizeof end - 1;
    int status = TOOL_OK;

    *stats = (struct place_stats){.command = command, .path = path};
    if (length < end_length || strcmp(path + length - end_length, end))
        return tool_fail(command, TOOL_USAGE, "--stats: '%s' is not FILE.safetensors",
                         path);
    for (int x = 0; x < PLACE_COLUMNS && !status; x++)
        status = open_column(stats, x);
    if (!status && wants_pairs)
        status = open_top_keys(stats);
    if (status)
        return status;
    const struct io_tensor *const t = &stats->column[0];
    stats->nq = t->size[t->ndim - 1];
    stats->hq = t->ndim > 1 ? t->size[t->ndim - 2] : 1;
    stats->nb = t->ndim > 2 ? t->size[0] : 1;
    return TOOL_OK;
}

void place_stats_close(struct place_stats *stats)
{
    for (int x = 0; x < PLACE_COLUMNS; x++)
        io_tensor_close(&stats->column[x]);
    io_tensor_close(&stats->top_keys);
}

/* Where row (b, h, i) is in a tensor whose last axes are h and i, with `more` behind. */
static int64_t offset_of(const struct io_tensor *t, int more, int64_t b, int64_t h,
                         int64_t i)
{
    const int last = t->ndim - 1 - more;

    return i * t->stride[last] + (last > 0 ? h * t->stride[last - 1] : 0) +
           (last > 1 ? b * t->stride[last - 2] : 0);
}

void place_stats_rows(const struct place_stats *stats, int64_t b, int64_t h,
                      struct lab_place_row *rows)
{
    for (int x = 0; x < PLACE_COLUMNS; x++) {
        const struct io_tensor *const t = &stats->column[x];
        for (int64_t i = 0; i < stats->nq; i++)
            ((double *)&rows[i])[x] = input_read_value(t, offset_of(t, 0, b, h, i));
    }
}

/* ---- pairs --------------------------------------------------------------- */

int place_pairs_check(const struct place_stats *stats, const struct inputs *inputs)
{
    const int64_t own[3] = {stats->nb, stats->hq, stats->nq};
    const int64_t *const q = inputs->io.q.size;

    if (q[0] == own[0] && q[1] == own[1] && q[2] == own[2])
        return TOOL_OK;
    return INPUTS_FAIL_SHAPE(inputs, INPUT_Q,
                             "b, hq, nq are %" PRId64 ", %" PRId64 ", %" PRId64
                             " but %s has %s",
                             q[0], q[1], q[2], stats->path, shape_text(own, 3).text);
}

double place_scale(const struct inputs *inputs)
{
    const double d = (double)inputs->io.q.size[3];

    return inputs->rule.scale_is_set ? inputs->rule.scale : 1 / sqrt(fmax(d, 1));
}

static void read_vector(const struct inputs *inputs, enum input which,
                        const attend_view *view, int64_t b, int64_t h, int64_t l,
                        double *to)
{
    const int64_t at = b * view->stride[0] + h * view->stride[1] + l * view->stride[2];

    for (int64_t c = 0; c < view->size[3]; c++)
        to[c] = input_read_value(&inputs->tensor[which], at + c * view->stride[3]);
}

/* Whether scale <q, k> is the score that the file has, but for rounding. */
static int check_score(struct lab_session *session, const struct inputs *inputs,
                       const double *q, const double *k, double score,
                       const int64_t at[3], int place)
{
    const int64_t d = inputs->io.q.size[3];
    const double scale = place_scale(inputs), found = scale * lab_dot(q, k, d);
    const double size = fabs(scale) * lab_norm(q, d) * lab_norm(k, d);

    if (fabs(found - score) <= 1e-4 * size + 1e-6)
        return 0;
    return lab_misuse(
        session,
        "--q, --k: row b=%" PRId64 " h=%" PRId64 " i=%" PRId64
        ": scale <q, k> of key %d of its best is %.6g, but --stats has %.6g: "
        "other tensors, another --scale, or a bias, ALiBi or softcap",
        at[0], at[1], at[2], place, found, score);
}

static int64_t key_of(const struct place_stats *stats, int64_t b, int64_t h, int64_t i,
                      int place)
{
    const struct io_tensor *const t = &stats->top_keys;

    return ((const int64_t *)
                t->data)[offset_of(t, 1, b, h, i) + place * t->stride[t->ndim - 1]];
}

int place_pairs_read(struct lab_session *session, const struct place_stats *stats,
                     const struct inputs *inputs, const struct lab_place_sample *sample,
                     double *q, double *k)
{
    const attend_view *const qs = &inputs->io.q, *const ks = &inputs->io.k;
    const int64_t d = qs->size[3], hk = sample->h / (qs->size[1] / ks->size[1]);

    for (int64_t x = 0; x < sample->chosen_count; x++) {
        const int64_t i = sample->chosen[x], at[3] = {sample->b, sample->h, i};
        const struct lab_place_row *const row = &sample->rows[i];
        read_vector(inputs, INPUT_Q, qs, sample->b, sample->h, i, q + x * d);
        for (int place = 0; place < 2; place++) {
            const int64_t j = key_of(stats, sample->b, sample->h, i, place);
            double *const to = k + (2 * x + place) * d;
            if (j < 0 || j >= ks->size[2])
                return lab_misuse(session,
                                  "--stats: top_keys of row b=%" PRId64 " h=%" PRId64
                                  " i=%" PRId64 ": %" PRId64 " is not a key of --k",
                                  at[0], at[1], at[2], j);
            read_vector(inputs, INPUT_K, ks, sample->b, hk, j, to);
            if (check_score(session, inputs, q + x * d, to,
                            row->max - (place ? row->margin : 0), at, place + 1))
                return -1;
        }
    }
    return 0;
}

/* SPDX-License-Identifier: MIT */
/* Classes of heads, from means over rows. */
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>

#include "base/base.h"
#include "base/error.h"
#include "base/float_env.h"
#include "base/published.h"
#include "core/tensor.h"

const char *attend_character_name(attend_character character)
{
    static const char *const names[ATTEND_CHARACTER_COUNT] = {
        [ATTEND_CHARACTER_FRAGILE_PAIR] = "fragile pair",
        [ATTEND_CHARACTER_DIFFUSE] = "diffuse",
        [ATTEND_CHARACTER_PREVIOUS] = "previous token",
        [ATTEND_CHARACTER_SINK] = "sink",
        [ATTEND_CHARACTER_LOCAL] = "local",
        [ATTEND_CHARACTER_COPY] = "copy",
        [ATTEND_CHARACTER_AVERAGE] = "average",
        [ATTEND_CHARACTER_FROZEN] = "frozen",
        [ATTEND_CHARACTER_MIXED] = "mixed",
    };

    return (int)character >= 0 && character < ATTEND_CHARACTER_COUNT ? names[character]
                                                                     : "unknown";
}

/* Column of each statistic in stats->rows; EINVAL if a required one is missing. */
static attend_status find_columns(const attend_stats *stats,
                                  int column[ATTEND_STAT_COUNT], attend_error *err)
{
    static const attend_stat wanted[] = ATTEND_HEAD_STATS;

    _Static_assert(ARRAY_LEN(wanted) == ATTEND_HEAD_STATS_COUNT, "the header counts");
    for (int x = 0; x < ATTEND_STAT_COUNT; x++)
        column[x] = -1;
    for (int c = 0; c < (int)stats->rows.size[3]; c++)
        if ((int)stats->columns[c] >= 0 && stats->columns[c] < ATTEND_STAT_COUNT)
            column[stats->columns[c]] = c;
    for (size_t x = 0; x < ARRAY_LEN(wanted); x++)
        if (column[wanted[x]] < 0)
            return attendi_fail(err, ATTEND_EINVAL, "stats.columns lacks %s",
                                attend_stat_name(wanted[x]));
    return ATTEND_OK;
}

static attend_status check_stats(const attend_stats *stats, int64_t b, int64_t h,
                                 attend_error *err)
{
    if (!stats->rows.data || !stats->columns)
        return attendi_fail(err, ATTEND_EINVAL, "stats.rows or stats.columns is NULL");
    if (b < 0 || b >= stats->rows.size[0])
        return attendi_fail(err, ATTEND_EINVAL, "b (%lld) is outside 0..%lld", LL(b),
                            LL(stats->rows.size[0] - 1));
    if (h < 0 || h >= stats->rows.size[1])
        return attendi_fail(err, ATTEND_EINVAL, "h (%lld) is outside 0..%lld", LL(h),
                            LL(stats->rows.size[1] - 1));
    return ATTEND_OK;
}

/*
 * The statistics of row i, indexed by attend_stat; false for a row without keys or with
 * NaN.
 */
static bool read_row(const attend_stats *stats, const int column[ATTEND_STAT_COUNT],
                     int64_t b, int64_t h, int64_t i, double value[ATTEND_STAT_COUNT])
{
    const attend_tensor *const rows = &stats->rows;
    const void *const row = attendi_tensor_row(rows, b, h, i);

    for (int x = 0; x < ATTEND_STAT_COUNT; x++)
        if (column[x] >= 0)
            value[x] = attendi_load(row, rows->dtype, column[x] * rows->stride[3]);
    return value[ATTEND_STAT_KEYS] >= 1 && !isnan(value[ATTEND_STAT_MAX]);
}

/* Adds the mass of the top keys of row i that stats->top_weights contains. */
static void add_top(const attend_stats *stats, int64_t b, int64_t h, int64_t i,
                    double top_weight, attend_head *sum)
{
    const attend_tensor *const top = &stats->top_weights;
    const int64_t known = top->data ? top->size[3] : 1;
    double mass = top_weight;

    sum->top_mass[0] += mass;
    for (int64_t x = 1; x < ATTEND_TOP_MAX; x++) {
        mass += x < known ? attendi_load(attendi_tensor_row(top, b, h, i), top->dtype,
                                         x * top->stride[3])
                          : NAN;
        sum->top_mass[x] += mass;
    }
}

static void add_row(const double value[ATTEND_STAT_COUNT], attend_head *sum,
                    int64_t *with_choice)
{
    const double keys = value[ATTEND_STAT_KEYS];

    sum->rows++;
    sum->keys += keys;
    sum->max += value[ATTEND_STAT_MAX];
    sum->n_eff += value[ATTEND_STAT_N_EFF];
    sum->sink1 += value[ATTEND_STAT_SINK1];
    sum->previous += value[ATTEND_STAT_PREVIOUS];
    sum->log_distance += value[ATTEND_STAT_LOG_DISTANCE];
    sum->raw_sd += sqrt(value[ATTEND_STAT_RAW_VARIANCE]);
    if (keys >= 2) {
        (*with_choice)++;
        sum->entropy_share += value[ATTEND_STAT_ENTROPY] / log(keys);
        sum->margin += value[ATTEND_STAT_MARGIN];
    }
}

static void divide(attend_head *sum, int64_t with_choice)
{
    const double rows = (double)sum->rows;

    sum->keys /= rows;
    sum->max /= rows;
    sum->n_eff /= rows;
    sum->sink1 /= rows;
    sum->previous /= rows;
    sum->log_distance /= rows;
    sum->raw_sd /= rows;
    sum->entropy_share /= (double)with_choice;
    sum->margin /= (double)with_choice;
    for (int x = 0; x < ATTEND_TOP_MAX; x++)
        sum->top_mass[x] /= rows;
}

static attend_status read_head(const attend_stats *given, int64_t b, int64_t h,
                               attend_head *head, attend_error *err)
{
    attend_stats own;
    const attend_stats *const stats = &own;
    int column[ATTEND_STAT_COUNT];
    double value[ATTEND_STAT_COUNT];
    attend_head sum = {0};
    int64_t with_choice = 0;

    if (!given || !head)
        return attendi_fail(err, ATTEND_EINVAL, "%s is NULL", given ? "head" : "stats");
    TRY(attendi_stats_request_read(given, &own, err));
    TRY(check_stats(stats, b, h, err));
    TRY(find_columns(stats, column, err));
    for (int64_t i = 0; i < stats->rows.size[2]; i++) {
        if (!read_row(stats, column, b, h, i, value))
            continue;
        add_row(value, &sum, &with_choice);
        add_top(stats, b, h, i, value[ATTEND_STAT_TOP_WEIGHT], &sum);
    }
    divide(&sum, with_choice);
    return attendi_head_store(&sum, head, err);
}

attend_status attend_head_read(const attend_stats *stats, int64_t b, int64_t h,
                               attend_head *head, attend_error *err)
{
    const uint64_t float_env = set_default_float_env();
    const attend_status status = read_head(stats, b, h, head, err);

    restore_float_env(float_env);
    return status;
}

/* Writes the reason; returns true. */
__attribute__((format(printf, 3, 4))) static bool because(char *reason, size_t size,
                                                          const char *format, ...)
{
    va_list args;

    va_start(args, format);
    if (reason && size > 0)
        vsnprintf(reason, size, format, args);
    va_end(args);
    return true;
}

/* Number of keys with nearly equal weights that hold nearly all of the mass; 0: none. */
static int averaged(const attend_head *head)
{
    const double m = round(head->n_eff);

    return m >= 2 && m <= ATTEND_TOP_MAX && head->top_mass[(int)m - 1] > ATTEND_HEAD_TOP
               ? (int)m
               : 0;
}

/* A typical distance, and its upper bound in a local head. */
static double typical_distance(const attend_head *head)
{
    return expm1(head->log_distance);
}
static double local_distance(const attend_head *head)
{
    return fmin(sqrt(head->keys), head->keys / 8);
}

static bool has_character(const attend_head *head, double noise, attend_character which,
                          char *reason, size_t size)
{
    const double score_noise = noise * hypot(head->max, head->max - head->margin);
    const double frozen = sqrt(2 * log(head->keys));
    const int m = averaged(head);

    switch (which) {
    case ATTEND_CHARACTER_FRAGILE_PAIR:
        return m == 2 && head->margin < score_noise &&
               because(reason, size,
                       "2 keys hold %.3g > %g, margin %.3g < noise %.3g of the scores",
                       head->top_mass[1], ATTEND_HEAD_TOP, head->margin, score_noise);
    case ATTEND_CHARACTER_DIFFUSE:
        return head->entropy_share > ATTEND_HEAD_DIFFUSE &&
               because(reason, size, "H/ln n %.3g > %g", head->entropy_share,
                       ATTEND_HEAD_DIFFUSE);
    case ATTEND_CHARACTER_PREVIOUS:
        return head->previous > ATTEND_HEAD_PREVIOUS &&
               because(reason, size, "mass %.3g > %g on it", head->previous,
                       ATTEND_HEAD_PREVIOUS);
    case ATTEND_CHARACTER_SINK:
        return head->sink1 > ATTEND_HEAD_SINK &&
               because(reason, size, "mass %.3g > %g on the first key", head->sink1,
                       ATTEND_HEAD_SINK);
    case ATTEND_CHARACTER_LOCAL:
        return typical_distance(head) < local_distance(head) &&
               because(reason, size, "typical distance %.3g < %.3g of %.4g keys",
                       typical_distance(head), local_distance(head), head->keys);
    case ATTEND_CHARACTER_COPY:
        return head->top_mass[0] > ATTEND_HEAD_TOP &&
               because(reason, size, "top weight %.3g > %g", head->top_mass[0],
                       ATTEND_HEAD_TOP);
    case ATTEND_CHARACTER_AVERAGE:
        return m > 0 && because(reason, size, "%d keys hold %.3g > %g, N_eff %.3g", m,
                                head->top_mass[m - 1], ATTEND_HEAD_TOP, head->n_eff);
    case ATTEND_CHARACTER_FROZEN:
        return head->raw_sd > frozen &&
               because(reason, size, "sd of the scores %.3g > %.3g = sqrt(2 ln n)",
                       head->raw_sd, frozen);
    default:
        return head->rows > 0
                   ? because(reason, size, "top weight %.3g, N_eff %.3g, H/ln n %.3g",
                             head->top_mass[0], head->n_eff, head->entropy_share)
                   : because(reason, size, "no row has a key");
    }
}

static attend_character character_of(const attend_head *given, double noise, char *reason,
                                     size_t size)
{
    attend_head head;
    attend_error err = {.message = "head is NULL"};
    int which = 0;

    if (!given || attendi_head_load(given, &head, &err) != ATTEND_OK) {
        because(reason, size, "%s", err.message);
        return ATTEND_CHARACTER_MIXED;
    }
    while (!has_character(&head, noise, (attend_character)which, reason, size))
        which++;
    return (attend_character)which;
}

attend_character attend_head_character(const attend_head *head, double noise,
                                       char *reason, size_t size)
{
    const uint64_t float_env = set_default_float_env();
    const attend_character character = character_of(head, noise, reason, size);

    restore_float_env(float_env);
    return character;
}

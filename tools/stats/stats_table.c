/* SPDX-License-Identifier: MIT */
/* `attend stats` for people: tables of heads, rows, columns and rectangles. */
#include "stats_tool.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

/* A number in seven characters after a blank, "-" for none. */
static void print_number(double value)
{
    if (isnan(value))
        printf(" %7s", "-");
    else if (isinf(value))
        printf(" %7s", value > 0 ? "inf" : "-inf");
    else if (value != 0 && fabs(value) < 0.001)
        printf(" %7.1e", value);
    else
        printf(" %7.*f", fabs(value) < 10 ? 3 : fabs(value) < 1000 ? 1 : 0, value);
}

static void print_head(const struct stats_args *args, const struct stats_result *r,
                       int64_t b, int64_t h)
{
    static const attend_stat after[] = {ATTEND_STAT_TOP_WEIGHT, ATTEND_STAT_MARGIN,
                                        ATTEND_STAT_SINK1,      ATTEND_STAT_SELF,
                                        ATTEND_STAT_PREVIOUS,   ATTEND_STAT_DISTANCE};
    struct stats_head means;

    stats_head_read(r, args->noise, b, h, &means);
    printf("%3" PRId64 " %3" PRId64, b, h);
    print_number(means.mean[ATTEND_STAT_KEYS]);
    print_number(means.head.entropy_share);
    print_number(means.mean[ATTEND_STAT_KEYS_EFF]);
    print_number(means.mean[ATTEND_STAT_N_EFF]);
    for (size_t x = 0; x < sizeof after / sizeof after[0]; x++)
        print_number(means.mean[after[x]]);
    if (args->top)
        print_number(means.head.top_mass[args->top - 1]);
    printf("  %s: %s\n", attend_character_name(means.character), means.reason);
}

static void print_heads(const struct stats_args *args, const struct stats_result *r)
{
    printf("%3s %3s %7s %7s %7s %7s %7s %7s %7s %7s %7s %7s", "b", "h", "keys", "H/ln n",
           "exp H", "N_eff", "top", "margin", "sink1", "self", "prev", "dist");
    if (args->top)
        printf("   top %d", args->top);
    printf("  character\n");
    for (int64_t b = 0; b < r->nb; b++)
        for (int64_t h = 0; h < r->hq; h++)
            print_head(args, r, b, h);
}

static void print_row(const struct stats_args *args, const struct stats_result *r,
                      int64_t b, int64_t h, int64_t i)
{
    const int64_t at = (b * r->hq + h) * r->nq + i;

    printf("%3" PRId64 " %3" PRId64 " %6" PRId64, b, h, i);
    for (int c = 0; c < STATS_ROW_COLUMNS; c++)
        print_number(stats_element(&r->rows.rows, b, h, i, c));
    for (int x = 0; x < args->top; x++) {
        const int64_t key = r->rows.top_keys[at * ATTEND_TOP_MAX + x];

        if (key >= 0)
            printf("  %" PRId64 ":%.3f", key,
                   stats_element(&r->rows.top_weights, b, h, i, x));
    }
    printf("\n");
}

static void print_rows(const struct stats_args *args, const struct stats_result *r)
{
    printf("%3s %3s %6s %7s %7s %7s %7s %7s %7s %7s %7s %7s %7s %7s %7s %7s %7s%s\n", "b",
           "h", "i", "keys", "max", "lse", "H", "exp H", "N_eff", "top", "margin",
           "sink1", "sink4", "self", "prev", "dist", "logdist",
           args->top ? "  key:weight" : "");
    for (int64_t b = 0; b < r->nb; b++)
        for (int64_t h = 0; h < r->hq; h++)
            for (int64_t i = 0; i < r->nq; i++)
                print_row(args, r, b, h, i);
}

static int is_heavier(double a, double b) { return a > b || (isnan(b) && !isnan(a)); }

/*
 * The keys of the largest masses of a head, largest first, of equal ones the earlier;
 * masses that are NaN come last.
 */
static int find_heaviest(const attend_tensor *mass, int64_t b, int64_t h,
                         int64_t heaviest[ATTEND_TOP_MAX])
{
    int found = 0;

    for (int64_t j = 0; j < mass->size[3]; j++) {
        const double value = stats_element(mass, b, h, 0, j);
        int at = found;

        for (;
             at > 0 && is_heavier(value, stats_element(mass, b, h, 0, heaviest[at - 1]));
             at--)
            if (at < ATTEND_TOP_MAX)
                heaviest[at] = heaviest[at - 1];
        if (at < ATTEND_TOP_MAX) {
            heaviest[at] = j;
            found += found < ATTEND_TOP_MAX;
        }
    }
    return found;
}

static void print_columns(const char *what, const attend_tensor *mass)
{
    printf("\nheaviest keys of each head, key:mass from %s\n", what);
    for (int64_t b = 0; b < mass->size[0]; b++)
        for (int64_t h = 0; h < mass->size[1]; h++) {
            int64_t heaviest[ATTEND_TOP_MAX];
            const int found = find_heaviest(mass, b, h, heaviest);

            printf("%3" PRId64 " %3" PRId64, b, h);
            for (int x = 0; x < found; x++)
                printf("  %" PRId64 ":%.4g", heaviest[x],
                       stats_element(mass, b, h, 0, heaviest[x]));
            printf("\n");
        }
}

static void print_zoom(const struct stats_args *args, const attend_tensor *zoom)
{
    for (int64_t b = 0; b < zoom->size[0]; b++)
        for (int64_t h = 0; h < zoom->size[1]; h++) {
            printf("\nweights of b %" PRId64 ", h %" PRId64
                   ": queries down, keys to the right\n       ",
                   b, h);
            for (int64_t j = 0; j < zoom->size[3]; j++)
                printf(" %7" PRId64, args->zoom.key_first + j);
            for (int64_t i = 0; i < zoom->size[2]; i++) {
                printf("\n%7" PRId64, args->zoom.first + i);
                for (int64_t j = 0; j < zoom->size[3]; j++)
                    print_number(stats_element(zoom, b, h, i, j));
            }
            printf("\n");
        }
}

void stats_print_tables(const struct stats_args *args, const struct stats_result *r)
{
    if (args->wants_rows)
        print_rows(args, r);
    else
        print_heads(args, r);
    if (args->wants_columns)
        print_columns("all queries", &r->inspection.column_mass);
    if (args->last) {
        char what[64];

        snprintf(what, sizeof what, "the last %" PRId64 " queries", args->last);
        print_columns(what, &r->inspection.column_last);
    }
    if (args->zoom.is_wanted && r->inspection.zoom.size[2] <= STATS_ZOOM_ROWS &&
        r->inspection.zoom.size[3] <= STATS_ZOOM_KEYS)
        print_zoom(args, &r->inspection.zoom);
}

/* SPDX-License-Identifier: MIT */
#include "lab/place/place.h"

#include <math.h>

#include "attend/theory.h"

int lab_place_counts(const struct lab_place_row *row)
{
    return row->keys >= 2 && isfinite(row->max) && isfinite(row->margin) &&
           isfinite(row->entropy) && isfinite(row->n_eff) && isfinite(row->raw_mean) &&
           isfinite(row->raw_variance) && isfinite(row->top_weight);
}

/* The mean of the two largest scores above that of the others. */
static double scale_of(const struct lab_place_row *row)
{
    const double n = row->keys, pair = 2 * row->max - row->margin;

    return n > 2 ? pair / 2 - (n * row->raw_mean - pair) / (n - 2) : NAN;
}

struct lab_place_point lab_place_row(const struct lab_place_row *row, double noise)
{
    const double n = row->keys, scale = scale_of(row);
    const double score_noise = noise * hypot(row->max, row->max - row->margin);

    return (struct lab_place_point){
        .spread = sqrt(row->raw_variance),
        .freezing = attend_theory_freezing_spread(n),
        .scale = scale,
        .scale_min = log(n),
        .score_noise = score_noise,
        .alpha = score_noise * score_noise / (4 * scale * scale),
        .scale_max = scale / score_noise,
        .leak = 1 - row->top_weight * (1 + exp(-row->margin)),
        .leak_theory = attend_theory_average_leak(n, 2, scale),
    };
}

static void add(struct lab_place_point *sum, const struct lab_place_point *point,
                int has_window)
{
    sum->spread += point->spread;
    sum->freezing += point->freezing;
    sum->score_noise += point->score_noise;
    if (!has_window)
        return;
    sum->scale += point->scale;
    sum->scale_min += point->scale_min;
    sum->alpha += point->alpha;
    sum->scale_max += point->scale_max;
    sum->leak += point->leak;
    sum->leak_theory += point->leak_theory;
}

static void divide(struct lab_place_head *head)
{
    struct lab_place_point *const mean = &head->mean;
    const double rows = (double)head->rows, windows = (double)head->window_rows;

    head->keys /= rows;
    head->condensed /= rows;
    head->fragile /= rows;
    mean->spread /= rows;
    mean->freezing /= rows;
    mean->score_noise /= rows;
    head->usable /= windows;
    mean->scale /= windows;
    mean->scale_min /= windows;
    mean->alpha /= windows;
    mean->scale_max /= windows;
    mean->leak /= windows;
    mean->leak_theory /= windows;
}

struct lab_place_head lab_place_head(const struct lab_place_row *rows, int64_t count,
                                     double noise)
{
    struct lab_place_head head = {.rows = 0};

    for (int64_t i = 0; i < count; i++) {
        if (!lab_place_counts(&rows[i]))
            continue;
        const struct lab_place_point point = lab_place_row(&rows[i], noise);
        const int has_window = rows[i].keys > 2;
        head.rows++;
        head.window_rows += has_window;
        head.keys += rows[i].keys;
        head.condensed += point.spread > point.freezing;
        head.usable +=
            has_window && point.scale > point.scale_min && point.score_noise < 1;
        head.fragile += rows[i].margin < point.score_noise;
        add(&head.mean, &point, has_window);
    }
    divide(&head);
    return head;
}

int lab_place_is_condensed(const struct lab_place_head *head)
{
    return head->mean.spread > head->mean.freezing;
}

int lab_place_is_sharp(const struct lab_place_head *head)
{
    return head->mean.scale > head->mean.scale_min;
}

int lab_place_is_steady(const struct lab_place_head *head)
{
    return head->mean.score_noise < 1;
}

struct lab_place_law lab_place_law(const struct lab_place_row *row)
{
    const double n = row->keys;
    /* raw_variance is over n; that of which n scores are a sample is over n - 1. */
    const double S = sqrt(row->raw_variance * n / (n - 1));

    return (struct lab_place_law){.entropy = row->entropy,
                                  .entropy_law = attend_theory_random_entropy(n, S),
                                  .squares = 1 / row->n_eff,
                                  .squares_law = attend_theory_random_sum_squares(n, S)};
}

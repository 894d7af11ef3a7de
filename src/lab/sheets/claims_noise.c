/* SPDX-License-Identifier: MIT */
/* Claims about keys whose magnitude varies. */
#include <math.h>

#include "lab/sheets/claims.h"

/* One head with the query C (mu_a + mu_b). */
static int draw_one(const struct lab_exercise *exercise, const struct lab_point *point,
                    struct lab_drawn *drawn)
{
    const struct lab_pair_query query = {point->scale, point->scale};
    return lab_exercise_draw(exercise, point, 1, 1, &query, drawn);
}

LAB_CLAIM(noise_law)
{
    struct lab_drawn drawn;
    if (draw_one(exercise, point, &drawn))
        return -1;
    const double off = fabs(drawn.gamma_mean - 1) / drawn.gamma_mean_se;
    lab_reading_equal(reading, drawn.gamma_variance, 0.5);
    reading->se = drawn.gamma_variance_se;
    /* The mean counts in its own standard errors. */
    reading->error = fmax(reading->error, off * reading->se);
    return 0;
}

LAB_CLAIM(noise_both)
{
    const struct lab_pair_query query = {point->scale, point->scale};
    const double square = point->scale * point->scale;
    const double a =
        lab_exercise_score_covariance(exercise, point->alpha, 0, query, query);
    const double b =
        lab_exercise_score_covariance(exercise, point->alpha, 1, query, query);
    lab_reading_equal(reading, b / square, 0.5);
    reading->error = fmax(reading->error, fabs(a / square - 0.5));
    return 0;
}

LAB_CLAIM(two_term)
{
    struct lab_drawn drawn;
    if (draw_one(exercise, point, &drawn))
        return -1;
    lab_reading_equal(reading, drawn.two_term, 0);
    return 0;
}

LAB_CLAIM(one_head_spread)
{
    struct lab_drawn drawn;
    if (draw_one(exercise, point, &drawn))
        return -1;
    /* Its own spread, not the mean's distance: an average that is never met. */
    lab_reading_above(reading, drawn.trace[0], 0);
    return 0;
}

LAB_CLAIM(steadier)
{
    const struct lab_pair_query two[2] = {{exercise->unit, 0}, {0, exercise->unit}};
    struct lab_drawn one_head, two_heads;
    if (draw_one(exercise, point, &one_head) ||
        lab_exercise_draw(exercise, point, 1, 2, two, &two_heads))
        return -1;
    const double ratio = two_heads.trace_mean / one_head.trace[0];
    lab_reading_below(reading, ratio, 1);
    return 0;
}

LAB_CLAIM(pair_leak)
{
    struct lab_drawn drawn;
    if (draw_one(exercise, point, &drawn))
        return -1;
    lab_reading_equal(reading, drawn.leak_most, 0);
    return 0;
}

/* SPDX-License-Identifier: MIT */
#include "lab/place/place_rows.h"

#include <math.h>
#include <stdlib.h>

#include "attend/theory.h"
#include "lab/measure/forward.h"
#include "lab/measure/frames.h"
#include "lab/measure/trials.h"
#include "lab/measure/moments.h"
#include "lab/place/place.h"

/* ---- pairs ----------------------------------------------------------------- */

/* Pairs measured at a time: each has two values. */
enum { GROUP = LAB_TRIAL_VALUES_MAX / 2 };

struct group {
    const struct lab_pairs *pairs;
    int64_t first, count;
};

/* The share of the first key that is outside 0.1 .. 0.9 is lopsided. */
static const double lopsided = 0.1;

static attend_status pairs_trial(const void *arg, struct lab_worker *worker,
                                 uint64_t number, double *values)
{
    const struct group *const group = arg;
    const struct lab_pairs *const pairs = group->pairs;
    const int64_t d = pairs->d, draws = 2 * pairs->count, keys = 2 * group->count;
    double *const k = worker->scratch, *const x = k + keys * d, *const w = x + keys;

    lab_normals(worker->seed, worker->stream,
                number * (uint64_t)draws + 2 * (uint64_t)group->first, x, keys);
    for (int64_t j = 0; j < keys; j++)
        lab_noisy_key(pairs->k + (2 * group->first + j) * d, 1 + pairs->noise * x[j], 0,
                      NULL, d, k + j * d);
    const struct lab_problem problem =
        LAB_PROBLEM(2, d, pairs->q + group->first * d, k, pairs->scale,
                    .nb = group->count, .weights = w);
    const attend_status status = lab_forward(worker->ctx, &problem, &worker->err);
    for (int64_t p = 0; p < group->count && status == ATTEND_OK; p++) {
        values[2 * p] = w[2 * p + 1] > w[2 * p];
        values[2 * p + 1] = w[2 * p] < lopsided || w[2 * p] > 1 - lopsided;
    }
    return status;
}

static struct lab_pair predict(const struct lab_pairs *pairs, int64_t p)
{
    const int64_t d = pairs->d;
    const double *const q = pairs->q + p * d, *const k = pairs->k + 2 * p * d;
    const double first = pairs->scale * lab_dot(q, k, d);
    const double second = pairs->scale * lab_dot(q, k + d, d);
    const attend_theory_law law = {first - second, pairs->noise * hypot(first, second),
                                   -INFINITY};

    return (struct lab_pair){
        .margin = law.mean,
        .score_noise = law.sd,
        .swap_theory = law.sd > 0 ? attend_theory_weight_cdf(law, 0.5) : law.mean < 0,
        .outside_theory = attend_theory_weight_outside(law, lopsided)};
}

int lab_pairs_measure(struct lab_session *session, const struct lab_pairs *pairs,
                      struct lab_pair *to)
{
    for (int64_t first = 0; first < pairs->count; first += GROUP) {
        const int64_t left = pairs->count - first;
        const struct group group = {
            .pairs = pairs, .first = first, .count = left < GROUP ? left : GROUP};
        struct lab_moments moments[LAB_TRIAL_VALUES_MAX];
        if (lab_measure_trials(session, pairs_trial, &group, pairs->stream, pairs->trials,
                               (int)(2 * group.count), 2 * group.count * (pairs->d + 2),
                               moments))
            return -1;
        for (int64_t p = 0; p < group.count; p++) {
            to[first + p] = predict(pairs, first + p);
            to[first + p].swap = moments[2 * p];
            to[first + p].outside = moments[2 * p + 1];
        }
    }
    return 0;
}

/* ---- the experiment -------------------------------------------------------- */

static const struct lab_flag flags[] = {
    LAB_FLAG_INTEGER("b", NAN, 0, INFINITY, "batch"),
    LAB_FLAG_INTEGER("h", NAN, 0, INFINITY, "query head"),
    LAB_FLAG_REAL("noise", 0.1, 0, INFINITY, "relative sd of the lengths of keys"),
};

enum { BATCH, HEAD };

const struct lab_experiment lab_place_tensors = {
    .name = "place",
    .title = "Heads of tensors on the maps of the laboratory",
    .shows = "Above S = sqrt(2 ln n) random scores condense on a few keys.  A head "
             "averages two keys well for ln n < C < 1/(2 sqrt alpha): below, other keys "
             "leak in; above, noise decides between the two.",
    .answers = "",
    LAB_FLAGS(flags),
};

void lab_place_choose(struct lab_place_sample *sample, int64_t wanted)
{
    int64_t counted = 0, index = 0;

    for (int64_t i = 0; i < sample->count; i++)
        counted += lab_place_counts(&sample->rows[i]);
    sample->chosen_count = 0;
    for (int64_t i = 0; i < sample->count; i++)
        if (lab_place_counts(&sample->rows[i]) &&
            lab_is_sampled(index++, counted, wanted))
            sample->chosen[sample->chosen_count++] = i;
}

/* ---- figures ------------------------------------------------------------- */

void lab_place_figures_open(struct lab_run *run, int pairs,
                            struct lab_place_figures *figures)
{
    *figures = (struct lab_place_figures){
        .keys_most = 4, .entropy_most = 1, .window_least = 1, .window_most = 1};
    figures->phase = lab_plot(
        run, "spread", "Spread of the scores, by number of keys", "n (keys of a row)",
        "S (spread of the scores)", LAB_LOG_X,
        "A point is a head: the mean of S over its rows, at the n whose sqrt(2 ln n) is "
        "the mean over its rows. Random scores above the line condense on a few keys.");
    figures->spread = lab_series_add(figures->phase, LAB_POINTS, "spread");
    figures->condensed = lab_series_add(figures->phase, LAB_POINTS, "condensed");
    figures->entropy =
        lab_plot(run, "entropy", "Entropy beside that of random scores",
                 "entropy of random scores of this S, n", "entropy of the head", 0,
                 "Below the line the weights are on fewer keys than the spread of the "
                 "scores alone explains, above it on more.");
    figures->law = lab_series_add(figures->entropy, LAB_POINTS, "heads");
    figures->window =
        lab_plot(run, "window", "The window of usable scales", "C / ln n (scale)",
                 "T (noise of the score difference)", LAB_LOG_X | LAB_LOG_Y,
                 "noise = %g. Left of 1 other keys leak into the average of the best "
                 "two; above 1, where C > 1/(2 sqrt alpha), noise decides between them. "
                 "Usable is right and below.",
                 lab_real(run, "noise"));
    figures->usable = lab_series_add(figures->window, LAB_POINTS, "usable");
    figures->leaks = lab_series_add(figures->window, LAB_POINTS, "leaks");
    figures->noisy = lab_series_add(figures->window, LAB_POINTS, "noise decides");
    if (!pairs)
        return;
    figures->pairs = lab_plot(run, "pairs", "The best two keys change places",
                              "margin / T", "probability", 0,
                              "noise = %g. A point is a row: its best two keys, measured "
                              "with noise in their lengths. Fragile pairs are left of 1.",
                              lab_real(run, "noise"));
    figures->swap = lab_measured_add(figures->pairs, "");
}

void lab_place_figures_close(struct lab_place_figures *figures)
{
    struct lab_series *const freezing =
        lab_series_add(figures->phase, LAB_LINE, "sqrt(2 ln n)");
    const double most = figures->window_most * 2, least = figures->window_least / 2;

    for (double n = 2; n <= 2 * figures->keys_most; n *= 1.125)
        lab_series_point(freezing, n, attend_theory_freezing_spread(n), 0);
    lab_line_add(figures->entropy, "equal", 0, 0, figures->entropy_most,
                 figures->entropy_most);
    lab_line_add(figures->window, "C = ln n", 1, least, 1, most);
    lab_line_add(figures->window, "C = 1/(2 sqrt alpha)", least, 1, most, 1);
    struct lab_series *const law = lab_theory_add(figures->pairs, "");
    for (double x = 0; x <= fmin(fmax(figures->swap_most, 2), 5); x += 0.05)
        lab_series_point(law, x, attend_theory_normal_cdf(-x), 0);
}

static void add_points(struct lab_place_figures *figures,
                       const struct lab_place_head *head)
{
    const struct lab_place_point *const mean = &head->mean;
    const double keys = exp(mean->freezing * mean->freezing / 2);
    const double scale = mean->scale / mean->scale_min;

    lab_series_point(lab_place_is_condensed(head) ? figures->condensed : figures->spread,
                     keys, mean->spread, 0);
    figures->keys_most = fmax(figures->keys_most, keys);
    if (!(scale > 0) || !(mean->score_noise > 0)) /* no third key, or no noise */
        return;
    lab_series_point(!lab_place_is_sharp(head)   ? figures->leaks
                     : lab_place_is_steady(head) ? figures->usable
                                                 : figures->noisy,
                     scale, mean->score_noise, 0);
    figures->window_least = fmin(figures->window_least, fmin(scale, mean->score_noise));
    figures->window_most = fmax(figures->window_most, fmax(scale, mean->score_noise));
}

/* ---- rows ---------------------------------------------------------------- */

/* A row of head `at`: theory and measurement, NaN if absent. */
static void emit(struct lab_run *run, const struct lab_place_sample *at,
                 const char *quantity, struct lab_found found)
{
    struct lab_setting head = lab_own(run);

    head.at[BATCH] = (double)at->b;
    head.at[HEAD] = (double)at->h;
    lab_emit(run, quantity, &head, found);
}

static void emit_places(struct lab_run *run, const struct lab_place_sample *at,
                        const struct lab_place_head *head)
{
    const struct lab_place_point *const mean = &head->mean;

    emit(run, at, "rows", lab_sure(NAN, (double)head->rows));
    emit(run, at, "keys", lab_sure(NAN, head->keys));
    emit(run, at, "spread", lab_sure(NAN, mean->spread));
    emit(run, at, "freezing_spread", lab_sure(mean->freezing, NAN));
    emit(run, at, "condensed_share", lab_sure(NAN, head->condensed));
    emit(run, at, "scale", lab_sure(NAN, mean->scale));
    emit(run, at, "scale_min", lab_sure(mean->scale_min, NAN));
    emit(run, at, "scale_max", lab_sure(mean->scale_max, NAN));
    emit(run, at, "alpha", lab_sure(mean->alpha, NAN));
    emit(run, at, "score_noise", lab_sure(mean->score_noise, NAN));
    emit(run, at, "usable_share", lab_sure(NAN, head->usable));
    emit(run, at, "fragile_share", lab_sure(NAN, head->fragile));
}

/* A law that the head need not obey: its distance is shown. */
static struct lab_found beside(double law, double measured, double se)
{
    return lab_near(LAB_MODEL, law, (struct lab_estimate){.value = measured, .se = se});
}

/* Means over rows, with the standard error of the mean distance. */
struct law_means {
    struct lab_moments measured, law, distance;
};

static void add_law(struct law_means *means, double measured, double law)
{
    lab_moments_add(&means->measured, measured);
    lab_moments_add(&means->law, law);
    lab_moments_add(&means->distance, measured - law);
}

static struct lab_found found_law(const struct law_means *means)
{
    return beside(means->law.mean, means->measured.mean,
                  lab_moments_mean_se(&means->distance));
}

static void emit_laws(struct lab_run *run, const struct lab_place_sample *at,
                      const struct lab_place_head *head,
                      struct lab_place_figures *figures)
{
    struct law_means entropy = {.law = {.count = 0}}, squares = entropy;

    for (int64_t x = 0; x < at->chosen_count; x++) {
        const struct lab_place_law law = lab_place_law(&at->rows[at->chosen[x]]);
        if (lab_stopped(&run->session))
            return;
        lab_report_progress(&run->session, x + 1, at->chosen_count);
        add_law(&entropy, law.entropy, law.entropy_law);
        add_law(&squares, law.squares, law.squares_law);
    }
    emit(run, at, "entropy", found_law(&entropy));
    emit(run, at, "sum_squares", found_law(&squares));
    emit(run, at, "leak", beside(head->mean.leak_theory, head->mean.leak, 0));
    lab_series_estimate(
        figures->law, entropy.law.mean,
        (struct lab_estimate){.value = entropy.measured.mean,
                              .se = lab_moments_mean_se(&entropy.distance)});
    figures->entropy_most =
        fmax(figures->entropy_most, 1.05 * fmax(entropy.law.mean, entropy.measured.mean));
}

/*
 * The means over pairs of theory and of measurements.  The error is that
 * of each pair by itself; where that rests on few events, the interval takes all trials
 * for alike, which makes it wider.
 */
static struct lab_found mean_of_pairs(const struct lab_pair *pair, int64_t count,
                                      int outside)
{
    struct lab_estimate mean = {.value = 0};
    double theory = 0, variance = 0, events = 0, rarer = 0, trials = 0;

    for (int64_t p = 0; p < count; p++) {
        const struct lab_moments *const seen = outside ? &pair[p].outside : &pair[p].swap;
        const double se = lab_moments_probability_se(seen), n = (double)seen->count;
        theory +=
            (outside ? pair[p].outside_theory : pair[p].swap_theory) / (double)count;
        variance += se * se;
        events += n * seen->mean;
        rarer += n * fmin(seen->mean, 1 - seen->mean);
        trials += n;
    }
    mean.value = events / trials;
    mean.se = sqrt(variance) / (double)count;
    mean.rare = rarer < LAB_RARE;
    if (mean.rare) {
        const struct lab_interval interval =
            lab_interval_probability(llround(events), (int64_t)trials);
        mean.low = interval.low;
        mean.high = interval.high;
    }
    return lab_exact(theory, mean);
}

static int emit_pairs(struct lab_run *run, const struct lab_place_sample *at,
                      const struct lab_pairs *pairs, struct lab_place_figures *figures)
{
    struct lab_pair *const pair = calloc((size_t)pairs->count + 1, sizeof *pair);

    if (!pair)
        return lab_fail(&run->session, "out of memory for %lld pairs",
                        (long long)pairs->count);
    const int failed = lab_pairs_measure(&run->session, pairs, pair);
    for (int64_t p = 0; p < pairs->count && !failed; p++) {
        const double x = pair[p].margin / pair[p].score_noise;
        if (!(x >= 0 && x <= 5))
            continue;
        lab_series_point(figures->swap, x, pair[p].swap.mean,
                         lab_moments_probability_se(&pair[p].swap));
        figures->swap_most = fmax(figures->swap_most, x);
    }
    if (!failed && !lab_stopped(&run->session)) {
        emit(run, at, "p_swap", mean_of_pairs(pair, pairs->count, 0));
        emit(run, at, "p_outside_10_90", mean_of_pairs(pair, pairs->count, 1));
    }
    free(pair);
    return failed;
}

int lab_place_emit(struct lab_run *run, const struct lab_place_sample *sample,
                   const struct lab_pairs *pairs, struct lab_place_figures *figures,
                   struct lab_place_head *head)
{
    *head = lab_place_head(sample->rows, sample->count, lab_real(run, "noise"));
    if (lab_stopped(&run->session))
        return 0;
    emit_places(run, sample, head);
    if (sample->chosen_count == 0)
        return 0;
    add_points(figures, head);
    emit_laws(run, sample, head, figures);
    return pairs && pairs->count ? emit_pairs(run, sample, pairs, figures) : 0;
}

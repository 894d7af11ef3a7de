/* SPDX-License-Identifier: MIT */
/* Copying one value, on a row of scores: gaps (T1), and those of floating point (T2). */
#include "lab/experiments/parts.h"

#include <math.h>
#include <string.h>

#include "attend/theory.h"
#include "lab/measure/forward.h"
#include "lab/measure/frames.h"
#include "lab/setups/keys.h"

struct gap_search {
    struct lab_run *run;
    double *scores;
    int64_t n;
};

/* The logit of the leak, which falls with the gap. */
static int leak_at(void *arg, double gap, double *logit)
{
    const struct gap_search *const search = arg;
    const double one = 1;
    double leak;
    struct lab_row_stats stats;
    const struct lab_problem problem =
        LAB_PROBLEM(search->n, 1, &one, search->scores, 1, .stats = &stats, .wanted = 1,
                    .rest = &leak);

    search->scores[0] = gap;
    if (lab_measure(&search->run->session, search->run->ctx, &problem))
        return -1;
    *logit = log(leak / stats.first);
    return 0;
}

static int emit_gap(struct lab_run *run, double *scores)
{
    const double n = lab_real(run, "n"), eps = lab_real(run, "eps");
    struct gap_search search = {run, scores, (int64_t)n};
    double gap;

    if (lab_reach(leak_at, &search, 1, attend_theory_logit(eps), &gap))
        return -1;
    lab_emit_own(run, "gap_needed", lab_sure(attend_theory_copy_gap_needed(n, eps), gap));
    return 0;
}

/*
 * Rivals at different distances, the nearest `gap` behind: their bounds and the exact
 * weight.  Distances grow evenly from gap to 2 gap + 1.
 */
static int emit_unequal(struct lab_run *run, double gap, double *scores)
{
    const int64_t n = lab_integer(run, "n");
    struct lab_row_stats stats;

    for (int64_t i = 1; i < n; i++) {
        const double along = n > 2 ? (double)(i - 1) / (double)(n - 2) : 0;
        scores[i] = gap + along * (fabs(gap) + 1);
    }
    const double weight = attend_theory_copy_weight_gaps(scores + 1, n - 1);
    scores[0] = 0;
    for (int64_t i = 1; i < n; i++)
        scores[i] = -scores[i];
    if (lab_measure_scores(&run->session, run->ctx, n, scores, &stats))
        return -1;
    const double upper = attend_theory_copy_weight_upper_bound((double)n, gap);
    const double lower = attend_theory_copy_weight_lower_bound((double)n, gap);
    lab_emit_own(run, "p_top_unequal", lab_sure(weight, stats.first));
    lab_emit_own(run, "p_top_unequal_upper", lab_below(upper, stats.first, 0));
    lab_emit_own(run, "leak_unequal_upper", lab_below(1 - lower, 1 - stats.first, 1e-14));
    return 0;
}

/*
 * The step of f32 depends on the order in which weights are summed: each other weight
 * may be lost against 1 by itself, or all may be summed first.  The theory has the
 * latter, and so an upper bound; between two keys there is only one order.
 */
static int emit_f32(struct lab_run *run, struct lab_narrow_row row)
{
    const double n = (double)row.n;
    /* The reference rounds once, at the end, and keeps subnormal weights. */
    const int is_ref = !strcmp(attend_context_isa(run->ctx), "ref");
    double (*const step_of)(double, attend_dtype) =
        is_ref ? attend_theory_gap_weight_exact : attend_theory_gap_sum_exact;
    const double two = step_of(2, ATTEND_F32);
    struct lab_narrow_row pair = row, last = row;
    double of_first, of_last, of_pair, zero;

    pair.n = 2;
    last.wanted = row.n - 1;
    if (lab_narrow_find(&row, LAB_WEIGHT_IS_ONE, &of_first) ||
        lab_narrow_find(&last, LAB_WEIGHT_IS_ONE, &of_last) ||
        lab_narrow_find(&pair, LAB_WEIGHT_IS_ONE, &of_pair) ||
        lab_narrow_find(&last, LAB_OTHERS_ARE_ZERO, &zero))
        return -1;
    /* Scores are floats too, rounded by up to 2^-22 of the gap. */
    lab_emit_own(
        run, "gap_exact_f32",
        lab_below(step_of(n, ATTEND_F32) * (1 + 0x1p-22), fmax(of_first, of_last), 0));
    lab_emit_own(run, "gap_exact_f32_two_keys", lab_about(two, of_pair, two * 0x1p-22));
    /* The gap in units of ln 2 is a float near 126, one spacing of which is 8e-6. */
    lab_emit_own(run, "gap_zero_f32",
                 lab_about(attend_theory_gap_underflow(ATTEND_F32, !is_ref), zero, 1e-4));
    return 0;
}

/* The sum of weights is 1 + 2^-9 there: n roundings by 2^-24 shift the step by n 2^-15.
 */
static int emit_bf16(struct lab_run *run, struct lab_narrow_row row)
{
    const double n = (double)row.n;
    double gap;

    row.dtype = ATTEND_BF16;
    row.wanted = row.n - 1;
    if (lab_narrow_find(&row, LAB_OUTPUT_IS_ONE, &gap))
        return -1;
    lab_emit_own(
        run, "gap_exact_bf16",
        lab_about(attend_theory_gap_weight_exact(n, ATTEND_BF16), gap, n * 0x1p-15));
    return 0;
}

static struct lab_narrow_row narrow_row(struct lab_run *run, double *scratch)
{
    const int64_t n = lab_integer(run, "n");

    return (struct lab_narrow_row){.session = &run->session,
                                   .ctx = run->ctx,
                                   .n = n,
                                   .dtype = ATTEND_F32,
                                   .key = scratch,
                                   .weights = scratch + n};
}

int lab_copy_score_rows(struct lab_run *run, double gap)
{
    double *const scratch = lab_scratch(run, 2 * lab_integer(run, "n"));

    if (!scratch || emit_gap(run, scratch) || emit_unequal(run, gap, scratch))
        return -1;
    const struct lab_narrow_row row = narrow_row(run, scratch);
    return emit_f32(run, row) || emit_bf16(run, row);
}

int lab_copy_rounding_figure(struct lab_run *run)
{
    const double gap_max = 22, n = lab_real(run, "n");
    double *const scratch = lab_scratch(run, 2 * (int64_t)n);
    struct lab_figure *const figure = lab_plot(
        run, "rounding-steps", "Copying in floating point: when 1 - p_j becomes 0",
        "score gap", "1 - p_j as returned", LAB_LOG_Y, "%s", "");
    double last[2] = {0, 0};
    struct lab_series *series = lab_series_add(figure, LAB_LINE, "theory, exact");

    if (!figure || !scratch)
        return scratch ? 0 : -1;
    for (double gap = 0; gap <= gap_max; gap += 0.25)
        lab_series_point(series, gap, attend_theory_average_leak(n, 1, gap), 0);
    struct lab_narrow_row row = narrow_row(run, scratch);
    row.wanted = row.n - 1;
    for (int type = 0; type < 2; type++) {
        row.dtype = type ? ATTEND_BF16 : ATTEND_F32;
        series = lab_series_add(figure, LAB_STEPS, type ? "bf16 output" : "f32 weight");
        for (double gap = 0; gap <= gap_max; gap += 0.0625) {
            if (lab_narrow_attend(&row, gap))
                return -1;
            const double p = type ? row.out : row.weights[row.wanted];
            if (p < 1)
                lab_series_point(series, last[type] = gap, 1 - p, 0);
        }
    }
    lab_caption(figure,
                "n = %lld.  The steps are the spacing of floats below 1; beyond the end "
                "of a line the copy is exact in that type.  The last gap drawn is %.2f "
                "for bf16, %.2f for f32; the plot ends at %.0f.",
                (long long)row.n, last[1], last[0], gap_max);
    return 0;
}

/* SPDX-License-Identifier: MIT */
#include "lab/experiments/experiment_parts.h"

#include <math.h>
#include <string.h>

#include "attend/theory.h"
#include "lab/measure/forward.h"

/*
 * One row of n keys: the wanted one, first or last, leads by `gap`, which is made by
 * the scale, since no type rounds that.  The value is 1 for it and 0 for the others, so
 * that the output is the coefficient of v_j.
 */
struct narrow_row {
    int64_t n, wanted;
    attend_dtype dtype;
    double *key, *weights;
    double out;
};

static int attend_at(struct lab_run *run, struct narrow_row *row, double gap)
{
    const double one = 1;
    attend_error err = {.message = "memory is short"};
    const struct lab_problem problem = {.nk = row->n,
                                        .d = 1,
                                        .dv = 1,
                                        .q = &one,
                                        .k = row->key,
                                        .v = row->key,
                                        .scale = gap,
                                        .out = &row->out,
                                        .weights = row->weights};

    memset(row->key, 0, sizeof(double) * (size_t)row->n);
    row->key[row->wanted] = 1;
    if (lab_forward_as(run->ctx, row->dtype, &problem, &err) != ATTEND_OK)
        return lab_fail(&run->session, "%s", err.message);
    return 0;
}

enum step { WEIGHT_IS_ONE, OUTPUT_IS_ONE, OTHERS_ARE_ZERO };

static int is_taken(const struct narrow_row *row, enum step step)
{
    switch (step) {
    case WEIGHT_IS_ONE:
        return row->weights[row->wanted] == 1;
    case OUTPUT_IS_ONE:
        return row->out == 1;
    case OTHERS_ARE_ZERO:
        break;
    }
    for (int64_t j = 0; j < row->n; j++)
        if (j != row->wanted && row->weights[j] != 0)
            return 0;
    return 1;
}

/* The largest gap at which the step is not taken yet, by bisection. */
static int find_step(struct lab_run *run, struct narrow_row *row, enum step step,
                     double *gap)
{
    double low = 0, high = 128;

    while (high - low > 1e-7) {
        const double middle = (low + high) / 2;
        if (attend_at(run, row, middle))
            return -1;
        *(is_taken(row, step) ? &high : &low) = middle;
    }
    *gap = low;
    return 0;
}

static void emit(struct lab_run *run, const char *quantity, enum lab_kind kind,
                 double theory, double measured, double allowed)
{
    const struct lab_setting own = lab_own(run);

    lab_emit(
        run, quantity, &own,
        (struct lab_found){
            .theory = theory, .measured = measured, .allowed = allowed, .kind = kind});
}

/*
 * The step of f32 depends on the order in which weights are summed: each other weight
 * may be lost against 1 by itself, or all may be summed first.  The theory has the
 * latter, and so an upper bound; between two keys there is only one order.
 */
static int emit_f32(struct lab_run *run, struct narrow_row *row)
{
    const double n = (double)row->n;
    /* The reference rounds once, at the end, and keeps subnormal weights. */
    const int is_ref = !strcmp(attend_context_isa(run->ctx), "ref");
    double (*const step_of)(double, attend_dtype) =
        is_ref ? attend_theory_gap_weight_exact : attend_theory_gap_sum_exact;
    struct narrow_row two = *row;
    double first, last, zero;

    row->dtype = two.dtype = ATTEND_F32;
    two.n = 2;
    row->wanted = 0;
    if (find_step(run, row, WEIGHT_IS_ONE, &first))
        return -1;
    row->wanted = row->n - 1;
    if (find_step(run, row, WEIGHT_IS_ONE, &last))
        return -1;
    /* Scores are floats too, rounded by up to 2^-22 of the gap. */
    emit(run, "gap_exact_f32", LAB_BOUND, step_of(n, ATTEND_F32) * (1 + 0x1p-22),
         fmax(first, last), 0);
    if (find_step(run, &two, WEIGHT_IS_ONE, &first))
        return -1;
    emit(run, "gap_exact_f32_two_keys", LAB_EXACT, step_of(2, ATTEND_F32), first,
         step_of(2, ATTEND_F32) * 0x1p-22);
    if (find_step(run, row, OTHERS_ARE_ZERO, &zero))
        return -1;
    /* The gap in units of ln 2 is a float near 126, one spacing of which is 8e-6. */
    emit(run, "gap_zero_f32", LAB_EXACT, attend_theory_gap_underflow(ATTEND_F32, !is_ref),
         zero, 1e-4);
    return 0;
}

/* The sum of weights is 1 + 2^-9 there: n roundings by 2^-24 shift the step by n 2^-15.
 */
static int emit_bf16(struct lab_run *run, struct narrow_row *row)
{
    const double n = (double)row->n;
    double gap;

    row->dtype = ATTEND_BF16;
    row->wanted = row->n - 1;
    if (find_step(run, row, OUTPUT_IS_ONE, &gap))
        return -1;
    emit(run, "gap_exact_bf16", LAB_EXACT, attend_theory_gap_weight_exact(n, ATTEND_BF16),
         gap, n * 0x1p-15);
    return 0;
}

/* The end of the plot. */
static const double gap_max = 22;

static int draw_steps(struct lab_run *run, struct narrow_row *row)
{
    const double n = (double)row->n;
    struct lab_figure *const figure = lab_plot(
        run, "rounding-steps", "Copying in floating point: when 1 - p_j becomes 0",
        "score gap", "1 - p_j as returned", LAB_LOG_Y, "%s", "");
    double last[2] = {0, 0};
    struct lab_series *series = lab_series_add(figure, LAB_LINE, "theory, exact");

    if (!figure)
        return 0;
    for (double gap = 0; gap <= gap_max; gap += 0.25)
        lab_series_point(series, gap, attend_theory_average_leak(n, 1, gap), 0);
    row->wanted = row->n - 1;
    for (int type = 0; type < 2; type++) {
        row->dtype = type ? ATTEND_BF16 : ATTEND_F32;
        series = lab_series_add(figure, LAB_STEPS, type ? "bf16 output" : "f32 weight");
        for (double gap = 0; gap <= gap_max; gap += 0.0625) {
            if (attend_at(run, row, gap))
                return -1;
            const double p = type ? row->out : row->weights[row->wanted];
            if (p < 1) {
                lab_series_point(series, gap, 1 - p, 0);
                last[type] = gap;
            }
        }
    }
    lab_figure_describe(figure, LAB_LOG_Y,
                        "n = %lld.  The steps are the spacing of floats below 1; beyond "
                        "the end of a line the copy is exact in that type.  The last gap "
                        "drawn is %.2f for bf16, %.2f for f32; the plot ends at %.0f.",
                        (long long)row->n, last[1], last[0], gap_max);
    return 0;
}

static struct narrow_row open_row(struct lab_run *run, int64_t n)
{
    double *const room = lab_room(run, 2 * n);

    return (struct narrow_row){.n = n, .key = room, .weights = room ? room + n : NULL};
}

int lab_copy_floats_rows(struct lab_run *run, int64_t n)
{
    struct narrow_row row = open_row(run, n);

    return !row.key || emit_f32(run, &row) || emit_bf16(run, &row) ? -1 : 0;
}

int lab_copy_floats_figure(struct lab_run *run, int64_t n)
{
    struct narrow_row row = open_row(run, n);

    return !row.key || draw_steps(run, &row) ? -1 : 0;
}

/* SPDX-License-Identifier: MIT */
/* Copying one value: q = beta k_j (T1), and what floating point makes of it (T2). */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "attend/theory.h"
#include "lab/experiments/experiment_parts.h"
#include "lab/experiments/experiment.h"
#include "lab/measure/frames.h"
#include "lab/setups/keys.h"
#include "lab/measure/forward.h"

static const struct lab_flag flags[] = {
    LAB_FLAG_INTEGER("n", 10, 2, 1e6,
                     "keys; where n d > 16384 the others share one direction"),
    LAB_FLAG_INTEGER("d", NAN, 1, 1e6,
                     "dimension of keys and values, at least n (default: n)"),
    LAB_FLAG_REAL("beta", 10, 0, 1000, "query scale: q = beta k_j"),
    LAB_FLAG_REAL("tau", 1, 0, 1000, "factor of the scores"),
    LAB_FLAG_REAL("norm", 1, 0, 1000, "norm of the other keys; k_j has norm 1"),
    LAB_FLAG_REAL("cosine", 0, -1, 1, "cosine between k_j and each other key"),
    LAB_FLAG_REAL("eps", 0.01, 1e-12, 0.999999,
                  "weight that may go elsewhere, for gap_needed"),
    LAB_FLAG_CHOICE("dtype", "f64", LAB_3("f64", "f32", "bf16"),
                    "type of Q, K and V for p_top and error_norm"),
};

/* Parameters of one copy: those of the run, or of a sweep. */
struct point {
    int64_t n, d;
    double beta, tau, norm, cosine;
    attend_dtype dtype;
};

static struct point point_of(const struct lab_run *run)
{
    static const attend_dtype dtypes[] = {ATTEND_F64, ATTEND_F32, ATTEND_BF16};

    return (struct point){
        .n = lab_integer(run, "n"),
        .d = lab_integer(run, "d"),
        .beta = lab_real(run, "beta"),
        .tau = lab_real(run, "tau"),
        .norm = lab_real(run, "norm"),
        .cosine = lab_real(run, "cosine"),
        .dtype = dtypes[lab_choice(run, "dtype")],
    };
}

static double gap_of(const struct point *point)
{
    return point->tau * point->beta * (1 - point->norm * point->cosine);
}

/* What rounding q and k to the type, and then weights to float, may change in c. */
static double rounding_of(const struct point *point)
{
    const double input = point->dtype == ATTEND_BF16 ? 0x1p-9 : 0x1p-24;
    const double score = 3 * point->tau * point->beta * fmax(1, point->norm) * input;

    return point->dtype == ATTEND_F64
               ? 1e-13
               : 2 * score + input + (32 + (double)point->n / 16) * 0x1p-24;
}

struct copied {
    double p_top, error_norm;
};

static int attend_narrow(struct lab_run *run, const struct point *point,
                         struct lab_keys *keys)
{
    attend_error err = {.message = "memory is short"};

    keys->query[0] = point->beta;
    const struct lab_problem problem = {.nk = point->n,
                                        .d = keys->d,
                                        .q = keys->query,
                                        .k = keys->key,
                                        .scale = point->tau,
                                        .weights = keys->weights};
    const attend_status status = lab_forward_as(run->ctx, point->dtype, &problem, &err);
    keys->first = keys->weights[0];
    return status == ATTEND_OK ? 0 : lab_fail(&run->session, "%s", err.message);
}

static int copy(struct lab_run *run, const struct point *point, struct copied *copied)
{
    const int is_narrow = point->dtype != ATTEND_F64;
    /* In a narrow type the keys are axes, whose entries are exact in any type. */
    const struct lab_keys_shape shape = {.n = point->n,
                                         .m = 1,
                                         .d = point->d,
                                         .rival_norm = point->norm,
                                         .rival_cosine = point->cosine,
                                         .plain = is_narrow};
    struct lab_keys keys;
    const double whole = 1;

    if (lab_keys_open(&run->session, &shape, &keys))
        return -1;
    const int failed = is_narrow ? attend_narrow(run, point, &keys)
                                 : lab_keys_attend(&run->session, run->ctx, &keys,
                                                   &point->beta, point->tau);
    copied->p_top = keys.first;
    copied->error_norm = lab_keys_error(&keys, &whole);
    lab_keys_close(&keys);
    return failed;
}

/* ---- rows -------------------------------------------------------------- */

static void emit(struct lab_run *run, const struct point *point, const char *quantity,
                 enum lab_kind kind, double theory, double measured, double allowed)
{
    lab_emit_at(
        run, quantity,
        LAB_CHANGES(LAB_IS("n", point->n), LAB_IS("d", point->d),
                    LAB_IS("beta", point->beta), LAB_IS("norm", point->norm),
                    LAB_IS("cosine", point->cosine)),
        (struct lab_found){
            .theory = theory, .measured = measured, .allowed = allowed, .kind = kind});
}

static void emit_copy(struct lab_run *run, const struct point *point,
                      const struct copied *copied)
{
    const double n = (double)point->n, gap = gap_of(point), allowed = rounding_of(point);

    emit(run, point, "p_top", LAB_EXACT, attend_theory_copy_weight(n, gap), copied->p_top,
         point->dtype == ATTEND_F64 ? 0 : allowed);
    emit(run, point, "error_norm", LAB_EXACT, attend_theory_copy_error(n, gap),
         copied->error_norm, 2 * allowed);
}

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
    const struct lab_problem problem = {.nk = search->n,
                                        .d = 1,
                                        .q = &one,
                                        .k = search->scores,
                                        .scale = 1,
                                        .stats = &stats,
                                        .wanted = 1,
                                        .rest = &leak};

    search->scores[0] = gap;
    if (lab_measure(&search->run->session, search->run->ctx, &problem))
        return -1;
    *logit = log(leak / stats.first);
    return 0;
}

/*
 * Rivals at different distances, the nearest `gap` behind: their bounds and the exact
 * weight.  Distances grow evenly from gap to 2 gap + 1.
 */
static int emit_unequal(struct lab_run *run, const struct point *point, double *scores)
{
    const int64_t n = point->n;
    const double gap = gap_of(point);
    struct lab_row_stats stats;

    for (int64_t i = 1; i < n; i++) {
        const double along = n > 2 ? (double)(i - 1) / (double)(n - 2) : 0;
        scores[i] = gap + along * (fabs(gap) + 1);
    }
    const double p = attend_theory_copy_weight_gaps(scores + 1, n - 1);
    scores[0] = 0;
    for (int64_t i = 1; i < n; i++)
        scores[i] = -scores[i];
    if (lab_measure_scores(&run->session, run->ctx, n, scores, &stats))
        return -1;
    emit(run, point, "p_top_unequal", LAB_EXACT, p, stats.first, 0);
    emit(run, point, "p_top_unequal_upper", LAB_BOUND,
         attend_theory_copy_weight_upper_bound((double)n, gap), stats.first, 0);
    emit(run, point, "leak_unequal_upper", LAB_BOUND,
         1 - attend_theory_copy_weight_lower_bound((double)n, gap), 1 - stats.first,
         1e-14);
    return 0;
}

/* ---- sweeps and figures ------------------------------------------------ */

static int measure_point(struct lab_run *run, const struct point *point,
                         struct copied *copied)
{
    if (copy(run, point, copied))
        return -1;
    emit_copy(run, point, copied);
    return 0;
}

static double weight_of(const struct point *point)
{
    return attend_theory_copy_weight((double)point->n, gap_of(point));
}

/* p_top over *x, a field of the point: a line by `fine`, points by `coarse` steps. */
static int draw_weight(struct lab_run *run, struct lab_curve curve, struct point *point,
                       double *x, double from, double to, double fine, double coarse)
{
    struct copied copied;

    for (*x = from; *x <= to; *x += fine)
        lab_series_point(curve.theory, *x, weight_of(point), 0);
    for (*x = from; *x <= to && !lab_stopped(&run->session); *x += coarse) {
        if (measure_point(run, point, &copied))
            return -1;
        lab_series_point(curve.measured, *x, copied.p_top, 0);
    }
    return 0;
}

static int sweep_gap(struct lab_run *run)
{
    static const int64_t sizes[] = {2, 10, 1000, 1000000};
    struct lab_figure *const figure =
        lab_plot(run, "Copying: the weight of the wanted key", "β (score gap at τ = 1)",
                 "p_j (weight of the wanted key)", 0,
                 "The gap must exceed ln(n-1) by a margin: a large query is not enough.  "
                 "Lines are 1/(1 + (n-1) exp(-gap)).");

    for (size_t x = 0; x < sizeof sizes / sizeof *sizes; x++) {
        struct point point = {
            .n = sizes[x], .d = sizes[x], .tau = 1, .norm = 1, .dtype = ATTEND_F64};
        const struct lab_curve curve =
            lab_curve_add(figure, "n = %lld", (long long)point.n);
        if (draw_weight(run, curve, &point, &point.beta, 0, 30, 0.25, 2.5))
            return -1;
    }
    return 0;
}

static int sweep_error(struct lab_run *run)
{
    struct point point = point_of(run);
    struct lab_figure *const figure = lab_plot(
        run, "Copying: how far c is from v_j", "β (query scale)", "|c - v_j|", LAB_LOG_Y,
        "n = %lld keys.  The bound (1 - p_j) max |v_i - v_j| holds for any values; "
        "orthonormal ones %s it.",
        (long long)point.n, point.n > 2 ? "stay below" : "of two keys reach");
    struct lab_series *series = lab_series_add(figure, LAB_LINE, "theory");
    struct copied copied;

    for (point.beta = 0; point.beta <= 30; point.beta += 0.25)
        lab_series_point(series, point.beta,
                         attend_theory_copy_error((double)point.n, gap_of(&point)), 0);
    series = lab_series_add(figure, LAB_LINE, "bound");
    for (point.beta = 0; point.beta <= 30; point.beta += 0.25)
        lab_series_point(series, point.beta,
                         attend_theory_copy_error_bound(weight_of(&point), sqrt(2)), 0);
    series = lab_series_add(figure, LAB_POINTS, "measured");
    for (point.beta = 0; point.beta <= 30 && !lab_stopped(&run->session);
         point.beta += 2.5) {
        if (measure_point(run, &point, &copied))
            return -1;
        lab_series_point(series, point.beta, copied.error_norm, 0);
    }
    return 0;
}

/* The same gap reached by other norms and cosines has the same weight. */
static int sweep_cosine(struct lab_run *run)
{
    static const double norms[] = {0.5, 1, 2};
    struct point point = point_of(run);
    struct lab_figure *const figure = lab_plot(
        run, "Copying: neither the cosine nor the norm decides",
        "cosine between k_j and every other key", "p_j", 0,
        "q = β k_j, β = %g, τ = %g, n = %lld.  Only the gap τβ(1 - norm · cosine) "
        "counts%s.",
        point.beta, point.tau, (long long)point.n,
        point.beta * point.tau > 0 ? ": rivals with norm · cosine above 1 outweigh k_j"
                                   : ", and it is 0");

    for (size_t x = 0; x < sizeof norms / sizeof *norms; x++) {
        point.norm = norms[x];
        const struct lab_curve curve = lab_curve_add(figure, "norm %g", point.norm);
        if (draw_weight(run, curve, &point, &point.cosine, -1, 1, 1.0 / 64, 0.25))
            return -1;
    }
    return 0;
}

/* ---- the experiment ---------------------------------------------------- */

static int perform(struct lab_run *run)
{
    if (lab_settle_d(run))
        return -1;
    const struct point point = point_of(run);
    double *const scores = lab_room(run, point.n);
    const double eps = lab_real(run, "eps"), n = (double)point.n;
    struct copied copied;
    double gap;

    if (!scores || measure_point(run, &point, &copied))
        return -1;
    emit(run, &point, "error_norm_bound", LAB_BOUND,
         attend_theory_copy_error_bound(weight_of(&point), sqrt(2)), copied.error_norm,
         2 * rounding_of(&point));
    struct gap_search search = {run, scores, point.n};
    if (lab_reach(leak_at, &search, 1, attend_theory_logit(eps), &gap))
        return -1;
    emit(run, &point, "gap_needed", LAB_EXACT, attend_theory_copy_gap_needed(n, eps), gap,
         0);
    if (emit_unequal(run, &point, scores))
        return -1;
    return lab_copy_floats_rows(run, point.n);
}

static int sweep(struct lab_run *run)
{
    return sweep_gap(run) || sweep_error(run) || sweep_cosine(run) ||
           lab_copy_floats_figure(run, lab_integer(run, "n"));
}

const struct lab_experiment lab_experiment_copy = {
    .name = "copy",
    .title = "Copying one value",
    .shows =
        "The weight of one key comes near 1 when its score leads every other by "
        "well more than ln n; only the gap counts, and it is never 1 but by rounding.",
    .answers = "1a",
    LAB_FLAGS(flags),
    .perform = perform,
    .sweep = sweep,
};

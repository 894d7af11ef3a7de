/* SPDX-License-Identifier: MIT */
/* Copying one value: q = beta k_j (T1), and the effect of floating point (T2). */
#include <math.h>

#include "attend/theory.h"
#include "lab/experiments/parts.h"
#include "lab/setups/keys.h"

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

enum { N, D, BETA, TAU, NORM, COSINE, EPS, DTYPE, USED_TAU, USED_DTYPE }; /* flags */

/* The run's setting, whose tau and type the measurements use. */
static struct lab_setting setting_of(const struct lab_run *run)
{
    struct lab_setting p = lab_own(run);

    p.at[USED_TAU] = p.at[TAU];
    p.at[USED_DTYPE] = p.at[DTYPE];
    return p;
}

static const attend_dtype dtypes[] = {ATTEND_F64, ATTEND_F32, ATTEND_BF16};

static const struct lab_observable rows[] = {{.quantity = "p_top"},
                                             {.quantity = "error_norm"}};
enum { P_TOP, ERROR_NORM };

static double gap_of(const struct lab_setting *p)
{
    return p->at[USED_TAU] * p->at[BETA] * (1 - p->at[NORM] * p->at[COSINE]);
}

static double weight_of(const struct lab_setting *p)
{
    return attend_theory_copy_weight(p->at[N], gap_of(p));
}

/* The bound on |c - v_j| for values of any kind. */
static double bound_at(const struct lab_setting *p)
{
    return attend_theory_copy_error_bound(weight_of(p), sqrt(2));
}

static void theory_of(const struct lab_setting *p, double *theory)
{
    theory[P_TOP] = weight_of(p);
    theory[ERROR_NORM] = attend_theory_copy_error(p->at[N], gap_of(p));
}

/* Bound on the error of c from rounding q and k to the type and weights to float. */
static double rounding_of(const struct lab_setting *p)
{
    const attend_dtype dtype = dtypes[(int)p->at[USED_DTYPE]];
    const double input = dtype == ATTEND_BF16 ? 0x1p-9 : 0x1p-24;
    const double score = 3 * p->at[USED_TAU] * p->at[BETA] * fmax(1, p->at[NORM]) * input;

    return dtype == ATTEND_F64 ? 1e-13
                               : 2 * score + input + (32 + p->at[N] / 16) * 0x1p-24;
}

static int measure(struct lab_run *run, const struct lab_setting *p,
                   struct lab_found *found)
{
    const int is_narrow = p->at[USED_DTYPE] != 0;
    const struct lab_keys_shape shape = {.n = (int64_t)p->at[N],
                                         .m = 1,
                                         .d = (int64_t)p->at[D],
                                         .rival_norm = p->at[NORM],
                                         .rival_cosine = p->at[COSINE],
                                         .plain = is_narrow};
    struct lab_keys keys;
    const double whole = 1;

    if (lab_keys_open(&run->session, run->ctx, &shape, &keys))
        return -1;
    const int failed = lab_keys_attend(&keys, dtypes[(int)p->at[USED_DTYPE]], p->at[BETA],
                                       NULL, p->at[USED_TAU]);
    found[P_TOP].measured = keys.first;
    found[P_TOP].allowed = is_narrow ? rounding_of(p) : 0;
    found[ERROR_NORM].measured = lab_keys_error(&keys, &whole);
    found[ERROR_NORM].allowed = 2 * rounding_of(p);
    lab_keys_close(&keys);
    return failed;
}

static const struct lab_model model = {LAB_ROWS(rows), .theory = theory_of,
                                       .measure = measure};

/* ---- sweeps and figures ------------------------------------------------ */

static const double betas[] = {0,    2.5, 5,    7.5, 10,   12.5, 15,
                               17.5, 20,  22.5, 25,  27.5, 30};
static const struct lab_sweep over_beta = {
    .flag = BETA, .line = {0, 30, 120, LAB_EVENLY, 0, 0}, LAB_STEPS_OF(betas)};

static int sweep_gap(struct lab_run *run)
{
    static const struct lab_member sizes[] = {
        {2, "n = 2"}, {10, "n = 10"}, {1000, "n = 1000"}, {1000000, "n = 1000000"}};
    const struct lab_family family = {P_TOP, N, D, LAB_MEMBERS(sizes), 0};
    struct lab_figure *const figure =
        lab_plot(run, "weight", "Copying: the weight of the wanted key",
                 "β (score gap at τ = 1)", "p_j (weight of the wanted key)", 0,
                 "The gap must exceed ln(n-1) by a margin: a large query is not enough.  "
                 "Lines are 1/(1 + (n-1) exp(-gap)).");
    struct lab_setting p = setting_of(run);

    /* Measured at tau 1 in f64 whatever the flags; its rows show the flags. */
    p.at[USED_TAU] = p.at[NORM] = 1;
    p.at[USED_DTYPE] = p.at[COSINE] = 0;
    return lab_curves(run, &model, &over_beta, p, figure, &family);
}

static int sweep_error(struct lab_run *run)
{
    static const struct lab_chart distance = {
        "distance",        "Copying: how far c is from v_j",
        "β (query scale)", "|c - v_j|",
        LAB_LOG_Y,         .curves = {{ERROR_NORM, ""}},
        .label = "bound",  .value = bound_at};
    const struct lab_setting p = setting_of(run);
    struct lab_figure *figure;

    if (lab_charts(run, &model, &over_beta, p, &distance, 1, &figure))
        return -1;
    lab_caption(figure,
                "n = %.0f keys.  The bound (1 - p_j) max |v_i - v_j| holds for any "
                "values; orthonormal ones %s it.",
                p.at[N], p.at[N] > 2 ? "stay below" : "of two keys reach");
    return 0;
}

/* The same gap reached by other norms and cosines has the same weight. */
static int sweep_cosine(struct lab_run *run)
{
    static const struct lab_member norms[] = {
        {0.5, "norm 0.5"}, {1, "norm 1"}, {2, "norm 2"}};
    static const double cosines[] = {-1, -0.75, -0.5, -0.25, 0, 0.25, 0.5, 0.75, 1};
    const struct lab_sweep over_cosine =
        LAB_SWEEP(COSINE, cosines, .line = {-1, 1, 128, LAB_EVENLY, 0, 0});
    const struct lab_setting p = setting_of(run);
    struct lab_figure *const figure = lab_plot(
        run, "cosine", "Copying: neither the cosine nor the norm decides",
        "cosine between k_j and every other key", "p_j", 0,
        "q = β k_j, β = %g, τ = %g, n = %.0f.  Only the gap τβ(1 - norm · cosine) "
        "counts%s.",
        p.at[BETA], p.at[TAU], p.at[N],
        p.at[BETA] * p.at[TAU] > 0 ? ": rivals with norm · cosine above 1 outweigh k_j"
                                   : ", and it is 0");

    return lab_curves(run, &model, &over_cosine, p, figure,
                      &(struct lab_family){P_TOP, NORM, 0, LAB_MEMBERS(norms), 0});
}

static int perform(struct lab_run *run)
{
    struct lab_sample sample = {.histogram = NULL};

    if (lab_settle_d(run))
        return -1;
    const struct lab_setting p = setting_of(run);
    if (lab_rows_at(run, &model, &p, 0, 0, &sample))
        return -1;
    lab_emit_own(
        run, "error_norm_bound",
        lab_below(bound_at(&p), sample.found[ERROR_NORM].measured, 2 * rounding_of(&p)));
    return lab_copy_score_rows(run, gap_of(&p));
}

static int sweep(struct lab_run *run)
{
    return sweep_gap(run) || sweep_error(run) || sweep_cosine(run) ||
           lab_copy_rounding_figure(run);
}

const struct lab_experiment lab_experiment_copy = {
    .name = "copy",
    .title = "Copying one value",
    .shows =
        "The weight of one key comes near 1 when its score leads every other by well "
        "more than ln n. Only the gap counts, and the exact weight is below 1 at any "
        "gap.",
    .answers = "1a",
    LAB_FLAGS(flags),
    .perform = perform,
    .sweep = sweep,
};
